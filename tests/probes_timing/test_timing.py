"""Snippets timed against a tree, in the sandbox: what is told, and what a snippet cannot spoil."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers import profile
from reviewbot.evidence.parsers.profile import TimingReport
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.ports import Job, Outcome
from tests.sandboxes import open_room

MODULE = """\
import os.path

def squares(numbers):
    return [square(number) for number in numbers]

def square(number):
    return number * number

def broken():
    return {}["missing"]
"""
SNIPPET = (
    "from shop.sums import squares\ndef setup():\n    return list(range(50)),\ndef run(numbers):\n    return squares(numbers)\n"
)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sandbox.ClosableSandbox]:
    """bubblewrap over a tree with one package, where it can run."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "shop").mkdir()
    (tree / "shop" / "__init__.py").write_text("")
    (tree / "shop" / "sums.py").write_text(MODULE)
    (tree / "src" / "inner").mkdir(parents=True)
    (tree / "src" / "inner" / "__init__.py").write_text("PLACE = 'src'\n")
    opened = open_room("bubblewrap", tree)
    yield opened
    opened.close()


def run(room: sandbox.ClosableSandbox, snippet: str, **spec: Any) -> Outcome:
    written = {"min_seconds": 0.002, "rounds": 3} | spec
    files = (("spec.json", json.dumps(written).encode()), ("snippet.py", snippet.encode()))
    words = ("tree={tree}", "source={scratch}/snippet.py", "report={scratch}/report.json")
    argv = ("{python}", "-I", "{probes}/reviewbot_timing.py", "{scratch}/spec.json", *words)
    return room.run(Job("timing", argv, 20.0, executes=True, tree=Side.HEAD, files=files, collect=("report.json",)))


def timed(room: sandbox.ClosableSandbox, snippet: str, **spec: Any) -> TimingReport:
    outcome = run(room, snippet, **spec)
    assert outcome.exit_code == 0, outcome
    return profile.read(outcome.file("report.json") or b"")


def test_each_round_is_told_and_takes_as_long_as_asked_for(room: sandbox.ClosableSandbox) -> None:
    report = timed(room, SNIPPET, rounds=4, min_seconds=0.005)
    assert len(report.seconds) == 4
    assert report.calls > 10
    assert str(report.calls).rstrip("0") in ("1", "2", "5")
    assert report.profile.spots == ()


def test_the_other_tree_does_as_many_calls_as_it_is_told(room: sandbox.ClosableSandbox) -> None:
    counted = "made = []\ndef run():\n    made.append(1)\n    open('made', 'w').write(str(len(made)))\n"
    report = timed(room, counted, calls=7, rounds=2, min_seconds=100)
    assert (report.calls, len(report.seconds)) == (7, 2)


def test_a_snippet_that_takes_longer_than_a_round_is_called_once(room: sandbox.ClosableSandbox) -> None:
    report = timed(room, "import time\ndef run():\n    time.sleep(0.01)\n", rounds=2)
    assert report.calls == 1
    assert all(0.01 <= seconds < 5 for seconds in report.seconds)


def test_the_time_of_a_round_is_divided_by_its_calls(room: sandbox.ClosableSandbox) -> None:
    clock = "import __main__\npassed = [0]\n__main__.CLOCK = lambda: passed[0]\ndef run():\n    passed[0] += 3\n"
    report = timed(room, clock, rounds=2, min_seconds=100)
    assert (report.calls, report.seconds) == (50, (3.0, 3.0))


def test_a_clock_that_stands_still_leaves_a_time_above_zero(room: sandbox.ClosableSandbox) -> None:
    clock = "import __main__\n__main__.CLOCK = lambda: 7.0\ndef run(): pass\n"
    assert timed(room, clock, rounds=1, calls=1).seconds == (1e-9,)


def test_a_tree_that_replaces_the_clock_is_timed_by_the_real_one(room: sandbox.ClosableSandbox) -> None:
    snippet = "import time\ntime.perf_counter = lambda: 7.0\ndef run():\n    time.sleep(0.01)\n"
    assert min(timed(room, snippet, rounds=2).seconds) >= 0.01


def test_no_garbage_is_collected_while_the_clock_runs(room: sandbox.ClosableSandbox) -> None:
    timed(room, "import gc\ndef setup():\n    assert gc.isenabled()\n    return ()\ndef run():\n    assert not gc.isenabled()\n")


@pytest.mark.parametrize(
    ("returned", "expected"), [("(1, 2)", "(1, 2)"), ("[1, 2]", "([1, 2],)"), ("None", "(None,)"), ("()", "()")]
)
def test_what_setup_returns_is_what_run_is_given(room: sandbox.ClosableSandbox, returned: str, expected: str) -> None:
    timed(room, f"def setup():\n    return {returned}\ndef run(*args):\n    assert args == {expected}, args\n", calls=1, rounds=1)


def test_each_round_begins_with_what_setup_makes(room: sandbox.ClosableSandbox) -> None:
    timed(room, "def setup():\n    return [0]\ndef run(used):\n    used.append(1)\n    assert len(used) <= 6, used\n", calls=5)


def test_the_profile_names_functions_of_the_tree_by_path_and_line(room: sandbox.ClosableSandbox) -> None:
    spots = {spot.function: spot for spot in timed(room, SNIPPET, profile=True, calls=3, rounds=1).profile.spots}
    assert (spots["squares"].path, spots["squares"].line, spots["squares"].calls) == ("shop/sums.py", 3, 3)
    assert (spots["square"].path, spots["square"].line, spots["square"].calls) == ("shop/sums.py", 6, 150)
    assert spots["run"].path == "(check)"
    assert spots["squares"].whole >= spots["square"].whole >= spots["square"].own
    assert not {"round", "measured", "<built-in method gc.collect>"} & set(spots)


def test_the_profile_of_libraries_names_no_folder_of_this_machine(room: sandbox.ClosableSandbox) -> None:
    report = timed(room, "import json\ndef run():\n    json.dumps([1] * 9, indent=1)\n", profile=True, calls=2, rounds=1)
    paths = {spot.path for spot in report.profile.spots}
    assert "(python)/json/encoder.py" in paths
    assert all(not path.startswith("/") for path in paths)


def test_a_snippet_that_raises_tells_where(room: sandbox.ClosableSandbox) -> None:
    outcome = run(room, "from shop import sums\ndef run():\n    sums.broken()\n")
    assert outcome.exit_code == 1
    report = profile.read(outcome.file("report.json") or b"")
    assert report.seconds == ()
    assert 'File "(check)", line 3, in run\n    sums.broken()' in report.error
    assert 'File "shop/sums.py", line 10, in broken' in report.error
    assert report.error.endswith("KeyError: 'missing'\n")
    assert "reviewbot_timing" not in report.error


@pytest.mark.parametrize(
    ("snippet", "reason"),
    [
        ("from shop.sums import nothing\ndef run(): pass\n", "ImportError: cannot import name 'nothing'"),
        ("import no_such_module\ndef run(): pass\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def run(:\n", "SyntaxError"),
        ("def other(): pass\n", "does not define run(*args)"),
    ],
)
def test_a_snippet_that_cannot_be_loaded_tells_why(room: sandbox.ClosableSandbox, snippet: str, reason: str) -> None:
    outcome = run(room, snippet)
    assert outcome.exit_code == 3
    assert reason in outcome.stderr.decode().splitlines()[-1]
    assert reason in profile.read(outcome.file("report.json") or b"").error


@pytest.mark.parametrize("leaving", ["raise SystemExit(0)", "import sys; sys.exit()", "raise KeyboardInterrupt"])
def test_a_snippet_that_leaves_the_program_is_no_result(room: sandbox.ClosableSandbox, leaving: str) -> None:
    outcome = run(room, f"def run():\n    {leaving}\n")
    assert outcome.exit_code == 1
    assert profile.read(outcome.file("report.json") or b"").error


def test_a_snippet_that_ends_the_process_leaves_no_report(room: sandbox.ClosableSandbox) -> None:
    outcome = run(room, "import os\ndef run():\n    os._exit(0)\n")
    with pytest.raises(Unreadable):
        profile.read(outcome.file("report.json") or b"")


def test_what_a_snippet_prints_goes_nowhere(room: sandbox.ClosableSandbox) -> None:
    outcome = run(room, "import os\ndef run():\n    print('x' * 99, flush=True)\n    os.write(2, b'y' * 99)\n")
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, b"", b"")


def test_work_left_for_the_exit_is_not_done(room: sandbox.ClosableSandbox) -> None:
    late = "import atexit, os, threading, time\natexit.register(os._exit, 9)\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    outcome = run(room, late + "def run(): pass\n")
    assert outcome.exit_code == 0
    assert outcome.seconds < 15


def test_the_tree_is_where_it_runs_and_imports(room: sandbox.ClosableSandbox) -> None:
    snippet = "import os, inner, shop\ndef run():\n    assert os.path.isfile('shop/sums.py') and inner.PLACE == 'src'\n"
    timed(room, snippet, calls=1, rounds=1)


@pytest.mark.parametrize("words", [("{scratch}/none.json",), ("{scratch}/spec.json",), ("{scratch}/spec.json", "tree"), ()])
def test_a_specification_that_cannot_be_read_is_said(room: sandbox.ClosableSandbox, words: tuple[str, ...]) -> None:
    argv = ("{python}", "-I", "{probes}/reviewbot_timing.py", *words)
    outcome = room.run(Job("timing", argv, 20.0, executes=True, tree=Side.HEAD, files=(("spec.json", b'{"source": "x"}'),)))
    assert outcome.exit_code == 3
    assert b"the specification cannot be read" in outcome.stderr


def test_a_snippet_that_is_not_there_is_said(room: sandbox.ClosableSandbox) -> None:
    outcome = run(room, "", report="/dev/null")
    assert outcome.exit_code == 3
    argv = ("{python}", "-I", "{probes}/reviewbot_timing.py", "{scratch}/spec.json")
    spec = json.dumps({"tree": ".", "source": "nowhere.py", "report": "report.json"}).encode()
    outcome = room.run(Job("timing", argv, 20.0, executes=True, tree=Side.HEAD, files=(("spec.json", spec),)))
    assert outcome.exit_code == 3
    assert b"the snippet cannot be read" in outcome.stderr
