"""A plausible panelist: looks at the wanted schema and answers like somebody who read the change.

Every choice is a value (the same for all), a mapping, or a function of Seen. A mapping's keys are model names, else names of roles
(whose lens the question's own part holds), else words that are counted in that part (case does not matter, most frequent wins);
``*`` is for the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.fakes.instance import smallest
from tests.fakes.scripts import Script
from tests.fakes.seen import Answer, Seen, Wish

Choice = Any
LENSES = Path(__file__).parents[2] / "prompts" / "lens"
PROBABILITY = {"support": 0.9, "oppose": 0.1, "neutral": 0.5}
WHERE = re.compile(r"^where: (?P<path>.+), lines? (?P<start>\d+)(?:-(?P<end>\d+))?$", re.MULTILINE)
CITATION = re.compile(r"\b(?:E\d+|[\w./-]+\.\w+:\d+)\b")
PORTIONS = re.compile(r"^portion \| tokens.*\n((?:.+ \| .*\n?)*)", re.MULTILINE)
LETTERS = re.compile(r"^Candidate ([A-Z])$", re.MULTILINE)
PACES = re.compile(r"^panelist \| model.*\n((?:.+ \| .*\n?)*)", re.MULTILINE)


def claim(path: str, line: int, quote: str, **other: Any) -> dict[str, Any]:
    """A whole valid claim about one line; anything may be said differently."""
    return {
        "path": path,
        "start_line": line,
        "line": line,
        "quote": quote,
        "category": "correctness",
        "severity": "high",
        "title": f"line {line} of {path} is wrong",
        "trigger": "an empty input",
        "consequence": "the wrong value is returned",
        "confidence": 0.8,
        "falsifier": "a test with an empty input that passes",
        "evidence_ids": [],
        "rule": None,
        "check": None,
    } | other


def reviewer(
    *,
    claims: Choice = (),
    stance: Choice = "oppose",
    decision: Choice = "defend",
    judgement: Choice = "undecided",
    replacement: Choice = None,
    design: Choice = None,
    edits: Choice = (),
    verdict: Choice = True,
    wishes: Sequence[Sequence[Wish]] = (),
    seconds: float | None = None,
) -> Script:
    """The panelist.

    ``claims``: lists of :func:`claim`; a sequence of lists is dealt out in order, round and round. ``stance``: ``support``, ``oppose``,
    ``neutral`` or (stance, probability). ``decision``: ``defend``, ``amend``, ``withdraw``. ``judgement``: ``upheld``, ``rejected``,
    ``undecided``. ``design``: the check that is written for a claim (``kind``, ``command``, ``source``, ``subject``), ``None``: none.
    ``replacement``: the text that shall stand in place of the claim's lines; ``None``: no good one. ``edits``: what is written for
    a task, as lists of [path, find, replace]. ``verdict``: whether a candidate is acceptable.
    ``wishes``: tools used, step by step, before a first pass is answered.
    """
    dealt = [0]

    def raised(seen: Seen) -> dict[str, Any]:
        listed = claims
        if isinstance(listed, Sequence) and listed and not isinstance(listed[0], Mapping):
            dealt[0] += 1
            listed = listed[(dealt[0] - 1) % len(listed)]
        return {"claims": list(_chosen(listed, seen))}

    def draft(seen: Seen) -> dict[str, Any]:
        text, (_, start, end) = _chosen(replacement, seen), _place(seen)
        lines = {"start_line": start, "line": end, "replacement": text or "", "explanation": "mends what was found"}
        return {"decision": "none" if text is None else "replace", **lines}

    kinds: dict[frozenset[str], Callable[[Seen], dict[str, Any]]] = {
        frozenset({"claims"}): raised,
        frozenset({"stance", "probability"}): lambda seen: _position(_chosen(stance, seen), seen),
        frozenset({"decision", "severity", "title"}): lambda seen: _rebuttal(_chosen(decision, seen), seen),
        frozenset({"decision", "replacement"}): draft,
        frozenset({"assignments"}): _assignment,
        frozenset({"explanation", "edits"}): lambda seen: {"explanation": "mends what was found", "edits": _edits(edits, seen)},
        frozenset({"verdicts"}): lambda seen: {
            "verdicts": [_verdict(letter, _chosen(verdict, seen)) for letter in _letters(seen)]
        },
        frozenset({"reason", "check"}): lambda seen: {"reason": "it would fail", "check": _chosen(design, seen)},
        frozenset({"decision", "arguments"}): lambda seen: {"decision": _chosen(judgement, seen), "arguments": [_argument(seen)]},
    }

    def script(seen: Seen) -> Answer:
        enveloped = set((seen.schema or {}).get("properties", {})) == {"answer"}
        schema = spoken_schema(seen) if enveloped else seen.schema or spoken_schema(seen)
        wanted = set((schema or {}).get("properties", {}))
        made = next((make for names, make in kinds.items() if names <= wanted), None)
        if made is raised and seen.tools and len(seen.exchanges) < len(wishes):
            return Answer(tool_calls=tuple(wishes[len(seen.exchanges)]), seconds=seconds)
        document = made(seen) if made else smallest(schema)
        document = {"answer": document} if enveloped else document
        return Answer("ok" if schema is None else json.dumps(document), seconds=seconds)

    return script


def spoken_schema(seen: Seen) -> Mapping[str, Any] | None:
    """The schema that the prompt itself quotes: where the wire has none."""
    for line in reversed(seen.suffix.splitlines()):
        if line.startswith("{") and '"properties"' in line:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            return found if isinstance(found, dict) else None
    return None


def _edits(choice: Choice, seen: Seen) -> list[dict[str, str]]:
    return [{"path": path, "find": find, "replace": text} for path, find, text in _chosen(choice, seen)]


def _letters(seen: Seen) -> list[str]:
    """The letters of the candidates that an appraisal shows."""
    return list(dict.fromkeys(LETTERS.findall(seen.suffix)))


def _verdict(letter: str, acceptable: Any) -> dict[str, Any]:
    points = [] if acceptable is True else [{"text": str(acceptable), "critical": True, "cites": ["E1"]}]
    return {"letter": letter, "acceptable": acceptable is True, "score": 8 if acceptable is True else 1, "points": points}


def _chosen(choice: Choice, seen: Seen) -> Any:
    if callable(choice):
        return choice(seen)
    if not isinstance(choice, Mapping) or "quote" in choice or "kind" in choice:
        return choice
    if seen.model in choice:
        return choice[seen.model]
    counts = {name: _mentions(name, seen.suffix) for name in choice if name != "*"}
    word = max(counts, key=lambda name: counts[name], default="*")
    return choice[word] if counts.get(word) else choice.get("*", ())


def _mentions(name: str, suffix: str) -> int:
    """How much a question's own part speaks to or of somebody; the lens of a role outweighs all words."""
    lens = LENSES / f"{name}.j2"
    if lens.is_file() and lens.read_text(encoding="utf-8").split("\n", 1)[0] in suffix:
        return len(suffix)
    return suffix.lower().count(name.lower())


def _place(seen: Seen) -> tuple[str, int, int]:
    """Path, first and last line of the claim that the question is about."""
    found = WHERE.search(seen.suffix)
    if found is None:
        return "", 0, 0
    return found["path"], int(found["start"]), int(found["end"] or found["start"])


def _argument(seen: Seen) -> dict[str, Any]:
    path, start, _ = _place(seen)
    other = CITATION.search(seen.suffix)
    cites = [f"{path}:{start}"] if path else [other[0]] if other else []
    return {"claim": "the code says so", "evidence": cites, "reasoning": "read the quoted line", "counter_arguments": []}


def _position(stance: Any, seen: Seen) -> dict[str, Any]:
    word, probability = (stance, PROBABILITY[stance]) if isinstance(stance, str) else stance
    document = {"stance": word, "probability": probability, "arguments": [_argument(seen)], "check": None}
    wanted = (spoken_schema(seen) or seen.schema or {}).get("properties", {})
    return {name: value for name, value in document.items() if name in wanted}


def _rebuttal(decision: str, seen: Seen) -> dict[str, Any]:
    amended = ("low", "a smaller thing than was said") if decision == "amend" else (None, None)
    return {"decision": decision, "severity": amended[0], "title": amended[1], "arguments": [_argument(seen)]}


def _assignment(seen: Seen) -> dict[str, Any]:
    """Every portion to one panelist, in turn; names from the tables of the question."""
    tables = [pattern.search(seen.suffix) for pattern in (PORTIONS, PACES)]
    portions, seats = ([row.split(" | ")[0] for row in found[1].splitlines()] if found else [] for found in tables)
    pairs = [{"panelist": seats[index % len(seats)], "portion": name} for index, name in enumerate(portions)] if seats else []
    return {"assignments": pairs}
