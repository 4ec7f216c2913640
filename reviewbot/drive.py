"""Runs what stages plan: jobs in the sandbox and rounds of a debate. The only concurrent module.

Stages say *what*; here is decided *when*: side by side, and never beyond the deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TypeVar

from reviewbot.debate.gist import gist
from reviewbot.debate.rounds import Answers, Round
from reviewbot.ports import (
    Ask,
    Assignment,
    Clock,
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
    Reply,
    ReplyStatus,
    Sandbox,
    Verification,
)

_End = TypeVar("_End")

WORKERS = 2
"""Jobs of the sandbox at a time. Tests are heavy; hosted runners have two to four cores."""


HEARTBEAT_SECONDS = 0.2
"""A signal that arrives just before the main thread begins to wait is seen when it wakes: it must not sleep for long."""


TIME_UP = "the review's time was up before it answered"


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a monotonic clock after which nothing new is begun."""

    clock: Clock
    at: float

    def left(self) -> float:
        """Seconds until then, never negative."""
        return max(self.at - self.clock.seconds(), 0.0)


def run_jobs(jobs: Iterable[Job], sandbox: Sandbox, *, deadline: Deadline, observer: Observer) -> tuple[Outcome, ...]:
    """Every job's outcome, in the order of the jobs. What is not begun by the deadline is refused."""

    def work(job: Job) -> Outcome:
        left = deadline.left()
        if not left:
            return Outcome(Ended.REFUSED, reason="no time was left for it")
        observer.saw(Progress("evidence", f"running {job.name}"))
        return sandbox.run(replace(job, timeout_seconds=min(job.timeout_seconds, left)))

    pool = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="sandbox")
    try:
        futures = [pool.submit(work, job) for job in jobs]
        while wait(futures, timeout=HEARTBEAT_SECONDS).not_done:
            pass
        return tuple(future.result() for future in futures)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def converse(
    conversation: Generator[Round, Answers, _End],
    panel: Panel,
    experiment: Callable[[Experiment], Verification],
    *,
    deadline: Deadline,
    observer: Observer,
) -> _End:
    """Hold a conversation to its end: each round's questions side by side, its experiments one after the other beside them."""
    return asyncio.run(_converse(conversation, panel, experiment, deadline=deadline, observer=observer))


async def _converse(
    conversation: Generator[Round, Answers, _End],
    panel: Panel,
    experiment: Callable[[Experiment], Verification],
    *,
    deadline: Deadline,
    observer: Observer,
) -> _End:
    bench = asyncio.Lock()

    async def carry_out(wanted: Experiment) -> Verification:
        async with bench:
            if not deadline.left():
                return Verification(wanted.check, "no time was left for it")
            return await asyncio.to_thread(experiment, wanted)

    async def answer(asked: Ask | Experiment) -> Reply | Verification:
        if isinstance(asked, Experiment):
            command = " ".join(asked.check.command)
            observer.saw(Progress("proof", f"{asked.subject}: running {command}", {"event": "tested", "subject": asked.subject}))
            return await carry_out(asked)
        observer.saw(Progress("debate", _announcement(asked), {"event": "asked", **_fields(asked)}))
        reply = await _ask(panel, asked, deadline)
        told = gist(asked, reply.text) if reply.status is ReplyStatus.OK else {}
        fields = {"event": "answered", **_fields(asked), **_outcome(reply), **told}
        observer.saw(Progress("debate", _summary(asked, reply, told), fields))
        return reply

    try:
        wanted: Round = next(conversation)
        while True:
            answers: Answers = tuple(await asyncio.gather(*(answer(item) for item in wanted)))
            wanted = conversation.send(answers)
    except StopIteration as end:
        value: _End = end.value
        return value
    finally:
        await panel.close()


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


def _announcement(ask: Ask) -> str:
    match ask.question:
        case FirstPass():
            what = f"reads {ask.subject or 'the change'}"
        case Assignment():
            what = "deals out portions to local models"
        case Judgement():
            what = f"judges {ask.subject}"
        case Improvement():
            what = f"writes a replacement for {ask.subject}"
        case _:
            what = f"argues {ask.subject}, round {ask.round}"
    return f"{ask.seat.name} {what}"


def _summary(ask: Ask, reply: Reply, told: Mapping[str, str | int | float]) -> str:
    """Who said what, in a line."""
    said = f"{reply.status.value}: {reply.reason}"
    if reply.status is ReplyStatus.OK:
        said = f"{told['claims']} claims" if "claims" in told else str(told.get("stance", told.get("decision", "answered")))
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
