"""What tools offer, tried before any model is asked: all at once, and halved where that is refused, down to those at fault.

A trial says of a whole batch whether it does harm, and of every task in it whether it is done. So where a batch is harmless,
those that are not shown to be done leave it, without being halved out; where it is not, nobody knows whose fault that is, and a
task that is not done may be so because of another.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

from reviewbot.debate.making.delta import Delta
from reviewbot.debate.making.outcome import UNKNOWN, brief, proven
from reviewbot.debate.making.splices import Misfit, apart, clash, spliced
from reviewbot.debate.making.tree import Tree
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.rounds import Answers, Round, attempt
from reviewbot.domain.repair import Edit, Repair, RepairOutcome, Tried
from reviewbot.ports import Attempted, Proposal, Splice, Task, Trial, Trialled

MOST_TRIALS = 100
"""Of all offers together. One fault among a thousand is found in twenty; where there are more than some, most are at fault."""

NO_TRIAL_LEFT = f"it was not tried alone: after {MOST_TRIALS} trials of what tools offer no more are made"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a tool offers for a task."""

    task: Task
    proposal: Proposal

    @property
    def splices(self) -> tuple[Splice, ...]:
        """What it changes."""
        return self.proposal.splices


@dataclass(frozen=True, slots=True)
class Settled:
    """An offer, and the trial that decided about it. ``alone``: it was tried by itself."""

    offer: Offer
    trialled: Trialled
    alone: bool

    @property
    def told(self) -> str:
        """Why it may not be used: of a batch, what concerns this task."""
        red = self.trialled.red
        if self.alone or not self.trialled.harmless or red == (self.offer.task.id,):
            return self.trialled.told
        return f"the check of {self.offer.task.id} does not pass with it"

    def tried(self, reason: str = "") -> Tried:
        """For the record."""
        return Tried(self.offer.proposal.author, 0, self.trialled.patch if self.alone else b"", reason)


@dataclass(slots=True)
class Batch:
    """Offers under way. ``tree`` is what they are tried on, in the end with all that was ``taken``; ``loose`` made nothing worse,
    and nothing shows that they work; ``refused`` and ``why`` say of the others, by their task, what was tried and what became of
    it."""

    tree: Tree
    minutes: Minutes
    unproven: bool = False
    trials: int = 0
    taken: list[Settled] = field(default_factory=list)
    loose: list[Settled] = field(default_factory=list)
    refused: dict[str, list[Settled]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def run(self, offers: Iterable[Offer]) -> Generator[Round, Answers, None]:
        """Try them: the first of every task, and the next where that one did not do. Those in each other's way take turns."""
        queues: dict[str, list[Offer]] = {}
        for offer in offers:
            if self._fits(offer):
                queues.setdefault(offer.task.id, []).append(offer)
        while heads := [queue[0] for queue in queues.values() if queue]:
            known = [splice for one in (*self.taken, *self.loose) for splice in one.offer.splices]
            chosen = [heads[index] for index in apart([head.splices for head in heads], known)]
            for head in () if chosen else heads:
                self.why[head.task.id] = self._in_the_way(head)
            yield from self._settle(chosen)
            done = {one.offer.task.id for one in (*self.taken, *self.loose)}
            for head in chosen or heads:
                queues[head.task.id] = [] if head.task.id in done else queues[head.task.id][1:]

    def repairs(self, tasks: Sequence[Task]) -> list[Repair]:
        """What was taken, each on top of those before it, and what is only suggested, each on top of all that was taken.

        The last that touches a file leaves it as it was tried. ``patch`` is empty: git's own is made by who has the trees."""
        order = {task.id: index for index, task in enumerate(tasks)}
        taken = sorted(self.taken, key=lambda one: order[one.offer.task.id])
        found, now = [], Tree(self.tree.head)
        for index, one in enumerate(taken):
            later = {splice.path for other in taken[index + 1 :] for splice in other.offer.splices}
            after = now.having(self._edits(taken[: index + 1], one.offer, later))
            found.append(self._repair(one, now, after))
            now = after
        for one in sorted(self.loose, key=lambda one: order[one.offer.task.id]):
            after = self.tree.having(self._edits([*taken, one], one.offer, {splice.path for splice in one.offer.splices}))
            found.append(self._repair(one, self.tree, after))
        return found

    def tried(self, task: Task) -> tuple[Tried, ...]:
        """What was refused for a task, for the record."""
        return tuple(one.tried(one.told) for one in self.refused.get(task.id, ()))

    def attempted(self, task: Task) -> tuple[Attempted, ...]:
        """The same for who writes the next candidate."""
        head = Tree(self.tree.head)
        return tuple(
            Attempted(Delta.between(head, head.having(_whole(head, one.offer.splices))).text, one.told)
            for one in self.refused.get(task.id, ())
        )

    def _fits(self, offer: Offer) -> bool:
        """It can be tried at all. Why not is kept."""
        paths = {splice.path for splice in offer.splices}
        if foreign := sorted(paths - offer.task.paths):
            problem = f"it would change {foreign[0]}, which may not be changed"
        else:
            try:
                changed = any(text != self.tree.head[path] for path, text in spliced(self.tree.head, offer.splices).items())
                problem = "" if changed else "it changes nothing"
            except Misfit as exc:
                problem = str(exc)
        if problem:
            self.why[offer.task.id] = f"what {offer.proposal.author} offers cannot be used: {problem}"
        return not problem

    def _settle(self, group: list[Offer], known: Trialled | None = None) -> Generator[Round, Answers, bool]:
        """Take all of the group, or find out whom not to take. ``known``: all of them do harm together, and that was seen."""
        if not group:
            return True
        told = known or (yield from self._trial(group))
        if told is None:
            self.why |= {offer.task.id: NO_TRIAL_LEFT for offer in group}
            return False
        if told.harmless:
            return (yield from self._without_undone(group, told))
        if len(group) == 1:
            self._refuse(group[0], told, alone=known is None)
            return False
        left, right = group[: len(group) // 2], group[len(group) // 2 :]
        is_whole = yield from self._settle(left)
        # With all of the left half taken, the right one on top of it is what was tried just now.
        yield from self._settle(right, told if is_whole else None)
        return False

    def _without_undone(self, group: list[Offer], told: Trialled) -> Generator[Round, Answers, bool]:
        """The group does no harm: who is not shown to be done leaves it, and the others are tried without."""
        red, unknown = set(told.red), set(told.unknown) - set(told.red)
        leaving = red if self.unproven else red | unknown
        staying = [offer for offer in group if offer.task.id not in leaving]
        alone = len(group) == 1
        if len(staying) == len(group):
            self.taken += [Settled(offer, told, alone) for offer in group]
            self.tree = Tree(self.tree.head).having(told.edits or self._all(group))
            return True
        for offer in group:
            if offer.task.id in red:
                self._refuse(offer, told, alone=alone)
            elif offer.task.id in leaving:
                self.loose.append(Settled(offer, told, alone))
        yield from self._settle(staying)
        return False

    def _refuse(self, offer: Offer, told: Trialled, *, alone: bool) -> None:
        refused = Settled(offer, told, alone)
        self.refused.setdefault(offer.task.id, []).append(refused)
        self.why[offer.task.id] = f"what {offer.proposal.author} offers does not do: {brief(refused.told)}"

    def _trial(self, group: list[Offer]) -> Generator[Round, Answers, Trialled | None]:
        """What comes of the group on top of what was taken; ``None`` where no trial is left."""
        if self.trials >= MOST_TRIALS:
            return None
        self.trials += 1
        authors = ", ".join(sorted({offer.proposal.author for offer in group}))
        subject = group[0].task.id if len(group) == 1 else f"{len(group)} fixes"
        tasks = tuple(offer.task for offer in group)
        trial = Trial(subject, tasks, self._all(group), self.tree.edits, authors)
        return (yield from attempt(trial, self.minutes))

    def _all(self, group: Iterable[Offer]) -> tuple[Edit, ...]:
        """The files with everything that was taken, and the group."""
        splices = [splice for offer in (*(one.offer for one in self.taken), *group) for splice in offer.splices]
        return Tree(self.tree.head).having(_whole(self.tree, splices)).edits

    def _in_the_way(self, offer: Offer) -> str:
        others = (one.offer.task.id for one in (*self.taken, *self.loose) if _clash(one.offer, offer))
        told = f"what {offer.proposal.author} offers changes the same place as the fix of {next(others, 'another')}"
        return f"{told}: look again when that is written"

    def _twin(self, offer: Offer) -> str:
        """Whose fix holds the same splices: nothing is left to change."""
        others = (one.offer for one in self.taken if one.offer is not offer and set(one.offer.splices) & set(offer.splices))
        names = " and ".join(dict.fromkeys(other.task.id for other in others))
        return f"the fix of {names} mends it, too"

    def _edits(self, upto: list[Settled], offer: Offer, raw: set[str]) -> Iterable[Edit]:
        """The files that an offer touches, with all of ``upto``; those that nobody touches later as they were tried."""
        paths = {splice.path for splice in offer.splices}
        made = spliced(self.tree.head, [s for one in upto for s in one.offer.splices if s.path in paths])
        return [Edit(path, text if path in raw else self.tree.content(path)) for path, text in made.items()]

    def _repair(self, one: Settled, before: Tree, after: Tree) -> Repair:
        task, proposal = one.offer.task, one.offer.proposal
        proof = proven(task, one.trialled)
        edits = before.changes(after)
        return Repair(
            task.id,
            task.title,
            RepairOutcome.FIXED if proof else RepairOutcome.SUGGESTED,
            task.goal,
            why=("" if proof else UNKNOWN) if edits else self._twin(one.offer),
            author=proposal.author,
            explanation=proposal.explanation,
            edits=edits,
            proof=proof,
            tries=(*self.tried(task), one.tried()),
        )


def _whole(tree: Tree, splices: Iterable[Splice]) -> list[Edit]:
    return [Edit(path, text) for path, text in spliced(tree.head, splices).items()]


def _clash(one: Offer, other: Offer) -> bool:
    return any(clash(a, b) for a in one.splices for b in other.splices)
