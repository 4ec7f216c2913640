"""One hardened git process: argv, no shell, an environment from scratch, a time-out, bytes out (``security.md`` 5)."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from reviewbot.errors import GitError

TIMEOUT_SECONDS = 120.0
MOST_COMPLAINT = 100_000
"""Bytes of standard error that are read where git is stopped early."""

HARDENING = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.sshCommand": "false",
    "core.pager": "cat",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    "core.untrackedCache": "false",
}
"""Configuration that outranks every file: nothing that a repository names is run."""

_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USERPROFILE", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class Answer:
    """How a git process ended and what it wrote."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def ok(self) -> bool:
        """git says that it did what it was asked."""
        return self.exit_code == 0

    @property
    def complaint(self) -> str:
        """The first line of what git said was wrong."""
        text = self.stderr.decode("utf-8", "replace").strip()
        return next((line.split(": ", 1)[-1] for line in text.splitlines() if line.startswith("fatal: ")), text[:300])

    @property
    def text(self) -> str:
        """Standard output as a path or a word: UTF-8 with ``surrogateescape``, without the last line feed."""
        return self.stdout.removesuffix(b"\n").decode("utf-8", "surrogateescape")


def clean_environment(base: Mapping[str, str]) -> dict[str, str]:
    """What every git process gets: nothing of ``GIT_*`` is inherited."""
    return {name: base[name] for name in _KEPT if name in base} | {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
        "GIT_SSH_COMMAND": "false",
    }


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in ``directory``; ``settings`` are added to the hardening."""

    directory: Path
    environment: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = TIMEOUT_SECONDS

    @property
    def options(self) -> tuple[str, ...]:
        """The ``-c`` options that stand before every command."""
        return tuple(part for key, value in self.pairs.items() for part in ("-c", f"{key}={value}"))

    @property
    def pairs(self) -> dict[str, str]:
        """The configuration that every command is given."""
        return {**self.settings, **HARDENING}

    def argv(self, *args: str) -> tuple[str, ...]:
        """The whole command line."""
        return ("git", "--no-pager", *self.options, *args)

    def run(self, *args: str, stdin: bytes = b"") -> bytes:
        """Standard output. Raises GitError where git fails."""
        answer = self.ask(*args, stdin=stdin)
        if not answer.ok:
            raise GitError(f"git {args[0]} failed: {answer.complaint}")
        return answer.stdout

    def ask(self, *args: str, stdin: bytes = b"") -> Answer:
        """Run to the end, whatever that is. Raises GitError where git cannot be started or takes too long."""
        process = self._start(args, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            stdout, stderr = process.communicate(stdin, timeout=self.timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {args[0]} took longer than {self.timeout_seconds:.0f} s and was stopped") from error
        finally:
            if process.returncode is None:
                _kill_group(process)
        return Answer(process.returncode, stdout, stderr)

    def beginning(self, *args: str, most: int) -> Answer:
        """Run to the end, or until ``most`` bytes of standard output are there: then git is stopped, and that is no failure.

        Raises GitError where git cannot be started or takes too long."""
        with tempfile.TemporaryFile() as complaints:
            process = self._start(args, stdin=subprocess.DEVNULL, stderr=complaints.fileno())
            late = threading.Event()
            alarm = threading.Timer(self.timeout_seconds, _stop, (process, late))
            alarm.start()
            try:
                assert process.stdout is not None
                stdout = process.stdout.read(most)
                exit_code = 0 if len(stdout) == most else process.wait()
            finally:
                alarm.cancel()
                _kill_group(process)
            if late.is_set():
                raise GitError(f"git {args[0]} took longer than {self.timeout_seconds:.0f} s and was stopped")
            complaints.seek(0)
            return Answer(exit_code, stdout, complaints.read(MOST_COMPLAINT))

    @contextmanager
    def stream(self, *args: str, stdin: IO[bytes]) -> Iterator[IO[bytes]]:
        """Standard output while git writes it; the process ends with the block."""
        process = self._start(args, stdin=stdin, stderr=subprocess.DEVNULL)
        alarm = threading.Timer(self.timeout_seconds, _kill_group, (process,))
        alarm.start()
        try:
            assert process.stdout is not None
            yield process.stdout
        finally:
            alarm.cancel()
            _kill_group(process)

    def dialogue(self, *args: str) -> Dialogue:
        """A git that answers until it is closed. Raises GitError where it cannot be started."""
        return Dialogue(self._start(args, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL), self.timeout_seconds)

    def _start(self, args: tuple[str, ...], *, stdin: int | IO[bytes], stderr: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.argv(*args),
                cwd=self.directory,
                env=dict(self.environment),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be started: {error}", hint="install git 2.39 or later") from error


class Dialogue:
    """A git process that is asked line by line. For one thread at a time.

    A watch of its own stops it where an answer takes too long: an object may be a pipe, or lie about its size, and git waits."""

    def __init__(self, process: subprocess.Popen[bytes], timeout_seconds: float) -> None:
        self._process = process
        self._timeout_seconds = timeout_seconds
        self._until: float | None = None
        self._late = threading.Event()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="git", daemon=True).start()

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """What is asked inside is answered within the time-out. Raises GitError."""
        self._until = time.monotonic() + self._timeout_seconds
        try:
            yield
        except GitError as error:
            if self._late.is_set():
                raise GitError(f"git took longer than {self._timeout_seconds:.0f} s to answer and was stopped") from error
            raise
        finally:
            self._until = None

    def ask(self, line: str) -> bytes:
        """The first line of the answer. Raises GitError where git has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except (OSError, ValueError) as error:
            raise GitError(f"git ended while it was asked: {error}") from error
        if not answer:
            raise GitError("git ended while it was asked")
        return answer

    def read(self, size: int) -> bytes:
        """So many further bytes of the answer. Raises GitError where git ends before."""
        assert self._process.stdout is not None
        try:
            data = self._process.stdout.read(size)
        except (MemoryError, OverflowError) as error:
            raise GitError(f"git has {size} bytes to say, more than there is room for") from error
        if len(data) < size:
            raise GitError("git ended while it answered")
        return data

    def close(self) -> None:
        """End it."""
        self._closed.set()
        _kill_group(self._process)

    def _watch(self) -> None:
        while not self._closed.wait(min(1.0, self._timeout_seconds / 4)):
            until = self._until
            if until is not None and time.monotonic() > until:
                _stop(self._process, self._late)
                return


def _stop(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    """Make git end, and whoever reads what it writes find the end of it."""
    late.set()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Also where a Ctrl-C arrives while git works: it runs in a session of its own and would not hear of it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()
