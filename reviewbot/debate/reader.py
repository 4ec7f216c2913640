"""What panelists answer, read from JSON that may be wrapped, half right, or a little wrong.

All questions share one JSON Schema: prompt caches of vendors know a prefix only with its schema.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct

from reviewbot.checks.evidence import Category
from reviewbot.debate.case import Stance
from reviewbot.proofs.proof import Kind, Reproduction
from reviewbot.severity import Severity
from reviewbot.text.files import language_of

Item = TypeVar("Item", bound=Struct)
Document = TypeVar("Document")

MAX_LENGTH = 400_000
MAX_TEXT = 4_000
MAX_SOURCE = 20_000
KINDS = get_args(Kind)
THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
# What models say instead of the words that they were asked to use.
SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "severity": {
        **{"blocker": "critical", "severe": "high", "major": "high", "error": "high"},
        **{"moderate": "medium", "normal": "medium", "warning": "medium"},
        **{"minor": "low", "info": "low", "trivial": "low", "nit": "low", "informational": "low"},
    },
    "category": {
        **{"bug": "correctness", "logic": "correctness", "error": "correctness"},
        **{"concurrency": "correctness", "reliability": "correctness", "data": "correctness"},
        **{"perf": "performance", "resources": "performance", "cost": "performance"},
        **{"style": "maintainability", "design": "maintainability", "api": "maintainability"},
        **{"test": "tests", "testing": "tests", "docs": "documentation", "doc": "documentation"},
        **{"vulnerability": "security"},
    },
    "stance": {
        **{"yes": "real", "true": "real", "confirmed": "real", "valid": "real"},
        **{"no": "not_real", "false": "not_real", "refuted": "not_real", "invalid": "not_real"},
        **{"unknown": "unsure", "uncertain": "unsure", "undecided": "unsure"},
    },
}


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
    same_as: str | None = None


class TestAnswer(Struct, frozen=True, kw_only=True):
    case: str
    reproduction: Reproduction | None


class FileAnswer(Struct, frozen=True, kw_only=True):
    path: str
    reason: str = ""


# The lists that an answer may have; each question asks for one of them.
LISTS: Mapping[str, type[Struct]] = {
    "claims": ClaimAnswer,
    "judgements": Judgement,
    "intentions": IntentAnswer,
    "tests": TestAnswer,
    "files": FileAnswer,
}


@cache
def schema_for(languages: tuple[str, ...]) -> dict[str, Any]:
    """The schema of all answers. Only Python has other kinds of reproductions than tests."""
    _, definitions = msgspec.json.schema_components(LISTS.values(), ref_template="#/$defs/{name}")
    if "python" not in languages:
        definitions["Reproduction"]["description"] = "A test file that fails due to the defect."
        definitions["Reproduction"]["properties"]["kind"] = {"enum": ["test"]}
    properties = {}
    for name, type_ in LISTS.items():
        items = {"type": "array", "items": {"$ref": f"#/$defs/{type_.__name__}"}}
        properties[name] = {"anyOf": [items, {"type": "null"}]}
    return {"type": "object", "properties": properties, "required": [], "$defs": definitions}


def read_items(text: str, field: str, type_: type[Item]) -> tuple[list[Item], list[str]]:
    """The usable items of a list, which a document has or is, and the texts of the others.

    Raises ValueError without a list, and if it has items, but no usable one.
    """
    items: list[Item] = []
    malformed: list[str] = []
    has_list = msgspec.defstruct("Document", [(field, list[msgspec.Raw] | None)])
    either: Any = has_list | list[msgspec.Raw]
    found = read_document(text, either, f'the answer is not JSON with a list "{field}"')
    for raw in found if isinstance(found, list) else getattr(found, field) or []:
        try:
            value = msgspec.json.decode(raw, type=dict[str, Any])
            value = {key: REPAIRS.get(key, _text)(value[key]) for key in value}
            items.append(msgspec.convert(value, type_, strict=False))
        except (msgspec.MsgspecError, RecursionError):
            malformed.append(bytes(raw).decode()[:MAX_TEXT])
    if malformed and not items:
        raise ValueError(f'no item of the list "{field}" follows the schema')
    return items, malformed


def reader_of(field: str, type_: type[Item]) -> Callable[[str], list[Item]]:
    """Reads the usable items of the list `field`, for `Panel.ask`."""
    return lambda text: read_items(text, field, type_)[0]


def read_document(text: str, type_: type[Document], reason: str = "") -> Document:
    """The first JSON document of a text that has the type. Raises ValueError, with a reason."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the answer is longer than {MAX_LENGTH} characters")
    problem = ""
    for candidate in _candidates(text):
        try:
            return msgspec.json.decode(candidate, type=type_, strict=False)
        except (msgspec.DecodeError, RecursionError) as error:
            is_told = isinstance(error, msgspec.ValidationError) or "truncated" in str(error)
            problem = problem or (str(error) if is_told else "")
    raise ValueError(reason or problem or "the answer is not JSON")


def _candidates(text: str) -> Iterator[str | bytes]:
    """The document itself, or what stands in the last fence, or begins with the first bracket."""
    text = THOUGHTS.sub("", text).strip()
    yield from filter(None, (text.removeprefix("```json"), *reversed(FENCE.findall(text))))
    for start in "{[":
        with suppress(ValueError, RecursionError):
            value, _ = json.JSONDecoder().raw_decode(text, text.index(start))
            # msgspec's decoder refuses lone surrogates, which models do write.
            yield json.dumps(value, ensure_ascii=False).encode(errors="replace")


def _text(value: Any) -> Any:
    return value[:MAX_TEXT] if isinstance(value, str) else value


def _word(synonyms: Mapping[str, str], value: Any) -> Any:
    if not isinstance(value, str):
        return value
    word = value.strip().lower().replace("-", "_").replace(" ", "_")
    return synonyms.get(word, word)


def _line(value: Any) -> Any:
    """The first number of "12", "12-14", "L12" or [12, 14]."""
    number = re.search(r"\d{1,7}", str(value))
    return int(number[0]) if number else value


def citation_of(value: Any) -> str:
    """`path:line` or the id of a result, also if it came as an object, or with more words."""
    if isinstance(value, dict):
        value = f"{value.get('path', '')}:{_line(value.get('line', ''))}"
    text = str(value).strip().strip("`")
    if place := re.match(r".+?:\d+(?!\d)", text):  # a path may have spaces
        return place[0]
    return (text.split() or [""])[0].rstrip(",.;")


def _reproduction(value: Any) -> Any:
    """As an object; an empty one is none, a bare text is Python, an unknown kind is a test."""
    value = {"source": value} if isinstance(value, str) else value
    if not isinstance(value, dict) or not str(value.get("source") or "").strip():
        return None
    source = FENCE.sub(r"\1", str(value["source"]))[:MAX_SOURCE]
    said = str(value.get("language") or "python").lower()
    language = language_of(f"x.{said}") or said  # such as "js"
    kind = value.get("kind") if language == "python" else "test"
    return {"language": language, "source": source, "kind": kind if kind in KINDS else "test"}


REPAIRS: Mapping[str, Callable[[Any], Any]] = {
    **{field: partial(_word, synonyms) for field, synonyms in SYNONYMS.items()},
    "citations": lambda value: [*map(citation_of, value if isinstance(value, list) else [value])],
    **{"line": _line, "reproduction": _reproduction},
}
