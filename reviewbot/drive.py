"""Runs what stages plan: jobs in the sandbox and rounds of a debate. The only concurrent module.

Stages say *what*; here is decided *when*: side by side, and never beyond the deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from reviewbot.debate.protocol import Answers, Conversation, Round
from reviewbot.domain.debate import Transcript
from reviewbot.ports import (
    Ask,
    Clock,
    Ended,
    Experiment,
    FirstPass,
    Job,
    Observer,
    Outcome,
    Panel,
    Progress,
    Reply,
    ReplyStatus,
    Sandbox,
    Verification,
)

WORKERS = 2
"""Jobs of the sandbox at a time. Tests are heavy; hosted runners have two to four cores."""


HEARTBEAT_SECONDS = 0.2
"""A signal that arrives just before the main thread begins to wait is seen when it wakes: it must not sleep for long."""


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
    conversation: Conversation,
    panel: Panel,
    experiment: Callable[[Experiment], Verification],
    *,
    deadline: Deadline,
    observer: Observer,
) -> Transcript:
    """Hold a debate to its end: each round's questions side by side, its experiments one after the other beside them."""
    return asyncio.run(_converse(conversation, panel, experiment, deadline=deadline, observer=observer))


async def _converse(
    conversation: Conversation,
    panel: Panel,
    experiment: Callable[[Experiment], Verification],
    *,
    deadline: Deadline,
    observer: Observer,
) -> Transcript:
    bench = asyncio.Lock()

    async def carry_out(wanted: Experiment) -> Verification:
        async with bench:
            if not deadline.left():
                return Verification(wanted.check, "no time was left for it")
            return await asyncio.to_thread(experiment, wanted)

    async def answer(asked: Ask | Experiment) -> Reply | Verification:
        if isinstance(asked, Experiment):
            observer.saw(Progress("proof", f"{asked.subject}: running {' '.join(asked.check.command)}"))
            return await carry_out(asked)
        observer.saw(Progress("debate", _announcement(asked)))
        return await _ask(panel, asked, deadline)

    try:
        wanted: Round = next(conversation)
        while True:
            answers: Answers = tuple(await asyncio.gather(*(answer(item) for item in wanted)))
            wanted = conversation.send(answers)
    except StopIteration as end:
        transcript: Transcript = end.value
        return transcript


async def _ask(panel: Panel, ask: Ask, deadline: Deadline) -> Reply:
    """One answer in its time. Who misses it abstains."""
    seconds = min(ask.timeout_seconds, deadline.left())
    if not seconds:
        return Reply(ReplyStatus.TIMEOUT, reason="no time was left to ask")
    try:
        async with asyncio.timeout(seconds):
            return await panel.ask(ask)
    except TimeoutError:
        return Reply(ReplyStatus.TIMEOUT, reason=f"no answer within {seconds:.0f} s")


def _announcement(ask: Ask) -> str:
    what = "reads the change" if isinstance(ask.question, FirstPass) else f"argues {ask.subject}, round {ask.round}"
    return f"{ask.seat.name} {what}"
