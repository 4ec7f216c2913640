"""`reviewbot review` from outside: a real process, real git, and what a script or a person sees of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.repo import Repo

pytestmark = pytest.mark.matrix(parts=1)

COMMAND = (sys.executable, "-m", "reviewbot.cli", "review")
CLEAN = 'def double(n):\n    """Twice."""\n    return 2 * n\n'
BROKEN = 'def double(n, seen=[]):\n    """Twice."""\n    seen.append(n)\n    return 2 * n\n'


@pytest.fixture
def changed(git_repo: Repo) -> Repo:
    git_repo.write("a.py", CLEAN)
    git_repo.commit("clean")
    git_repo.write("a.py", BROKEN)
    git_repo.commit("broken")
    return git_repo


def reviewbot(
    repo: Path, *words: str, stdin: bytes = b"", environment: dict[str, str] | None = None, **more: object
) -> subprocess.CompletedProcess[bytes]:
    """One command line, run in a repository with a home of its own."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(repo.parent / "home"), "LANG": "C.UTF-8", "PYTHONPATH": str(Path.cwd())}
    return subprocess.run(
        (*COMMAND, *words),
        cwd=repo,
        input=stdin,
        env=clean | (environment or {}),
        capture_output=True,
        check=False,
        timeout=120,
        **more,
    )  # type: ignore[call-overload]


def document(repo: Path, *words: str, **more: object) -> dict[str, object]:
    done = reviewbot(repo, *words, "--format", "json", **more)  # type: ignore[arg-type]
    assert done.stdout, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def lines(found: dict[str, object]) -> list[tuple[str, int]]:
    return [(one["path"], one["line"]) for one in found["findings"] if one["status"] == "accepted"]  # type: ignore[attr-defined, index]


@pytest.mark.parametrize("words", [(), ("HEAD",), ("HEAD~1..HEAD",), ("HEAD~1...HEAD",), ("--base", "HEAD~1")])
def test_every_way_to_name_a_committed_change_finds_the_same(changed: Repo, words: tuple[str, ...]) -> None:
    assert ("a.py", 1) in lines(document(changed.path, *words))


@pytest.mark.ci
def test_uncommitted_and_staged_work_are_reviewed_against_head(changed: Repo) -> None:
    changed.write("a.py", CLEAN)
    changed.commit("mended")
    changed.write("a.py", BROKEN)
    assert ("a.py", 1) in lines(document(changed.path))
    assert ("a.py", 1) in lines(document(changed.path, "--worktree"))
    assert not lines(document(changed.path, "--staged"))
    changed.git("add", "a.py")
    assert ("a.py", 1) in lines(document(changed.path, "--staged"))


def test_a_patch_needs_no_repository(changed: Repo, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    patch = changed.run("diff", "--no-index", "/dev/null", "a.py", check=False)
    found = document(elsewhere, "--patch", "-", stdin=patch)
    assert found["target"]["kind"] == "patch"  # type: ignore[index]
    assert ("a.py", 1) in lines(found)


def test_a_first_commit_is_reviewed_whole(git_repo: Repo) -> None:
    git_repo.write("a.py", BROKEN)
    git_repo.commit("first")
    assert ("a.py", 1) in lines(document(git_repo.path, "HEAD"))


def test_the_exit_code_says_whether_something_grave_was_found(changed: Repo) -> None:
    assert reviewbot(changed.path).returncode == 0
    assert reviewbot(changed.path, "--fail-on", "low").returncode == 1
    assert reviewbot(changed.path, "--fail-on", "critical").returncode == 0


def test_what_was_not_seen_is_exit_code_3_and_1_beats_it(changed: Repo) -> None:
    changed.write(".reviewbot.yml", "version: 1\nlimits: {tokens: 1000}\n")
    changed.commit("limit")
    changed.write("a.py", CLEAN)
    changed.commit("mended")
    changed.write("a.py", BROKEN)
    changed.write("b.py", "".join(f"value_{number} = {number}\n" for number in range(3000)))
    changed.commit("large")
    done = reviewbot(changed.path, "--format", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 3
    assert found["conclusion"] == "partial"
    assert {one["path"]: one["status"] for one in found["coverage"]}["b.py"] in ("partial", "skipped")
    assert any("b.py" in note for note in found["notes"])
    assert reviewbot(changed.path, "--fail-on", "low").returncode in (1, 3)


def test_machine_output_is_alone_on_stdout(changed: Repo) -> None:
    done = reviewbot(changed.path, "--format", "json", "-v")
    json.loads(done.stdout)
    assert done.stderr


def test_a_report_file_is_written_whole_and_stdout_stays_empty(changed: Repo, tmp_path: Path) -> None:
    report = tmp_path / "review.html"
    done = reviewbot(changed.path, "--format", "html", "-o", str(report))
    assert done.returncode == 0
    assert done.stdout == b""
    assert report.read_text("utf-8").rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing-like-it",), "nothing-like-it"),
        (("HEAD~40",), "HEAD~40"),
        (("--patch", "/nonexistent/file"), "/nonexistent/file"),
        (("--patch", "-"), "patch"),
        (("HEAD", "--staged"), "exclude each other"),
        (("--output=/nonexistent/review.txt",), "/nonexistent"),
        (("--sandbox", "container"), "container"),
        (("--format", "pdf"), "pdf"),
        (("-C", "/"), "/"),
    ],
)
def test_bad_input_gets_one_clear_line_and_writes_nothing(changed: Repo, words: tuple[str, ...], said: str) -> None:
    before = sorted(changed.path.rglob("*"))
    done = reviewbot(changed.path, *words)
    assert done.returncode in (2, 3)
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert said in done.stderr.decode()
    assert sorted(changed.path.rglob("*")) == before


def test_a_malformed_patch_names_its_line(changed: Repo) -> None:
    broken = b"--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,1 @@\n x\n"
    done = reviewbot(changed.path, "--patch", "-", stdin=broken)
    assert done.returncode == 2
    assert b"line" in done.stderr


def test_an_invalid_configuration_in_the_base_commit_is_exit_code_2(changed: Repo) -> None:
    changed.write(".reviewbot.yml", "version: 1\nreveiw: {}\n")
    changed.commit("typo")
    changed.write("a.py", CLEAN)
    changed.commit("mended")
    done = reviewbot(changed.path)
    assert done.returncode == 2
    assert b"did you mean" in done.stderr


def test_configuration_that_the_change_itself_brings_has_no_effect_on_its_review(changed: Repo) -> None:
    changed.write(".reviewbot.yml", "version: 1\nreview: {ignore: ['*.py']}\n")
    changed.write("c.py", BROKEN)
    changed.commit("hide")
    assert ("c.py", 1) in lines(document(changed.path))


@pytest.mark.ci
def test_a_reader_who_goes_away_is_no_traceback(changed: Repo) -> None:
    command = f"{' '.join(COMMAND)} --format json | head -c 10"
    done = subprocess.run(("sh", "-c", command), cwd=changed.path, env=environment_of(changed), capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_a_full_disk_is_one_line(changed: Repo) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            (*COMMAND, "--format", "json"),
            cwd=changed.path,
            env=environment_of(changed),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"space" in done.stderr


@pytest.mark.ci
def test_closed_streams_are_no_traceback(changed: Repo) -> None:
    command = f"{' '.join(COMMAND)} >&- 2>&- <&-; echo $? >code"
    subprocess.run(("sh", "-c", command), cwd=changed.path, env=environment_of(changed), check=False)
    assert int((changed.path / "code").read_text()) in (0, 2)


@pytest.mark.ci
@pytest.mark.parametrize(("sent", "ended"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_review_leaves_no_process_and_no_folder_behind(
    git_repo: Repo, tmp_path: Path, sent: signal.Signals, ended: int
) -> None:
    git_repo.write("a.py", CLEAN)
    git_repo.write("test_a.py", "import time\n\n\ndef test_slow():\n    time.sleep(300)\n")
    git_repo.commit("slow")
    git_repo.write("a.py", BROKEN)
    git_repo.commit("broken")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = environment_of(git_repo) | {"TMPDIR": str(temporary)}
    process = subprocess.Popen(COMMAND, cwd=git_repo.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: any("reviewbot_tests.py" in line and str(git_repo.path) in line for line in everything()))
    process.send_signal(sent)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == ended
    assert stderr.count(b"\n") == 1
    assert list(temporary.iterdir()) == []
    wait_until(lambda: not any(str(git_repo.path) in line for line in everything()), seconds=5)


def environment_of(repo: Repo) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(repo.home), "LANG": "C.UTF-8", "PYTHONPATH": str(Path.cwd())}


def everything() -> list[str]:
    """The command lines of all processes."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(place.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def wait_until(claim: object, seconds: float = 30) -> None:
    assert callable(claim)
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)
