"""Structure: files that may be written anew as long as nobody outside can tell: tests, public names, behaviour, complexity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.change import is_test_path
from reviewbot.domain.evidence import Category, Ledger
from reviewbot.domain.repair import Goal, Refusal
from reviewbot.errors import UsageError
from reviewbot.evidence import shown, surface
from reviewbot.evidence.analysers import complexity
from reviewbot.evidence.statements import parse
from reviewbot.pipeline.goals import judging
from reviewbot.pipeline.goals.ground import Ground, Prepared, Preparing, packet
from reviewbot.pipeline.goals.judging import Sides
from reviewbot.pipeline.trying import Candidate
from reviewbot.ports import Task, Trialled

MOST_WISH = 4_000
MOST_TOLD = 8
DEFAULT = "Make this code simpler to read and to change: without doubled logic, needless branches or misleading names."


@dataclass(frozen=True, slots=True)
class Tidying:
    """The goal, on its ground."""

    ground: Ground
    ledger: Ledger

    def prepared(self) -> Preparing:
        """One task: the files at and below the paths. Raises UsageError where there are none."""
        yield from ()
        named = self.ground.wanted.paths
        if not named:
            raise UsageError("nothing says what shall be written anew", hint="name a file or a folder")
        paths = frozenset(path for path in self.ground.code() if self.ground.meant(path))
        if not paths:
            hint = "name a file or folder of the repository as it is at the head of the change"
            raise UsageError(f"there is no program at or below {', '.join(named)} that may be changed", hint=hint)
        places = sorted(((path, 1) for path in paths), key=lambda place: (-self._weight(place[0]), place[0]))
        title = f"restructure {shown.sentence(', '.join(named), 120)}"
        first = places[0][0]
        place = (first, 1, max(self.ground.contents[first].count(b"\n"), 1))
        task = Task(
            "R1",
            Goal.REFACTOR,
            title,
            packet(place, title, category=Category.MAINTAINABILITY),
            wish=shown.excerpt(self.ground.wanted.words.strip() or DEFAULT, MOST_WISH),
            paths=paths,
            may_add=True,
            places=tuple(places),
        )
        return Prepared((task,), self.ground.papers(places, self.ledger), self.ground.contents)

    def refused(self, candidate: Candidate) -> tuple[Refusal, ...]:
        """What can be told from the text alone: other files, public names, complexity."""
        found = judging.sides(candidate)
        strangers = [path for path in found.new if is_test_path(path) or not self.ground.meant(path)]
        if strangers:
            return judging.refused(
                "paths", strangers, f"only programs at or below {', '.join(self.ground.wanted.paths)} may change"
            )
        different = surface.compared(found.old, found.new).differences
        told = tuple(Refusal("api", "", f"the public names are not what they were: {one}") for one in different[:MOST_TOLD])
        return told or tuple(_grown(found))

    def judged(self, candidate: Candidate, made: Trialled, now: Ledger) -> Trialled:
        """Whether it does what it did."""
        kept = judging.kept(candidate)
        if kept.differs:
            return replace(made, worse=kept.differs)
        found = judging.sides(candidate)
        unread = surface.compared(found.old, found.new).unknown
        doubt = "" if kept.same else judging.silent(now)
        doubt = doubt or (f"the public names of {', '.join(unread)} could not be compared" if unread else "")
        words = f"the public names are the same, and {now.tests.passed} tests pass as before"
        made = replace(made, beside=(*kept.words, *made.beside))
        return judging.shown(made, candidate.trial.tasks, words, doubt=doubt)

    def _weight(self, path: str) -> int:
        """Decision points of a file: what is intricate comes first."""
        return sum(_branches(self.ground.contents.get(path)).values())


def _grown(found: Sides) -> Iterator[Refusal]:
    """Complexity must not be more than it was: in all, and in the worst function."""
    old, new = ([_branches(data) for data in side.values()] for side in (found.old, found.new))
    was, now = (sum(sum(one.values()) for one in side) for side in (old, new))
    worst_was, worst_now = (max((n for one in side for n in one.values()), default=0) for side in (old, new))
    if now > was:
        yield Refusal("complexity", "", f"it has {now} branches where there were {was}")
    if worst_now > worst_was:
        yield Refusal("complexity", "", f"a function has {worst_now} branches where none had more than {worst_was}")


def _branches(data: bytes | None) -> Mapping[str, int]:
    """How many branches each Python function has."""
    tree = parse(data)
    return {name: count - 1 for name, _, count in complexity.functions(tree)} if tree else {}
