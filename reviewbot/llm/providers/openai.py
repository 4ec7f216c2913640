"""OpenAI, and servers with its chat completions: vLLM, llama.cpp, LM Studio, OpenRouter.

Servers differ in what they accept. Each is asked in the best way first; what it refuses is not
tried again with that model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace
from openai import APIError, APIStatusError, AsyncOpenAI

from reviewbot.journal import key_of
from reviewbot.llm import http, provider
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
FORMATS = ("json_schema", "json_object", "")
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


class Details(Struct, frozen=True):
    cached_tokens: Count | None = None


class Counts(Struct, frozen=True):
    prompt_tokens: Count
    completion_tokens: Count
    prompt_tokens_details: Details | None = None


class Accepted(Struct, frozen=True, kw_only=True):
    """What a server accepts with a model, as far as is known.

    Attributes:
        format: how the form of the answer is asked for; if "", in the prompt alone.
        limits: names for the limit of output tokens, best first.
    """

    format: str = "json_schema"
    limits: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    stream_options: bool = True
    store: bool = False
    prompt_cache_key: bool = False


# Other servers know the older name of the limit, and some say nothing to one that they do not know.
FIRST = Accepted()
FIRST_OF_OPENAI = Accepted(limits=FIRST.limits[::-1], store=True, prompt_cache_key=True)


def connect(account: Account) -> provider.Provider:
    return OpenAI(account)


class OpenAI:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._client = AsyncOpenAI(
            api_key=account.key or "none",
            base_url=account.base_url,
            max_retries=0,
            http_client=http.open_client(account, account.base_url),
        )
        self._accepted: dict[str, Accepted] = {}  # by model

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        first = FIRST_OF_OPENAI if self._account.name == "openai" else FIRST
        while True:
            accepted = self._accepted.get(request.model, first)
            following = None
            try:
                async with asyncio.timeout(self._account.seconds):
                    return await self._ask(request, accepted, on_text)
            except APIStatusError as caught:
                error = self._failure(caught.status_code, caught.body)
                error.retry_after = http.retry_after(caught.response.headers)
                if error.fault in ("invalid", "overloaded"):
                    words = str(caught.body).replace("invalid_request_error", "")
                    following = next_accepted(accepted, caught.status_code, words)
            except (APIError, *http.TRANSPORT_ERRORS) as caught:
                error = http.transport_error(caught, self._account)
            # Raised here because the exceptions of the SDK hold the request with its key.
            if following is None:
                raise error
            self._accepted[request.model] = following

    async def close(self) -> None:
        await self._client.close()

    async def _ask(
        self, request: ModelRequest, accepted: Accepted, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        may_call = bool(request.tools) and request.may_call_tools
        if may_call and self._account.name != "openai":
            # A grammar for the answer keeps the models of vLLM and llama.cpp from calling tools.
            accepted = replace(accepted, format="")
        chunks: list[Chunk] = []
        page = b""  # what is no event: the whole answer of a server that does not stream
        # The SDK would walk through the schemas with each call, and its own reader of the stream
        # passes over answers of servers that do not stream.
        async with await self._client.chat.completions.create(
            model=request.model,
            messages=messages_of(request, self._account.name, accepted),
            stream=True,
            extra_body=options_of(request, accepted),
        ) as stream:
            async for line in http.lines_of(stream.response):
                if not line.startswith((b"data:", b":", b"event:", b"id:", b"retry:")):
                    page += line
                elif line.startswith(b"data:") and line[5:].strip() != b"[DONE]":
                    chunks.append(self._read(line[5:], on_text))
        if not chunks:
            chunks.append(self._read(page, on_text))
        return self._reply(request, chunks)

    def _read(self, text: bytes, on_text: Callable[[str], None] | None) -> Chunk:
        """Raises ProviderError for an error in it."""
        try:
            chunk = msgspec.json.decode(text, type=Chunk)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = f"{self._account.name} does not answer as OpenAI does"
            raise ProviderError(message, fault="malformed") from None
        for error in (chunk.error, *(choice.error for choice in chunk.choices or ())):
            if error:
                raise self._failure(200, error)
        for choice in (chunk.choices or ())[:1]:
            if on_text and choice.part.text:
                on_text(choice.part.text)
        return chunk

    def _reply(self, request: ModelRequest, chunks: list[Chunk]) -> ModelReply:
        name = self._account.name
        choices = [choice for chunk in chunks for choice in (chunk.choices or ())[:1]]
        parts = [choice.part for choice in choices]
        usage = next(filter(None, (usage_of(chunk.usage) for chunk in reversed(chunks))), None)
        finish = next(
            (choice.finish_reason for choice in choices[::-1] if choice.finish_reason), ""
        )
        text = "".join(part.text for part in parts)
        refusal = "".join(part.refusal or "" for part in parts)
        calls = calls_of([call for part in parts for call in part.tool_calls or ()])
        fault: provider.Fault | None = None
        if not choices:
            fault, message = "malformed", f"{name} gave no answer"
        elif refusal or finish == "content_filter":
            said = http.quote(refusal, self._account) or finish
            fault, message = "refused", f"{name} refused to answer: {said}"
        elif not finish:
            fault, message = "interrupted", f"the answer of {name} has no end"
        elif finish == "length":
            limit = request.max_output_tokens
            fault, message = "truncated", f"the answer is longer than {limit} tokens"
        elif finish not in ("stop", "tool_calls") or not (calls or text.strip()):
            fault, message = "malformed", f"{name} gave an empty answer"
        if fault:
            raise ProviderError(message, fault=fault, usage=usage)
        if not calls:
            return ModelReply(text=text, usage=usage)
        more = {
            "reasoning_content": "".join(part.reasoning_content or "" for part in parts),
            "reasoning_details": [item for part in parts for item in part.reasoning_details or ()],
        }
        native = {name: {key: value for key, value in more.items() if value}}
        return ModelReply(text=text, calls=calls, usage=usage, native=native)

    def _failure(self, status: int, body: object) -> ProviderError:
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
        message = f"{self._account.name} answered {status}: {http.quote(text, self._account)}"
        return ProviderError(message, fault=fault, hint=hint)


def next_accepted(accepted: Accepted, status: int, words: str) -> Accepted | None:
    """What to try after a refusal, if it is about a parameter. llama.cpp's status is 500."""
    if status not in (400, 422, 500):
        return None
    if accepted.format and ABOUT_FORMAT.search(words):
        return replace(accepted, format=FORMATS[FORMATS.index(accepted.format) + 1])
    if status == 500 or not REFUSES.search(words):
        return None
    for name in ("stream_options", "prompt_cache_key", "store"):
        if name in words and getattr(accepted, name):
            return replace(accepted, **{name: False})
    if accepted.limits[0] in words and accepted.limits[1:]:
        return replace(accepted, limits=accepted.limits[1:])
    return None


def messages_of(request: ModelRequest, name: str, accepted: Accepted) -> list[Any]:
    question = provider.question_of(request, with_schema=accepted.format != "json_schema")
    content: Any = f"{request.prefix}\n\n{question}"
    if name == "openrouter" and request.model.startswith("anthropic/"):
        # OpenRouter hands on the mark for Anthropic's prompt cache.
        prefix = {"type": "text", "text": request.prefix, "cache_control": {"type": "ephemeral"}}
        content = [prefix, {"type": "text", "text": question}]
    messages: list[Any] = [{"role": "user", "content": content}]
    for turn in request.turns:
        own = turn.native.get(name, {}) if isinstance(turn.native, dict) else {}
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


def options_of(request: ModelRequest, accepted: Accepted) -> dict[str, Any]:
    options: dict[str, Any] = {accepted.limits[0]: request.max_output_tokens}
    if accepted.stream_options:
        options["stream_options"] = {"include_usage": True}
    if accepted.store:
        options["store"] = False
    if accepted.prompt_cache_key:
        options["prompt_cache_key"] = key_of(request.prefix)[:32]
    if accepted.format == "json_schema":
        named = {"name": "answer", "schema": strict(request.schema), "strict": True}
        options["response_format"] = {"type": "json_schema", "json_schema": named}
    elif accepted.format:  # llama.cpp reads the schema here, others pass over it
        options["response_format"] = {"type": "json_object", "schema": strict(request.schema)}
    if request.tools:
        options["tools"] = [provider.function_of(tool) for tool in request.tools]
        if not request.may_call_tools:
            options["tool_choice"] = "none"
    return options


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in OpenAI's strict form: an object, all of whose properties are required.

    A property that was optional may be null instead. Sizes, ranges and defaults are left out.
    """
    definitions = schema.get("$defs", {})
    root = definitions.get(schema.get("$ref", "").removeprefix("#/$defs/"), schema)
    found = _strict(root)
    if definitions:
        found["$defs"] = {name: _strict(part) for name, part in definitions.items()}
    return found


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # it stands alone
    kept = ("title", "description", "type", "enum", "const")
    found = {name: schema[name] for name in kept if name in schema}
    if "enum" in schema and all(isinstance(choice, str) for choice in schema["enum"]):
        found["type"] = "string"
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        found["anyOf"] = [_strict(choice) for choice in choices]
    if "items" in schema:
        found["items"] = _strict(schema["items"])
    if schema.get("type") == "object":
        properties = {name: _strict(part) for name, part in schema.get("properties", {}).items()}
        for name in properties.keys() - set(schema.get("required", ())):
            null = {"type": "null"}
            choices = properties[name].get("anyOf", [properties[name]])
            properties[name] = {"anyOf": [*(choice for choice in choices if choice != null), null]}
        found |= {
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    return found


def calls_of(parts: list[CallPart]) -> tuple[ToolCall, ...]:
    """Calls from their parts, of which the first has the name; some servers do not number them."""
    calls: list[tuple[int | None, ToolCall]] = []
    for part in parts:
        given = part.function.arguments or ""
        text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        place = next((i for i in reversed(range(len(calls))) if calls[i][0] == part.index), None)
        if place is None or part.function.name:
            made = f"call_{len(calls)}"
            call = ToolCall(id=part.id or made, name=part.function.name or "", arguments=text)
            calls.append((part.index, call))
        else:
            call = calls[place][1]
            calls[place] = (part.index, replace(call, arguments=call.arguments + text))
    return tuple(call for _, call in calls)


def usage_of(value: Any) -> Usage | None:
    """None if the server did not count, or not so that it can be believed."""
    try:
        counts = msgspec.convert(value, Counts)
    except msgspec.ValidationError:
        return None
    cached = counts.prompt_tokens_details.cached_tokens if counts.prompt_tokens_details else 0
    return Usage(
        input_tokens=counts.prompt_tokens,
        cached_input_tokens=min(cached or 0, counts.prompt_tokens),
        output_tokens=counts.completion_tokens,
    )
