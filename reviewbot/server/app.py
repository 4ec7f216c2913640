"""The REST API: a client orders jobs, watches them, and reads what is recorded.

Jobs are reviews, fixes and negotiations, done one after another.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from uvicorn import Config, Server

from reviewbot.errors import ReviewbotError
from reviewbot.events import Emit, Event
from reviewbot.fixing import develop, fix, pursue
from reviewbot.git.diff import load_patch
from reviewbot.pipeline import review
from reviewbot.reports import FORMATS, render
from reviewbot.reports.words import Style, redacted
from reviewbot.services import Host
from reviewbot.state import State, read_review
from reviewbot.store.database import open_store
from reviewbot.store.sessions import list_sessions, load_session
from reviewbot.talk.negotiation import negotiate
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Review
from reviewbot.version import __version__

MAX_BODY = 8_000_000  # bytes, of a patch above all
MAX_WAITING, MAX_KEPT = 50, 100  # jobs
MAX_TEXT = 20_000  # characters of a question or answer in an event


class ReviewOrder(Struct, frozen=True, tag_field="kind", tag="review", forbid_unknown_fields=True):
    """Review a target (a commit, A..B, A...B or "", uncommitted work) or a patch, without tests."""

    target: str = ""
    patch: str = ""

    def __post_init__(self) -> None:
        if self.target and self.patch:
            raise ValueError("target and patch exclude each other")


class FixOrder(Struct, frozen=True, tag_field="kind", tag="fix", forbid_unknown_fields=True):
    """Draft and prove fixes: of a target's findings, of a report, or towards a goal.

    With the goal "repair", the report is the log of a run that failed.
    """

    target: str = ""
    findings: tuple[str, ...] = ()
    report: Annotated[str, Meta(pattern=r"^$|\S")] = ""
    goal: Literal["refactor", "performance", "tests", "repair"] | None = None
    paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        chosen = (self.findings, self.goal, self.report and self.goal != "repair")
        if sum(map(bool, chosen)) > 1 or (self.paths and self.goal in (None, "repair")):
            raise ValueError("findings, report and goal exclude each other; paths are for a goal")


class DevelopOrder(
    Struct, frozen=True, tag_field="kind", tag="develop", forbid_unknown_fields=True
):
    """Build what a specification asks for, in proven steps."""

    specification: Annotated[str, Meta(pattern=r"\S")]
    target: str = ""


class NegotiateOrder(
    Struct, frozen=True, tag_field="kind", tag="negotiate", forbid_unknown_fields=True
):
    """Let the panel negotiate about a question and files."""

    question: Annotated[str, Meta(pattern=r"\S")]
    paths: tuple[str, ...] = ()


Order: TypeAlias = ReviewOrder | FixOrder | DevelopOrder | NegotiateOrder


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


class ApiError(ReviewbotError):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class Jobs:
    """Keeps the newest jobs in memory. Reviews are kept in the state folder as well."""

    def __init__(
        self, open_host: Callable[[Emit], AbstractContextManager[Host]], state: State
    ) -> None:
        self._open_host, self._state = open_host, state
        self.by_id: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._events: dict[str, list[Event]] = {}
        self._one = asyncio.Lock()  # tests of two jobs would disturb each other's times

    def start(self, order: Order) -> Job:
        """Raises ApiError if too many wait."""
        if sum(job.state == "waiting" for job in self.by_id.values()) >= MAX_WAITING:
            raise ApiError(429, f"{MAX_WAITING} jobs wait already", "ask again later")
        for id in [id for id in self.by_id if id not in self._tasks][: -MAX_KEPT or None]:
            del self.by_id[id], self._events[id]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        job = Job(id=token_hex(8), order=order, ordered=now)
        self.by_id[job.id], self._events[job.id] = job, []
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
            while after < len(known):
                after += 1
                yield after, known[after - 1]
            if has_ended:
                return
            await asyncio.sleep(0.1)

    def _add(self, id: str, event: Event) -> None:
        self._events[id].append(replace(event, text=redact(event.text)[0][:MAX_TEXT]))

    async def _run(self, job: Job) -> None:
        try:
            async with self._one:
                job.state = "running"
                with self._open_host(partial(self._add, job.id)) as host:
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
    """What comes of an order, as a value that msgspec can encode. Raises ReviewbotError."""
    if isinstance(order, NegotiateOrder):
        return await negotiate(order.question, order.paths, host, lambda _: None)
    if isinstance(order, ReviewOrder) and order.patch:
        change, host = await load_patch(order.patch.encode()), replace(host, repository=None)
    else:
        assert host.repository
        change = await host.repository.load_change(order.target)
    if isinstance(order, ReviewOrder):
        result = await review(change, host)
        state.save(result)
        return result
    found: dict[str, Any] = {}
    if isinstance(order, DevelopOrder):
        fixes = await develop(order.specification, change, host)
    elif order.goal or order.report:
        fixes = [await pursue(order.goal, order.paths, change, host, order.report)]
    else:
        found["review"], fixes = await fix(change, host, order.findings)
        state.save(found["review"])
    # Their diffs say what is in the files.
    return found | {"fixes": [_without(each, "files", "evidence", "tree") for each in fixes]}


class Api:
    """What answers requests.

    Args:
        ledger: the address of the database; empty for that of the state folder.
        project: whose sessions clients may read; empty for all.
    """

    def __init__(self, jobs: Jobs, state: State, ledger: str, project: str, token: str) -> None:
        self._jobs, self._state, self._token = jobs, state, token.encode()
        self._ledger, self._project = ledger, project

    async def order(self, request: Request) -> Response:
        if int(request.headers.get("content-length") or MAX_BODY + 1) > MAX_BODY:
            raise ApiError(413, f"the body has no length, or more than {MAX_BODY} bytes")
        try:
            order = msgspec.json.decode(await request.body(), type=Order)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ClientDisconnect) as error:
            raise ApiError(422, f"the order cannot be read: {error}", "see /openapi.json") from None
        return _json(self._jobs.start(order), 202)

    async def list_jobs(self, _: Request) -> Response:
        return _json([replace(job, result=None) for job in reversed(self._jobs.by_id.values())])

    async def show_job(self, request: Request) -> Response:
        return _json(self._job(request))

    async def cancel_job(self, request: Request) -> Response:
        job = self._job(request)
        await self._jobs.cancel(job.id)
        return _json(replace(job, result=None))

    async def watch_job(self, request: Request) -> Response:
        """A stream of server-sent events; with Last-Event-ID, those after it."""
        job, last = self._job(request), request.headers.get("last-event-id", "0")

        async def stream() -> AsyncIterator[bytes]:
            after = int(last) if last.isdecimal() and len(last) < 19 else 0
            async for number, event in self._jobs.events(job, after):
                yield b"id: %d\nevent: progress\ndata: " % number + _document(event) + b"\n\n"
            yield b"event: end\ndata: " + _document(replace(job, result=None)) + b"\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def list_reviews(self, _: Request) -> Response:
        found = [(id, self._state.load(id)) for id in self._state.ids()]
        names = ("target", "title", "verdict", "complete", "head_commit")
        return _json([{"id": id, **{n: getattr(r, n) for n in names}} for id, r in found if r])

    async def show_review(self, request: Request) -> Response:
        name, id = request.query_params.get("format", "json"), request.path_params["id"]
        if name not in FORMATS:
            raise ApiError(422, f"there is no format {name[:40]}", f"one of {', '.join(FORMATS)}")
        review = self._state.load(id) if id in self._state.ids() else None
        if review is None:
            raise ApiError(404, "there is no such review", "see /v1/reviews")
        kind = "application/json" if name in ("json", "sarif") else "text/plain; charset=utf-8"
        return Response(render(review, name, Style()), media_type=kind)

    async def list_sessions(self, _: Request) -> Response:
        sessions = await asyncio.to_thread(self._read, list_sessions, self._project)
        return _json([_without(session, "review") for session in sessions])

    async def show_session(self, request: Request) -> Response:
        """Agents, every question and answer, and what was tried."""
        id = request.path_params["id"]
        is_id = id.isdecimal() and len(id) < 19  # SQLite's integers have 64 bits
        record = await asyncio.to_thread(self._read, load_session, int(id)) if is_id else None
        if not record or self._project not in ("", record.session.subject.project):
            raise ApiError(404, "there is no such session", "see /v1/sessions")
        turns = []
        for turn in record.turns:
            decoded = {n: json.loads(getattr(turn, n) or "null") for n in ("request", "reply")}
            turns.append({**asdict(turn), **decoded})
        review = read_review(record.session.review)
        more = {"agents": record.agents, "turns": turns, "trials": record.trials, "review": review}
        # What a negotiation or a chat ended with.
        more["outcome"] = json.loads(record.session.review or "null") if review is None else None
        return _json({**_without(record.session, "review"), **more})

    async def show_schema(self, _: Request) -> Response:
        return _json(openapi())

    async def answer(self, handler: Handler, request: Request) -> Response:
        """What a handler says to clients with the token, or an error as JSON."""
        given = request.headers.get("authorization", "").encode()
        try:
            if given[:7].lower() != b"bearer " or not hmac.compare_digest(given[7:], self._token):
                raise ApiError(401, "the token is missing or wrong", "Authorization: Bearer …")
            return await handler(self, request)
        except ReviewbotError as error:
            failure = Failure(str(error), error.hint or "")
            return _json({"error": failure}, getattr(error, "status", 500))

    def _job(self, request: Request) -> Job:
        job = self._jobs.by_id.get(request.path_params["id"])
        if job is None:
            hint = f"a server keeps the newest {MAX_KEPT} that ended, until it ends: order it again"
            raise ApiError(404, "there is no such job any more, or never was", hint)
        return job

    def _read(self, read: Callable[..., Any], *arguments: object) -> Any:
        with closing(open_store(self._ledger, self._state.folder)) as store:
            return store.run(read, *arguments)


Handler = Callable[[Api, Request], Awaitable[Response]]
# Method, path, handler, and what it answers.
ROUTES: tuple[tuple[str, str, Handler, str], ...] = (
    ("POST", "/v1/jobs", Api.order, "Order a job."),
    ("GET", "/v1/jobs", Api.list_jobs, "The newest jobs, without their results."),
    ("GET", "/v1/jobs/{id}", Api.show_job, "A job with its result or error."),
    ("DELETE", "/v1/jobs/{id}", Api.cancel_job, "Cancel a job."),
    ("GET", "/v1/jobs/{id}/events", Api.watch_job, "What happens, until it ends."),
    ("GET", "/v1/reviews", Api.list_reviews, "Past reviews, the newest first."),
    ("GET", "/v1/reviews/{id}", Api.show_review, "A past review; ?format=NAME."),
    ("GET", "/v1/sessions", Api.list_sessions, "Sessions of the ledger."),
    ("GET", "/v1/sessions/{id}", Api.show_session, "A session with its turns."),
    ("GET", "/openapi.json", Api.show_schema, "This description."),
)


def make_server(api: Api, jobs: Jobs) -> Server:
    """Jobs end before connections, so that clients that watch one see its end."""
    routes = [
        Route(path, partial(api.answer, handler), methods=[method])
        for method, path, handler, _ in ROUTES
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse, Exception: refuse})

    class JobServer(Server):
        async def shutdown(self, sockets: Any = None) -> None:
            await jobs.cancel()
            await super().shutdown(sockets)

    config = Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=2)
    return JobServer(config)


async def refuse(_: Request, error: Exception) -> Response:
    """The answer to a path or a method that there is not, and where a handler breaks."""
    if isinstance(error, HTTPException):
        return _json({"error": Failure(error.detail, "see /openapi.json")}, error.status_code)
    return _json({"error": Failure(f"this is a bug in reviewbot: {type(error).__name__}")}, 500)


def openapi() -> dict[str, Any]:
    (order, job, review, failure), parts = msgspec.json.schema_components(
        (Order, Job, Review, Failure), ref_template="#/components/schemas/{name}"
    )
    failed = {"type": "object", "properties": {"error": failure}, "required": ["error"]}
    error = {"description": "An error.", "content": {"application/json": {"schema": failed}}}
    bodies = {"POST /v1/jobs": job, "GET /v1/jobs/{id}": job, "GET /v1/reviews/{id}": review}
    paths: dict[str, dict[str, Any]] = {}
    for method, path, _, summary in ROUTES:
        kind = "text/event-stream" if path.endswith("/events") else "application/json"
        content = {kind: {"schema": bodies.get(f"{method} {path}", {})}}
        operation: dict[str, Any] = {"summary": summary, "security": [{"token": []}]}
        described = {"description": summary, "content": content}
        operation["responses"] = {"202" if method == "POST" else "200": described, "default": error}
        if "{id}" in path:
            known = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            operation["parameters"] = [known]
        if method == "POST":
            body = {"application/json": {"schema": order}}
            operation["requestBody"] = {"required": True, "content": body}
        paths.setdefault(path, {})[method.lower()] = operation
    token = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "reviewbot", "version": __version__},
        "paths": paths,
        "components": {"schemas": parts, "securitySchemes": token},
    }


def _without(document: Struct, *names: str) -> dict[str, Any]:
    return {name: value for name, value in asdict(document).items() if name not in names}


def _json(value: Any, status: int = 200) -> Response:
    return Response(_document(value), status, media_type="application/json")


def _document(value: Any) -> bytes:
    """JSON without secrets."""
    return msgspec.json.encode(redacted(value))
