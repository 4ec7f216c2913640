"""The helper's process: real ones, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.adapters.helper import WORTH_A_PROCESS, ProcessHelper
from reviewbot.domain.change import Contents
from reviewbot.evidence import sources
from reviewbot.evidence.sources import Ends
from reviewbot.ports import HelperLost

SECONDS = 30.0


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessHelper]:
    monkeypatch.setattr("reviewbot.adapters.helper._cores", lambda: 2)
    made = ProcessHelper(worth=1)
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
    helper: ProcessHelper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REVIEWBOT_SECRET", "key")
    monkeypatch.chdir(tmp_path)
    pid, session, environment, folder, word = helper.begin(where, "hello")(SECONDS)
    assert pid not in (os.getpid(), os.getppid())
    assert session == pid, "the terminal's signals do not reach it"
    assert "REVIEWBOT_SECRET" not in environment
    assert not [name for name in environment if name != "LC_CTYPE"], "which Python sets by itself"
    assert (folder, word) == ("/", "hello")


def test_small_work_is_done_here_when_its_result_is_wanted() -> None:
    helper = ProcessHelper()
    helper.expect(WORTH_A_PROCESS - 1)
    done: list[int] = []
    wanted = helper.begin(done.append, 7)
    assert done == []
    wanted(SECONDS)
    assert done == [7]
    helper.close()


def test_with_one_core_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.helper._cores", lambda: 1)
    helper = ProcessHelper(worth=1)
    helper.expect(10)
    assert helper.begin(where, "")(SECONDS)[0] == os.getpid()


def test_megabytes_go_there_and_back(helper: ProcessHelper) -> None:
    words = "müde " * 1_000_000
    assert helper.begin(chatter, words)(SECONDS) == words, "and what is printed stands nowhere"


def test_what_it_raises_is_told(helper: ProcessHelper) -> None:
    with pytest.raises(HelperLost, match="ValueError: out of paper"):
        helper.begin(broken, "")(SECONDS)


def test_a_process_that_is_killed_is_told(helper: ProcessHelper) -> None:
    with pytest.raises(HelperLost, match="ended by signal 11"):
        helper.begin(gone, int(signal.SIGSEGV))(SECONDS)


def test_a_process_that_leaves_is_told(helper: ProcessHelper) -> None:
    with pytest.raises(HelperLost, match="ended with 3 and no result"):
        helper.begin(leaves, 3)(SECONDS)


def test_nobody_waits_longer_than_the_review_has(helper: ProcessHelper) -> None:
    process = helper._process
    assert process is not None
    with pytest.raises(HelperLost, match="no time was left"):
        helper.begin(sleeps, 60.0)(0.3)
    assert process.wait(SECONDS) == -signal.SIGKILL


@pytest.mark.parametrize("interpreter", ["/no/such/python", "/bin/false", "/bin/true"])
def test_where_no_process_can_get_ready_the_work_is_done_here(interpreter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.helper._cores", lambda: 2)
    monkeypatch.setattr(sys, "executable", interpreter)
    helper = ProcessHelper(worth=1)
    helper.expect(1)
    assert helper.begin(where, "here" * 100_000)(SECONDS)[0] == os.getpid()
    helper.close()


def test_whoever_is_never_asked_is_sent_home(helper: ProcessHelper) -> None:
    process = helper._process
    helper.close()
    assert process is not None
    assert process.returncode == -signal.SIGKILL


def test_a_review_that_is_killed_leaves_nobody_behind(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = (
        "import os, sys, time\n"
        "from reviewbot.adapters import helper\n"
        "helper._cores = lambda: 2\n"
        "made = helper.ProcessHelper(worth=1)\n"
        "made.expect(1)\n"
        f"open({str(told)!r}, 'w').write(str(made._process.pid))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False, timeout=SECONDS)
    pid = int(told.read_text())
    until = time.monotonic() + SECONDS
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z":
        assert time.monotonic() < until, "it waits for ever"
        time.sleep(0.02)


def test_the_analysers_say_there_what_they_say_here(helper: ProcessHelper) -> None:
    slow = b"def find(xs, ys):\n    found = []\n    for x in xs:\n        if x in found:\n            breakpoint()\n        found.append(x)\n"
    files = (
        Ends("a.py", "a.py", Contents(b"x = 1\n", slow)),
        Ends(None, "b.txt", Contents(None, b"<<<<<<< a\n=======\n>>>>>>> b\n")),
        Ends("c.py", "c.py", Contents(None, None), ((1, b"y = 1"),), ((1, b"import pdb; pdb.set_trace()"),)),
        Ends(None, "d.py", Contents(None, b"def broken(:\n\xff\xfe \xe2\x80\xae\n")),
    )
    there = helper.begin(sources.hear, files)(SECONDS)
    assert there == sources.hear(files)
    assert {result.rule for result in there.sides.head} >= {"debugger", "conflict", "list-membership"}
