"""The worker's process: real ones, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.adapters.worker import WORTH_A_PROCESS, ProcessWorker
from reviewbot.domain.change import Contents
from reviewbot.evidence import sources
from reviewbot.evidence.sources import Ends
from reviewbot.ports import WorkerLost

SECONDS = 30.0


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessWorker]:
    monkeypatch.setattr("reviewbot.adapters.worker._cores", lambda: 2)
    made = ProcessWorker(worth=1)
    made.expect(1)
    yield made
    made.close()


def where(word: str) -> tuple[int, int, dict[str, str], str, str]:
    return os.getpid(), os.getsid(0), dict(os.environ), str(Path.cwd()), word


def chatter(words: str) -> str:
    print(words, flush=True)
    print(words, file=sys.stderr, flush=True)
    return words


def broken(_: str) -> str:
    raise ValueError("out of paper")


def gone(how: int) -> str:
    os.kill(os.getpid(), how)
    return "never"


def leaves(code: int) -> str:
    os._exit(code)


def sleeps(seconds: float) -> None:
    time.sleep(seconds)


def test_large_work_is_done_elsewhere_without_our_environment(
    worker: ProcessWorker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REVIEWBOT_SECRET", "key")
    monkeypatch.chdir(tmp_path)
    pid, session, environment, folder, word = worker.begin(where, "hello")(SECONDS)
    assert pid not in (os.getpid(), os.getppid())
    assert session == pid, "the terminal's signals do not reach it"
    assert "REVIEWBOT_SECRET" not in environment
    assert not [name for name in environment if name != "LC_CTYPE"], "which Python sets by itself"
    assert (folder, word) == ("/", "hello")


def test_small_work_is_done_here_when_its_result_is_wanted() -> None:
    worker = ProcessWorker()
    worker.expect(WORTH_A_PROCESS - 1)
    done: list[int] = []
    wanted = worker.begin(done.append, 7)
    assert done == []
    wanted(SECONDS)
    assert done == [7]
    worker.close()


def test_with_one_core_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.worker._cores", lambda: 1)
    worker = ProcessWorker(worth=1)
    worker.expect(10)
    assert worker.begin(where, "")(SECONDS)[0] == os.getpid()


def test_megabytes_go_there_and_back(worker: ProcessWorker) -> None:
    words = "müde " * 1_000_000
    assert worker.begin(chatter, words)(SECONDS) == words, "and what is printed stands nowhere"


def test_what_it_raises_is_told(worker: ProcessWorker) -> None:
    with pytest.raises(WorkerLost, match="ValueError: out of paper"):
        worker.begin(broken, "")(SECONDS)


def test_a_process_that_is_killed_is_told(worker: ProcessWorker) -> None:
    with pytest.raises(WorkerLost, match="ended by signal 11"):
        worker.begin(gone, int(signal.SIGSEGV))(SECONDS)


def test_a_process_that_leaves_is_told(worker: ProcessWorker) -> None:
    with pytest.raises(WorkerLost, match="ended with 3 and no result"):
        worker.begin(leaves, 3)(SECONDS)


def test_nobody_waits_longer_than_the_review_has(worker: ProcessWorker) -> None:
    process = worker._process
    assert process is not None
    with pytest.raises(WorkerLost, match="no time was left"):
        worker.begin(sleeps, 60.0)(0.3)
    assert process.wait(SECONDS) == -signal.SIGKILL


@pytest.mark.parametrize("interpreter", ["/no/such/python", "/bin/false", "/bin/true"])
def test_where_no_process_can_get_ready_the_work_is_done_here(interpreter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.worker._cores", lambda: 2)
    monkeypatch.setattr(sys, "executable", interpreter)
    worker = ProcessWorker(worth=1)
    worker.expect(1)
    assert worker.begin(where, "here" * 100_000)(SECONDS)[0] == os.getpid()
    worker.close()


def test_whoever_is_never_asked_is_sent_home(worker: ProcessWorker) -> None:
    process = worker._process
    worker.close()
    assert process is not None
    assert process.returncode == -signal.SIGKILL


def test_a_review_that_is_killed_leaves_nobody_behind(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = (
        "import os, sys, time\n"
        "from reviewbot.adapters import worker\n"
        "worker._cores = lambda: 2\n"
        "made = worker.ProcessWorker(worth=1)\n"
        "made.expect(1)\n"
        f"open({str(told)!r}, 'w').write(str(made._process.pid))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False, timeout=SECONDS)
    assert_gone(int(told.read_text()))


def test_a_review_that_is_killed_leaves_nobody_at_work(tmp_path: Path) -> None:
    told, busy = tmp_path / "pid", tmp_path / "busy"
    program = (
        "import os, time\n"
        "from pathlib import Path\n"
        "from reviewbot.adapters import worker\n"
        "worker._cores = lambda: 2\n"
        "made = worker.ProcessWorker(worth=1)\n"
        "made.expect(1)\n"
        f"Path({str(told)!r}).write_text(str(made._process.pid))\n"
        f"made.begin(exec, {f'import pathlib, time; pathlib.Path({str(busy)!r}).touch(); time.sleep(3600)'!r})\n"
        f"while not Path({str(busy)!r}).exists():\n"
        "    time.sleep(0.01)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False, timeout=SECONDS)
    assert_gone(int(told.read_text()))


@pytest.mark.parametrize("broken", [None, "/a\0b"])
def test_a_python_that_does_not_know_its_own_program_works_alone(broken: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.worker._cores", lambda: 2)
    monkeypatch.setattr(sys, "executable", broken)
    worker = ProcessWorker(worth=1)
    worker.expect(1)
    assert worker.begin(where, "here")(SECONDS)[0] == os.getpid()


def test_the_analysers_say_there_what_they_say_here(worker: ProcessWorker) -> None:
    slow = b"def find(xs, ys):\n    found = []\n    for x in xs:\n        if x in found:\n            breakpoint()\n        found.append(x)\n"
    files = (
        Ends("a.py", "a.py", Contents(b"x = 1\n", slow)),
        Ends(None, "b.txt", Contents(None, b"<<<<<<< a\n=======\n>>>>>>> b\n")),
        Ends("c.py", "c.py", Contents(None, None), ((1, b"y = 1"),), ((1, b"import pdb; pdb.set_trace()"),)),
        Ends(None, "d.py", Contents(None, b"def broken(:\n\xff\xfe \xe2\x80\xae\n")),
    )
    there = worker.begin(sources.hear, files)(SECONDS)
    assert there == sources.hear(files)
    assert {result.rule for result in there.sides.head} >= {"debugger", "conflict", "list-membership"}


def assert_gone(pid: int) -> None:
    """The process ends soon, or waits for nothing but to be reaped."""
    stat, until = Path(f"/proc/{pid}/stat"), time.monotonic() + SECONDS
    while stat.exists() and stat.read_text().split(") ")[1][0] != "Z":
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.02)
