"""What a commit did: the files that it changed, before and after it and today, and their bytes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from reviewbot.adapters.github import reading
from reviewbot.adapters.github.entries import entries
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.session import Session
from reviewbot.domain.forge import Touched
from reviewbot.errors import InvalidError

MOST_PAGES = 30
"""A commit's files end after 3,000."""

_DOING = "tell what a commit changed"


def touched(session: Session, repository: str, sha: str, *, head: str) -> tuple[Touched, ...]:
    """See the port ``History``."""
    parents: list[str] = []
    paths: set[str] = set()
    for page in _pages(session, repository, sha):
        parents = [
            reading.text(reading.fields(node, "a parent"), "sha") for node in reading.items(page.get("parents"), "parents")
        ]
        for node in (reading.fields(entry, "a changed file") for entry in reading.items(page.get("files") or [], "files")):
            paths |= {reading.text(node, "filename"), reading.text(node, "previous_filename", optional=True)} - {""}
    if len(parents) != 1:
        words = f"the commit {sha} has {len(parents)} parents, where one was expected"
        raise InvalidError(words, hint="take it back by hand", reasons=(words,))
    before, after, now = (entries(session, repository, at, paths=paths, doing=_DOING) for at in (parents[0], sha, head))
    strange = next((path for path in sorted(paths) if path not in before and path not in after), None)
    if strange is not None:  # a name that is no UTF-8 is told as another
        raise reading.odd(f"the name of a file ({strange!r})")
    changed = (path for path in sorted(paths) if before.get(path) != after.get(path))  # what was copied did not change
    return tuple(Touched(path, *(side[path].oid if path in side else None for side in (before, after, now))) for path in changed)


def blob(session: Session, repository: str, object_id: str) -> bytes:
    """See the port ``History``."""
    path = f"/repos/{repository}/git/blobs/{quote(object_id, safe='')}"
    node = reading.fields(session.json(Call("GET", path, "give a file", is_read=True)), "a blob")
    if reading.text(node, "encoding") != "base64":
        raise reading.odd("the encoding of a blob")
    try:
        return base64.b64decode(reading.text(node, "content").replace("\n", ""), validate=True)
    except binascii.Error:
        raise reading.odd("a blob") from None


def _pages(session: Session, repository: str, sha: str) -> Iterator[dict[str, Any]]:
    """A commit, with another part of its files each time."""
    call = Call("GET", f"/repos/{repository}/commits/{quote(sha, safe='')}", _DOING, query=(("per_page", "100"),), is_read=True)
    for _ in range(MOST_PAGES):
        answer = session.answer(call)
        yield reading.fields(session.document(answer, call), "a commit")
        if answer.next_page is None:
            return
        call = Call("GET", answer.next_page, _DOING, is_read=True)
    raise reading.odd("a commit of more files than it counts")
