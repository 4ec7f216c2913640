"""What clients of the server ask for: reviews, fixes and negotiations, one after another."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.events import Emit, Event
from reviewbot.fixing import fix, fix_report, pursue
from reviewbot.git.change import Change, Target
from reviewbot.git.diff import load_patch
from reviewbot.pipeline import review
from reviewbot.services import Host
from reviewbot.state import State
from reviewbot.talk.negotiation import negotiate
from reviewbot.tasks.task import TaskResult
from reviewbot.text.secrets import redact

MAX_WAITING, MAX_KEPT = 50, 200  # jobs
SECONDS_BETWEEN_LOOKS = 0.1
Revision = Annotated[str, Meta(description="a commit, A..B or A...B; empty: uncommitted work")]


class ReviewOrder(Struct, frozen=True, tag_field="kind", tag="review", forbid_unknown_fields=True):
    """Review a target, or a patch, of which nothing is executed."""

    target: Revision = ""
    patch: str = ""


class FixOrder(Struct, frozen=True, tag_field="kind", tag="fix", forbid_unknown_fields=True):
    """Draft and prove fixes: of a target's findings, of a report, or towards a goal."""

    target: Revision = ""
    findings: tuple[str, ...] = ()
    report: str = ""
    goal: Literal["refactor", "performance", "tests"] | None = None
    paths: tuple[str, ...] = ()


class NegotiateOrder(
    Struct, frozen=True, tag_field="kind", tag="negotiate", forbid_unknown_fields=True
):
    """Let the panel negotiate about a question and files."""

    question: Annotated[str, Meta(min_length=1)]
    paths: tuple[str, ...] = ()


Order: TypeAlias = ReviewOrder | FixOrder | NegotiateOrder


class Failure(Struct, frozen=True):
    message: str
    hint: str = ""


class Job(Struct, kw_only=True):
    """An order, and what became of it. `result` is a JSON document of the order's kind."""

    id: str
    order: Order
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    ordered: str  # ISO 8601
    result: Any = None
    error: Failure | None = None


class Jobs:
    """Keeps the newest jobs in memory. Reviews are kept in the state folder as well."""

    def __init__(
        self, open_host: Callable[[Emit], AbstractContextManager[Host]], state: State
    ) -> None:
        self._open_host, self._state = open_host, state
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._events: dict[str, list[Event]] = {}
        self._one = asyncio.Lock()  # tests of two jobs would disturb each other's times

    def list(self) -> list[Job]:
        return [*self._jobs.values()][::-1]

    def find(self, id: str) -> Job | None:
        return self._jobs.get(id)

    def start(self, order: Order) -> Job:
        """Raises UsageError if too many wait."""
        if sum(job.state == "waiting" for job in self._jobs.values()) >= MAX_WAITING:
            raise UsageError(f"{MAX_WAITING} jobs wait already", hint="ask again later")
        for id in [id for id in self._jobs if id not in self._tasks][: -MAX_KEPT or None]:
            del self._jobs[id], self._events[id]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        job = Job(id=token_hex(8), order=order, ordered=now)
        self._jobs[job.id], self._events[job.id] = job, []
        self._tasks[job.id] = asyncio.create_task(self._run(job))
        return job

    async def cancel(self, *ids: str) -> None:
        """End jobs, by default all. What was paid for them is recorded."""
        tasks = [self._tasks[id] for id in ids or self._tasks if id in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def events(self, job: Job, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """What happens in a job until it ends, numbered from 1; without the first `after`."""
        known = self._events[job.id]
        while True:
            has_ended = job.id not in self._tasks
            for number in range(after, len(known)):
                yield number + 1, known[number]
            after = max(after, len(known))
            if has_ended:
                return
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    async def _run(self, job: Job) -> None:
        try:
            async with self._one:
                job.state = "running"
                with self._open_host(self._events[job.id].append) as host:
                    job.result = await perform(job.order, host, self._state)
                job.state = "done"
        except ReviewbotError as error:
            job.state, job.error = "failed", Failure(str(error), error.hint or "")
        except asyncio.CancelledError:
            job.state = "cancelled"
        except Exception as error:  # the server goes on, and its log says where it happened
            job.state = "failed"
            job.error = Failure(f"this is a bug in reviewbot: {type(error).__name__}")
            sys.stderr.write(redact("".join(traceback.format_exception(error)))[0])
        finally:
            del self._tasks[job.id]


async def perform(order: Order, host: Host, state: State) -> Any:
    """The document that comes of an order. Raises ReviewbotError."""
    repository = host.repository
    assert repository
    if isinstance(order, NegotiateOrder):
        found = await negotiate(order.question, order.paths, host, lambda _: None)
        return msgspec.to_builtins(found)
    change: Change
    if isinstance(order, ReviewOrder) and order.patch:
        change, host = await load_patch(order.patch.encode()), replace(host, repository=None)
    else:
        revision = order.target
        target = Target(kind="revision", revision=revision) if revision else Target()
        change = await repository.load_change(target)
    if isinstance(order, ReviewOrder):
        result = await review(change, host)
        state.save(result)
        return msgspec.to_builtins(result)
    if order.report.strip():
        return {"fixes": [_fix(await fix_report(order.report, change, host))]}
    if order.goal:
        return {"fixes": [_fix(await pursue(order.goal, order.paths, change, host))]}
    result, fixes = await fix(change, host, order.findings)
    state.save(result)
    return {"review": msgspec.to_builtins(result), "fixes": [_fix(fixed) for fixed in fixes]}


def _fix(result: TaskResult) -> dict[str, Any]:
    """A fix as clients get it: with its diff, and without the content of files."""
    without = ("files", "evidence", "tree")
    shown = {n: getattr(result, n) for n in result.__struct_fields__ if n not in without}
    document: dict[str, Any] = msgspec.to_builtins(shown)
    return document
