"""Real processes on one ledger: each call is paid for once, nobody waits for the dead, nobody for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reviewbot.adapters.store.opening import open_store
from reviewbot.ports import SessionState
from tests.store.samples import answered, plan, wanted

pytestmark = pytest.mark.matrix(parts=1)

TOP = Path(__file__).parents[2]
#: To catch a process that hangs; nothing here takes more than a few seconds.
HANGS = 60


def start(where: str, notes: Path, run: str, *, count: int = 1, what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.racer", where, str(notes), run, str(count), what]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=TOP, text=True, **pipes)


def made(notes: Path) -> list[int]:
    """The calls that were really made, each time."""
    return sorted(int(line) for line in notes.read_text().splitlines() if line.isdigit())


def kept(notes: Path) -> set[int]:
    """The calls whose outcome was in the ledger."""
    return {int(line.split()[1]) for line in notes.read_text().splitlines() if line.startswith("kept")}


@pytest.mark.ci
def test_two_processes_make_each_of_twenty_calls_once(where: str, tmp_path: Path):
    """From the making of the tables on: neither finds a ledger."""
    notes = tmp_path / "notes"
    racers = [start(where, notes, f"R{number}", count=20, what="race") for number in range(2)]
    for racer in racers:
        _, errors = racer.communicate(timeout=HANGS)
        assert racer.returncode == 0, errors
    assert made(notes) == list(range(20))
    with open_store(where) as store:
        shown = [store.history.session(summary.id) for summary in store.history.sessions()]
    assert {len(record.calls) for record in shown} == {20}, "replayed ones are turns too"
    assert sum(not call.replayed for record in shown for call in record.calls) == 20


def test_a_call_of_a_killed_process_is_taken_over_at_once(where: str, tmp_path: Path):
    with open_store(where) as store:
        bystander = store.begin(plan("W", key="3" * 64))
        killed = start(where, tmp_path / "notes", "A", what="die")
        killed.communicate(timeout=HANGS)
        assert killed.returncode == -signal.SIGKILL
        assert store.history.session("A").summary.state is SessionState.INTERRUPTED
        pauses: list[float] = []
        object.__setattr__(store._ledger, "pause", pauses.append)
        assert bystander.calls.claim(wanted(0)) is None
        assert not pauses, "nobody waits for a dead process"
        bystander.calls.release(wanted(0))
        again = store.begin(plan("B"))
        assert (again.id, again.resumed) == ("A", True)


@pytest.mark.ci
def test_whenever_a_process_is_killed_nothing_that_was_kept_is_made_again(where: str, tmp_path: Path):
    notes = tmp_path / "notes"
    notes.touch()
    for most in (1, 4, 9):
        racer = start(where, notes, f"R{most}", count=30, what="race")
        while racer.poll() is None and len(kept(notes)) < most:
            time.sleep(0.002)
        racer.kill()
        racer.communicate(timeout=HANGS)
    assert kept(notes)
    last = start(where, notes, "last", count=30, what="race")
    _, errors = last.communicate(timeout=HANGS)
    assert last.returncode == 0, errors
    written = notes.read_text().splitlines()
    again = [line for place, line in enumerate(written) if f"kept {line}" in written[:place]]
    assert not again, "made after it was kept"
    with open_store(where) as store:
        (session,) = store.history.sessions()
        assert session.id == "R1", "it was resumed each time"
        assert len(store.history.session("R1").calls) == 30


def test_the_call_of_a_slow_process_is_waited_for(where: str, tmp_path: Path):
    slow = start(where, tmp_path / "notes", "A", what="hold")
    assert slow.stdout is not None
    assert slow.stdin is not None
    assert slow.stdout.readline().strip() == "A"
    with open_store(where) as store, ThreadPoolExecutor(1) as thread:
        opened = store.begin(plan("B"))
        assert not opened.resumed
        assert store.history.session("A").summary.state is SessionState.PENDING, "its process lives"
        waiting = thread.submit(opened.calls.claim, wanted(0))
        assert not waiting.done()
        _, errors = slow.communicate("", timeout=HANGS)
        assert slow.returncode == 0, errors
        assert waiting.result(HANGS) == answered("from the other process")


def test_who_waits_for_a_process_takes_over_when_it_is_killed(where: str, tmp_path: Path):
    slow = start(where, tmp_path / "notes", "A", what="hold")
    assert slow.stdout is not None
    slow.stdout.readline()
    with open_store(where) as store, ThreadPoolExecutor(1) as thread:
        opened = store.begin(plan("B"))
        waiting = thread.submit(opened.calls.claim, wanted(0))
        slow.kill()
        slow.communicate(timeout=HANGS)
        assert waiting.result(HANGS) is None


def test_what_dead_processes_left_is_swept(tmp_path: Path):
    state = tmp_path / "state"
    start(str(state), tmp_path / "notes", "A", what="die").communicate(timeout=HANGS)
    assert len(list((state / "owners").iterdir())) == 1
    with open_store(state), open_store(state):
        assert len(list((state / "owners").iterdir())) == 2, "one each, and none of the dead"
    assert not list((state / "owners").iterdir())
