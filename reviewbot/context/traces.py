"""What a report speaks of: files with lines, names of code, exceptions. Tracebacks of several languages, logs and plain words.

The text is nobody's word: it is read line by line, at most so much of it, and what it names counts only where the tree has it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

MOST_TEXT, MOST_LINE = 60_000, 2_000
"""Characters of a report, and of one line of it, that are read."""

MOST_PLACES, MOST_NAMES = 60, 40
MOST_ALIKE = 3
"""A bare file name that more files have tells nothing."""

_ENDING = r"\.[A-Za-z][A-Za-z0-9+]{0,7}"
_PATH = rf"(?<![\w@+~./\\-])(?P<path>(?:[A-Za-z]:)?[\w@+~./\\-]{{1,300}}{_ENDING})"
_INNERMOST_LAST = re.compile(rf'File "(?P<path>[^"\n]{{1,400}}{_ENDING})", line (?P<line>\d{{1,7}})(?:, in (?P<name>[\w.<>]+))?')
"""Python's frames: the innermost comes last."""
_JAVA = re.compile(r"\bat (?P<name>[\w.$]{1,300})\((?P<file>\w+\.(?:java|kt|scala|groovy)):(?P<line>\d{1,7})\)")
_WITH_LINE = (
    re.compile(rf"{_PATH}:(?:line )?(?P<line>\d{{1,7}})\b(?::\d+)?(?:: in (?:function )?[`']?(?P<name>[\w.<>]+))?"),
    re.compile(rf"{_PATH}(?:\((?P<line>\d{{1,7}})\)|,? (?:on )?line (?P<line2>\d{{1,7}})\b)"),
)
_ALONE = re.compile(rf"(?<![\w./\\-]){_PATH}(?![\w/\\])")
_EXCEPTION = re.compile(r"\b(?:\w+\.){0,8}(?P<name>[A-Z]\w{2,60}(?:Error|Exception|Warning|Exit|Failure|Interrupt|Timeout))\b")
_NAMED = (
    re.compile(r"`([A-Za-z_][\w.]{2,80})(?:\(\))?`"),
    re.compile(r"\b([A-Za-z_][\w.]{2,80})\(\)"),
    re.compile(r"\bat ([A-Za-z_$][\w.$]{1,80}) \("),
    re.compile(r"\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,5})\b"),
    re.compile(r"\b([a-z]\w*_\w+|[A-Z][a-z]\w*[A-Z]\w*)\b"),
)
_ROOTS = ("src", "lib", "python", "app", "main", "java", "kotlin")
"""Folders that no import and no installed copy has before its name."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file as a report writes it, and the line; 0 where it says none."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What a report speaks of, what is nearest to the trouble first. ``names`` are of functions and classes, perhaps."""

    places: tuple[Place, ...]
    names: tuple[str, ...]
    exceptions: tuple[str, ...]


def read(text: str) -> Trace:
    """What it speaks of. Never raises."""
    lines = [line[:MOST_LINE] for line in text[:MOST_TEXT].split("\n")]
    inner = list(_frames(lines))
    frames = [place for place, _ in reversed(inner)]
    others = [place for line in lines for place in _places(line)]
    called = [name for _, name in reversed(inner) if name]
    named = [match[1] for pattern in _NAMED for line in lines for match in pattern.finditer(line)]
    names = (part for name in (*called, *named) for part in (name.rpartition(".")[2], *name.split(".")) if _is_name(part))
    exceptions = (match["name"] for line in lines for match in _EXCEPTION.finditer(line))
    return Trace(
        tuple(dict.fromkeys((*frames, *others)))[:MOST_PLACES],
        tuple(dict.fromkeys(names))[:MOST_NAMES],
        tuple(dict.fromkeys(exceptions))[:MOST_NAMES],
    )


def located(places: Iterable[Place], paths: Collection[str]) -> tuple[tuple[str, int], ...]:
    """The places that are in a tree with these paths, each once, in their order: what was installed, copied into a container or
    built elsewhere has other folders before its name."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_name[path.rpartition("/")[2]].append(path)
    found = ((path, place.line) for place in places for path in _meant(place.path, by_name))
    return tuple(dict.fromkeys(found))


def _frames(lines: Iterable[str]) -> Iterator[tuple[Place, str]]:
    for line in lines:
        for match in _INNERMOST_LAST.finditer(line):
            yield Place(match["path"], int(match["line"])), match["name"] or ""


def _places(line: str) -> Iterator[Place]:
    """Places in a line that are no frames of Python."""
    for match in _JAVA.finditer(line):
        yield Place("/".join((*match["name"].split(".")[:-2], match["file"])), int(match["line"]))
    rest = _INNERMOST_LAST.sub(" ", _JAVA.sub(" ", line))
    for pattern in _WITH_LINE:
        for match in pattern.finditer(rest):
            groups = match.groupdict()
            yield Place(match["path"], int(groups["line"] or groups.get("line2") or 0))
        rest = pattern.sub(" ", rest)
    yield from (Place(match["path"], 0) for match in _ALONE.finditer(rest))


def _meant(said: str, by_name: Mapping[str, list[str]]) -> list[str]:
    """The files of the tree that a written path may be: it ends with their name, or their name with it."""
    parts = [part for part in said.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts:
        return []
    known = [path for path in by_name.get(parts[-1], ()) if _is_end(_below_root(path), parts) or _is_end(parts, path.split("/"))]
    best = max((_common(parts, path.split("/")) for path in known), default=0)
    meant = [path for path in known if _common(parts, path.split("/")) == best]
    return sorted(meant) if len(meant) <= MOST_ALIKE else []


def _below_root(path: str) -> list[str]:
    parts = path.split("/")
    while len(parts) > 1 and parts[0] in _ROOTS:
        parts = parts[1:]
    return parts


def _is_end(some: list[str], parts: list[str]) -> bool:
    return len(some) <= len(parts) and parts[len(parts) - len(some) :] == some


def _common(one: list[str], other: list[str]) -> int:
    """How many parts at their ends are the same."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False))
    return sum(1 for _ in same)


def _is_name(part: str) -> bool:
    return len(part) > 2 and part.isidentifier() and not part.startswith("<")
