"""The change document, read back: what git said is read as strictly as if somebody else had written it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reviewbot.domain.change import Revisions
from reviewbot.domain.dismissal import Dismissals
from reviewbot.ports import RawDiff
from reviewbot.publish import load_target
from reviewbot.publish.document_change import MOST_BYTES, Handed, blob_id
from reviewbot.publish.document_dismissed import load_dismissals
from reviewbot.publish.node import Kind, Node, root

CHANGE = Kind("change document", "write it with 'reviewbot collect'", MOST_BYTES // 3 * 4 + 8_000_000)
CONFIGURATION = (".reviewbot.yml", "pyproject.toml")

_ID = r"(?:[0-9a-f]{64}|[0-9a-f]{40})"
_OBJECT_ID = re.compile(_ID)
_LISTED = re.compile(
    rb":[0-7]{6} [0-7]{6} ID ID (?:[AMDT][0-9]{0,3}\0([^\0]+)|[RC][0-9]{1,3}\0([^\0]+)\0([^\0]+))\0".replace(b"ID", _ID.encode())
)
_COUNTED = re.compile(rb"(?:[0-9]{1,10}|-)\t(?:[0-9]{1,10}|-)\t(?:([^\0]+)|\0([^\0]+)\0([^\0]+))\0")
_NOWHERE = {b"", b".", b"..", b".git"}


def load_change(text: str | bytes) -> Handed:
    """The change of a document. Raises UsageError with the JSON path."""
    at = root(text, CHANGE).fields("schema_version target repository diff contents configuration rules", later="dismissals")
    at["schema_version"].version()
    revisions, diff = _revisions(at["target"]), _diff(at["diff"])
    blobs = at["contents"].each(_blob)
    if len(dict(blobs)) != len(blobs):
        raise at["contents"].wrong("every file is given once")
    if revisions.head_tree is None and (diff.raw or diff.numstat or blobs):
        raise at["target"].wrong("a change with files has trees")
    if revisions.head_tree is not None and not diff.raw and diff.patch:
        raise at["diff"].wrong("a patch without git's list of its files")
    return Handed(
        revisions,
        diff,
        dict(blobs),
        at["repository"].maybe(Node.text),
        configuration=at["configuration"].each(_configuration),
        rules=at["rules"].each(_rule),
        dismissals=load_dismissals(at["dismissals"]) if "dismissals" in at else Dismissals(),
    )


def _revisions(node: Node) -> Revisions:
    found = load_target.read(node, beside="notes")
    if (found.base_tree is None) != (found.head_tree is None):
        raise node.wrong("one end has a tree and the other has none")
    return replace(found, notes=node.fields(f"{load_target.FIELDS} notes")["notes"].texts())


def _diff(node: Node) -> RawDiff:
    at = node.fields("raw numstat patch")
    raw, numstat = at["raw"].data(), at["numstat"].data()
    listed, counted = list(_names(at["raw"], raw, _LISTED)), list(_names(at["numstat"], numstat, _COUNTED))
    if listed != counted:
        raise at["numstat"].wrong("it counts other files than the list names")
    return RawDiff(raw, numstat, at["patch"].data())


def _names(node: Node, records: bytes, form: re.Pattern[bytes]) -> Iterator[bytes]:
    """The newer name in each record. Raises UsageError where one is not in git's form or leads out of the tree."""
    end = 0
    while end < len(records):
        found = form.match(records, end)
        if found is None:
            raise node.wrong("it is not written as git writes it")
        names = [name for name in found.groups() if name is not None]
        if any(_NOWHERE & set(name.lower().split(b"/")) for name in names):
            raise node.wrong("it names a file outside of the repository")
        yield names[-1]
        end = found.end()


def _blob(node: Node) -> tuple[str, bytes]:
    at = node.fields("id data")
    name, data = at["id"].text(), at["data"].data()
    if not _OBJECT_ID.fullmatch(name) or blob_id(data, name) != name:
        raise at["id"].wrong("it is not git's name for these bytes")
    return name, data


def _configuration(node: Node) -> tuple[str, bytes]:
    at = node.fields("name data")
    return at["name"].one_of(CONFIGURATION), at["data"].data()


def _rule(node: Node) -> tuple[str, bytes]:
    at = node.fields("name data")
    return at["name"].path_inside(), at["data"].data()
