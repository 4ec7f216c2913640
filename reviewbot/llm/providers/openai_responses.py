"""OpenAI itself, by its Responses API: its newer models call tools and think only there.

https://developers.openai.com/api/docs/guides/migrate-to-responses
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from reviewbot.journal import key_of
from reviewbot.llm import http, provider
from reviewbot.llm.http import OnText, Parts, VendorError
from reviewbot.llm.provider import ModelReply, ModelRequest, ProviderError, ToolCall
from reviewbot.llm.providers import openai

API = "responses"
REFUSED = {  # parts that some models do not take, and what an error says of them
    "reasoning": re.compile(r"reasoning|encrypted", re.IGNORECASE),
    "prompt_cache_options": re.compile(r"prompt_cache_(options|breakpoint)"),
    "text": re.compile(r"text\.format|json_schema|structured output", re.IGNORECASE),
}
# What goes back with the results of tools. OpenAI keeps nothing, so thoughts come encrypted.
RETURNED = ("reasoning", "message", "function_call")


class OpenAI(openai.OpenAI):
    """A server in front of OpenAI's that has no such API is asked by chat completions."""

    complaints = REFUSED

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        if API in without:
            return await super()._ask(request, without, on_text)
        text, response = "", dict[str, Any]()
        body = body_of(request, without)
        async with self._post("/responses", body, self._bearer) as lines:
            async for event in http.events_of(lines):
                response = event.get("response") or response
                if event["type"] == "response.output_text.delta":
                    text += event["delta"]
                    on_text(event["delta"])
                elif event["type"] == "response.output_item.added":
                    on_text("")
        status, items = response.get("status"), response.get("output") or []
        # Beside the answer, a model may comment on what it does.
        parts = [
            part
            for item in items
            if item["type"] == "message" and item.get("phase") != "commentary"
            for part in item["content"]
        ]
        refusal = "".join(part.get("refusal") or "" for part in parts)
        calls = tuple(
            ToolCall(id=item["call_id"], name=item["name"], arguments=item["arguments"])
            for item in items
            if item["type"] == "function_call"
        )
        stop = ""
        if status == "completed":
            stop = "tool_calls" if calls else "stop"
        elif status == "incomplete":
            stop = response["incomplete_details"]["reason"]
        reply = ModelReply(
            text="".join(part.get("text") or "" for part in parts) if stop else text,
            calls=calls,
            usage=openai.usage_of(response.get("usage"), names=("input", "output")),
            native=[
                {name: value for name, value in item.items() if value is not None}
                for item in items
                if item["type"] in RETURNED
            ],
        )
        return self._checked(request, reply, refusal or stop, "refused" if refusal else None)

    def _meaning(self, request: ModelRequest, without: Parts, error: VendorError) -> ProviderError:
        if API in without:
            return super()._meaning(request, without, error)
        failure = http.HttpProvider._meaning(self, request, without, error)
        if error.status in (404, 405) and "model" not in str(error.body):
            failure.refuses = API
        return failure


connect = OpenAI


def body_of(request: ModelRequest, without: Parts) -> dict[str, Any]:
    """Without the mark at its end, what panelists share would not be found in the prompt cache."""
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    shared = {"text": request.prefix, **({} if "prompt_cache_options" in without else mark)}
    question = {"text": provider.question_of(request, with_schema="text" in without)}
    content = [{"type": "input_text", **text} for text in (shared, question) if text["text"]]
    items: list[Any] = [{"role": "user", "content": content}]
    for turn in request.turns:
        items += turn.native
        items += [
            {"type": "function_call_output", "call_id": call.id, "output": result}
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
    form = {"type": "json_schema", "name": "answer", "strict": True}
    body: dict[str, Any] = {
        "model": request.model,
        "input": items,
        "max_output_tokens": request.max_output_tokens,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": provider.EFFORT},
        "text": {"format": form | {"schema": provider.strict_schema(request.schema)}},
        "prompt_cache_key": key_of(request.prefix)[:32],
        "prompt_cache_options": {"mode": "explicit"},
    }
    if request.tools:
        body["tools"] = [
            {"type": "function", "strict": False, **msgspec.to_builtins(tool)}
            for tool in request.tools
        ]
        body["tool_choice"] = "auto" if request.may_call_tools else "none"
    left_out = {*without, "include"} if "reasoning" in without else without
    return {name: value for name, value in body.items() if name not in left_out}
