"""Cross-examination and rebuttal: facts become arguments, arguments become a stance. The same facts always argue the same way.

Each consideration adds to an analyst's log-odds; the weights say whose business a fact is. They are judgement, not yet
calibrated, and their sum is what an analyst believes of the claim on its own reading, the raiser's confidence not being known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from reviewbot.adapters.panel.static.scene import Scene
from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Severity
from reviewbot.ports import CrossExamination, Rebuttal, Word

SUPPORT_FROM, OPPOSE_TO = 0.60, 0.40
"""Beyond these an analyst takes a side."""

WITHDRAW_BELOW, AMEND_BELOW = 0.30, 0.50
"""Where a raiser ends after weighing the arguments against."""

_ROLES = ("critic", "reviewer", "optimizer")
_RISKS = frozenset({Category.CORRECTNESS, Category.SECURITY})
_BELIEF = {Precision.CERTAIN: 2.2, Precision.LIKELY: 1.2, Precision.HEURISTIC: 0.0}


@dataclass(frozen=True, slots=True)
class Fact:
    """A consideration that applies: log-odds for critic, reviewer and optimizer, what it says, what it cites, and why."""

    weights: tuple[float, float, float]
    claim: str
    cites: tuple[str, ...]
    reasoning: str

    def weight(self, role: str) -> float:
        """What it is worth to one analyst."""
        return self.weights[_ROLES.index(role)]


Consideration = Callable[[Scene], Fact | None]


def _scene(question: CrossExamination | Rebuttal) -> Scene:
    """The claim among the shown lines of its own file."""
    dossier, packet = question.dossier, question.packet
    return Scene(packet, tuple(passage for passage in dossier.passages if passage.path == packet.path), dossier.ledger)


def position(question: CrossExamination, role: str) -> dict[str, object]:
    """An analyst's stand as the JSON object of a cross-examination."""
    facts = _facts(_scene(question))
    odds = sum(fact.weight(role) for fact in facts)
    probability = 1 / (1 + math.exp(-odds))
    stance = "support" if probability >= SUPPORT_FROM else "oppose" if probability <= OPPOSE_TO else "neutral"
    spoken = sorted((fact for fact in facts if fact.weight(role)), key=lambda fact: -abs(fact.weight(role)))
    arguments = [_argument(fact, question.words, for_it=stance != "oppose") for fact in spoken[:4]]
    if not arguments:
        arguments = [_nothing_to_add(question.packet.path, question.packet.line)]
    return {"stance": stance, "probability": round(probability, 3), "arguments": arguments, "check": None}


def rebuttal(question: Rebuttal, role: str) -> dict[str, object]:
    """A raiser's one answer. It gives every argument against the weight that its speakers gave it, cited evidence only."""
    facts = _facts(_scene(question))
    heard = {word.claim for word in question.words if word.evidence}
    against = [fact for fact in facts if fact.claim in heard and min(fact.weights) < 0]
    own = sum(fact.weight(role) for fact in facts if fact not in against)
    probability = 1 / (1 + math.exp(-(own + 0.4 + sum(min(fact.weights) for fact in against))))
    severity = question.packet.severity
    decision, lower = "defend", None
    if probability < WITHDRAW_BELOW:
        decision = "withdraw"
    elif probability < AMEND_BELOW and severity > Severity.LOW:
        decision, lower = "amend", Severity(severity - 1).label
    kept = [fact for fact in facts if fact.weight(role) > 0] if decision == "defend" else against
    arguments = [_argument(fact, question.words, for_it=decision == "defend") for fact in kept[:4]]
    return {"decision": decision, "severity": lower, "title": None, "arguments": arguments}


def _facts(scene: Scene) -> list[Fact]:
    return [fact for consider in CONSIDERATIONS if (fact := consider(scene))]


def _argument(fact: Fact, words: tuple[Word, ...], *, for_it: bool) -> dict[str, object]:
    """The fact in words, with the opposing words it answers."""
    other = "oppose" if for_it else "support"
    answered = [word.claim for word in words if word.stance.value == other and word.claim != fact.claim][:2]
    return {"claim": fact.claim, "evidence": list(fact.cites), "reasoning": fact.reasoning, "counter_arguments": answered}


def _nothing_to_add(path: str, line: int) -> dict[str, object]:
    claim = "nothing in the evidence speaks for or against it from where I look"
    return {"claim": claim, "evidence": [f"{path}:{line}"], "reasoning": "", "counter_arguments": []}


def _broken_test(scene: Scene) -> Fact | None:
    if not (ids := scene.breaking_tests()):
        return None
    return Fact((3.0, 3.0, 3.0), "a test that passed before fails on this line now", ids, "it was executed at base and at head")


def _believable_rule(scene: Scene) -> Fact | None:
    item = max(scene.items, key=lambda item: _BELIEF[item.result.precision], default=None)
    if item is None or not (weight := _BELIEF[item.result.precision]):
        return None
    rule = item.result.rule or item.result.tool
    why = "the language gives the line no other meaning" if item.result.precision is Precision.CERTAIN else "the rule seldom errs"
    return Fact((weight, weight, weight), f"{rule} was reported by a tool, not guessed", (item.id,), why)


def _corroborated(scene: Scene) -> Fact | None:
    if not (ids := scene.corroboration()):
        return None
    return Fact(
        (0.9, 0.9, 0.9), "a second, independent check reports the same line", ids[:3], "two checks seldom err at one place"
    )


def _suppressed_by_project(scene: Scene) -> Fact | None:
    if not scene.suppressed_by_project:
        return None
    reasoning = "the suppression stood at base, so it is the project's own decision"
    return Fact((-0.8, -2.0, -0.5), "the project silenced this rule here before the change", (scene.here,), reasoning)


def _suppressed_by_author(scene: Scene) -> Fact | None:
    if not scene.suppressed_by_author:
        return None
    reasoning = "an author's word about their own change counts as opposition, nothing more"
    return Fact((-0.2, -0.6, -0.2), "the change itself silences the rule on this line", (scene.here,), reasoning)


def _test_code(scene: Scene) -> Fact | None:
    if not scene.in_tests or scene.packet.category is Category.TESTS or scene.breaking_tests():
        return None
    reasoning = "its input is written beside it, and it does not run at a user's"
    return Fact((-1.4, -0.9, -1.4), "this is test code", (scene.here,), reasoning)


def _old_company(scene: Scene) -> Fact | None:
    if not (ids := scene.old_company()) or scene.packet.category in _RISKS:
        return None
    return Fact((0.0, -0.7, 0.0), "the same pattern stood in this file before", ids, "the project lives with it elsewhere")


def _tests_run_over_it(scene: Scene) -> Fact | None:
    if not scene.executed() or not scene.ledger.tests.green or scene.packet.category is Category.SECURITY:
        return None
    reasoning = f"{scene.ledger.tests.passed} tests pass at head and some of them run this line"
    return Fact((-0.4, -0.8, -0.2), "passing tests execute this line", (scene.here,), reasoning)


def _no_test_reaches_it(scene: Scene) -> Fact | None:
    if scene.packet.category is Category.TESTS or not (ids := scene.uncovered()):
        return None
    return Fact((0.4, 0.6, 0.0), "no test would notice a failure here", ids[:1], "the line was not executed by any test")


def _constant_argument(scene: Scene) -> Fact | None:
    if scene.packet.category is not Category.SECURITY or not scene.argument_is_constant():
        return None
    return Fact(
        (-2.6, -1.8, -1.4), "only constants reach this call", (scene.here,), "no input from outside can change what it does"
    )


def _outside_input(scene: Scene) -> Fact | None:
    if scene.packet.category is not Category.SECURITY or not (place := scene.outside_input()):
        return None
    cites = tuple(dict.fromkeys((place, scene.here)))
    return Fact((1.4, 0.8, 0.4), "input from outside enters this very function", cites, "it needs no accident, only a caller")


def _placeholder(scene: Scene) -> Fact | None:
    if not scene.is_placeholder or all(item.result.kind is not EvidenceKind.SECRET for item in scene.items):
        return None
    return Fact((-1.2, -1.2, -0.6), "the value reads like a placeholder", (scene.here,), "examples name themselves")


def _default(scene: Scene) -> Fact | None:
    if all(item.result.rule not in ("B006", "B008") for item in scene.items) or (use := scene.default_use()) is None:
        return None
    changed, place = use
    if changed:
        cites = tuple(dict.fromkeys((scene.here, place)))
        return Fact(
            (1.3, 0.9, 0.4), "the function changes the default or lets it out", cites, "the next call meets what this one left"
        )
    return Fact((-1.8, -1.9, -1.8), "the default is only read here", (place,), "calls share it, and none of them changes it")


def _right_to_left(scene: Scene) -> Fact | None:
    if all(item.result.kind is not EvidenceKind.UNICODE for item in scene.items) or not scene.writes_right_to_left():
        return None
    return Fact((-0.6, -1.6, -1.2), "the line holds a right-to-left language", (scene.here,), "there the character is writing")


def _loop(scene: Scene) -> Fact | None:
    if scene.packet.category is not Category.PERFORMANCE or not (loop := scene.loop_over()):
        return None
    kind, place = loop
    cites = (place, scene.here)
    if kind == "bounded":
        return Fact((-2.4, -2.4, -2.8), "the loop runs over a constant", cites, "its cost cannot grow with the input")
    if kind == "parameter":
        return Fact(
            (0.9, 0.7, 1.3), "the loop runs over what the caller hands in", cites, "the cost grows with the caller's data"
        )
    return Fact((0.2, 0.2, 0.6), "nothing bounds the loop", cites, "its length is not known here")


def _cold_path(scene: Scene) -> Fact | None:
    if scene.packet.category is not Category.PERFORMANCE or scene.loop_over():
        return None
    return Fact((-0.5, -0.7, -0.3), "no loop is seen around the line", (scene.here,), "what runs once costs little")


def _complexity_is_tested(scene: Scene) -> Fact | None:
    if all(item.result.kind is not EvidenceKind.COMPLEXITY for item in scene.items):
        return None
    if scene.executed() and scene.ledger.tests.green:
        return Fact((-0.5, -0.3, 0.2), "the function is long but its tests pass", (scene.here,), "a reader has a safety net")
    return Fact(
        (0.5, 0.8, 0.6), "the function grew and nothing shows that its branches work", (scene.here,), "every branch is a case"
    )


CONSIDERATIONS: tuple[Consideration, ...] = (
    _broken_test,
    _believable_rule,
    _corroborated,
    _suppressed_by_project,
    _suppressed_by_author,
    _test_code,
    _old_company,
    _tests_run_over_it,
    _no_test_reaches_it,
    _constant_argument,
    _outside_input,
    _placeholder,
    _default,
    _right_to_left,
    _loop,
    _cold_path,
    _complexity_is_tested,
)
