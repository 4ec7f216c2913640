"""The code of a forge in memory: branches, commits, and the files in them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace

from reviewbot.domain.action import DeleteBranch, Done, MakeBranch, MakeCommit
from reviewbot.domain.forge import Commit, Touched
from reviewbot.domain.repair import Edit
from reviewbot.errors import GoneError, InvalidError, NotPermittedError, StaleError


class MemoryCode:
    """``branches`` are commits by name, ``trees`` the files of each commit by path. ``protected`` are branches that take no
    commit. What is made here is vouched for, as on a forge."""

    def __init__(self, commits: Collection[Commit], branches: Mapping[str, str], files: Mapping[str, bytes]) -> None:
        self.commits = {commit.sha: commit for commit in commits}
        self.branches = dict(branches)
        self.trees = {commit.sha: dict(files) for commit in commits}
        self.protected: set[str] = set()

    def head(self, branch: str) -> Commit | None:
        """The commit at which a branch stands."""
        return self.commits[self.branches[branch]] if branch in self.branches else None

    def put(self, branch: str, edits: tuple[Edit, ...], *, message: str, author: str) -> Commit:
        """Somebody's commit on a branch, as by a push: nothing vouches for it."""
        parent = self.branches[branch]
        tree = {path: content for path, content in self.trees[parent].items() if all(edit.path != path for edit in edits)}
        tree |= {edit.path: edit.content for edit in edits if edit.content is not None}
        told = repr((parent, message, author, sorted(tree.items())))
        made = Commit(_id(told.encode()), message, author, (parent,))
        self.commits[made.sha], self.trees[made.sha] = made, tree
        self.branches[branch] = made.sha
        return made

    def make(self, action: MakeCommit, author: str) -> Commit:
        """A commit as the forge makes it. Raises StaleError, NotPermittedError, GoneError, InvalidError."""
        self._check_edits(action)
        if action.branch not in self.branches:
            raise GoneError(f"there is no branch {action.branch}")
        if self.branches[action.branch] != action.expected_head:
            raise StaleError(f"the branch {action.branch} is not at {action.expected_head}")
        self._check_guard(action.branch)
        message = f"{action.headline}\n\n{action.body}".rstrip()
        made = self.put(action.branch, action.edits, message=message, author=author)
        self.commits[made.sha] = replace(made, is_vouched=True)
        return self.commits[made.sha]

    def branch(self, action: MakeBranch) -> Done:
        """A new branch. Raises InvalidError."""
        if action.name in self.branches or action.sha not in self.commits:
            words = "Reference already exists" if action.name in self.branches else "Object does not exist"
            raise InvalidError(words, reasons=(words,))
        self.branches[action.name] = action.sha
        return Done(sha=action.sha)

    def delete(self, action: DeleteBranch) -> Done:
        """A branch less. Raises StaleError, NotPermittedError."""
        if self.branches.get(action.name) != action.sha:
            raise StaleError(f"the branch {action.name} is not at {action.sha}")
        self._check_guard(action.name)
        del self.branches[action.name]
        return Done()

    def touched(self, sha: str, head: str) -> tuple[Touched, ...]:
        """What a commit changed. Raises StaleError, InvalidError."""
        if sha not in self.commits or head not in self.commits:
            raise StaleError("there is no such commit")
        parents = self.commits[sha].parents
        if len(parents) != 1:
            raise InvalidError(f"the commit {sha} has {len(parents)} parents")
        before, after, now = self.trees[parents[0]], self.trees[sha], self.trees[head]
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        return tuple(Touched(path, *(_blob_id(side.get(path)) for side in (before, after, now))) for path in changed)

    def blob(self, object_id: str) -> bytes:
        """A file by its id. Raises GoneError."""
        for tree in self.trees.values():
            for content in tree.values():
                if _blob_id(content) == object_id:
                    return content
        raise GoneError(f"there is no blob {object_id}")

    def _check_edits(self, action: MakeCommit) -> None:
        """What the client of a forge looks at before it asks for anything."""
        if action.expected_head not in self.trees:
            raise StaleError(f"there is no commit {action.expected_head}")
        tree = self.trees[action.expected_head]
        if all(tree.get(edit.path) == edit.content for edit in action.edits):
            raise InvalidError("a commit that changes nothing", reasons=("a commit that changes nothing",))
        if gone := [edit.path for edit in action.edits if edit.content is None and edit.path not in tree]:
            raise InvalidError(f"{gone[0]!r} taken away, where nothing is", reasons=(gone[0],))

    def _check_guard(self, branch: str) -> None:
        if branch in self.protected:
            raise NotPermittedError("Changes must be made through a pull request.")


def _blob_id(content: bytes | None) -> str | None:
    """As git names it."""
    return None if content is None else _id(b"blob %d\0" % len(content) + content)


def _id(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
