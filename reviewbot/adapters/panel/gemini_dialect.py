"""Gemini's words in our own: why it stopped, what it counted, what its errors mean, which schemas it takes. No SDK."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.adapters.panel import http
from reviewbot.ports import Completion, Fault, ProviderError, Stop, Tokens, ToolCall
from reviewbot.screen import strict_json

#: ``finishReason`` (google-genai 3.4, types.FinishReason); whatever is not here is no answer either.
_STOPS = {
    "STOP": Stop.END,
    "MAX_TOKENS": Stop.LENGTH,
    "CONTINUATION": Stop.LENGTH,
    "SAFETY": Stop.REFUSED,
    "RECITATION": Stop.REFUSED,
    "BLOCKLIST": Stop.REFUSED,
    "PROHIBITED_CONTENT": Stop.REFUSED,
    "SPII": Stop.REFUSED,
    "ESCALATION": Stop.REFUSED,
    "MODEL_ARMOR": Stop.REFUSED,
    "PUP_LIMITED_DISABLED": Stop.REFUSED,
}
#: What a schema may say (google-genai 3.4, GenerateContentConfig.response_json_schema), without sizes: long lists of long
#: texts make "too many states" of them.
_KEPT = ("title", "description", "format", "minimum", "maximum", "required", "additionalProperties", "$ref")
_DEEPEST = 4

_BAD_KEY = re.compile(r"api.?key.{0,20}(?:not valid|expired|invalid|not found)|API_KEY_INVALID|location is not supported", re.I)
_TOO_LONG = re.compile(r"exceeds the maximum number of tokens|input token count|request payload size exceeds", re.I)
_SCHEMA = re.compile(r"schema|too many states|response_?mime_?type|json mode", re.I)
#: Every 429 says "check your plan and billing details": that alone means nothing.
_GONE = re.compile(r"per.?day|daily|\blimit: 0\b|depleted|spend(?:ing)?.?(?:cap|limit)", re.I)
_DELAY = re.compile(r"retry in ([0-9.]+) ?s", re.I)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error response, understood. ``words`` are Google's own: not fit for a message as they are."""

    fault: Fault
    words: str
    retry_after: float | None
    blames_schema: bool


def completion(document: Any, step: int) -> Completion:
    """The body of a 200 as a value. ``step`` numbers the exchange, for ids of tool calls: most models give none.

    Raises ProviderError for a body that holds no answer.
    """
    if not isinstance(document, dict):
        raise ProviderError(Fault.UNREADABLE, "this is not Gemini's answer: no JSON object")
    if "error" in document:
        raise ProviderError(fault_of(500, document, after=None).fault, "Gemini answered 200 with an error in it")
    tokens = _tokens(document.get("usageMetadata"))
    request_id = str(document.get("responseId") or "")[:200]
    candidates = document.get("candidates")
    if not candidates or not isinstance(candidates, list) or not isinstance(candidates[0], dict):
        feedback = document.get("promptFeedback")
        blocked = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if not blocked:
            raise ProviderError(Fault.UNREADABLE, "Gemini's answer holds no candidate")
        return Completion(Stop.REFUSED, tokens=tokens, reason=f"the prompt was blocked: {_word(blocked)}", request_id=request_id)
    said = _word(candidates[0].get("finishReason") or "nothing")
    content = candidates[0].get("content")
    content = content if isinstance(content, dict) else {}
    calls, opaque = _tool_calls(content, step)
    stop = Stop.TOOLS if calls and said == "STOP" else _STOPS.get(said, Stop.OTHER)
    return Completion(
        stop=stop,
        text="".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str) and not part.get("thought")),
        tokens=tokens,
        tool_calls=calls,
        opaque=opaque,
        reason="" if stop in (Stop.END, Stop.TOOLS) else f"finishReason is {said}",
        request_id=request_id,
    )


def fault_of(status: int, body: Any, *, after: float | None) -> Failure:
    """What an error response means. ``body`` is its JSON in whatever shape: an object, a list of one, an object whose message
    is again such JSON as text (``faults.md`` L12). ``after`` is the header's waiting time, which counts most."""
    layers = list(_layers(body, _DEEPEST))
    words = next((layer["message"] for layer in reversed(layers) if isinstance(layer.get("message"), str)), "")
    everything = json.dumps([*layers, body], ensure_ascii=False, default=str)[:20_000]
    fault = http.fault_of_status(status)
    if status == 429:
        fault = Fault.SPENT if _GONE.search(everything) else Fault.RATE_LIMITED
        after = _delay(layers, words) if after is None else after
    elif status == 400:
        fault = Fault.DENIED if _BAD_KEY.search(everything) else Fault.TOO_LONG if _TOO_LONG.search(words) else Fault.INVALID
    blames_schema = fault is Fault.INVALID and _SCHEMA.search(words) is not None
    return Failure(fault, words, None if fault is Fault.SPENT else after, blames_schema)


def schema_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` as Gemini takes it: one type each, or ``anyOf``; a type on every ``enum``; no sizes."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    choices = schema.get("enum")
    if choices is not None and (None in choices or not kinds):
        some = [choice for choice in choices if choice is not None]
        typed = {"type": "string" if all(isinstance(choice, str) for choice in some) else "number", "enum": some}
        return {"anyOf": [typed, {"type": "null"}]} if None in choices else typed
    if len(kinds) > 1:
        return {"anyOf": [schema_for({**schema, "type": kind}) if kind != "null" else {"type": "null"} for kind in kinds]}
    taken = {key: schema[key] for key in _KEPT if key in schema}
    if kinds:
        taken["type"] = kinds[0]
    if choices is not None:
        taken["enum"] = list(choices)
    for key in ("properties", "$defs"):
        if key in schema:
            taken[key] = {name: schema_for(part) for name, part in schema[key].items()}
    if "items" in schema:
        taken["items"] = schema_for(schema["items"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            taken["anyOf"] = [schema_for(part) for part in schema[key]]
    return taken


def _tokens(usage: Any) -> Tokens:
    counts = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

    return Tokens(
        input=count("promptTokenCount") + count("toolUsePromptTokenCount"),
        cached=count("cachedContentTokenCount"),
        # Candidates do not hold the thoughts: ``totalTokenCount`` is documented as the sum of both and the prompt.
        output=count("candidatesTokenCount") + count("thoughtsTokenCount"),
        known="promptTokenCount" in counts,
    )


def _parts(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = content.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _tool_calls(content: dict[str, Any], step: int) -> tuple[tuple[ToolCall, ...], str]:
    """The wishes, and the record of this turn: its content unchanged (signatures of thoughts are in it), and which ids are
    Gemini's own."""
    calls: list[ToolCall] = []
    own: list[str] = []
    for part in _parts(content):
        wish = part.get("functionCall")
        if not isinstance(wish, dict):
            continue
        if not isinstance(wish.get("name"), str):
            raise ProviderError(Fault.UNREADABLE, "Gemini's answer holds a function call without a name")
        given = wish.get("id")
        if isinstance(given, str) and given:
            own.append(given)
        else:
            given = f"call_{step}_{len(calls)}"
        calls.append(ToolCall(given, wish["name"], json.dumps(wish.get("args") or {}, ensure_ascii=False)))
    return tuple(calls), json.dumps({"content": content, "ids": own}) if calls else ""


def _word(value: Any) -> str:
    """A word of theirs that can stand in a reason."""
    return "".join(c for c in str(value) if c.isalnum() or c in "_- ")[:60]


def _layers(body: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The error objects in ``body``, outermost first."""
    if depth == 0:
        return
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        try:
            yield from _layers(strict_json.loads(body), depth)
        except strict_json.InvalidJson:
            return
    elif isinstance(body, list):
        for item in body[:3]:
            yield from _layers(item, depth - 1)
    elif isinstance(body, dict):
        if isinstance(body.get("error"), dict):
            yield from _layers(body["error"], depth - 1)
        else:
            yield body
            yield from _layers(body.get("message"), depth - 1)


def _delay(layers: list[dict[str, Any]], words: str) -> float | None:
    """``retryDelay`` of ``google.rpc.RetryInfo``, in seconds."""
    for layer in layers:
        details = layer.get("details")
        for detail in details if isinstance(details, list) else ():
            told = detail.get("retryDelay") if isinstance(detail, dict) else None
            if isinstance(told, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?s", told):
                return float(told[:-1])
    found = _DELAY.search(words)
    return float(found[1].strip(".")) if found and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", found[1]) else None
