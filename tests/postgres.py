"""Ledgers for tests, each on SQLite and on PostgreSQL."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reviewbot.store.database import Store, open_store


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of an empty database, whose owner is its only user."""
    if not shutil.which("initdb"):
        pytest.skip("not run: PostgreSQL is not installed (initdb)")
    user: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's name has 107 bytes at most
    if os.geteuid() == 0:  # as root, PostgreSQL does not start
        if "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
            subprocess.run(("useradd", "--system", "postgres"), check=True)
        entry = pwd.getpwnam("postgres")
        user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    folder.chmod(0o755)
    data = str(folder / "data")

    def run(*command: str) -> None:
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, **user)

    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    try:
        run("initdb", "-D", data, "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-N")
        run("pg_ctl", "-D", data, "-l", f"{folder}/log", "-w", "-o", options, "start")
        try:
            yield f"postgresql://owner@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a ledger that does not exist yet. It is "" for a file."""
    if request.param == "sqlite":
        yield ""
        return
    server: str = request.getfixturevalue("postgres")
    drop = "DROP SCHEMA IF EXISTS reviewbot CASCADE"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(drop)
        yield server
        connection.execute(drop)  # others find none of it


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    store = open_store(url, tmp_path)
    yield store
    store.close()
