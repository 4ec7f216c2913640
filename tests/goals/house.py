"""A house for goals: a real repository, a real sandbox, a panel that says what a test wants. No command line, no model server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reviewbot import pipeline
from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Seat, Table
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.repair import Repair, RepairOutcome
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.evidence.view import CheckOptions
from reviewbot.pipeline import goals
from reviewbot.pipeline.goals import Wanted
from reviewbot.ports import Appraisal, Arbitration, Ask, Diagnosis, Drafting, Refinement, Reply, ReplyStatus
from reviewbot.testing import MemorySession, Watching, a_seat
from reviewbot.wiring.order import SystemClock
from reviewbot.wiring.rooms import Exports, Rooms
from tests.repo import Repo

Files = Mapping[str, str]
Edits = Sequence[tuple[str, str, str]]
"""(path, find, replace) each; an empty find is for a new file."""

ROLES = ("tester", "critic", "reviewer", "proposer")


@dataclass
class Cast:
    """A panel whose writers write ``drafts`` one after the other, the last again and again; judges find everything acceptable
    unless ``verdict`` says otherwise. Every ask is kept."""

    drafts: Sequence[Edits] = ()
    hypotheses: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    verdict: Callable[[Ask], tuple[bool, str]] = lambda _: (True, "")
    roles: Sequence[str] = ROLES
    refined: Edits = ()
    asked: list[Ask] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.table = Table(tuple(a_seat(role) for role in self.roles))
        self._waiting = list(self.drafts)

    async def ask(self, ask: Ask) -> Reply:
        """What the seat says."""
        self.asked.append(ask)
        answer = self._answer(ask)
        return Reply(ReplyStatus.OK, json.dumps(answer)) if answer is not None else Reply(ReplyStatus.FAILED, reason="no answer")

    async def close(self) -> None:
        """Nothing is open."""

    def of(self, kind: type) -> list[Ask]:
        """What was asked of this kind."""
        return [ask for ask in self.asked if isinstance(ask.question, kind)]

    def _answer(self, ask: Ask) -> Any:
        match ask.question:
            case Diagnosis():
                found = self.hypotheses.get(ask.seat.role)
                return None if found is None else {"hypotheses": list(found)}
            case Drafting():
                return self._dealt()
            case Refinement():
                return written(self.refined)
            case Appraisal():
                return {"verdicts": [self._verdict(ask, one.letter) for one in ask.question.candidates]}
            case Arbitration():
                return {"arguments": [], "decision": "undecided"}
        return None

    def _dealt(self) -> Any:
        if not self._waiting:
            return written(())
        return written(self._waiting.pop(0) if len(self._waiting) > 1 else self._waiting[0])

    def _verdict(self, ask: Ask, letter: str) -> dict[str, Any]:
        fits, why = self.verdict(ask)
        points = [] if fits else [{"text": why, "critical": True, "cites": ["H1"]}]
        return {"letter": letter, "points": points, "acceptable": fits, "score": 8 if fits else 2}


def written(edits: Edits) -> dict[str, Any]:
    """Code as an answer holds it."""
    swaps = [{"path": path, "find": find, "replace": text} for path, find, text in edits]
    return {"explanation": "as the task says", "edits": swaps}


def hypothesis(path: str, line: int, source: str, **other: Any) -> dict[str, Any]:
    """A hypothesis with a written test."""
    check = {"kind": "test", "command": ["pytest"], "source": source, "subject": ""}
    told = {"title": "the last page is lost", "cause": "it rounds down", "symptom": "items are missing"}
    return {"path": path, "line": line, **told, "check": check, **other}


@dataclass(frozen=True)
class House:
    """A repository with one commit for each of the versions, and what is needed to pursue a goal at the last."""

    repo: Repo
    folder: Path
    session: MemorySession = field(default_factory=MemorySession)
    watching: Watching = field(default_factory=Watching)

    @classmethod
    def built(cls, folder: Path, *versions: Files) -> House:
        """The versions, committed one after the other."""
        repo = Repo(folder)
        for files in versions:
            for name in repo.git("ls-files", "-z").split("\0")[:-1]:
                repo.remove(name)
            for name, text in files.items():
                repo.write(name, text)
            repo.commit()
        return cls(repo, folder)

    def pursue(self, wanted: Wanted, cast: Cast, *, target: Target | None = None, level: str = "auto", **options: Any) -> Review:
        """Pursue it, with a real sandbox."""
        scratch = self.folder / f"scratch-{len(list(self.folder.iterdir()))}"
        scratch.mkdir()
        git = GitRepo.open(self.repo.path, scratch, environment=self.repo.environment)
        try:
            revisions = git.resolve(target or Target(TargetKind.COMMIT, head="HEAD"))
            return self._pursued(wanted, cast, git, revisions=revisions, scratch=scratch, level=level, **options)
        finally:
            git.close()

    def _pursued(
        self, wanted: Wanted, cast: Cast, git: GitRepo, *, revisions: Revisions, scratch: Path, level: str, **options: Any
    ) -> Review:
        exports, interpreters = Exports(git, scratch), sandbox.discover(git.toplevel)

        def chosen(ends: Revisions) -> sandbox.ClosableSandbox:
            return sandbox.choose(level, trees=exports.of(ends), toplevel=git.toplevel, interpreters=interpreters)

        room = chosen(revisions)
        rooms = Rooms(room, chosen, exports)
        repair = pipeline.RepairOptions(is_on=True, **options)
        plain = pipeline.Options(checks=CheckOptions(seconds=40.0), seconds=300.0, repair=repair)
        with closing(room), closing(ProcessWorker()) as worker:
            world = pipeline.World(
                git,
                git,
                room,
                cast,
                SystemClock(),
                self.watching,
                worker,
                search=git,
                session=self.session,
                trees=git,
                annex=rooms.annex,
            )
            request = ReviewRequest(Target(TargetKind.COMMIT, head="HEAD"))
            identity = pipeline.Identity("run-1")
            return goals.pursued(wanted, request, revisions, world=world, options=plain, identity=identity)


def only(review: Review) -> Repair:
    """The one repair."""
    (found,) = review.repairs
    return found


def outcomes(review: Review) -> list[tuple[str, RepairOutcome]]:
    """What became of each task."""
    return [(repair.id, repair.outcome) for repair in review.repairs]


def told(repair: Repair) -> str:
    """All that was said against its candidates."""
    return "\n".join((repair.why, *(one.reason for one in repair.tries)))


def of_models(seats: Iterable[str]) -> tuple[Seat, ...]:
    """Seats of one vendor."""
    return tuple(replace(a_seat(name), family="house") for name in seats)
