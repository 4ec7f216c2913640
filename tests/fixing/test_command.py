"""``reviewbot fix`` at the keyboard: shown, asked about, written, left, written as a patch, taken back. Without any model."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from tests.fixing.seeded import snapshot
from tests.models.stage import COMMAND, Stage

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
BEFORE = "def add(a, b):\n    return a + b\n"
AFTER = 'import os\n\n\ndef add(a, b):\n    note = f"sum"\n    print(note)\n    return a + b\n'
MENDED = 'def add(a, b):\n    note = "sum"\n    print(note)\n    return a + b\n'
TEST = "from shop.sums import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
WAIT = 60.0


@pytest.fixture
def stage(tmp_path: Path):
    made = Stage(tmp_path, functions=1)
    made.repo.write("shop/sums.py", BEFORE)
    made.repo.write("tests/test_sums.py", TEST)
    made.repo.commit("Add sums")
    made.repo.git("config", "user.name", "Ada")
    made.repo.git("config", "user.email", "ada@example.org")
    made.repo.write("shop/sums.py", AFTER)
    yield made
    made.close()


def text(stage: Stage) -> str:
    return (stage.repo.path / "shop/sums.py").read_text()


def at_terminal(stage: Stage, *words: str, answers: str) -> tuple[int, str]:
    """The command with a person who types an answer whenever one is asked for."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [COMMAND, *words], cwd=stage.repo.path, env=stage.environment(TERM="dumb"), stdin=slave, stdout=slave, stderr=slave
    )
    stage.children.append(child)
    os.close(slave)
    said, waiting, until = "", list(answers), time.monotonic() + WAIT
    while time.monotonic() < until:
        ready, _, _ = select.select([master], [], [], 0.2)
        try:
            data = os.read(master, 65_536) if ready else b""
        except OSError:  # the other end is closed
            break
        said += data.decode("utf-8", "replace")
        if waiting and said.rstrip().endswith("[y/n/a/q]"):
            os.write(master, f"{waiting.pop(0)}\n".encode())
            said += "\n"
        if not ready and child.poll() is not None:
            break
    os.close(master)
    return child.wait(WAIT), said


def test_without_a_terminal_and_without_a_word_nothing_is_written(stage: Stage):
    before = snapshot(stage.repo.path)
    ran = stage.run("fix")
    assert ran.code == 0
    assert "nothing was written: say --yes" in ran.err
    assert "✓ fixed" in ran.out
    assert snapshot(stage.repo.path) == before


@pytest.mark.smoke
def test_yes_writes_what_is_proven_and_undo_takes_it_back(stage: Stage):
    before = snapshot(stage.repo.path)
    ran = stage.run("fix", "--yes")
    assert ran.code == 0, ran.said
    assert text(stage) == MENDED
    assert "fix --undo" in ran.err
    undone = stage.run("fix", "--undo")
    assert (undone.code, text(stage)) == (0, AFTER), undone.said
    after = snapshot(stage.repo.path)
    assert after["shop/sums.py"][:2] == before["shop/sums.py"][:2]
    others = set(before) - {"shop/sums.py"}
    assert {name: after[name] for name in others} == {name: before[name] for name in others}
    again = stage.run("fix", "--undo")
    assert again.code == 2
    assert len(again.err.strip().splitlines()) == 1


def test_a_person_says_yes_to_one_and_no_to_the_other(stage: Stage):
    code, said = at_terminal(stage, "fix", answers="yn")
    assert code == 0, said
    assert said.count("[y/n/a/q]") == 2
    assert text(stage) in (AFTER.replace("import os\n\n\n", ""), AFTER.replace('f"sum"', '"sum"'))


@pytest.mark.parametrize(("answers", "mended"), [("q", False), ("nn", False), ("a", True), ("?a", True), ("yy", True)])
def test_answers(stage: Stage, answers: str, mended: bool):
    code, said = at_terminal(stage, "fix", answers=answers)
    assert code == 0, said
    assert text(stage) == (MENDED if mended else AFTER)


def test_a_patch_is_written_instead_and_applies(stage: Stage):
    before = snapshot(stage.repo.path)
    ran = stage.run("fix", "--write-patch", "../fix.patch")
    assert ran.code == 0, ran.said
    assert snapshot(stage.repo.path) == before
    stage.repo.git("apply", "../fix.patch")
    assert text(stage) == MENDED


def test_one_finding_is_fixed_where_one_is_named(stage: Stage):
    ran = stage.run("fix", "--yes", "--finding", "f1", "--format", "json")
    assert [one["finding"] for one in ran.document["repairs"]] == ["F1"]
    assert text(stage) == AFTER.replace("import os\n\n\n", "")


def test_one_commit_is_made_for_each_finding(stage: Stage):
    stage.repo.commit("Add a note")
    ran = stage.run("fix", "HEAD", "--yes", "--commit")
    assert ran.code == 0, ran.said
    assert text(stage) == MENDED
    assert stage.repo.git("status", "--porcelain") == ""
    said = stage.repo.git("log", "-2", "--format=%an: %(trailers:key=Reviewbot-Finding,valueonly,separator=%x2C)")
    assert said.splitlines() == ["Ada: F2", "Ada: F1"]
    undone = stage.run("fix", "--undo")
    assert undone.code == 0, undone.said
    assert text(stage) == AFTER
    assert stage.repo.git("log", "-1", "--format=%s") == "Add a note"


def test_what_changed_since_the_review_is_not_written_over(stage: Stage):
    stage.repo.commit("Add a note")
    stage.repo.write("shop/sums.py", AFTER + "\n\nEXTRA = 1\n")
    before = snapshot(stage.repo.path)
    ran = stage.run("fix", "HEAD", "--yes")
    assert ran.code == 2
    assert "nothing was written" in ran.err
    assert snapshot(stage.repo.path) == before


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("fix", "--finding", "7"), "is no finding"),
        (("fix", "--patch", "x.diff"), "patch"),
        (("fix", "--staged", "--worktree"), "exclude each other"),
    ],
)
def test_wrong_words_are_one_error(stage: Stage, words: tuple[str, ...], told: str):
    (stage.repo.path / "x.diff").write_text(stage.repo.git("diff") + "\n")
    ran = stage.run(*words, "--yes")
    assert ran.code == 2, ran.said
    assert told in ran.err
    assert text(stage) == AFTER


@pytest.mark.smoke
def test_without_a_sandbox_nothing_counts_as_proven(stage: Stage):
    ran = stage.run("fix", "--yes", "--sandbox", "none", "--format", "json")
    assert {one["outcome"] for one in ran.document["repairs"]} <= {"suggested", "skipped"}
    assert text(stage) == AFTER
