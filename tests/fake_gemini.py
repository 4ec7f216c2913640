"""Answers of Gemini, as events of a stream."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.vendor_server import Sent, json_answer

EVENTS = {"content-type": "text/event-stream"}
HTML = b"<!doctype html><html><body><h1>Sign in to this network</h1></body></html>"
SIGNATURE = "c2lnbmF0dXJl"


def answer(
    text: str = "",
    *,
    thought: str = "",
    calls: Sequence[tuple[str, Any]] = (),
    input_tokens: int = 100,
    cached: int = 0,
    output_tokens: int = 10,
    thought_tokens: int = 0,
    finish: str = "STOP",
) -> Sent:
    """A text in two pieces, or calls of tools as (name, arguments); the first one is signed."""
    half = len(text) // 2
    parts: list[dict[str, Any]] = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": piece} for piece in (text[:half], text[half:]) if piece]
    parts += [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    if calls:
        parts[-len(calls)]["thoughtSignature"] = SIGNATURE
    usage = {"promptTokenCount": input_tokens, "cachedContentTokenCount": cached}
    usage |= {"candidatesTokenCount": output_tokens, "thoughtsTokenCount": thought_tokens}
    contents = [{"content": {"role": "model", "parts": [part]}, "index": 0} for part in parts]
    last = {"candidates": [{"finishReason": finish, "index": 0}], "usageMetadata": usage}
    return events(*({"candidates": [content]} for content in contents), last)


def events(*documents: Any) -> Sent:
    chunks = tuple(b"data: %b\r\n\r\n" % json.dumps(each).encode() for each in documents)
    return Sent(headers=EVENTS, chunks=chunks)


def error(status: int, message: str, name: str = "", details: Sequence[Any] = ()) -> Any:
    return {"error": {"code": status, "message": message, "status": name, "details": details}}


def refusal(status: int, message: str) -> Sent:
    return json_answer(error(status, message), status)


def quota(span: str, *more: Any) -> Any:
    violation = {"quotaId": f"GenerateRequests{span}PerProjectPerModel-FreeTier"}
    return error(429, PLAN, "RESOURCE_EXHAUSTED", [{"violations": [violation]}, *more])


PLAN = "You exceeded your current quota, please check your plan and billing details."
BUSY = error(503, "The model is overloaded. Please try again later.", "UNAVAILABLE")
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}
LENGTH = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."

# Faults by name, each with the fault of the ProviderError that follows from it.
FAULTS: dict[str, Sent] = {
    "L12 object: overloaded": json_answer(BUSY, 503),
    "L12 list: overloaded": json_answer([BUSY], 503),
    "L12 nested: overloaded": refusal(503, json.dumps(BUSY)),
    "L12 event: overloaded": events({"candidates": []}, BUSY),
    "L12 no event: overloaded": replace(
        answer("{}"), chunks=(answer("{}").chunks[0], json.dumps(BUSY, indent=2).encode())
    ),
    "L12 a minute: rate_limited": json_answer(quota("PerMinute", RETRY), 429),
    "L12 a day: spent": json_answer(quota("PerDay", RETRY), 429),
    "L12 none: spent": refusal(429, "Quota exceeded for metric: free_tier, limit: 0"),
    "L12 plan: rate_limited": refusal(429, PLAN),
    **{
        f"L13 {reason}: refused": events({"promptFeedback": {"blockReason": reason}})
        for reason in ("SAFETY", "OTHER", "MODEL_ARMOR", "JAILBREAK")
    },
    "L14 HTML: malformed": Sent(headers={"content-type": "text/html"}, chunks=(HTML,)),
    "L14 no candidates: malformed": events({"candidates": []}),
    "L14 cut: interrupted": replace(answer("{}"), chunks=answer("{}").chunks[:1], cut=True),
    "L14 no end: interrupted": replace(answer("{}"), chunks=answer("{}").chunks[:1]),
    "nothing: malformed": Sent(),
    "list: malformed": json_answer([1]),
    "empty: malformed": answer(""),
    "only thoughts: malformed": answer(thought="Hm."),
    "too long: too_long": json_answer(error(400, LENGTH, "INVALID_ARGUMENT"), 400),
    "payload: too_long": refusal(400, "Request payload size exceeds the limit: 1 bytes."),
    "bad request: invalid": refusal(400, "Request contains an invalid argument."),
    "bad key: denied": refusal(400, "API key not valid. Please pass a valid API key."),
    "location: denied": refusal(400, "User location is not supported for the API use"),
    "no model: no_model": refusal(404, "models/gemini-retired is not found"),
    "odd: overloaded": json_answer({"error": "text"}, 500),
    "odder: overloaded": json_answer([[{"error": {"message": 7}}]], 503),
}
