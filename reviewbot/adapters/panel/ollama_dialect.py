"""Ollama's API in our words: what it is asked, whether it read all of it, why it stopped, what its errors mean.

A server that predates ``truncate`` (0.12.6) cuts a prompt that does not fit and says nothing; its counters give it away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.panel import http
from reviewbot.ports import Completion, Exchange, Fault, ModelCall, ProviderError, Stop, Timings, Tokens, ToolCall
from reviewbot.screen import strict_json

KEEP_ALIVE = "10m"

#: No tokenizer in use packs source code or prose tighter than this: fewer tokens mean that a part was not read.
MOST_BYTES_PER_TOKEN = 8
#: Below this a prompt says too little about its tokenizer.
JUDGED_FROM_BYTES = 4_096
#: Marks of roles and templates around the messages, generously.
FRAME_TOKENS = 256
#: ``num_ctx`` is a multiple of this: any other value than the last one makes the server load the model again.
STEP = 1_024

_TOO_LONG = ("exceeds the context length", "exceed_context_size", "exceeds the available context", "context window")
_STOPS = {"stop": Stop.END, "length": Stop.LENGTH}


class NoTools(ProviderError):
    """This model cannot use tools."""


def request(call: ModelCall, context: int) -> dict[str, Any]:
    """The body of ``/api/chat``. With tools the schema stays in the prompt: a grammar would keep the model from using any."""
    body: dict[str, Any] = {
        "model": call.model,
        "messages": _messages(call),
        "stream": False,
        "keep_alive": KEEP_ALIVE,
        # Refuse what does not fit instead of cutting it (0.12.6 and later; older servers do not know these).
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": context, "num_predict": call.max_output_tokens, "temperature": 0, "seed": 0},
    }
    if call.tools:
        body["tools"] = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}}
            for t in call.tools
        ]
    elif call.schema:
        body["format"] = dict(call.schema)
    if call.effort == "low":
        # Asked of a model that cannot think this is no error; ``true`` would be one.
        body["think"] = False
    return body


def _messages(call: ModelCall) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": call.system}] if call.system else []
    messages.append({"role": "user", "content": call.prefix + call.suffix})
    for exchange in call.exchanges:
        messages.append(_own_turn(exchange))
        names = {made.id: made.name for made in exchange.calls}
        for result in exchange.results:
            name = names.get(result.call_id, "")
            messages.append({"role": "tool", "tool_name": name, "tool_call_id": result.call_id, "content": result.text})
    return messages


def _own_turn(exchange: Exchange) -> dict[str, Any]:
    if exchange.opaque:
        turn: dict[str, Any] = json.loads(exchange.opaque)
        return turn
    calls = [{"id": made.id, "function": {"name": made.name, "arguments": _arguments(made.arguments)}} for made in exchange.calls]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _arguments(text: str) -> Any:
    """The server wants an object where the model may have given anything."""
    try:
        value = strict_json.loads(text)
    except strict_json.InvalidJson:
        return {}
    return value if isinstance(value, dict) else {}


def size_of(body: Mapping[str, Any]) -> int:
    """Bytes of what the model will read."""
    return len(json.dumps([body["messages"], body.get("tools", [])], ensure_ascii=False).encode("utf-8", "surrogatepass"))


def completion(answer: Mapping[str, Any], step: int) -> Completion:
    """The server's answer as a value. ``step`` numbers the exchange, for ids of tool calls: old servers give none.

    Raises ProviderError for what is not a whole answer.
    """
    message = answer.get("message")
    if answer.get("done") is not True:
        raise ProviderError(Fault.NETWORK, "Ollama's answer ends before it is done")
    if not isinstance(message, dict) or not ("content" in message or message.get("tool_calls")):
        raise ProviderError(Fault.UNREADABLE, "Ollama's answer holds no message")
    said = str(answer.get("done_reason") or "nothing")
    calls = _tool_calls(message, step)
    stop = Stop.TOOLS if calls and said == "stop" else _STOPS.get(said, Stop.OTHER)
    counts = Tokens(
        input=_count(answer, "prompt_eval_count"),
        output=_count(answer, "eval_count"),
        known="prompt_eval_count" in answer and "eval_count" in answer,
    )
    content = message.get("content")
    return Completion(
        stop=stop,
        text=content if isinstance(content, str) else "",
        tokens=counts,
        tool_calls=calls,
        opaque=json.dumps({**message, "role": "assistant"}) if calls else "",
        reason="" if stop in (Stop.END, Stop.TOOLS) else f"done_reason is {said[:40]}",
        timings=_timings(answer, counts),
    )


def _tool_calls(message: dict[str, Any], step: int) -> tuple[ToolCall, ...]:
    """The wishes of ``message``, in which every one gets an id where the server gave none."""
    found = []
    listed = message.get("tool_calls")
    for number, item in enumerate(listed if isinstance(listed, list) else ()):
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ProviderError(Fault.UNREADABLE, "Ollama's answer holds a tool call without a name")
        given = item.get("id")
        item["id"] = given if isinstance(given, str) and given else f"call_{step}_{number}"
        arguments = function.get("arguments", {})
        found.append(ToolCall(item["id"], function["name"], arguments if isinstance(arguments, str) else json.dumps(arguments)))
    return tuple(found)


def _timings(answer: Mapping[str, Any], counts: Tokens) -> Timings:
    load, prompt, output = (_count(answer, f"{part}_duration") / 1e9 for part in ("load", "prompt_eval", "eval"))
    return Timings(load, counts.input, prompt, counts.output, output)


def _count(answer: Mapping[str, Any], name: str) -> int:
    value = answer.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def check_whole(answer: Mapping[str, Any], context: int, size: int, *, cached: bool) -> None:
    """Raises ProviderError where the counters say that a part of the prompt (``size`` bytes) was cut away.

    0.12.5 cut a prompt to exactly ``num_ctx``; a long answer pushed the prompt's beginning out of the window and still ended
    with ``stop``. A ``cached`` prompt may count only what is new in it.
    """
    read, written = _count(answer, "prompt_eval_count"), _count(answer, "eval_count")
    pushed_out = answer.get("done_reason") == "stop" and read + written > context
    far_too_few = not cached and size >= JUDGED_FROM_BYTES and 0 < read * MOST_BYTES_PER_TOKEN < size
    if read >= context or pushed_out or far_too_few:
        said = f"Ollama cut the prompt: it read {read} tokens of {size} bytes in a window of {context}"
        raise ProviderError(Fault.TOO_LONG, said)


def refusal(status: int, said: str, model: str, *, after: float | None = None) -> ProviderError:
    """What an error of the server means: ``said`` is its text, ``status`` may be 200."""
    text = said.lower()
    if any(words in text for words in _TOO_LONG):
        return ProviderError(Fault.TOO_LONG, f"{model}: {said}")
    if "does not support tools" in text:
        return NoTools(Fault.INVALID, said)
    if status == 404:
        known = "model" in text and "not found" in text
        hint = f"this Ollama server has no model {model}: run `ollama pull {model}`"
        return ProviderError(Fault.NO_MODEL, hint) if known else ProviderError(Fault.INVALID, f"no Ollama server: {said}")
    if "system memory" in text:
        return ProviderError(Fault.NO_MODEL, f"{model} does not fit into this machine: {said}")
    fault = http.fault_of_status(status) if status >= 400 else Fault.SERVER
    return ProviderError(fault, f"Ollama answered {status}: {said}", retry_after=after)


def read(raw: bytes, status: int) -> Any:
    try:
        return strict_json.loads(raw)
    except strict_json.InvalidJson as exc:
        if status >= 400:
            return {"error": raw[:1_000].decode("utf-8", "replace")}
        raise ProviderError(Fault.UNREADABLE, "this is not Ollama's answer: no JSON") from exc


def an_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProviderError(Fault.UNREADABLE, "this is not Ollama's answer: no JSON object")
    return value
