"""Bedrock's Converse in our words: what is asked of which model, why it stopped, what its errors mean. No SDK.

Models behind one API differ in what they take, and say so only when asked: whatever one complains about is left out from then on.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Set
from enum import StrEnum
from typing import Any

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.schema_dialects import plain
from reviewbot.ports import Completion, Exchange, Fault, ModelCall, ProviderError, Stop, Tokens, ToolCall
from reviewbot.screen import strict_json

ANSWER_TOOL = "answer"


class Feature(StrEnum):
    """What not every model takes, in the order in which complaints are searched for it."""

    CACHE = "cache"
    EFFORT = "effort"
    SCHEMA = "schema"
    CHOICE = "choice"
    TOOLS = "tools"
    SYSTEM = "system"


#: Words of a ValidationException, and what is left out for them.
_COMPLAINTS = (
    (Feature.CACHE, re.compile(r"cache.?point|prompt.?caching|cache_control", re.I)),
    (Feature.EFFORT, re.compile(r"\beffort\b", re.I)),
    (Feature.SCHEMA, re.compile(r"output.?config|text.?format|json.?schema|structured output|output.?format", re.I)),
    (Feature.CHOICE, re.compile(r"tool.?choice", re.I)),
    (Feature.TOOLS, re.compile(r"tool.?config|tool.?use|\btools?\b", re.I)),
    (Feature.SYSTEM, re.compile(r"system (?:prompt|message|instruction)|\bsystem\b.{0,40}support", re.I)),
)
#: A complaint that names nothing. The newest of what was asked for is left out first.
_VAGUE = re.compile(r"not (?:supported|permitted|allowed)|unsupported|n't support|extraneous|malformed|output.?config", re.I)
_CACHING = re.compile(r"claude|nova", re.I)
_THINKING = re.compile(r"claude", re.I)

_STOPS = {
    "end_turn": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "guardrail_intervened": Stop.REFUSED,
    "content_filtered": Stop.REFUSED,
}
_FAULTS = {
    "ThrottlingException": Fault.RATE_LIMITED,
    "TooManyRequestsException": Fault.RATE_LIMITED,
    "ServiceQuotaExceededException": Fault.SPENT,
    "ModelTimeoutException": Fault.TIMEOUT,
    "ModelNotReadyException": Fault.OVERLOADED,
    "ServiceUnavailableException": Fault.OVERLOADED,
    "ModelErrorException": Fault.SERVER,
    "InternalServerException": Fault.SERVER,
    "AccessDeniedException": Fault.DENIED,
    "UnrecognizedClientException": Fault.DENIED,
    "InvalidSignatureException": Fault.DENIED,
    "IncompleteSignatureException": Fault.DENIED,
    "ExpiredTokenException": Fault.DENIED,
    "ResourceNotFoundException": Fault.NO_MODEL,
    "ValidationException": Fault.INVALID,
}
_TOO_LONG = re.compile(
    r"(?:input|prompt|request).{0,20}too (?:long|large)|context.?(?:limit|window|length)|too many input tokens", re.I
)
_NO_MODEL = re.compile(
    r"model identifier is invalid|on-demand throughput|inference profile|access to the model|end of its life", re.I
)
_SPENT = re.compile(r"per day|daily", re.I)


def request(call: ModelCall, without: Set[Feature]) -> dict[str, Any]:
    """The arguments of ``converse``, but for what this model does not take (``without``)."""
    body: dict[str, Any] = {
        "modelId": call.model,
        "messages": _messages(call, without),
        "inferenceConfig": {"maxTokens": call.max_output_tokens},
    }
    if call.system and Feature.SYSTEM not in without:
        body["system"] = [{"text": call.system}]
    config: dict[str, Any] = {}
    if _THINKING.search(call.model) and Feature.EFFORT not in without:
        config["effort"] = call.effort
    if call.tools and Feature.TOOLS not in without:
        body["toolConfig"] = {"tools": [_tool(t.name, t.description, t.parameters) for t in call.tools]}
    elif call.schema and Feature.SCHEMA not in without:
        config["textFormat"] = {
            "type": "json_schema",
            "structure": {"jsonSchema": {"name": call.schema_name, "schema": json.dumps(plain(call.schema))}},
        }
    elif call.schema and not {Feature.TOOLS, Feature.CHOICE} & without:
        body["toolConfig"] = {
            "tools": [_tool(ANSWER_TOOL, "Give the answer.", plain(call.schema))],
            "toolChoice": {"tool": {"name": ANSWER_TOOL}},
        }
    if call.exchanges and "toolConfig" not in body:
        # A conversation in which tools were used must name them.
        names = dict.fromkeys(made.name for exchange in call.exchanges for made in exchange.calls)
        body["toolConfig"] = {"tools": [_tool(name, "", {"type": "object"}) for name in names]}
    if config:
        body["outputConfig"] = config
    return body


def leave_out(words: str, body: Mapping[str, Any]) -> Feature | None:
    """What of ``body`` a ValidationException complains about; ``None``: nothing that could be left out."""
    config, tools = body.get("outputConfig", {}), body.get("toolConfig", {})
    present = {
        Feature.CACHE: any("cachePoint" in block for message in body["messages"] for block in message["content"]),
        Feature.EFFORT: "effort" in config,
        Feature.SCHEMA: "textFormat" in config,
        Feature.CHOICE: "toolChoice" in tools,
        Feature.TOOLS: bool(tools) and len(body["messages"]) == 1,
        Feature.SYSTEM: "system" in body,
    }
    named = next((feature for feature, pattern in _COMPLAINTS if present[feature] and pattern.search(words)), None)
    if named or not _VAGUE.search(words) or _NO_MODEL.search(words):
        return named
    return next((feature for feature in (Feature.SCHEMA, Feature.EFFORT) if present[feature]), None)


def completion(answer: Mapping[str, Any], *, forced: bool) -> Completion:
    """The parsed response of ``converse`` as a value. ``forced``: the answer was asked for as a call of ANSWER_TOOL.

    Raises ProviderError for one that holds no message.
    """
    message = (answer.get("output") or {}).get("message")
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise ProviderError(Fault.UNREADABLE, "this is not Bedrock's answer: it holds no message")
    said = str(answer.get("stopReason") or "nothing")[:60]
    blocks = [block for block in message["content"] if "SDK_UNKNOWN_MEMBER" not in block]
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    text = "".join(block["text"] for block in blocks if "text" in block)
    stop = _STOPS.get(said, Stop.OTHER)
    given = next((use for use in uses if forced and use.get("name") == ANSWER_TOOL), None)
    if stop is Stop.TOOLS and given is not None:
        stop, text, uses = Stop.END, json.dumps(given.get("input"), ensure_ascii=False), []
    elif stop is Stop.TOOLS and not uses:
        stop = Stop.OTHER
    calls = tuple(ToolCall(use["toolUseId"], use["name"], json.dumps(use.get("input"), ensure_ascii=False)) for use in uses)
    metadata = answer.get("ResponseMetadata") or {}
    return Completion(
        stop=stop,
        text=text,
        tokens=_tokens(answer.get("usage")),
        tool_calls=calls if stop is Stop.TOOLS else (),
        opaque=json.dumps(blocks, default=_packed) if stop is Stop.TOOLS else "",
        reason="" if stop in (Stop.END, Stop.TOOLS) else f"stopReason is {said}",
        request_id=str(metadata.get("RequestId") or "")[:200],
    )


def fault_of(code: str, status: int, words: str) -> Fault:
    """What an error means: its ``code`` first, its ``words`` where one code stands for several things."""
    fault = _FAULTS.get(code) or http.fault_of_status(status)
    if fault is Fault.RATE_LIMITED and _SPENT.search(words):
        return Fault.SPENT
    if fault is Fault.INVALID and _TOO_LONG.search(words):
        return Fault.TOO_LONG
    if fault in (Fault.INVALID, Fault.DENIED) and _NO_MODEL.search(words):
        return Fault.NO_MODEL
    return fault


def _messages(call: ModelCall, without: Set[Feature]) -> list[dict[str, Any]]:
    system = call.system + "\n\n" if call.system and Feature.SYSTEM in without else ""
    content: list[dict[str, Any]] = [{"text": system + call.prefix}] if (system + call.prefix).strip() else []
    if content and _CACHING.search(call.model) and Feature.CACHE not in without:
        content.append({"cachePoint": {"type": "default"}})
    if call.suffix.strip():
        content.append({"text": call.suffix})
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for exchange in call.exchanges:
        messages += [{"role": "assistant", "content": _own_turn(exchange)}, {"role": "user", "content": _results(exchange)}]
    return messages


def _own_turn(exchange: Exchange) -> list[dict[str, Any]]:
    if exchange.opaque:
        blocks: list[dict[str, Any]] = json.loads(exchange.opaque, object_hook=_unpacked)
        return blocks
    return [
        {"toolUse": {"toolUseId": made.id, "name": made.name, "input": _arguments(made.arguments)}} for made in exchange.calls
    ]


def _results(exchange: Exchange) -> list[dict[str, Any]]:
    return [
        {
            "toolResult": {
                "toolUseId": result.call_id,
                "content": [{"text": result.text or "(nothing)"}],
                "status": "error" if result.is_error else "success",
            }
        }
        for result in exchange.results
    ]


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": name, "inputSchema": {"json": dict(parameters)}}
    if description:
        spec["description"] = description
    return {"toolSpec": spec}


def _arguments(text: str) -> Any:
    try:
        value = strict_json.loads(text)
    except strict_json.InvalidJson:
        return {}
    return value if isinstance(value, dict) else {}


def _tokens(usage: Any) -> Tokens:
    counts = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    cached, written = count("cacheReadInputTokens"), count("cacheWriteInputTokens")
    return Tokens(
        # As with Anthropic, whose numbers these are: what the cache read or wrote is not part of ``inputTokens``.
        input=count("inputTokens") + cached + written,
        cached=cached,
        cache_written=written,
        output=count("outputTokens"),
        known="inputTokens" in counts,
    )


def _packed(value: Any) -> dict[str, str]:
    """Bytes (encrypted thoughts) within JSON."""
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} in an answer of Bedrock")
    return {"base64": base64.b64encode(value).decode()}


def _unpacked(item: dict[str, Any]) -> Any:
    if set(item) == {"base64"} and isinstance(item["base64"], str):
        return base64.b64decode(item["base64"])
    return item
