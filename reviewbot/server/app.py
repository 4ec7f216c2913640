"""The REST API: a client orders jobs, watches them, and reads what is recorded."""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from typing import Any

import msgspec
from msgspec.structs import asdict
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.reports import FORMATS, render
from reviewbot.reports.words import Style
from reviewbot.server.jobs import Failure, Job, Jobs, Order
from reviewbot.state import State, read_review
from reviewbot.store.database import Store, open_store
from reviewbot.store.sessions import list_sessions, load_session
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Review
from reviewbot.version import __version__

MAX_BODY = 8_000_000  # bytes, of a patch above all
Handler = Callable[[Request], Awaitable[Response]]


class ApiError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status, self.failure = status, Failure(message, hint)


class Api:
    """What answers requests. `ledger` is its database, None for that of the state folder."""

    def __init__(self, jobs: Jobs, state: State, ledger: str, token: str) -> None:
        self._jobs, self._state, self._ledger, self._token = jobs, state, ledger, token

    async def order(self, request: Request) -> Response:
        if int(request.headers.get("content-length") or MAX_BODY + 1) > MAX_BODY:
            raise ApiError(413, f"the body has no length, or more than {MAX_BODY} bytes")
        try:
            order = msgspec.json.decode(await request.body(), type=Order)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise ApiError(422, f"the order cannot be read: {error}", "see /openapi.json") from None
        try:
            job = self._jobs.start(order)
        except UsageError as error:
            raise ApiError(429, str(error), error.hint or "") from None
        return _json(job, 202, {"location": f"/v1/jobs/{job.id}"})

    async def list_jobs(self, _: Request) -> Response:
        return _json([_summary(job) for job in self._jobs.list()])

    async def show_job(self, request: Request) -> Response:
        return _json(self._job(request))

    async def cancel_job(self, request: Request) -> Response:
        job = self._job(request)
        await self._jobs.cancel(job.id)
        return _json(_summary(job))

    async def watch_job(self, request: Request) -> Response:
        """A stream of server-sent events; with Last-Event-ID, those after it."""
        job, last = self._job(request), request.headers.get("last-event-id", "0")

        async def stream() -> AsyncIterator[str]:
            after = int(last) if last.isdecimal() else 0
            async for number, event in self._jobs.events(job, after):
                yield f"id: {number}\nevent: progress\ndata: {_text(event)}\n\n"
            yield f"event: end\ndata: {_text(_summary(job))}\n\n"

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
        def read(store: Store) -> list[dict[str, Any]]:
            return [_without_review(session) for session in list_sessions(store)]

        return _json(await self._read(read))

    async def show_session(self, request: Request) -> Response:
        """Agents, every question and answer, and what was tried, without secrets."""
        id = request.path_params["id"]
        record = await self._read(lambda store: load_session(store, id))
        if record is None:
            raise ApiError(404, "there is no such session", "see /v1/sessions")
        turns = []
        for turn in record.turns:
            texts = {name: redact(getattr(turn, name))[0] for name in ("request", "reply")}
            decoded = {name: json.loads(text) if text else None for name, text in texts.items()}
            turns.append({**asdict(turn), **decoded})
        review = read_review(record.session.review)
        more = {"agents": record.agents, "turns": turns, "trials": record.trials, "review": review}
        return _json({**_without_review(record.session), **more})

    async def show_schema(self, _: Request) -> Response:
        return _json(openapi())

    def answering(self, handler: Handler) -> Handler:
        """The handler for clients with the token, with errors as JSON."""

        async def answer(request: Request) -> Response:
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            try:
                if not hmac.compare_digest(given.encode(), self._token.encode()):
                    raise ApiError(401, "the token is missing or wrong", "Authorization: Bearer …")
                return await handler(request)
            except ApiError as error:
                return _json({"error": error.failure}, error.status)
            except ReviewbotError as error:
                return _json({"error": Failure(str(error), error.hint or "")}, 500)

        return answer

    def _job(self, request: Request) -> Job:
        job = self._jobs.find(request.path_params["id"])
        if job is None:
            raise ApiError(404, "there is no such job", "see /v1/jobs")
        return job

    async def _read(self, read: Callable[[Store], Any]) -> Any:
        def work() -> Any:
            with closing(open_store(self._ledger, self._state.folder)) as store:
                return read(store)

        return await run_in_threadpool(work)


# Method, path, handler, and what it answers.
ROUTES: tuple[tuple[str, str, Callable[[Api], Handler], str], ...] = (
    ("POST", "/v1/jobs", lambda api: api.order, "Order a review, a fix or a negotiation."),
    ("GET", "/v1/jobs", lambda api: api.list_jobs, "The newest jobs, without their results."),
    ("GET", "/v1/jobs/{id}", lambda api: api.show_job, "A job with its result or error."),
    ("DELETE", "/v1/jobs/{id}", lambda api: api.cancel_job, "Cancel a job."),
    ("GET", "/v1/jobs/{id}/events", lambda api: api.watch_job, "What happens, until it ends."),
    ("GET", "/v1/reviews", lambda api: api.list_reviews, "Past reviews, the newest first."),
    ("GET", "/v1/reviews/{id}", lambda api: api.show_review, "A past review; ?format=NAME."),
    ("GET", "/v1/sessions", lambda api: api.list_sessions, "Sessions of the ledger."),
    ("GET", "/v1/sessions/{id:int}", lambda api: api.show_session, "A session with its turns."),
    ("GET", "/openapi.json", lambda api: api.show_schema, "This description."),
)


def make_app(jobs: Jobs, state: State, ledger: str, token: str) -> Starlette:
    api = Api(jobs, state, ledger, token)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await jobs.cancel()

    routes = [
        Route(path, api.answering(handler_of(api)), methods=[method])
        for method, path, handler_of, _ in ROUTES
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def openapi() -> dict[str, Any]:
    """The description of the API, in OpenAPI 3.1."""
    (order, job, review), parts = msgspec.json.schema_components(
        (Order, Job, Review), ref_template="#/components/schemas/{name}"
    )
    bodies = {("POST", "/v1/jobs"): job, ("GET", "/v1/jobs/{id}"): job}
    bodies |= {("GET", "/v1/reviews/{id}"): review}
    paths: dict[str, dict[str, Any]] = {}
    for method, route, _, summary in ROUTES:
        path = route.replace(":int", "")
        status = "202" if method == "POST" else "200"
        kind = "text/event-stream" if path.endswith("/events") else "application/json"
        content = {kind: {"schema": bodies.get((method, path), {})}}
        operation: dict[str, Any] = {"summary": summary, "security": [{"token": []}]}
        operation["responses"] = {status: {"description": summary, "content": content}}
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


def _summary(job: Job) -> Mapping[str, Any]:
    return {**asdict(job), "result": None}


def _without_review(session: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(session).items() if name != "review"}


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    content = msgspec.json.encode(value)
    return Response(content, status, dict(headers or {}), media_type="application/json")
