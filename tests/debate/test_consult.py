"""A question to the panel: everyone alone, citations looked up, one who draws together without knowing names, dissent kept."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.debate import reply
from reviewbot.debate.cites import Shown
from reviewbot.debate.papers import Papers
from reviewbot.debate.patterns.consult import STATIC, ConsultOptions, Inquiry, concerning, consult, without_models
from reviewbot.debate.schema import CONSULTING_ENVELOPE
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.answer import Counsel
from reviewbot.domain.debate import Seat, SeatStatus, Table
from reviewbot.domain.evidence import Ledger
from reviewbot.ports import Ask, Consultation, Dossier, Experiment, Given, Related, Reply, ReplyStatus, Synthesis
from reviewbot.testing import a_dossier, a_passage, a_seat, evidence_item
from tests.debate.conversation import Answer, Talk, local_seat, talked
from tests.debate.prompts import DOSSIER, SEAT, scribe
from tests.debate.prompts.reading import FEW, SCRIBE, WILD, blocks, put

CODE = "def total(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)"
USUAL = ConsultOptions()
TRIO = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
MODERATOR = a_seat("moderator")
LEDGER = Ledger(items=(evidence_item(1, "a.py", 1),))
QUESTION = "Is the list in a.py shared between calls?"


def opinion(answer: str, *cites: str, confidence: float = 0.8, caveats: tuple[str, ...] = ()) -> str:
    return json.dumps({"citations": list(cites), "answer": answer, "caveats": list(caveats), "confidence": confidence})


def common(answer: str, *cites: str, dissent: dict[str, str] | None = None) -> str:
    differing = [{"who": list(who), "about": about} for who, about in (dissent or {}).items()]
    return json.dumps({"citations": list(cites), "answer": answer, "dissent": differing, "caveats": ["no caller was shown"]})


ANSWERS = {
    "critic": opinion("Yes, it is made once.", "a.py:1", "a.py:3"),
    "reviewer": opinion("Yes; ruff says so too.", "E1", "a.py:99", "b.py:1"),
    "optimizer": opinion("No.", confidence=0.4, caveats=("callers are not shown",)),
}


def held(
    answers: dict[str, Answer] | Callable[[Ask], Answer] = ANSWERS,
    draw: Callable[[Ask], Answer] | Answer | None = None,
    *,
    seats: tuple[Seat, ...] = TRIO,
    moderator: Seat | None = MODERATOR,
    dossiers: tuple[Dossier, ...] = (a_dossier(a_passage("a.py", CODE), ledger=LEDGER),),
    small: tuple[Dossier, ...] = (),
    options: ConsultOptions = USUAL,
    **inquiry: object,
) -> Talk[Counsel]:
    """A consultation, its answers by the seat's name."""

    def answer(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        if isinstance(asked.question, Synthesis):
            return draw(asked) if callable(draw) else draw or common("Yes.", "a.py:1")
        return answers(asked) if callable(answers) else answers[asked.seat.name]

    about = Inquiry(QUESTION, Papers(dossiers, small), LEDGER, **inquiry)  # type: ignore[arg-type]
    return talked(consult(about, Table(seats, moderator), options), answer)


def letter_of(talk: Talk[Counsel], name: str) -> str:
    return next(opinion.letter for opinion in talk.end.opinions if opinion.panelist == name)


def refused(reason: str = "it would rather not") -> Reply:
    return Reply(ReplyStatus.REFUSED, reason=reason)


# The course


def test_everyone_is_asked_alone_and_at_once_and_then_one_draws_together():
    talk = held()
    assert talk.told() == [
        [("critic", "the question"), ("reviewer", "the question"), ("optimizer", "the question")],
        [("moderator", "the question")],
    ]
    first = {ask.question for ask in talk.rounds[0] if isinstance(ask, Ask)}
    assert first == {Consultation(a_dossier(a_passage("a.py", CODE), ledger=LEDGER), QUESTION)}, "nobody sees another"
    assert (talk.end.answer, talk.end.by, talk.end.citations) == ("Yes.", "moderator", ("a.py:1",))
    assert talk.end.unanswered == ""


def test_where_no_moderator_sits_the_reviewer_draws_together_else_who_sits_first():
    assert held(moderator=None).end.by == "reviewer"
    assert held(options=ConsultOptions(moderate=False)).end.by == "reviewer"
    assert held(moderator=None, seats=(TRIO[0], TRIO[2])).end.by == "critic"
    assert held(ANSWERS | {"reviewer": refused()}, moderator=None).end.by == "critic", "whoever answered"


def test_a_panel_of_one_is_asked_once():
    talk = held(seats=TRIO[:1])
    assert len(talk.asks) == 1
    assert (talk.end.answer, talk.end.by, talk.end.citations) == ("Yes, it is made once.", "critic", ("a.py:1", "a.py:3"))


def test_an_empty_change_is_asked_nothing_about():
    talk = held(dossiers=(a_dossier(),))
    assert not talk.asks
    assert talk.end.unanswered == "nothing of the change can be shown"


# Citations


def test_a_citation_that_does_not_exist_is_dropped_and_said_so():
    by_name = {opinion.panelist: opinion for opinion in held().end.opinions}
    assert (by_name["critic"].citations, by_name["critic"].dropped) == (("a.py:1", "a.py:3"), ())
    assert (by_name["reviewer"].citations, by_name["reviewer"].dropped) == (("E1",), ("a.py:99", "b.py:1"))
    assert (by_name["optimizer"].citations, by_name["optimizer"].dropped) == ((), ())


def test_an_answer_whose_citations_do_not_exist_is_an_opinion():
    made = held(draw=common("Yes.", "a.py:77", "E9")).end
    assert not made.rests_on_citations
    assert made.dropped == ("a.py:77", "E9")
    assert held().end.rests_on_citations


@pytest.mark.parametrize(
    ("cite", "exists"),
    [
        ("a.py:1", True), (" `a.py:4` ", True), ("E1", True), ("x/b.py:7", True), ("far.py:30", True), ("far.py:31", False),
        ("a.py:0", False), ("a.py:5", False), ("a.py:1-3", False), ("a.py", False), ("E2", False), ("e1", False), ("", False), (":1", False),
        ("a.py:01", False), ("a.py:1\n", True), ("a.py:99999999999999999999", False), ("a.py:¹", False), ("gone.py:1", False),
    ],
)  # fmt: skip
def test_only_what_was_shown_or_could_be_looked_up_can_be_cited(cite: str, exists: bool):
    dossier = replace(
        a_dossier(a_passage("a.py", CODE)), related=(Related("caller", "total", a_passage("x/b.py", "total([])", start=7)),)
    )
    shown = Shown.of((dossier,), LEDGER, lambda path: 30 if path == "far.py" else 0)
    kept = shown.checked([cite])
    assert (bool(kept.held), bool(kept.dropped)) == (exists, not exists and bool(cite.strip()))


@given(cites=st.lists(st.text(max_size=30) | st.sampled_from(["a.py:1", "E1", "a.py:9"]), max_size=30))
@FEW
def test_every_citation_is_either_kept_or_dropped_once(cites: list[str]):
    kept = Shown.of((a_dossier(a_passage("a.py", CODE)),), LEDGER).checked(cites)
    said = {cite.strip().strip("`") for cite in cites} - {""}
    assert {*kept.held, *kept.dropped} <= said
    assert set(kept.held) <= {"a.py:1", "E1"}
    assert len(kept.held) + len(kept.dropped) == min(len(said), 20)
    assert len({*kept.held, *kept.dropped}) == len(kept.held) + len(kept.dropped)


def test_a_line_that_was_not_shown_to_who_cites_it_is_dropped():
    def answer(ask: Ask) -> Answer:
        left_out = (replace(a_passage("a.py", CODE), start=3, lines=("        seen.append(row)", "    return len(seen)")),)
        return Reply(ReplyStatus.OK, opinion("Yes.", "a.py:1", "a.py:3"), unread=left_out)

    one = held(answer).end.opinions[0]
    assert (one.citations, one.dropped) == (("a.py:1",), ("a.py:3",))


def test_what_is_cited_of_the_ledger_comes_along():
    assert [item.id for item in held().end.evidence] == ["E1"]
    assert held({name: opinion("Yes.", "a.py:1") for name in ANSWERS}).end.evidence == ()


# Who is who


def test_who_draws_together_sees_no_name_no_confidence_and_an_order_by_content():
    talks = [held(seats=seats) for seats in (TRIO, TRIO[::-1], (TRIO[1], TRIO[0], TRIO[2]))]
    questions = [talk.asks[-1].question for talk in talks]
    assert isinstance(questions[0], Synthesis)
    assert questions[0] == questions[1] == questions[2]
    assert [given.letter for given in questions[0].answers] == ["A", "B", "C"]
    prompt = SCRIBE.write(talks[0].asks[-1], None)
    own_words = prompt.suffix.split("# The question")[1]
    assert not [name for name in (*ANSWERS, "moderator", "0.4", "0.8") if name in own_words]
    assert set(Given.__slots__) == {"letter", "answer", "citations", "caveats"}


def test_other_answers_are_dealt_other_letters():
    orders = set()
    for number in range(12):
        talk = held({name: opinion(f"{name} says {number}", "a.py:1") for name in ANSWERS})
        orders.add(tuple(letter_of(talk, name) for name in ANSWERS))
    assert len(orders) > 3, "a seat has no letter of its own"


def test_dissent_gets_its_names_back():
    def draw(ask: Ask) -> Answer:
        assert isinstance(ask.question, Synthesis)
        letter = next(given.letter for given in ask.question.answers if given.answer == "No.")
        return common("Yes.", "a.py:1", dissent={letter: "it is not shared"})

    (dissent,) = held(draw=draw).end.dissent
    assert (dissent.panelists, dissent.about) == (("optimizer",), "it is not shared")


def test_a_letter_that_nobody_has_is_asked_about_once_more():
    replies = iter([common("Yes.", "a.py:1", dissent={"Z": "no"}), common("Yes.", "a.py:1")])
    talk = held(draw=lambda _: next(replies))
    assert talk.asks[-1].attempt == 2
    assert "Z" in talk.asks[-1].complaint
    assert talk.end.answer == "Yes."


# What fails


@pytest.mark.parametrize("status", [status for status in ReplyStatus if status is not ReplyStatus.OK])
def test_who_gives_no_answer_is_seen(status: ReplyStatus):
    made = held(ANSWERS | {"critic": Reply(status, reason="the wire broke")}).end
    (lost,) = [entry for entry in made.attendance if entry.status is SeatStatus.LOST]
    assert (lost.seat.name, lost.reason) == ("critic", "the wire broke")
    assert any("critic took no part: the wire broke" in note for note in made.notes)
    assert made.answer == "Yes.", "two of three are enough"


def test_below_a_quorum_there_is_no_answer_of_the_panel_and_the_one_that_came_is_shown():
    talk = held(ANSWERS | {"critic": refused(), "reviewer": refused()})
    assert len(talk.rounds) == 1, "nothing is drawn together"
    assert talk.end.answer == ""
    assert "1 of 3 panelists answered, and 2 are needed" in talk.end.unanswered
    assert [opinion.answer for opinion in talk.end.opinions] == ["No."]


def test_where_nobody_answers_it_is_said():
    made = held(lambda _: refused()).end
    assert "0 of 3 panelists answered" in made.unanswered
    assert made.opinions == ()


def test_an_invalid_answer_is_asked_for_once_more_and_then_lost():
    talk = held(lambda ask: "{}" if ask.seat.name == "critic" else ANSWERS[ask.seat.name])
    assert [ask.seat.name for ask in talk.asks if ask.attempt == 2] == ["critic"]
    assert [entry.seat.name for entry in talk.end.attendance if entry.status is SeatStatus.LOST] == ["critic"]


def test_where_nobody_draws_together_the_answers_stand_side_by_side():
    made = held(draw=refused()).end
    assert made.answer == ""
    assert made.unanswered == "moderator gave no valid answer, so nobody drew the answers together"
    assert len(made.opinions) == 3
    assert any("it would rather not" in note for note in made.notes)


def test_a_budget_that_ends_it_is_named():
    made = held(ANSWERS | {"critic": Reply(ReplyStatus.CAPPED, reason="the cost cap is reached")}).end
    assert "the cost cap is reached" in made.notes


# Large changes


def many(*names: str) -> tuple[Dossier, ...]:
    return tuple(
        a_dossier(a_passage(f"{name}.py", f"x = {index}"), portion=f"P{index}", of=len(names))
        for index, name in enumerate(names, 1)
    )


def test_of_a_large_change_those_portions_are_read_that_the_question_mentions():
    talk = held(lambda _: opinion("Yes.", "a.py:1"), dossiers=many("z", "y", "x", "a", "w"), options=ConsultOptions(portions=2))
    assert {ask.subject for ask in talk.asks[:-1]} == {"the question, P4", "the question, P1"}
    assert len(talk.asks) == 3 * 2 + 1
    assert any(note.startswith("2 of 5 portions") for note in talk.end.notes)
    assert talk.asks[-1].question.dossier.portion == "P4"


def test_a_citation_of_another_portion_does_not_exist_for_who_read_this_one():
    made = held(lambda _: opinion("Yes.", "a.py:1"), dossiers=many("z", "a")).end
    assert {(one.portion, one.citations) for one in made.opinions} == {("P1", ()), ("P2", ("a.py:1",))}


def test_a_small_change_is_read_whole_and_nothing_is_said_of_it():
    assert not [note for note in held().end.notes if "portion" in note]


def test_a_local_panelist_reads_one_portion():
    slow = local_seat("reviewer")
    talk = held(lambda _: opinion("Yes.", "a.py:1"), seats=(slow,), moderator=None, small=many("z", "a"))
    assert [ask.subject for ask in talk.asks] == ["the question, P2"]
    assert any("one portion" in note for note in talk.end.notes)


# Without a model


def test_the_static_panel_says_that_it_cannot_and_what_checks_said_of_what_is_named():
    ledger = Ledger(items=(evidence_item(1, "shop/a.py", 1), evidence_item(2, "b.py", 2, rule="F401")))
    made = without_models("What about shop/a.py?", ledger)
    assert (made.answer, made.unanswered, [item.id for item in made.evidence]) == ("", STATIC, ["E1"])
    assert without_models("What about the weather?", ledger).unanswered == f"{STATIC}: nothing"


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("is F401 right?", ["E2"]), ("a.py:1?", ["E1"]), ("cart", []), ("ruff", ["E1", "E2"]), ("Why `shop/a.py`.", ["E1"]), ("b", []),
        ("", []), ("E2", []), ("A.PY", ["E1"]),
    ],
)  # fmt: skip
def test_what_a_question_names(words: str, ids: list[str]):
    ledger = Ledger(items=(evidence_item(1, "shop/a.py", 1), evidence_item(2, "b.py", 2, rule="F401")))
    assert [item.id for item in concerning(words, ledger)] == ids


# Prompts and replies

QUESTIONS = {
    "consultation": Consultation(DOSSIER, QUESTION),
    "synthesis": Synthesis(DOSSIER, QUESTION, (Given("A", "Yes.", ("shop/cart.py:9",), ("no caller",)), Given("B", "No."))),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_explains_every_field_and_shares_the_prefix_of_reviews(name: str):
    from reviewbot.debate.prompt import FORMS
    from reviewbot.ports import FirstPass

    prompt, review = put(QUESTIONS[name]), put(FirstPass(DOSSIER))
    assert (prompt.system, prompt.prefix) == (review.system, review.prefix)
    told = prompt.suffix.split("# The answer")[0]
    assert not [field for field in FORMS[type(QUESTIONS[name])].schema["properties"] if f"`{field}`" not in told]


@given(words=WILD, answer=WILD, caveat=WILD)
@FEW
def test_nobodys_words_leave_their_block(words: str, answer: str, caveat: str):
    prompt = put(Synthesis(DOSSIER, words, (Given("A", answer, (words,), (caveat,)), Given("B", "No."))))
    kinds = [kind for kind, _ in blocks(prompt.suffix)[0]]
    assert kinds == ["question", "answer", "answer"]
    outside = blocks(prompt.suffix)[1]
    calm = put(Synthesis(DOSSIER, "calm", (Given("A", "calm"), Given("B", "No."))))
    assert outside == blocks(calm.suffix)[1], "what is outside is ours alone"


def test_a_local_model_is_asked_in_few_words():
    whole, brief = (scribe().write(Ask(seat, QUESTIONS["consultation"]), None) for seat in (SEAT, local_seat("critic")))
    assert len(brief.suffix) < len(whole.suffix) / 2
    assert QUESTION in brief.suffix


def test_a_long_question_is_cut_and_that_is_said():
    endless = Inquiry("why " * 5_000, Papers((a_dossier(a_passage("a.py", CODE)),)), LEDGER)
    talk = talked(consult(endless, Table(TRIO[:1]), USUAL), lambda _: ANSWERS["critic"])
    assert "more characters left out" in SCRIBE.write(talk.asks[0], None).suffix
    assert "the question was cut after 10,000 characters" in talk.end.notes


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (reply.opinion, opinion("  ")),
        (reply.opinion, opinion("Yes.", confidence=1.2)),
        (reply.opinion, json.dumps({"answer": "Yes."})),
        (reply.opinion, "Yes."),
        (lambda text: reply.counsel(text, letters="AB"), common("Yes.", dissent={"AC": "no"})),
        (lambda text: reply.counsel(text, letters="AB"), common("Yes.", dissent={"": "no"})),
        (lambda text: reply.counsel(text, letters="AB"), common("Yes.", dissent={"A": " "})),
        (lambda text: reply.counsel(text, letters="AB"), common("")),
    ],
)
def test_what_makes_no_sense_is_no_answer(read: Callable[[str], object], text: str):
    with pytest.raises(InvalidReply):
        read(text)


@given(text=st.text(max_size=200) | st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["answer", "citations", "caveats", "confidence", "dissent", "who", "about"]), inner, max_size=4)).map(json.dumps))  # fmt: skip
@FEW
def test_any_text_is_an_answer_or_the_one_named_error(text: str):
    for read in (reply.opinion, lambda said: reply.counsel(said, letters=("A",))):
        with contextlib.suppress(InvalidReply):
            read(text)


def test_answers_are_read_in_an_envelope_or_without():
    import jsonschema

    for text, read in ((ANSWERS["critic"], reply.opinion), (common("Yes."), lambda said: reply.counsel(said, letters=()))):
        wrapped = {"answer": json.loads(text)}
        jsonschema.Draft202012Validator(CONSULTING_ENVELOPE).validate(wrapped)
        assert read(json.dumps(wrapped)) == read(text)
