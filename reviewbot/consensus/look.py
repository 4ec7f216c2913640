"""What a review looked at, and what of earlier findings still stands there."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reviewbot.consensus import identity, seen
from reviewbot.consensus.identity import MOST_TEXT, normalised
from reviewbot.domain.change import FileChange
from reviewbot.domain.evidence import ANALYSERS, API, Evidence, Ledger
from reviewbot.domain.history import History, Known
from reviewbot.domain.review import Finding


@dataclass(frozen=True, slots=True)
class Place:
    """Where a known finding stands now: path and lines at head, and the last line's text as shown."""

    path: str
    start_line: int
    line: int
    text: str


@dataclass(frozen=True)
class Look:
    """What a review looked at. ``files`` are the whole change, ``fresh`` what of it no review saw yet; ``texts`` the lines of its
    files at head as they are shown, by path. ``is_whole``: the review is complete, so that silence means something. ``is_known``:
    the same panel looked at what was seen."""

    history: History
    files: tuple[FileChange, ...]
    fresh: tuple[FileChange, ...]
    texts: Mapping[str, Sequence[str]]
    ledger: Ledger
    is_whole: bool = True
    is_known: bool = True

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The path at base of every file, by its path at head."""
        return {file.path: file.base_path or file.path for file in self.files}

    @cached_property
    def altered(self) -> tuple[FileChange, ...]:
        """What of the change differs from what was seen: less than ``fresh``, where a neighbour of something differs, too. Where
        nothing was seen, as in an audit, it is what is looked at."""
        return seen.altered(self.files, self.history.seen) if self.history.seen else self.fresh

    @cached_property
    def _altered_spans(self) -> Mapping[str, tuple[tuple[int, int], ...]]:
        """The first line and the one after the last of what is ``altered``, in order, by path."""
        return {file.path: tuple((hunk.new_start, hunk.new_span.stop) for hunk in file.hunks) for file in self.altered}

    @cached_property
    def results(self) -> Mapping[str, str]:
        """The marks of what is new in the ledger, by item."""
        return seen.results(self.ledger, self.names)

    @cached_property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """The normalised lines at head by path."""
        return {path: tuple(map(normalised, lines)) for path, lines in self.texts.items()}

    def is_fresh(self, path: str, start: int, line: int) -> bool:
        """No review saw these lines before."""
        return any(file.path == path and seen.touches(file, start, line) for file in self.fresh)

    def is_altered(self, path: str, start: int, line: int) -> bool:
        """What stands around these lines is not what was seen."""
        spans = self._altered_spans.get(path, ())
        after = bisect_right(spans, (line, sys.maxsize)) if line else len(spans)
        return bool(after) and (not line or start < spans[after - 1][1])

    def file(self, path: str) -> FileChange | None:
        """The file that has this path at either end."""
        at_head = next((file for file in self.files if file.path == path), None)
        return at_head or next((file for file in self.files if file.base_path == path), None)

    def about(self, finding: Finding) -> Iterator[Evidence]:
        """What is new in the ledger, is cited, and is about the finding's own lines."""
        for item in self.ledger.items:
            result = item.result
            here = result.line <= finding.line and max(result.end_line, result.line) >= finding.start_line
            if item.id in finding.evidence and item.id in self.results and result.path == finding.path and here:
                yield item


def place_of(known: Known, look: Look) -> Place | None:
    """Where a known finding stands; ``None`` where its line is gone, or nothing is changed there any more."""
    file = look.file(known.path)
    if file is not None and not known.text:
        return _told_by_tool(known, file, look)
    if file is None or file.head_path is None:
        return None
    if file.path not in look.texts:  # nobody read it: what cannot be looked up is not lost
        return Place(file.path, known.start_line, known.line, known.text)
    line = _line(known, file.path, look)
    start = max((line or 0) - (known.line - known.start_line), 1)
    if line is None or not seen.touches(file, start, line):
        return None
    return Place(file.path, start, line, look.texts[file.path][line - 1])


def _told_by_tool(known: Known, file: FileChange, look: Look) -> Place | None:
    """A finding about no line's text stands where its result does, or where there is no text still."""
    mine = marks(known)
    for item in look.ledger.items:
        if look.results.get(item.id) in mine and item.result.path == file.path:
            return Place(file.path, item.result.line, max(item.result.end_line, item.result.line), "")
    lines = look.lines.get(file.path, ())
    blank = not known.line or (known.line <= len(lines) and not lines[known.line - 1])
    return Place(file.path, known.start_line, known.line, "") if blank or known.grounds else None


def standing(look: Look) -> Mapping[str, tuple[str, int]]:
    """Where known findings stand for sure, by their ids: on a line that was seen, or that has beside it what was near it."""
    found = {}
    for known in look.history.findings:
        place = place_of(known, look) if known.text else None
        if place is not None and place.path in look.lines and _is_sure(known, place, look):
            found[known.id] = (place.path, place.line)
    return found


def _is_sure(known: Known, place: Place, look: Look) -> bool:
    is_near = _likeness(known, place.line, look.lines[place.path]) == identity.HALVES
    return is_near or not look.is_altered(place.path, place.line, place.line)


def _line(known: Known, path: str, look: Look) -> int | None:
    """The line with a known finding's text. Of equal ones that may be it, it is the one with most of what was near it beside it,
    rather one that was seen, then that of its occurrence, then the nearest; one that has nothing of that near only close by."""
    lines = look.lines[path]
    every = [number for number, text in enumerate(lines, 1) if text[:MOST_TEXT] == known.text]
    rated = {
        number: (_likeness(known, number, lines), not is_new)
        for number in every
        if (is_new := look.is_altered(path, number, number)) or _may_be(known, number, path=path, look=look)
    }
    if not rated:
        return None
    most = max(rated.values())
    best = [number for number, likeness in rated.items() if likeness == most]
    if len(best) == 1 and (most[0] or len(every) == 1):
        return best[0]
    if place := _of_occurrence(known, best, lines, name=look.names[path]):
        return place
    nearest = min(best, key=lambda line: abs(line - known.line))
    return nearest if most[0] or abs(nearest - known.line) <= identity.CLOSE else None


def _may_be(known: Known, line: int, *, path: str, look: Look) -> bool:
    """A line that was seen is that of the finding only where nothing directly beside it is another than it was, but for what
    changed since."""
    lines = look.lines[path]
    equal = identity.halves(known.near, identity.near(line, lines))
    beside = (line - 1, line + 1)
    return not known.near or all(
        same or not 0 < other <= len(lines) or not lines[other - 1] or look.is_altered(path, other, other)
        for same, other in zip(equal, beside, strict=True)
    )


def _of_occurrence(known: Known, found: Iterable[int], lines: Sequence[str], *, name: str) -> int | None:
    """The first of the lines ``found``, in order, whose place among equal ones is the finding's."""
    wanted, before = frozenset(found), Counter[str]()
    for line, text in enumerate(lines, 1):
        if line in wanted:
            place = identity.Anchor(name, text, before[text])
            if any(identity.fingerprint(place, nth) == known.fingerprint for nth in range(identity.MOST_ON_A_LINE)):
                return line
        before[text] += 1
    return None


def _likeness(known: Known, line: int, lines: Sequence[str]) -> int:
    return sum(identity.halves(known.near, identity.near(line, lines))) if known.near else 0


def result_stands(known: Known, look: Look) -> bool:
    """Something that the finding rests on is said still."""
    return bool(marks(known) & set(look.results.values()))


def result_gone(known: Known, look: Look) -> bool:
    """Nothing of what the finding rests on is said any more, by checks that ran to their end."""
    return bool(known.grounds) and not result_stands(known, look) and all(_ran(tool, look.ledger) for tool in _tools(known))


def is_unasked(known: Known, look: Look) -> bool:
    """What showed the finding was not run this time, or not to its end: that nothing is said of it says nothing."""
    tools = tuple(_tools(known))
    if tools:
        return not all(_ran(tool, look.ledger) for tool in tools)
    return known.is_proven and look.ledger.sandbox == "none"


def _ran(tool: str, ledger: Ledger) -> bool:
    """The tool said all that it has to say. A tool that has no check of its own name reads the change, as analysers do. Where
    nothing could be executed, no tool was asked with the project's own settings: what it does not say then says nothing."""
    named = [run for run in ledger.checks if run.name == tool]
    if named and ledger.sandbox == "none":
        return False
    own = named or [run for run in ledger.checks if run.name in (ANALYSERS, API)]
    return bool(own) and all(run.ran and not run.cut_short for run in own)


def _tools(known: Known) -> Iterator[str]:
    return (ground.rpartition(" ")[0] for ground in known.grounds)


def marks(known: Known) -> set[str]:
    """The marks of the results that a finding rests on."""
    return {ground.rpartition(" ")[2] for ground in known.grounds}
