"""Google's Gemini through its own SDK. The SDK builds and signs requests; answers are read here, from the body it got.

Its own reading would hide a truncated answer (``parsed`` is silently ``None``) and warn about every word it does not know.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

import httpx2
from google import genai
from google.genai import errors, types

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.gemini_dialect import completion, fault_of, schema_for
from reviewbot.ports import Account, Completion, Exchange, Fault, ModelCall, ProviderError, ToolSpec
from reviewbot.screen import strict_json

_T = TypeVar("_T")

BASE_URL = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"
LISTING_SECONDS = 30.0

#: Whom the call under way in this context tells that its answer begins.
_BEGUN: ContextVar[Callable[[], None] | None] = ContextVar("begun", default=None)


class Gemini:
    """A Gemini account, reached with a key; never Vertex, whatever the environment says."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._http = http.client(account)
        hooks = self._http.event_hooks
        hooks["response"].append(_tell_begun)
        self._http.event_hooks = hooks
        # Kept: once the last reference is gone the SDK closes what is still in use.
        self._sdk = genai.Client(
            vertexai=False,
            api_key=account.key or "none",
            http_options=types.HttpOptions(
                base_url=account.base_url or BASE_URL,
                api_version=API_VERSION,
                httpx_async_client=self._http,
                # Never used. The SDK's own would load certificates, which takes 20 ms, and follow redirects.
                httpx_client=httpx2.Client(transport=httpx2.MockTransport(_unused)),
            ),
        )
        self._schemaless: set[str] = set()

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        shaped = not call.tools and call.model not in self._schemaless
        try:
            return await self._generate(call, begun, shaped=shaped)
        except _NoSchema:
            # Refused before a token was computed; the prompt holds the schema, too.
            self._schemaless.add(call.model)
            return await self._generate(call, begun, shaped=False)

    async def models(self) -> tuple[str, ...]:
        async def listed() -> tuple[str, ...]:
            found = await self._sdk.aio.models.list(config={"page_size": 1000, "query_base": True})
            names = [(model.name or "").removeprefix("models/") async for model in found if _writes(model)]
            return tuple(sorted(names))

        return await self._within(LISTING_SECONDS, listed)

    async def close(self) -> None:
        await self._sdk.aio.aclose()
        await self._http.aclose()

    async def _generate(self, call: ModelCall, begun: Callable[[], None], *, shaped: bool) -> Completion:
        question, config = _question(call), _config(call, shaped=shaped)

        async def generated() -> types.GenerateContentResponse:
            marked = _BEGUN.set(begun)
            try:
                return await self._sdk.aio.models.generate_content(model=call.model, contents=question, config=config)
            finally:
                _BEGUN.reset(marked)

        answer = await self._within(call.timeout_seconds, generated, shaped=shaped)
        got = answer.sdk_http_response
        try:
            document = strict_json.loads((got.body if got else None) or "")
        except strict_json.InvalidJson as exc:
            raise ProviderError(Fault.UNREADABLE, f"{self._account.name}: this is not Gemini's answer: no JSON") from exc
        return completion(document, len(call.exchanges))

    async def _within(self, seconds: float, work: Callable[[], Awaitable[_T]], *, shaped: bool = False) -> _T:
        """What ``work`` gives. Raises ProviderError for whatever the SDK raises."""
        try:
            async with asyncio.timeout(seconds):
                return await work()
        except TimeoutError as exc:
            raise ProviderError(Fault.TIMEOUT, f"{self._account.name}: no answer within {seconds:g} s") from exc
        except errors.APIError as exc:
            # Not chained: its text is the whole body, and nobody knows what a server puts there.
            raise self._failure(exc, shaped=shaped) from None
        except httpx2.HTTPError as exc:
            raise http.transport_failure(exc, self._account) from exc
        except (ValueError, TypeError, AttributeError, RecursionError):
            # What the SDK raises over bodies that are not what it expects. Not chained: its words may quote them.
            raise ProviderError(Fault.UNREADABLE, f"{self._account.name}: the answer is not Gemini's") from None

    def _failure(self, exc: errors.APIError, *, shaped: bool) -> ProviderError:
        headers = getattr(exc.response, "headers", {})
        found = fault_of(exc.code, exc.details, after=http.retry_after(headers))
        said = http.one_line(f"{self._account.name} answered {exc.code}: {found.words}", self._account)
        if shaped and found.blames_schema:
            return _NoSchema(Fault.INVALID, said)
        return ProviderError(found.fault, said, retry_after=found.retry_after)


class _NoSchema(ProviderError):
    """This model does not take our schema."""


def _unused(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.UnsupportedProtocol("only the asynchronous client is used", request=request)


async def _tell_begun(response: httpx2.Response) -> None:
    begun = _BEGUN.get()
    if begun and response.is_success:
        begun()


def _writes(model: types.Model) -> bool:
    """It answers in words; embeddings and the like do not."""
    return model.supported_actions is None or "generateContent" in model.supported_actions


def _question(call: ModelCall) -> list[types.Content]:
    parts = [types.Part(text=text) for text in (call.prefix, call.suffix) if text]
    return [types.Content(role="user", parts=parts)]


def _config(call: ModelCall, *, shaped: bool) -> types.GenerateContentConfig:
    # Past the SDK's values: they would write signatures in another way, drop fields that are newer than they are, and name
    # the schema of a tool as only Google's own servers understand it.
    past: dict[str, Any] = {}
    if call.exchanges:
        past["contents"] = _conversation(call)
    if call.tools:
        past["tools"] = [{"functionDeclarations": [_declared(tool) for tool in call.tools]}]
    options = types.HttpOptions(timeout=max(1, int(call.timeout_seconds * 1000)), extra_body=past or None)
    config = types.GenerateContentConfig(
        system_instruction=call.system or None,
        max_output_tokens=call.max_output_tokens,
        http_options=options,
        should_return_http_response=True,
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    if not call.tools:
        config.response_mime_type = "application/json"
        config.response_json_schema = schema_for(call.schema) if shaped else None
    return config


def _declared(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": dict(tool.parameters)}


def _conversation(call: ModelCall) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": text} for text in (call.prefix, call.suffix) if text]}]
    for exchange in call.exchanges:
        turns += _turns(exchange)
    return turns


def _turns(exchange: Exchange) -> list[dict[str, Any]]:
    """The model's own turn, and what its wishes gave."""
    given: dict[str, Any] = json.loads(exchange.opaque) if exchange.opaque else {}
    own = given.get("content") or {
        "role": "model",
        "parts": [{"functionCall": {"name": made.name, "args": _arguments(made.arguments)}} for made in exchange.calls],
    }
    names = {made.id: made.name for made in exchange.calls}
    theirs = set(given.get("ids", ()))
    results = []
    for result in exchange.results:
        answered: dict[str, Any] = {
            "name": names.get(result.call_id, ""),
            "response": {"error" if result.is_error else "output": result.text},
        }
        if result.call_id in theirs:
            answered["id"] = result.call_id
        results.append({"functionResponse": answered})
    return [own, {"role": "user", "parts": results}]


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = strict_json.loads(text)
    except strict_json.InvalidJson:
        return {}
    return value if isinstance(value, dict) else {}
