"""Models on an Ollama server, through its own API: its compatible one has no ``num_ctx`` and no timings."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import httpx2

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.ollama_dialect import (
    FRAME_TOKENS,
    MOST_BYTES_PER_TOKEN,
    STEP,
    NoTools,
    an_object,
    check_whole,
    completion,
    read,
    refusal,
    request,
    size_of,
)
from reviewbot.adapters.panel.ollama_host import address
from reviewbot.domain.tokens import BYTES_PER_TOKEN
from reviewbot.ports import Account, Completion, Fault, ModelCall, ProviderError

LISTING_SECONDS = 10.0


class Ollama:
    """An Ollama server. It works on one answer at a time, so whoever calls keeps others waiting outside."""

    def __init__(self, account: Account) -> None:
        self._account = replace(account, base_url=address(account.base_url))
        self._http = http.client(self._account)
        self._contexts: dict[str, int] = {}
        self._without_tools: set[str] = set()
        self._served: set[tuple[str, str]] = set()

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        if call.model in self._without_tools:
            call = replace(call, tools=())
        try:
            return await self._chat(call, begun)
        except NoTools:
            # Answered before a single token was computed: asking again without costs nothing.
            self._without_tools.add(call.model)
            return await self._chat(replace(call, tools=()), begun)

    async def models(self) -> tuple[str, ...]:
        listed = (await self._send("GET", "/api/tags", None)).get("models")
        if not isinstance(listed, list):
            raise ProviderError(Fault.UNREADABLE, f"{self._account.base_url} lists no models as Ollama does")
        names = (item.get("name") for item in listed if isinstance(item, dict))
        return tuple(sorted(name for name in names if isinstance(name, str)))

    async def close(self) -> None:
        await self._http.aclose()

    async def _chat(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        context = self._context(call)
        body = request(call, context)
        answer = await self._send("POST", "/api/chat", body, call=call, begun=begun)
        served = (call.model, hashlib.sha256((call.system + call.prefix).encode("utf-8", "surrogatepass")).hexdigest())
        check_whole(answer, context, size_of(body), cached=served in self._served)
        self._served.add(served)
        return completion(answer, len(call.exchanges))

    def _context(self, call: ModelCall) -> int:
        """``num_ctx`` for this call: never less than the model has already been loaded with, and in few steps."""
        size = size_of(request(call, 0))
        window = call.context_window
        if window and size > window * MOST_BYTES_PER_TOKEN:
            raise ProviderError(Fault.TOO_LONG, f"{size} bytes of prompt are too long for a window of {window} tokens")
        known = self._contexts.get(call.model, 0)
        wanted = int(size / BYTES_PER_TOKEN) + FRAME_TOKENS + call.max_output_tokens
        if wanted > known:
            # An eighth more than wanted, so that the next, slightly longer prompt does not load the model again.
            known = -(-wanted * 9 // 8 // STEP) * STEP
        if window:
            known = min(known, window)
        self._contexts[call.model] = known
        return known

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        *,
        call: ModelCall | None = None,
        begun: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        seconds = call.timeout_seconds if call else LISTING_SECONDS
        headers = {"Content-Type": "application/json"}
        if self._account.key:
            headers["Authorization"] = f"Bearer {self._account.key}"
        # Half a surrogate pair (a file name that is no UTF-8) is no reason to fail.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") if body is not None else None
        url = self._account.base_url + path
        limits = http.timeouts(seconds)
        try:
            async with asyncio.timeout(seconds):
                async with self._http.stream(method, url, content=content, headers=headers, timeout=limits) as response:
                    if response.is_success:
                        begun()
                    raw = await response.aread()
        except TimeoutError as exc:
            raise ProviderError(Fault.TIMEOUT, f"Ollama did not answer within {seconds:g} s") from exc
        except httpx2.ConnectError as exc:
            said = f"no Ollama server answers at {self._account.base_url}: start it, or set OLLAMA_HOST"
            raise ProviderError(Fault.NETWORK, said) from exc
        except httpx2.HTTPError as exc:
            raise http.transport_failure(exc, self._account) from exc
        answer = an_object(read(raw, response.status_code))
        if response.is_success and "error" not in answer:
            return answer
        said = http.one_line(str(answer.get("error")), self._account)
        raise refusal(response.status_code, said, call.model if call else "", after=http.retry_after(response.headers))
