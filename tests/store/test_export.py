"""Lines for fine-tuning: which calls and pairs qualify, what is hidden, which file a repository goes to."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.store.export import Example, split_of
from reviewbot.adapters.store.opening import Store
from reviewbot.domain.debate import Proof
from reviewbot.ports import Recorded, SessionState
from tests.rings import examples
from tests.store.samples import FINDING, answered, failed, plan, review, wanted

pytestmark = pytest.mark.matrix(parts=1)

TOKEN = "ghp_" + "aB3dE6gH9j" * 4
CLAIM = {"path": "a.py", "start_line": 2, "line": 3, "quote": "return 1 / x", "title": "divides"}
CRITIC = {"seat": "critic", "suffix": "as the critic"}
REVIEWER = {"seat": "reviewer", "suffix": "as the reviewer"}
PROVEN = replace(FINDING, raised_by=("critic",))
CONTRADICTED = replace(FINDING, id="F2", path="b.py", raised_by=("reviewer",), proof=Proof.CONTRADICTED)


def lines(store: Store, kind: str, project: str | None = None) -> list[Any]:
    return [json.loads(example.line) for example in store.examples(project) if example.kind == kind]


def claims(*said: dict[str, Any]) -> Recorded:
    return answered(json.dumps({"claims": said}))


def ask(opened, number: int, outcome: Recorded, **changes: Any) -> None:
    call = wanted(number, **changes)
    assert opened.calls.claim(call) is None
    opened.calls.settle(call, outcome)


def test_an_answered_call_is_a_conversation(store: Store):
    with store.begin(plan("A")) as opened:
        ask(opened, 1, answered("all well"))
    (line,) = lines(store, "chat")
    assert line["messages"] == [
        {"role": "system", "content": wanted(1).system},
        {"role": "user", "content": wanted(1).prefix + wanted(1).suffix},
        {"role": "assistant", "content": "all well"},
    ]
    assert line["metadata"]["model"] == "one:a"
    assert line["metadata"]["phase"] == "S1"
    assert "owner/name" not in json.dumps(line)


def test_tool_steps_are_messages(store: Store):
    exchanges = json.dumps(
        [
            {
                "calls": [{"id": "c1", "name": "search", "arguments": '{"text":"x"}'}],
                "results": [{"call_id": "c1", "text": "found", "is_error": False}],
                "opaque": "",
            }
        ]
    )
    with store.begin(plan("A")) as opened:
        ask(opened, 1, answered("", stop="tools", tool_calls=[{"id": "c1", "name": "search", "arguments": '{"text":"x"}'}]))
        ask(opened, 2, answered("so it is"), exchanges=exchanges, step=1)
    wish, last = lines(store, "chat")
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"text":"x"}'}}
    assert wish["messages"][2:] == [{"role": "assistant", "content": "", "tool_calls": [call]}]
    assert last["messages"][2:] == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "assistant", "content": "so it is"},
    ]


@pytest.mark.parametrize("stop", ["length", "refused", "other"])
def test_answers_that_are_none_are_left_out(store: Store, stop: str):
    with store.begin(plan("A")) as opened:
        ask(opened, 1, answered("half", stop=stop))
        ask(opened, 2, failed())
        ask(opened, 3, replace(answered(), document="no JSON"))
        ask(opened, 4, answered(), exchanges="no JSON")
        ask(opened, 5, answered(), exchanges='[{"calls": 5, "results": [7]}]')
        opened.calls.claim(wanted(6))
        assert lines(store, "chat") == []


def test_a_proven_answer_is_preferred_to_a_contradicted_one(store: Store):
    with store.begin(plan("A")) as opened:
        ask(opened, 1, claims(CLAIM), **CRITIC)
        ask(opened, 2, claims(CLAIM | {"path": "b.py"}), **REVIEWER)
        opened.session.close(review(PROVEN, CONTRADICTED), SessionState.CONVERGED)
    (pair,) = lines(store, "preference")
    assert pair["prompt"][1]["content"].endswith("as the critic")
    assert json.loads(pair["chosen"]) == {"claims": [CLAIM]}
    assert json.loads(pair["rejected"])["claims"][0]["path"] == "b.py"
    assert (pair["metadata"]["seat"], pair["metadata"]["rejected_seat"]) == ("critic", "reviewer")
    assert pair["metadata"]["same_prompt"] is False


@pytest.mark.parametrize(
    ("first", "second", "findings"),
    [
        (CRITIC | {"subject": "P2"}, REVIEWER, (PROVEN, CONTRADICTED)),
        (CRITIC | {"prefix": "another change"}, REVIEWER, (PROVEN, CONTRADICTED)),
        (CRITIC, REVIEWER, (PROVEN, replace(CONTRADICTED, proof=Proof.UNTESTED))),
        (CRITIC, REVIEWER, (PROVEN, replace(CONTRADICTED, raised_by=("critic",)))),
        (CRITIC, REVIEWER, (PROVEN, replace(CONTRADICTED, start_line=90, line=91, quote="elsewhere"))),
        (CRITIC, REVIEWER, (PROVEN, replace(CONTRADICTED, id="F3", raised_by=("critic",), path="a.py"), CONTRADICTED)),
        (CRITIC, REVIEWER, ()),
    ],
    ids=["portion", "change", "untested", "not raised", "other lines", "both", "no finding"],
)
def test_what_makes_no_pair(store: Store, first, second, findings):
    with store.begin(plan("A")) as opened:
        ask(opened, 1, claims(CLAIM), **first)
        ask(opened, 2, claims(CLAIM | {"path": "b.py"}), **second)
        opened.session.close(review(*findings), SessionState.CONVERGED)
    assert lines(store, "preference") == []


def test_a_quote_joins_a_claim_to_its_finding_where_lines_moved(store: Store):
    with store.begin(plan("A")) as opened:
        ask(opened, 1, claims(CLAIM | {"start_line": 400, "line": 400}), **CRITIC)
        ask(opened, 2, claims(CLAIM | {"path": "b.py", "start_line": None}), **REVIEWER)
        opened.session.close(review(PROVEN, CONTRADICTED), SessionState.CONVERGED)
    assert len(lines(store, "preference")) == 1


def test_secrets_are_redacted_everywhere(store: Store):
    exchanges = json.dumps(
        [{"calls": [{"id": "c", "name": "n", "arguments": TOKEN}], "results": [{"call_id": "c", "text": TOKEN}]}]
    )
    with store.begin(plan("A")) as opened:
        ask(opened, 1, claims(CLAIM | {"title": TOKEN}), **CRITIC | {"prefix": TOKEN, "system": TOKEN, "exchanges": exchanges})
        ask(opened, 2, claims(CLAIM | {"path": "b.py", "title": TOKEN}), **REVIEWER | {"prefix": TOKEN, "system": TOKEN})
        opened.session.close(review(PROVEN, CONTRADICTED), SessionState.CONVERGED)
    written = [example.line for example in store.examples()]
    assert len(written) == 3
    assert all("«secret:github-token»" in json.dumps(json.loads(line), ensure_ascii=False) for line in written)
    assert not any(TOKEN in line for line in written)


@pytest.mark.ci
def test_one_repository_is_in_one_file(store: Store):
    projects = [f"owner/{number}" for number in range(40)]
    for number, project in enumerate(projects):
        with store.begin(plan(f"R{number}", project=project, key=f"{number:064}")) as opened:
            ask(opened, number, answered(str(number)))
    found: dict[str, set[str]] = {}
    for example in store.examples():
        found.setdefault(json.loads(example.line)["metadata"]["repository"], set()).add(example.split)
    assert len(found) == 40
    assert all(len(splits) == 1 for splits in found.values())
    assert {split for splits in found.values() for split in splits} == {"train", "validation"}
    assert [line["messages"][2]["content"] for line in lines(store, "chat", "owner/7")] == ["7"]


@settings(derandomize=True, max_examples=examples(50))
@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_every_name_has_a_split_for_ever(name: str):
    assert split_of(name) in ("train", "validation")
    assert split_of("owner/name") == "validation"
    assert split_of("owner/7") == "train"


def test_examples_come_as_they_are_read(store: Store):
    """Whoever stops after the first has not read the second, and the ledger is free again."""
    with store.begin(plan("A")) as opened:
        for number in range(3):
            ask(opened, number, answered(str(number)))
        examples = store.examples()
        assert isinstance(next(examples), Example)
        examples.close()
        ask(opened, 9, answered())
