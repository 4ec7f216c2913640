"""Findings that are not reported again: `.reviewbot/dismissed.yml`, and the same in the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from reviewbot.config.values import validate
from reviewbot.errors import ConfigError

MAX_BYTES = 512 * 1024
HEADER = """\
# Findings that reviewbot does not report again, and why. `reviewbot dismiss FINDING --reason TEXT`
# adds one, `reviewbot dismiss FINDING --undo` removes it. Entries count once they are in the base.
"""


class Dismissal(Struct, frozen=True, kw_only=True):
    """A finding that somebody dismissed.

    The key identifies it across commits; title, path, person and date are for people.
    """

    key: Annotated[str, Meta(min_length=1)]
    reason: Annotated[str, Meta(min_length=1)]
    title: str = ""
    path: str = ""
    by: str = ""
    date: str = ""


def read_dismissals(content: bytes, name: str) -> dict[str, Dismissal]:
    """The entries of a file by key. Raises ConfigError, with the line."""
    from reviewbot.config.yaml import read_yaml  # only where there is something to parse

    document = read_yaml(content, name, MAX_BYTES)
    if not isinstance(document.value or [], list):
        raise ConfigError(f"{name}:{document.line(())}: this is not a list of dismissals")
    kind = tuple[Dismissal, ...]
    entries = validate(document.value or [], kind, (), lambda key: f"{name}:{document.line(key)}")
    return {entry.key: entry for entry in msgspec.convert(entries, kind)}


def write_dismissals(dismissals: Mapping[str, Dismissal]) -> bytes:
    """The file, sorted by path, so that two branches rarely write in one place."""
    lines = [HEADER]
    for entry in sorted(dismissals.values(), key=lambda entry: (entry.path, entry.key)):
        fields = {name: value for name, value in msgspec.structs.asdict(entry).items() if value}
        text = "".join(f"  {name}: {_quoted(value)}\n" for name, value in fields.items())
        lines.append(f"- {text[2:]}")
    return ("".join(lines) if dismissals else f"{HEADER}[]\n").encode()


def _quoted(text: str) -> str:
    """A scalar in double quotes (YAML 1.2 §7.3.1), which holds any text in one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "replace").decode()
    signs = (sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in escaped)
    return f'"{"".join(signs)}"'
