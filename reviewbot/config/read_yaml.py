"""YAML, as much of it as a configuration needs: no aliases, anchors or tags, one document, bounded in size and depth.

Nodes are built from the parser's events, so that nothing is expanded or constructed before it has been looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from reviewbot.config.node import MAX_BYTES, MAX_DEPTH, Entries, Items, Node, Place, Scalar, plain, shortened
from reviewbot.errors import ConfigError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: What opens a node.
_Opening = yaml.events.ScalarEvent | yaml.events.SequenceStartEvent | yaml.events.MappingStartEvent


def read_yaml(data: bytes, source: str, *, most: int = MAX_BYTES) -> Node | None:
    """The tree of one document, ``None`` for an empty file. ``most``: bytes. Raises ConfigError with the line."""
    if len(data) > most:
        raise ConfigError(f"{source} has {len(data):,} bytes", hint=f"such a file has at most {most:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{source} is not UTF-8 (byte {exc.start})", hint="save it as UTF-8") from exc
    try:
        return _Reader(text, source).document()
    except yaml.MarkedYAMLError as exc:
        line = exc.problem_mark.line + 1 if exc.problem_mark else None
        raise ConfigError(f"{Place(source, line)} is not YAML: {exc.problem}", hint="mend that line") from exc
    except yaml.YAMLError as exc:
        raise ConfigError(f"{source} is not YAML: {exc}", hint="mend the file") from exc


class _Reader:
    """One pass over the events of one text."""

    def __init__(self, text: str, source: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._source = source

    def document(self) -> Node | None:
        """The first document; a second one is refused."""
        root: Node | None = None
        seen = False
        for event in self._events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            if seen:
                raise ConfigError(f"{self._place(event)} starts a second document", hint="keep one per file")
            seen = True
            root = self._node(next(self._events), depth=1)
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        place = self._place(event)
        opening = self._allowed(event, place)
        if isinstance(opening, yaml.ScalarEvent):
            written = opening.value
            return Scalar(plain(written) if opening.implicit[0] else written, written, place)
        if depth > MAX_DEPTH:
            raise ConfigError(f"{place} nests deeper than {MAX_DEPTH} levels", hint="flatten it")
        if isinstance(opening, yaml.SequenceStartEvent):
            return Items(tuple(self._items(depth)), place)
        return Entries(tuple(self._entries(depth)), place)

    def _allowed(self, event: yaml.Event, place: Place) -> _Opening:
        if isinstance(event, yaml.AliasEvent):
            raise ConfigError(f"{place} uses an alias (*{event.anchor})", hint="write the value out")
        assert isinstance(event, _Opening)
        if event.anchor is not None:
            raise ConfigError(f"{place} sets an anchor (&{event.anchor})", hint="write the value out")
        if event.tag is not None:
            raise ConfigError(f"{place} sets a tag ({event.tag})", hint="remove it")
        return event

    def _items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1)

    def _entries(self, depth: int) -> Iterator[tuple[str, Place, Node]]:
        seen: dict[str, Place] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            place = self._place(event)
            name = self._node(event, depth + 1)
            if not isinstance(name, Scalar) or not name.text:
                raise ConfigError(f"{place} has a key that is not a word", hint="name the key")
            if name.text in seen:
                first = seen[name.text].line
                raise ConfigError(f"duplicate key {shortened(name.text)!r} ({place}, first on line {first})", hint="keep one")
            seen[name.text] = place
            yield name.text, place, self._node(next(self._events), depth + 1)

    def _place(self, event: yaml.Event) -> Place:
        return Place(self._source, event.start_mark.line + 1 if event.start_mark else None)
