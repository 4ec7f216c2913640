"""Google's Gemini through its own SDK, with a key; never Vertex AI, whatever variables say."""

from __future__ import annotations

import re
import warnings
from typing import Any

from google import genai
from google.genai import errors, types

from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, Usage

BASE_URL = "https://generativelanguage.googleapis.com"
ABOUT_SCHEMA = re.compile(r"schema|too many states|response_?mime_?type|json mode", re.IGNORECASE)
DELAY = re.compile(r"retry(?:Delay\W+| in )(\d{1,9}(?:\.\d{1,9})?) ?s", re.IGNORECASE)
SCHEMA = "schema"

# The SDK warns of each finishReason that is newer than it is.
warnings.filterwarnings("ignore", message=r".* is not a valid \w+", module=r"google\.genai")


class Gemini(HttpProvider):
    raised = (*http.TRANSPORT_ERRORS, errors.APIError)

    def __init__(self, account: Account) -> None:
        base_url = account.base_url or BASE_URL
        super().__init__(account, base_url)
        # Kept, because the SDK closes what is in use once the client is not referred to any more.
        self._sdk = genai.Client(
            vertexai=False,
            api_key=account.key or "none",
            http_options=types.HttpOptions(
                base_url=base_url,
                api_version="v1beta",
                httpx_async_client=self._http,
                timeout=int(account.seconds * 1000),
            ),
        )

    async def close(self) -> None:
        await self._sdk.aio.aclose()
        self._sdk.close()
        await super().close()

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        has_schema = _has_schema(request, without)
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
                if text := text_of(added):
                    on_text(text)
        calls = [part.function_call for part in parts if part.function_call]
        dumped = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in parts]
        reply = ModelReply(
            text=text_of(parts),
            calls=http.calls_of(request, ((call.id, call.name, call.args) for call in calls)),
            usage=usage_of(counts),
            native={"gemini": dumped},
        )
        return self._checked(request, reply, block or finish, "refused" if block else None)

    def _failure(self, request: ModelRequest, without: Parts, error: Exception) -> ProviderError:
        assert isinstance(error, errors.APIError)
        headers = getattr(error.response, "headers", {})
        failure = self._answered(error.code, error.details, headers)
        words = str(error.details)
        if failure.fault == "rate_limited" and failure.retry_after is None:
            delay = DELAY.search(words)
            failure.retry_after = float(delay[1]) if delay else None
        if failure.fault == "invalid" and _has_schema(request, without):
            failure.refuses = SCHEMA if ABOUT_SCHEMA.search(words) else ""
        return failure


connect = Gemini


def _has_schema(request: ModelRequest, without: Parts) -> bool:
    """Gemini refuses a schema beside tools, and some schemas alone."""
    return not request.tools and SCHEMA not in without


def contents_of(request: ModelRequest, has_schema: bool) -> list[Any]:
    question = provider.question_of(request, with_schema=not has_schema)
    first = [{"text": f"{request.prefix}\n\n"}, {"text": question}]
    contents: list[Any] = [{"role": "user", "parts": first}]
    for turn in request.turns:
        own = turn.own("gemini") or [
            {"functionCall": {"name": call.name, "args": http.json_object(call.arguments)}}
            for call in turn.calls
        ]
        # An id that was made up here means nothing to Gemini.
        ids = {part["functionCall"].get("id") for part in own if "functionCall" in part}
        results = [
            {
                "functionResponse": {
                    "id": call.id if call.id in ids else None,
                    "name": call.name,
                    "response": {"output": result},
                }
            }
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
        contents += [{"role": "model", "parts": own}, {"role": "user", "parts": results}]
    return contents


def config_of(request: ModelRequest, has_schema: bool) -> Any:
    config: dict[str, Any] = {
        "max_output_tokens": request.max_output_tokens,
        "automatic_continuation": False,
        "automatic_function_calling": {"disable": True},
    }
    if request.tools:
        functions = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters_json_schema": tool.parameters,
            }
            for tool in request.tools
        ]
        config["tools"] = [{"function_declarations": functions}]
        if not request.may_call_tools:
            config["tool_config"] = {"function_calling_config": {"mode": "NONE"}}
    elif has_schema:
        config["response_mime_type"] = "application/json"
        config["response_json_schema"] = provider.strict_schema(request.schema)
    return config


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
