"""The JSON Schemas of what panelists answer. What a schema cannot say, or a vendor does not enforce, ``reply`` checks again.

Arguments stand before the verdict: a model writes in this order, and its verdict should follow from its reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.domain.debate import CheckKind, Stance
from reviewbot.domain.evidence import Category, Severity

MAX_CLAIMS = 200
MAX_ARGUMENTS = 20
MAX_TEXT = 8_000

_TEXT: Mapping[str, Any] = {"type": "string", "maxLength": MAX_TEXT}
ARGUMENT: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", "evidence", "reasoning", "counter_arguments"],
    "properties": {
        "claim": _TEXT,
        "evidence": {"type": "array", "items": _TEXT},
        "reasoning": _TEXT,
        "counter_arguments": {"type": "array", "items": _TEXT},
    },
}
_ARGUMENTS = {"type": "array", "items": ARGUMENT, "maxItems": MAX_ARGUMENTS}
CHECK: Mapping[str, Any] = {
    "type": ["object", "null"],
    "additionalProperties": False,
    "required": ["kind", "command", "source", "subject"],
    "properties": {
        "kind": {"enum": [kind.value for kind in CheckKind]},
        "command": {"type": "array", "items": _TEXT},
        "source": _TEXT,
        "subject": _TEXT,
    },
}
_SEVERITY = {"enum": [severity.label for severity in Severity]}

CLAIMS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claims"],
    "properties": {
        "claims": {
            "type": "array",
            "maxItems": MAX_CLAIMS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    "path", "start_line", "line", "quote", "category", "severity", "title", "trigger", "consequence",
                    "confidence", "falsifier", "evidence_ids", "rule", "check",
                ],
                "properties": {
                    "path": _TEXT,
                    "start_line": {"type": "integer"},
                    "line": {"type": "integer"},
                    "quote": _TEXT,
                    "category": {"enum": [category.value for category in Category]},
                    "severity": _SEVERITY,
                    "title": _TEXT,
                    "trigger": _TEXT,
                    "consequence": _TEXT,
                    "confidence": {"type": "number"},
                    "falsifier": _TEXT,
                    "evidence_ids": {"type": "array", "items": _TEXT},
                    "rule": {"type": ["string", "null"]},
                    "check": CHECK,
                },
            },
        }
    },
}  # fmt: skip
"""JSON Schema of the answer to a first pass."""

POSITION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["arguments", "check", "stance", "probability"],
    "properties": {
        "arguments": _ARGUMENTS,
        "check": CHECK,
        "stance": {"enum": [stance.value for stance in Stance]},
        "probability": {"type": "number"},
    },
}
"""JSON Schema of the answer to a cross-examination."""

REBUTTAL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["arguments", "decision", "severity", "title"],
    "properties": {
        "arguments": _ARGUMENTS,
        "decision": {"enum": ["defend", "amend", "withdraw"]},
        "severity": {"enum": [*_SEVERITY["enum"], None]},
        "title": {"type": ["string", "null"]},
    },
}
"""JSON Schema of a raiser's one answer."""

JUDGEMENT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["arguments", "decision"],
    "properties": {"arguments": _ARGUMENTS, "decision": {"enum": ["upheld", "rejected", "undecided"]}},
}
"""JSON Schema of the moderator's answer to a deadlock."""

DRAFT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["decision", "start_line", "line", "replacement", "explanation"],
    "properties": {
        "decision": {"enum": ["replace", "keep", "none"]},
        "start_line": {"type": "integer"},
        "line": {"type": "integer"},
        "replacement": _TEXT,
        "explanation": _TEXT,
    },
}
"""JSON Schema of a replacement: ``keep`` leaves the draft that was shown, ``none`` says that there is no good one."""

ASSIGNMENT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["assignments"],
    "properties": {
        "assignments": {
            "type": "array",
            "maxItems": MAX_CLAIMS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["panelist", "portion"],
                "properties": {"panelist": _TEXT, "portion": _TEXT},
            },
        }
    },
}
"""JSON Schema of an assignment of portions to local panelists, most important first."""

DESIGN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["reason", "check"],
    "properties": {"reason": _TEXT, "check": CHECK},
}
"""JSON Schema of a check that was written for a claim, ``null`` where nothing that can be run would settle it."""

OPINION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["citations", "answer", "caveats", "confidence"],
    "properties": {
        "citations": {"type": "array", "items": _TEXT},
        "answer": _TEXT,
        "caveats": {"type": "array", "items": _TEXT},
        "confidence": {"type": "number"},
    },
}
"""JSON Schema of a panelist's answer to a question that somebody asked."""

COUNSEL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["citations", "answer", "dissent", "caveats"],
    "properties": {
        "citations": {"type": "array", "items": _TEXT},
        "answer": _TEXT,
        "dissent": {
            "type": "array",
            "maxItems": MAX_ARGUMENTS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["who", "about"],
                "properties": {"who": {"type": "array", "items": _TEXT}, "about": _TEXT},
            },
        },
        "caveats": {"type": "array", "items": _TEXT},
    },
}
"""JSON Schema of what answers to one question have in common, and of who differs."""

ANSWER = "answer"
"""The one key of an envelope."""

ENVELOPE: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [ANSWER],
    "properties": {
        ANSWER: {
            "anyOf": [
                CLAIMS_SCHEMA,
                POSITION_SCHEMA,
                REBUTTAL_SCHEMA,
                JUDGEMENT_SCHEMA,
                DRAFT_SCHEMA,
                ASSIGNMENT_SCHEMA,
                DESIGN_SCHEMA,
            ]
        }
    },
}
"""Every answer in one schema. Some vendors make the schema a part of what their caches compare (seen on Bedrock, documented by
OpenAI: it stands before the system message): with a schema for each kind of question no prefix would ever be read twice."""

CONSULTING_ENVELOPE: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [ANSWER],
    "properties": {ANSWER: {"anyOf": [OPINION_SCHEMA, COUNSEL_SCHEMA]}},
}
"""The same for consultations: they are held apart from reviews, whose every call would have to carry these schemas too."""
