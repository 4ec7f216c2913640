"""Servers with OpenAI's chat completions: vLLM, llama.cpp, LM Studio, OpenRouter.

Servers differ in what they accept. Each is asked in the best way first; what it refuses is not
tried again with that model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts, VendorError
from reviewbot.llm.provider import ModelReply, ModelRequest, ProviderError, ToolCall, Usage

# Names for the limit of output tokens. Most servers know the first one, and some say nothing to one
# that they do not know. OpenAI's newer models want the second one.
LIMITS = ("max_tokens", "max_completion_tokens")
ABOUT_FORMAT = re.compile(
    r"response_format|json_schema|json_object|structured output|grammar|guided", re.IGNORECASE
)
REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecognized|unexpected|not permitted|extra|instead|invalid"
    r"|not allowed|does not exist|forbidden",
    re.IGNORECASE,
)
Count = Annotated[int, Meta(ge=0)]
Delta = Mapping[str, Any]  # a part of a message


class Timings(Struct):
    """What llama.cpp measured; reading is without what was cached."""

    prompt_ms: Annotated[float, Meta(ge=0)] = 0
    predicted_ms: Annotated[float, Meta(ge=0)] = 0


class OpenAI(HttpProvider):
    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        if request.tools and request.may_call_tools:
            # A grammar for the answer keeps the models of vLLM and llama.cpp from calling tools.
            without |= {"json_schema", "json_object"}
        parts: list[Delta] = []
        usage, stop = None, ""
        body = {
            "model": request.model,
            "messages": messages_of(request, self._account.name, without),
            "stream": True,
            **options_of(request, without),
        }
        async with self._post("/chat/completions", body, self._bearer) as lines:
            async for event in http.events_of(lines):
                usage = usage_of(event.get("usage"), event.get("timings")) or usage
                for choice in (event.get("choices") or ())[:1]:
                    stop = choice.get("finish_reason") or stop
                    parts.append(choice.get("delta") or {})
                    on_text(text_of(parts[-1]))
        refusal = "".join(part.get("refusal") or "" for part in parts)
        reply = ModelReply(
            text="".join(map(text_of, parts)),
            calls=joined(call for part in parts for call in part.get("tool_calls") or ()),
            usage=usage,
            native=thoughts_of(parts),
        )
        return self._checked(request, reply, refusal or stop, "refused" if refusal else None)

    def _meaning(self, request: ModelRequest, without: Parts, error: VendorError) -> ProviderError:
        status = error.status
        failure = self._answered(error)
        if failure.fault not in ("invalid", "overloaded") or status not in (400, 422, 500):
            return failure
        options = options_of(request, without)
        words = str(error.body).replace("invalid_request_error", "")
        if "response_format" in options and ABOUT_FORMAT.search(words):  # llama.cpp: with 500
            failure.refuses = options["response_format"]["type"]
        elif status != 500 and REFUSES.search(words):
            # One of the limits is needed.
            names = ["stream_options", *(() if without.intersection(LIMITS) else LIMITS)]
            failure.refuses = next((x for x in names if x in words and x in options), "")
        return failure


connect = OpenAI


def messages_of(request: ModelRequest, name: str, without: Parts) -> list[Any]:
    question = provider.question_of(request, with_schema="json_schema" in without)
    content: Any = f"{request.prefix}\n\n{question}"
    if name == "openrouter" and request.model.startswith("anthropic/"):
        # OpenRouter hands on the mark for Anthropic's prompt cache.
        prefix = {"type": "text", "text": request.prefix, "cache_control": {"type": "ephemeral"}}
        content = [prefix, {"type": "text", "text": question}]
    messages: list[Any] = [{"role": "user", "content": content}]
    for turn in request.turns:
        calls = []
        for call in turn.calls:
            # vLLM refuses arguments that are not an object.
            arguments = call.arguments if http.json_object(call.arguments) else "{}"
            function = {"name": call.name, "arguments": arguments}
            calls.append({"id": call.id, "type": "function", "function": function})
        said = {"role": "assistant", "content": None, **turn.native, "tool_calls": calls}
        messages.append(said)
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
    return messages


def options_of(request: ModelRequest, without: Parts) -> dict[str, Any]:
    schema = provider.strict_schema(request.schema)
    options: dict[str, Any] = {
        next(limit for limit in LIMITS if limit not in without): request.max_output_tokens,
        "stream_options": {"include_usage": True},
    }
    if "json_schema" not in without:
        named = {"name": "answer", "schema": schema, "strict": True}
        options["response_format"] = {"type": "json_schema", "json_schema": named}
    elif "json_object" not in without:  # llama.cpp reads the schema here, others pass over it
        options["response_format"] = {"type": "json_object", "schema": schema}
    if request.tools:
        options["tools"] = [provider.function_of(tool) for tool in request.tools]
        if not request.may_call_tools:
            options["tool_choice"] = "none"
    return {option: value for option, value in options.items() if option not in without}


def text_of(part: Delta) -> str:
    """Its text, which some servers send as a list of parts."""
    content = part.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(item.get("text") or "") for item in content)


def thoughts_of(parts: Sequence[Delta]) -> dict[str, Any]:
    """What DeepSeek and OpenRouter want back."""
    thoughts = {
        "reasoning_content": "".join(part.get("reasoning_content") or "" for part in parts),
        "reasoning_details": [i for part in parts for i in part.get("reasoning_details") or ()],
    }
    return {name: value for name, value in thoughts.items() if value}


def joined(parts: Iterable[Delta]) -> tuple[ToolCall, ...]:
    """Calls from their parts, of which the first has the name; some servers do not number them."""
    calls: list[ToolCall] = []
    newest: dict[int | None, int] = {}  # by number, the place in `calls`
    for part in parts:
        number, function = part.get("index"), part.get("function") or {}
        name, text = function.get("name") or "", function.get("arguments") or ""
        place = newest.get(number)
        if place is None or name:
            newest[number] = len(calls)
            id_ = part.get("id") or f"call_{len(calls)}"
            calls.append(ToolCall(id=id_, name=name, arguments=text))
        else:
            calls[place] = replace(calls[place], arguments=calls[place].arguments + text)
    return tuple(calls)


def usage_of(
    counts: Any, timings: Any = None, names: tuple[str, str] = ("prompt", "completion")
) -> Usage | None:
    """None if the server did not count, or not so that it can be believed."""
    asked, answered = names
    try:
        details = counts.get(f"{asked}_tokens_details") or {}
        cached, stored = (details.get(f"{name}_tokens") or 0 for name in ("cached", "cache_write"))
        given = (counts[f"{asked}_tokens"], counts[f"{answered}_tokens"], cached, stored)
        read, written, cached, stored = msgspec.convert(given, tuple[Count, Count, Count, Count])
        times = msgspec.convert(timings or {}, Timings)
    except (AttributeError, LookupError, msgspec.ValidationError):
        return None
    cached = min(cached, read)
    return Usage(
        input_tokens=read,
        cached_input_tokens=cached,
        cache_write_tokens=min(stored, read - cached),
        output_tokens=written,
        input_seconds=times.prompt_ms / 1000,
        output_seconds=times.predicted_ms / 1000,
    )
