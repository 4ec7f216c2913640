"""Commits and branches over GraphQL. What a commit of GitHub's own looks like: the author is who asked, GitHub commits and signs."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from tests.forge.hub import guards
from tests.forge.hub.graph_paging import forbidden, need, nowhere, refused

if TYPE_CHECKING:
    from tests.forge.hub.graph_reading import Node, Reader
    from tests.forge.hub.repository import Repository

Input = dict[str, Any]
NOTHING = "0" * 40
NO_PARTS = ("", ".", "..", ".git")
EXECUTABLE = "100755"


def commit(reader: Reader, asked: Input) -> Node:
    """G19, G20, G31, G32: one commit on top of a branch. A file that can be executed stays one, all that is new cannot."""
    home, branch, now = branch_of(reader, asked["branch"])
    need(reader, home, "contents")
    expected = asked["expectedHeadOid"]
    if home.code.kind(expected) != "commit":
        raise nowhere(f"No commit exists with specified expectedHeadOid '{expected}'.")
    if now != expected:
        raise refused("STALE_DATA", f'Expected branch to point to "{expected}" but it did not.  Pull and try again.')
    changes = changed(home, now, asked.get("fileChanges") or {})
    if guards.touches_workflows(reader.token, list(changes)):
        raise forbidden()
    check_guards(home, branch)
    message = asked["message"]
    text = message["headline"] + (f"\n\n{message['body']}" if message.get("body") else "")
    modes = {path: EXECUTABLE for path in changes if (home.code.entry(now, path) or ("",))[0] == EXECUTABLE}
    made = home.commit(branch, changes, text, author=reader.token.user.login, modes=modes, by_github=True)
    return {"commit": reader.commit(home, made), "ref": reader.ref(home, f"refs/heads/{branch}")}


def branch_of(reader: Reader, told: Input) -> tuple[Repository, str, str]:
    """The repository, the branch without ``refs/heads/`` and its head."""
    called = str(told.get("repositoryNameWithOwner", ""))
    home = reader.hub.repositories.get(called.lower())
    if home is None or (home.private and not reader.token.reaches(home)):
        raise nowhere(f"Could not resolve to a Repository with the name '{called}'.")
    branch = str(told.get("branchName", "")).removeprefix("refs/heads/")
    now = home.code.sha(f"refs/heads/{branch}")
    if now is None:
        raise nowhere(f'A ref named "refs/heads/{branch}" does not exist in the repository.')
    return home, branch, now


def changed(home: Repository, now: str, files: Input) -> dict[str, bytes | None]:
    """The files by path, ``None`` for one that goes."""
    gone = [told["path"] for told in files.get("deletions", ())]
    written = [told["path"] for told in files.get("additions", ())]
    twice = next((path for path in gone + written if (gone + written).count(path) > 1), None)
    if twice is not None:
        raise refused("UNPROCESSABLE", f"Path must be unique: {twice}")
    if strange := [path for path in gone + written if any(part.lower() in NO_PARTS for part in path.split("/"))]:
        raise refused("UNPROCESSABLE", f"Path is malformed: {strange[0]}")
    for path in gone:
        if home.code.entry(now, path) is None:
            raise nowhere(f"A path was requested for deletion which does not exist as of commit oid `{now}`")
    try:
        contents = [base64.b64decode(told["contents"], validate=True) for told in files.get("additions", ())]
    except binascii.Error:
        raise refused("UNPROCESSABLE", "A file's contents are not Base64.") from None
    return {**dict.fromkeys(gone), **dict(zip(written, contents, strict=True))}


def check_guards(home: Repository, branch: str) -> None:
    if why := home.protected.get(branch):
        raise refused("BRANCH_PROTECTION_RULE_VIOLATION", why)
    if why := guards.violations(home, branch, guards.AGAINST_COMMITS):
        raise refused("FORBIDDEN", why)


def update_refs(reader: Reader, asked: Input) -> Node:
    """All or none. Each holds only for the head that is expected; zeros take a branch away."""
    home = next((home for home in reader.hub.repositories.values() if home.node_id == asked["repositoryId"]), None)
    if home is None:
        raise nowhere(f"Could not resolve to a node with the global id of '{asked['repositoryId']}'")
    need(reader, home, "contents")
    for update in asked["refUpdates"]:
        name, now = update["name"], home.code.sha(update["name"]) or NOTHING
        if update.get("beforeOid") not in (None, now):
            raise refused("UNPROCESSABLE", f"Ref {name} is at {now} but expected {update['beforeOid']}")
        check_guards(home, name.removeprefix("refs/heads/"))
    for update in asked["refUpdates"]:
        after = update["afterOid"]
        home.code.git("update-ref", *(("-d", update["name"]) if after == NOTHING else (update["name"], after)))
    reader.hub.follow_heads(home)
    return {}
