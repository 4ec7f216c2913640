"""Runs one process to its end: bounded in time, memory, processes and output, and never survived by its children."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reviewbot.adapters.sandbox import watch
from reviewbot.adapters.sandbox.capture import Capture
from reviewbot.adapters.sandbox.guard import Guard, Passed
from reviewbot.adapters.sandbox.limits import Limits
from reviewbot.ports import Ended, Outcome

POLL_SECONDS = 0.05
LINGER_SECONDS = 1.0
"""How long the pipes of an ended process are read on, should somebody still hold them."""
_PIECE = 65536
_MOST_GENERATIONS = 20
_MOST_AT_ONCE = 2000
"""How often those are looked for who were started while the others were ended, and how many each time."""


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start. ``environment`` is all of it.

    ``mark``, where given, stands in the environment and in no other process's: by it a child is found that left home.
    ``writes``, where given, is a folder of the disk whose growth is bounded. ``before_kill``, where given, ends what the process
    only stands for; it is called while the process still runs, from any thread, perhaps more than once.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    stdin: bytes
    seconds: float
    mark: str = ""
    writes: Path | None = None
    before_kill: Callable[[], None] | None = None


class Supervisor:
    """Starts processes and watches them. ``close`` ends those that still run, from whatever thread."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: set[_Watched] = set()
        self._closed = threading.Event()

    def run(self, command: Command) -> Outcome:
        """One process, to its end. A command that cannot be started is ``missing``."""
        if self._closed.is_set():
            return Outcome(Ended.REFUSED, reason="the review was interrupted")
        try:
            watched = _Watched(command, self._limits)
        except OSError as exc:
            return Outcome(Ended.MISSING, reason=f"{command.argv[0]} cannot be started: {exc.strerror}")
        self._running.add(watched)
        if self._closed.is_set():  # it was closed while the process was being started, and did not see it
            watched.interrupt()
        try:
            return watched.attend()
        finally:
            watched.end()
            self._running.discard(watched)

    def close(self) -> None:
        """End everything, and start nothing more."""
        self._closed.set()
        for watched in tuple(self._running):
            watched.interrupt()


class _Watched:
    """One running process with its pipes."""

    def __init__(self, command: Command, limits: Limits) -> None:
        self._limits = limits
        self._command = command
        self._guard = Guard(limits, command.seconds, command.writes)
        self._stdout, self._stderr = Capture(limits.output_bytes), Capture(limits.output_bytes)
        self._seen: dict[int, str] = {}
        self._process = subprocess.Popen(
            command.argv,
            env=dict(command.environment),
            cwd=command.folder,
            stdin=subprocess.PIPE if command.stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )

    def attend(self) -> Outcome:
        """Serve its pipes until it ends or must be ended."""
        with selectors.DefaultSelector() as selector:
            self._open(selector)
            ended, reason = self._serve(selector)
            self._kill()
            self._drain(selector)
        code = self._process.wait()
        return Outcome(
            ended,
            exit_code=code if ended is Ended.EXITED else None,
            stdout=self._stdout.bytes(),
            stderr=self._stderr.bytes(),
            seconds=self._guard.elapsed,
            reason=reason,
        )

    def interrupt(self) -> None:
        """End it from another thread: the one that attends sees an ended process."""
        self._kill()

    def end(self) -> None:
        """Kill it and whatever stems from it, then bury it."""
        self._kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _kill(self) -> None:
        """Its descendants wherever they went, then its group: as long as it lives, it may be the one that orphans go to. An ended
        but unburied leader keeps the group's number taken."""
        if self._process.returncode is None:
            self._end_gently()
            for _ in range(_MOST_GENERATIONS):
                tree = watch.look(self._process.pid, _MOST_AT_ONCE)
                self._note(tree)
                if len(tree.members) < 2:
                    break
                watch.kill_tree(tree)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        watch.kill(tuple(self._seen.items()))
        if self._command.mark:
            watch.kill(watch.marked(self._command.mark))

    def _end_gently(self) -> None:
        """Let it see that what it stands for has ended."""
        if self._command.before_kill and not self._has_ended():
            self._command.before_kill()
            until = time.monotonic() + LINGER_SECONDS
            while not self._has_ended() and time.monotonic() < until:
                time.sleep(POLL_SECONDS)  # nobody tells that the engine's client has seen it; the wait is bounded

    def _has_ended(self) -> bool:
        """It has, buried or not."""
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _open(self, selector: selectors.BaseSelector) -> None:
        for pipe, capture in ((self._process.stdout, self._stdout), (self._process.stderr, self._stderr)):
            if pipe:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, capture)
        if self._process.stdin:
            os.set_blocking(self._process.stdin.fileno(), False)
            selector.register(self._process.stdin, selectors.EVENT_WRITE, memoryview(self._command.stdin))

    def _serve(self, selector: selectors.BaseSelector) -> tuple[Ended, str]:
        """Until it ends by itself, or a limit is passed."""
        handle = os.pidfd_open(self._process.pid)
        try:
            selector.register(handle, selectors.EVENT_READ, None)
            next_look = time.monotonic()
            while True:
                for key, _ in selector.select(POLL_SECONDS):
                    if key.data is None:
                        selector.unregister(handle)
                        return Ended.EXITED, ""
                    self._transfer(selector, key)
                if time.monotonic() >= next_look:
                    if passed := self._passed_limit():
                        return passed
                    next_look = time.monotonic() + POLL_SECONDS
        finally:
            os.close(handle)

    def _passed_limit(self) -> Passed:
        tree = watch.look(self._process.pid, self._limits.processes + 1)
        self._note(tree)
        return self._guard.passed(tree, self._stdout.total + self._stderr.total)

    def _note(self, tree: watch.Tree) -> None:
        """Remember descendants: an orphan is found no more from its root."""
        self._seen.update(tree.members)

    def _drain(self, selector: selectors.BaseSelector) -> None:
        """Read what is left in the pipes, but do not wait for ever on a child that holds them."""
        deadline = time.monotonic() + LINGER_SECONDS
        for key in tuple(selector.get_map().values()):
            if not isinstance(key.data, Capture):
                selector.unregister(key.fileobj)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(POLL_SECONDS):
                self._transfer(selector, key)
                if self._stdout.total + self._stderr.total > self._limits.flood_bytes:
                    return

    def _transfer(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        """Move one piece through a pipe that is ready."""
        pipe = key.fileobj
        if isinstance(key.data, Capture):
            piece = os.read(key.fd, _PIECE)
            if piece:
                key.data.feed(piece)
            else:
                selector.unregister(pipe)
            return
        left = self._send(key)
        if left:
            selector.modify(pipe, selectors.EVENT_WRITE, left)
        else:
            selector.unregister(pipe)
            _close(pipe)

    @staticmethod
    def _send(key: selectors.SelectorKey) -> memoryview:
        data: memoryview = key.data
        try:
            return data[os.write(key.fd, data[:_PIECE]) :]
        except BrokenPipeError:
            return data[:0]


def _close(pipe: object) -> None:
    stream: IO[bytes] = pipe  # type: ignore[assignment]  # a pipe of bytes
    with contextlib.suppress(OSError):
        stream.close()
