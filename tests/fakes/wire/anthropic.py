"""Anthropic's Messages API, plain and as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Step, Wish
from tests.fakes.wire import dialect
from tests.fakes.wire.dialect import Refusal, event

STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "refusal"}

#: kind → status, type, message. Texts from the vendor's error pages and threads, see the table of documented faults.
TROUBLES = {
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "rate_limited": (
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    ),
    "spent": (429, "rate_limit_error", "This organization has reached its enforced spend limit."),
    "too_long": (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "spend_400": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
    ),
    "bad_request": (400, "invalid_request_error", "max_tokens: Input should be greater than or equal to 0"),
    "denied": (401, "authentication_error", "invalid x-api-key"),
    "billing": (402, "billing_error", "There is an issue with your organization's billing or payment information."),
    "forbidden": (403, "permission_error", "Your API key does not have permission to use the specified resource."),
    "no_model": (404, "not_found_error", "model: claude-retired-1"),
    "too_large": (413, "request_too_large", "Request exceeds the maximum allowed number of bytes."),
    "server": (500, "api_error", "Internal server error"),
    "unavailable": (503, "api_error", "Service unavailable"),
    "gateway": (504, "timeout_error", "Request timed out"),
}
UNSUPPORTED = ("minLength", "maxLength", "minimum", "maximum", "multipleOf", "maxItems", "uniqueItems")


class Messages:
    """``POST /v1/messages``."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """See Wire."""
        if request.path != "/v1/messages":
            return None
        if "anthropic-version" not in request.headers:
            raise Refusal("anthropic-version: header is required")
        if not isinstance(body.get("max_tokens"), int):
            raise Refusal("max_tokens: Field required")
        first, *later = body["messages"]
        if first["role"] != "user" or body["messages"][-1]["role"] != "user":
            raise Refusal("messages: the conversation must begin and end with a user turn")
        schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
        _check_schema(schema)
        tools = {tool["name"]: tool["input_schema"] for tool in body.get("tools") or ()}
        spans, ends = _spans(body)
        return Asked(
            "anthropic",
            body["model"],
            "".join(dialect.text_of(body.get("system"))),
            tuple(dialect.text_of(first["content"])),
            schema,
            tools,
            _exchanges(later),
            bool(body.get("stream")),
            body["max_tokens"],
            cacheable=b"".join(spans),
            breakpoints=ends,
        )

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """See Wire."""
        message = _message(seen, answer)
        headers = (("request-id", f"req_{seen.number:06d}"),)
        if not seen.streamed:
            return Reply(200, (dialect.dumped(message),), headers=headers)
        return Reply(200, tuple(_events(message)), "text/event-stream; charset=utf-8", headers, streamed=True)

    def trouble(self, fault: Trouble) -> Reply:
        """See Wire."""
        status, kind, message = dialect.row(TROUBLES, fault)
        error: dict[str, Any] = {"type": kind, "message": fault.code if fault.kind == "bad_request" and fault.code else message}
        if fault.kind == "spent":
            error["details"] = {"error_code": "enforced_spend_limit_reached"}
        body = {"type": "error", "error": error, "request_id": "req_fault"}
        return Reply(status, (dialect.dumped(body),), headers=(*dialect.retry_header(fault), ("request-id", "req_fault")))

    def error_event(self) -> bytes:
        """See Wire."""
        return event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error")


def _check_schema(schema: Any) -> None:
    for part in dialect.walk(schema):
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            raise Refusal(
                "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
            )
        for word in UNSUPPORTED:
            if word in part:
                raise Refusal(f"output_config.format.schema: For '{part.get('type')}' type, property '{word}' is not supported")


def _spans(body: Mapping[str, Any]) -> tuple[list[bytes], tuple[int, ...]]:
    """What a cache sees, in the vendor's order (tools, system, messages), and where the client put its breakpoints."""
    system = body.get("system") or []
    blocks = [*(body.get("tools") or ()), *([{"text": system}] if isinstance(system, str) else system)]
    for message in body["messages"]:
        content = message["content"]
        blocks += [{"text": content}] if isinstance(content, str) else content
    spans: list[bytes] = []
    ends, at = [], 0
    for block in blocks:
        if block.get("type") == "text" and not block["text"]:
            raise Refusal("messages: text content blocks must be non-empty")
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        spans.append(bare["text"].encode() if "text" in bare else dialect.dumped(bare))
        at += len(spans[-1])
        if block.get("cache_control"):
            ends.append(at)
    if len(ends) > 4:
        raise Refusal(f"A maximum of 4 blocks with cache_control may be provided. Found {len(ends)}.")
    return spans, tuple(ends)


def _exchanges(messages: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps = []
    for wished, got in zip(messages[::2], messages[1::2], strict=True):
        uses = [block for block in wished["content"] if block["type"] == "tool_use"]
        results = [block for block in got["content"] if block["type"] == "tool_result"]
        if [use["id"] for use in uses] != [result["tool_use_id"] for result in results]:
            raise Refusal("messages: `tool_use` ids were found without `tool_result` blocks immediately after")
        calls = tuple(Wish(use["name"], use["input"], use["id"]) for use in uses)
        answers = [(one["tool_use_id"], "".join(dialect.text_of(one["content"])), bool(one.get("is_error"))) for one in results]
        steps.append(Step(calls, tuple(answers)))
    return tuple(steps)


def _content(seen: Seen, answer: Answer) -> list[dict[str, Any]]:
    if answer.shape in ("empty_choices", "null_content"):
        return []
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": f"sig{seen.number}=="})
    if answer.text or not answer.tool_calls:
        if answer.shape == "content_parts":
            half = len(answer.text) // 2
            blocks += [{"type": "text", "text": answer.text[:half], "citations": None}]
            blocks += [{"type": "text", "text": answer.text[half:], "citations": None}]
        elif answer.text:
            blocks.append({"type": "text", "text": answer.text, "citations": None})
    for index, wish in enumerate(answer.tool_calls):
        use = {"type": "tool_use", "id": dialect.call_id(seen, index, wish, "toolu_"), "name": wish.name}
        blocks.append({**use, "input": dialect.arguments_value(wish)})
    return blocks


def _message(seen: Seen, answer: Answer) -> dict[str, Any]:
    stop, usage = STOPS.get(answer.why, answer.why), seen.usage
    message: dict[str, Any] = {
        "id": f"msg_{seen.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": _content(seen, answer),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input - usage.cached - usage.cache_written,
            "cache_creation_input_tokens": usage.cache_written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": usage.output,
            "service_tier": "standard",
        },
    }
    if stop == "refusal":
        message["stop_details"] = {"type": "refusal", "category": answer.detail or None, "explanation": None}
    if answer.shape == "no_usage":
        del message["usage"]
    return message


def _events(message: dict[str, Any]) -> list[bytes]:
    opening = {**message, "content": [], "stop_reason": None}
    opening.pop("stop_details", None)
    if "usage" in message:
        opening["usage"] = {**message["usage"], "output_tokens": 1}
    found = [event({"type": "message_start", "message": opening}, "message_start"), event({"type": "ping"}, "ping")]
    for index, block in enumerate(message["content"]):
        found += _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    if "stop_details" in message:
        delta["stop_details"] = message["stop_details"]
    closing: dict[str, Any] = {"type": "message_delta", "delta": delta}
    if "usage" in message:
        closing["usage"] = {key: value for key, value in message["usage"].items() if key.endswith("_tokens")}
    return [*found, event(closing, "message_delta"), event({"type": "message_stop"}, "message_stop")]


def _block_events(index: int, block: dict[str, Any]) -> list[bytes]:
    if block["type"] == "tool_use":
        start, deltas = {**block, "input": {}}, dialect.slices(dialect.dumped(block["input"]).decode())
        changes: list[dict[str, Any]] = [{"type": "input_json_delta", "partial_json": piece} for piece in deltas]
    elif block["type"] == "thinking":
        start = {"type": "thinking", "thinking": "", "signature": ""}
        changes = [{"type": "thinking_delta", "thinking": piece} for piece in dialect.slices(block["thinking"])]
        changes.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        start, changes = {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in dialect.slices(block["text"])]
    return [
        event({"type": "content_block_start", "index": index, "content_block": start}, "content_block_start"),
        *(event({"type": "content_block_delta", "index": index, "delta": change}, "content_block_delta") for change in changes),
        event({"type": "content_block_stop", "index": index}, "content_block_stop"),
    ]
