"""YAML, as much of it as a configuration needs, with the line of each value.

Values are built from the events of the parser, so nothing is expanded before it was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from reviewbot.config.values import MAX_DEPTH, Node
from reviewbot.errors import ConfigError

MAX_BYTES = 64 * 1024
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# YAML 1.2's core schema without hexadecimal, octal, infinite and undefined numbers: `off` and `no`
# are words. https://yaml.org/spec/1.2.2/#103-core-schema
WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
NUMBER = re.compile(
    r"[-+]?(?:[0-9]{1,18}\.[0-9]{0,32}|\.[0-9]{1,32}|[0-9]{1,18})(?:[eE][-+]?[0-9]{1,3})?"
)
WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


def read_yaml(content: bytes, name: str, max_bytes: int = MAX_BYTES) -> Node:
    """The one document of a file. Raises ConfigError, with the line."""
    if len(content) > max_bytes:
        size = f"{len(content):,} bytes"
        raise ConfigError(f"{name} has {size}", hint=f"Keep it below {max_bytes:,} bytes.")
    try:
        text = content.decode("utf-8-sig")
        return _document(yaml.parse(text, Loader=LOADER), name)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{name}{line}: this is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{name} is not YAML: {error}") from error


def _document(events: Iterator[yaml.Event], name: str) -> Node:
    root = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if root is not None:
                raise ConfigError(f"{name}:{_line(event)}: a second document starts here")
            root = _node(next(events), events, name, 1)
    return root or Node(None)


def _node(event: yaml.Event, events: Iterator[yaml.Event], name: str, depth: int) -> Node:
    line = _line(event)
    for attribute in ("anchor", "tag"):  # an alias has an anchor, too
        if getattr(event, attribute, None) is not None:
            what = "an alias" if isinstance(event, yaml.AliasEvent) else f"a YAML {attribute}"
            raise ConfigError(f"{name}:{line}: {what} is not allowed", hint="Write the value out.")
    if isinstance(event, yaml.ScalarEvent):
        return Node(_scalar(event.value) if event.implicit[0] else event.value, line)
    if depth > MAX_DEPTH:
        raise ConfigError(f"{name}:{line}: this nests deeper than {MAX_DEPTH} levels")
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, name, depth + 1))
        return Node(tuple(items), line)
    entries: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key_line = _line(event)
        _node(event, events, name, MAX_DEPTH + 1)
        key = event.value if isinstance(event, yaml.ScalarEvent) else ""
        if key in ("", "<<"):
            raise ConfigError(f"{name}:{key_line}: a key must be a word")
        if key in entries:
            first = f"the first is in line {entries[key].line}"
            raise ConfigError(f"{name}:{key_line}: the same key twice; {first}")
        entries[key] = Node(_node(next(events), events, name, depth + 1).value, key_line)
    return Node(entries, line)


def _scalar(text: str) -> str | int | float | bool | None:
    if text in WORDS:
        return WORDS[text]
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if NUMBER.fullmatch(text) else text


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
