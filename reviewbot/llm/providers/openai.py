"""OpenAI, and servers with its chat completions: vLLM, llama.cpp, LM Studio, OpenRouter.

OpenAI itself is asked by its Responses API: its newer models call tools and think only there.
https://developers.openai.com/api/docs/guides/migrate-to-responses

Servers differ in what they accept. Each is asked in the best way first; what it refuses is not
tried again with that model.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from reviewbot.journal import key_of
from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts, VendorError
from reviewbot.llm.provider import ModelReply, ModelRequest, ProviderError, Usage

RESPONSES = "responses"  # the API
# Names for the limit of output tokens. Most servers know the first one, and some say nothing to one
# that they do not know. OpenAI's newer models want the second one.
LIMITS = ("max_tokens", "max_completion_tokens")
THINKING = {"reasoning": {"effort": provider.EFFORT}}  # in the words of OpenRouter
REFUSES = re.compile(
    r"(?i)un(supported|known|recognized|expected)|not (support|permitted|allowed|exist)|extra"
    r"|instead|invalid|forbidden"
)
Count = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[float, Meta(ge=0)]
Delta = Mapping[str, Any]  # a part of a message


class OpenAI(HttpProvider):
    """A server in front of OpenAI's that has no Responses API is asked by chat completions too."""

    complaints: ClassVar = {
        "reasoning": re.compile(r"reasoning|encrypted", re.IGNORECASE),
        "prompt_cache_options": re.compile(r"prompt_cache_(options|breakpoint)"),
        "text": http.ABOUT_SCHEMA,
    }

    def _uses_chat(self, without: Parts) -> bool:
        return RESPONSES in without or self._account.name != "openai"

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        if self._uses_chat(without):
            return await self._chat(request, without, on_text)
        text, response = "", dict[str, Any]()
        async with self._post("/responses", body_of(request, without), self._bearer) as lines:
            async for event in http.events_of(lines):
                response = event.get("response") or response
                if event["type"] == "response.output_text.delta":
                    text += event["delta"]
                    on_text(event["delta"])
                elif event["type"] == "response.output_item.added":
                    on_text("")
        items = response.get("output") or []
        # Beside the answer, a model may comment on what it does.
        said = [i for i in items if i["type"] == "message" and i.get("phase") != "commentary"]
        parts = [part for item in said for part in item["content"]]
        uses = [item for item in items if item["type"] == "function_call"]
        wishes = ((use["call_id"], use["name"], use["arguments"]) for use in uses)
        details = response.get("incomplete_details") or {}
        stop = details.get("reason") or ("stop" if response.get("status") == "completed" else "")
        reply = ModelReply(
            text=joined("text", parts) if stop else text,
            calls=provider.calls_of(request, wishes),
            usage=usage_of(response, "input", "output"),
            # OpenAI keeps nothing, so all of it goes back. Thoughts come encrypted.
            native=[{n: value for n, value in item.items() if value is not None} for item in items],
        )
        return self._checked(request, reply, stop, joined("refusal", parts))

    async def _chat(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
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
            **(THINKING if self._account.name == "openrouter" else {}),
        }
        async with self._post("/chat/completions", body, self._bearer) as lines:
            async for event in http.events_of(lines):
                usage = usage_of(event, "prompt", "completion") or usage
                for choice in (event.get("choices") or ())[:1]:
                    stop = choice.get("finish_reason") or stop
                    parts.append(choice.get("delta") or {})
                    on_text(text_of(parts[-1]))
        text = "".join(map(text_of, parts))
        details = (i for part in parts for i in part.get("reasoning_details") or ())
        said = {  # models want it back with their calls, the thoughts above all
            "content": text,
            **{name: joined(name, parts) for name in ("reasoning", "reasoning_content")},
            "reasoning_details": thoughts_of(details),
        }
        wishes = calls_of(call for part in parts for call in part.get("tool_calls") or ())
        reply = ModelReply(
            text=text,
            calls=provider.calls_of(request, wishes),
            usage=usage,
            native={name: value for name, value in said.items() if value},
        )
        return self._checked(request, reply, stop, joined("refusal", parts))

    def _meaning(self, request: ModelRequest, without: Parts, error: VendorError) -> ProviderError:
        failure, status = super()._meaning(request, without, error), error.status
        if not self._uses_chat(without):
            if status in (404, 405) and "model" not in str(error.body):
                failure.refuses = RESPONSES
            return failure
        failure.refuses = ""
        if failure.fault not in ("invalid", "overloaded") or status not in (400, 422, 500):
            return failure
        options = options_of(request, without)
        words = str(error.body).replace("invalid_request_error", "")
        if "response_format" in options and http.ABOUT_SCHEMA.search(words):  # llama.cpp: with 500
            failure.refuses = options["response_format"]["type"]
        elif status != 500 and REFUSES.search(words):
            names = ("stream_options", LIMITS[0])
            failure.refuses = next((x for x in names if x in words and x in options), "")
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
        for call, result in turn.pairs:
            items.append({"type": "function_call_output", "call_id": call.id, "output": result})
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
        kind = {"type": "function", "strict": False}
        body["tools"] = [kind | msgspec.to_builtins(tool) for tool in request.tools]
        body["tool_choice"] = "auto" if request.may_call_tools else "none"
    left_out = {*without, "include"} if "reasoning" in without else without
    return {name: value for name, value in body.items() if name not in left_out}


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
        messages.append({"role": "assistant", "content": None, **turn.native, "tool_calls": calls})
        messages += ({"role": "tool", "tool_call_id": c.id, "content": r} for c, r in turn.pairs)
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
        options["tools"] = [{"type": "function", "function": tool} for tool in request.tools]
        if not request.may_call_tools:
            options["tool_choice"] = "none"
    return {option: value for option, value in options.items() if option not in without}


def text_of(part: Delta) -> str:
    """Its text, which some servers send as a list of parts."""
    content = part.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(item.get("text") or "") for item in content)


def joined(name: str, parts: Iterable[Delta]) -> str:
    return "".join(part.get(name) or "" for part in parts)


def thoughts_of(parts: Iterable[Delta]) -> list[Delta]:
    """The thoughts that OpenRouter sends in parts; Claude has signed a whole one."""
    whole: list[Delta] = []
    for _, group in groupby(parts, lambda part: [part.get(n) for n in ("type", "index", "data")]):
        same = list(group)
        fields = {n: value for part in same for n, value in part.items() if value is not None}
        whole.append(fields | {n: joined(n, same) for n in ("text", "summary") if n in fields})
    return whole


def calls_of(parts: Iterable[Delta]) -> Iterable[provider.Wish]:
    """Calls from their parts, of which the first has the name; some servers do not number them."""
    calls: list[list[Any]] = []
    newest: dict[int | None, list[Any]] = {}  # by number
    for part in parts:
        number, function = part.get("index"), part.get("function") or {}
        name, text = function.get("name"), function.get("arguments") or ""
        if name or number not in newest:
            newest[number] = [part.get("id"), name, text]
            calls.append(newest[number])
        else:
            newest[number][2] += text
    return map(tuple, calls)


def usage_of(event: Any, asked: str, answered: str) -> Usage | None:
    """None if the server did not count, or not so that it can be believed.

    `timings` are what llama.cpp measured; reading is without what was cached.
    """
    counts, times = event.get("usage"), event.get("timings") or {}
    try:
        details = counts.get(f"{asked}_tokens_details") or {}
        cached, stored = (details.get(f"{name}_tokens") or 0 for name in ("cached", "cache_write"))
        given = (counts[f"{asked}_tokens"], counts[f"{answered}_tokens"], cached, stored)
        read, written, cached, stored = msgspec.convert(given, tuple[Count, Count, Count, Count])
        took = [times.get(name, 0) for name in ("prompt_ms", "predicted_ms")]
        reading, writing = msgspec.convert(took, tuple[Milliseconds, Milliseconds])
    except (AttributeError, LookupError, msgspec.ValidationError):
        return None
    cached = min(cached, read)
    return Usage(
        input_tokens=read,
        cached_input_tokens=cached,
        cache_write_tokens=min(stored, read - cached),
        output_tokens=written,
        input_seconds=reading / 1000,
        output_seconds=writing / 1000,
    )
