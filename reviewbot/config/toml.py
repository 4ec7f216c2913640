"""`[tool.reviewbot]` of a pyproject.toml, with the line of each value."""

from __future__ import annotations

import re
import tomllib

from reviewbot.config.values import Document, Key
from reviewbot.errors import ConfigError

MAX_BYTES = 256 * 1024
# tomllib takes 20 s for a key of 30,000 parts.
LONG_KEY = re.compile(
    r"""(?:^|[\[{,])[ \t]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""",
    re.MULTILINE,
)
# tomllib knows no lines, so the first line that assigns a key or opens its table is looked up.
LINE = re.compile(r"\s*(?:\[+\s*([^\]]+?)\s*\]+|([\w.\"'-]+)\s*=)")


def read_toml(content: bytes, name: str) -> Document:
    """What the file says below `tool.reviewbot`. Raises ConfigError."""
    if b"reviewbot" not in content:
        return Document(None)
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
    return Document(tool.get("reviewbot") if isinstance(tool, dict) else None, _lines(text))


def _lines(text: str) -> dict[Key, int]:
    lines: dict[Key, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if (match := LINE.match(line)) is None:
            continue
        table = match[1] or table
        key = match[1] or f"{table}.{match[2]}"
        names = tuple(re.sub(r"[\"'\s]", "", key).split("."))
        if names[:2] == ("tool", "reviewbot"):
            lines.setdefault(names[2:], number)
    return lines
