"""Claude, by Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from anthropic import APIError, APIStatusError, AsyncAnthropic, transform_schema

from reviewbot.llm import http
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall

BASE_URL = "https://api.anthropic.com"
CACHED = {"cache_control": {"type": "ephemeral"}}
COUNTERS = (
    *("input_tokens", "cache_read_input_tokens"),
    *("cache_creation_input_tokens", "output_tokens"),
)
GROWING = {"text", "partial_json", "thinking", "signature"}  # fields of deltas

# A stream begins with status 200. These are the statuses of errors that come after it.
# https://platform.claude.com/docs/en/api/errors
STATUSES = {"rate_limit_error": 429, "invalid_request_error": 400, "authentication_error": 401}
SPENT = re.compile(r"spend_limit_reached|billing_unavailable|credit balance|(usage|spend) limit")
TOO_LONG = re.compile(r"prompt is too long|too many tokens|context limit|exceeds the maximum")


class Anthropic(HttpProvider):
    status_errors = (APIStatusError,)
    transport_errors = (APIError, *http.TRANSPORT_ERRORS)

    def __init__(self, account: Account) -> None:
        base_url = account.base_url or BASE_URL
        super().__init__(account, base_url)
        self._client = AsyncAnthropic(
            api_key=account.key or "none",  # or the SDK looks for one in environment and files
            base_url=base_url,
            max_retries=0,
            http_client=self._http,
            open_telemetry=False,
        )

    async def _ask(self, request: ModelRequest, _without: Parts, on_text: OnText) -> ModelReply:
        blocks: dict[int, dict[str, Any]] = {}
        unfinished: set[int] = set()
        counts: dict[str, Any] = {}
        calls: list[ToolCall] = []
        text, stop, is_complete = "", "", False
        async with await self._client.messages.create(**_body(request), stream=True) as stream:
            async for line in http.lines_of(stream.response):
                if not line.startswith(b"data:"):
                    continue
                match msgspec.json.decode(line[5:]):
                    case {"type": "error", **error}:
                        raise self._meaning(200, error, {})
                    case {"type": "message_start", "message": {"usage": dict(usage)}}:
                        counts |= usage
                    case {"type": "content_block_start", "index": int(i), "content_block": dict(b)}:
                        # The API does not take back every null that it sends.
                        blocks[i] = {key: b[key] for key in b if b[key] is not None}
                        unfinished.add(i)
                    case {"type": "content_block_delta", "index": int(i), "delta": dict(delta)}:
                        unfinished.add(i)
                        block = blocks.setdefault(i, {})
                        for field in GROWING & delta.keys():
                            block[field] = f"{block.get(field, '')}{delta[field]}"
                        if "text" in delta:
                            text += str(delta["text"])
                            on_text(str(delta["text"]))
                    case {"type": "content_block_stop", "index": int(i)} if i in unfinished:
                        unfinished.remove(i)
                        block = blocks[i]
                        if block.get("type") == "tool_use":
                            block["arguments"] = block.pop("partial_json", "") or "{}"
                            calls.append(msgspec.convert(block, ToolCall))
                            block["input"] = http.json_object(block.pop("arguments"))
                    case {"type": "message_delta", "delta": dict(delta), "usage": dict(usage)}:
                        stop = str(delta.get("stop_reason"))
                        # Counters are cumulative: the last ones hold, but for null.
                        counts |= {key: usage[key] for key in usage if usage[key] is not None}
                    case {"type": "message_stop"}:
                        is_complete = not unfinished
        if stop == "tool_use" and not calls:
            stop = "tool_use without a call"
        # The API sends empty texts, and refuses them when they come back.
        native = [block for _, block in sorted(blocks.items()) if block.get("text") != ""]
        reply = ModelReply(
            text=text,
            calls=tuple(calls),
            usage=http.usage_apart(counts, *COUNTERS),
            native={"anthropic": native},
        )
        return self._checked(request, reply, stop if is_complete else "")

    def _failure(self, _request: object, _without: object, error: Exception) -> ProviderError:
        assert isinstance(error, APIStatusError)
        return self._meaning(error.status_code, error.body, error.response.headers)

    def _meaning(self, status: int, body: object, headers: Mapping[str, str]) -> ProviderError:
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {"message": "no message"}
        in_stream = STATUSES.get(str(error.get("type")), 529)
        fault = http.fault_of(in_stream if status == 200 else status)
        text = f"{error.get('details')} {error.get('message')}".lower()
        if fault in ("invalid", "rate_limited") and SPENT.search(text):
            fault = "spent"
        elif fault == "invalid" and TOO_LONG.search(text):
            fault = "too_long"
        return self._answered(status, str(error.get("message")), fault, headers)


connect = Anthropic


def _body(request: ModelRequest) -> dict[str, Any]:
    """One cache breakpoint ends what all panelists read, one the last result of a tool."""
    texts: list[dict[str, Any]] = [{"text": request.prefix, **CACHED}, {"text": request.question}]
    content = [{"type": "text", **text} for text in texts if text["text"]]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for turn in request.turns:
        called = turn.own("anthropic") or [
            {"type": "tool_use", "id": call.id, "name": call.name}
            | {"input": http.json_object(call.arguments)}
            for call in turn.calls
        ]
        content = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result or "(empty)"}
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
        messages += [{"role": "assistant", "content": called}, {"role": "user", "content": content}]
    if request.turns:
        content[-1] |= CACHED
    schema = {"type": "json_schema", "schema": transform_schema(dict(request.schema))}
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in request.tools
    ]
    choice = {"type": "auto" if request.may_call_tools else "none"}
    return {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": messages,
        "output_config": {"format": schema},
        # Where there are calls of tools, the API needs the tools.
        **({"tools": tools, "tool_choice": choice} if tools else {}),
    }
