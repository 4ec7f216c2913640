"""Runs what stages plan: jobs in the sandbox and rounds of a debate. The only concurrent module.

Stages say *what*; here is decided *when*: side by side, and never beyond the deadline.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from reviewbot.debate.gist import gist
from reviewbot.domain.counted import counted
from reviewbot.ports import (
    Appraisal,
    Arbitration,
    Ask,
    Assignment,
    CheckDesign,
    Clock,
    Consultation,
    Diagnosis,
    Drafting,
    Ended,
    Experiment,
    FirstPass,
    Improvement,
    Job,
    Judgement,
    Observer,
    Outcome,
    Panel,
    Progress,
    Refinement,
    Reply,
    ReplyStatus,
    Sandbox,
    Synthesis,
    Trial,
    Trialled,
    Verification,
)

_End = TypeVar("_End")


HEARTBEAT_SECONDS = 0.2
"""A signal that arrives just before the main thread begins to wait is seen when it wakes: it must not sleep for long."""


NO_TIME = "no time was left for it"
TIME_UP = "the review's time was up before it answered"


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a monotonic clock after which nothing new is begun."""

    clock: Clock
    at: float

    def left(self) -> float:
        """Seconds until then, never negative."""
        return max(self.at - self.clock.seconds(), 0.0)


class Awaited(Exception):
    """No error: a round holds experiments that are run elsewhere. Its questions were asked; the debate goes on another time."""

    def __init__(self, experiments: tuple[Experiment, ...]) -> None:
        super().__init__(f"{len(experiments)} experiments of the round are run elsewhere")
        self.experiments = experiments


class Bench:
    """Where jobs of the sandbox are run: as many side by side as there are cores, one that asks for the machine alone."""

    def __init__(self, sandbox: Sandbox, *, deadline: Deadline, observer: Observer, cores: int) -> None:
        self._sandbox = sandbox
        self._deadline = deadline
        self._observer = observer
        self._cores = cores
        self._turn = threading.Condition()
        self._running = 0
        self._closed = False

    def close(self) -> None:
        """Begin nothing more: what waits for its place is refused."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()

    @property
    def is_closed(self) -> bool:
        """Jobs may have been refused: what they were to show is not known."""
        return self._closed

    def run(self, jobs: Iterable[Job]) -> tuple[Outcome, ...]:
        """Every job's outcome, in the order of the jobs. What is not begun by the deadline is refused.

        Jobs that want to be alone are run last, one after the other in their order: they measure."""
        listed = tuple(jobs)
        together = [index for index, job in enumerate(listed) if not job.alone]
        done = dict(zip(together, self._side_by_side([listed[index] for index in together]), strict=True))
        done |= {index: self._work(job) for index, job in enumerate(listed) if job.alone}
        return tuple(done[index] for index in range(len(listed)))

    def conduct(self, procedure: Generator[tuple[Job, ...], tuple[Outcome, ...], _End]) -> _End:
        """Run a procedure to its end: each time the jobs that it yields."""
        try:
            wanted = next(procedure)
            while True:
                wanted = procedure.send(self.run(wanted))
        except StopIteration as end:
            value: _End = end.value
            return value

    def _side_by_side(self, jobs: list[Job]) -> tuple[Outcome, ...]:
        pool = ThreadPoolExecutor(max_workers=self._cores, thread_name_prefix="sandbox")
        try:
            futures = [pool.submit(self._work, job) for job in jobs]
            while wait(futures, timeout=HEARTBEAT_SECONDS).not_done:
                pass
            return tuple(future.result() for future in futures)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, job: Job) -> Outcome:
        with self._place(self._cores if job.alone else 1):
            left = self._deadline.left()
            if self._closed:
                return Outcome(Ended.REFUSED, reason="the review was stopped")
            if not left:
                return Outcome(Ended.REFUSED, reason=NO_TIME)
            self._observer.saw(Progress("evidence", f"running {job.name}"))
            return self._sandbox.run(replace(job, timeout_seconds=min(job.timeout_seconds, left)))

    @contextmanager
    def _place(self, cores: int) -> Iterator[None]:
        """So many cores of the machine, whoever else runs jobs."""
        with self._turn:
            while not self._turn.wait_for(lambda: self._closed or self._running + cores <= self._cores, HEARTBEAT_SECONDS):
                pass
            self._running += cores
        try:
            yield
        finally:
            with self._turn:
                self._running -= cores
                self._turn.notify_all()


def _untried(_: Trial) -> Trialled:
    return Trialled(reason="nothing is tried here")


@dataclass(frozen=True, slots=True)
class Chore:
    """Work of the conversation's own that takes a while, to be done in a thread: what it returns is its answer."""

    what: str
    do: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Who answers a conversation's experiments and trials: with what they show, or ``None`` where that is awaited."""

    experiment: Callable[[Experiment], Verification | None]
    trial: Callable[[Trial], Trialled] = _untried


Step = Ask | Experiment | Trial | Chore
Steps = tuple[Step, ...]


def converse(
    conversation: Generator[Steps, Any, _End],
    panel: Panel,
    laboratory: Laboratory,
    *,
    deadline: Deadline,
    observer: Observer,
    stop: Callable[[], None] = lambda: None,
) -> _End:
    """Hold a conversation to its end: each round's questions side by side, and its experiments and trials beside them.

    Raises Awaited after a round with experiments of which nothing is known yet. ``stop`` is called at the end, before threads are
    waited for: who interrupts a review does not wait for jobs that have not begun."""
    return asyncio.run(_converse(conversation, panel, _Answering(panel, laboratory, deadline, observer).answer, stop=stop))


@dataclass(frozen=True, slots=True)
class _Answering:
    """Who is asked what: the panel, or the laboratory in a thread of its own."""

    panel: Panel
    laboratory: Laboratory
    deadline: Deadline
    observer: Observer

    async def answer(self, asked: Step) -> object:
        match asked:
            case Ask():
                return await self._reply(asked)
            case Experiment():
                return await self._verified(asked)
            case Trial():
                return await self._tried(asked)
            case Chore():
                self.observer.saw(Progress("make", asked.what))
                return await asyncio.to_thread(asked.do)

    async def _reply(self, asked: Ask) -> Reply:
        self.observer.saw(Progress("debate", _announcement(asked), {"event": "asked", **_fields(asked)}))
        reply = await _ask(self.panel, asked, self.deadline)
        told = gist(asked, reply.text) if reply.status is ReplyStatus.OK else {}
        fields = {"event": "answered", **_fields(asked), **_outcome(reply), **told}
        self.observer.saw(Progress("debate", _summary(asked, reply, told), fields))
        return reply

    async def _verified(self, asked: Experiment) -> Verification | None:
        fields = {"event": "tested", "subject": asked.subject}
        self.observer.saw(Progress("proof", f"{asked.subject}: running {asked.check.label}", fields))
        if not self.deadline.left():
            return Verification(asked.check, NO_TIME)
        return await asyncio.to_thread(self.laboratory.experiment, asked)

    async def _tried(self, asked: Trial) -> Trialled:
        self.observer.saw(Progress("make", f"{asked.subject}: trying what {asked.author or 'was accepted'} wrote"))
        return await asyncio.to_thread(self.laboratory.trial, asked) if self.deadline.left() else Trialled(reason=NO_TIME)


async def _converse(
    conversation: Generator[Steps, Any, _End],
    panel: Panel,
    answer: Callable[[Step], Awaitable[object]],
    *,
    stop: Callable[[], None],
) -> _End:
    try:
        wanted: Steps = next(conversation)
        while True:
            wanted = conversation.send(_whole(wanted, await asyncio.gather(*(answer(item) for item in wanted))))
    except StopIteration as end:
        value: _End = end.value
        return value
    finally:
        stop()
        await panel.close()


def _whole(wanted: Steps, answers: Iterable[object]) -> tuple[object, ...]:
    """The answers of a round. Raises Awaited where one is not there yet."""
    told = list(zip(wanted, answers, strict=True))
    if left := tuple(item for item, answer in told if answer is None and isinstance(item, Experiment)):
        raise Awaited(left)
    return tuple(answer for _, answer in told)


async def _ask(panel: Panel, ask: Ask, deadline: Deadline) -> Reply:
    """One answer. The panel keeps the time of the ask itself, once its turn has come; here ends what outlives the review, which
    is a cap as those on money and tokens are: the review says ``partial``."""
    seconds = deadline.left()
    if not seconds:
        return Reply(ReplyStatus.CAPPED, reason="no time was left to ask")
    try:
        async with asyncio.timeout(seconds):
            reply = await panel.ask(replace(ask, timeout_seconds=min(ask.timeout_seconds, seconds)))
    except TimeoutError:
        return Reply(ReplyStatus.CAPPED, reason=TIME_UP)
    if reply.status is ReplyStatus.TIMEOUT and seconds < ask.timeout_seconds:
        return replace(reply, status=ReplyStatus.CAPPED, reason=TIME_UP)
    return reply


_WHAT: Mapping[type, str] = {
    FirstPass: "reads {subject}",
    Assignment: "deals out portions to local models",
    Judgement: "judges {subject}",
    Consultation: "answers {subject}",
    Synthesis: "draws the answers together",
    CheckDesign: "writes a check of {subject}",
    Improvement: "writes a replacement for {subject}",
    Drafting: "writes code for {subject}",
    Appraisal: "judges what was written for {subject}",
    Refinement: "refines what was written for {subject}",
    Arbitration: "settles whether {subject} may be used",
    Diagnosis: "reads {subject}",
}


def _announcement(ask: Ask) -> str:
    what = _WHAT.get(type(ask.question), "argues {subject}, round {round}")
    return f"{ask.seat.name} {what.format(subject=ask.subject or 'the change', round=ask.round)}"


def _summary(ask: Ask, reply: Reply, told: Mapping[str, str | int | float]) -> str:
    """Who said what, in a line."""
    said = f"{reply.status.value}: {reply.reason}"
    if reply.status is ReplyStatus.OK:
        said = (
            counted(int(told["claims"]), "claim")
            if "claims" in told
            else str(told.get("stance", told.get("decision", "answered")))
        )
    return f"{ask.seat.name}{f' ({ask.subject})' if ask.subject else ''}: {said}"


def _fields(ask: Ask) -> dict[str, str | int | float]:
    return {
        "seat": ask.seat.name,
        "model": ask.seat.model,
        "phase": ask.phase,
        "subject": ask.subject,
        "round": ask.round,
        "attempt": ask.attempt,
    }


def _outcome(reply: Reply) -> dict[str, str | int | float]:
    usage = reply.usage
    return {
        "status": reply.status.value,
        "reason": reply.reason,
        "usd": usage.cost_usd,
        "seconds": usage.seconds,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "replayed": usage.replayed_calls,
        "calls": usage.calls,
    }
