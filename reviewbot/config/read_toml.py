"""``[tool.reviewbot]`` of a ``pyproject.toml``. ``tomllib`` gives no lines, so they are looked up in the text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from reviewbot.config.node import MAX_BYTES, MAX_DEPTH, Entries, Items, Node, Place, Scalar
from reviewbot.errors import ConfigError

#: ``tomllib`` takes 20 s for one key of 30,000 parts. Longer parts than these are too few in a capped file to matter.
_LONG_KEY = re.compile(r"""(?:(?:[\w-]{1,64}+|"[^"\n]{0,64}"|'[^'\n]{0,64}')[ \t]*+\.[ \t]*+){16}""")
_HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_ASSIGNMENT = re.compile(r"\s*([\w.\"'-]+)\s*=")


def read_toml(data: bytes, source: str) -> Node | None:
    """The tree below ``tool.reviewbot``, ``None`` where there is none. Raises ConfigError."""
    if b"reviewbot" not in data:
        return None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{source} has {len(data):,} bytes", hint="move [tool.reviewbot] to .reviewbot.yml")
    document = _parsed(data, source)
    tool = document.get("tool")
    own = tool.get("reviewbot") if isinstance(tool, dict) else None
    if own is None:
        return None
    return _Tree(source, _lines(data.decode("utf-8"))).node(own, ())


def _parsed(data: bytes, source: str) -> dict[str, object]:
    try:
        text = data.decode("utf-8")
        if _LONG_KEY.search(text):
            raise ConfigError(f"{source} has a key of more than 16 parts", hint="shorten it")
        return tomllib.loads(text)
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{source} is not UTF-8 (byte {exc.start})", hint="save it as UTF-8") from exc
    except (tomllib.TOMLDecodeError, ValueError) as exc:
        raise ConfigError(f"{source} is not TOML: {exc}", hint="mend the file") from exc
    except RecursionError as exc:
        raise ConfigError(f"{source} nests too deeply", hint="flatten it") from exc


def _lines(text: str) -> Mapping[str, int]:
    """Dotted key below ``tool.reviewbot`` → the line that assigns it or opens its table; the first one wins."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _bare(header[1])
            found.setdefault(table, number)
        elif assignment := _ASSIGNMENT.match(line):
            found.setdefault(f"{table}.{_bare(assignment[1])}", number)
    return found


def _bare(name: str) -> str:
    return name.replace('"', "").replace("'", "").replace(" ", "")


@dataclass(frozen=True, slots=True)
class _Tree:
    """Turns TOML's values into nodes; what has no line of its own has that of what holds it."""

    source: str
    lines: Mapping[str, int]

    def node(self, value: object, path: tuple[str, ...]) -> Node:
        """The tree of one value. ``path``: its dotted name below ``tool.reviewbot``."""
        place = self._place(path)
        if len(path) > MAX_DEPTH:
            raise ConfigError(f"{place} nests deeper than {MAX_DEPTH} levels", hint="flatten it")
        if isinstance(value, dict):
            inner = ((name, (*path, name), held) for name, held in value.items())
            return Entries(tuple((name, self._place(below), self.node(held, below)) for name, below, held in inner), place)
        if isinstance(value, list):
            return Items(tuple(self.node(item, (*path, "[]")) for item in value), place)
        if isinstance(value, str | int | float):
            return Scalar(value, str(value), place)
        raise ConfigError(f"{place} holds a date or a time", hint="quote it")

    def _place(self, path: tuple[str, ...]) -> Place:
        for length in range(len(path), -1, -1):
            if (line := self.lines.get(".".join(("tool", "reviewbot", *path[:length])))) is not None:
                return Place(self.source, line)
        return Place(self.source)
