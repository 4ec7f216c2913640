"""The events of one Anthropic message, put together. Only a message that was told to its end becomes anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reviewbot.ports import Completion, Stop, Tokens, ToolCall
from reviewbot.screen import strict_json

_STOPS = {
    "end_turn": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSED,
}
#: What a delta adds to its block: kind of delta → field of the block.
_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_COUNTERS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class BrokenMessage(ValueError):
    """Events that make no whole message."""


class Message:
    """A message in the making. Feed it every event, then ask for its :meth:`completion`."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._open: set[int] = set()
        self._usage: dict[str, int] = {}
        self._stop = ""
        self._details: Mapping[str, Any] = {}
        self._finished = False

    def take(self, event: Mapping[str, Any]) -> None:
        """One event, as JSON. Unknown kinds are passed over, as the API's versioning policy asks. Raises BrokenMessage."""
        match event.get("type"):
            case "message_start":
                self._count(_object(_object(event.get("message")).get("usage", {})))
            case "content_block_start":
                index = _index(event)
                block = _object(event.get("content_block"))
                self._blocks[index] = {key: value for key, value in block.items() if value is not None}
                self._open.add(index)
            case "content_block_delta":
                self._grow(_index(event), _object(event.get("delta")))
            case "content_block_stop":
                self._close(_index(event))
            case "message_delta":
                self._count(_object(event.get("usage") or {}))
                delta = _object(event.get("delta"))
                self._stop = str(delta.get("stop_reason") or "")
                self._details = _object(delta.get("stop_details") or {})
            case "message_stop":
                self._finished = True

    def completion(self, request_id: str) -> Completion:
        """What it came to. Raises BrokenMessage before its end."""
        if not self._finished or self._open or not self._stop:
            raise BrokenMessage("the message broke off before its end")
        # The API sends empty texts now and then, and refuses them when they come back.
        blocks = [self._blocks[index] for index in sorted(self._blocks) if self._blocks[index] != {"type": "text", "text": ""}]
        calls = tuple(self._call(index) for index in sorted(self._blocks) if self._blocks[index].get("type") == "tool_use")
        stop = _STOPS.get(self._stop, Stop.OTHER)
        if stop is Stop.TOOLS and not calls:
            stop = Stop.OTHER
        category = self._details.get("category")
        return Completion(
            stop=stop,
            text="".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text"),
            tokens=self._tokens(),
            tool_calls=calls if stop is Stop.TOOLS else (),
            opaque=json.dumps(blocks, ensure_ascii=False, separators=(",", ":")) if stop is Stop.TOOLS else "",
            reason="" if stop is Stop.END else f"{self._stop} ({category})" if category else self._stop,
            request_id=request_id,
        )

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        if index not in self._open:
            raise BrokenMessage("a part of a block that was not begun")
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + _text(delta.get("partial_json", ""))
        elif kind in _GROWS:
            field = _GROWS[kind]
            block = self._blocks[index]
            block[field] = _text(block.get(field) or "") + _text(delta.get(field))

    def _close(self, index: int) -> None:
        if index not in self._open:
            raise BrokenMessage("the end of a block that was not begun")
        self._open.discard(index)
        if self._inputs.get(index):
            # The API wants an object back; what the model really wrote stays in the ToolCall, where it is checked.
            try:
                given = strict_json.loads(self._inputs[index])
            except strict_json.InvalidJson:
                given = {}
            self._blocks[index]["input"] = given if isinstance(given, dict) else {}

    def _call(self, index: int) -> ToolCall:
        block = self._blocks[index]
        arguments = self._inputs.get(index) or json.dumps(block.get("input") or {}, ensure_ascii=False)
        return ToolCall(_text(block.get("id")), _text(block.get("name")), arguments)

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Counters are cumulative: the last one said holds."""
        for name in _COUNTERS:
            value = usage.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                self._usage[name] = value

    def _tokens(self) -> Tokens:
        cached, written = self._usage.get("cache_read_input_tokens", 0), self._usage.get("cache_creation_input_tokens", 0)
        return Tokens(
            # The API's input_tokens leave out what went through the cache.
            input=self._usage.get("input_tokens", 0) + cached + written,
            cached=cached,
            cache_written=written,
            output=self._usage.get("output_tokens", 0),
            known="input_tokens" in self._usage and "output_tokens" in self._usage,
        )


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise BrokenMessage("a block without a number")
    return index


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BrokenMessage("an object was expected")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BrokenMessage("a text was expected")
    return value
