"""Fakes at the ports: they answer from a list, return what was laid out, and remember."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from reviewbot.domain.debate import Seat, Table
from reviewbot.domain.review import Review
from reviewbot.ports import Ask, Ended, Job, Outcome, Progress, Reply, ReplyStatus, SessionState
from reviewbot.testing.made import a_seat


class ScriptedPanel:
    """Answers each ask with what ``script`` says for its seat: text (an ``ok`` reply), a Reply, or a function of the ask.

    A seat's answers are used up in order. Every ask is kept in ``asked``. A seat without an answer left replies FAILED."""

    def __init__(
        self,
        script: Mapping[str, Sequence[str | Reply | Callable[[Ask], str]]],
        seats: Iterable[Seat] | None = None,
        moderator: Seat | None = None,
    ) -> None:
        self.table = Table(tuple(seats) if seats is not None else tuple(a_seat(name) for name in script), moderator)
        self.closed = False
        self.asked: list[Ask] = []
        self._script = {name: list(answers) for name, answers in script.items()}

    async def ask(self, ask: Ask) -> Reply:
        """The next answer of the seat."""
        self.asked.append(ask)
        left = self._script.get(ask.seat.name, [])
        if not left:
            return Reply(ReplyStatus.FAILED, reason="the script has no answer left")
        answer = left.pop(0)
        if isinstance(answer, Reply):
            return answer
        return Reply(ReplyStatus.OK, answer if isinstance(answer, str) else answer(ask))

    async def close(self) -> None:
        """Remembered in ``closed``."""
        self.closed = True


class FakeSandbox:
    """Returns the outcome that is laid out for a job's name; every other job is missing. Jobs are kept in ``ran``."""

    def __init__(self, outcomes: Mapping[str, Outcome] | None = None, *, level: str = "bubblewrap") -> None:
        self.level = level
        self.notes: tuple[str, ...] = ()
        self.ran: list[Job] = []
        self._outcomes = dict(outcomes or {})

    def run(self, job: Job) -> Outcome:
        """The outcome laid out for ``job.name``."""
        self.ran.append(job)
        return self._outcomes.get(job.name, Outcome(Ended.MISSING, reason="nothing laid out"))


class FakeClock:
    """A clock that a test moves."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def seconds(self) -> float:
        """The moment that was set."""
        return self.now


class Watching:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.seen: list[Progress] = []

    def saw(self, progress: Progress) -> None:
        """Remember it."""
        self.seen.append(progress)


class MemorySession:
    """A session of the ledger that lives in ``kept``; ``review`` is what it was closed with."""

    def __init__(self, kept: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.kept = dict(kept or {})
        self.states: list[SessionState] = []
        self.review: Review | None = None

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """What was kept under ``name``."""
        return self.kept.get(name)

    def keep(self, name: str, document: Mapping[str, Any], state: SessionState | None = None) -> None:
        """Keep it."""
        self.kept[name] = document
        self.states += [state] if state else []

    def close(self, review: Review, state: SessionState) -> None:
        """The end."""
        self.review = review
        self.states.append(state)
