"""One task for which models write: drafts, trials, what judges say, until one may be used or nothing is left to try.

The rule by which a candidate wins:

1. It passed its trial: nothing is worse, and no check says that it does not work.
2. All its judges accept it; or they differ, and the moderator finds that no ground of theirs holds. Where there is no moderator,
   or its answers decide nothing, it is suggested with the dissent, and so is what nobody was there to judge.
3. Of several, the one with the better score. The Optimizer may refine it. The refined one takes its place where it passes a trial
   that shows as much, and one judge, who wrote neither and sees both under letters, accepts it and scores it higher.
4. Without a check that shows that it works, it is suggested at best.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.debate.making import reply as answers
from reviewbot.debate.making.delta import Delta
from reviewbot.debate.making.jury import Jury, Ruling, Voices, dissent, grounds, ruling, score
from reviewbot.debate.making.outcome import UNKNOWN, Candidate, brief, proven, unmade
from reviewbot.debate.making.sheets import sheets
from reviewbot.debate.making.splices import Misfit, moved, spliced
from reviewbot.debate.making.staff import Staff
from reviewbot.debate.making.tree import Tree
from reviewbot.debate.making.written import Written, fitted
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.reply import Decision
from reviewbot.debate.rounds import Answers, Round, attempt, hold_whole
from reviewbot.domain.debate import Seat
from reviewbot.domain.repair import Edit, Repair, RepairOutcome, Tried
from reviewbot.ports import Ask, Attempted, Drafting, Proposal, Refinement, Shown, Task, Trial

Working = Generator[Round, Answers, Repair]
Trying = Generator[Round, Answers, Candidate]

NO_JUDGE = "nobody judged it"
DIFFER = "its judges differ"
SURPASSED = "another candidate was held to be better"
MOST_TOLD = 6_000
"""Characters of what is said of a candidate, kept for the record and for who writes the next one."""


@dataclass(frozen=True, slots=True)
class Room:
    """Where code is written: on which tree, by whom, with which papers. ``attempts`` for one task, ``seconds`` for an answer."""

    tree: Tree
    staff: Staff
    papers: Papers
    minutes: Minutes
    attempts: int
    seconds: float


@dataclass(slots=True)
class Work:
    """A task under way: what was tried, what is told to who writes next, why the last one did not do."""

    task: Task
    room: Room
    tries: list[Tried] = field(default_factory=list)
    told: list[Attempted] = field(default_factory=list)
    why: str = ""
    turn: int = 0

    def run(self, drafts: Sequence[Proposal], drafter: str) -> Working:
        """What becomes of it. ``drafts`` were written in the debate, by ``drafter``."""
        ready = []
        for draft in drafts:
            if (after := self._laid(draft)) is not None:
                ready += yield from self._admitted(Written(draft.explanation, self.room.tree.changes(after)), drafter, 0)
        if ready and (made := (yield from self._judged(ready))):
            return made
        writer = self.room.staff.writer(self.task.writer)
        assert writer is not None
        for number in range(1, self.room.attempts + 1):
            written = yield from self._written(writer)
            if written is None:
                break
            ready = yield from self._admitted(written, writer.name, number)
            if ready and (made := (yield from self._judged(ready))):
                return made
        outcome = RepairOutcome.FAILED if self.tries else RepairOutcome.SKIPPED
        return unmade(self.task, outcome, self.why, tries=tuple(self.tries))

    def _laid(self, draft: Proposal) -> Tree | None:
        """The tree with a draft of head's files in it, where the lines that it replaces are still there."""
        tree = self.room.tree
        paths = {splice.path: tree.content(splice.path) for splice in draft.splices}
        now = {path: content for path, content in paths.items() if content is not None}
        there = [
            moved(one, tree.head[one.path], now[one.path]) for one in draft.splices if one.path in now and one.path in tree.head
        ]
        kept = [splice for splice in there if splice is not None and splice.path in self.task.paths]
        try:
            after = tree.having(Edit(path, text) for path, text in spliced(now, kept).items())
        except Misfit:
            return None
        return after if len(kept) == len(draft.splices) and tree.changes(after) else None

    def _written(self, writer: Seat) -> Generator[Round, Answers, Written | None]:
        """What the writer makes of it; ``None`` where that is nothing, with the reason kept."""
        self.turn += 1
        tree, task = self._with_brought(self.room.tree), self.task
        question = Drafting(
            task,
            self.room.papers.about(task.packet, writer),
            sheets(task, tree, writer),
            self._workspace,
            tuple(self.told),
            tree.edits,
        )
        written = yield from self._asked(writer, question, tree)
        if written is None or not written.edits:
            said = self.room.minutes.trouble(writer) if written is None else written.explanation or "it gave no reason"
            self.why = self.why or f"{writer.name} wrote nothing: {said}"
            return None
        return written

    def _asked(self, seat: Seat, question: Drafting | Refinement, tree: Tree) -> Generator[Round, Answers, Written | None]:
        """Code that fits the tree."""
        ask = Ask(seat, question, subject=self.task.id, round=self.turn, timeout_seconds=self.room.seconds)
        held = yield from hold_whole(
            [ask],
            lambda _, said: fitted(answers.writing(said.text), said.written, tree=tree, task=self.task),
            self.room.minutes,
        )
        written = held.heard[0].value
        if not isinstance(written, Written):
            return None
        changed = ", ".join(edit.path for edit in written.edits) or "nothing"
        words = f"wrote {changed}: {written.explanation}".removesuffix(": ")
        self.room.minutes.say("make", words, who=seat.name, subject=self.task.id)
        return written

    def _admitted(self, written: Written, author: str, number: int) -> Generator[Round, Answers, list[Candidate]]:
        """The candidate, where it passes its trial. Else what was said of it is kept, and told to who writes next."""
        candidate = yield from self._tried(written, author, number)
        if candidate.may_be_judged:
            return [candidate]
        self._dismiss(candidate, candidate.trialled.told)
        return []

    def _tried(self, written: Written, author: str, number: int) -> Trying:
        """A candidate after its trial."""
        tree = self.room.tree
        after = tree.having(written.edits)
        trial = Trial(self.task.id, (self.task,), after.edits, tree.edits, author)
        trialled = yield from attempt(trial, self.room.minutes)
        if trialled.edits:
            after = Tree(tree.head).having(trialled.edits)
        delta = Delta.between(tree, after)
        return Candidate(author, number, written.explanation, after, delta, trialled, written.versions)

    def _judged(self, ready: Sequence[Candidate]) -> Generator[Round, Answers, Repair | None]:
        """The repair, where a candidate may be used."""
        jury = Jury(self.task, self.room.papers, self.room.minutes, self.room.seconds)
        judges = self.room.staff.judges(ready[0].author)
        self.turn += 1
        voices = yield from jury.appraise(ready, judges, turn=self.turn)
        best = max(range(len(ready)), key=lambda index: (_RANK[ruling(voices[index])], score(voices[index])))
        chosen, said = ready[best], voices[best]
        for index, other in enumerate(ready):
            if index != best:
                self._dismiss(other, _spoken(voices[index]) if ruling(voices[index]) is Ruling.REJECTED else SURPASSED)
        match ruling(said):
            case Ruling.ACCEPTED:
                best_of = yield from self._refined(chosen, said, jury)
                return self._made(best_of, against=dissent(said))
            case Ruling.UNJUDGED:
                return self._made(chosen, NO_JUDGE, against=None)
            case Ruling.DISPUTED:
                return (yield from self._settled(chosen, said, jury))
        self._dismiss(chosen, _spoken(said))
        return None

    def _settled(self, candidate: Candidate, voices: Voices, jury: Jury) -> Generator[Round, Answers, Repair | None]:
        """What the moderator makes of a candidate that its judges differ about."""
        moderator, decision = self.room.staff.moderator, Decision.UNDECIDED
        if moderator is not None:
            self.turn += 1
            decision = yield from jury.arbitrate(candidate, voices, moderator, turn=self.turn)
        if decision is Decision.UPHELD:
            self._dismiss(candidate, f"{_spoken(voices)}\nThe moderator found that this forbids it.")
            return None
        return self._made(candidate, DIFFER if decision is Decision.UNDECIDED else "", against=dissent(voices))

    def _refined(self, candidate: Candidate, voices: Voices, jury: Jury) -> Trying:
        """The candidate, or the Optimizer's version of it where that is better."""
        refiner = self.room.staff.refiner(candidate.author)
        judge = self._third(candidate.author, refiner.name) if refiner else None
        if refiner is None or judge is None:
            return candidate
        written = yield from self._refinement(candidate, voices, refiner)
        if written is None or not written.edits:
            return candidate
        whole = replace(written, edits=self.room.tree.changes(candidate.after.having(written.edits)))
        refined = yield from self._tried(whole, refiner.name, candidate.attempt)
        if not refined.may_be_judged or candidate.is_shown(self.task) > refined.is_shown(self.task):
            self.tries.append(refined.tried(_cut(refined.trialled.told)))
            return candidate
        self.turn += 1
        was, now = yield from jury.appraise((candidate, refined), (judge,), turn=self.turn)
        if ruling(now) is not Ruling.ACCEPTED or score(now) <= score(was):
            self.tries.append(refined.tried("it was not held to be better than what it refines"))
            return candidate
        self.tries.append(candidate.tried(f"what {refiner.name} made of it took its place"))
        return refined

    def _third(self, *writers: str) -> Seat | None:
        """A judge who wrote neither."""
        return next((seat for seat in self.room.staff.judges(writers[-1]) if seat.name not in writers), None)

    def _refinement(self, candidate: Candidate, voices: Voices, refiner: Seat) -> Generator[Round, Answers, Written | None]:
        self.turn += 1
        tree = self._with_brought(candidate.after)
        question = Refinement(
            self.task,
            self.room.papers.about(self.task.packet, refiner),
            sheets(self.task, tree, refiner),
            self._workspace,
            Shown("A", candidate.delta.text, candidate.trialled.told),
            grounds(voices),
            tree.edits,
        )
        return (yield from self._asked(refiner, question, tree))

    def _dismiss(self, candidate: Candidate, told: str) -> None:
        self.why = brief(told)
        self.tries.append(candidate.tried(_cut(told)))
        self.told.append(candidate.attempted(_cut(told)))

    def _made(self, candidate: Candidate, doubt: str = "", *, against: str | None) -> Repair:
        """The repair. One with a ``doubt``, or that nothing shows to work, is suggested at best."""
        task = self.task
        proof = proven(task, candidate.trialled)
        why = "; ".join(filter(None, (doubt, "" if proof else UNKNOWN)))
        return Repair(
            task.id,
            task.title,
            RepairOutcome.SUGGESTED if why else RepairOutcome.FIXED,
            task.goal,
            why=why,
            author=candidate.author,
            explanation=candidate.explanation,
            edits=self.room.tree.changes(candidate.after),
            patch=candidate.trialled.patch,
            proof=proof,
            tries=(*self.tries, candidate.tried()),
            dissent=against,
        )

    def _with_brought(self, tree: Tree) -> Tree:
        """A tree with the files that come along: every trial lays them in, and nobody's writing is counted for them."""
        return tree.having(self.task.brings)

    @property
    def _workspace(self) -> str:
        return f"{self.task.id}/{self.turn}"


_RANK = {Ruling.REJECTED: 0, Ruling.UNJUDGED: 1, Ruling.DISPUTED: 2, Ruling.ACCEPTED: 3}


def _spoken(voices: Voices) -> str:
    """What judges hold against a candidate, without their names."""
    said = grounds(voices)
    return "\n- ".join(("it passed its trial, and its judges do not accept it:", *said))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]} …"
