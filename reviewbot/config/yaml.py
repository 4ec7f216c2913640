"""YAML, as much of it as a configuration needs, with the line of each value.

Values are built from the events of the parser, so nothing is expanded before it was looked at.
"""

import json
from collections.abc import Iterator

import yaml

from reviewbot.config.load import Document, Key
from reviewbot.errors import ConfigError

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(content: bytes, name: str, max_bytes: int = MAX_BYTES) -> Document:
    """The one document of a file. Raises ConfigError, with the line."""
    if len(content) > max_bytes:
        size = f"{len(content):,} bytes"
        raise ConfigError(f"{name} has {size}", hint=f"Keep it below {max_bytes:,} bytes.")
    value: object = None
    lines: dict[Key, int] = {}
    try:
        events = yaml.parse(content.decode("utf-8-sig"), Loader=LOADER)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if lines:
                    raise ConfigError(f"{name}:{_line(event)}: a second document starts here")
                value = _value(next(events), events, name, (), lines)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 (byte {error.start})") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1}" if mark else name
        message = f"{place}: this is not YAML: {getattr(error, 'problem', error)}"
        raise ConfigError(message) from error
    return Document(value, lines)


def _value(
    event: yaml.Event, events: Iterator[yaml.Event], name: str, key: Key, lines: dict[Key, int]
) -> object:
    """The value that begins with an event. It adds lines of keys that have none yet."""
    line = lines.setdefault(key, _line(event))
    _refuse_references(event, name)
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event.value) if event.implicit[0] else event.value
    if len(key) >= MAX_DEPTH:
        raise ConfigError(f"{name}:{line}: this nests deeper than {MAX_DEPTH} levels")
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[object] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_value(event, events, name, (*key, f"[{len(items)}]"), lines))
        return items
    entries: dict[str, object] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        _refuse_references(event, name)
        word = event.value if isinstance(event, yaml.ScalarEvent) else ""
        if word in ("", "<<"):
            raise ConfigError(f"{name}:{_line(event)}: a key must be a word")
        place = (*key, word)
        if place in lines:
            first = f"the first is in line {lines[place]}"
            raise ConfigError(f"{name}:{_line(event)}: the same key twice; {first}")
        lines[place] = _line(event)
        entries[word] = _value(next(events), events, name, place, lines)
    return entries


def _refuse_references(event: yaml.Event, name: str) -> None:
    for attribute in ("anchor", "tag"):  # an alias has an anchor, too
        if getattr(event, attribute, None) is not None:
            what = "an alias" if isinstance(event, yaml.AliasEvent) else f"a YAML {attribute}"
            message = f"{name}:{_line(event)}: {what} is not allowed"
            raise ConfigError(message, hint="Write the value out.")


def _scalar(text: str) -> object:
    """A plain scalar by the JSON schema of YAML 1.2 (§10.2): `off` and `no` are words."""
    if text in ("", "~"):
        return None
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
