"""Claude, by Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

import json
from typing import Any

from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic, transform_schema

from reviewbot.llm import http
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall

BASE_URL = "https://api.anthropic.com"
CACHED = {"cache_control": {"type": "ephemeral"}}
COUNTERS = (
    *("input_tokens", "cache_read_input_tokens"),
    *("cache_creation_input_tokens", "output_tokens"),
)
# A stream begins with status 200. These are the statuses of errors that come after it.
# https://platform.claude.com/docs/en/api/errors
STATUSES = {"rate_limit_error": 429, "invalid_request_error": 400, "authentication_error": 401}


class Anthropic(HttpProvider):
    raised = (*http.TRANSPORT_ERRORS, APIConnectionError, APIStatusError)

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
        is_complete = False
        async with self._client.messages.stream(**_body(request)) as stream:
            async for event in stream:
                if event.type == "text":
                    on_text(event.text)
                is_complete |= event.type == "message_stop"
            message = stream.current_message_snapshot
        calls = [block for block in message.content if block.type == "tool_use"]
        # The API takes back neither all nulls nor the empty texts that it sends.
        blocks = [block.to_dict(mode="json", exclude_none=True) for block in message.content]
        reply = ModelReply(
            text="".join(block.text for block in message.content if block.type == "text"),
            calls=tuple(
                ToolCall(id=call.id, name=call.name, arguments=json.dumps(call.input))
                for call in calls
            ),
            usage=http.usage_apart(message.usage.to_dict(), *COUNTERS),
            native={"anthropic": [block for block in blocks if block.get("text") != ""]},
        )
        return self._checked(request, reply, (is_complete and message.stop_reason) or "")

    def _failure(self, _request: object, _without: object, error: Exception) -> ProviderError:
        assert isinstance(error, APIStatusError)
        in_stream = (STATUSES[kind] for kind in STATUSES if kind in str(error.body))
        code = next(in_stream, 529) if error.status_code == 200 else 0
        return self._answered(error.status_code, error.body, error.response.headers, code)


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
