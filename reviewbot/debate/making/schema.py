"""The JSON Schemas of what is answered while code is made. An arbitration is answered as a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.debate.schema import ANSWER, ENVELOPE, MAX_ARGUMENTS, MAX_TEXT

MAX_CODE = 60_000
"""Characters of one edit: more than a gate lets through."""
MAX_EDITS = 60
MOST_SCORE = 10

_TEXT: Mapping[str, Any] = {"type": "string", "maxLength": MAX_TEXT}
_CODE: Mapping[str, Any] = {"type": "string", "maxLength": MAX_CODE}

EDIT: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["path", "find", "replace"],
    "properties": {"path": _TEXT, "find": _CODE, "replace": _CODE},
}
EDITS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["explanation", "edits"],
    "properties": {"explanation": _TEXT, "edits": {"type": "array", "maxItems": MAX_EDITS, "items": EDIT}},
}
"""JSON Schema of code that was written or refined. No edits: nothing, or what was written with a tool."""

POINT: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text", "critical", "cites"],
    "properties": {"text": _TEXT, "critical": {"type": "boolean"}, "cites": {"type": "array", "items": _TEXT}},
}
VERDICT: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["letter", "points", "acceptable", "score"],
    "properties": {
        "letter": _TEXT,
        "points": {"type": "array", "maxItems": MAX_ARGUMENTS, "items": POINT},
        "acceptable": {"type": "boolean"},
        "score": {"type": "number"},
    },
}
APPRAISAL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdicts"],
    "properties": {"verdicts": {"type": "array", "maxItems": MAX_ARGUMENTS, "items": VERDICT}},
}
"""JSON Schema of what a judge says of candidates."""

_ANSWERS = (*ENVELOPE["properties"][ANSWER]["anyOf"], EDITS_SCHEMA, APPRAISAL_SCHEMA)
MAKING_ENVELOPE: Mapping[str, Any] = {**ENVELOPE, "properties": {ANSWER: {"anyOf": list(_ANSWERS)}}}
"""Every answer of a review that makes code as well, in one schema (see ``ENVELOPE``)."""
