"""What a push takes along: for each of its refs the commits that the remote does not have, as a change with two ends.

What the remote has is what git remembers of it (``refs/remotes/<name>/``), and what git says in a push about the refs that are
pushed. A change begins at the best commit that the new one shares with all of that: after a rebase, a merge or a forced push
neither what others pushed nor what was pushed before is looked at again. What one ref of a push brings counts as known for the
next: each commit is reviewed once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from reviewbot.adapters.git.ancestry import Ancestry
from reviewbot.adapters.git.place import EMPTY_TREES, Place
from reviewbot.errors import GitError, RevisionError
from reviewbot.events.pushed import Push, PushedRef, RefKind
from reviewbot.wiring.order import Order
from reviewbot.wiring.rooms import open_repository

REMOTES = "refs/remotes/"
SHORT = 10
"""Characters of a commit's id, for people."""

_DEEPEN = "the clone is shallow, and it cannot be seen where they begin; run `git fetch --unshallow`, or `git fetch --deepen=50`"


@dataclass(frozen=True, slots=True)
class Range:
    """The commits from ``base`` (of the whole history: the empty tree) to ``head``, both object ids, which ``names`` bring.
    ``words`` say where it begins; ``notes`` what is to be known of that."""

    names: tuple[str, ...]
    base: str
    head: str
    commits: int
    words: str
    notes: tuple[str, ...] = ()

    @property
    def has_base(self) -> bool:
        """It begins at a commit."""
        return self.base not in EMPTY_TREES.values()

    @property
    def subject(self) -> str:
        """For people: what is looked at."""
        commits = f"{self.commits} commit{'' if self.commits == 1 else 's'}"
        return f"{', '.join(self.names)} ({commits} {self.words})"


@dataclass(frozen=True, slots=True)
class Nothing:
    """A ref that brings nothing to look at, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Refs of which it cannot be told what they bring, why, and what to do."""

    names: tuple[str, ...]
    why: str

    @property
    def subject(self) -> str:
        """For people: what is not looked at."""
        return ", ".join(self.names)


Part = Range | Nothing | Unreadable


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A commit that is pushed, with the refs that become it, and what those were on the remote."""

    head: str
    refs: tuple[PushedRef, ...]
    olds: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(ref.name for ref in self.refs))


@dataclass(frozen=True, slots=True)
class _Remote:
    """What is known of a remote: the prefix of the refs that track it, these, and how people call it."""

    prefix: str
    tips: Mapping[str, str] = field(default_factory=dict)
    name: str = "the remote"


def outgoing(order: Order, push: Push) -> tuple[Part, ...]:
    """What is reviewed of a push, parents before their children, and what is not. Raises RepositoryError, GitError."""
    with _opened(order) as place:
        return _Outgoing(place, push).parts()


def by_hand(order: Order, push: Push) -> Push:
    """The push that ``git push`` would make of what is checked out: to where its branch goes, or else to the remote that was
    named. Raises RevisionError where there is no commit yet, RepositoryError, GitError."""
    with _opened(order) as place:
        history = Ancestry(place)
        branch, head = history.branch(), history.commit("HEAD")
        if head is None:
            raise RevisionError("there is no commit yet that could be pushed", hint="commit something first")
        upstream = history.upstream(branch) if branch else None
        if upstream is not None and push.remote in ("", upstream.remote):
            old = history.commit(upstream.tracking)
            return Push((PushedRef(branch or "HEAD", head, upstream.remote_ref, old),), upstream.remote, push.url)
        name, remote = branch or "HEAD", push.remote or next(iter(history.remotes()), "")
        return Push((PushedRef(name, head, name, None),), remote, push.url)


@contextmanager
def _opened(order: Order) -> Iterator[Place]:
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True))
        yield stack.enter_context(open_repository(order.directory, Path(scratch), order.environment)).place


class _Outgoing:
    """The parts of one push."""

    def __init__(self, place: Place, push: Push) -> None:
        self._place = place
        self._push = push
        self._history = Ancestry(place)
        self._remote = _remote(self._history, push)
        ends = [end for ref in push.refs if not ref.nothing for end in (ref.head, ref.old) if end is not None]
        self._commits = self._history.commits(ends)

    def parts(self) -> tuple[Part, ...]:
        """What is looked at comes last: so it is next to what is said of it."""
        arrivals, left_out = self._arrivals()
        known = {*self._remote.tips.values(), *(old for arrival in arrivals for old in arrival.olds)}
        news = self._news(arrivals, known)
        found: list[Part] = []
        for arrival in sorted(arrivals, key=lambda one: news.get(one.head, -1)):
            try:
                part = self._part(arrival, known, is_new=arrival.head in news)
            except GitError as error:
                found.append(Unreadable(arrival.names, str(error)))
                continue
            found += part
            known.add(arrival.head)
        return tuple(sorted((*left_out, *found), key=lambda part: not isinstance(part, Nothing)))

    def _arrivals(self) -> tuple[list[_Arrival], list[Part]]:
        """Every commit that is pushed once, and the refs that bring none."""
        heads: dict[str, list[PushedRef]] = {}
        left_out: list[Part] = []
        for ref in self._push.refs:
            if ref.head is None or ref.nothing:
                left_out.append(Nothing(ref.name, ref.nothing))
            elif (commit := self._commits.get(ref.head)) is None:
                left_out.append(self._no_commit(ref, ref.head))
            else:
                heads.setdefault(commit, []).append(ref)
        return [_Arrival(head, tuple(refs), self._olds(refs)) for head, refs in heads.items()], left_out

    def _no_commit(self, ref: PushedRef, name: str) -> Part:
        if self._history.exists(name):
            return Nothing(ref.name, "it names no commit")
        return Unreadable((ref.name,), f"{name[:SHORT]} is not here; look at the repository with `git fsck`")

    def _olds(self, refs: Iterable[PushedRef]) -> tuple[str, ...]:
        found = (self._commits.get(ref.old) for ref in refs if ref.old is not None)
        return tuple(dict.fromkeys(old for old in found if old is not None))

    def _news(self, arrivals: Iterable[_Arrival], known: Iterable[str]) -> Mapping[str, int]:
        """What nobody has yet. Where some history is missing, every ref is looked at for itself."""
        heads = [arrival.head for arrival in arrivals]
        if not heads:
            return {}
        try:
            return self._history.news(heads, known)
        except GitError:
            return dict.fromkeys(heads, 0)

    def _part(self, arrival: _Arrival, known: set[str], *, is_new: bool) -> list[Part]:
        if not is_new:
            return self._moved(arrival)
        bases = self._history.meeting(arrival.head, known)
        if bases:
            near = min((self._history.distance(base, arrival.head), base not in arrival.olds, base) for base in bases)
            return [self._range(arrival, near[2], near[0])]
        if self._place.shallow:
            return [Unreadable(arrival.names, f"of its commits {self._remote.name} has none that is known here: {_DEEPEN}")]
        commits = self._history.distance(None, arrival.head)
        words = f"from the first one on; what {self._remote.name} has is not known here"
        return [Range(arrival.names, self._place.empty_tree, arrival.head, commits, words, self._notes(arrival))]

    def _moved(self, arrival: _Arrival) -> list[Part]:
        """Refs that become a commit which the remote has: a branch there still gets what it had not."""
        branches = [ref for ref in arrival.refs if ref.kind is RefKind.BRANCH and ref.old is not None]
        moved = _Arrival(arrival.head, tuple(branches), self._olds(branches))
        bases = self._history.meeting(moved.head, moved.olds)
        has_more = bool(bases) and moved.head not in bases
        holder = self._history.holder(arrival.head, self._remote.prefix) if self._remote.tips else None
        why = f"its commits are there already{f', in {_shown(holder)}' if holder else ''}"
        nothing: list[Part] = [Nothing(name, why) for name in arrival.names if not (has_more and name in moved.names)]
        return [*nothing, self._range(moved, bases[0], self._history.distance(bases[0], moved.head))] if has_more else nothing

    def _range(self, arrival: _Arrival, base: str, commits: int) -> Range:
        words = f"since {self._place_of(base, arrival)}"
        return Range(arrival.names, base, arrival.head, commits, words, self._notes(arrival, base))

    def _notes(self, arrival: _Arrival, base: str = "") -> tuple[str, ...]:
        """What of the remote's side is not as one might think."""
        unknown = [ref for ref in arrival.refs if ref.old is not None and ref.old not in self._commits]
        notes = [
            f"what {ref.name} is at {self._remote.name} ({(ref.old or '')[:SHORT]}) was never fetched; `git fetch` brings it"
            for ref in unknown
        ]
        rewritten = [old for old in arrival.olds if base and old != base and not self._is_below(old, arrival.head)]
        notes += [f"{', '.join(arrival.names)} is rewritten: {old[:SHORT]} is no longer in it" for old in rewritten]
        return tuple(notes)

    def _is_below(self, old: str, head: str) -> bool:
        return self._history.meeting(head, (old,)) == (old,)

    def _place_of(self, commit: str, arrival: _Arrival) -> str:
        """A commit by the name of a ref that is there, best by that of the pushed one, else by one that has it."""
        short = commit[:SHORT]
        own = {f"{self._remote.prefix}{ref.name}" for ref in arrival.refs}
        if here := sorted((name not in own, name) for name, tip in self._remote.tips.items() if tip == commit):
            return f"{_shown(here[0][1])} {short}"
        holder = self._history.holder(commit, self._remote.prefix) if self._remote.tips else None
        return f"{short} of {_shown(holder)}" if holder else short


def _remote(history: Ancestry, push: Push) -> _Remote:
    """What is known of the remote by its name, by its address, or else by what other remotes have: a fork has most of that."""
    addresses = history.remotes()
    named = [push.remote] if push.remote in addresses else []
    named += [name for name, known in addresses.items() if {push.remote, push.url} & {*known} - {""}]
    for name in dict.fromkeys(named):
        if tips := history.tips(f"{REMOTES}{name}/"):
            return _Remote(f"{REMOTES}{name}/", tips, name)
    name = named[0] if named else "the remote"
    return _Remote(REMOTES, history.tips(REMOTES), name)


def _shown(ref: str) -> str:
    return ref.removeprefix(REMOTES)
