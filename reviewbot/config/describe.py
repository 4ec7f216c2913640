"""The table of keys, told in other forms: as JSON Schema and as the commented file that ``init`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reviewbot.config.keys import FREE_NAME, KEYS, Key, Power

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"
COMMENT_COLUMN = 44

HEAD = """\
# Configuration of reviewbot. A line that is commented out shows its default.
# It is read from the base commit of a change: what a change writes here counts once it is merged.
# A repository may only tighten what is marked (ceiling); user file, environment and flags set it freely.
version: 1
"""

PANEL = """\

# Who reviews. Without this, the keys that are found decide: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ...
# A seat may also have a fallback, a context_window, and a role and a lens (what it looks for) in your own words.
# panel:
#   critic: {model: "anthropic"}
#   reviewer: {model: "openai", fallback: "anthropic"}
#   optimizer: {model: "ollama:qwen3-coder:30b", context_window: 32768}
# moderator: {model: "gemini"}
# panels:                                     # reviewbot review --panel thrifty
#   thrifty: {critic: {model: "openai"}, security: {model: "openai", lens: "Who may do what, and who should not."}}
"""
"""An example of seats: unlike every other line of the file it shows no default, there is none."""


def json_schema() -> dict[str, object]:
    """The JSON Schema of a configuration file."""
    root: dict[str, Any] = {
        "$schema": SCHEMA_ID,
        "title": "reviewbot configuration",
        **_object(),
    }
    for key in KEYS:
        node = root
        for part in key.parts[:-1]:
            node = _below(node, part)
        node["properties"][key.parts[-1]] = {**key.kind.schema(), **_remarks(key)}
    return root


def schema_text() -> str:
    """The shipped file's text."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def commented_file() -> str:
    """A ``.reviewbot.yml`` that changes nothing until a line is uncommented: an example of seats, then every default."""
    lines = [HEAD.rstrip(), PANEL.rstrip()]
    section = ""
    for key in KEYS:
        if not _is_offered(key):
            continue
        first = key.parts[0] if len(key.parts) > 1 else ""
        if first != section or not first:
            lines.append("")
        lines += _opening(key.parts, section)
        section = first
        lines.append(_line(key))
    return "\n".join(lines) + "\n"


_TRUTHS = ("on", "off", "yes", "no")
"""Words that YAML 1.1 takes for truth values."""


def _object() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {}}


def _below(node: dict[str, Any], part: str) -> dict[str, Any]:
    if part != "*":
        found: dict[str, Any] = node["properties"].setdefault(part, _object())
        return found
    if not node["additionalProperties"]:
        node["propertyNames"] = {"pattern": f"^{FREE_NAME}$"}
        node["additionalProperties"] = _object()
    inner: dict[str, Any] = node["additionalProperties"]
    return inner


def _remarks(key: Key) -> dict[str, object]:
    words = key.text if key.power is Power.ANYONE else f"{key.text} (operator key: {key.power.value})"
    return {"description": words} if key.default is None else {"description": words, "default": _bare(key.default)}


def _bare(value: object) -> object:
    """Lists and dictionaries as ``json`` takes them."""
    if isinstance(value, tuple):
        return [_bare(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _is_offered(key: Key) -> bool:
    """It has a default, and a repository file may say it."""
    return key.name != "version" and key.default is not None and key.power is not Power.OPERATOR


def _opening(parts: tuple[str, ...], section: str) -> list[str]:
    """The mapping lines above a key, where they were not written yet."""
    if len(parts) == 1:
        return []
    opened = [f"# {parts[0]}:"] if parts[0] != section else []
    return [*opened, f"#   {parts[1]}:"] if len(parts) == 3 and parts[-1] == "correctness" else opened


def _line(key: Key) -> str:
    indent = "  " * (len(key.parts) - 1)
    value = json.dumps(_bare(key.default))
    value = value if key.default in _TRUTHS else value.replace('"', "")  # YAML's flow style: no other default needs its quotes
    written = f"# {indent}{key.parts[-1]}: {value}"
    ceiling = " (ceiling)" if key.power is not Power.ANYONE else ""
    return f"{written:<{COMMENT_COLUMN}}  # {key.text}: {key.kind.expects}{ceiling}"
