"""Calls as the ledger keeps them: what makes two calls the same, and completions and failures as JSON text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from reviewbot.ports import Completion, Exchange, Fault, ModelCall, ProviderError, Stop, Timings, Tokens, ToolCall


def parameters(call: ModelCall) -> str:
    """Everything but the words that decides what a call gives, as canonical JSON."""
    return _canonical(
        {
            "schema": call.schema,
            "schema_name": call.schema_name,
            "max_output_tokens": call.max_output_tokens,
            "effort": call.effort,
            "tools": [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in call.tools],
            "context_window": call.context_window,
        }
    )


def key(call: ModelCall, *, model: str, seat: str, attempt: int) -> str:
    """SHA-256 in hex over (provider and model, parameters, seat, attempt, prompt bytes): equal keys are the same call."""
    words = (call.system, call.prefix, call.suffix, exchanges(call.exchanges))
    return digest(model, seat, str(attempt), parameters(call), *words)


def digest(*parts: str) -> str:
    """SHA-256 in hex over texts, each with its length, so that no two lists of texts are one."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


def exchanges(steps: tuple[Exchange, ...]) -> str:
    """The steps of tool use so far."""
    return _canonical([asdict(step) for step in steps]) if steps else ""


def completion(made: Completion) -> str:
    """A completion as text."""
    return _canonical(asdict(made))


def read_completion(text: str) -> Completion:
    """The completion that ``completion`` wrote."""
    at: dict[str, Any] = json.loads(text)
    timings = at.pop("timings")
    return Completion(
        **{
            **at,
            "stop": Stop(at["stop"]),
            "tokens": Tokens(**at["tokens"]),
            "tool_calls": tuple(ToolCall(**one) for one in at["tool_calls"]),
            "timings": None if timings is None else Timings(**timings),
        }
    )


def failure(error: ProviderError) -> str:
    """A failure as text."""
    return _canonical({"fault": error.fault.value, "message": error.message})


def read_failure(text: str) -> ProviderError:
    """The failure that ``failure`` wrote."""
    at = json.loads(text)
    return ProviderError(Fault(at["fault"]), at["message"])


def _canonical(value: Mapping[str, Any] | list[Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
