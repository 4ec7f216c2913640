"""OpenAI, and servers with its chat completions: vLLM, llama.cpp, LM Studio, OpenRouter.

Servers differ in what they accept. Each is asked in the best way first; what it refuses is not
tried again with that model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace
from openai import APIError, APIStatusError, AsyncOpenAI

from reviewbot.journal import key_of
from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall, Usage

# What `error.code` or `error.type` says where it says more than the status.
CODES: Mapping[str, provider.Fault] = {
    **{"context_length_exceeded": "too_long", "exceed_context_size_error": "too_long"},
    **{"insufficient_quota": "spent", "organization_usage_limit_exceeded": "spent"},
    **{"credit_balance_exhausted": "spent", "organization_spend_limit_exceeded": "spent"},
    **{"project_spend_limit_exceeded": "spent", "billing_hard_limit_reached": "spent"},
    **{"billing_not_active": "spent", "rate_limit_exceeded": "rate_limited"},
    **{"slow_down": "rate_limited", "server_is_overloaded": "overloaded"},
    **{"server_error": "overloaded", "model_not_found": "no_model", "invalid_api_key": "denied"},
    "content_filter": "refused",  # Azure
}
# OpenAI's limit per minute, vLLM, LM Studio: they have no code for it.
TOO_LONG = re.compile(
    r"maximum context length|context (?:size|length|window)|prompt is too long|request too large"
    r"|context the overflows",
    re.IGNORECASE,
)
# OpenRouter's 403 for one prompt, not for the account.
FLAGGED = re.compile(r"requires moderation|input was flagged", re.IGNORECASE)
# Names for the limit of output tokens. Other servers know the older one, which is first, and some
# say nothing to one that they do not know.
LIMITS = ("max_tokens", "max_completion_tokens")
ABOUT_FORMAT = re.compile(
    r"response_format|json_schema|json_object|structured output|grammar|guided", re.IGNORECASE
)
REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecognized|unexpected|not permitted|extra|instead|invalid"
    r"|not allowed|does not exist|forbidden",
    re.IGNORECASE,
)


class FunctionPart(Struct, frozen=True):
    name: str | None = None
    arguments: Any = None


class CallPart(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: FunctionPart = FunctionPart()


class Message(Struct, frozen=True):
    """A message, or a part of one. `content` is a text, or a list of parts with texts."""

    content: Any = None
    refusal: str | None = None
    tool_calls: tuple[CallPart, ...] | None = None
    reasoning_content: str | None = None  # DeepSeek wants it back
    reasoning_details: tuple[Any, ...] | None = None  # OpenRouter wants them back

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else ()
        return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


class Choice(Struct, frozen=True):
    delta: Message | None = None
    message: Message | None = None
    finish_reason: str | None = None
    error: Any = None

    @property
    def part(self) -> Message:
        return self.delta or self.message or Message()


class Chunk(Struct, frozen=True):
    choices: tuple[Choice, ...] | None = None
    usage: Any = None
    error: Any = None


Count = Annotated[int, Meta(ge=0)]


class OpenAI(HttpProvider):
    status_errors = (APIStatusError,)
    transport_errors = (APIError, *http.TRANSPORT_ERRORS)

    def __init__(self, account: Account) -> None:
        super().__init__(account, account.base_url)
        self._client = AsyncOpenAI(
            api_key=account.key or "none",
            base_url=account.base_url,
            max_retries=0,
            http_client=self._http,
        )

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        if request.tools and request.may_call_tools and self._account.name != "openai":
            # A grammar for the answer keeps the models of vLLM and llama.cpp from calling tools.
            without |= {"json_schema", "json_object"}
        chunks: list[Chunk] = []
        page = b""  # what is no event: the whole answer of a server that does not stream
        # The SDK would walk through the schemas with each call, and its own reader of the stream
        # passes over answers of servers that do not stream.
        async with await self._client.chat.completions.create(
            model=request.model,
            messages=messages_of(request, self._account.name, without),
            stream=True,
            extra_body=options_of(request, self._account.name, without),
        ) as stream:
            async for line in http.lines_of(stream.response):
                if not line.startswith((b"data:", b":", b"event:", b"id:", b"retry:")):
                    page += line
                elif line.startswith(b"data:") and line[5:].strip() != b"[DONE]":
                    chunks.append(self._read(line[5:], on_text))
        if not chunks:
            chunks.append(self._read(page, on_text))
        choices = [choice for chunk in chunks for choice in (chunk.choices or ())[:1]]
        parts = [choice.part for choice in choices]
        refusal = "".join(part.refusal or "" for part in parts)
        stop = next((choice.finish_reason for choice in choices[::-1] if choice.finish_reason), "")
        native = {
            "reasoning_content": "".join(part.reasoning_content or "" for part in parts),
            "reasoning_details": [item for part in parts for item in part.reasoning_details or ()],
        }
        reply = ModelReply(
            text="".join(part.text for part in parts),
            calls=joined(call for part in parts for call in part.tool_calls or ()),
            usage=next(filter(None, (usage_of(chunk.usage) for chunk in reversed(chunks))), None),
            native={self._account.name: {key: value for key, value in native.items() if value}},
        )
        return self._checked(request, reply, refusal or stop, "refused" if refusal else None)

    def _read(self, text: bytes, on_text: OnText) -> Chunk:
        """Raises ProviderError for an error in it."""
        chunk = msgspec.json.decode(text, type=Chunk)
        for error in (chunk.error, *(choice.error for choice in chunk.choices or ())):
            if error:
                raise self._meaning(200, error, {})
        for choice in (chunk.choices or ())[:1]:
            if choice.part.text:
                on_text(choice.part.text)
        return chunk

    def _failure(self, request: ModelRequest, without: Parts, error: Exception) -> ProviderError:
        assert isinstance(error, APIStatusError)
        status = error.status_code
        failure = self._meaning(status, error.body, error.response.headers)
        if failure.fault not in ("invalid", "overloaded") or status not in (400, 422, 500):
            return failure
        options = options_of(request, self._account.name, without)
        words = str(error.body).replace("invalid_request_error", "")
        if "response_format" in options and ABOUT_FORMAT.search(words):  # llama.cpp: with 500
            failure.refuses = options["response_format"]["type"]
        elif status != 500 and REFUSES.search(words):
            names = ["stream_options", "prompt_cache_key", "store"]
            names += [] if without.intersection(LIMITS) else LIMITS  # one of them is needed
            failure.refuses = next((x for x in names if x in words and x in options), "")
        return failure

    def _meaning(self, status: int, body: object, headers: Mapping[str, str]) -> ProviderError:
        """What an error means; in a 200, its code may be the status."""
        error = body if isinstance(body, dict) else {}
        code, kind = str(error.get("code") or ""), str(error.get("type") or "")
        text = error.get("message") or error.get("detail") or body
        if isinstance(body, str) and body.lstrip().startswith("<"):
            text = "an HTML page"
        text, hint = str(text), None
        if status == 200:
            status = int(code) if code.isdecimal() and 400 <= int(code) < 600 else 500
        fault = CODES.get(code) or CODES.get(kind) or http.fault_of(status)
        if fault in ("invalid", "rate_limited", "overloaded") and TOO_LONG.search(text):
            fault = "too_long"
        elif fault == "denied" and FLAGGED.search(text):
            fault = "refused"
        elif fault == "no_model":
            hint = "check the name of the model, and base_url, which often ends in /v1"
        return self._answered(status, text, fault, headers, hint=hint)


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
        own = turn.own(name) or {}
        calls = [
            {
                "id": call.id,
                "type": "function",
                # vLLM refuses arguments that are not an object.
                "function": {
                    "name": call.name,
                    "arguments": call.arguments if http.json_object(call.arguments) else "{}",
                },
            }
            for call in turn.calls
        ]
        messages.append({"role": "assistant", "content": None, **own, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
    return messages


def options_of(request: ModelRequest, name: str, without: Parts) -> dict[str, Any]:
    schema = strict(request.schema)
    limits = LIMITS[::-1] if name == "openai" else LIMITS
    options: dict[str, Any] = {
        next(limit for limit in limits if limit not in without): request.max_output_tokens,
        "stream_options": {"include_usage": True},
    }
    if name == "openai":
        options |= {"store": False, "prompt_cache_key": key_of(request.prefix)[:32]}
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


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in OpenAI's strict form: an object, all of whose properties are required.

    A property that was optional may be null instead. Sizes, ranges and defaults are left out.
    """
    return provider.common_schema(schema, _strict)


def _strict(part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in part:
        return {"$ref": part["$ref"]}  # it stands alone
    if part.get("type") != "object":
        return part
    properties, null = part.get("properties", {}), {"type": "null"}
    for name in properties.keys() - set(part.get("required", ())):
        choices = properties[name].get("anyOf", [properties[name]])
        properties[name] = {"anyOf": [*(choice for choice in choices if choice != null), null]}
    return part | {
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def joined(parts: Iterable[CallPart]) -> tuple[ToolCall, ...]:
    """Calls from their parts, of which the first has the name; some servers do not number them."""
    calls: list[ToolCall] = []
    newest: dict[int | None, int] = {}  # by number, the place in `calls`
    for part in parts:
        given = part.function.arguments or ""
        text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        place = newest.get(part.index)
        if place is None or part.function.name:
            newest[part.index] = len(calls)
            made = f"call_{len(calls)}"
            calls.append(
                ToolCall(id=part.id or made, name=part.function.name or "", arguments=text)
            )
        else:
            calls[place] = replace(calls[place], arguments=calls[place].arguments + text)
    return tuple(calls)


def usage_of(value: Any) -> Usage | None:
    """None if the server did not count, or not so that it can be believed."""
    try:
        details = value.get("prompt_tokens_details") or {}
        counts = value["prompt_tokens"], value["completion_tokens"], details.get("cached_tokens")
        read, written, cached = msgspec.convert(counts, tuple[Count, Count, Count | None])
    except (AttributeError, KeyError, msgspec.ValidationError):
        return None
    cached = min(cached or 0, read)
    return Usage(input_tokens=read, cached_input_tokens=cached, output_tokens=written)
