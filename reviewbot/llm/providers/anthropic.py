"""Claude, by Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages."""

import re
from typing import Any, ClassVar

from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import ModelReply, ModelRequest

VERSION = {"anthropic-version": "2026-10-21"}
EFFORT, FORMAT = "effort", "format"  # of output_config, which some models do not take
CACHED = {"cache_control": {"type": "ephemeral"}}
COUNTERS = [f"{n}_tokens" for n in ("input", "cache_read_input", "cache_creation_input", "output")]


class Anthropic(HttpProvider):
    complaints: ClassVar = {
        EFFORT: re.compile(r"effort|output_config: "),
        FORMAT: http.ABOUT_SCHEMA,  # or the grammar of this one is too large
    }

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        blocks: list[dict[str, Any]] = []
        usage: dict[str, Any] = {}
        stop, refusal, is_complete = "", "", False
        headers = VERSION | self._bearer
        async with self._post("/v1/messages", _body(request, without), headers) as lines:
            async for event in http.events_of(lines):
                match event["type"]:
                    case "message_start":
                        usage = event["message"].get("usage") or {}
                        on_text("")
                    case "content_block_start":
                        # The API does not take back all nulls that it sends.
                        begun = event["content_block"].items()
                        blocks.append({name: value for name, value in begun if value is not None})
                    case "content_block_delta":
                        block, delta = blocks[event["index"]], event["delta"]
                        for name in ("text", "thinking", "signature", "partial_json"):
                            if name in delta:
                                block[name] = block.get(name, "") + delta[name]
                        if delta["type"] == "text_delta":
                            on_text(delta["text"])
                    case "message_delta":
                        stop = event["delta"].get("stop_reason") or stop
                        details = event["delta"].get("stop_details") or {}
                        refusal = details.get("explanation") or details.get("category") or refusal
                        # Totals so far; what is null stays as it was.
                        usage |= {n: c for n, c in event.get("usage", {}).items() if c is not None}
                    case "message_stop":
                        is_complete = True
        calls = [block for block in blocks if block["type"] == "tool_use"]
        for call in calls:
            if "partial_json" in call:
                call["input"] = http.json_object(call.pop("partial_json"))
        reply = ModelReply(
            text="".join(block["text"] for block in blocks if block["type"] == "text"),
            calls=provider.calls_of(request, ((c["id"], c["name"], c["input"]) for c in calls)),
            usage=http.usage_apart(usage, *COUNTERS),
            # Nor does it take back an empty text.
            native=[block for block in blocks if block.get("text") != ""],
        )
        return self._checked(request, reply, stop if is_complete else "", refusal)


connect = Anthropic


def _body(request: ModelRequest, without: Parts) -> dict[str, Any]:
    """One cache breakpoint ends what all panelists read, one the last result of a tool."""
    question = provider.question_of(request, with_schema=FORMAT in without)
    texts: list[dict[str, Any]] = [{"text": request.prefix, **CACHED}, {"text": question}]
    content = [{"type": "text", **text} for text in texts if text["text"]]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for turn in request.turns:
        returned = ({"tool_use_id": c.id, "content": r} for c, r in turn.pairs)
        content = [{"type": "tool_result", **result} for result in returned]
        messages.append({"role": "assistant", "content": turn.native})
        messages.append({"role": "user", "content": content})
    if request.turns:
        content[-1] |= CACHED
    schema = {"type": "json_schema", "schema": provider.strict_schema(request.schema)}
    output = {FORMAT: schema, EFFORT: provider.EFFORT}
    output = {name: value for name, value in output.items() if name not in without}
    tools = [tool.named(input_schema=tool.parameters) for tool in request.tools]
    choice = {"type": "auto" if request.may_call_tools else "none"}
    return {
        "model": request.model,
        "stream": True,
        "max_tokens": request.max_output_tokens,
        "messages": messages,
        **({"output_config": output} if output else {}),
        # Where there are calls of tools, the API needs the tools.
        **({"tools": tools, "tool_choice": choice} if tools else {}),
    }
