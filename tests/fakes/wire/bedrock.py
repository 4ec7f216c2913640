"""Bedrock's Converse in one piece. Signatures are recorded, not verified."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Step, Wish
from tests.fakes.wire import dialect
from tests.fakes.wire.dialect import Refusal

PATH = re.compile(r"/model/(?P<model>.+)/converse")
ANSWER_TOOL = "answer"
STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "content_filtered"}

#: kind or code → status, exception, message.
TROUBLES = {
    "overloaded": (503, "ServiceUnavailableException", "Too many connections, please wait before trying again."),
    "ModelNotReadyException": (429, "ModelNotReadyException", "The model is not ready for inference. Try again later."),
    "rate_limited": (429, "ThrottlingException", "Too many requests, please wait before trying again."),
    "spent": (400, "ServiceQuotaExceededException", "You have exceeded your daily token quota."),
    "too_long": (400, "ValidationException", "The model returned the following errors: Input is too long for requested model."),
    "bad_request": (400, "ValidationException", "Malformed input request, please reformat your input and try again."),
    "spend_400": (400, "ServiceQuotaExceededException", "Too many tokens per day, please wait before trying again."),
    "denied": (403, "UnrecognizedClientException", "The security token included in the request is invalid."),
    "billing": (403, "AccessDeniedException", "Your account is not authorized to invoke this API operation."),
    "forbidden": (403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
    "no_model": (404, "ResourceNotFoundException", "This model version has reached the end of its life."),
    "too_large": (413, "RequestEntityTooLargeException", "Request entity is too large"),
    "server": (
        500,
        "InternalServerException",
        "The system encountered an unexpected error during processing. Try your request again.",
    ),
    "ModelErrorException": (424, "ModelErrorException", "The model returned an error while processing the request."),
    "unavailable": (503, "ServiceUnavailableException", "The service isn't currently available."),
    "gateway": (
        408,
        "ModelTimeoutException",
        "The request took too long to process. Processing time exceeded the model timeout length.",
    ),
}


class Converse:
    """``POST /model/M/converse``."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """See Wire."""
        match = PATH.fullmatch(request.path)
        if match is None:
            return None
        first, *later = body["messages"]
        if first["role"] != "user" or body["messages"][-1]["role"] != "user":
            raise Refusal("A conversation must start and end with a user message.")
        config = body.get("toolConfig") or {}
        tools = {
            tool["toolSpec"]["name"]: tool["toolSpec"]["inputSchema"]["json"]
            for tool in config.get("tools") or ()
            if "toolSpec" in tool
        }
        structure = (((body.get("outputConfig") or {}).get("textFormat") or {}).get("structure") or {}).get("jsonSchema") or {}
        forced = ((config.get("toolChoice") or {}).get("tool") or {}).get("name") or (ANSWER_TOOL if ANSWER_TOOL in tools else "")
        schema = json.loads(structure["schema"]) if structure else tools.pop(forced, None)
        spans, ends = _spans(body)
        return Asked(
            "bedrock",
            match["model"],
            "".join(dialect.text_of(body.get("system"))),
            tuple(dialect.text_of(first["content"])),
            schema,
            tools,
            _exchanges(later),
            max_output=(body.get("inferenceConfig") or {}).get("maxTokens"),
            forced_tool="" if structure else forced,
            cacheable=b"".join(spans),
            breakpoints=ends,
        )

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """See Wire."""
        usage, stop = seen.usage, STOPS.get(answer.why, answer.why)
        content = _content(seen, answer)
        if any("toolUse" in block for block in content) and answer.why == "end":
            stop = "tool_use"
        document: dict[str, Any] = {
            "metrics": {"latencyMs": 12},
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": stop,
            "usage": {
                "inputTokens": usage.input - usage.cached - usage.cache_written,
                "outputTokens": usage.output,
                "totalTokens": usage.input + usage.output,
                "cacheReadInputTokens": usage.cached,
                "cacheWriteInputTokens": usage.cache_written,
            },
        }
        if answer.shape == "null_content":
            del document["output"]
        if answer.shape == "no_usage":
            del document["usage"]
        return Reply(200, (dialect.dumped(document),), headers=(("x-amzn-RequestId", f"req-{seen.number:06d}"),))

    def trouble(self, fault: Trouble) -> Reply:
        """See Wire."""
        status, name, message = dialect.row(TROUBLES, fault)
        if fault.kind == "bad_request" and fault.code:
            message = fault.code
        return Reply(
            status, (dialect.dumped({"message": message}),), headers=(("x-amzn-ErrorType", name), *dialect.retry_header(fault))
        )

    def error_event(self) -> bytes:
        """See Wire."""
        return b""


def _spans(body: Mapping[str, Any]) -> tuple[list[bytes], tuple[int, ...]]:
    """What a cache sees (tools, system, messages), and where ``cachePoint`` blocks mark it."""
    blocks = [*((body.get("toolConfig") or {}).get("tools") or ()), *(body.get("system") or ())]
    blocks += [block for message in body["messages"] for block in message["content"]]
    spans: list[bytes] = []
    ends, at = [], 0
    for block in blocks:
        if "cachePoint" in block:
            ends.append(at)
            continue
        if "text" in block and not block["text"].strip():
            raise Refusal("The text field in the ContentBlock object is blank. Add text to the text field, and try again.")
        spans.append(block["text"].encode() if "text" in block else dialect.dumped(block))
        at += len(spans[-1])
    return spans, tuple(ends)


def _exchanges(messages: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps = []
    for wished, got in zip(messages[::2], messages[1::2], strict=True):
        uses = [block["toolUse"] for block in wished["content"] if "toolUse" in block]
        results = [block["toolResult"] for block in got["content"] if "toolResult" in block]
        if sorted(use["toolUseId"] for use in uses) != sorted(result["toolUseId"] for result in results):
            raise Refusal("Expected toolResult blocks for the Ids of the preceding toolUse blocks.")
        calls = tuple(Wish(use["name"], use["input"], use["toolUseId"]) for use in uses)
        steps.append(Step(calls, tuple(_result(one) for one in results)))
    return tuple(steps)


def _result(block: Mapping[str, Any]) -> tuple[str, str, bool]:
    said = "".join(piece["text"] if "text" in piece else json.dumps(piece.get("json")) for piece in block["content"])
    return block["toolUseId"], said, block.get("status") == "error"


def _content(seen: Seen, answer: Answer) -> list[dict[str, Any]]:
    """Text, or the forced tool's input where a tool takes the answer and the text is JSON."""
    if answer.shape == "empty_choices":
        return []
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        blocks.append({"reasoningContent": {"reasoningText": {"text": answer.thinking, "signature": f"sig{seen.number}=="}}})
    if seen.asked.forced_tool and not answer.tool_calls and (value := _as_json(answer.text)) is not None:
        use = {"toolUseId": f"tooluse_{seen.number:06d}", "name": seen.asked.forced_tool, "input": value}
        return [*blocks, {"toolUse": use}]
    half = len(answer.text) // 2
    texts = (answer.text[:half], answer.text[half:]) if answer.shape == "content_parts" else (answer.text,)
    blocks += [{"text": text} for text in texts if text]
    for index, wish in enumerate(answer.tool_calls):
        use = {
            "toolUseId": dialect.call_id(seen, index, wish, "tooluse_"),
            "name": wish.name,
            "input": dialect.arguments_value(wish),
        }
        blocks.append({"toolUse": use})
    return blocks


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
