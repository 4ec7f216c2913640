"""A provider: models behind a gateway of one's own that takes a question as JSON and answers with JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.vendors import Vendor
from reviewbot.ports import Account, Completion, Fault, ModelCall, ProviderError, Stop, Tokens, ToolCall


class Gateway:
    """``POST /answer``, with the key as a bearer token."""

    vendor = Vendor("gateway", "", "", key_names=("GATEWAY_API_KEY",), default_model="house-1", concurrency=4)

    def __init__(self, account: Account) -> None:
        self._account = account
        self._http = http.client(account)  # this origin only, no redirect, a bounded answer

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        answer = await self._send("POST", "/answer", _body(call), call.timeout_seconds)
        begun()
        tokens = Tokens(int(answer.get("input_tokens", 0)), output=int(answer.get("output_tokens", 0)))
        wishes = answer.get("tool_calls", [])
        if wishes:
            calls = tuple(ToolCall(wish["id"], wish["name"], json.dumps(wish["arguments"])) for wish in wishes)
            return Completion(Stop.TOOLS, tokens=tokens, tool_calls=calls)
        return Completion(Stop.END, str(answer["text"]), tokens)

    async def models(self) -> tuple[str, ...]:
        return tuple((await self._send("GET", "/models", None, 10.0))["models"])

    async def close(self) -> None:
        await self._http.aclose()

    async def _send(self, method: str, path: str, body: dict[str, Any] | None, seconds: float) -> dict[str, Any]:
        headers = {"authorization": "Bearer", "content-type": "application/json"}
        try:
            async with asyncio.timeout(seconds):
                async with self._http.stream(method, self._account.base_url + path, json=body, headers=headers) as response:
                    if not response.is_success:
                        fault = http.fault_of_status(response.status_code)
                        raise ProviderError(fault, f"{self._account.name} answered {response.status_code}")
                    return await http.document(response, self._account)
        except TimeoutError as exc:
            raise ProviderError(Fault.TIMEOUT, f"{self._account.name} did not answer within {seconds:g} s") from exc
        except http.TRANSPORT_ERRORS as exc:
            raise http.transport_failure(exc, self._account) from exc


def _body(call: ModelCall) -> dict[str, Any]:
    return {
        "model": call.model,
        "system": call.system,
        "question": call.prefix + call.suffix,
        "answer_schema": call.schema,
        "tools": [asdict(tool) for tool in call.tools],
        "looked_up": [asdict(exchange) for exchange in call.exchanges],
        "max_output_tokens": call.max_output_tokens,
    }
