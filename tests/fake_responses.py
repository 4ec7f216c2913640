"""Answers of OpenAI's Responses API, as events of a stream."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.fake_openai import EVENTS
from tests.fake_openai import FAULTS as CHAT_FAULTS
from tests.vendor_server import Sent

THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA", "x": None}


def message(text: str, *, phase: str = "final_answer", kind: str = "output_text") -> dict[str, Any]:
    name = "refusal" if kind == "refusal" else "text"
    part = {"type": kind, name: text, **({} if name == "refusal" else {"annotations": []})}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**item, "phase": phase, "content": [part]}


def answer(
    text: str = "",
    *,
    calls: Sequence[tuple[str, Any]] = (),
    input_tokens: int = 100,
    cached: int = 0,
    stored: int = 0,
    output_tokens: int = 10,
) -> Sent:
    """A text in two pieces, or calls of tools as (name, arguments), with what was counted."""
    usage = counted(input_tokens, output_tokens, cached, stored)
    items = []
    for number, (name, value) in enumerate(calls):
        ids = {"id": f"fc_{number}", "call_id": f"call_{number}", "type": "function_call"}
        call = {"name": name, "arguments": json.dumps(value), "status": "completed"}
        items.append({**ids, **call})
    half = len(text) // 2
    pieces = [piece for piece in (text[:half], text[half:]) if piece]
    output = [THOUGHT, *([message(text)] if text else []), *items]
    return ended(*output, pieces=pieces, usage=usage)


def counted(read: int, written: int, cached: int = 0, stored: int = 0) -> dict[str, Any]:
    details = {"cached_tokens": cached, "cache_write_tokens": stored}
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return {
        **usage,
        "input_tokens_details": details,
        "output_tokens_details": {"reasoning_tokens": 0},
    }


def ended(*output: Any, pieces: Sequence[str] = (), status: str = "completed", **more: Any) -> Sent:
    """A whole stream."""
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    response |= {"created_at": 1, "model": "fake", "tools": [], "error": None, "usage": None}
    response |= {"tool_choice": "auto", "parallel_tool_calls": True, "incomplete_details": None}
    last = {**response, "status": status, "output": output, **more}
    said = message("") | {"status": "in_progress", "content": []}
    place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    delta = {"type": "response.output_text.delta", **place, "logprobs": []}
    text = [
        {"type": "response.output_item.added", "output_index": 1, "item": said},
        {"type": "response.content_part.added", **place, "part": part},
        *({**delta, "delta": piece} for piece in pieces),
    ]
    return events(
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": THOUGHT},
        *(text if pieces else ()),
        {"type": f"response.{status}", "response": last},
    )


def events(*documents: Any) -> Sent:
    form = b"event: %b\ndata: %b\n\n"
    numbered = ({"sequence_number": number, **each} for number, each in enumerate(documents))
    texts = ((each["type"].encode(), json.dumps(each).encode()) for each in numbered)
    return Sent(headers=EVENTS, chunks=tuple(form % text for text in texts))


def incomplete(reason: str) -> Sent:
    usage = counted(9, 500)
    details = {"reason": reason}
    return ended(THOUGHT, status="incomplete", incomplete_details=details, usage=usage)


def failed(code: str) -> Sent:
    return ended(status="failed", error={"code": code, "message": "It failed."})


# Faults by name, each with the fault of the ProviderError that follows from it.
FAULTS: dict[str, Sent] = {
    **{n: sent for n, sent in CHAT_FAULTS.items() if sent.status >= 400 and "no path" not in n},
    "length: truncated": incomplete("max_output_tokens"),
    "filter: refused": incomplete("content_filter"),
    "steered: malformed": incomplete("steered"),
    "refusal: refused": ended(message("I cannot.", kind="refusal")),
    "thoughts alone: malformed": ended(THOUGHT),
    "comment alone: malformed": ended(message("I look at it.", phase="commentary")),
    "failed: overloaded": failed("server_error"),
    "failed, limit: rate_limited": failed("rate_limit_exceeded"),
    "failed, prompt: refused": failed("invalid_prompt"),
    "L11 policy: refused": failed("bio_policy"),
    **{
        f"L11 {status}: interrupted": ended(message("{}"), status=status)
        for status in ("in_progress", "cancelled", "queued")
    },
    "event: overloaded": events({"type": "error", "code": "server_error", "message": "Sorry."}),
    "cut: interrupted": replace(answer('{"claims": []}'), chunks=answer("{}").chunks[:2], cut=True),
    "no end: interrupted": replace(answer("{}"), chunks=answer("{}").chunks[:-1]),
    "no output: malformed": ended(output=None),
    "not an event: malformed": Sent(headers=EVENTS, chunks=(b"data: [1]\n\n",)),
}
