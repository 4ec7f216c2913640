"""Gemini's generateContent, plain and as a stream, under ``v1beta`` and ``v1``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Step, Wish
from tests.fakes.wire import dialect
from tests.fakes.wire.dialect import Refusal, event

PATH = re.compile(r"/(?:v1beta|v1)/models/(?P<model>[^:]+(?::[^:]+)*?):(?P<what>generateContent|streamGenerateContent)")
STOPS = {"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}
BUSY = "The model is overloaded. Please try again later."
QUOTA = "You exceeded your current quota, please check your plan and billing details."

#: kind → status, name of the status, message.
TROUBLES = {
    "overloaded": (503, "UNAVAILABLE", BUSY),
    "rate_limited": (429, "RESOURCE_EXHAUSTED", QUOTA),
    "spent": (429, "RESOURCE_EXHAUSTED", QUOTA),
    "too_long": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "bad_request": (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "spend_400": (400, "FAILED_PRECONDITION", "User location is not supported for the API use without a billing account linked."),
    "denied": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "billing": (403, "PERMISSION_DENIED", "This API method requires billing to be enabled."),
    "forbidden": (403, "PERMISSION_DENIED", "The caller does not have permission"),
    "no_model": (
        404,
        "NOT_FOUND",
        "models/gemini-retired is not found for API version v1beta, or is not supported for generateContent.",
    ),
    "too_large": (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
    "server": (500, "INTERNAL", "An internal error has occurred. Please retry or report in the troubleshooting guide."),
    "unavailable": (503, "UNAVAILABLE", "The service is currently unavailable."),
    "gateway": (504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}


class Gemini:
    """``POST /v1beta/models/M:generateContent``."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """See Wire."""
        match = PATH.fullmatch(request.path)
        if match is None:
            return None
        first, *later = body["contents"]
        if first.get("role", "user") != "user":
            raise Refusal("Please ensure that the conversation begins with a user turn.")
        config = body.get("generationConfig") or {}
        declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
        if schema is not None and config.get("responseMimeType") != "application/json":
            raise Refusal("Unsupported response mime type; a response schema needs application/json.")
        system = "".join(dialect.text_of((body.get("systemInstruction") or {}).get("parts")))
        parts = tuple(dialect.text_of(first["parts"]))
        return Asked(
            "gemini",
            match["model"],
            system,
            parts,
            schema,
            {one["name"]: one.get("parametersJsonSchema") or one.get("parameters") or {} for one in declared},
            _exchanges(later),
            match["what"] == "streamGenerateContent",
            config.get("maxOutputTokens"),
            cacheable=dialect.cacheable(system, body.get("tools"), *parts, later),
        )

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """See Wire."""
        whole = _document(seen, answer, _parts(seen, answer), last=True)
        if not seen.streamed:
            return Reply(200, (dialect.dumped(whole),), "application/json; charset=UTF-8")
        if answer.shape == "blocked" or not answer.text:
            return Reply(200, (event(whole),), "text/event-stream", streamed=True)
        *others, last = dialect.slices(answer.text)
        events = [event(_document(seen, answer, [{"text": piece}], last=False)) for piece in others]
        ending = [{"text": last}, *_calls(seen, answer)]
        return Reply(200, (*events, event(_document(seen, answer, ending, last=True))), "text/event-stream", streamed=True)

    def trouble(self, fault: Trouble) -> Reply:
        """See Wire."""
        status, name, message = dialect.row(TROUBLES, fault)
        if fault.kind == "bad_request" and fault.code:
            message = fault.code
        error: dict[str, Any] = {"code": status, "message": message, "status": name}
        if details := _details(fault, status):
            error["details"] = details
        document: Any = {"error": error}
        if fault.code == "list":
            document = [document]
        if fault.code == "nested":
            document = {"error": {"code": status, "message": json.dumps(document), "status": "Service Unavailable"}}
        return Reply(status, (dialect.dumped(document),), "application/json; charset=UTF-8")

    def error_event(self) -> bytes:
        """See Wire."""
        return event({"error": {"code": 503, "message": BUSY, "status": "UNAVAILABLE"}})


def _details(fault: Trouble, status: int) -> list[dict[str, Any]]:
    """Which quota it was and how long to wait, as the vendor's typed details say it."""
    if status == 400 and fault.kind == "denied":
        return [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]
    if status != 429:
        return []
    span = "PerDay" if fault.kind == "spent" else "PerMinute"
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": f"GenerateRequests{span}PerProjectPerModel-FreeTier",
        "quotaValue": "50",
    }
    details: list[dict[str, Any]] = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}]
    if fault.retry_after is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{fault.retry_after:g}s"})
    return details


def _exchanges(later: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for turn in later:
        calls = [part["functionCall"] for part in turn["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in turn["parts"] if "functionResponse" in part]
        if turn.get("role") == "model":
            steps.append(Step(tuple(Wish(call["name"], call.get("args") or {}, call.get("id", "")) for call in calls)))
            continue
        if not steps or len(results) != len(steps[-1].calls):
            raise Refusal(
                "Please ensure that the number of function response parts is equal to the number of function call parts."
            )
        told = tuple((one.get("id") or one["name"], json.dumps(one["response"]), "error" in one["response"]) for one in results)
        steps[-1] = Step(steps[-1].calls, told)
    return tuple(steps)


def _calls(seen: Seen, answer: Answer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for index, wish in enumerate(answer.tool_calls):
        call = {"id": dialect.call_id(seen, index, wish, "fc_"), "name": wish.name, "args": dialect.arguments_value(wish)}
        found.append({"functionCall": call})
    if found and answer.thinking:
        found[0]["thoughtSignature"] = "c2lnbmF0dXJl"
    return found


def _parts(seen: Seen, answer: Answer) -> list[dict[str, Any]]:
    thoughts: list[dict[str, Any]] = [{"text": answer.thinking, "thought": True}] if answer.thinking else []
    half = len(answer.text) // 2
    texts = (answer.text[:half], answer.text[half:]) if answer.shape == "content_parts" else (answer.text,)
    return [*thoughts, *({"text": text} for text in texts if text), *_calls(seen, answer)]


def _document(seen: Seen, answer: Answer, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    usage, thought = seen.usage, len(answer.thinking) // 4
    document: dict[str, Any] = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output - thought,
            "totalTokenCount": usage.input + usage.output,
            **({"cachedContentTokenCount": usage.cached} if usage.cached else {}),
            **({"thoughtsTokenCount": thought} if thought else {}),
        },
        "modelVersion": seen.model,
        "responseId": f"resp{seen.number:06d}",
    }
    if last:
        document["candidates"][0]["finishReason"] = STOPS.get(answer.why, answer.why)
    if answer.shape in ("null_content", "refusal") or not parts:
        document["candidates"][0].pop("content")
    if answer.shape == "empty_choices":
        document["candidates"] = []
    if answer.shape == "blocked":
        del document["candidates"]
        document["promptFeedback"] = {"blockReason": answer.detail}
    if answer.shape == "no_usage":
        del document["usageMetadata"]
    return document
