"""Asks a worker process for calls, and compares what came of them. No code under test runs in this process.

An outcome is what the worker answers (see ``reviewbot_replay``), ``{"exits": code}`` where the call ended the process (negative:
a signal), or ``{"hangs": seconds}`` where it did not end.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

from reviewbot_report import Unable

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "reviewbot_worker.py")
LOAD_SECONDS = 20.0
CALL_SECONDS = 2.0
MAX_LINE = 4_000_000
COMPARED = ("returns", "raises", "exits", "mutated", "printed", "holds")
Outcome = dict[str, Any]
Target = dict[str, Any]
ENDINGS = ("returns", "raises", "exits", "hangs", "holds")


class Child:
    """A program of this folder, and the pipe on which it answers by lines. It and all it started end with it."""

    def __init__(self, program: str) -> None:
        reading, writing = os.pipe()
        self._pipe = reading
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-s", "-B", program, str(writing)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(writing,),
                env=dict(os.environ, PYTHONHASHSEED="0"),
                start_new_session=True,
            )
        finally:
            os.close(writing)

    def say(self, message: Any) -> None:
        with contextlib.suppress(OSError):  # it has ended: hearing it says so
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def hear(self, seconds: float) -> Any:
        """The next line; ``{"exits": code}`` or ``{"hangs": seconds}`` where there is none."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._pipe], [], [], left)[0]:
                return {"hangs": seconds}
            piece = os.read(self._pipe, 65536)
            if not piece or len(self._rest) > MAX_LINE:
                return {"exits": self._code()}
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            found = json.loads(line)
        except ValueError as exc:
            raise Unable("spoilt", "the code under test wrote into the report") from exc
        if not isinstance(found, dict):
            raise Unable("spoilt", "the code under test wrote into the report")
        return found

    def _code(self) -> int:
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def end(self) -> None:
        """Kill its group while its number cannot be another's, then bury it."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        os.close(self._pipe)


class Worker:
    """A process that has loaded a target. One that ends is started again for the next call."""

    def __init__(self, target: Target, *, seconds: float = CALL_SECONDS) -> None:
        self.target = target
        self.seconds = seconds
        self._child: Child | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.end()

    def load(self) -> dict[str, Any]:
        """What the target asks for. Raises Unable."""
        self.end()
        self._child = Child(WORKER)
        self._child.say(self.target)
        told: dict[str, Any] = self._child.hear(LOAD_SECONDS)
        if "parameters" in told:
            return told
        self.end()
        if "hangs" in told:
            raise Unable("import", "the module is not imported within the time")
        if "exits" in told:
            raise Unable("import", "importing the module ends the process")
        raise Unable(str(told.get("unable", "spoilt")), str(told.get("reason", "")))

    def send(self, arguments: list[str]) -> None:
        if self._child is None:
            self.load()
        assert self._child is not None
        self._child.say({"arguments": arguments})

    def receive(self) -> Outcome:
        """What came of the call. Raises Unable for one that reaches for the world."""
        assert self._child is not None
        outcome: Outcome = self._child.hear(self.seconds)
        if "hangs" in outcome or "exits" in outcome:
            self.end()
        if "touches" in outcome:
            raise Unable("input/output", f"it reaches for the world ({outcome['touches']})")
        return outcome

    def ask(self, arguments: list[str]) -> Outcome:
        self.send(arguments)
        return self.receive()

    def end(self) -> None:
        if self._child:
            self._child.end()
            self._child = None


def replay(target: Target, arguments: list[str], seconds: float) -> Outcome:
    """One call in a process of its own."""
    with Worker(target, seconds=seconds) as worker:
        worker.load()
        return worker.ask(arguments)


def differ(one: Outcome, other: Outcome) -> bool:
    """Two calls of which each came to an end, and not to the same. The words of an exception do not count; private attributes
    count where both sides have the same ones."""
    if not counts(one) or not counts(other):
        return False
    if any(one.get(name) != other.get(name) for name in COMPARED):
        return True
    hidden, secret = one.get("private", {}), other.get("private", {})
    return bool(hidden.get("names") == secret.get("names") and hidden.get("text") != secret.get("text"))


def counts(outcome: Outcome) -> bool:
    return any(ending in outcome for ending in ENDINGS)


def same(outcomes: list[Outcome]) -> bool:
    return all(counts(outcome) and not differ(outcomes[0], outcome) for outcome in outcomes)
