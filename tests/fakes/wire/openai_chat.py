"""OpenAI's chat completions, plain and as a stream: what most compatible servers speak, too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Step, Wish
from tests.fakes.wire import dialect
from tests.fakes.wire.dialect import Refusal, event

STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refused": "content_filter"}

#: kind or code → status, type, code, message.
TROUBLES = {
    "overloaded": (503, "server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."),
    "rate_limited": (429, "tokens", "rate_limit_exceeded", "Rate limit reached for this model on tokens per min (TPM)."),
    "slow_down": (429, "requests", "slow_down", "Slow down: your request rate rose too quickly."),
    "spent": (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."),
    "organization_usage_limit_exceeded": (429, "insufficient_quota", "organization_usage_limit_exceeded", "Your organization's usage limit is reached."),
    "credit_balance_exhausted": (429, "insufficient_quota", "credit_balance_exhausted", "Your credit balance is exhausted."),
    "organization_spend_limit_exceeded": (429, "insufficient_quota", "organization_spend_limit_exceeded", "Your organization's spend limit is reached."),
    "project_spend_limit_exceeded": (429, "insufficient_quota", "project_spend_limit_exceeded", "The project's spend limit is reached."),
    "too_long": (400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens. Please reduce the length of the messages."),
    "bad_request": (400, "invalid_request_error", "invalid_value", "Invalid value."),
    "spend_400": (400, "invalid_request_error", "billing_hard_limit_reached", "Billing hard limit has been reached."),
    "denied": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "billing": (402, "insufficient_quota", "insufficient_quota", "Insufficient credits."),
    "forbidden": (403, "invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported"),
    "no_model": (404, "invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    "too_large": (413, "invalid_request_error", None, "Request too large."),
    "server": (500, "server_error", None, "The server had an error while processing your request. Sorry about that!"),
    "unavailable": (503, "server_error", None, "Service Unavailable"),
    "gateway": (504, "server_error", None, "Gateway Timeout"),
}  # fmt: skip


class Chat:
    """``POST /v1/chat/completions``."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """See Wire."""
        if request.path != "/v1/chat/completions":
            return None
        messages = body["messages"]
        system = "".join(
            text for one in messages if one["role"] in ("system", "developer") for text in dialect.text_of(one["content"])
        )
        parts = tuple(text for one in messages if one["role"] == "user" for text in dialect.text_of(one["content"]))
        tools = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in body.get("tools") or ()}
        later = [one for one in messages if one["role"] in ("assistant", "tool")]
        return Asked(
            "openai",
            body["model"],
            system,
            parts,
            schema_of(body.get("response_format")),
            tools,
            _exchanges(later),
            bool(body.get("stream")),
            body.get("max_completion_tokens") or body.get("max_tokens"),
            cacheable=dialect.cacheable(body.get("tools"), system, *parts, later),
        )

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """See Wire."""
        headers = (("x-request-id", f"req_{seen.number:06d}"),)
        if seen.streamed:
            return Reply(200, tuple(_events(seen, answer)), "text/event-stream; charset=utf-8", headers, streamed=True)
        choice = {
            "index": 0,
            "message": _message(seen, answer),
            "logprobs": None,
            "finish_reason": STOPS.get(answer.why, answer.why),
        }
        document = {**_envelope(seen, "chat.completion"), "choices": [choice], "usage": _usage(seen), "service_tier": "default"}
        if answer.shape == "empty_choices":
            document["choices"] = []
        if answer.shape == "no_usage":
            del document["usage"]
        return Reply(200, (dialect.dumped(document),), headers=headers)

    def trouble(self, fault: Trouble) -> Reply:
        """See Wire."""
        return error_reply(fault)

    def error_event(self) -> bytes:
        """See Wire."""
        error = {
            "message": "The server had an error while processing your request.",
            "type": "server_error",
            "param": None,
            "code": None,
        }
        return event({"error": error})


def error_reply(fault: Trouble) -> Reply:
    """OpenAI's error body."""
    status, kind, code, message = dialect.row(TROUBLES, fault)
    if fault.kind == "bad_request" and fault.code:
        message = fault.code
    param = "messages" if code == "context_length_exceeded" else None
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Reply(
        status, (dialect.dumped({"error": error}),), headers=(*dialect.retry_header(fault), ("x-request-id", "req_fault"))
    )


def schema_of(response_format: Any) -> Mapping[str, Any] | None:
    """The schema in a ``response_format``, after the checks of strict mode. Raises Refusal."""
    wanted = response_format or {}
    if wanted.get("type") == "json_schema":
        named = wanted["json_schema"]
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", named["name"]):
            raise Refusal(f"Invalid 'response_format.json_schema.name': {named['name']!r} does not match the pattern")
        if named.get("strict"):
            check_strict(named["schema"], named["name"])
        schema: Mapping[str, Any] = named["schema"]
        return schema
    return wanted.get("schema")


def check_strict(schema: Any, name: str) -> None:
    """What strict mode refuses. Raises Refusal in the vendor's words."""
    for part in dialect.walk(schema):
        where = f"Invalid schema for response_format '{name}': "
        if not {"type", "anyOf", "$ref"} & set(part):
            raise Refusal(where + "schema must have a 'type' key.")
        if "properties" in part:
            if part.get("additionalProperties") is not False:
                raise Refusal(where + "'additionalProperties' is required to be supplied and to be false.")
            if missing := set(part["properties"]) - set(part.get("required", ())):
                raise Refusal(
                    where + f"'required' is required to be supplied and to include every key. Missing '{min(missing)}'."
                )
        for word in ("minLength", "maxLength", "uniqueItems", "allOf", "oneOf", "not"):
            if word in part:
                raise Refusal(where + f"'{word}' is not permitted.")


def _exchanges(later: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for one in later:
        if one["role"] == "assistant":
            calls = one.get("tool_calls") or ()
            steps.append(Step(tuple(Wish(c["function"]["name"], c["function"]["arguments"], c["id"]) for c in calls)))
            continue
        if not steps or one["tool_call_id"] not in [call.id for call in steps[-1].calls]:
            raise Refusal("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
        result = (one["tool_call_id"], "".join(dialect.text_of(one["content"])), False)
        steps[-1] = Step(steps[-1].calls, (*steps[-1].results, result))
    for step in steps:
        if len(step.results) != len(step.calls):
            raise Refusal(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
            )
    return tuple(steps)


def _envelope(seen: Seen, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{seen.number:06d}",
        "object": kind,
        "created": 1_790_000_000,
        "model": seen.model,
        "system_fingerprint": "fp_fake",
    }


def _usage(seen: Seen) -> dict[str, Any]:
    usage = seen.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _message(seen: Seen, answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None, "annotations": []}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.tool_calls:
        message["content"] = answer.text or None
        message["tool_calls"] = _tool_calls(seen, answer)
    if answer.shape in ("null_content", "refusal"):
        message["content"] = None
    if answer.shape == "refusal":
        message["refusal"] = answer.detail
    if answer.shape == "content_parts":
        half = len(answer.text) // 2
        message["content"] = [{"type": "text", "text": answer.text[:half]}, {"type": "text", "text": answer.text[half:]}]
    return message


def _tool_calls(seen: Seen, answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": dialect.call_id(seen, index, wish, "call_"),
            "type": "function",
            "function": {"name": wish.name, "arguments": dialect.arguments_text(wish)},
        }
        for index, wish in enumerate(answer.tool_calls)
    ]


def _events(seen: Seen, answer: Answer) -> list[bytes]:
    def part(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choices = (
            [] if answer.shape == "empty_choices" else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        )
        return event({**_envelope(seen, "chat.completion.chunk"), "choices": choices})

    found = [part({"role": "assistant", "content": "", "refusal": None})]
    message = _message(seen, answer)
    content = message["content"]
    if isinstance(content, str) and content:
        found += [part({"content": piece}) for piece in dialect.slices(content)]
    elif message["refusal"]:
        found += [part({"refusal": piece}) for piece in dialect.slices(message["refusal"])]
    elif content:
        found += [part({"content": [piece]}) for piece in content]
    for index, call in enumerate(message.get("tool_calls", ())):
        start = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        found.append(part({"tool_calls": [start]}))
        for piece in dialect.slices(call["function"]["arguments"]):
            found.append(part({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    found.append(part({}, STOPS.get(answer.why, answer.why)))
    if answer.shape != "no_usage" and _wants_usage(seen):
        found.append(event({**_envelope(seen, "chat.completion.chunk"), "choices": [], "usage": _usage(seen)}))
    return [*found, b"data: [DONE]\n\n"]


def _wants_usage(seen: Seen) -> bool:
    return bool((seen.body.get("stream_options") or {}).get("include_usage"))
