"""The repository's dismissals, a YAML file that is read as strictly as a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from reviewbot.config.kinds import Choice, Kind, Listing, Record, Text, Whole
from reviewbot.config.node import Entries, Items, Node, Scalar
from reviewbot.config.read_yaml import read_yaml
from reviewbot.domain.dismissal import FILE, Dismissal
from reviewbot.domain.evidence import Category, Severity
from reviewbot.errors import ConfigError
from reviewbot.screen import shown

MOST_BYTES = 512 * 1024
MOST_REASON = 500
"""Characters of a reason."""
_MOST_LINE = 1_000

_TITLE = "dismissals"
_SEVERITIES: Mapping[str, Severity] = MappingProxyType({severity.label: severity for severity in Severity})
_ONE_LINE = r"[^\x00\r\n]*\S[^\x00\r\n]*"
_WORDS = r"[^\x00]*\S[^\x00]*"
_INSIDE = r"(?!\.{0,2}(?:/|$))(?!.*/\.{0,2}(?:/|$))[^\x00\r\n]+"
_FIELDS: Mapping[str, Kind] = MappingProxyType(
    {
        "fingerprint": Text("'sha256:' and 64 hexadecimal digits", r"sha256:[0-9a-f]{64}", 71),
        "path": Text("a path inside the repository", _INSIDE, 40_000),
        "line": Text("one line of code", _ONE_LINE, _MOST_LINE, is_shown=False),
        "near": Text("the mark that the command wrote", r"[A-Za-z0-9_-]{1,16}", 16),
        "rule": Text("a rule's name", _ONE_LINE, 200),
        "category": Choice(tuple(category.value for category in Category)),
        "severity": Choice(tuple(_SEVERITIES)),
        "title": Text("a text", _WORDS, _MOST_LINE, is_shown=False),
        "reason": Text(f"a text of at most {MOST_REASON} characters", _WORDS, MOST_REASON, is_shown=False),
        "date": Text("a day such as '2026-01-31'", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", 10),
    }
)
_ONE = Record(_FIELDS, required=("fingerprint", "path", "reason"))
_FILE = Record(MappingProxyType({"version": Whole(1, 1), "dismissed": Listing(_ONE)}), required=("dismissed",))


def read(data: bytes, source: str) -> tuple[Dismissal, ...]:
    """The dismissals of a file, each fingerprint once, as people may see them: screened. Raises ConfigError with the line."""
    return found(tree(data, source))


def schema() -> dict[str, object]:
    """JSON Schema of the file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{FILE}: findings that reviewbot does not raise again",
        **_FILE.schema(),
    }


def tree(data: bytes, source: str) -> Entries | None:
    """What is written in a file, ``None`` where that is nothing. Raises ConfigError with the line."""
    root = read_yaml(data, source, most=MOST_BYTES)
    if root is None or (isinstance(root, Scalar) and root.value is None):
        return None
    if not isinstance(root, Entries):
        raise ConfigError(f"{root.place} is not a mapping of keys", hint="start with 'version: 1'")
    return Entries(
        tuple((name, place, _some(node) if name == "dismissed" else node) for name, place, node in root.entries), root.place
    )


def _some(node: Node) -> Node:
    """A list whose last item was deleted by hand is an empty one."""
    return Items((), node.place) if isinstance(node, Scalar) and node.value is None else node


def found(root: Entries | None) -> tuple[Dismissal, ...]:
    """What it says. Raises ConfigError with the line."""
    if root is None:
        return ()
    held: Any = _FILE.read(root, _TITLE)
    known: dict[str, Dismissal] = {}
    for one in held["dismissed"]:
        known.setdefault(one["fingerprint"], _dismissal(one))
    return tuple(known.values())


def _dismissal(said: Mapping[str, str]) -> Dismissal:
    fields: dict[str, Any] = dict(said)
    if "category" in said:
        fields["category"] = Category(said["category"])
    if "severity" in said:
        fields["severity"] = _SEVERITIES[said["severity"]]
    return screened(Dismissal(**fields))


def screened(one: Dismissal) -> Dismissal:
    """As people may see it, and as it is written."""
    return Dismissal(
        one.fingerprint,
        shown.text(one.path.replace("\n", " ").replace("\r", " ")),
        reason=_line(one.reason, MOST_REASON),
        title=_line(one.title, _MOST_LINE),
        rule=_line(one.rule, 200) if one.rule else None,
        category=one.category,
        severity=one.severity,
        line=_line(one.line, _MOST_LINE),
        near=one.near,
        date=one.date,
    )


def _line(text: str, most: int) -> str:
    return " ".join(shown.text(text).split())[:most].rstrip()
