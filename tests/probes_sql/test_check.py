"""SQL as a check of a claim: what fails, what cannot be told, and that nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox.plain import PROBES
from tests.probes_sql.rooms import LOOK, check, run

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

SCHEMA = "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL CHECK (balance >= 0));"
STOPPED = """
import signal, subprocess, time
probe = subprocess.Popen([sys.executable, "-I", sys.argv[1] + "/reviewbot_postgres.py", "check", "check.sql"], stdout=subprocess.PIPE)
probe.stdout.readline()
assert running()
probe.send_signal(signal.SIGTERM)
print(probe.wait(), left())
"""


def test_assertions_that_hold_end_well(room: sandbox.ClosableSandbox) -> None:
    outcome = check(
        room,
        "\\i db/schema.sql\nINSERT INTO account VALUES (1, 5);\n"
        "DO $$ BEGIN ASSERT (SELECT balance FROM account) = 5; END $$;\nSELECT 'reached';\n",
        db__schema=SCHEMA,
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert b"reached" in outcome.stdout


@pytest.mark.smoke
def test_an_assertion_that_does_not_hold_is_the_trouble_with_its_place_and_code(room: sandbox.ClosableSandbox) -> None:
    outcome = check(room, "SELECT 1;\n\nDO $$ BEGIN ASSERT 1 = 2, 'a sum is wrong'; END $$;\n")
    assert outcome.exit_code == 1
    assert b"check.sql:3: ERROR:  P0004: a sum is wrong" in outcome.stderr


def test_a_schema_that_cannot_be_loaded_is_the_trouble(room: sandbox.ClosableSandbox) -> None:
    outcome = check(room, "\\i db/schema.sql\nSELECT 1;\n", db__schema="CREATE TABLE t (id nosuchtype);")
    assert outcome.exit_code == 1
    assert b"db/schema.sql:1: ERROR:  42704" in outcome.stderr


def test_nothing_after_the_first_error_is_run(room: sandbox.ClosableSandbox) -> None:
    outcome = check(room, "SELECT 1 / 0;\nSELECT 'went on';\n")
    assert outcome.exit_code == 1
    assert b"went on" not in outcome.stdout


def test_a_check_that_is_not_there_tells_nothing(room: sandbox.ClosableSandbox) -> None:
    outcome = run(room, ("{own_python}", "-I", "{probes}/reviewbot_postgres.py", "check", "nowhere.sql"), {})
    assert outcome.exit_code == 3


def test_a_check_that_does_not_end_tells_nothing(room: sandbox.ClosableSandbox) -> None:
    outcome = check(room, "SELECT pg_sleep(60);\n", "seconds=1.5")
    assert outcome.exit_code == 3
    assert outcome.stderr.decode().splitlines()[-1] == "psql did not end in the time that is given"


def test_a_check_that_loses_its_server_tells_nothing(room: sandbox.ClosableSandbox) -> None:
    outcome = check(room, "SELECT pg_terminate_backend(pg_backend_pid());\n")
    assert outcome.exit_code == 3, outcome
    assert b"psql ended before its work was done" in outcome.stderr.splitlines()[-1]


def test_a_check_reaches_no_network_and_no_other_server(room: sandbox.ClosableSandbox) -> None:
    outcome = check(room, "SHOW listen_addresses;\n\\! ls -d /var/run/postgresql; cat /etc/shadow\n")
    assert outcome.exit_code == 0
    assert b"root:" not in outcome.stdout + outcome.stderr
    assert b"No such file" in outcome.stderr


@pytest.mark.parametrize("sql", ["SELECT 1;", "SELECT 1 / 0;", "\\! kill -9 $PPID"])
def test_nothing_stays_behind_however_a_check_ends(room: sandbox.ClosableSandbox, sql: str) -> None:
    program = LOOK + (
        'import subprocess\nsubprocess.run([sys.executable, "-I", sys.argv[1] + "/reviewbot_postgres.py", "check", "check.sql"])\n'
        "print(left())"
    )
    outcome = run(room, ("{own_python}", "-c", program, "{probes}"), {"check.sql": sql})
    assert outcome.stdout.endswith(b"([], [])\n"), outcome


def test_nothing_stays_behind_when_the_probe_is_told_to_end(room: sandbox.ClosableSandbox) -> None:
    outcome = run(room, ("{own_python}", "-c", LOOK + STOPPED, "{probes}"), {"check.sql": "\\echo begun\nSELECT pg_sleep(60);\n"})
    assert outcome.stdout == b"143 ([], [])\n", outcome


def test_without_postgresql_the_reason_is_said(room: sandbox.ClosableSandbox) -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1]); import reviewbot_cluster as c; c.FOLDERS = (); c.find_programs()"
    outcome = run(room, ("/usr/bin/env", "PATH=/bin/nowhere", "{own_python}", "-c", program, "{probes}"), {})
    assert b"PostgreSQL is not installed: initdb, postgres, psql are needed" in outcome.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_as_root_it_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "check.sql").write_text("SELECT 1 / 0;")
    command = [sys.executable, "-I", str(PROBES / "reviewbot_postgres.py"), "check", "check.sql"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "does not run as root" in done.stderr.splitlines()[-1]
