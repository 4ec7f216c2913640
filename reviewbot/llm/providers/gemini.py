"""Google's Gemini through its own SDK, with a key; never Vertex AI, whatever variables say."""

from __future__ import annotations

import asyncio
import re
import ssl
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx2
import msgspec
from google import genai
from google.genai import errors, types

from reviewbot.llm import http, provider
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall, Usage

BASE_URL = "https://generativelanguage.googleapis.com"
# Each finishReason that is not here, nor STOP, comes without an answer that can be used.
FINISHES: Mapping[str, provider.Fault] = {
    **{"MAX_TOKENS": "truncated", "CONTINUATION": "truncated"},
    **{"SAFETY": "refused", "RECITATION": "refused", "BLOCKLIST": "refused", "SPII": "refused"},
    **{"PROHIBITED_CONTENT": "refused", "MODEL_ARMOR": "refused", "ESCALATION": "refused"},
}
BAD_KEY = re.compile(
    r"API_KEY_INVALID|api key.{0,20}(?:not valid|expired|not found)|location is not supported",
    re.IGNORECASE,
)
TOO_LONG = re.compile(
    r"exceeds the maximum number of tokens|input token count|payload size exceeds", re.IGNORECASE
)
ABOUT_SCHEMA = re.compile(r"schema|too many states|response_?mime_?type|json mode", re.IGNORECASE)
# Every 429 says "check your plan and billing details"; these are the ones that mean it.
SPENT = re.compile(r"per.?day|daily|\blimit: 0\b|depleted|spend(?:ing)?.?(?:cap|limit)", re.I)
DELAY = re.compile(r"retry(?:Delay\W+| in )(\d{1,9}(?:\.\d{1,9})?) ?s", re.IGNORECASE)

# The SDK warns of each finishReason that is newer than it is.
warnings.filterwarnings("ignore", message=r".* is not a valid \w+", module=r"google\.genai")


def connect(account: Account) -> provider.Provider:
    return Gemini(account)


class Gemini:
    def __init__(self, account: Account) -> None:
        self._account = account
        base_url = account.base_url or BASE_URL
        self._http = http.open_client(account, base_url)
        # Never used. The SDK's own would load certificates, which takes 20 ms.
        self._unused = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(500)))
        # For websockets. The SDK's own would load certificates, too, which takes 50 ms.
        unused = {"ssl": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
        # Kept, because the SDK closes what is in use once the client is not referred to any more.
        self._sdk = genai.Client(
            vertexai=False,
            api_key=account.key or "none",
            http_options=types.HttpOptions(
                base_url=base_url,
                api_version="v1beta",
                httpx_async_client=self._http,
                httpx_client=self._unused,
                async_client_args=unused,
                timeout=int(account.seconds * 1000),
            ),
        )
        self._without_schema: set[str] = set()  # models

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        # Gemini refuses a schema beside tools.
        has_schema = not request.tools and request.model not in self._without_schema
        try:
            async with asyncio.timeout(self._account.seconds):
                return await self._ask(request, has_schema, on_text)
        except errors.APIError as caught:
            error = self._failure(caught)
        except http.TRANSPORT_ERRORS as caught:
            error = http.transport_error(caught, self._account)
        except (ValueError, TypeError, AttributeError, RecursionError):
            # What the SDK raises over answers that are not what it expects.
            message = f"{self._account.name} does not answer as Gemini does"
            error = ProviderError(message, fault="malformed")
        # Raised here because the exceptions of the SDK hold the request with its key.
        if has_schema and error.fault == "invalid" and ABOUT_SCHEMA.search(str(error)):
            self._without_schema.add(request.model)
            return await self.complete(request, on_text)
        raise error

    async def close(self) -> None:
        await self._sdk.aio.aclose()
        self._unused.close()
        await self._http.aclose()

    async def _ask(
        self, request: ModelRequest, has_schema: bool, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        parts: list[types.Part] = []
        counts: types.GenerateContentResponseUsageMetadata | None = None
        finish = block = ""
        async for chunk in await self._sdk.aio.models.generate_content_stream(
            model=request.model,
            contents=contents_of(request, has_schema),
            config=config_of(request, has_schema),
        ):
            counts = chunk.usage_metadata or counts
            if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
                block = str(chunk.prompt_feedback.block_reason.value)
            for candidate in (chunk.candidates or ())[:1]:
                finish = str(candidate.finish_reason.value) if candidate.finish_reason else finish
                added = (candidate.content.parts if candidate.content else None) or []
                parts += added
                if on_text and (text := text_of(added)):
                    on_text(text)
        name, usage, text = self._account.name, usage_of(counts), text_of(parts)
        wishes = [part.function_call for part in parts if part.function_call]
        fault: provider.Fault | None = None
        if block:
            fault, message = "refused", f"{name} blocked the prompt: {block}"
        elif not finish:
            fault = "interrupted" if parts else "malformed"
            message = f"the answer of {name} has no end"
        elif finish != "STOP":
            fault = FINISHES.get(finish, "malformed")
            message = f"{name} did not finish its answer: {http.quote(finish, self._account)}"
        elif not wishes and not text.strip():
            fault, message = "malformed", f"{name} gave an empty answer"
        if fault:
            raise ProviderError(message, fault=fault, usage=usage)
        if not wishes:
            return ModelReply(text=text, usage=usage)
        calls = tuple(
            ToolCall(
                id=wish.id or f"call_{len(request.turns)}_{number}",
                name=wish.name or "",
                arguments=msgspec.json.encode(wish.args or {}).decode(),
            )
            for number, wish in enumerate(wishes)
        )
        dumped = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in parts]
        return ModelReply(text=text, calls=calls, usage=usage, native={"gemini": dumped})

    def _failure(self, caught: errors.APIError) -> ProviderError:
        status, text = caught.code, " ".join(texts_of(caught.details))
        everything = f"{text} {caught.details}"
        headers = getattr(caught.response, "headers", {})
        wait, hint = http.retry_after(headers), None
        fault = http.fault_of(status)
        if status == 429 and SPENT.search(everything):
            fault = "spent"
        elif status == 429 and wait is None and (delay := DELAY.search(everything)):
            wait = float(delay[1])
        elif status == 400 and BAD_KEY.search(everything):
            fault = "denied"
        elif status == 400 and TOO_LONG.search(text):
            fault = "too_long"
        elif status == 404:
            hint = "check the name of the model"
        message = f"{self._account.name} answered {status}: {http.quote(text, self._account)}"
        return ProviderError(message, fault=fault, retry_after=wait, hint=hint)


def contents_of(request: ModelRequest, has_schema: bool) -> list[types.Content]:
    question = provider.question_of(request, with_schema=not has_schema)
    first = [types.Part(text=f"{request.prefix}\n\n"), types.Part(text=question)]
    contents = [types.Content(role="user", parts=first)]
    for turn in request.turns:
        native = turn.native.get("gemini") if isinstance(turn.native, dict) else None
        own = [types.Part.model_validate(part) for part in native or ()] or [
            types.Part(
                function_call=types.FunctionCall(
                    name=call.name, args=http.json_object(call.arguments)
                )
            )
            for call in turn.calls
        ]
        # An id that was made up here means nothing to Gemini.
        ids = {part.function_call.id for part in own if part.function_call}
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id if call.id in ids else None,
                    name=call.name,
                    response={"output": result},
                )
            )
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
        contents += [
            types.Content(role="model", parts=own),
            types.Content(role="user", parts=results),
        ]
    return contents


def config_of(request: ModelRequest, has_schema: bool) -> types.GenerateContentConfig:
    config = types.GenerateContentConfig(
        max_output_tokens=request.max_output_tokens,
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    if request.tools:
        functions = [
            types.FunctionDeclaration(
                name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
            )
            for tool in request.tools
        ]
        config.tools = [types.Tool(function_declarations=functions)]
        if not request.may_call_tools:
            none = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.NONE)
            config.tool_config = types.ToolConfig(function_calling_config=none)
    elif has_schema:
        config.response_mime_type = "application/json"
        config.response_json_schema = schema_of(request.schema)
    return config


def schema_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as Gemini takes it: a type on every `enum`, no defaults, no sizes."""
    kept = ("title", "description", "type", "required", "additionalProperties", "enum", "$ref")
    found = {name: schema[name] for name in kept if name in schema}
    if "enum" in schema and all(isinstance(choice, str) for choice in schema["enum"]):
        found["type"] = "string"
    for name in ("properties", "$defs"):
        if name in schema:
            found[name] = {key: schema_of(part) for key, part in schema[name].items()}
    if "items" in schema:
        found["items"] = schema_of(schema["items"])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        found["anyOf"] = [schema_of(choice) for choice in choices]
    return found


def text_of(parts: list[types.Part]) -> str:
    return "".join(part.text for part in parts if part.text and not part.thought)


def usage_of(counts: types.GenerateContentResponseUsageMetadata | None) -> Usage | None:
    if counts is None or counts.prompt_token_count is None:
        return None
    return Usage(
        input_tokens=counts.prompt_token_count + (counts.tool_use_prompt_token_count or 0),
        cached_input_tokens=counts.cached_content_token_count or 0,
        output_tokens=(counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0),
    )


def texts_of(body: Any, depth: int = 4) -> Iterator[str]:
    """The innermost messages of an error: an object, a list of them, or JSON in a message."""
    if isinstance(body, list):
        for item in body[:3]:
            yield from texts_of(item, depth - 1)
    elif isinstance(body, dict):
        yield from texts_of(body.get("error") or body.get("message"), depth - 1)
    elif isinstance(body, str):
        try:
            inner = msgspec.json.decode(body) if depth > 0 and body[:1] in "{[" else body
        except (msgspec.DecodeError, RecursionError):
            inner = body
        yield from (body,) if inner == body else texts_of(inner, depth - 1)
