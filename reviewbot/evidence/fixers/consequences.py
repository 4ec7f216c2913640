"""What fixes bring about: ruff's own ``--fix`` goes over a file again and again, and so mends what its fixes leave behind.

``Optional[int]`` that becomes ``int | None`` may leave an import that nothing uses any more. Such a fix would be refused, for it
makes something worse. So every fix is looked at alone, and what it brings is mended with it. What only several bring together
is mended by another proposal of the last of them, for the case that all others are taken.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.evidence import shown
from reviewbot.evidence.fixers.news import Files, News, Reporter, State, mended
from reviewbot.evidence.fixers.pairing import Wanted
from reviewbot.evidence.fixers.splices import applied, between, by_path, together
from reviewbot.evidence.fixers.text import Text
from reviewbot.ports import Job, Outcome, Proposal, Splice

AUTHOR = "ruff"
MOST_LANES = 4
"""Fixes of one file that are looked at, each in a run of its own with fixes of other files [design]."""
MOST_TURNS = 3
"""How often what came new is mended: an unused import first, then the order of those that are left."""

Proposals = Mapping[str, tuple[Proposal, ...]]


Runs = tuple[Job, ...]
Gone = Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Course:
    """A fix under way: the files with it in them, what it mends, and what was added in words."""

    finding: str
    files: Files
    gone: Gone
    words: tuple[str, ...] = ()


def followed(made: Proposals, wanted: Iterable[Wanted], reporter: Reporter) -> Generator[Runs, tuple[Outcome, ...], Proposals]:
    """The proposals, those of ruff with what must follow from them. Others are left as they are."""
    firsts = {finding: one for finding, proposals in made.items() for one in proposals if one.author == AUTHOR}
    if not (firsts and reporter.before):
        return made
    gone: defaultdict[str, Gone] = defaultdict(Counter)
    for place in wanted:
        gone[place.finding][place.path, place.rule] += 1
    whole = _Whole.of(firsts, gone, reporter.heads)
    (news,) = yield from reporter.news([whole.state])
    stirred = frozenset(path for path, found in news.items() if found)
    if not stirred:
        return made
    alone = (
        _Course(finding, _files(one, reporter.heads), gone[finding])
        for finding, one in firsts.items()
        if any(splice.path in stirred for splice in one.splices)
    )
    for one in (yield from _mended(_lanes(alone), reporter)):
        if one.words:
            firsts[one.finding] = _proposal(firsts[one.finding], one, reporter.heads)
    whole = _Whole.of(firsts, gone, reporter.heads)
    (news,) = yield from reporter.news([whole.within(stirred)])
    seconds = {whole.last[path]: whole.second(path, found, firsts) for path, found in news.items() if found}
    return {finding: _replaced(proposals, firsts.get(finding), seconds.get(finding)) for finding, proposals in made.items()}


@dataclass(frozen=True)
class _Whole:
    """The files with as many of the proposals as go together: what was put into them, and whose was the last in each."""

    state: State
    taken: tuple[Splice, ...]
    last: Mapping[str, str]
    heads: Mapping[str, Text]

    @classmethod
    def of(cls, proposals: Mapping[str, Proposal], gone: Mapping[str, Gone], heads: Mapping[str, Text]) -> _Whole:
        """The first of those that are in each other's way is taken."""
        taken: tuple[Splice, ...] = ()
        last: dict[str, str] = {}
        mends: Gone = Counter()
        for finding, one in proposals.items():
            more = together((*taken, *one.splices))
            if more is not None:
                taken = more
                mends += gone[finding]
                last |= dict.fromkeys((splice.path for splice in one.splices), finding)
        files = {path: applied(heads[path].data, mine) for path, mine in by_path(taken)}
        return cls(State(files, mends), taken, last, heads)

    def within(self, paths: frozenset[str]) -> State:
        """Some of the files."""
        return State({path: data for path, data in self.state.files.items() if path in paths}, self.state.gone)

    def second(self, path: str, news: Iterable[News], firsts: Mapping[str, Proposal]) -> Proposal | None:
        """The last proposal for a file with what all of them together bring about; ``None`` where that is not to be had."""
        first, state = firsts[self.last[path]], self.state.files[path]
        after, words = mended(state, news)
        inside = [splice for splice in self.taken if splice.path == path]
        more = [_at_head(splice, inside) for splice in between(path, state, after)]
        found = together((*first.splices, *(one for one in more if one is not None)))
        return replace(first, splices=found, explanation=_told(first, words)) if found and more and None not in more else None


def _files(proposal: Proposal, heads: Mapping[str, Text]) -> Files:
    return {path: applied(heads[path].data, mine) for path, mine in by_path(proposal.splices)}


def _lanes(courses: Iterable[_Course]) -> list[list[_Course]]:
    """Courses side by side, no two of one file in one lane; what finds no lane is left out."""
    lanes: list[list[_Course]] = [[] for _ in range(MOST_LANES)]
    for one in courses:
        free = (lane for lane in lanes if not any(one.files.keys() & other.files.keys() for other in lane))
        next(free, []).append(one)
    return [lane for lane in lanes if lane]


def _mended(lanes: Sequence[list[_Course]], reporter: Reporter) -> Generator[tuple[Job, ...], tuple[Outcome, ...], list[_Course]]:
    """Every fix with what it brings mended, as far as that can be."""
    ended: dict[str, _Course] = {}
    lanes = list(lanes)
    for _ in range(MOST_TURNS):
        news = yield from reporter.news([_beside(lane) for lane in lanes])
        after = [[_further(one, told) for one in lane] for lane, told in zip(lanes, news, strict=True)]
        ended |= {one.finding: one for lane in after for one in lane}
        moved = [[one for one in lane if one not in old] for lane, old in zip(after, lanes, strict=True)]
        lanes = [lane for lane in moved if lane]
        if not lanes:
            break
    return list(ended.values())


def _beside(lane: Iterable[_Course]) -> State:
    """Fixes of different files, as one state of them."""
    files: dict[str, bytes] = {}
    gone: Gone = Counter()
    for one in lane:
        files |= one.files
        gone += one.gone
    return State(files, gone)


def _further(course: _Course, news: Mapping[str, tuple[News, ...]]) -> _Course:
    files, words = {}, [*course.words]
    for path, data in course.files.items():
        files[path], told = mended(data, news.get(path, ()))
        words += told
    return replace(course, files=files, words=tuple(words))


def _proposal(first: Proposal, course: _Course, heads: Mapping[str, Text]) -> Proposal:
    """The whole of a fix, line by line."""
    splices = (splice for path, data in course.files.items() for splice in between(path, heads[path].data, data))
    return replace(first, splices=tuple(splices), explanation=_told(first, course.words))


def _at_head(splice: Splice, inside: Iterable[Splice]) -> Splice | None:
    """A replacement in the file as it would be, as one of the head's; ``None`` where it is about what was put there."""
    shift = 0
    for one in sorted(inside, key=lambda one: (one.start, one.end)):
        start, end = one.start + shift, one.start + shift + len(one.text)
        if splice.end <= start:
            break
        if splice.start < end:
            return None
        shift += len(one.text) - (one.end - one.start)
    return replace(splice, start=splice.start - shift, end=splice.end - shift)


def _told(first: Proposal, words: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys((first.explanation, *map(shown.sentence, words))))


def _replaced(proposals: Iterable[Proposal], first: Proposal | None, second: Proposal | None) -> tuple[Proposal, ...]:
    every = (((first, second) if first and one.author == AUTHOR else (one,)) for one in proposals)
    return tuple(one for some in every for one in some if one is not None)
