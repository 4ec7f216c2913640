"""One commit on top of a branch, by GraphQL's ``createCommitOnBranch``: only while the branch is at the head that is expected.

What the schema does not say, others found out: it makes no branch; a file that is there keeps its mode, a new one is no
executable; a request above some 5 MB may be cut off on its way. What becomes of a folder, a symbolic link or a submodule at a
path nobody says, so what lies there is looked at first.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from reviewbot.adapters.github import graphql, names, reading
from reviewbot.adapters.github.entries import FOLDER, LINK, SUBMODULE, Entry, entries
from reviewbot.adapters.github.session import Session
from reviewbot.domain.action import Done, MakeCommit
from reviewbot.domain.repair import Edit
from reviewbot.errors import ForgeError, UnsureError

MOST_BYTES = 3_500_000
"""Of all files of a commit: 4.7 MB as they are sent."""

_DOING = "make a commit"

#: What is there and is no file, by its mode.
_NO_FILES: Mapping[int, str] = {FOLDER: "a folder", LINK: "a symbolic link", SUBMODULE: "a submodule"}


def make(session: Session, repository: str, action: MakeCommit) -> Done:
    """Make the commit, and tell its id. Raises ForgeError: InvalidError, before anything is written, for what git or GitHub could
    not take; StaleError where the branch stands elsewhere."""
    headline = " ".join(action.headline.split())
    if not headline:
        raise names.invalid("a commit without a headline")
    names.check_branch(action.branch)
    _check_edits(action.edits)
    looked = {path for edit in action.edits for path in (edit.path, *_above(edit.path))}
    lying = entries(session, repository, action.expected_head, paths=looked, doing="look at the files before a commit")
    _check_lying(action.edits, lying)
    variables = {
        "clientMutationId": f"reviewbot-{action.expected_head}",
        "branch": {"repositoryNameWithOwner": repository, "branchName": action.branch},
        "expectedHeadOid": action.expected_head,
        "message": {"headline": names.sendable(headline), "body": names.sendable(action.body)},
        "fileChanges": _changes(action.edits),
    }
    return _done(graphql.mutation(session, "createCommitOnBranch", variables, selection="commit { oid url }", doing=_DOING))


def _check_edits(edits: tuple[Edit, ...]) -> None:
    """Raises InvalidError for what can be known without looking."""
    if not edits:
        raise names.invalid("a commit that changes nothing")
    size = sum(len(edit.content) for edit in edits if edit.content is not None)
    if size > MOST_BYTES:
        raise names.invalid(f"a commit of {size} bytes, more than the {MOST_BYTES} that surely arrive")
    written: set[str] = set()
    for edit in edits:
        names.check_path(edit.path)
        if edit.path in written:
            raise names.invalid(f"{edit.path!r} twice in one commit")
        written.add(edit.path)
    for edit in edits:
        if above := written.intersection(_above(edit.path)):
            raise names.invalid(f"{edit.path!r} below {above.pop()!r}, which is a file")


def _check_lying(edits: tuple[Edit, ...], lying: Mapping[str, Entry]) -> None:
    """Raises InvalidError where a path is not that of a file, or nothing would be another."""
    for edit in edits:
        there = lying.get(edit.path)
        if there is not None and there.mode in _NO_FILES:
            raise names.invalid(f"{edit.path!r}, where {_NO_FILES[there.mode]} is")
        if there is None and edit.content is None:
            raise names.invalid(f"{edit.path!r} taken away, where nothing is")
        for path in _above(edit.path):
            if path in lying and lying[path].mode != FOLDER:
                raise names.invalid(f"{edit.path!r} below {path!r}, which is no folder")
    if all(_is_same(edit, lying.get(edit.path)) for edit in edits):
        raise names.invalid("a commit that changes nothing")


def _is_same(edit: Edit, there: Entry | None) -> bool:
    """Whether the file is like that already: git's id of a blob, in the hash that the repository uses."""
    if edit.content is None or there is None:
        return False
    made = hashlib.sha1(usedforsecurity=False) if len(there.oid) == 40 else hashlib.sha256()
    made.update(b"blob %d\0" % len(edit.content) + edit.content)
    return made.hexdigest() == there.oid


def _above(path: str) -> Iterator[str]:
    """The folders in which a path lies."""
    parts = path.split("/")
    yield from ("/".join(parts[:count]) for count in range(1, len(parts)))


def _changes(edits: tuple[Edit, ...]) -> dict[str, Any]:
    return {
        "additions": [
            {"path": edit.path, "contents": base64.b64encode(edit.content).decode()} for edit in edits if edit.content is not None
        ],
        "deletions": [{"path": edit.path} for edit in edits if edit.content is None],
    }


def _done(made: dict[str, Any]) -> Done:
    """Raises UnsureError for an answer that says it was done, and not what."""
    try:
        commit = reading.fields(made.get("commit"), "the commit that it made")
        return Done(url=reading.text(commit, "url", optional=True), sha=reading.text(commit, "oid"))
    except ForgeError as exc:
        raise UnsureError(exc.message, hint="look at the branch first") from exc
