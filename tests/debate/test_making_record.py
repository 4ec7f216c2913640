"""What the record and those who watch are told while code is made, and replies that are read whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.debate.gist import gist
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.rounds import attempt, hold_whole
from reviewbot.domain.repair import CodeVersion
from reviewbot.ports import Ask, Question, Reply, ReplyStatus, Trial, Trialled
from tests.debate.conversation import talked
from tests.debate.prompts import QUESTIONS, SEAT
from tests.debate.workshop import a_task, arbitrated, judged, point, swap, verdict, wrote


def told(name: str, text: str) -> dict[str, str | int | float]:
    question: Question = QUESTIONS[name]
    return gist(Ask(SEAT, question), text)


def test_those_who_watch_are_told_what_was_written_and_how_it_was_judged() -> None:
    writing = wrote(swap("a", "b"), swap("c", "d"), swap("", "e", "new.py"), explanation="the list is made anew")
    for name in ("drafting", "refinement"):
        assert told(name, writing) == {"edits": 3, "decision": "edits a.py, new.py", "summary": "the list is made anew"}
    assert told("drafting", wrote())["decision"] == "no edits in the answer"
    verdicts = judged(verdict("A", point("it leaks"), score=2), verdict("B", score=8.5))
    assert told("appraisal", verdicts) == {"decision": "A not acceptable (2); B acceptable (8.5)", "summary": "it leaks"}
    assert told("arbitration", arbitrated("upheld", "a.py:1")) == {"decision": "upheld", "summary": "because"}


@pytest.mark.parametrize("name", ["drafting", "appraisal", "refinement", "arbitration"])
def test_what_cannot_be_read_is_told_as_nothing(name: str) -> None:
    assert told(name, "no JSON") == {}
    assert told(name, "{}") == {}


@pytest.mark.parametrize(
    ("trialled", "author", "outcome", "summary"),
    [
        (Trialled(), "ruff", "ok", "tried what ruff wrote: its check failed before and passes with it"),
        (Trialled(unknown=("F1",)), "ruff", "ok", "tried what ruff wrote: no check shows that it works"),
        (Trialled(red=("F1",), output="long"), "x", "dropped", "tried what x wrote: the check of F1 does not pass with it"),
        (Trialled(reason="no\nmore"), "", "dropped", "tried what was accepted: no"),
        (Trialled(reason="x" * 9_000), "", "dropped", f"tried what was accepted: {'x' * 400}"),
    ],
)
def test_a_trial_is_one_line_of_the_record(trialled: Trialled, author: str, outcome: str, summary: str) -> None:
    minutes = Minutes((SEAT,))
    trial = Trial("F1", (a_task(),), (), author=author)
    assert talked(attempt(trial, minutes), lambda _: trialled).end == trialled
    (turn,) = minutes.transcript((), ()).turns
    assert (turn.phase, turn.panelist, turn.subject, turn.outcome, turn.summary) == ("make", "sandbox", "F1", outcome, summary)


def test_a_reply_is_read_with_all_that_came_with_it() -> None:
    versions = (CodeVersion(1, "a.py", b"x", "critic"),)
    reply = Reply(ReplyStatus.OK, "text", written=versions)
    ask = Ask(SEAT, QUESTIONS["drafting"])
    talk = talked(hold_whole([ask], lambda _, answer: (answer.text, answer.written), Minutes((SEAT,))), lambda _: reply)
    assert talk.end.heard[0].value == ("text", versions)


def test_what_went_wrong_last_with_a_panelist_is_known() -> None:
    minutes = Minutes((SEAT,))
    assert minutes.trouble(SEAT) == ""
    ask = Ask(SEAT, QUESTIONS["drafting"])
    minutes.answered(ask, Reply(ReplyStatus.REFUSED, reason="I cannot"))
    assert minutes.trouble(SEAT) == "I cannot"
    assert minutes.trouble(replace(SEAT, name="another")) == ""
