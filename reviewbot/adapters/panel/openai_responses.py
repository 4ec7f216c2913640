"""OpenAI's responses API, under the provider name ``openai-responses``: for models that are served only there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.openai import OpenAI
from reviewbot.adapters.panel.openai_manners import Manners, schema_name
from reviewbot.adapters.panel.openai_words import judge, tokens
from reviewbot.adapters.panel.schema_dialects import strict
from reviewbot.ports import Account, Completion, Exchange, Fault, ModelCall, ProviderError, Stop, ToolCall
from reviewbot.screen import strict_json

_INCOMPLETE = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSED}
#: Kinds of output that are sent back with the results of tools. Reasoning comes encrypted, as nothing is stored there.
_RETURNED = ("reasoning", "message", "function_call")


class Responses(OpenAI):
    """Everything as for chat completions, but for the form of requests and answers."""

    async def _once(self, call: ModelCall, manners: Manners, begun: Callable[[], None]) -> Completion:
        answer = self._client.responses.with_streaming_response.create(
            **request(call, manners), timeout=http.timeouts(call.timeout_seconds)
        )
        async with answer as response:
            begun()
            found = await http.document(response.http_response, self._account)
        return completion(found, response.headers.get("x-request-id", ""), self._account)


def request(call: ModelCall, manners: Manners) -> dict[str, Any]:
    """The body of a call."""
    asked: list[dict[str, Any]] = [{"role": "user", "content": call.prefix + call.suffix}]
    for exchange in call.exchanges:
        asked += _items(exchange)
    body: dict[str, Any] = {
        "model": call.model, "input": asked, "max_output_tokens": call.max_output_tokens, "store": False,
    }  # fmt: skip
    if call.system:
        body["instructions"] = call.system
    if manners.rung == "json_schema":
        name, schema = schema_name(call.schema_name), strict(call.schema)
        body["text"] = {"format": {"type": "json_schema", "name": name, "schema": schema, "strict": True}}
    elif manners.rung == "json_object":
        body["text"] = {"format": {"type": "json_object"}}
    if manners.effort:
        body["reasoning"] = {"effort": call.effort}
        body["include"] = ["reasoning.encrypted_content"]
    if manners.hints and call.cache_key:
        body["prompt_cache_key"] = call.cache_key
    if call.tools:
        body["tools"] = [
            {"type": "function", "name": tool.name, "description": tool.description, "parameters": dict(tool.parameters),
             "strict": False}
            for tool in call.tools
        ]  # fmt: skip
    return body


def completion(found: Mapping[str, Any], request_id: str, account: Account) -> Completion:
    """A response. Raises ProviderError for one that failed, and for what is none."""
    status = str(found.get("status") or "")
    if status == "failed" or (found.get("error") and not status):
        fault, words = judge(200, found)
        if "_policy" not in words.split(":")[0]:
            raise ProviderError(fault, http.one_line(f"{account.name}: {words}", account))
        return Completion(Stop.REFUSED, tokens=tokens(found.get("usage")), reason=words, request_id=request_id)
    output = found.get("output")
    if not status or not isinstance(output, list):
        raise ProviderError(Fault.UNREADABLE, f"{account.name} answered what is no response")
    items = [item for item in output if isinstance(item, dict)]
    calls = tuple(_call(item) for item in items if item.get("type") == "function_call")
    parts = [part for item in items if item.get("type") == "message" for part in _parts(item)]
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text")
    refusal = next((str(part.get("refusal")) for part in parts if part.get("type") == "refusal"), "")
    stop, reason = _stop(found, refused=bool(refusal), calls=bool(calls), empty=not text)
    wants = stop is Stop.TOOLS
    return Completion(
        stop=stop,
        text=text,
        tokens=tokens(found.get("usage")),
        tool_calls=calls if wants else (),
        opaque=json.dumps([i for i in items if i.get("type") in _RETURNED], ensure_ascii=False) if wants else "",
        reason=http.one_line(f"refusal: {refusal}", account) if refusal else reason,
        request_id=request_id or str(found.get("id") or ""),
    )


def _stop(found: Mapping[str, Any], *, refused: bool, calls: bool, empty: bool) -> tuple[Stop, str]:
    status = str(found["status"])
    if status != "completed":
        details = found.get("incomplete_details")
        reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
        return (_INCOMPLETE.get(reason, Stop.OTHER) if status == "incomplete" else Stop.OTHER), f"{status} {reason}".strip()
    if refused:
        return Stop.REFUSED, ""
    if calls:
        return Stop.TOOLS, "function_call"
    return (Stop.OTHER, "an answer without text") if empty else (Stop.END, "")


def _call(item: Mapping[str, Any]) -> ToolCall:
    return ToolCall(str(item.get("call_id") or ""), str(item.get("name") or ""), str(item.get("arguments") or ""))


def _parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _items(exchange: Exchange) -> list[dict[str, Any]]:
    """The model's own items, rebuilt where another vendor's model had this turn, and what its tools gave."""
    try:
        turn = strict_json.loads(exchange.opaque)
    except strict_json.InvalidJson:
        turn = None
    if not isinstance(turn, list) or not all(isinstance(item, dict) and item.get("type") in _RETURNED for item in turn):
        turn = [
            {"type": "function_call", "call_id": used.id, "name": used.name, "arguments": used.arguments}
            for used in exchange.calls
        ]
    results = [{"type": "function_call_output", "call_id": result.call_id, "output": result.text} for result in exchange.results]
    return [*turn, *results]
