"""A whole debate: every prompt once, every reply, every look-up, what each cost; and nothing of it comes to life."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from reviewbot.domain.money import Usage
from reviewbot.ports import SessionState
from reviewbot.publish import transcript
from reviewbot.publish.transcript import DebateCall, DebateRecord, DebateSeat, looks
from tests.publish.samples import HOSTILE_WORDS
from tests.publish.test_html import check
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples

SCHEMA = json.loads(files("reviewbot").joinpath("schema/session.schema.json").read_text())
TOOLS = json.dumps(
    [
        {
            "calls": [
                {"id": "c1", "name": "read_file", "arguments": '{"path": "a.py"}'},
                {"id": "c2", "name": "search", "arguments": "{"},
            ],
            "results": [
                {"call_id": "c1", "text": "1 def pay():", "is_error": False},
                {"call_id": "c2", "text": "not JSON", "is_error": True},
            ],
            "opaque": "",
        }
    ]
)
FIRST = DebateCall(
    1, "critic", "anthropic:claude-sonnet-5", "S1", "P1", 1, 1, 0, "You are one of three.", "a.py\n1 def pay():", "What is wrong?", "",
    '{"claims": []}', "end", Usage(1, 1_000, 400, 50, 0.02, seconds=3.0, paid_usd=0.02), 3.0, replayed=False,
)  # fmt: skip
SECOND = replace(
    FIRST,
    number=2, seat="optimizer", model="ollama:qwen3-coder:30b", suffix="And how slow?", exchanges=TOOLS, step=1, reply="too slow", replayed=True,
    usage=Usage(1, 1_000, 0, 50, 0.01, local_tokens=1_050, seconds=9.0, paid_usd=0.01),
)  # fmt: skip
FAILED = replace(FIRST, number=3, attempt=2, outcome="timeout", reply="no answer in 120 s")
RECORD = DebateRecord(
    id="01JD3ZK6Q2",
    state="converged",
    project="acme/shop",
    base="5f1d3a9c" * 5,
    head="c0ffee12" * 5,
    title="Add a tax",
    conclusion="complete",
    verdict="comment",
    seats=(
        DebateSeat("critic", "critic", FIRST.model, "idle"),
        DebateSeat("optimizer", "optimizer", SECOND.model, "lost", "it left"),
    ),
    usage=Usage(3, 3_000, 800, 150, 0.05, local_tokens=1_050, seconds=15.0, replayed_calls=1, paid_usd=0.04),
    calls=(FIRST, SECOND, FAILED),
)


def hostile(words: str) -> DebateRecord:
    said = dict.fromkeys(
        ("seat", "model", "phase", "subject", "system", "prefix", "suffix", "exchanges", "reply", "outcome"), words
    )
    call = replace(FIRST, **said)  # type: ignore[arg-type]
    tools = json.dumps(
        [
            {
                "calls": [{"id": "x", "name": words, "arguments": words}],
                "results": [{"call_id": "x", "text": words, "is_error": True}],
            }
        ]
    )
    fields = dict.fromkeys(("id", "project", "base", "head", "title", "conclusion", "verdict"), words)
    seats = (DebateSeat(words, words, words, words, words),)
    return replace(RECORD, **fields, seats=seats, calls=(call, replace(call, number=2, exchanges=tools)))  # type: ignore[arg-type]


def test_the_text_tells_a_prompt_once_and_every_reply() -> None:
    told = transcript.text(RECORD)
    assert told.count("You are one of three.") == 1
    assert told.count("system: as in 1") == 2
    assert told.count("1 def pay():") == 2, "in the prefix, and as a tool's result"
    for words in (
        "01JD3ZK6Q2  converged  acme/shop",
        "5f1d3a9c5f1d..c0ffee12c0ff Add a tax",
        "cost: $0.0500 for 3 model calls, 3,000 tokens in (27% cached), 150 out, 33% of all tokens local, 15.0 s of answers, 1 of 3 replayed",
        "──── 2  optimizer (ollama:qwen3-coder:30b)  S1 on P1, round 1, after 1 tool step",
        "     end: $0.0100, 1,000 tokens in, 50 out, 100% of all tokens local, 3.0 s, replayed: nothing was paid in this run",
        "──── 3  critic (anthropic:claude-sonnet-5)  S1 on P1, round 1, attempt 2",
        "     timeout: $0.0200",
        "    │ no answer in 120 s",
        '  tool read_file {"path": "a.py"}:\n    │ 1 def pay():',
        "  tool search { failed:\n    │ not JSON",
        "optimizer (optimizer) ollama:qwen3-coder:30b lost: it left",
        "    │ And how slow?",
    ):
        assert words in told


def test_a_seat_bears_its_own_calls() -> None:
    assert RECORD.of("critic") == Usage(2, 2_000, 800, 100, 0.04, seconds=6.0, paid_usd=0.04)
    assert (RECORD.of("optimizer").paid_usd, RECORD.of("optimizer").replayed_calls) == (0.0, 1)
    assert RECORD.of("nobody") == Usage()


def test_the_json_keeps_to_its_schema_and_leaves_nothing_out() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    written = json.loads(transcript.json(RECORD))
    Draft202012Validator(SCHEMA).validate(written)
    assert [call["prompt"]["system"] for call in written["calls"]] == ["You are one of three."] * 3
    assert written["calls"][1]["tools"][0] == {
        "name": "read_file",
        "arguments": '{"path": "a.py"}',
        "result": "1 def pay():",
        "failed": False,
    }
    assert written["calls"][1]["usage"]["paid_usd"] == 0
    assert set(SCHEMA["properties"]["state"]["enum"]) == set(SessionState)


def test_the_page_shows_calls_with_their_cost_and_leads_to_what_was_said_before() -> None:
    page = check(transcript.html(RECORD))
    assert "#call-1" in page.of("href")
    for words in ("Debate 01JD3ZK6Q2", "$0.0500 for 3 model calls", "too slow", "not JSON", "33%", "replayed: nothing was paid"):
        assert words in page.words


@settings(derandomize=True, max_examples=examples(40))
@given(ANYTHING)
def test_no_words_become_markup_sequences_or_commands(words: str) -> None:
    record = hostile(words)
    check(transcript.html(record))
    told = transcript.text(record)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", told)
    assert not any(line.lstrip().startswith("::") for line in told.split("\n"))
    written = transcript.json(record)
    assert written.isascii()
    assert "##[" not in written
    Draft202012Validator(SCHEMA).validate(json.loads(written) | {"state": "failed"})


@pytest.mark.parametrize("kind", ["text", "json", "html"])
def test_a_secret_that_a_model_repeated_is_redacted(kind: str) -> None:
    assert "a1B2a1B2" not in getattr(transcript, kind)(hostile(HOSTILE_WORDS))


@pytest.mark.parametrize("kept", ["{", "[{}]", "3", '{"a": 1}', '[{"calls": [3], "results": []}]'])
def test_look_ups_that_cannot_be_read_are_shown_as_they_are(kept: str) -> None:
    assert [(look.name, look.result) for look in looks(replace(FIRST, exchanges=kept))] == [("unreadable", kept)]


def test_a_debate_that_was_never_held_is_told_too() -> None:
    empty = replace(RECORD, seats=(), calls=(), usage=Usage(), conclusion="", verdict="")
    assert "conclusion: none, verdict: none" in transcript.text(empty)
    check(transcript.html(empty))
    Draft202012Validator(SCHEMA).validate(json.loads(transcript.json(empty)))
