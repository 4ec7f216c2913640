"""Answers of an Ollama server, as lines of JSON."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.vendor_server import Sent, json_answer

LINES = {"content-type": "application/x-ndjson"}
HTML = b"<!doctype html><html><body><h1>Sign in to this network</h1></body></html>"


def answer(
    text: str = "",
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, Any]] = (),
    input_tokens: int = 100,
    output_tokens: int = 10,
    input_seconds: float = 0.25,
    output_seconds: float = 2,
    done_reason: str = "stop",
) -> Sent:
    """A text in two pieces, or calls of tools as (name, arguments), with what was measured."""
    half = len(text) // 2
    messages: list[dict[str, Any]] = [{"content": "", "thinking": thinking}] if thinking else []
    messages += [{"content": piece} for piece in (text[:half], text[half:]) if piece]
    functions = [{"function": {"name": name, "arguments": value}} for name, value in calls]
    messages += [{"content": "", "tool_calls": [function]} for function in functions]
    seconds = {"load": 0.5, "prompt_eval": input_seconds, "eval": output_seconds}
    end = {f"{name}_duration": round(value * 1e9) for name, value in seconds.items()}
    end |= {"prompt_eval_count": input_tokens, "eval_count": output_tokens}
    parts = [{"message": {"role": "assistant", **each}, "done": False} for each in messages]
    last = {"done": True, "done_reason": done_reason, **end}
    return lines(*parts, {"message": {"role": "assistant", "content": ""}, **last})


def lines(*documents: Any) -> Sent:
    frame = {"model": "fake", "created_at": "2026-11-20T12:00:00.000000Z"}
    chunks = tuple(json.dumps({**frame, **each}).encode() + b"\n" for each in documents)
    return Sent(headers=LINES, chunks=chunks)


def error(status: int, message: str) -> Sent:
    return json_answer({"error": message}, status)


# Faults by name, each with the fault of the ProviderError that follows from it.
FAULTS: dict[str, Sent] = {
    "L7 too long: too_long": error(400, "input length exceeds the context length"),
    "llama.cpp too long: too_long": error(400, '{"error": {"type": "exceed_context_size_error"}}'),
    "L14 HTML: malformed": Sent(headers={"content-type": "text/html"}, chunks=(HTML,)),
    "not UTF-8: malformed": Sent(chunks=(b'{"done": \xff}\n',)),
    "L14 cut: interrupted": replace(answer("{}"), chunks=answer("{}").chunks[:1], cut=True),
    "L14 no end: interrupted": replace(answer("{}"), chunks=answer("{}").chunks[:1]),
    "nothing: malformed": Sent(),
    "empty: malformed": answer(""),
    "only thinking: malformed": answer(thinking="Hm."),
    "length: truncated": answer("{", done_reason="length"),
    "unload: malformed": answer("{}", done_reason="unload"),
    "busy: overloaded": error(503, "server busy, maximum pending requests exceeded"),
    "rate limit: rate_limited": replace(
        error(429, "too many requests"),
        headers={"content-type": "application/json", "retry-after": "7"},
    ),
    "subscription: spent": error(402, "this model requires a subscription"),
    "bad request: invalid": error(400, "invalid options"),
    "no model: no_model": error(404, "model 'fake:1b' not found"),
    "no path: invalid": Sent(status=404, chunks=(b"404 page not found",)),
    "memory: no_model": error(500, "model requires more system memory than is available"),
    "error in 200: overloaded": error(200, "llama runner process has terminated"),
    "error line: overloaded": lines({"message": {"content": "{"}}, {"error": "unexpected EOF"}),
    "deep: malformed": Sent(chunks=(b'{"error":' + b"[" * 100_000,)),
}
