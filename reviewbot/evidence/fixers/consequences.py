"""What fixes bring about: ruff's own ``--fix`` goes over a file again and again, and so mends what its fixes leave behind.

``Optional[int]`` that becomes ``int | None`` may leave an import that nothing uses any more. Such a fix would be refused, for it
makes something worse. So every fix is looked at alone, and what it brings is mended with it. What only several bring together
is mended by another proposal of the last of them, for the case that all others are taken.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.evidence import shown
from reviewbot.evidence.fixers.news import News, Reporter, State, mended
from reviewbot.evidence.fixers.splices import applied, between, by_path, together
from reviewbot.evidence.fixers.text import Text
from reviewbot.ports import Job, Outcome, Proposal, Splice

AUTHOR = "ruff"
MOST_LANES = 6
"""Fixes of one file that are looked at, each in a run of its own with fixes of other files [design]."""
MOST_TURNS = 3
"""How often what came new is mended: an unused import first, then the order of those that are left."""

Proposals = Mapping[str, tuple[Proposal, ...]]


@dataclass(frozen=True, slots=True)
class _Course:
    """A fix under way: the files with it in them, and what was added in words."""

    finding: str
    files: State
    words: tuple[str, ...] = ()


def followed(made: Proposals, reporter: Reporter) -> Generator[tuple[Job, ...], tuple[Outcome, ...], Proposals]:
    """The proposals, those of ruff with what must follow from them. Others are left as they are."""
    firsts = {finding: one for finding, proposals in made.items() for one in proposals if one.author == AUTHOR}
    if not (firsts and reporter.before):
        return made
    heads = reporter.heads
    (news,) = yield from reporter.news([_all(firsts.values(), heads)[0]])
    stirred = {path for path, found in news.items() if found}
    if not stirred:
        return made
    alone = [_Course(finding, _files(one, heads)) for finding, one in firsts.items() if stirred & {s.path for s in one.splices}]
    ended = yield from _mended(_lanes(alone), reporter)
    firsts |= {one.finding: _proposal(firsts[one.finding], one, heads) for one in ended if one.words}
    state, taken = _all(firsts.values(), heads)
    (news,) = yield from reporter.news([{path: state[path] for path in sorted(stirred) if path in state}])
    last = {splice.path: finding for finding, one in firsts.items() for splice in one.splices if set(one.splices) <= set(taken)}
    seconds = {
        last[path]: _second(firsts[last[path]], taken, found, path=path, data=heads[path].data)
        for path, found in news.items()
        if found and path in last
    }
    return {finding: _replaced(proposals, firsts.get(finding), seconds.get(finding)) for finding, proposals in made.items()}


def _all(proposals: Iterable[Proposal], heads: Mapping[str, Text]) -> tuple[State, tuple[Splice, ...]]:
    """The files with as many of the proposals as go together, and what was put into them."""
    taken: tuple[Splice, ...] = ()
    for one in proposals:
        taken = together((*taken, *one.splices)) or taken
    return {path: applied(heads[path].data, mine) for path, mine in by_path(taken)}, taken


def _files(proposal: Proposal, heads: Mapping[str, Text]) -> State:
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
    lanes = list(lanes)
    for _ in range(MOST_TURNS):
        news = yield from reporter.news([{path: data for one in lane for path, data in one.files.items()} for lane in lanes])
        after = [[_further(one, told) for one in lane] for lane, told in zip(lanes, news, strict=True)]
        if after == lanes:
            break
        lanes = after
    return [one for lane in lanes for one in lane]


def _further(course: _Course, news: Mapping[str, tuple[News, ...]]) -> _Course:
    files, words = {}, [*course.words]
    for path, data in course.files.items():
        files[path], told = mended(data, news.get(path, ()))
        words += told
    return _Course(course.finding, files, tuple(words))


def _proposal(first: Proposal, course: _Course, heads: Mapping[str, Text]) -> Proposal:
    """The whole of a fix, line by line."""
    splices = (splice for path, data in course.files.items() for splice in between(path, heads[path].data, data))
    return replace(first, splices=tuple(splices), explanation=_told(first, course.words))


def _second(first: Proposal, taken: Sequence[Splice], news: Iterable[News], *, path: str, data: bytes) -> Proposal | None:
    """The proposal with what it brings about together with all that is ``taken``."""
    inside = [splice for splice in taken if splice.path == path]
    state = applied(data, inside)
    after, words = mended(state, news)
    more = [_at_head(splice, inside) for splice in between(path, state, after)]
    if not more or None in more:
        return None
    found = together((*first.splices, *(one for one in more if one is not None)))
    return replace(first, splices=found, explanation=_told(first, words)) if found else None


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
