"""What a search found, told apart by the look of its lines, and put in the order in which it is worth reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import NamedTuple

from reviewbot.context.names import Names, declared
from reviewbot.domain.change import is_test_path
from reviewbot.ports import Hit, Passage

MOST_MENTIONS = 120
MOST_FILES = 16
PER_SYMBOL = {"definition": 2, "caller": 4, "test": 3}
MOST_DEFINITIONS = 6
"""A name that is defined in more places (``get``, ``handle``) says nothing: which one is meant cannot be told."""

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_IMPORT = re.compile(r"\s*(?:from\b|import\b|use\b|using\b|#\s*include|require\b|export\s+(?:\*|\{)|package\b|__all__)")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--\s|<!--|\"\"\"|''')")
_NO_CODE = (
    ".md", ".mdx", ".rst", ".txt", ".adoc", ".lock", ".json", ".yaml", ".yml", ".toml", ".csv", ".svg", ".po", ".pot", ".html",
    ".map", ".xml", ".ini", ".cfg", ".snap", ".css",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mention:
    """A line that speaks of ``symbol`` as ``definition``, ``caller`` or ``test``."""

    relation: str
    symbol: str
    path: str
    line: int


class Line(NamedTuple):
    """A line of code that holds a word: whether it declares it, and whether it is test code."""

    path: str
    line: int
    declares: bool
    in_tests: bool


Spoken = Mapping[str, Sequence[Line]]
"""The lines of code in which each word stands."""


def read(hits: Iterable[Hit], words: Iterable[str]) -> Spoken:
    """What was found, by word. Imports, comments and files that hold no code say nothing."""
    wanted = frozenset(words)
    spoken: dict[str, list[Line]] = {}
    tests: dict[str, bool] = {}
    for hit in hits:
        if hit.path not in tests:
            tests[hit.path] = is_test_path(hit.path)
        text = hit.text.decode("utf-8", "replace")
        if hit.path.lower().endswith(_NO_CODE) or _IMPORT.match(text) or _COMMENT.match(text):
            continue
        own = declared(text)
        for word in wanted.intersection(_WORD.findall(text)):
            spoken.setdefault(word, []).append(Line(hit.path, hit.line, word in own, tests[hit.path]))
    return spoken


def found(spoken: Spoken, names: Names, passages: Sequence[Passage]) -> tuple[Mention, ...]:
    """The mentions worth reading, best first: a definition of what is called, a caller of what changed and a test of it in turn;
    of each the first of every symbol before the second of any, nearer files first. Lines that are shown already are left out."""
    groups: dict[tuple[str, str], list[Mention]] = {}
    for mention in _told(spoken, names, _shown(passages)):
        groups.setdefault((mention.relation, mention.symbol), []).append(mention)
    near = _Nearness(passages)
    importance = {word: index for index, word in enumerate(names.words)}
    ranked: dict[str, list[tuple[int, int, int, Mention]]] = {relation: [] for relation in PER_SYMBOL}
    for (relation, symbol), group in groups.items():
        if relation == "definition" and len(group) > MOST_DEFINITIONS:
            continue
        group.sort(key=lambda mention: (near.steps(mention.path), mention.path, mention.line))
        for turn, mention in enumerate(_spread(group, PER_SYMBOL[relation])):
            ranked[relation].append((turn, near.steps(mention.path), importance[symbol], mention))
    queues = [sorted(queue, key=lambda item: item[:3]) for queue in ranked.values()]
    merged = [item[3] for turn in zip_longest(*queues) for item in turn if item is not None]
    return _few(merged[:MOST_MENTIONS])


def paths(mentions: Iterable[Mention]) -> tuple[str, ...]:
    """The files to read."""
    return tuple(dict.fromkeys(mention.path for mention in mentions))


def _told(spoken: Spoken, names: Names, shown: Mapping[str, Sequence[range]]) -> Iterator[Mention]:
    for word in names.called:
        yield from (
            Mention("definition", word, one.path, one.line)
            for one in spoken.get(word, ())
            if one.declares and not one.in_tests and not _is_shown(one, shown)
        )
    for word in names.changed:
        yield from (
            Mention("test" if one.in_tests else "caller", word, one.path, one.line)
            for one in spoken.get(word, ())
            if not one.declares and not _is_shown(one, shown)
        )


def _is_shown(line: Line, shown: Mapping[str, Sequence[range]]) -> bool:
    return any(line.line in lines for lines in shown.get(line.path, ()))


def _shown(passages: Sequence[Passage]) -> dict[str, list[range]]:
    lines: dict[str, list[range]] = {}
    for passage in passages:
        lines.setdefault(passage.path, []).append(range(passage.start, passage.start + len(passage.lines)))
    return lines


def _spread(group: list[Mention], most: int) -> Iterator[Mention]:
    """The first of every file, then the others."""
    by_file: dict[str, Mention] = {}
    for mention in group:
        by_file.setdefault(mention.path, mention)
    first = tuple(by_file.values())[:most]
    return islice((*first, *(mention for mention in group if mention not in first)), most)


def _few(mentions: list[Mention]) -> tuple[Mention, ...]:
    """Those in the first ``MOST_FILES`` files."""
    files = set(paths(mentions)[:MOST_FILES])
    return tuple(mention for mention in mentions if mention.path in files)


class _Nearness:
    """How far files lie from the changed ones, in folders to go up before one is below."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._changed = {passage.path for passage in passages}
        self._folders = {folder for path in self._changed for folder in _folders(path)}
        self._known: dict[str, int] = {}

    def steps(self, path: str) -> int:
        """0 for a changed file, 1 for its neighbours."""
        if path not in self._known:
            above = enumerate(_folders(path), 1)
            self._known[path] = 0 if path in self._changed else next((up for up, name in above if name in self._folders), 99)
        return self._known[path]


def _folders(path: str) -> Iterator[str]:
    """The folder of a path, and those around it up to the top."""
    while path:
        path = path.rpartition("/")[0]
        yield path
