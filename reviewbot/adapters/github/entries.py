"""What lies at paths of a commit: mode and id, many paths by one question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.adapters.github import faults, graphql, reading
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.session import Session
from reviewbot.errors import StaleError

FOLDER = 0o040000
LINK = 0o120000
SUBMODULE = 0o160000

MOST_AT_ONCE = 100
"""Paths in one question. GitHub ends a query after 10 s."""

_NOT_THERE = "NOT_FOUND"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a tree has at a path: git's mode, and the object's id."""

    mode: int
    oid: str


def entries(session: Session, repository: str, sha: str, *, paths: Iterable[str], doing: str) -> Mapping[str, Entry]:
    """What the commit ``sha`` of ``owner/name`` has at those paths, without what is not there. Raises StaleError where there is
    no such commit, ForgeError."""
    wanted = sorted(set(paths))
    found: dict[str, Entry] = {}
    for start in range(0, len(wanted), MOST_AT_ONCE):
        some = wanted[start : start + MOST_AT_ONCE]
        found |= _read(_asked(session, repository, sha, paths=some, doing=doing), some)
    return found


def _asked(session: Session, repository: str, sha: str, *, paths: list[str], doing: str) -> dict[str, Any]:
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name, "oid": sha, **{f"p{at}": path for at, path in enumerate(paths)}}
    told = graphql.query(session, _text(len(paths)), variables, doing=doing)
    home = told.data.get("repository")
    wrong = tuple(fault for fault in told.faults if home is None or fault.type != _NOT_THERE)
    if home is None or wrong:
        raise faults.graphql_refusal(wrong, Call("POST", "", doing))
    commit = reading.fields(home, "the repository").get("object")
    if commit is None:
        raise StaleError(f"GitHub was asked to {doing}: it has no commit {sha}", hint="do it for the head of today")
    return reading.fields(commit, "the commit")


def _text(count: int) -> str:
    named = ", ".join(f"$p{at}: String!" for at in range(count))
    files = " ".join(f"f{at}: file(path: $p{at}) {{ mode oid }}" for at in range(count))
    return f"""query Entries($owner: String!, $name: String!, $oid: GitObjectID!, {named}) {{
  repository(owner: $owner, name: $name) {{ object(oid: $oid) {{ ... on Commit {{ {files} }} }} }}
}}"""


def _read(commit: dict[str, Any], paths: list[str]) -> Iterator[tuple[str, Entry]]:
    for at, path in enumerate(paths):
        if f"f{at}" not in commit:  # the id is that of a tree, a blob or a tag
            raise reading.odd("a commit")
        if commit[f"f{at}"] is not None:
            node = reading.fields(commit[f"f{at}"], "a file of the commit")
            yield path, Entry(reading.number(node, "mode"), reading.text(node, "oid"))
