"""How a server that speaks OpenAI's language wants to be asked. Servers differ; each is asked in the richest way first, and a
way that it refuses is not tried again. The schema stands in the prompt too, so nothing is lost on a lower rung."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.adapters.panel.schema_dialects import strict
from reviewbot.ports import ModelCall

_RUNGS = ("json_schema", "json_object", "none")
_ABOUT_FORMAT = ("response_format", "json_schema", "json_object", "text.format", "structured output", "grammar", "guided")
_COMPLAINS = (
    "unsupported", "not support", "unknown", "unrecognized", "unexpected", "not permitted", "extra", "instead", "invalid",
    "not allowed", "does not exist",
)  # fmt: skip
#: Which of the manners gives way, to a complaint that names what, and to which value.
_STEPS: tuple[tuple[str, tuple[str, ...], Any], ...] = (
    ("effort", ("reasoning_effort", "reasoning.effort"), False),
    ("hints", ("prompt_cache_key", "store"), False),
    ("limit", ("max_tokens",), "max_completion_tokens"),
)
#: OpenAI's models that think: the generations after 4, and the o series.
_THINKS = re.compile(r"(?:gpt-(?:[5-9]|\d\d)|o\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class Manners:
    """The way one model of one server is asked. ``rung`` is how the answer's form is asked for, ``limit`` what the limit of
    output tokens is called, ``effort`` whether it may be told how hard to think, ``hints`` whether OpenAI's own extras
    (``store``, ``prompt_cache_key``) are sent."""

    rung: str = "json_schema"
    limit: str = "max_tokens"
    effort: bool = False
    hints: bool = False


def first_manners(model: str, *, is_openai: bool) -> Manners:
    """How to begin: OpenAI's newer models know only the newer names, other servers often only the older."""
    if not is_openai:
        return Manners()
    return Manners(limit="max_completion_tokens", effort=_THINKS.match(model) is not None, hints=True)


def humbler(manners: Manners, status: int, message: str) -> Manners | None:
    """What to try after a refusal, ``None`` where it was about something else. Every way is left at most once."""
    words = message.lower()
    if status not in (400, 422, 500):
        return None
    if manners.rung != _RUNGS[-1] and any(word in words for word in _ABOUT_FORMAT):
        return replace(manners, rung=_RUNGS[_RUNGS.index(manners.rung) + 1])
    if status == 500 or not any(word in words for word in _COMPLAINS):
        return None
    for field, names, milder in _STEPS:
        if getattr(manners, field) != milder and any(name in words for name in names):
            return replace(manners, **{field: milder})
    return None


def options(call: ModelCall, manners: Manners) -> dict[str, Any]:
    """The part of a chat request that servers differ in."""
    out: dict[str, Any] = {manners.limit: call.max_output_tokens}
    form = response_format(call.schema, call.schema_name, manners.rung)
    if form is not None:
        out["response_format"] = form
    if manners.effort:
        out["reasoning_effort"] = call.effort
    if manners.hints:
        out["store"] = False
        if call.cache_key:
            out["prompt_cache_key"] = call.cache_key
    return out


def response_format(schema: Mapping[str, Any], name: str, rung: str) -> dict[str, Any] | None:
    """``response_format`` on one rung. llama.cpp's servers read ``schema`` beside ``json_object``; others pass over it."""
    if rung == "json_schema":
        return {"type": rung, "json_schema": {"name": schema_name(name), "schema": strict(schema), "strict": True}}
    if rung == "json_object":
        return {"type": rung, "schema": strict(schema)}
    return None


def schema_name(name: str) -> str:
    """A name as the API takes it: letters, digits, ``_`` and ``-``, at most 64."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "answer"
