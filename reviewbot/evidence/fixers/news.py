"""What ruff says of a file with fixes in it that it did not say before, and how it would mend that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from reviewbot.domain.change import Contents
from reviewbot.evidence.fixers import emptied, sources
from reviewbot.evidence.fixers.offer import Offer
from reviewbot.evidence.fixers.pairing import Report, Wanted, resolved
from reviewbot.evidence.fixers.sources import Inquiry
from reviewbot.evidence.fixers.splices import applied, together
from reviewbot.evidence.fixers.text import Text, Unplaced
from reviewbot.evidence.match import NOQA
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Job, Outcome, Splice

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class State:
    """Files as they would be, by path: those that differ from head. ``gone`` counts what is mended in them, by path and rule."""

    files: Files
    gone: Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class News:
    """What came new to a file, and is offered a fix: in bytes of the file as it would be, and in words."""

    splices: tuple[Splice, ...]
    told: str


@dataclass(frozen=True)
class Reporter:
    """Who asks ruff again. ``before`` is what it said of the head, of which ``heads`` are the files."""

    view: View
    options: CheckOptions
    heads: Mapping[str, Text]
    before: tuple[Report, ...]

    def news(
        self, states: Sequence[State]
    ) -> Generator[tuple[Job, ...], tuple[Outcome, ...], list[Mapping[str, tuple[News, ...]]]]:
        """What is new in each state, by path. All states are looked at side by side."""
        asked = [tuple(self._asked(state.files)) for state in states]
        outcomes = iter((yield tuple(job for inquiries in asked for inquiry in inquiries for job in inquiry.jobs)))
        told: list[Mapping[str, tuple[News, ...]]] = []
        for state, inquiries in zip(states, asked, strict=True):
            reports = []
            for inquiry in inquiries:
                mine = tuple(next(outcomes) for _ in inquiry.jobs)
                with suppress(Unreadable):  # who says nothing now says nothing new
                    reports.append(inquiry.report(mine))
            alike = len(reports) == len(self.before)
            told.append({path: tuple(self._new(path, state, reports)) for path in state.files} if alike else {})
        return told

    def _asked(self, made: Files) -> Iterator[Inquiry]:
        """The same runs as before, over these files alone. What else the change has must be there all the same: it says which
        imports are the project's own."""
        files = tuple(file for file in self.view.files if file.path in made)
        contents = {file.path: Contents(self.view.contents_of(file).base, made[file.path]) for file in files}
        others = {} if self.view.is_audit else {file.path: self.view.contents_of(file).head for file in self.view.python()}
        beside = tuple((path, data) for path, data in others.items() if data is not None and path not in made)
        for inquiry in sources.inquiries(_ANY, replace(self.view, files=files, contents=contents), self.options):
            jobs = (replace(job, overlay=(*job.overlay, *beside)) if job.tree else job for job in inquiry.jobs)
            yield replace(inquiry, jobs=tuple(jobs))

    def _new(self, path: str, state: State, reports: Iterable[Report]) -> Iterator[News]:
        text, head = Text(state.files[path]), self.heads[path]
        gone = Counter({rule: count for (name, rule), count in state.gone.items() if name == path})
        for before, now in zip(self.before, reports, strict=True):
            for offer in _unheard((before.about(path), head), (now.about(path), text), gone):
                if offer.changes and not _is_meant(path, _mark(offer, text)):
                    with suppress(Unplaced):
                        yield News(tuple(resolved(offer, now, {path: text})), offer.explanation)


def mended(data: bytes, news: Iterable[News]) -> tuple[bytes, tuple[str, ...]]:
    """The file with as much of it mended as goes together, and that in words."""
    taken: tuple[Splice, ...] = ()
    words: list[str] = []
    for one in news:
        more = together((*taken, *one.splices))
        if more is not None and emptied.sound(data, more) is not None:
            taken = more
            words.append(one.told)
    return applied(data, emptied.sound(data, taken) or ()), tuple(words)


_ANY = (Wanted("", "", 0, 0, "ruff", ""),)
"""No place: ruff is asked of all files."""


def _unheard(before: tuple[Sequence[Offer], Text], now: tuple[Sequence[Offer], Text], gone: Counter[str]) -> Iterator[Offer]:
    """Of rules of which more is said than before, without what is ``gone``: what was not said before of the same line."""
    known = Counter(_mark(offer, before[1]) for offer in before[0])
    left: list[Offer] = []
    for offer in now[0]:
        known[_mark(offer, now[1])] -= 1
        left += [offer] if known[_mark(offer, now[1])] < 0 else []
    more = Counter(offer.rule for offer in now[0])
    more.subtract(Counter(offer.rule for offer in before[0]) - gone)
    return (offer for offer in left if more[offer.rule] > 0)


def _mark(offer: Offer, text: Text) -> tuple[str, str]:
    """What it is about, wherever the line went."""
    lines = text.lines
    return offer.rule, lines[offer.line - 1].strip() if 0 < offer.line <= len(lines) else ""


def _is_meant(path: str, mark: tuple[str, str]) -> bool:
    """The project wants it so: it says so beside it, or it is a name that a package hands on."""
    rule, line = mark
    return bool(NOQA.search(line)) or (rule == "F401" and path.rpartition("/")[2].startswith("__init__."))
