"""The making cycle, in order: what tools offer, what models write for one task after the other, and all of it together."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from reviewbot.debate.making.batch import Batch, Offer
from reviewbot.debate.making.outcome import stands, taken_back, unmade
from reviewbot.debate.making.staff import Staff
from reviewbot.debate.making.tree import Tree
from reviewbot.debate.making.work import Room, Work
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.rounds import Answers, Round, attempt
from reviewbot.domain.debate import Seat, Transcript
from reviewbot.domain.repair import Repair, RepairOutcome
from reviewbot.ports import Task, Trial

DRAFT = "draft"
"""The author of a proposal that models wrote in the debate: it is tried and judged like what they write here, not as a tool's."""

MOST_DRAFTS = 2
"""Drafts of the debate that are tried for one task."""

MOST_NAMED = 3
NO_OFFER = "no tool offers a fix for it"
NO_MODEL = "no language model sits here that could write one"
NO_PAPERS = "nothing of the change can be shown to who would write it"
TAKEN_BACK = "taken back: with everything together, the check of {names} does not pass any more"


@dataclass(frozen=True, slots=True)
class MakeOptions:
    """How far it goes: ``attempts`` for each task for which models write, ``most`` such tasks, ``seconds`` for each answer."""

    attempts: int = 2
    most: int = 5
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Shop:
    """What code is made from. ``files`` are the head's, every one that may be read or changed; ``moderator`` settles what judges
    differ about. ``unproven``: an operator lets code be written that no check shows to work."""

    files: Mapping[str, bytes]
    papers: Papers
    moderator: Seat | None = None
    unproven: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """The transcript with what was said on the way, and what became of every task, once.

    Repairs that are made come first, in the order in which they are made: each stands on the head with all earlier ones that will
    be written (``outcome.stands``), and on no other. What tools made has no ``patch``: git's own is made by who has the trees."""

    transcript: Transcript
    repairs: tuple[Repair, ...]


Making = Generator[Round, Answers, Made]


def make(tasks: Sequence[Task], shop: Shop, transcript: Transcript, *, options: MakeOptions) -> Making:
    """Hold it. Nothing here waits or spends: who cannot answer any more has not written, or not judged."""
    minutes = Minutes.of(transcript)
    batch = Batch(Tree(shop.files), minutes, shop.unproven)
    yield from batch.run(Offer(task, one) for task in tasks for one in task.proposals if one.author != DRAFT)
    staff = Staff.of(minutes.seated, shop.moderator)
    course = _Course(tasks, shop, options, staff, minutes, batch)
    yield from course.written()
    yield from course.together()
    return Made(minutes.transcript(transcript.cases, transcript.criteria), course.repairs)


@dataclass(slots=True)
class _Course:
    """Models at work after the tools. ``made`` is what is there to use, with the tree that it leaves behind."""

    tasks: Sequence[Task]
    shop: Shop
    options: MakeOptions
    staff: Staff
    minutes: Minutes
    batch: Batch
    made: list[tuple[Repair, Tree]] = field(default_factory=list)
    unmade: dict[str, Repair] = field(default_factory=dict)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What became of every task."""
        return (*(repair for repair, _ in self.made), *(self.unmade[task.id] for task in self.tasks if task.id in self.unmade))

    def written(self) -> Generator[Round, Answers, None]:
        """What tools made is kept; for the first of the others models write, each on the tree with all before it."""
        self.made = [(repair, self.batch.tree) for repair in self.batch.repairs(self.tasks)]
        done = {repair.id for repair, _ in self.made}
        asked = 0
        for task in self.tasks:
            if task.id in done:
                continue
            if problem := self._nobody(asked):
                self.unmade[task.id] = self._left(task, problem)
            elif (yield from self._is_done(task)):
                self.unmade[task.id] = unmade(task, RepairOutcome.SKIPPED, f"mended by {self._earlier}")
            else:
                asked += 1
                yield from self._worked(task)

    def together(self) -> Generator[Round, Answers, None]:
        """Whether the checks of the first ones pass with the last one, too. Each was tried when the later ones were not there:
        where one does not pass any more, the last one is taken back."""
        while (last := self._last()) is not None:
            tasks = tuple(task for task in self.tasks if task.id in self._standing)
            told = yield from attempt(Trial(f"{len(tasks)} fixes together", tasks, self._tree.edits), self.minutes)
            if not told.red:
                return
            why = TAKEN_BACK.format(names=", ".join(told.red))
            for repair, _ in self.made[last:]:
                self.unmade[repair.id] = taken_back(repair, why)
            del self.made[last:]

    @property
    def _tree(self) -> Tree:
        return self.made[-1][1] if self.made else self.batch.tree

    def _is_done(self, task: Task) -> Generator[Round, Answers, bool]:
        """Whether what was made for others passes the task's check as well."""
        if task.check is None or not self._standing:
            return False
        edits = self._tree.edits
        told = yield from attempt(Trial(task.id, (task,), edits, edits), self.minutes)
        return told.passed

    @property
    def _standing(self) -> list[str]:
        """The tasks whose fixes the next one is made on."""
        return [repair.id for repair, _ in self.made if self._stands(repair)]

    @property
    def _earlier(self) -> str:
        """These in words."""
        names = self._standing
        return f"the fix of {' or '.join(names)}" if len(names) <= MOST_NAMED else f"one of the {len(names)} fixes before it"

    def _worked(self, task: Task) -> Generator[Round, Answers, None]:
        room = Room(self._tree, self.staff, self.shop.papers, self.minutes, self.options.attempts, self.options.seconds)
        batch = self.batch
        work = Work(task, room, list(batch.tried(task)), list(batch.attempted(task)), batch.why.get(task.id, ""))
        drafts = [one for one in task.proposals if one.author == DRAFT][:MOST_DRAFTS]
        repair = yield from work.run(drafts, self.staff.drafter)
        if not repair.is_made:
            self.unmade[task.id] = repair
            return
        self.made.append((repair, self._tree.having(repair.edits) if self._stands(repair) else self._tree))

    def _nobody(self, asked: int) -> str:
        """Why no model writes, empty where one does."""
        if self.staff.writer() is None:
            return NO_MODEL
        if asked >= self.options.most:
            return f"models write for {self.options.most} findings at most"
        return "" if self.shop.papers.dossiers else NO_PAPERS

    def _left(self, task: Task, problem: str) -> Repair:
        """A task for which nobody writes: what tools offer was all there is."""
        tries = self.batch.tried(task)
        said = self.batch.why.get(task.id, NO_OFFER)
        return unmade(task, RepairOutcome.FAILED if tries else RepairOutcome.SKIPPED, f"{said}, and {problem}", tries=tries)

    def _last(self) -> int | None:
        """The last one that stands, where a model wrote it and one before it has a check of its own."""
        by_tools = len(self.batch.taken) + len(self.batch.loose)
        standing = [index for index, (repair, _) in enumerate(self.made) if self._stands(repair)]
        checked = {task.id for task in self.tasks if task.check is not None}
        if not standing or standing[-1] < by_tools:
            return None
        return standing[-1] if any(self.made[index][0].id in checked for index in standing[:-1]) else None

    def _stands(self, repair: Repair) -> bool:
        return stands(repair, unproven=self.shop.unproven)
