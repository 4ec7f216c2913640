"""``reviewbot hook run fix``: what is staged is mended in the files, and the index stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.lab import Lab

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci]
STAGED = 'def add(a, b):\n    note = f"sum"\n    print(note)\n    return a + b\n'
MENDED = STAGED.replace('f"', '"')


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.mark.smoke
def test_fixes_are_written_to_the_files_and_not_to_the_index(lab: Lab) -> None:
    path = lab.stage("sums.py", STAGED)
    index = (lab.git_dir / "index").read_bytes()
    ran = lab.reviewbot("hook", "run", "fix")
    assert (ran.code, ran.out) == (1, ""), ran.err
    assert "sums.py written: see `git diff`, stage and commit again" in ran.err
    assert path.read_text() == MENDED
    assert lab.git("show", ":sums.py").out == STAGED
    assert (lab.git_dir / "index").read_bytes() == index
    lab.git("add", "sums.py")
    ran = lab.reviewbot("hook", "run", "fix")
    assert (ran.code, ran.err) == (0, "reviewbot: nothing that is staged has a fix that proved itself\n")


def test_what_was_written_is_taken_back(lab: Lab) -> None:
    path = lab.stage("sums.py", STAGED)
    assert lab.reviewbot("hook", "run", "fix").code == 1
    assert lab.reviewbot("fix", "--undo").code == 0
    assert path.read_text() == STAGED


def test_a_file_that_is_staged_in_part_is_left_alone_with_all_others(lab: Lab) -> None:
    other = lab.stage("other.py", STAGED)
    path = lab.stage("sums.py", STAGED)
    path.write_text(STAGED + "\n\nx = 1\n")
    before = lab.snapshot()
    ran = lab.reviewbot("hook", "run", "fix")
    assert ran.code == 2
    assert "a file that is staged only in part is not written to: stage all of it, or put the rest away" in ran.err
    assert path.read_text() == STAGED + "\n\nx = 1\n"
    assert other.read_text() == STAGED
    after = lab.snapshot()
    assert {name for name in before if name != ".git" and before[name] != after.get(name)} == set()


def test_what_is_not_staged_is_nobodys_business(lab: Lab) -> None:
    lab.repo.write("sums.py", STAGED)
    ran = lab.reviewbot("hook", "run", "fix")
    assert (ran.code, ran.err) == (0, "reviewbot: nothing that is staged has a fix that proved itself\n")
    assert (lab.path / "sums.py").read_text() == STAGED


def test_as_a_hook_it_mends_what_git_commit_all_is_about_to_commit(lab: Lab) -> None:
    """``git commit --all`` hands its hooks an index of its own, and holds the lock on the real one."""
    path = lab.stage("sums.py", "")
    lab.repo.commit("An empty file")
    path.write_text(STAGED)
    hook = lab.git_dir / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {' '.join(lab.program)} hook run fix\n")
    hook.chmod(0o755)
    ran = lab.git("commit", "--all", "-m", "Add sums", check=False)
    assert (ran.code, "sums.py written" in ran.err) == (1, True), ran.err
    assert path.read_text() == MENDED
    assert lab.git("commit", "--all", "-m", "Add sums", check=False).code == 0
