"""The whole corpus against a clone of a bare remote: whatever the gate says, nothing reaches the remote, and nothing the clone."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.adapters.git import GitRepo
from reviewbot.errors import GitError
from tests.autofix import harmless, hostile
from tests.autofix.ground import Ground, watched


@pytest.mark.ci
def test_a_bare_remote_and_its_clone_are_unchanged_after_the_whole_corpus(tmp_path: Path):
    ground = Ground.laid(tmp_path)
    remote, clone = tmp_path / "remote.git", tmp_path / "clone"
    ground.repo.git("clone", "-q", "--bare", str(ground.repo.path), str(remote))
    ground.repo.git("clone", "-q", str(remote), str(clone))
    git = GitRepo.open(clone, tmp_path / "scratch", environment=ground.repo.environment)
    before = watched(remote), watched(clone)
    against = Ground(ground.repo, ground.maker, git)
    passed = [case.name for case in hostile.ALL if against.ask(case.patch(ground), case.options).passed]
    refused = [case.name for case in harmless.ALL if not against.ask(ground.patch(case.deed), case.options).passed]
    assert (passed, refused) == ([], [])
    assert (watched(remote), watched(clone)) == before
    git.close()
    ground.git.close()


def test_trees_that_were_made_are_not_in_the_repository(tmp_path: Path):
    ground = Ground.laid(tmp_path)
    admitted = ground.ask(ground.patch(hostile.write("src/one.py", "x = 2\n")))
    assert admitted.passed
    known = ground.repo.run("cat-file", "-t", admitted.tree, check=False)
    assert known == b""
    ground.git.close()
    again = GitRepo.open(ground.repo.path, tmp_path / "scratch", environment=ground.repo.environment)
    with pytest.raises(GitError):
        again.entries(admitted.tree)
    again.close()
