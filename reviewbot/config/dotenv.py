"""``.env`` files: ``NAME=VALUE`` a line, read strictly. Nothing is expanded and nothing runs on; no error quotes a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from reviewbot.config.node import MAX_BYTES, Place
from reviewbot.errors import ConfigError

#: What a file that nobody named may bring: keys and where one's own machine answers, and nothing that steers a program.
IMPLICIT = re.compile(
    r"(?!REVIEWBOT_)[A-Z][A-Z0-9_]*_API_KEY|OLLAMA_HOST"
    r"|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_BEDROCK|REGION|DEFAULT_REGION|PROFILE)"
)

_LINE = re.compile(r"(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?P<value>.*)", re.DOTALL)
_REST = r"[ \t]*(?:#.*)?"
_SINGLE = re.compile(rf"'(?P<text>[^']*)'{_REST}", re.DOTALL)
_DOUBLE = re.compile(rf'"(?P<text>(?:[^"\\]|\\.)*)"{_REST}', re.DOTALL)
_COMMENT = re.compile(r"(?:^|[ \t])#.*", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = MappingProxyType({"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"})


def parse(data: bytes, source: str) -> Mapping[str, str]:
    """Every variable of the file. Raises ConfigError with the line.

    Quotes end on their line; ``\\n``, ``\\t``, ``\\"``, ``\\\\`` and ``\\$`` are known between double ones; a ``#`` after a
    blank begins a comment outside of quotes. ``$NAME`` stays as it is written.
    """
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{source} has {len(data):,} bytes", hint=f"an environment file has at most {MAX_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{source} is not UTF-8 (byte {exc.start})", hint="save it as UTF-8") from exc
    held: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        said = line.strip(" \t\r")
        if not said or said.startswith("#"):
            continue
        name, value = _pair(said, Place(source, number))
        if name in held:
            raise ConfigError(f"{Place(source, number)} sets {name} a second time", hint="keep one")
        held[name] = value
    return held


def _pair(line: str, place: Place) -> tuple[str, str]:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ConfigError(f"{place} is not NAME=VALUE", hint="mend that line, or begin it with '#'")
    if "\x00" in line:
        raise ConfigError(f"{place} holds a NUL character", hint="remove it")
    return found["name"], _value(found["value"], place)


def _value(written: str, place: Place) -> str:
    if written[:1] == "'":
        if single := _SINGLE.fullmatch(written):
            return single["text"]
        raise ConfigError(f"{place} has a quote that does not end where its line does", hint="end it there")
    if written[:1] == '"':
        if double := _DOUBLE.fullmatch(written):
            return _unescaped(double["text"], place)
        raise ConfigError(f"{place} has a quote that does not end where its line does", hint="end it there")
    return _COMMENT.sub("", written, count=1).rstrip(" \t")


def _unescaped(text: str, place: Place) -> str:
    for escape in _ESCAPE.finditer(text):
        if escape[1] not in _ESCAPED:
            raise ConfigError(f"{place} has an escape that is not known", hint="write \\\\ for a backslash, or use single quotes")
    return _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], text)
