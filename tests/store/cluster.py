"""A throw-away PostgreSQL: a real server on a unix socket of its own, without a port and without fsync."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

NOBODY_ELSE = "postgres"


def binaries() -> Path | None:
    """The folder of ``initdb`` and ``pg_ctl``: the newest of Debian's, or that on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("pg_ctl")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


class Cluster:
    """A running server, of which one database is used: emptying it takes a tenth of the time of making another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgresql://owner@/postgres?host={folder}"

    def run(self, *statements: str) -> None:
        """As an administrator."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def emptied(self) -> str:
        """The URL of the database, with nothing in it and nobody at it."""
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres' AND pid <> pg_backend_pid()"
        self.run(others, "DROP SCHEMA IF EXISTS reviewbot CASCADE")
        return self.url


@contextmanager
def running() -> Iterator[Cluster]:
    """The server refuses to run as root: there it runs as the user ``postgres``."""
    where = binaries()
    if where is None:
        pytest.skip("there is no PostgreSQL here")
    as_root = os.geteuid() == 0
    user = {"user": NOBODY_ELSE, "group": pwd.getpwnam(NOBODY_ELSE).pw_gid, "extra_groups": []} if as_root else {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: the name of a socket has at most 107 bytes
    if as_root:
        os.chown(folder, pwd.getpwnam(NOBODY_ELSE).pw_uid, -1)
    folder.chmod(0o755)
    data, log = folder / "data", folder / "log"

    def run(*command: str) -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, **user)
        assert done.returncode == 0, done.stdout + done.stderr + (log.read_text() if log.exists() else "")

    try:
        run(str(where / "initdb"), "-D", str(data), "-A", "trust", "-U", "owner", "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c max_connections=60"
        run(str(where / "pg_ctl"), "-D", str(data), "-l", str(log), "-w", "-o", options, "start")
        try:
            yield Cluster(folder)
        finally:
            run(str(where / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
