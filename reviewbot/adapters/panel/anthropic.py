"""Claude, by Anthropic's own API and library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx2
from anthropic import APIError, APIStatusError, AsyncAnthropic, AsyncStream

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.anthropic_stream import BrokenMessage, Message
from reviewbot.adapters.panel.schema_dialects import plain
from reviewbot.ports import Account, Completion, Exchange, Fault, ModelCall, ProviderError
from reviewbot.screen import strict_json

_FAILURES: tuple[type[Exception], ...] = (APIError, *http.TRANSPORT_ERRORS)

BASE_URL = "https://api.anthropic.com"

#: ``error.type`` where the status says less, as in a stream that has begun with 200 (platform.claude.com/docs/en/api/errors).
_KINDS = {
    "overloaded_error": Fault.OVERLOADED,
    "rate_limit_error": Fault.RATE_LIMITED,
    "api_error": Fault.SERVER,
    "timeout_error": Fault.SERVER,
    "authentication_error": Fault.DENIED,
    "permission_error": Fault.DENIED,
    "billing_error": Fault.SPENT,
    "not_found_error": Fault.NO_MODEL,
    "request_too_large": Fault.TOO_LONG,
    "invalid_request_error": Fault.INVALID,
}
#: ``error.details.error_code`` of a limit on money: waiting does not help, and there is no ``retry-after``.
_SPENT_CODES = frozenset(
    {"enforced_spend_limit_reached", "contract_spend_limit_reached", "linked_organization_spend_limit_reached",
     "linked_organization_billing_unavailable"}
)  # fmt: skip
_SPENT_WORDS = ("credit balance", "usage limit", "spend limit")
_LONG_WORDS = ("prompt is too long", "too many tokens", "exceed context limit", "exceeds the maximum")
_EPHEMERAL = {"cache_control": {"type": "ephemeral"}}


class Anthropic:
    """Anthropic's Messages API. Raises ConfigError for an address or a key that cannot be used."""

    def __init__(self, account: Account) -> None:
        self._account = replace(account, base_url=account.base_url or BASE_URL)
        self._client = AsyncAnthropic(
            # Always given, so that the library looks for no key elsewhere (environment, profiles on disk).
            api_key=account.key or "none",
            base_url=self._account.base_url,
            max_retries=0,
            http_client=http.client(self._account),
            open_telemetry=False,
        )
        self._refused: dict[str, frozenset[str]] = {}

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        """See ports.Provider. An option that a model does not know costs one refused request, once for each model."""
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._asked(call, begun)
        except TimeoutError:
            failure = ProviderError(Fault.TIMEOUT, f"{self._account.name}: no whole answer in {call.timeout_seconds:g} s")
        except APIStatusError as exc:
            failure = _failure(exc, self._account)
        except _FAILURES as exc:
            failure = http.transport_failure(exc, self._account)
        # Raised out here to leave the library's exception behind: it holds the request with its key.
        raise failure

    async def models(self) -> tuple[str, ...]:
        """See ports.Provider."""
        try:
            async with self._client.models.with_streaming_response.list(limit=1000, timeout=http.timeouts(20)) as response:
                listed = (await http.document(response.http_response, self._account)).get("data")
        except APIStatusError as exc:
            failure = _failure(exc, self._account)
        except _FAILURES as exc:
            failure = http.transport_failure(exc, self._account)
        else:
            if isinstance(listed, list):
                return tuple(str(entry["id"]) for entry in listed if isinstance(entry, dict) and "id" in entry)
            failure = ProviderError(Fault.UNREADABLE, f"{self._account.name} lists no models as Anthropic does")
        raise failure

    async def close(self) -> None:
        """See ports.Provider."""
        await self._client.close()

    async def _asked(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        while True:
            refused = self._refused.get(call.model, frozenset())
            try:
                return await self._once(request(call, refused), call, begun)
            except APIStatusError as exc:
                option = _complaint(exc) - refused
                if not option:
                    raise
                self._refused[call.model] = refused | option

    async def _once(self, body: dict[str, Any], call: ModelCall, begun: Callable[[], None]) -> Completion:
        answer = self._client.messages.with_streaming_response.create(
            **body, stream=True, timeout=http.timeouts(call.timeout_seconds)
        )
        async with answer as response:
            return await self._read(response.http_response, begun)

    async def _read(self, response: httpx2.Response, begun: Callable[[], None]) -> Completion:
        """The whole stream, to the end of the connection's answer: a body that is cut after its last event was cut."""
        message, first = Message(), True
        try:
            async with aclosing(AsyncStream.raw_events(response)) as events:  # type: ignore[type-var]
                async for event in events:
                    if first:
                        begun()
                        first = False
                    if event.data:
                        self._take(message, strict_json.loads(event.data), response)
            return message.completion(response.headers.get("request-id", ""))
        except BrokenMessage as exc:
            fault, words = (Fault.UNREADABLE, "that is no message") if first else (Fault.NETWORK, str(exc))
        except ValueError as exc:
            fault, words = Fault.UNREADABLE, str(exc)
        kind = response.headers.get("content-type", "")
        raise ProviderError(fault, http.one_line(f"{self._account.name}: an answer ({kind}): {words}", self._account))

    def _take(self, message: Message, event: Any, response: httpx2.Response) -> None:
        if not isinstance(event, dict):
            raise BrokenMessage("an event that is no object")
        if event.get("type") == "error":
            fault, words = _judge(response.status_code, event)
            raise ProviderError(fault, http.one_line(f"{self._account.name}: {words}", self._account))
        message.take(event)


def request(call: ModelCall, refused: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The body of a call, without the options that the model refused (``effort``, ``format``)."""
    config: dict[str, Any] = {}
    if "format" not in refused:
        config["format"] = {"type": "json_schema", "schema": plain(call.schema)}
    if "effort" not in refused:
        config["effort"] = call.effort
    question: list[dict[str, Any]] = [{"type": "text", "text": call.prefix, **_EPHEMERAL}, {"type": "text", "text": call.suffix}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": [block for block in question if block["text"]]}]
    for exchange in call.exchanges:
        messages += _turns(exchange, last=exchange is call.exchanges[-1])
    body = {"model": call.model, "max_tokens": call.max_output_tokens, "messages": messages, **_tools(call)}
    if call.system:
        body["system"] = [{"type": "text", "text": call.system}]
    if config:
        body["output_config"] = config
    return body


def _turns(exchange: Exchange, *, last: bool) -> list[dict[str, Any]]:
    """What the model wished and what it got. The end of the last one is cached too: the next step of tool use reads it again."""
    return [
        {"role": "assistant", "content": _opaque(exchange) or [
            {"type": "tool_use", "id": used.id, "name": used.name, "input": _arguments(used.arguments)} for used in exchange.calls
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text, "is_error": result.is_error,
             **(_EPHEMERAL if last and result is exchange.results[-1] else {})}
            for result in exchange.results
        ]},
    ]  # fmt: skip


def _opaque(exchange: Exchange) -> list[Any]:
    """The model's own blocks, thinking and its signature among them; nothing where another vendor's model had this turn."""
    try:
        blocks = strict_json.loads(exchange.opaque)
    except strict_json.InvalidJson:
        return []
    ours = isinstance(blocks, list) and any(isinstance(block, dict) and block.get("type") == "tool_use" for block in blocks)
    return blocks if ours else []


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = strict_json.loads(text)
    except strict_json.InvalidJson:
        return {}
    return given if isinstance(given, dict) else {}


def _tools(call: ModelCall) -> dict[str, Any]:
    if call.tools:
        return {
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)} for tool in call.tools
            ]
        }
    used = dict.fromkeys(used.name for exchange in call.exchanges for used in exchange.calls)
    if not used:
        return {}
    # The API refuses a history of tool use without the tools; these may not be used again.
    tools = [{"name": name, "input_schema": {"type": "object", "properties": {}}} for name in used]
    return {"tools": tools, "tool_choice": {"type": "none"}}


def _complaint(exc: APIStatusError) -> frozenset[str]:
    """The option that a model does not know."""
    if exc.status_code != 400 or _judge(400, exc.body)[0] is not Fault.INVALID:
        return frozenset()
    words = str(exc.message).lower()
    if "effort" in words:
        return frozenset({"effort"})
    if any(word in words for word in ("output_config", "output format", "structured output", "json_schema", "schema")):
        return frozenset({"format"})
    return frozenset()


def _failure(exc: APIStatusError, account: Account) -> ProviderError:
    fault, words = _judge(exc.status_code, exc.body)
    wait = http.retry_after(exc.response.headers) if fault in (Fault.RATE_LIMITED, Fault.OVERLOADED, Fault.SERVER) else None
    return ProviderError(fault, http.one_line(f"{account.name}: {exc.status_code} {words}", account), retry_after=wait)


def _judge(status: int, body: object) -> tuple[Fault, str]:
    """What an error's status and body mean, and their words."""
    error = body.get("error") if isinstance(body, dict) else None
    found: Mapping[str, Any] = error if isinstance(error, dict) else {}
    details = found.get("details")
    code = str(details.get("error_code", "")) if isinstance(details, dict) else ""
    kind, message = str(found.get("type", "")), str(found.get("message", body if isinstance(body, str) else ""))
    lower = message.lower()
    fault = _KINDS.get(kind, http.fault_of_status(status) if status >= 400 else Fault.SERVER)
    if fault in (Fault.INVALID, Fault.RATE_LIMITED) and (code in _SPENT_CODES or any(word in lower for word in _SPENT_WORDS)):
        fault = Fault.SPENT
    elif fault is Fault.INVALID and any(word in lower for word in _LONG_WORDS):
        fault = Fault.TOO_LONG
    return fault, f"{kind}: {message}" if kind else http.spoken(message)
