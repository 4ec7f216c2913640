"""The repository's dismissals, written so that people can read and merge them.

One block for each, in the order of paths and fingerprints, so that two branches rarely write in one place. What is added or taken
back is one block of lines: everything else, comments too, stays as it is, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from reviewbot.config.dismissed import MOST_BYTES, found, screened, tree
from reviewbot.config.kinds import MAX_ITEMS
from reviewbot.config.node import Entries, Items, Scalar
from reviewbot.domain.dismissal import Dismissal
from reviewbot.errors import ConfigError

_KEY = "dismissed:"
_NONE = "dismissed: []"
_KEY_ROW = re.compile(r"dismissed:(?: *\[ *\])?(?P<rest> +#.*| *\r?)")
"""The row of the key, which may end with a comment of somebody's."""
_HEAD = """\
# What reviewbot does not raise again, and why. `reviewbot dismiss F1 --reason "..."` adds a finding of the last review,
# `reviewbot dismiss --undo F1` takes it back, `reviewbot dismiss --list` shows all. On a pull request and for other commits
# the file of the base commit counts; what a change adds here itself is its author's word and spares nothing.
version: 1
"""


def added(data: bytes | None, new: Sequence[Dismissal], source: str) -> bytes:
    """The file with more dismissals; ``None`` where there is no file yet. Raises ConfigError."""
    text = _HEAD + _NONE + "\n" if data is None else _text(data)
    for one in map(screened, new):
        held = found(tree(text.encode(), source))
        text = _checked(_with(text, one, source), (*held, one), source)
    if len(text.encode()) > MOST_BYTES or len(found(tree(text.encode(), source))) > MAX_ITEMS:
        raise ConfigError(f"{source} would hold more than {MAX_ITEMS} dismissals", hint="take back what is no longer raised")
    return text.encode()


def taken(data: bytes, gone: Collection[str], source: str) -> bytes:
    """The file without the dismissals of these fingerprints. Raises ConfigError."""
    text = _text(data)
    for name in gone:
        left = tuple(one for one in found(tree(text.encode(), source)) if one.fingerprint != name)
        text = _checked(_without(text, name, source), left, source)
    return text.encode()


def _text(data: bytes) -> str:
    """Bytes that were read before."""
    return data.decode("utf-8")


def _with(text: str, one: Dismissal, source: str) -> str:
    """The text with one block more, at its place."""
    blocks = list(_blocks(text, source))
    rows = text.split("\n")
    key = next((number for number, row in enumerate(rows) if _KEY_ROW.fullmatch(row)), None)
    if key is None:
        return ""
    rows[key] = _key_row(_KEY, rows[key])
    at = next((start for start, _, path, name in blocks if (path, name) > (one.path, one.fingerprint)), None)
    if at is None:
        at = blocks[-1][1] if blocks else key + 1
    indent = rows[blocks[0][0]].partition("-")[0] if blocks else "  "
    return "\n".join((*rows[:at], *_block(one, indent), *rows[at:]))


def _without(text: str, name: str, source: str) -> str:
    """The text without the blocks of one fingerprint."""
    blocks = list(_blocks(text, source))
    rows = text.split("\n")
    for start, end, _, other in reversed(blocks):
        if other == name:
            del rows[start:end]
    if all(other == name for *_, other in blocks):
        rows = [_key_row(_NONE, row) for row in rows]
    return "\n".join(rows)


def _key_row(key: str, row: str) -> str:
    """The row of the key with another begin; any other row as it is."""
    found = _KEY_ROW.fullmatch(row)
    return f"{key}{found['rest']}" if found else row


def _blocks(text: str, source: str) -> Iterator[tuple[int, int, str, str]]:
    """Of each block its first row and the one after its last, its path and fingerprint. Blank rows and comments before a block
    belong to that block's neighbourhood and to no block."""
    root = tree(text.encode(), source)
    held = next((node for name, _, node in root.entries if name == "dismissed"), None) if root else None
    items = [item for item in held.items if isinstance(item, Entries)] if isinstance(held, Items) else []
    rows = text.split("\n")
    starts = [(item.place.line or 1) - 1 for item in items]
    for item, start, after in zip(items, starts, [*starts, len(rows)][1:], strict=True):
        end = after
        while end > start + 1 and (not rows[end - 1].strip() or rows[end - 1].lstrip().startswith("#")):
            end -= 1
        said = {name: node.text for name, _, node in item.entries if isinstance(node, Scalar)}
        yield start, end, said.get("path", ""), said.get("fingerprint", "")


def _block(one: Dismissal, indent: str) -> Iterator[str]:
    """The rows of one dismissal."""
    said = {
        "fingerprint": one.fingerprint,
        "path": one.path,
        "line": one.line,
        "near": one.near,
        "rule": one.rule,
        "category": one.category.value if one.category else "",
        "severity": one.severity.label if one.severity else "",
        "title": one.title,
        "reason": one.reason,
        "date": one.date,
    }
    sign = "- "
    for name, value in said.items():
        if value:
            yield f"{indent}{sign}{name}: {_quoted(value)}"
            sign = "  "


def _quoted(text: str) -> str:
    """A double-quoted scalar (YAML 1.2 §7.3.1), which can hold any text in one row."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in escaped) + '"'


def _checked(text: str, wanted: Sequence[Dismissal], source: str) -> str:
    """The text where it says just that, else all of it written anew: a file that somebody wrote in another style. Raises
    ConfigError."""
    try:
        is_right = sorted(found(tree(text.encode(), source)), key=_rank) == sorted(wanted, key=_rank)
    except ConfigError:
        is_right = False
    if is_right and text:
        return text
    blocks = [row for one in sorted(wanted, key=_rank) for row in _block(one, "  ")]
    text = "\n".join((_HEAD + (_KEY if blocks else _NONE), *blocks, ""))
    found(tree(text.encode(), source))  # what cannot be read again is not written
    return text


def _rank(one: Dismissal) -> tuple[str, str]:
    return one.path, one.fingerprint
