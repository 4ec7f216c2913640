"""What a database refuses is told in words, with what to do next; never with a password."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from sqlalchemy import event

from reviewbot.adapters.store.failure import LedgerError
from reviewbot.adapters.store.opening import open_store
from reviewbot.errors import ConfigError
from tests.store.samples import answered, plan, wanted

pytestmark = pytest.mark.matrix(parts=1)

TOP = Path(__file__).parents[2]


def test_a_file_and_its_folder_are_for_their_owner_only(tmp_path: Path):
    open_store(tmp_path / "a" / "state").close()
    state = tmp_path / "a" / "state"
    assert state.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o077 for path in state.iterdir()} == {"ledger.db": 0, "owners": 0}


def test_a_damaged_file_is_told(tmp_path: Path):
    (tmp_path / "ledger.db").write_bytes(b"this is no database" * 500)
    with pytest.raises(LedgerError, match=r"ledger\.db is damaged, or is no ledger.*move the file away"):
        open_store(tmp_path)


def test_a_file_that_is_damaged_inside_is_told(tmp_path: Path):
    with open_store(tmp_path) as store, store.begin(plan("A")) as opened:
        for number in range(30):
            opened.calls.claim(wanted(number))
            opened.calls.settle(wanted(number), answered(str(number) * 300))
    file = tmp_path / "ledger.db"
    body = file.read_bytes()
    file.write_bytes(body[:4096] + b"\xff" * (len(body) - 4096))
    with pytest.raises(LedgerError, match=r"is damaged"):
        open_store(tmp_path)


def test_a_locked_file_is_told(tmp_path: Path):
    with open_store(tmp_path, busy_seconds=0.05) as store:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        try:
            with pytest.raises(LedgerError, match=r"locked by another program.*end the program"):
                store.begin(plan("A"))
        finally:
            other.close()


def test_a_full_disk_is_told_and_nothing_is_half_written(tmp_path: Path):
    with open_store(tmp_path) as store, store.begin(plan("A")) as opened:
        assert opened.calls.claim(wanted(1)) is None
        store._ledger.database.close()

        @event.listens_for(store._ledger.database.engine, "connect")
        def full(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("PRAGMA max_page_count = 1")

        with pytest.raises(LedgerError, match=r"no space left.*free some space"):
            opened.calls.settle(wanted(1), answered(os.urandom(200_000).hex()))
        event.remove(store._ledger.database.engine, "connect", full)
        store._ledger.database.close()
        assert opened.calls.claim(wanted(1)) is None, "no outcome was written, and nobody waits for it"
        assert not store.history.session("A").calls


READ_ONLY = """
import os, sys
from pathlib import Path
from reviewbot.adapters.store.opening import open_store
from reviewbot.errors import ReviewbotError
os.umask(0o077)
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
try:
    open_store(Path(sys.argv[1])).close()
except ReviewbotError as error:
    print(error)
"""


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, what: str):
    """Root may write anything, so the process is another user's there."""
    for parent in [tmp_path, *tmp_path.parents]:
        if str(parent).startswith("/tmp/") and parent.owner() == tmp_path.owner():
            parent.chmod(parent.stat().st_mode | 0o055)
    state = tmp_path / "state"
    if what == "file":
        open_store(state).close()
        (state / "ledger.db").chmod(0o444)
        (state / "owners").chmod(0o555)
        state.chmod(0o555)
    else:
        state.mkdir(mode=0o555)
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(state)], cwd=TOP, capture_output=True, text=True, timeout=60, check=False
    )
    state.chmod(0o755)
    assert "Traceback" not in done.stderr, done.stderr
    assert "Permission denied" in done.stdout
    assert "--state DIR" in done.stdout


def test_a_read_only_database_is_told(cluster):
    url = cluster.emptied()
    open_store(url).close()
    cluster.run("ALTER DATABASE postgres SET default_transaction_read_only = on")
    try:
        store = open_store(url)
        with pytest.raises(LedgerError, match=r"is read-only.*primary"):
            store.begin(plan("A"))
        with pytest.raises(LedgerError, match=r"is read-only.*primary"):
            store.close()
    finally:
        cluster.run("SET default_transaction_read_only = off", "ALTER DATABASE postgres RESET default_transaction_read_only")


def test_a_server_that_does_not_answer_is_told_without_the_password():
    password = "-".join(("pass", "WORD"))  # not as it stands in this line, which a traceback shows
    with pytest.raises(LedgerError, match=r"cannot be reached.*check that the server") as caught:
        open_store(f"postgresql://someone:{password}@127.0.0.1:1/ledger")
    assert password not in "".join(traceback.format_exception(caught.value))
    assert "someone" in str(caught.value)


def test_a_database_that_does_not_exist_is_told(cluster):
    with pytest.raises(LedgerError, match=r"does not exist"):
        open_store(cluster.url.replace("/postgres", "/nowhere"))


def test_a_user_without_rights_is_told(cluster):
    cluster.emptied()
    cluster.run("DROP ROLE IF EXISTS weak", "CREATE ROLE weak LOGIN", "REVOKE CREATE ON DATABASE postgres FROM PUBLIC")
    with pytest.raises(LedgerError, match=r"may not be written by this user.*grant"):
        open_store(cluster.url.replace("owner@", "weak@"))


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:pass-WORD-123@h/x",
        "http://pass-WORD-123/x",
        "postgresql://u:pass-WORD-123@h:port/x",
        "sqlite://",
        "://pass-WORD-123",
        "postgresql://u:pass-WORD-123",
    ],
)
def test_a_url_that_is_none_is_told_without_the_password(url: str):
    with pytest.raises(ConfigError) as caught:
        open_store(url)
    assert caught.value.hint
    assert "pass-WORD-123" not in "".join(traceback.format_exception(caught.value))


def test_who_loses_its_connections_gets_others_and_keeps_its_calls(cluster):
    """A server that was started again has forgotten every lock: this process still lives, and says so again."""
    with open_store(cluster.emptied()) as store:
        opened = store.begin(plan("A"))
        assert opened.calls.claim(wanted(1)) is None
        cluster.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
        )
        assert opened.calls.claim(wanted(2)) is None
        with open_store(cluster.url) as other:
            assert not other.begin(plan("B")).resumed, "the first still lives"
        for number in (1, 2):
            opened.calls.settle(wanted(number), answered(str(number)))
        assert opened.calls.claim(wanted(1)) == answered("1")
