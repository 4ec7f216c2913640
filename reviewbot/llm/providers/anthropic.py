"""Claude, by Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from anthropic import APIError, APIStatusError, AsyncAnthropic, transform_schema

from reviewbot.llm import http, provider
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall, Usage

BASE_URL = "https://api.anthropic.com"
CACHED = {"cache_control": {"type": "ephemeral"}}
GROWING = {"text", "partial_json", "thinking", "signature"}  # fields of deltas

# A stream begins with status 200. These are the statuses of errors that come after it.
# https://platform.claude.com/docs/en/api/errors
STATUSES = {"rate_limit_error": 429, "invalid_request_error": 400, "authentication_error": 401}
SPENT = re.compile(r"spend_limit_reached|billing_unavailable|credit balance|(usage|spend) limit")
TOO_LONG = re.compile(r"prompt is too long|too many tokens|context limit|exceeds the maximum")
STOPS: Mapping[str, provider.Fault] = {
    "refusal": "refused",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
}


def connect(account: Account) -> Anthropic:
    """Raises ConfigError."""
    return Anthropic(account)


class Anthropic:
    def __init__(self, account: Account) -> None:
        base_url = account.base_url or BASE_URL
        self._account = account
        self._client = AsyncAnthropic(
            api_key=account.key or "none",  # or the SDK looks for one in environment and files
            base_url=base_url,
            max_retries=0,
            http_client=http.open_client(account, base_url),
            open_telemetry=False,
        )

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        try:
            async with asyncio.timeout(self._account.seconds):
                return await self._ask(request, on_text or (lambda _: None))
        except APIStatusError as error:
            failure = self._failure(error.status_code, error.body, error.response.headers)
        except (APIError, *http.TRANSPORT_ERRORS) as error:
            failure = http.transport_error(error, self._account)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            failure = http.no_answer(self._account, "malformed", "an event is not JSON")
        raise failure  # outside of `except`: the SDK's exception holds the request with its key

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        blocks: dict[int, dict[str, Any]] = {}
        unfinished: set[int] = set()
        counts: dict[str, Any] = {}
        calls: list[ToolCall] = []
        text, stop, is_complete = "", "", False
        async with await self._client.messages.create(**_body(request), stream=True) as stream:
            async for data in http.server_sent_data(stream.response):
                match msgspec.json.decode(data):
                    case {"type": "error", **error}:
                        raise self._failure(200, error, {})
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
                        is_complete = bool(stop) and not unfinished
        if not is_complete:
            raise http.no_answer(
                self._account, "interrupted" if blocks else "malformed", "no message to its end"
            )
        # The API sends empty texts, and refuses them when they come back.
        native = [block for _, block in sorted(blocks.items()) if block.get("text") != ""]
        if stop == "tool_use" and calls:
            own = {"anthropic": native}
            return ModelReply(text=text, calls=tuple(calls), usage=_usage(counts), native=own)
        if stop == "end_turn" and text.strip():
            return ModelReply(text=text, usage=_usage(counts))
        fault = STOPS.get(stop, "malformed")
        raise http.no_answer(self._account, fault, f"stop_reason: {stop}", usage=_usage(counts))

    def _failure(self, status: int, body: object, headers: Mapping[str, str]) -> ProviderError:
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {"message": "no message"}
        in_stream = STATUSES.get(str(error.get("type")), 529)
        fault = http.fault_of(in_stream if status == 200 else status)
        text = f"{error.get('details')} {error.get('message')}".lower()
        if fault in ("invalid", "rate_limited") and SPENT.search(text):
            fault = "spent"
        elif fault == "invalid" and TOO_LONG.search(text):
            fault = "too_long"
        after = http.retry_after(headers) if fault in ("rate_limited", "overloaded") else None
        return http.no_answer(
            self._account, fault, f"{status}: {error.get('message')}", retry_after=after
        )


def _usage(counts: Mapping[str, Any]) -> Usage | None:
    if "output_tokens" not in counts:
        return None
    names = ("input", "cache_read_input", "cache_creation_input", "output")
    numbers = msgspec.convert([counts.get(f"{name}_tokens") or 0 for name in names], list[int])
    new, cached, written, output = numbers
    return Usage(
        input_tokens=new + cached + written,  # the API's input_tokens are those not cached
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
    )


def _body(request: ModelRequest) -> dict[str, Any]:
    """One cache breakpoint ends what all panelists read, one the last result of a tool."""
    texts: list[dict[str, Any]] = [{"text": request.prefix, **CACHED}, {"text": request.question}]
    content = [{"type": "text", **text} for text in texts if text["text"]]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for turn in request.turns:
        native = turn.native if isinstance(turn.native, dict) else {}
        called = native.get("anthropic") or [
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
