"""Google's Gemini, with a key of its own API: https://ai.google.dev/api; never Vertex AI."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import ModelReply, ModelRequest, Usage


class Gemini(HttpProvider):
    complaints: ClassVar = {"thinking": re.compile("(?i)thinking"), "schema": http.ABOUT_SCHEMA}

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        model = quote(request.model.removeprefix("models/"), safe="")
        path = f"/v1beta/models/{model}:streamGenerateContent?alt=sse"
        headers = {"x-goog-api-key": self._account.key} if self._account.key else {}
        parts: list[dict[str, Any]] = []
        counts: dict[str, Any] = {}
        finish = block = ""
        async with self._post(path, body_of(request, without), headers) as lines:
            async for event in http.events_of(lines):
                counts = event.get("usageMetadata") or counts
                block = event.get("promptFeedback", {}).get("blockReason") or block
                for candidate in event.get("candidates", ())[:1]:
                    finish = candidate.get("finishReason") or finish
                    added = candidate.get("content", {}).get("parts") or []
                    parts += added
                    on_text(text_of(added))
        uses = (part["functionCall"] for part in parts if "functionCall" in part)
        calls = provider.calls_of(request, ((u.get("id"), u["name"], u.get("args")) for u in uses))
        usage = None
        if read := counts.get("promptTokenCount"):
            # Tools' results are not in the count of the prompt, thoughts not in that of candidates.
            written = counts.get("candidatesTokenCount", 0) + counts.get("thoughtsTokenCount", 0)
            usage = Usage(
                input_tokens=read + counts.get("toolUsePromptTokenCount", 0),
                cached_input_tokens=counts.get("cachedContentTokenCount", 0),
                output_tokens=written,
            )
        reply = ModelReply(text=text_of(parts), calls=calls, usage=usage, native=parts)
        return self._checked(request, reply, finish, block)


connect = Gemini


def body_of(request: ModelRequest, without: Parts) -> dict[str, Any]:
    # Gemini refuses a schema beside tools, and some schemas alone.
    has_schema = not request.tools and "schema" not in without
    question = provider.question_of(request, with_schema=not has_schema)
    first = [{"text": f"{request.prefix}\n\n"}, {"text": question}]
    contents: list[Any] = [{"role": "user", "parts": first}]
    for turn in request.turns:
        # An id that was made up here means nothing to Gemini.
        ids = {part["functionCall"].get("id") for part in turn.native if "functionCall" in part}
        results = []
        for call, result in turn.pairs:
            response: dict[str, Any] = {"name": call.name, "response": {"output": result}}
            if call.id in ids:
                response["id"] = call.id
            results.append({"functionResponse": response})
        contents += [{"role": "model", "parts": turn.native}, {"role": "user", "parts": results}]
    config: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
    if "thinking" not in without:
        config["thinkingConfig"] = {"thinkingLevel": provider.EFFORT.upper()}
    body = {"contents": contents, "generationConfig": config}
    if request.tools:
        functions = [t.named(parametersJsonSchema=t.parameters) for t in request.tools]
        body["tools"] = [{"functionDeclarations": functions}]
        if not request.may_call_tools:
            body["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    elif has_schema:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = provider.strict_schema(request.schema)
    return body


def text_of(parts: Sequence[dict[str, Any]]) -> str:
    return "".join(part.get("text", "") for part in parts if not part.get("thought"))
