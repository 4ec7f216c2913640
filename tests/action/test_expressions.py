"""The evaluator of expressions that plays GitHub in these tests: it agrees with GitHub's own."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.action import npm
from tests.action.expressions import Evaluator, ExpressionError, as_text

CONTEXT: dict[str, Any] = {
    "github": {
        "event_name": "pull_request",
        "event": {
            "action": "labeled",
            "number": 7,
            "label": {"name": "ReviewBot:Skip"},
            "comment": {"body": "/debate fix\nall", "user": {"type": "User"}},
            "pull_request": {"head": {"repo": None}, "draft": False, "labels": [{"name": "a"}, {"name": "b"}, {}]},
        },
        "ref-name": "topic",
    },
    "inputs": {"mode": "all", "empty": "", "number": "12"},
    "steps": {"review": {"outputs": {"conclusion": "complete"}, "outcome": "success"}},
}

EXPRESSIONS = [
    "github.event_name",
    "github.EVENT.number",
    "github['event']['label'].name",
    "github.ref-name",
    "github.event.pull_request.head.repo.full_name == 'a/b'",
    "github.event.nothing.at.all",
    "github.event.pull_request.labels.*.name",
    "contains(github.event.pull_request.labels.*.name, 'B')",
    "github.event.pull_request.labels[1].name",
    "github.event.pull_request.labels[9].name",
    "github.event.label.name == 'reviewbot:skip'",
    "startsWith(github.event.comment.body, '/DEBATE fix')",
    "endsWith('abc', 'BC')",
    "contains('Hello', 'ELL')",
    "inputs.mode == 'all' || inputs.mode == 'debate'",
    "inputs.empty || 'fallback'",
    "inputs.empty && 'never'",
    "!inputs.empty",
    "inputs.mode != 'collect' && (inputs.empty || steps.review.outputs.conclusion) || ''",
    "1 < 2 && 'a' < 'B'",
    "'10' == 10",
    "'' == 0",
    "null == 0",
    "true == 1",
    "'abc' == 0",
    "'abc' < 0",
    "0x10 == 16",
    "-1.5",
    "1e3",
    "inputs.number > 3",
    "'it''s'",
    "format('{0} and {1} {{x}}', inputs.mode, 5)",
    "join(github.event.pull_request.labels.*.name, '-')",
    "fromJSON('{\"a\": [1, 2.5]}').a[1]",
    "toJSON(github.event.label)",
    "github.event.pull_request.draft == false",
    "(1 == 1) == true",
    "github == github",
    "format('{0}', github.event)",
    "1 <",
    "nothing",
    "'open",
    "github.",
    "unknown(1)",
    "a b",
]


def played(expression: str) -> object:
    try:
        return Evaluator(CONTEXT).evaluate(expression)
    except ExpressionError:
        return ExpressionError


def test_githubs_own_evaluator_says_the_same() -> None:
    answers = npm.ask("evaluate.mjs", {"context": CONTEXT, "expressions": EXPRESSIONS})
    told = {
        text: ExpressionError if "error" in answer else answer["value"] for text, answer in zip(EXPRESSIONS, answers, strict=True)
    }
    assert {text: played(text) for text in EXPRESSIONS} == told


def test_texts_with_expressions_are_filled_and_conditions_hold() -> None:
    evaluator = Evaluator(CONTEXT, {"success": lambda: True})
    assert evaluator.fill("a ${{ inputs.mode }} b ${{ '}}' }}${{ inputs.none }}") == "a all b }}"
    assert evaluator.holds("success() && inputs.mode == 'all'")
    assert evaluator.holds("${{ inputs.mode == 'all' }}")
    assert not evaluator.holds("${{ inputs.empty }}")
    assert evaluator.holds("${{ inputs.empty }} and text")


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.5, "0.5"), (True, "true"), (None, ""), ([1], "Array"), (math.nan, "NaN")]
)
def test_values_are_written_as_github_writes_them(value: object, text: str) -> None:
    assert as_text(value) == text


@given(st.text(alphabet="ab'.[]()!&|=<>* 01,${}githubinputs", max_size=30))
def test_any_text_is_an_expression_or_is_refused(text: str) -> None:
    with_all = Evaluator(CONTEXT)
    with contextlib.suppress(ExpressionError):
        json.dumps(with_all.evaluate(text))
