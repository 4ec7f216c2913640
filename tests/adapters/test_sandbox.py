"""What a sandbox gives a job, and what it does not let it have; every process here is real."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox.limits import counts_by_namespace
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError
from reviewbot.ports import Ended, Job
from tests.sandboxes import a_mark, open_room, python, shell, wait_until_gone

pytestmark = pytest.mark.matrix(parts=1)

MIB = 1024 * 1024
SMALL = sandbox.Limits(
    memory_bytes=900 * MIB,
    processes=40,
    threads=160,
    folder_bytes=30 * MIB,
    file_bytes=10 * MIB,
    output_bytes=4000,
    flood_bytes=2 * MIB,
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "exported"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file.txt").write_text("of the tree")
    return folder


@pytest.fixture(params=["bubblewrap", "unconfined", "container"])
def room(request: pytest.FixtureRequest, tree: Path) -> Iterator[sandbox.ClosableSandbox]:
    opened = open_room(request.param, tree, limits=SMALL)
    yield opened
    opened.close()


@pytest.fixture
def long() -> str:
    """A number of seconds to sleep that no other test uses."""
    return a_mark()


def test_a_job_works_in_a_copy_of_the_tree(room: sandbox.ClosableSandbox, tree: Path) -> None:
    outcome = shell(room, "cat inner/file.txt; echo changed > inner/file.txt; rm -r inner")
    assert outcome.stdout == b"of the tree"
    assert outcome.exit_code == 0
    assert (tree / "inner" / "file.txt").read_text() == "of the tree"


def test_an_overlay_replaces_and_adds_files_of_the_copy(room: sandbox.ClosableSandbox) -> None:
    overlay = (("inner/file.txt", b"newer "), ("deep/er/more.txt", b"added"))
    assert shell(room, "cat inner/file.txt deep/er/more.txt", overlay=overlay).stdout == b"newer added"


def test_files_are_laid_in_and_collected(room: sandbox.ClosableSandbox) -> None:
    outcome = shell(room, "cat {scratch}/in.txt > {scratch}/out.txt", files=(("in.txt", b"\x00bytes"),), collect=("out.txt",))
    assert outcome.file("out.txt") == b"\x00bytes"


def test_standard_input_arrives_whole(room: sandbox.ClosableSandbox) -> None:
    assert shell(room, "wc -c", stdin=b"x" * 1_000_000).stdout.strip() == b"1000000"


def test_a_job_that_does_not_read_its_input_ends_all_the_same(room: sandbox.ClosableSandbox) -> None:
    assert shell(room, "exit 3", stdin=b"x" * 1_000_000).exit_code == 3


def test_a_job_that_does_not_end_is_ended(room: sandbox.ClosableSandbox, long: str) -> None:
    began = time.monotonic()
    outcome = shell(room, f"echo begun; sleep {long}", seconds=0.5)
    assert outcome.ended is Ended.TIMEOUT
    assert outcome.stdout == b"begun\n"
    assert "0.5" in outcome.reason or "within" in outcome.reason
    assert time.monotonic() - began < 5
    assert wait_until_gone(long) == []


def test_what_was_collected_before_the_time_was_up_is_kept(room: sandbox.ClosableSandbox) -> None:
    outcome = shell(room, "echo first > {scratch}/report; sleep 60", seconds=0.5, collect=("report",))
    assert outcome.file("report") == b"first\n"


@pytest.mark.serial
@pytest.mark.ci
def test_memory_of_all_processes_together_is_bounded(room: sandbox.ClosableSandbox) -> None:
    program = (
        "import os, time\nfor _ in range(3): os.fork()\nkept = bytearray(os.urandom(1) * (250 * 1024 * 1024)); time.sleep(20)"
    )
    assert python(room, program).ended is Ended.MEMORY


def test_a_fork_bomb_is_ended(room: sandbox.ClosableSandbox, long: str) -> None:
    bomb = f"import os, time\nwhile True:\n if os.fork() == 0: time.sleep(60); os._exit(0)  # {long}"
    assert python(room, bomb).ended is Ended.PROCESSES
    assert wait_until_gone(long) == []


def test_endless_output_ends_the_job_and_keeps_head_and_tail(room: sandbox.ClosableSandbox) -> None:
    outcome = shell(room, "echo beginning; yes")
    assert outcome.ended is Ended.OUTPUT
    assert outcome.stdout.startswith(b"beginning\n")
    assert b"bytes left out" in outcome.stdout
    assert len(outcome.stdout) < 5000


def test_one_file_cannot_grow_for_ever(room: sandbox.ClosableSandbox) -> None:
    outcome = shell(room, "head -c 20000000 /dev/zero > {scratch}/big; echo $?", collect=("big",))
    assert outcome.exit_code == 0
    assert outcome.stdout.strip() != b"0"
    assert len(outcome.file("big") or b"") <= SMALL.output_bytes


def test_a_child_that_goes_into_the_background_does_not_outlive_its_job(room: sandbox.ClosableSandbox, long: str) -> None:
    outcome = shell(room, f"(setsid sleep {long} &) ; sleep 0.3; echo done")
    assert outcome.stdout == b"done\n"
    assert outcome.seconds < 5
    assert wait_until_gone(long) == []


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined", "container"])
def test_nothing_is_left_behind(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    room = open_room(level, tree)
    shell(room, "mkdir -p x/y ~/z; chmod 0 x ~/z; echo > {scratch}/a", collect=("a",))
    shell(room, "sleep 9", seconds=0.2)
    assert list(temporary.iterdir()) == []


def test_an_interrupt_ends_what_runs(room: sandbox.ClosableSandbox, long: str) -> None:
    timer = threading.Timer(0.5, room.close)
    timer.start()
    began = time.monotonic()
    shell(room, f"sleep {long}", seconds=30)
    timer.join()
    assert time.monotonic() - began < 5
    assert wait_until_gone(long) == []
    assert shell(room, "true").ended is Ended.REFUSED


def test_a_program_that_is_not_there_is_said_to_be_missing_or_fails(room: sandbox.ClosableSandbox) -> None:
    outcome = room.run(Job("x", ("/no/such/program",), 5, executes=True))
    assert outcome.ended is Ended.MISSING or outcome.exit_code not in (0, None)


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/../../b", "", "a//b"])
def test_a_file_cannot_be_laid_outside_of_the_scratch_folder(room: sandbox.ClosableSandbox, name: str) -> None:
    outcome = shell(room, "true", files=((name, b"x"),))
    assert outcome.ended is Ended.REFUSED
    assert "no name for a file" in outcome.reason


def test_a_link_in_place_of_a_report_is_not_followed(room: sandbox.ClosableSandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    outcome = shell(room, f"rm -f {{scratch}}/report; ln -s {secret} {{scratch}}/report", collect=("report",))
    assert outcome.file("report") is None


def test_words_are_filled_once(room: sandbox.ClosableSandbox) -> None:
    outcome = shell(room, 'echo "$WORD"', environment=(("WORD", "{probes}"),))
    assert b"{" not in outcome.stdout
    assert outcome.stdout.strip().endswith(b"probes")


def test_the_tree_stands_at_the_repository_s_own_path(tree: Path, tmp_path: Path) -> None:
    own = tmp_path / "repository"
    own.mkdir()
    (own / "uncommitted.txt").write_text("mine")
    room = open_room("bubblewrap", tree, toplevel=own)
    outcome = shell(room, "pwd; ls")
    assert outcome.stdout.decode() == f"{own}\ninner\n"


def test_without_a_sandbox_nothing_of_the_change_is_executed(tree: Path) -> None:
    room = open_room("none", tree)
    assert room.level == "none"
    assert shell(room, "true").ended is Ended.REFUSED
    outcome = room.run(Job("parse", ("/bin/cat",), 5, executes=False, stdin=b"only read"))
    assert outcome.stdout == b"only read"
    assert any("nothing of the change was executed" in note for note in room.notes)


def test_a_parse_only_job_has_an_empty_environment(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-in-environment")
    for level in ("none", "unconfined", "bubblewrap"):
        outcome = open_room(level, tree).run(Job("env", ("/usr/bin/env",), 5, executes=False))
        assert outcome.exit_code == 0
        assert b"canary" not in outcome.stdout


def test_a_level_that_is_not_to_be_had_says_what_to_use(tree: Path) -> None:
    with pytest.raises(SandboxError, match="container") as caught:
        sandbox.choose("container", trees=lambda _: tree, interpreters=sandbox.discover(None))
    assert "bubblewrap" in caught.value.hint


def test_auto_without_bubblewrap_is_none_with_the_reason(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.sandbox.bubblewrap.PLACES", (Path("/no/bwrap"),))
    room = sandbox.choose("auto", trees=lambda _: tree, interpreters=sandbox.discover(None))
    assert room.level == "none"
    assert "bubblewrap is not installed" in room.notes[0]
    with pytest.raises(SandboxError):
        sandbox.choose("bubblewrap", trees=lambda _: tree, interpreters=sandbox.discover(None))


def test_a_broken_bubblewrap_is_none_with_the_reason(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("reviewbot.adapters.sandbox.bubblewrap.PLACES", (broken,))
    room = sandbox.choose("auto", trees=lambda _: tree, interpreters=sandbox.discover(None))
    assert room.level == "none"
    assert "uid map: Permission denied" in room.notes[0]


def test_a_run_costs_little(tree: Path) -> None:
    room = open_room("bubblewrap", tree)
    times = []
    for _ in range(8):
        began = time.perf_counter()
        room.run(Job("nothing", ("/bin/true",), 5, executes=False))
        times.append(time.perf_counter() - began)
    assert min(times) < 0.1


def an_environment(folder: Path, home: str) -> Path:
    site = folder / "lib" / "python3.11" / "site-packages" / "pytest"
    site.mkdir(parents=True)
    (site / "__init__.py").write_text("")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text(f"home = {home}\n")
    return folder / "bin" / "python"


def test_the_project_s_own_environment_is_found_if_it_has_pytest(tmp_path: Path) -> None:
    assert sandbox.discover(tmp_path).project is None
    expected = an_environment(tmp_path / ".venv", str(Path(sys.base_prefix) / "bin"))
    found = sandbox.discover(tmp_path)
    assert found.project == expected
    assert found.for_tests == expected
    assert found.own == Path(sys.executable)


@pytest.mark.usefixtures("bubblewrap")
def test_a_forged_environment_shows_no_other_folder(tree: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    (private / "secret.txt").write_text("canary")
    own = tmp_path / "repository"
    an_environment(own / ".venv", str(private / "bin"))
    room = sandbox.choose("auto", trees=lambda _: tree, interpreters=sandbox.discover(own), toplevel=own)
    assert room.level == "bubblewrap"
    assert b"canary" not in shell(room, f"cat {private}/secret.txt").stdout


@pytest.mark.usefixtures("bubblewrap")
def test_an_environment_made_by_way_of_a_link_elsewhere_runs_inside(tree: Path, tmp_path: Path) -> None:
    system = Path(os.path.realpath(sys.executable))
    way = tmp_path / "way" / "python3"
    way.parent.mkdir()
    way.symlink_to(system)
    subprocess.run([way, "-m", "venv", "--without-pip", tmp_path / "own" / ".venv"], check=True)
    python = tmp_path / "own" / ".venv" / "bin" / "python"
    found = replace(sandbox.discover(None), project=python)
    room = sandbox.choose("auto", trees=lambda _: tree, interpreters=found, toplevel=tmp_path / "own")
    outcome = room.run(Job("hello", ("{python}", "-c", "print('hello')"), 10, executes=True, tree=Side.HEAD))
    assert outcome.stdout == b"hello\n", outcome


@pytest.mark.usefixtures("bubblewrap")
def test_a_committed_environment_is_not_the_project_s_own(tmp_path: Path) -> None:
    own, exported = tmp_path / "repository", tmp_path / "exported"
    python_path = an_environment(own / ".venv", "/usr/bin")
    (exported / ".venv").mkdir(parents=True)
    room = sandbox.choose("auto", trees=lambda _: exported, interpreters=sandbox.discover(own), toplevel=own)
    assert room.level == "bubblewrap"
    outcome = room.run(Job("which", ("/bin/echo", "{python}"), 5, executes=True, tree=Side.HEAD))
    assert outcome.stdout.decode().strip() == sys.executable != str(python_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="already an unprivileged user")
@pytest.mark.usefixtures("bubblewrap")
def test_the_walls_stand_for_an_unprivileged_user_too(tmp_path: Path) -> None:
    """As root the kernel forgives much; the same limits are tried as nobody, with the system's Python."""
    system = Path("/usr/bin/python3")
    code = Path(sandbox.__file__).parents[3]
    if not system.exists() or not os.access(code, os.R_OK):
        pytest.skip("no Python that nobody may run")
    program = f"""
import sys
import tempfile
sys.path.insert(0, {str(code)!r})
from pathlib import Path
import platform
from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox.limits import counts_by_namespace
from reviewbot.ports import Ended, Job
own = sandbox.Interpreters(None, Path("/usr/bin/python3"), Path("ruff"))
room = sandbox.choose("bubblewrap", trees=lambda _: Path("/nowhere"), interpreters=own,
                      limits=sandbox.Limits(processes=40, memory_bytes=700_000_000))
bomb = "import os, time\\nfor _ in range(300):\\n if os.fork() == 0: time.sleep(63.5); os._exit(0)\\ntime.sleep(63.5)"
hog = "kept = bytearray(b'x' * 900_000_000); import time; time.sleep(20)"
for text in (bomb, hog, "import os; print(os.getuid())"):
    print(room.run(Job("job", ("{{python}}", "-c", text), 20, executes=True)).ended)
room = sandbox.choose("bubblewrap", trees=lambda _: Path("/nowhere"), interpreters=own,
                      limits=sandbox.Limits(processes=5000, threads=60))
text = "import os, time\\ncount = 0\\ntry:\\n while count < 500:\\n  if os.fork() == 0: time.sleep(63.5); os._exit(0)\\n  count += 1\\nexcept OSError: pass\\nprint(count)"
outcome = room.run(Job("job", ("{{python}}", "-c", text), 20, executes=True))
counted = outcome.stdout.strip().isdigit() and int(outcome.stdout) <= 60
print(counted if counts_by_namespace(platform.release()) else outcome.ended is Ended.PROCESSES)
"""
    done = subprocess.run(
        [str(system), "-I", "-c", program],
        capture_output=True,
        text=True,
        user=65534,
        group=65534,
        extra_groups=[],
        cwd="/",
        check=False,
    )
    if "user namespaces" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip(done.stderr[-200:])
    assert done.stdout.split() == ["processes", "memory", "exited", "True"], done.stderr


@pytest.mark.parametrize(
    ("release", "counts"), [("5.13.19-generic", False), ("5.14.0", True), ("6.18.44-fc", True), ("4.19", False), ("odd", False)]
)
def test_a_kernel_s_release_tells_how_it_counts(release: str, counts: bool) -> None:
    assert counts_by_namespace(release) is counts
    assert ("--nproc" in " ".join(SMALL.prlimit(own_users=False))) is False
