"""Ollama's chat, in one piece and as lines of JSON, with its counters in nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Step, Wish
from tests.fakes.wire import dialect

STOPS = {"end": "stop", "tools": "stop", "length": "length", "refused": "stop"}
STAMP = "2026-11-20T12:00:00.000000Z"
NANO = 1_000_000_000

#: kind → status, message, as the server's own sources word it.
TROUBLES = {
    "overloaded": (503, "server busy, please try again.  maximum pending requests exceeded"),
    "rate_limited": (429, "too many requests"),
    "spent": (402, "this model requires a subscription"),
    "too_long": (400, "input length exceeds the context length"),
    "spend_400": (400, "this model requires a subscription"),
    "bad_request": (400, "invalid options"),
    "denied": (401, "unauthorized"),
    "billing": (402, "this model requires a subscription"),
    "forbidden": (403, "forbidden"),
    "no_model": (404, "model 'missing:latest' not found"),
    "too_large": (413, "request body too large"),
    "server": (500, "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error"),
    "unavailable": (503, "server unavailable"),
    "gateway": (504, "timed out waiting for llama runner to start"),
}


class Ollama:
    """``POST /api/chat``."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """See Wire."""
        if request.path != "/api/chat":
            return None
        messages, options = body["messages"], body.get("options") or {}
        system = "".join(one["content"] for one in messages if one["role"] == "system")
        parts = tuple(one["content"] for one in messages if one["role"] == "user")
        later = [one for one in messages if one["role"] in ("assistant", "tool")]
        wanted = body.get("format")
        return Asked(
            "ollama",
            body["model"],
            system,
            parts,
            wanted if isinstance(wanted, dict) else None,
            {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in body.get("tools") or ()},
            _exchanges(later),
            body.get("stream", True),
            options.get("num_predict"),
            options.get("num_ctx"),
            cacheable=dialect.cacheable(system, body.get("tools"), *parts, later),
        )

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """See Wire."""
        last = {**_envelope(seen), **_ending(seen, answer, pace or Pace(0, 0, 0))}
        if not seen.streamed:
            return Reply(200, (dialect.dumped({**last, "message": _message(answer)}),), "application/json; charset=utf-8")
        message = _message(answer)
        lines = [
            {**_envelope(seen), "message": {"role": "assistant", "content": piece}, "done": False}
            for piece in dialect.slices(answer.text)
        ]
        if "tool_calls" in message:
            lines.append({**_envelope(seen), "message": {**message, "content": ""}, "done": False})
        lines.append({**last, "message": {"role": "assistant", "content": ""}})
        return Reply(200, tuple(dialect.dumped(line) + b"\n" for line in lines), "application/x-ndjson", streamed=True)

    def trouble(self, fault: Trouble) -> Reply:
        """See Wire."""
        status, message = dialect.row(TROUBLES, fault)
        if fault.kind == "bad_request" and fault.code:
            message = fault.code
        return Reply(
            status, (dialect.dumped({"error": message}),), "application/json; charset=utf-8", dialect.retry_header(fault)
        )

    def error_event(self) -> bytes:
        """See Wire."""
        return b'{"error":"an error was encountered while running the model: unexpected EOF"}\n'


def _exchanges(later: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Results have no ids in this dialect: they answer the wishes in order."""
    steps: list[Step] = []
    for one in later:
        if one["role"] == "assistant":
            calls = [call["function"] for call in one.get("tool_calls") or ()]
            steps.append(Step(tuple(Wish(call["name"], call["arguments"]) for call in calls)))
        else:
            result = (one.get("tool_call_id") or one.get("tool_name") or "", one["content"], False)
            steps[-1] = Step(steps[-1].calls, (*steps[-1].results, result))
    return tuple(steps)


def _envelope(seen: Seen) -> dict[str, Any]:
    return {"model": seen.model, "created_at": STAMP}


def _message(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["thinking"] = answer.thinking
    if answer.tool_calls:
        wishes = [{"name": wish.name, "arguments": dialect.arguments_value(wish)} for wish in answer.tool_calls]
        message["tool_calls"] = [{"function": wish} for wish in wishes]
    if answer.shape == "null_content":
        message["content"] = None
    if answer.shape == "empty_choices":
        return {}
    if answer.shape == "content_parts":
        message["content"] = [{"type": "text", "text": answer.text}]
    return message


def _ending(seen: Seen, answer: Answer, pace: Pace) -> dict[str, Any]:
    ending: dict[str, Any] = {"done": True, "done_reason": STOPS.get(answer.why, answer.why)}
    if answer.shape == "no_usage":
        return ending
    cached = seen.usage.cached
    prompt = seen.usage.input - (cached if pace.counts == "computed" else 0)
    return {
        **ending,
        "total_duration": int((pace.load + pace.prompt + pace.output) * NANO),
        "load_duration": int(pace.load * NANO),
        **({"prompt_eval_count": prompt} if prompt else {}),
        **({"prompt_eval_cached_count": cached} if cached and pace.counts == "cached" else {}),
        "prompt_eval_duration": int(pace.prompt * NANO),
        "eval_count": seen.usage.output,
        "eval_duration": int(pace.output * NANO),
    }
