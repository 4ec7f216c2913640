"""`[tool.reviewbot]` of a pyproject.toml, with the line of each value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from reviewbot.config.values import MAX_DEPTH, Node
from reviewbot.errors import ConfigError

MAX_BYTES = 256 * 1024
# tomllib takes 20 s for a key of 30,000 parts.
LONG_KEY = re.compile(
    r"""(?:^|[\[{,])[ \t]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""",
    re.MULTILINE,
)
# tomllib knows no lines, so the first line that assigns a key or opens its table is looked up.
HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
ASSIGNMENT = re.compile(r"\s*([\w.\"'-]+)\s*=")


def read_toml(content: bytes, name: str) -> Node:
    """What the file says below `tool.reviewbot`. Raises ConfigError."""
    if b"reviewbot" not in content:
        return Node(None)
    if len(content) > MAX_BYTES:
        hint = "Move [tool.reviewbot] to .reviewbot.yml."
        raise ConfigError(f"{name} has {len(content):,} bytes", hint=hint)
    try:
        text = content.decode()
        if LONG_KEY.search(text):
            raise ConfigError(f"{name} has a key of more than 16 parts")
        tool = tomllib.loads(text).get("tool")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 (byte {error.start})") from error
    except RecursionError as error:
        raise ConfigError(f"{name} nests too deeply") from error
    except ValueError as error:  # TOMLDecodeError, and integers of more than 4,300 digits
        raise ConfigError(f"{name} is not TOML: {error}") from error
    settings = tool.get("reviewbot") if isinstance(tool, dict) else None
    return _node(settings, ("tool", "reviewbot"), name, _lines(text))


def _lines(text: str) -> Mapping[str, int]:
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := HEADER.match(line):
            table = re.sub(r"[\"'\s]", "", header[1])
            lines.setdefault(table, number)
        elif assignment := ASSIGNMENT.match(line):
            key = re.sub("[\"']", "", assignment[1])
            lines.setdefault(f"{table}.{key}", number)
    return lines


def _node(value: object, path: tuple[str, ...], name: str, lines: Mapping[str, int]) -> Node:
    ends = range(len(path), 0, -1)
    line = next((lines[key] for end in ends if (key := ".".join(path[:end])) in lines), None)
    if len(path) > MAX_DEPTH + 2:
        raise ConfigError(f"{name}:{line}: this nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        entries = {key: _node(inner, (*path, key), name, lines) for key, inner in value.items()}
        return Node(entries, line)
    if isinstance(value, list):
        return Node(tuple(_node(item, (*path, ""), name, lines) for item in value), line)
    if value is None or isinstance(value, str | int | float):
        return Node(value, line)
    raise ConfigError(f"{name}:{line}: this is a date or a time", hint="Quote it.")
