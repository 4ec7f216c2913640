"""A worker in a process of its own: a large change is analysed on one core while it is divided on another.

One message each way, as pickles over pipes: what it is given is ours, and what it returns was made by our own code. It has no
environment, so no keys, and whatever ends it (a file that crashes the parser) does not end the review.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

from reviewbot.ports import WorkerLost
from reviewbot.ports.worker import Given, Made

WORTH_A_PROCESS = 600_000
"""Bytes of a change that keep the analysers busy for about as long as it takes a process to get ready (0.1 s)."""

READY, DONE, FAILED = b"+", b"+=", b"!"
"""What it says: first that it is ready, then how it went."""
MOST_WORDS = 300
HEARTBEAT_SECONDS = 0.2
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from reviewbot.adapters.worker import serve; serve()"


class ProcessWorker:
    """Another process for large work, the caller's own for small."""

    def __init__(self, worth: int = WORTH_A_PROCESS) -> None:
        self._worth = worth
        self._process: subprocess.Popen[bytes] | None = None
        self._busy: subprocess.Popen[bytes] | None = None

    def expect(self, size: int) -> None:
        """Start it, where the work is large, a second core is there, and it was not started before."""
        if size >= self._worth and self._process is None and _cores() > 1:
            self._process = _started()

    def begin(self, work: Callable[[Given], Made], given: Given) -> Callable[[float], Made]:
        """In the process, if one was started; otherwise when the result is asked for."""
        self._busy, self._process = self._process, None
        if self._busy is None:
            return lambda _seconds: work(given)
        return _Message(self._busy, partial(work, given)).result

    def close(self) -> None:
        """End a process that is still there: one that was given nothing, or nobody waited for."""
        if self._process is not None:
            with self._process as process:
                process.kill()
        if self._busy is not None:
            self._busy.kill()
            self._busy.wait()


class _Message:
    """One piece of work under way; a thread of its own carries it there and back."""

    def __init__(self, process: subprocess.Popen[bytes], work: Callable[[], Any]) -> None:
        self._process = process
        self._work = work
        self._said = b""
        self._carrier = Thread(target=self._carry, name="worker", daemon=True)
        self._carrier.start()

    def result(self, seconds: float) -> Any:
        """What came back. Who never got ready (no interpreter, no room for one more) is replaced by the caller."""
        until = time.monotonic() + seconds
        while self._carrier.is_alive() and (left := until - time.monotonic()) > 0:
            # Short sleeps: a signal that arrives just before one is seen when it ends.
            self._carrier.join(min(left, HEARTBEAT_SECONDS))
        if self._carrier.is_alive():
            self._process.kill()
            raise WorkerLost(f"no time was left for it after {seconds:.0f} s")
        state, answer = self._said[:2], memoryview(self._said)[2:]
        if state == DONE:
            return pickle.loads(answer)
        if state.startswith(READY):
            raise WorkerLost(bytes(answer).decode("utf-8", "replace") or _ended(self._process.returncode))
        return self._work()

    def _carry(self) -> None:
        """In few long system calls: each of many short ones would have to wait for the other threads' turn."""
        with self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            # Who ended early is told by what it did not say.
            with suppress(OSError):
                rest = memoryview(pickle.dumps(self._work, pickle.HIGHEST_PROTOCOL))
                while rest:
                    rest = rest[process.stdin.write(rest) :]
            # Its input stays open while it works: that is how it notices when we are gone.
            self._said = process.stdout.read()


def serve() -> None:
    """The other side: read one piece of work, do it, write its result."""
    said, heard = sys.stdout.buffer, sys.stdin.buffer
    # What the work prints must not stand between the pickles. It lives for a second: cycles are left to the system.
    sys.stdout = sys.stderr
    gc.disable()
    said.write(READY)
    said.flush()
    try:
        work = pickle.load(heard)
        Thread(target=_leave_with, args=(heard.fileno(),), daemon=True).start()
        made = pickle.dumps(work(), pickle.HIGHEST_PROTOCOL)
    except Exception as exc:  # noqa: BLE001 - told to who waits, who says so in the review
        said.write(FAILED + f"{type(exc).__name__}: {exc}"[:MOST_WORDS].encode("utf-8", "replace"))
    else:
        said.write(DONE[1:] + made)
    said.flush()


def _leave_with(pipe: int) -> None:
    """End when whoever holds the other end is gone: nobody reads the result."""
    os.read(pipe, 1)
    os._exit(1)


def _started() -> subprocess.Popen[bytes] | None:
    """A process that gets ready, out of reach of the terminal's signals. ``None`` where there can be none."""
    path = [entry for entry in sys.path if entry]
    try:
        return subprocess.Popen(
            [sys.executable, "-I", *(("-B",) if sys.dont_write_bytecode else ()), "-c", _PROGRAM, *path],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except (OSError, TypeError, ValueError):
        # Embedded, Python may not know its own program, and what stands in its path need not be one.
        return None


def _ended(code: int | None) -> str:
    return f"it was ended by signal {-code}" if code is not None and code < 0 else f"it ended with {code} and no result"


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
