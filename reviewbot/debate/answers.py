"""What panelists answer. All questions share one JSON Schema: prompt caches of vendors know a
prefix only together with the schema that came with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from reviewbot.checks.report import Category
from reviewbot.debate.case import Stance
from reviewbot.proofs.proof import Reproduction
from reviewbot.severity import Severity


class ClaimAnswer(Struct, frozen=True, kw_only=True):
    path: str
    line: int
    quote: str
    title: str
    category: Category
    severity: Severity
    trigger: str
    consequence: str
    refuted_if: str
    reproduction: Reproduction | None = None


class Judgement(Struct, frozen=True, kw_only=True):
    case: str
    reason: str
    citations: list[str]
    stance: Stance
    same_as: str | None = None


class IntentAnswer(Struct, frozen=True, kw_only=True):
    case: str
    reason: str
    intended: str | None = None


class TestAnswer(Struct, frozen=True, kw_only=True):
    case: str
    reproduction: Reproduction | None


class FileAnswer(Struct, frozen=True, kw_only=True):
    path: str
    reason: str = ""


# The lists that an answer may have; each question asks for one of them.
LISTS: Mapping[str, tuple[type[Struct], ...]] = {
    "claims": (ClaimAnswer,),
    "judgements": (Judgement, IntentAnswer),
    "tests": (TestAnswer,),
    "files": (FileAnswer,),
}


def _schema() -> dict[str, Any]:
    types = [type_ for types in LISTS.values() for type_ in types]
    _, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    items = {
        name: [{"$ref": f"#/$defs/{type_.__name__}"} for type_ in types]
        for name, types in LISTS.items()
    }
    return {
        "type": "object",
        "properties": {
            name: {
                "anyOf": [
                    {"type": "array", "items": refs[0] if len(refs) == 1 else {"anyOf": refs}},
                    {"type": "null"},
                ]
            }
            for name, refs in items.items()
        },
        "required": [],
        "$defs": definitions,
    }


SCHEMA = _schema()
