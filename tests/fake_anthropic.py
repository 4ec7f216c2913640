"""Answers of Anthropic's Messages API, and its documented faults."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.vendor_server import Sent, json_answer

STREAM = {"content-type": "text/event-stream; charset=utf-8"}


def answer(
    text: str = "",
    *,
    calls: Sequence[tuple[str, str, str]] = (),
    thinking: str = "",
    stop: str = "",
    details: Any = None,
    input_tokens: int = 10,
    cached: int = 0,
    written: int = 0,
) -> Sent:
    """A stream of events.

    Args:
        calls: of tools, as (id, name, arguments as JSON).
        details: of why it stopped.
        input_tokens: those that are not cached, as the API counts them.
    """
    usage = {"input_tokens": input_tokens, "output_tokens": 1}
    usage |= {"cache_creation_input_tokens": written, "cache_read_input_tokens": cached}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-fake"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    sent = [_event("message_start", message=message), _event("ping")]
    blocks: list[tuple[dict[str, Any], dict[str, str]]] = []
    if thinking:
        deltas = {"thinking": thinking, "signature": "signed=="}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if text or calls:  # before calls there may be an empty text
        blocks.append(({"type": "text", "text": "", "citations": None}, {"text": text}))
    for id_, name, arguments in calls:
        block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
        blocks.append((block, {"partial_json": arguments}))
    for index, (block, deltas) in enumerate(blocks):
        sent.append(_event("content_block_start", index=index, content_block=block))
        for field, value in deltas.items():
            kind = "input_json_delta" if field == "partial_json" else f"{field}_delta"
            # A signature comes whole.
            middle = len(value) // 2 if field != "signature" else 0
            for piece in filter(None, (value[:middle], value[middle:])):
                delta = {"type": kind, field: piece}
                sent.append(_event("content_block_delta", index=index, delta=delta))
        sent.append(_event("content_block_stop", index=index))
    end = {"stop_reason": stop or ("tool_use" if calls else "end_turn"), "stop_sequence": None}
    end |= {"stop_details": details, "container": None}
    last = {**usage, "input_tokens": None, "output_tokens": 5}
    sent += [_event("message_delta", delta=end, usage=last), _event("message_stop")]
    return Sent(headers=STREAM, chunks=tuple(sent))


def error(
    status: int, kind: str, message: str, *, code: str = "", headers: Mapping[str, str] = {}
) -> Sent:
    details = {"details": {"error_code": code}} if code else {}
    body = {"type": "error", "error": {"type": kind, "message": message, **details}}
    sent = {"content-type": "application/json", "request-id": "req_1", **headers}
    return json_answer({**body, "request_id": "req_1"}, status, headers=sent)


def error_in_stream(kind: str, message: str) -> Sent:
    begun = answer("half of it").chunks[:4]
    failed = _event("error", error={"type": kind, "message": message})
    return Sent(headers=STREAM, chunks=(*begun, failed))


def _event(type_: str, **fields: Any) -> bytes:
    return f"event: {type_}\ndata: {json.dumps({'type': type_, **fields})}\n\n".encode()


def _stream(*chunks: bytes, cut: bool = False) -> Sent:
    return Sent(headers=STREAM, chunks=chunks, cut=cut)


LIMIT = "This request would exceed your organization's rate limit of 40,000 input tokens."
SPENT = "This organization has reached its enforced spend limit."
CREDIT = "Your credit balance is too low to access the Anthropic API."
LONG = "prompt is too long: 208310 tokens > 200000 maximum"
HOLD = "Your organization's access was disabled for trust and safety reasons."
INVALID = "max_tokens: Input should be greater than or equal to 0"
SPENT_CODE = "enforced_spend_limit_reached"
WAIT, SHORT_WAIT = {"retry-after": "17"}, {"retry-after": "1.5"}
HTML = {"content-type": "text/html"}
TEXT = answer("half of it").chunks
# Named by the fault of a ProviderError and the kind of failure.
FAULTS: dict[str, Sent] = {
    "overloaded: L1": error(529, "overloaded_error", "Overloaded"),
    "rate_limited: L2": error(429, "rate_limit_error", LIMIT, headers=WAIT),
    "spent: L3": error(429, "rate_limit_error", SPENT, code=SPENT_CODE),
    "too_long: L4 prompt": error(400, "invalid_request_error", LONG),
    "spent: L4 credit": error(400, "invalid_request_error", CREDIT),
    "invalid: L4": error(400, "invalid_request_error", INVALID),
    "denied: L4 401": error(401, "authentication_error", "invalid x-api-key"),
    "denied: L4 on hold": error(400, "invalid_request_error", HOLD, code="organization_on_hold"),
    "spent: L4 402": error(402, "billing_error", "There is an issue with your payment."),
    "no_model: L4 404": error(404, "not_found_error", "model: claude-retired-1"),
    "too_long: L4 413": Sent(status=413, headers=HTML, chunks=(b"<html>413</html>",)),
    "denied: L4 403": error(403, "permission_error", "Your key lacks the permission."),
    "overloaded: L4 500": error(500, "api_error", "Internal server error"),
    "overloaded: L4 504": error(504, "timeout_error", "It took too long."),
    "overloaded: L4 503": error(503, "api_error", "Service unavailable", headers=SHORT_WAIT),
    "truncated: L5 max_tokens": answer("half of", stop="max_tokens"),
    "truncated: L5 window": answer("{}", stop="model_context_window_exceeded"),
    "refused: L5": answer(stop="refusal"),
    "refused: L5 category": answer("{}", stop="refusal", details={"category": "cyber"}),
    "malformed: L5 pause": answer("{}", stop="pause_turn"),
    "malformed: L5 sequence": answer("{}", stop="stop_sequence"),
    "malformed: L5 no tool": answer("text", stop="tool_use"),
    "malformed: L5 nothing": answer(),
    "overloaded: L6 event": error_in_stream("overloaded_error", "Overloaded"),
    "spent: L6 event": error_in_stream("billing_error", "There is an issue with your payment."),
    "denied: L6 event": error_in_stream("permission_error", "Your key lacks the permission."),
    "no_model: L6 event": error_in_stream("not_found_error", "model: claude-retired-1"),
    "interrupted: L6 cut": _stream(*TEXT[:4], cut=True),
    "interrupted: L6 no message_stop": _stream(*TEXT[:-1]),
    "malformed: L14 HTML page": Sent(headers=HTML, chunks=(b"<html>Log in</html>",)),
    "malformed: L14 other JSON": json_answer({"choices": []}),
    "malformed: L14 no JSON": _stream(b"event: ping\ndata: {{\n\n"),
    "malformed: L14 no UTF-8": _stream(b'data: "\xff"\n\n'),
    "malformed: L14 deep": _stream(b"data: " + b"[" * 100_000 + b"\n\n"),
    "malformed: L14 index": _stream(_event("content_block_start", index="x", content_block=7)),
    "malformed: L14 gzip": Sent(headers={**STREAM, "content-encoding": "gzip"}, chunks=(b"x",)),
    "malformed: L14 endless": _stream(*(b":" * 1_000_000,) * 9),
    "malformed: L14 redirect": Sent(status=307, headers={"location": "http://127.0.0.1:9/"}),
}
