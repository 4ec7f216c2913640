"""What is said of a question and of a dispute: whole, honest about what is missing, and harmless wherever it is shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.answer import Counsel, DisputeEnd, Dissent, Opinion, Settlement, Voice
from reviewbot.domain.debate import Argument, Attendance, SeatStatus
from reviewbot.domain.evidence import Severity
from reviewbot.domain.money import Bill, Usage
from reviewbot.publish import answer, dispute
from reviewbot.publish.sanitise import LINK_HOSTS
from reviewbot.testing import a_seat, evidence_item
from tests.publish.github import dangers
from tests.publish.samples import HOSTILE_WORDS, OFF_BY_ONE
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples

SEATS = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
SPENT = Bill(Usage(calls=4, input_tokens=900, output_tokens=80, cost_usd=0.02, paid_usd=0.02), {"critic": Usage(calls=1)})
COUNSEL = Counsel(
    "Is the list shared?",
    answer="Yes, between calls.",
    by="moderator",
    citations=("a.py:1", "E1"),
    dropped=("a.py:99",),
    caveats=("no caller was shown",),
    dissent=(Dissent(("optimizer",), "it is not shared"),),
    opinions=(
        Opinion("critic", "B", "It is made once.", ("a.py:1",), 0.8),
        Opinion("reviewer", "C", "Yes.", ("E1",), 0.7, dropped=("b.py:1",)),
        Opinion("optimizer", "A", "No.", (), 0.4, ("callers",), portion="P2"),
    ),
    evidence=(evidence_item(1, "a.py", 1),),
    attendance=tuple(Attendance(seat, SeatStatus.OK) for seat in SEATS),
    bill=SPENT,
    notes=("2 of 5 portions were read",),
)
SETTLEMENT = Settlement(
    OFF_BY_ONE,
    "It is meant so.",
    DisputeEnd.AMENDED,
    "who raised it words it anew",
    0.7,
    Severity.LOW,
    "A smaller thing",
    voices=(
        Voice("critic", "amend", raised=True, probability=None, arguments=(Argument("it is smaller", ("a.py:1",)),)),
        Voice("reviewer", "oppose", raised=False, probability=0.2, arguments=(Argument("no", ()),), counted=False),
        Voice("optimizer", "neutral", raised=False, probability=0.5, arguments=()),
    ),
    attendance=COUNSEL.attendance,
    bill=SPENT,
    notes=("critic answers in place of security, who does not sit here",),
)
WILD = ANYTHING | st.just(HOSTILE_WORDS) | st.text(max_size=20).map(lambda words: words + HOSTILE_WORDS)
SOME = settings(max_examples=examples(80), derandomize=True)


def alive(markdown: str) -> list[str]:
    ours = ("<details><summary>What each panelist answered</summary>", "</details>")
    lines = [line for line in markdown.split("\n") if line not in ours]
    return dangers("\n".join(lines), LINK_HOSTS)


def counsel_of(words: str) -> Counsel:
    """A counsel that says these words everywhere."""
    item = evidence_item(1, words, 1, message=words, rule=words)
    one = Opinion(words, "A", words, (words,), 0.5, (words,), (words,), words)
    return Counsel(
        words, words, words, (words,), (words,), (words,), (Dissent((words,), words),), (one, one), words, (item,),
        (Attendance(a_seat(words), SeatStatus.LOST, words), Attendance(a_seat(words), SeatStatus.OK)), SPENT, (words,),
    )  # fmt: skip


def settlement_of(words: str) -> Settlement:
    """A settlement that says these words everywhere."""
    voice = Voice(words, "oppose", raised=False, probability=0.1, arguments=(Argument(words, (words,), words, (words,)),))
    return Settlement(
        replace(OFF_BY_ONE, id=words), words, DisputeEnd.MAINTAINED, words, 0.5, Severity.LOW, words, (voice,), words,
        (Attendance(a_seat(words), SeatStatus.OK),), SPENT, (words,),
    )  # fmt: skip


# What is said


@pytest.mark.parametrize("form", [answer.markdown_of, answer.text_of])
def test_an_answer_says_what_it_rests_on_who_differs_and_what_it_cost(form: object):
    said = form(COUNSEL)  # type: ignore[operator]
    for words in (
        "Is the list shared?", "Yes, between calls.", "a.py:1", "E1", "no caller was shown", "optimizer: it is not shared"
        if form is answer.markdown_of else "Dissent, optimizer: it is not shared", "It is made once.", "b.py:1", "a.py:99",
        "2 of 5 portions were read", "0.0200", "critic", "portion P2", "answer A",
    ):  # fmt: skip
        assert words in said, words
    assert said.count(answer.OPINION) == 1, "only the optimizer's is an opinion"


def test_citations_are_code():
    assert "`a.py:1`, `E1`" in answer.markdown_of(COUNSEL)


def test_an_answer_without_a_citation_is_called_an_opinion():
    for form in (answer.markdown_of, answer.text_of):
        assert form(replace(COUNSEL, citations=(), opinions=())).count(answer.OPINION) == 1
    assert answer.document_of(replace(COUNSEL, citations=()))["is_opinion"] is True


def test_what_was_not_answered_is_never_shown_as_an_answer():
    unanswered = replace(COUNSEL, answer="", unanswered="too few panelists", citations=())
    for form in (answer.markdown_of, answer.text_of):
        assert "NOT ANSWERED" in form(unanswered)
        assert "too few panelists" in form(unanswered)
        assert "It is made once." in form(unanswered)
    assert answer.document_of(unanswered)["answer"] is None


def test_a_panel_of_one_does_not_say_its_answer_twice():
    said = answer.markdown_of(replace(COUNSEL, opinions=COUNSEL.opinions[:1]))
    assert "It is made once." not in said


@pytest.mark.parametrize("end", DisputeEnd)
def test_a_dispute_says_its_end_why_and_who_said_what(end: DisputeEnd):
    made = replace(SETTLEMENT, end=end)
    for form in (dispute.markdown_of, dispute.text_of):
        said = form(made)
        assert dispute.HEADLINES[end] in said
        assert "It is meant so." in said
        assert "critic, who raised it, words it anew: it is smaller" in said
        assert "reviewer opposes it, 20% (does not count" in said
        assert "critic answers in place of security" in said
        assert "0.0200" in said
    assert json.loads(dispute.json_of(made))["outcome"] == end.value


def test_what_holds_a_finding_and_who_may_still_dismiss_it_is_said():
    held = replace(SETTLEMENT, end=DisputeEnd.MAINTAINED, held_by="a check of it failed at head")
    for form in (dispute.markdown_of, dispute.text_of):
        assert dispute.HELD in form(held)
        assert dispute.HELD not in form(SETTLEMENT)


def test_documents_are_json_that_says_everything():
    found = json.loads(answer.json_of(COUNSEL))
    assert found["dissent"] == [{"panelists": ["optimizer"], "about": "it is not shared"}]
    assert [one["is_opinion"] for one in found["opinions"]] == [False, False, True]
    assert found["usage"]["by_panelist"]["critic"]["calls"] == 1
    settled = json.loads(dispute.json_of(SETTLEMENT))
    assert (settled["before"]["severity"], settled["after"]) == (
        OFF_BY_ONE.severity.label, {"probability": 0.7, "severity": "low", "title": "A smaller thing"},
    )  # fmt: skip


# What it may not do


@given(words=WILD)
@SOME
def test_no_word_comes_alive(words: str):
    assert alive(answer.markdown_of(counsel_of(words))) == []
    assert alive(answer.markdown_of(replace(counsel_of(words), answer=""))) == []
    assert alive(dispute.markdown_of(settlement_of(words))) == []


@given(words=WILD)
@SOME
def test_no_word_steers_a_terminal_or_a_build_log(words: str):
    for said in (answer.text_of(counsel_of(words)), dispute.text_of(settlement_of(words))):
        assert "\x1b" not in said
        assert not [line for line in said.split("\n") if line.lstrip().startswith("::")]
        assert said.endswith("\n")


@given(words=WILD)
@SOME
def test_any_words_make_a_document(words: str):
    json.loads(answer.json_of(counsel_of(words)))
    json.loads(dispute.json_of(settlement_of(words)))


def test_a_comment_never_grows_too_long():
    endless = replace(counsel_of("é" * 3_000), opinions=counsel_of("é" * 3_000).opinions * 40)
    said = answer.markdown_of(endless)
    assert len(said.encode()) < 65_000
    assert "Left out for length" in said
    assert "$0.02" in said.replace("\\", ""), "what it cost is said in any event"
