"""A PostgreSQL cluster for as long as a ``with`` lasts: in memory where ``/tmp`` is, without network, stopped whatever happens.

Python 3.8 and later; imports nothing of reviewbot.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

SETTINGS = (
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "shared_buffers=16MB",
    "max_connections=20",
    "dynamic_shared_memory_type=mmap",
    "jit=off",
    "timezone=UTC",
)
"""Small, fast, and the same every time: no statistics are taken that nobody asked for."""
INITDB = ("-U", "postgres", "--auth=trust", "--no-sync", "--wal-segsize=1", "--locale=C", "--encoding=UTF8")
FOLDERS = ("/usr/lib/postgresql/{}/bin", "/usr/pgsql-{}/bin")
"""Where Debian and Red Hat lay their versions side by side."""
PROGRAMS = ("initdb", "postgres", "psql")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STOP_SECONDS = 8
"""PostgreSQL itself kills what has not ended five seconds after an immediate shutdown began."""
KEPT_OUTPUT = 65536
STOPPED_BY_ERROR = (0, 1, 3)
"""psql's exit codes but that of a lost connection."""
SAID = re.compile(
    r"^(?:psql:(?P<file>.*?):(?P<line>\d+): |psql: )?(?:ERROR|FATAL|PANIC|error):\s+(?:(?P<code>[0-9A-Z]{5}): )?(?P<message>.*)$",
    re.MULTILINE,
)
"""How psql reports an error; without a place where it did not come from a file."""


class CannotRun(Exception):
    """It could not be run here, with the reason in words."""


class Cluster:
    """``deadline`` is a moment of ``time.monotonic``; ``folder`` is the cluster's own, with its socket. ``pattern`` is where an
    empty cluster is kept for the next one: to make one takes longer than all the rest."""

    def __init__(self, deadline: float, pattern: str = "") -> None:
        self.deadline = deadline
        self.pattern = pattern
        self.programs = find_programs()
        self.folder = ""
        self.server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Cluster:
        try:
            # A socket's path has room for 107 bytes, and TMPDIR may be long.
            self.folder = tempfile.mkdtemp(prefix="rb", dir="/tmp")
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        catch_signals(signal.SIG_IGN)
        if self.server:
            stop(self.server)
        shutil.rmtree(self.folder, ignore_errors=True)
        catch_signals()

    def begin(self) -> None:
        data = os.path.join(self.folder, "data")
        if not self.pattern or not os.path.exists(self.pattern):
            self.make(self.pattern or data)
        if self.pattern:
            shutil.copytree(self.pattern, data)
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        command = [os.path.join(self.programs, "postgres"), "-D", data, "-k", self.folder, *settings]
        with open(os.path.join(self.folder, "log"), "w+b") as log:
            self.server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment())
            while not is_ready(data):
                if self.server.poll() is not None or self.left() <= 0:
                    log.seek(0)
                    raise CannotRun("the server does not start: " + last_line(log.read()))
                time.sleep(0.01)  # the server tells nobody when it is ready

    def make(self, data: str) -> None:
        made = self.call("initdb", "-D", data, *INITDB)
        if made.returncode:
            raise CannotRun("initdb failed: " + last_line(made.stderr))

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def environment(self) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
        return dict(own, PGHOST=self.folder, PGUSER="postgres", PGDATABASE="postgres", PGCLIENTENCODING="UTF8", LC_ALL="C")

    def call(self, name: str, *words: str, folder: str = ".", quiet: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run a program of PostgreSQL to its end. If ``quiet``, its output and the end of its errors are kept."""
        if self.left() <= 0:
            raise CannotRun("the time is up")
        command = [os.path.join(self.programs, name), *words]
        with tempfile.TemporaryFile(dir=self.folder) as out, tempfile.TemporaryFile(dir=self.folder) as said:
            streams: dict[str, Any] = {"stdout": out, "stderr": said} if quiet else {}
            try:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env=self.environment(),
                    stdin=subprocess.DEVNULL,
                    timeout=self.left(),
                    check=False,
                    **streams,
                )
            except subprocess.TimeoutExpired:
                raise CannotRun(f"{name} did not end in the time that is given") from None
            out.seek(0)
            said.seek(max(0, said.seek(0, os.SEEK_END) - KEPT_OUTPUT))
            return subprocess.CompletedProcess(command, done.returncode, out.read(), said.read())

    def psql(self, *words: str, folder: str = ".", quiet: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Raises CannotRun where the server went away."""
        manner = ("-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose")
        done = self.call("psql", *manner, *words, folder=folder, quiet=quiet)
        if done.returncode not in STOPPED_BY_ERROR:
            raise CannotRun("psql ended before its work was done. " + last_line(done.stderr))
        return done

    def ask(self, *words: str) -> Any:
        """The JSON that some statements answer. Raises CannotRun with what the server says otherwise."""
        done = self.psql("-A", "-t", *words)
        if done.returncode:
            found = SAID.search(text(done.stderr))
            raise CannotRun(found["message"] if found else last_line(done.stderr))
        try:
            return json.loads(text(done.stdout).strip() or "null")
        except (ValueError, RecursionError):
            raise CannotRun("the server's answer cannot be read") from None


def catch_signals(handler: Any = None) -> None:
    for number in SIGNALS:
        signal.signal(number, handler or leave)


def leave(number: int, _: object) -> None:
    """End by way of every ``finally``."""
    raise SystemExit(128 + number)


def stop(server: subprocess.Popen[bytes]) -> None:
    """At once: nothing is to be kept."""
    for number in (signal.SIGQUIT, signal.SIGKILL):
        server.send_signal(number)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return


def find_programs() -> str:
    """The folder of PostgreSQL's programs: the one on the path, else the newest."""
    if os.geteuid() == 0:
        raise CannotRun("PostgreSQL does not run as root: run this as another user, in a sandbox")
    for place in candidates():
        if all(os.access(os.path.join(place, name), os.X_OK) for name in PROGRAMS):
            return place
    raise CannotRun("PostgreSQL is not installed: " + ", ".join(PROGRAMS) + " are needed")


def candidates() -> Iterator[str]:
    found = shutil.which("initdb")
    if found:
        yield os.path.dirname(os.path.realpath(found))
    for version in range(99, 11, -1):
        yield from (folder.format(version) for folder in FOLDERS)


def is_ready(data: str) -> bool:
    """The eighth line of the server's file says so: ``src/include/utils/pidfile.h``."""
    try:
        with open(os.path.join(data, "postmaster.pid"), encoding="utf-8") as file:
            return [line.strip() for line in file.read().split("\n")[7:8]] == ["ready"]
    except OSError:
        return False


def text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def last_line(data: bytes | None) -> str:
    return text(data).strip().rpartition("\n")[2]
