"""Which tests a run holds, what a test may cost, and commands that are forked instead of started."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import rings
from tests.forkserver import PROGRAM
from tests.repo import Repo

TOP = Path(__file__).parents[1]
SUITE = """
import pytest

def test_plain(): pass

@pytest.mark.ci
def test_long(): pass

@pytest.mark.ci
@pytest.mark.smoke
def test_kept(): pass

@pytest.mark.matrix
@pytest.mark.parametrize("n", range(7))
def test_cases(n): pass

@pytest.mark.matrix(parts=1)
@pytest.mark.parametrize("n", range(3))
def test_all_in_ci(n): pass
"""
ALWAYS = {"test_plain", "test_kept"}
CASES = [f"test_cases[{n}]" for n in range(7)]
ALL_IN_CI = {f"test_all_in_ci[{n}]" for n in range(3)}


def run(folder: Path, *arguments: str, suite: str = SUITE, **variables: str) -> str:
    """What pytest prints about a suite of its own that has this one's rules."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  ci\n  smoke\n  matrix\n  serial\n  cold\n")
    (folder / "test_it.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-v", *arguments]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(TOP), **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def passed(output: str) -> set[str]:
    return set(re.findall(r"::(\S+) PASSED", output))


def test_the_default_ring_leaves_out_what_is_marked_for_ci_and_has_one_case_of_each_matrix(tmp_path: Path):
    output = run(tmp_path)
    assert passed(output) == {*ALWAYS, CASES[0], "test_all_in_ci[0]"}
    assert "ring: default" in output


@pytest.mark.parametrize("variable", ["true", "1"])
def test_ci_has_all_tests_and_a_quarter_of_each_matrix(tmp_path: Path, variable: str):
    output = run(tmp_path, CI=variable)
    quarter = passed(output) - ALWAYS - ALL_IN_CI - {"test_long"}
    assert quarter in [set(CASES[part::4]) for part in range(4)]
    assert "ring: ci, part" in output


def test_the_parts_of_a_matrix_are_disjoint_and_make_the_whole(tmp_path: Path):
    parts = []
    for commit in (300, 301, 302, 303):
        (tmp_path / "conftest.py").write_text(f"from tests import rings\nrings.commit = lambda: {commit}\n")
        # Bytecode of the file before, of the same size and second, would be taken for that of this one.
        parts.append(passed(run(tmp_path, CI="true", PYTHONDONTWRITEBYTECODE="1")) & set(CASES))
    assert sorted(case for part in parts for case in part) == CASES


def test_the_nightly_ring_has_everything(tmp_path: Path):
    assert passed(run(tmp_path, TEST_RING="nightly", CI="true")) == {*ALWAYS, *CASES, *ALL_IN_CI, "test_long"}


# The tests sleep so that both workers have a share of them, unless a group keeps them on one.
GROUPED = """
import time
import pytest

@pytest.mark.serial
@pytest.mark.parametrize("n", range(6))
def test_serial(n): time.sleep(0.1)

@pytest.mark.xdist_group("some")
@pytest.mark.parametrize("n", range(6))
def test_group(n): time.sleep(0.1)

@pytest.mark.parametrize("n", range(12))
def test_free(n): time.sleep(0.1)
"""


@pytest.mark.ci
def test_a_group_and_all_serial_tests_run_on_one_worker(tmp_path: Path):
    output = run(tmp_path, "-n", "2", "--dist", "loadgroup", suite=GROUPED)
    workers = {name: set(re.findall(rf"\[(gw\d)\].* PASSED .*{name}\[", output)) for name in ("serial", "group", "free")}
    assert (len(workers["serial"]), len(workers["group"])) == (1, 1)
    assert workers["serial"] | workers["group"] | workers["free"] == {"gw0", "gw1"}, "both workers had something to do"


def test_a_test_that_is_named_runs_in_every_ring(tmp_path: Path):
    assert passed(run(tmp_path, "test_it.py::test_long", "test_it.py::test_cases[5]")) == {"test_long", "test_cases[5]"}


BUSY = (
    "import pytest, time\n{}\ndef test_busy():\n    end = time.process_time() + 0.3\n    while time.process_time() < end: pass\n"
)


@pytest.mark.parametrize(("mark", "fails"), [("", True), ("@pytest.mark.ci", False)])
def test_a_test_that_takes_much_cpu_fails_unless_it_is_marked(tmp_path: Path, mark: str, fails: bool):
    (tmp_path / "conftest.py").write_text("from tests import cpu\ncpu.MOST_SECONDS = 0.2\n")
    output = run(tmp_path, "test_it.py::test_busy", suite=BUSY.format(mark))
    assert ("mark it with pytest.mark.ci" in output) == fails
    assert ("1 failed" in output) == fails


def started(repository: Repo, *arguments: str) -> subprocess.Popen[bytes]:
    command: Sequence[str] = [sys.executable, *PROGRAM, *arguments]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=repository.path, env=repository.environment, start_new_session=True, **streams)  # type: ignore[call-overload]


def test_a_forked_command_is_a_child_with_its_own_arguments_streams_and_exit_code(git_repo: Repo):
    process = started(git_repo, "review", "nowhere")
    stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    assert int(stat[1]) == os.getpid()
    assert int(stat[3]) == process.pid, "a session of its own"
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    assert b"nowhere" in error


def test_a_forked_command_is_killed_like_any_other(git_repo: Repo):
    process = started(git_repo, "review")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("is_cold", [False, pytest.param(True, marks=pytest.mark.cold)])
def test_a_cold_test_starts_a_new_interpreter(git_repo: Repo, is_cold: bool):
    process = started(git_repo, "review")
    command_line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    process.communicate(timeout=60)
    assert (b"tests.forkserver" in command_line) == (rings.FORKS and not is_cold)
