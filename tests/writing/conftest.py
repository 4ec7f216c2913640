"""What the tests of the writer share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import Repo
from tests.writing.stage import Stage


@pytest.fixture
def stage(git_repo: Repo, tmp_path: Path) -> Stage:
    """A repository with a history, and with work of the user's that no write may disturb."""
    git_repo.write("a.py", "one\n")
    git_repo.write("lib/b.py", "two\n")
    git_repo.write("gone.py", "three\n")
    git_repo.write("run.sh", "echo\n").chmod(0o755)
    git_repo.write("other.py", "other\n")
    git_repo.write("staged.py", "staged\n")
    git_repo.commit("First")
    git_repo.git("tag", "v1")
    git_repo.write("other.py", "put away\n")
    git_repo.git("stash", "push", "-q")
    git_repo.write("other.py", "being worked on\n")
    git_repo.write("staged.py", "staged anew\n")
    git_repo.git("add", "staged.py")
    git_repo.write("notes.txt", "not tracked\n")
    git_repo.write("meant.py", "meant to be added\n")
    git_repo.git("add", "--intent-to-add", "meant.py")
    return Stage(git_repo, tmp_path)
