"""OpenAI, and every server that speaks its chat completions: vLLM, llama.cpp, LM Studio, OpenRouter, rented hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from openai import APIError, APIStatusError, AsyncOpenAI

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.openai_manners import Manners, first_manners, humbler, options
from reviewbot.adapters.panel.openai_words import completion, failure, judge
from reviewbot.adapters.panel.vendors import family
from reviewbot.ports import Account, Completion, Exchange, Fault, ModelCall, ProviderError
from reviewbot.screen import strict_json

BASE_URL = "https://api.openai.com/v1"
_FAILURES: tuple[type[Exception], ...] = (APIError, *http.TRANSPORT_ERRORS)


class OpenAI:
    """Chat completions at the account's address. Raises ConfigError for an address or a key that cannot be used."""

    def __init__(self, account: Account) -> None:
        self._account = replace(account, base_url=account.base_url or BASE_URL)
        self._client = open_client(self._account)
        self._is_openai = is_openai(self._account)
        self._is_openrouter = http.check_origin(self._account.base_url, account.allow_plain_http).host == "openrouter.ai"
        self._manners: dict[str, Manners] = {}

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        """See ports.Provider. A way of asking that a server refuses costs one refused request, once for each model."""
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._asked(call, begun)
        except TimeoutError:
            error = ProviderError(Fault.TIMEOUT, f"{self._account.name}: no whole answer in {call.timeout_seconds:g} s")
        except APIStatusError as exc:
            error = failure(exc.status_code, exc.body, exc.response.headers, account=self._account)
        except _FAILURES as exc:
            error = http.transport_failure(exc, self._account)
        # Raised out here to leave the library's exception behind: it holds the request with its key.
        raise error

    async def models(self) -> tuple[str, ...]:
        """See ports.Provider."""
        try:
            async with self._client.models.with_streaming_response.list(timeout=http.timeouts(20)) as response:
                listed = (await http.document(response.http_response, self._account)).get("data")
        except APIStatusError as exc:
            error = failure(exc.status_code, exc.body, exc.response.headers, account=self._account)
        except _FAILURES as exc:
            error = http.transport_failure(exc, self._account)
        else:
            if isinstance(listed, list):
                return tuple(str(entry["id"]) for entry in listed if isinstance(entry, dict) and "id" in entry)
            error = ProviderError(Fault.UNREADABLE, f"{self._account.name} lists no models as OpenAI does")
        raise error

    async def close(self) -> None:
        """See ports.Provider."""
        await self._client.close()

    async def _asked(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        manners = self._manners.get(call.model) or first_manners(call.model, is_openai=self._is_openai)
        while True:
            try:
                return await self._once(call, manners, begun)
            except APIStatusError as exc:
                fault, words = judge(exc.status_code, exc.body)
                milder = humbler(manners, exc.status_code, words) if fault in (Fault.INVALID, Fault.SERVER) else None
                if milder is None:
                    raise
                self._manners[call.model] = manners = milder

    async def _once(self, call: ModelCall, manners: Manners, begun: Callable[[], None]) -> Completion:
        body = {
            "model": call.model,
            "messages": messages(call, marked=self._is_openrouter and family(call.model) == "anthropic"),
            **options(call, manners),
        }
        if call.tools:
            body["tools"] = [
                {"type": "function",
                 "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}}
                for tool in call.tools
            ]  # fmt: skip
        # As they are: the library would walk through every schema again with each call, for 2 ms.
        schemas = {name: body.pop(name) for name in ("tools", "response_format") if name in body}
        timeout = http.timeouts(call.timeout_seconds)
        answer = self._client.chat.completions.with_streaming_response.create(**body, extra_body=schemas, timeout=timeout)
        async with answer as response:
            begun()
            found = await http.document(response.http_response, self._account)
        return completion(found, response.headers.get("x-request-id", ""), self._account)


def open_client(account: Account) -> AsyncOpenAI:
    """The library's client. What it takes from the environment does not leave, but for the names of an organization and a
    project, and these only to OpenAI."""
    made = AsyncOpenAI(api_key=account.key or "none", base_url=account.base_url, max_retries=0, http_client=http.client(account))
    if not is_openai(account):
        made.organization = made.project = None
    return made


def is_openai(account: Account) -> bool:
    """The account is at OpenAI itself, not at one of the many that speak its language."""
    return http.check_origin(account.base_url, account.allow_plain_http).host == "api.openai.com"


def messages(call: ModelCall, *, marked: bool = False) -> list[dict[str, Any]]:
    """The conversation. ``marked``: the prefix is a part of its own, with the mark for Anthropic's cache that OpenRouter hands
    on."""
    found: list[dict[str, Any]] = [{"role": "system", "content": call.system}] if call.system else []
    question: Any = call.prefix + call.suffix
    if marked and call.prefix and call.suffix:
        question = [
            {"type": "text", "text": call.prefix, "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": call.suffix},
        ]
    found.append({"role": "user", "content": question})
    for exchange in call.exchanges:
        found.append(_turn(exchange))
        found += [{"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in exchange.results]
    return found


def _turn(exchange: Exchange) -> dict[str, Any]:
    """The model's own turn; rebuilt where another vendor's model had it."""
    try:
        turn = strict_json.loads(exchange.opaque)
    except strict_json.InvalidJson:
        turn = None
    if isinstance(turn, dict) and turn.get("role") == "assistant":
        return turn
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": used.id, "type": "function", "function": {"name": used.name, "arguments": used.arguments}}
        for used in exchange.calls
    ]}  # fmt: skip
