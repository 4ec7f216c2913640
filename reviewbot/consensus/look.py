"""What a review looked at, and what of earlier findings still stands there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        mine = (file for file in self.altered if file.path == path)
        return any(not line or (hunk.new_start <= line and start < hunk.new_span.stop) for file in mine for hunk in file.hunks)

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


def _line(known: Known, path: str, look: Look) -> int | None:
    """The line with a known finding's text: the only one (or the only one among what was seen), else the one of its occurrence,
    else the nearest that is close by."""
    name, lines = look.names[path], look.lines[path]
    every = [number for number, text in enumerate(lines, 1) if text[:MOST_TEXT] == known.text]
    found = [number for number in every if not look.is_altered(path, number, number)] or every
    if len(found) < 2:
        return found[0] if found else None
    for line in found:
        place = identity.anchor(name, line, lines)
        if any(identity.fingerprint(place, nth) == known.fingerprint for nth in range(identity.MOST_ON_A_LINE)):
            return line
    nearest = min(found, key=lambda line: abs(line - known.line))
    return nearest if abs(nearest - known.line) <= identity.CLOSE else None


def result_stands(known: Known, look: Look) -> bool:
    """Something that the finding rests on is said still."""
    return bool(marks(known) & set(look.results.values()))


def result_gone(known: Known, look: Look) -> bool:
    """Nothing of what the finding rests on is said any more, by checks that ran to their end."""
    return bool(known.grounds) and not result_stands(known, look) and all(_ran(tool, look.ledger) for tool in _tools(known))


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
