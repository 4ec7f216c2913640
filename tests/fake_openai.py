"""Answers of a server with OpenAI's chat completions, as events of a stream."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.vendor_server import Sent, json_answer

HTML = b"<!doctype html><html><body><h1>Sign in to this network</h1></body></html>"
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}


def answer(
    text: str = "",
    *,
    calls: Sequence[tuple[str, Any]] = (),
    input_tokens: int = 100,
    cached: int = 0,
    output_tokens: int = 10,
    finish: str = "",
) -> Sent:
    """A text in two pieces, or calls of tools as (name, arguments), with what was counted."""
    half = len(text) // 2
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"content": piece} for piece in (text[:half], text[half:]) if piece]
    for index, (name, arguments) in enumerate(calls):
        call = {"index": index, "id": f"call_{index}", "type": "function"}
        part = {"index": index, "function": {"arguments": json.dumps(arguments)}}
        first = {**call, "function": {"name": name, "arguments": ""}}
        deltas += [{"tool_calls": [first]}, {"tool_calls": [part]}]
    usage: dict[str, Any] = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
    usage["total_tokens"] = input_tokens + output_tokens
    more = {"prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0}}
    finish = finish or ("tool_calls" if calls else "stop")
    return events(
        *({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": {**usage, **more}},
    )


def events(*documents: Any) -> Sent:
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "fake", "created": 1}
    chunks = [b"data: %b\n\n" % json.dumps({**frame, **each}).encode() for each in documents]
    return Sent(headers=EVENTS, chunks=(*chunks, b"data: [DONE]\n\n"))


def whole(message: Any, finish: str | None = "stop", **more: Any) -> Sent:
    """An answer in one event."""
    choice = {"index": 0, "delta": message, "finish_reason": finish}
    return events({"choices": [choice], **more})


def error(status: int, message: str, *, kind: str = "", code: str | None = None) -> Sent:
    kind = kind or "invalid_request_error"
    return json_answer({"error": {"message": message, "type": kind, "code": code}}, status)


LENGTH = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 "
    "tokens. Please reduce the length of the messages."
)
QUOTA = "You exceeded your current quota, please check your plan and billing details."

# Faults by name, each with the fault of the ProviderError that follows from it.
FAULTS: dict[str, Sent] = {
    "L7 too long: too_long": error(400, LENGTH, code="context_length_exceeded"),
    "L8 rate limit: rate_limited": replace(
        error(429, "Rate limit reached", kind="tokens", code="rate_limit_exceeded"),
        headers={"content-type": "application/json", "retry-after": "7"},
    ),
    "L8 slow down: rate_limited": error(429, "Slow down", code="slow_down"),
    "L8 overloaded: overloaded": error(503, "Overloaded", code="server_is_overloaded"),
    "L9 quota: spent": error(429, QUOTA, code="insufficient_quota"),
    "L9 usage limit: spent": error(429, "Limit", code="organization_usage_limit_exceeded"),
    "L9 limit: spent": error(429, "No.", kind="x", code="organization_spend_limit_exceeded"),
    "L9 project: spent": error(429, "No.", kind="x", code="project_spend_limit_exceeded"),
    "L9 balance: spent": error(429, "No.", kind="x", code="credit_balance_exhausted"),
    "OpenRouter budget: rate_limited": json_answer(
        {"error": {"code": 402, "metadata": {"limit_source": "openrouter_in_flight_budget"}}},
        402,
        headers={"content-type": "application/json", "retry-after": "2"},
    ),
    "L10 length: truncated": answer('{"claims": [', finish="length"),
    "Mistral's length: truncated": answer("{", finish="model_length"),
    "L10 content filter: refused": answer("{}", finish="content_filter"),
    "L10 refusal: refused": whole({"refusal": "No."}),
    "L10 function call: malformed": answer("{}", finish="function_call"),
    "L14 no choices: malformed": json_answer({"choices": []}),
    "L14 null: malformed": whole({"content": None}),
    "L14 HTML: malformed": Sent(headers={"content-type": "text/html"}, chunks=(HTML,)),
    "not UTF-8: malformed": Sent(chunks=(b'data: {"x": "\xff"}\n\n',)),
    "L14 cut: interrupted": replace(answer("{}"), chunks=answer("{}").chunks[:2], cut=True),
    "L14 length: interrupted": Sent(
        headers={**EVENTS, "content-length": "9999"}, chunks=answer("{}").chunks, cut=True
    ),
    "L14 short: malformed": Sent(
        headers={**EVENTS, "content-length": "99"}, chunks=answer("{}").chunks, cut=True
    ),
    "L14 gzip: malformed": Sent(
        headers={**EVENTS, "content-encoding": "gzip"}, chunks=(gzip.compress(b"0" * 10_000_000),)
    ),
    "L14 endless: malformed": Sent(headers=EVENTS, chunks=(b":" * 1_000_000,) * 9),
    "L14 no end: interrupted": events({"choices": [{"delta": {"content": "{}"}}]}),
    "empty: malformed": answer(""),
    "bad request: invalid": error(400, "messages: field required"),
    "denied: denied": error(401, "Incorrect API key provided.", code="invalid_api_key"),
    "no model: no_model": error(404, "The model does not exist", code="model_not_found"),
    "no access: no_model": error(403, "Project `p` does not have access to model `gpt-fake`"),
    "no path: no_model": Sent(status=404, headers={"content-type": "text/html"}, chunks=(HTML,)),
    "error in 200: rate_limited": events({"error": {"message": "Limit exceeded", "code": 429}}),
    "error event: overloaded": events(
        {"choices": [{"delta": {"content": "{"}}]}, {"error": {"message": "gone", "code": 502}}
    ),
    "xAI too long: too_long": error(400, "This model's maximum prompt length is 131072, but"),
    "error for an answer: overloaded": json_answer({"error": {"message": "gone", "code": 502}}),
    "vLLM's event: too_long": events({"object": "error", "message": LENGTH, "code": 400}),
    "vLLM too long: too_long": json_answer({"object": "error", "message": LENGTH}, 400),
    "too many a minute: too_long": error(429, "Request too large", code="rate_limit_exceeded"),
    "OpenRouter moderation: refused": error(403, "Your chosen model requires moderation and"),
    "FastAPI: invalid": json_answer(
        {"detail": [{"loc": ["body", "messages"], "msg": "required"}]}, 422
    ),
    "text: overloaded": json_answer({"error": "llama runner process has terminated"}, 500),
}
