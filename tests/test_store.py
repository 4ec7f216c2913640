"""Sessions in the database, and the database itself."""

import fcntl
import json
import os
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from reviewbot.errors import ConfigError, ReviewbotError
from reviewbot.store.database import Connection, Store, open_store
from reviewbot.store.sessions import (
    Agent,
    Session,
    Subject,
    TrialRow,
    end_session,
    list_outcomes,
    list_sessions,
    load_session,
    prune_sessions,
    start_session,
)

pytest_plugins = ["postgres"]

SUBJECT = Subject(
    **{"project": "git@example.org:shop.git", "target": "HEAD~1..HEAD", "version": "1.0"},
    **{"base_commit": "b" * 40, "base_tree": "c" * 40, "head_tree": "d" * 40},
    title="Count from one",
)
ODD = "a\x00b\ud800c\udfffd\x1a0041\U0001f600"
WRITTEN = "a\\x00b\\ud800c\\udfffd\x1a0041\U0001f600"
START, LATER = "2026-01-01T10:00:00.000+00:00", "2026-01-01T10:00:09.000+00:00"
REFUSED = r"the ledger .* cannot be used: "


def ask(store: Store, session: Session, key: str = "key", agent: str = "", **model: str) -> None:
    """As if a session had asked something."""
    call = {"key": key, "generation": session.generation}
    turn = {"session_id": session.id, "agent": agent, "was_recorded": False, "seconds": 1}

    def action(connection: Connection) -> None:
        connection.insert("calls", {**call, "state": "done", **model})
        connection.insert("turns", {**call, **turn})

    store.run(action)


def states(store: Store) -> list[str]:
    return [summary.state for summary in store.run(list_sessions)]


CRITIC = Agent(name="critic", provider="openai", model="gpt")


def test_a_session_is_recorded_with_agents_and_findings(store: Store) -> None:
    subject = replace(SUBJECT, title=ODD, project=ODD)
    reviewer = Agent(name="reviewer", provider="ollama", model="qwen")
    agents = (replace(CRITIC, lens=ODD), reviewer)
    session = store.run(start_session, subject, START, agents)
    assert states(store) == ["running"]
    place = {"path": "a.py", "line": 3, "end_line": 3, "side": "head"}
    one = {"key": "1", "title": ODD, "severity": "high", "status": "proven"}
    other = {"key": "2", "title": "", "severity": "low", "status": "recorded"}
    given = [{**one, "location": place, "more": 1}, {**other, "location": None}]
    document = json.dumps({"verdict": "comment", "findings": given})
    store.run(end_session, session, document)
    record = store.run(load_session, session.id)
    assert record
    session = record.session
    assert session.subject == replace(subject, title=WRITTEN, project=WRITTEN)
    assert (session.state, session.started, session.review) == ("done", START, document)
    assert record.agents == (replace(agents[0], lens=WRITTEN), agents[1])
    rows = store.run(lambda connection: connection.rows("SELECT * FROM findings"))
    wanted = [
        {**one, "title": WRITTEN, "path": "a.py", "line": 3},
        {**other, "path": "", "line": None},
    ]
    numbered = [{"id": n, "session_id": session.id, **row} for n, row in enumerate(wanted, 1)]
    assert rows == numbered
    assert store.run(load_session, 99) is None


def test_the_session_of_a_dead_process_is_resumed(url: str, tmp_path: Path, store: Store) -> None:
    other = open_store(url, tmp_path)
    first = other.run(start_session, SUBJECT, START, [CRITIC])
    assert store.run(start_session, SUBJECT, START) != first  # it lives
    assert states(store) == ["running", "running"]
    other.close()  # as if its process died
    assert states(store) == ["running", "abandoned"]
    for other_code in ({"head_tree": "e" * 40}, {"version": "2"}):
        assert store.run(start_session, replace(SUBJECT, **other_code), LATER).id > first.id
    resumed = store.run(start_session, SUBJECT, LATER, [replace(CRITIC, model="new")])
    assert resumed == first
    record = store.run(load_session, first.id)
    assert record
    assert [agent.model for agent in record.agents] == ["new"]
    assert states(store) == ["running"] * 4
    store.run(end_session, resumed)
    assert states(store) == [*["running"] * 3, "done"]
    with pytest.raises(ReviewbotError, match=f"another process has taken over session {first.id}"):
        store.run(end_session, resumed)
    assert store.run(start_session, SUBJECT, LATER).id > first.id


def test_a_fresh_session_keeps_its_generation(url: str, tmp_path: Path, store: Store) -> None:
    for generation in (1, 2):
        other = open_store(url, tmp_path)
        ask(other, other.run(start_session, SUBJECT, START))
        fresh = other.run(start_session, SUBJECT, START, fresh=True)
        assert fresh.generation == generation
        other.close()  # as if its process died
    resumed = store.run(start_session, SUBJECT, LATER)
    assert (resumed.id, resumed.generation) == (fresh.id, 2)


def test_what_a_fallback_said_is_not_held_against_the_model_of_the_agent(store: Store) -> None:
    other = Agent(name="reviewer", provider="openai", model="gpt")
    session = store.run(start_session, SUBJECT, START, (CRITIC, other))
    ask(store, session, agent="critic", provider="ollama", model="qwen")
    ask(store, session, "more", agent="reviewer", provider="openai", model="gpt")
    store.run(end_session, session)
    store.run(start_session, SUBJECT, LATER)  # what runs has no outcome yet
    assert store.run(list_outcomes) == [("{}", {"reviewer": "openai:gpt"})]


def test_outcomes_are_those_of_the_newest_hundred_sessions(store: Store) -> None:
    def add(connection: Connection) -> None:
        for number in range(101):
            session = start_session(connection, replace(SUBJECT, target=f"{number}"), START)
            end_session(connection, session, f'{{"number": {number}}}')

    store.run(add)
    numbers = [json.loads(review)["number"] for review, _ in store.run(list_outcomes)]
    assert numbers == [*range(100, 0, -1)]


def test_pruning_removes_a_project_except_for_what_others_use(store: Store) -> None:
    mine = store.run(start_session, SUBJECT, START, [CRITIC])
    yours = store.run(start_session, replace(SUBJECT, project="another"), START)
    running = store.run(start_session, replace(SUBJECT, target="another"), START)
    for session, key in ((mine, "mine"), (mine, "shared"), (yours, "shared"), (running, "running")):
        ask(store, session, key)
    claimed = {"key": "claimed", "generation": 0, "state": "claimed"}
    store.run(lambda connection: connection.insert("calls", claimed))
    for session in (mine, yours):
        store.run(end_session, session)
    store.run(prune_sessions, SUBJECT.project)
    # They are listed by project, the newest first.
    assert [summary.id for summary in store.run(list_sessions)] == [running.id, yours.id]
    assert [summary.id for summary in store.run(list_sessions, "another")] == [yours.id]
    assert store.run(list_sessions, "c") == ()
    rows = store.run(lambda connection: connection.rows("SELECT key FROM calls ORDER BY key"))
    assert [row["key"] for row in rows] == ["claimed", "running", "shared"]
    store.run(end_session, running)
    store.run(prune_sessions, SUBJECT.project)
    assert store.run(list_sessions, SUBJECT.project) == ()


def test_newer_databases_are_refused_older_ones_get_new_tables(url: str, tmp_path: Path) -> None:
    def change(statement: str) -> None:
        store.run(lambda connection: connection.execute(statement))

    store = open_store(url, tmp_path)
    change("DROP TABLE trials")
    change("UPDATE schema_version SET version = 1")
    store.close()
    store = open_store(url, tmp_path)
    session = store.run(start_session, SUBJECT, START)
    tried = TrialRow(task="F1", title="", author="", outcome="fixed", tree="", diff="", reasons="")
    store.run(end_session, session, trials=[tried])
    record = store.run(load_session, session.id)
    assert record
    assert record.trials == (tried,)
    change("UPDATE schema_version SET version = 9")
    store.close()
    with pytest.raises(ReviewbotError, match=r"newer reviewbot has written .* \(9\)"):
        open_store(url, tmp_path)


def test_a_user_of_the_server_who_may_make_no_tables_uses_those_of_others(
    postgres: str, tmp_path: Path
) -> None:
    guest = postgres.replace("owner@", "guest@")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        with pytest.raises(ReviewbotError, match=REFUSED + "permission denied for") as caught:
            open_store(guest, tmp_path)
        assert caught.value.hint == "docs/models.md says which rights it needs"
        open_store(postgres, tmp_path).close()
        connection.execute("GRANT USAGE ON SCHEMA reviewbot TO guest")
        for kind in ("TABLES", "SEQUENCES"):
            connection.execute(f"GRANT ALL ON ALL {kind} IN SCHEMA reviewbot TO guest")
        with closing(open_store(guest, tmp_path)) as store:
            store.run(end_session, store.run(start_session, SUBJECT, START))
            assert states(store) == ["done"]
        connection.execute("DROP OWNED BY guest")
        connection.execute("DROP ROLE guest")
        connection.execute("DROP SCHEMA reviewbot CASCADE")


def test_files_are_for_their_owner_only_and_those_of_dead_processes_go(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "state"
    store = open_store("", folder)
    store.run(start_session, SUBJECT, START)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert set(modes) == {"ledger.db", "ledger.db-wal", "ledger.db-shm", "owners"}
    assert not any(mode & 0o077 for mode in modes.values())
    owners = folder / "owners"
    (owners / "1-dead.lock").touch()
    second = open_store("", folder)
    assert len(list(owners.iterdir())) == 2
    for opened in (store, second):
        opened.close()
    assert list(owners.iterdir()) == []


def test_nobody_waits_for_ever_for_a_process_that_stopped_while_it_opened_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.store.database.SECONDS", 1)
    open_store("", tmp_path).close()
    stopped = os.open(tmp_path / "owners", os.O_RDONLY)
    fcntl.flock(stopped, fcntl.LOCK_EX)
    with pytest.raises(ReviewbotError, match=REFUSED + "it is locked") as caught:
        open_store("", tmp_path)
    assert caught.value.hint == "end the program that uses it, or wait for it"
    os.close(stopped)
    open_store("", tmp_path).close()


def test_what_failed_only_because_of_others_is_done_again(postgres: str, tmp_path: Path) -> None:
    tried: list[str] = []

    def fail_twice(connection: Connection, code: str) -> None:
        tried.append(code)
        if tried.count(code) < 3:
            connection.execute(f"DO $$ BEGIN RAISE SQLSTATE '{code}'; END $$")

    with closing(open_store(postgres, tmp_path)) as store:
        for code in ("40001", "40P01", "23503"):
            store.run(fail_twice, code)
        with pytest.raises(ReviewbotError, match=REFUSED):
            store.run(fail_twice, "23505")
    assert [tried.count(code) for code in dict.fromkeys(tried)] == [3, 3, 3, 1]


def test_nobody_waits_for_ever_for_a_lock_of_the_server(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.store.database.SECONDS", 1)
    with psycopg.connect(postgres) as stopped:
        stopped.execute("SELECT pg_advisory_xact_lock(%s)", (0x5E71E3B0,))
        with pytest.raises(ReviewbotError, match=REFUSED + ".*lock timeout") as caught:
            open_store(postgres, tmp_path)
    assert caught.value.hint == "end the program that uses it, or wait for it"
    open_store(postgres, tmp_path).close()


def test_a_file_that_is_no_database_or_that_of_another_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (number INTEGER)")
    connection.close()
    with pytest.raises(ReviewbotError, match="is the database of another program"):
        open_store("", tmp_path)
    file.write_bytes(b"words" * 1000)
    with pytest.raises(ReviewbotError, match=REFUSED + "file is not a database") as caught:
        open_store("", tmp_path)
    assert caught.value.hint == "move the file away; replies in it will be paid for again"


def test_where_no_space_is_left_it_says_what_to_do(tmp_path: Path) -> None:
    with closing(open_store("", tmp_path)) as store:
        store.driver.execute("PRAGMA max_page_count = 1")  # as on a disk that is full
        with pytest.raises(ReviewbotError, match=REFUSED + "database or disk is full") as caught:
            store.run(start_session, replace(SUBJECT, title="long" * 10_000), START)
    assert caught.value.hint == "make it writable, free some space, or use --state"


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_holds_what_it_can(
    postgres: str, tmp_path: Path, encoding: str
) -> None:
    made = f"CREATE DATABASE {encoding} ENCODING '{encoding}' TEMPLATE template0"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"{made} LC_COLLATE 'C' LC_CTYPE 'C'")
    url = postgres.replace("/postgres?", f"/{encoding.lower()}?")
    for title in ("größer", "更大"):
        with closing(open_store(url, tmp_path)) as store:
            if encoding == "LATIN1" and title == "更大":
                with pytest.raises(ReviewbotError, match='no equivalent in encoding "LATIN1"'):
                    store.run(start_session, replace(SUBJECT, title=title), START)
            else:
                store.run(start_session, replace(SUBJECT, title=title), START)
                assert store.run(list_sessions)[0].subject.title == title


def test_a_server_that_cannot_be_reached_or_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.store.database.SECONDS", 2)
    silent = socket.create_server(("127.0.0.1", 0))  # it takes connections, and says nothing
    port = silent.getsockname()[1]
    password = "-".join(("very", "secret"))  # not as in the source, which tracebacks show
    for url, error, message in (
        ("postgresql://me:{}@127.0.0.1:1/x", ReviewbotError, "x cannot be used: connection failed"),
        ("postgresql://127.0.0.1:1/x?password={}", ReviewbotError, "connection failed"),
        (f"postgresql://me:{{}}@127.0.0.1:{port}/x", ReviewbotError, "timeout expired"),
        ("postgresql://me:{}@none.invalid/x", ReviewbotError, "failed to resolve host"),
        ("postgresql://me:{}@host:port/x", ConfigError, "none of PostgreSQL"),
        ("mysql://me:{}@host/x", ConfigError, "none of PostgreSQL"),
    ):
        with pytest.raises(error, match=message) as caught:
            open_store(url.format(password), tmp_path)
        assert password not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.hint
        assert not list(tmp_path.iterdir())
    silent.close()
