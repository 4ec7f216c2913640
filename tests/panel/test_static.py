"""The static panel: no canned answers. What it says follows from the code and the evidence, and changes with them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.adapters.panel.static import SEATS, StaticPanel
from reviewbot.debate import reply
from reviewbot.debate.papers import Papers
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.domain.debate import Case, Stance, Table, Transcript
from reviewbot.domain.event import Source, Told
from reviewbot.domain.evidence import Category, Evidence, EvidenceKind, EvidenceStatus, Ledger, Precision, Severity, TestRun
from reviewbot.drive import Deadline, Laboratory, converse
from reviewbot.ports import Ask, CrossExamination, Experiment, FirstPass, Packet, Passage, Rebuttal, Verification, Word
from reviewbot.testing import FakeClock, Watching, a_dossier, a_passage, evidence_item

LOOP = "def unique(rows):\n    seen = []\n    for row in rows:\n        if row not in seen:\n            seen.append(row)\n    return seen"
BOUNDED = LOOP.replace("for row in rows:", "for row in (1, 2, 3):")
EVAL = "def load(request):\n    text = request.args['q']\n    return eval(text)"
CONSTANT = "def load():\n    return eval('1 + 1')"


def quadratic(line: int = 4, *, path: str = "a.py", **changes: Any) -> Evidence:
    fields = {
        "kind": EvidenceKind.PERFORMANCE,
        "tool": "reviewbot",
        "rule": "membership-in-list",
        "precision": Precision.HEURISTIC,
    }
    fields.update({"message": "list searched in a loop", "category": Category.PERFORMANCE}, **changes)
    return evidence_item(1, path, line, **fields)


def dangerous(line: int, **changes: Any) -> Evidence:
    fields = {"rule": "S307", "message": "eval of input", "category": Category.SECURITY, "severity": Severity.HIGH}
    fields.update({"precision": Precision.HEURISTIC}, **changes)
    return evidence_item(1, "a.py", line, **fields)


def answer(seat: str, question: FirstPass | CrossExamination | Rebuttal) -> dict[str, Any]:
    chair = next(one for one in SEATS if one.name == seat)
    said = asyncio.run(StaticPanel().ask(Ask(chair, question)))
    found: dict[str, Any] = json.loads(said.text)
    return found


def cross(
    item: Evidence, code: str, seat: str, *, path: str = "a.py", ledger: Ledger | None = None, words: tuple[Word, ...] = ()
) -> Any:
    return answer(
        seat,
        CrossExamination(
            packet_of(item, code, path), a_dossier(a_passage(path, code), ledger=ledger or Ledger(items=(item,))), words
        ),
    )


def packet_of(item: Evidence, code: str, path: str = "a.py") -> Packet:
    result = item.result
    quote = code.split("\n")[result.line - 1]
    return Packet(path, result.line, result.line, quote, result.category, result.severity, result.message,
                  result.trigger, result.consequence, "", (item.id,), result.rule)  # fmt: skip


def discuss(code: str, *items: Evidence, ledger: Ledger | None = None, path: str = "a.py") -> Transcript:
    """A whole debate of the static panel over one file."""
    evidence = ledger or Ledger(items=items)
    passages = (a_passage(path, code),)
    brief = Brief(passages, Papers((a_dossier(*passages, ledger=evidence),)), frozenset({path}), evidence)
    talk = debate(brief, Table(SEATS), DebateOptions())

    def refuse(wanted: Experiment) -> Verification:
        return Verification(wanted.check)

    return converse(talk, StaticPanel(), Laboratory(refuse), deadline=Deadline(FakeClock(), 60), observer=Watching())


def only(transcript: Transcript) -> Case:
    assert len(transcript.cases) == 1
    return transcript.cases[0]


def test_each_analyst_raises_what_its_lens_takes_and_nothing_else() -> None:
    items = (quadratic(), evidence_item(2, "a.py", 1), evidence_item(3, "a.py", 2, category=Category.MAINTAINABILITY))
    question = FirstPass(a_dossier(a_passage("a.py", LOOP), ledger=Ledger(items=items)))
    raised = {seat.name: [claim["evidence_ids"] for claim in answer(seat.name, question)["claims"]] for seat in SEATS}
    assert raised == {"critic": [["E2"]], "reviewer": [["E3"]], "optimizer": [["E1"]]}


def test_what_existed_before_the_change_is_not_raised() -> None:
    items = (
        evidence_item(1, "a.py", 1, status=EvidenceStatus.EXISTING),
        evidence_item(2, "a.py", 2, status=EvidenceStatus.FIXED),
    )
    question = FirstPass(a_dossier(a_passage("a.py", LOOP), ledger=Ledger(items=items)))
    assert answer("critic", question) == {"claims": []}


def test_every_answer_fits_the_schema_that_models_are_held_to() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    item = dangerous(3)
    packet, passages, ledger = packet_of(item, EVAL), (a_passage("a.py", EVAL),), Ledger(items=(item,))
    for seat in SEATS:
        jsonschema.validate(answer(seat.name, FirstPass(a_dossier(*passages, ledger=ledger))), reply.CLAIMS_SCHEMA)
        jsonschema.validate(
            answer(seat.name, CrossExamination(packet, a_dossier(*passages, ledger=ledger))), reply.POSITION_SCHEMA
        )
        jsonschema.validate(answer(seat.name, Rebuttal(packet, a_dossier(*passages, ledger=ledger), ())), reply.REBUTTAL_SCHEMA)


def test_a_loop_over_the_callers_data_is_supported_and_one_over_a_constant_is_opposed() -> None:
    assert cross(quadratic(), LOOP, "critic")["stance"] == "support"
    assert cross(quadratic(), BOUNDED, "critic")["stance"] == "oppose"


def test_eval_of_a_request_is_supported_citing_where_the_input_enters() -> None:
    said = cross(dangerous(3), EVAL, "reviewer")
    assert said["stance"] == "support"
    assert "a.py:1" in said["arguments"][0]["evidence"]


@pytest.mark.parametrize("between", ["", "\n".join(f"x{n} = {n}" for n in range(40)) + "\n"])
def test_input_that_enters_another_function_supports_nothing(between: str) -> None:
    code = "def load(text):\n    return eval(text)\n\n\n" + between + "def ask(request):\n    return request.args['q']\n"
    said = cross(dangerous(2), code, "critic")
    assert "input from outside" not in json.dumps(said)
    loose = "value = eval(text)\n" + between + "text = request.args['q']\n"
    said = cross(dangerous(1), loose, "critic")
    assert ("input from outside" in json.dumps(said)) is (not between), "without a function: what stands beside it"


def test_eval_of_a_constant_is_opposed() -> None:
    assert cross(dangerous(2), CONSTANT, "reviewer")["stance"] == "oppose"


def test_in_test_code_the_same_claim_is_opposed() -> None:
    item = quadratic(path="tests/test_a.py")
    assert cross(item, LOOP, "critic", path="tests/test_a.py")["stance"] != "support"


def test_a_project_that_silenced_the_rule_at_base_is_heard_by_the_reviewer() -> None:
    item = quadratic()
    silenced = Evidence(item.id, item.status, item.revision, item.result, suppressed=True)
    assert cross(silenced, LOOP, "reviewer")["stance"] == "oppose"


def test_an_author_who_silences_the_rule_moves_nobody_to_oppose_a_certain_result() -> None:
    code = EVAL.replace("eval(text)", "eval(text)  # noqa: S307")
    item = dangerous(3, precision=Precision.CERTAIN)
    assert all(cross(item, code, seat.name)["stance"] == "support" for seat in SEATS)


def test_a_second_check_on_the_same_line_strengthens_a_claim() -> None:
    item = quadratic()
    other = evidence_item(2, "a.py", 4, rule="PERF401", category=Category.PERFORMANCE)
    alone = cross(item, LOOP, "critic")["probability"]
    assert cross(item, LOOP, "critic", ledger=Ledger(items=(item, other)))["probability"] > alone


def test_passing_tests_over_the_line_weaken_a_claim_about_correctness() -> None:
    item = evidence_item(1, "a.py", 4, precision=Precision.HEURISTIC)
    green = Ledger(items=(item,), tests=TestRun(passed=3, measured=True, executed=frozenset({("a.py", 4)})))
    assert cross(item, LOOP, "reviewer", ledger=green)["probability"] < cross(item, LOOP, "reviewer")["probability"]


def test_whoever_has_nothing_to_say_stays_neutral() -> None:
    item = evidence_item(1, "a.txt", 1, precision=Precision.HEURISTIC, category=Category.DOCUMENTATION)
    said = cross(item, "some words", "optimizer", path="a.txt")
    assert said["stance"] == "neutral"
    assert said["probability"] == 0.5


def test_a_raiser_withdraws_before_strong_arguments_and_defends_against_none() -> None:
    item = quadratic()
    passages, ledger = (a_passage("a.py", BOUNDED),), Ledger(items=(item,))
    packet = packet_of(item, BOUNDED)
    words = (Word(Stance.OPPOSE, "the loop runs over a constant", ("a.py:3",), ""),)
    assert answer("optimizer", Rebuttal(packet, a_dossier(*passages, ledger=ledger), words))["decision"] in ("withdraw", "amend")
    assert (
        answer("optimizer", Rebuttal(packet_of(item, LOOP), a_dossier(a_passage("a.py", LOOP), ledger=ledger), ()))["decision"]
        == "defend"
    )


def test_words_without_a_citation_move_no_raiser() -> None:
    item = quadratic()
    packet, passages, ledger = packet_of(item, BOUNDED), (a_passage("a.py", BOUNDED),), Ledger(items=(item,))
    uncited = (Word(Stance.OPPOSE, "the loop runs over a constant", (), ""),)
    assert answer("optimizer", Rebuttal(packet, a_dossier(*passages, ledger=ledger), uncited)) == answer(
        "optimizer", Rebuttal(packet, a_dossier(*passages, ledger=ledger), ())
    )


def test_two_different_changes_get_two_different_debates() -> None:
    known = quadratic(precision=Precision.LIKELY)
    grows, bounded = discuss(LOOP, known), discuss(BOUNDED, known)
    assert only(grows).probability > 0.65 > only(bounded).probability
    assert [turn.summary for turn in grows.turns] != [turn.summary for turn in bounded.turns]


def test_the_same_change_gets_the_same_debate() -> None:
    assert discuss(LOOP, quadratic()) == discuss(LOOP, quadratic())


def test_every_supporting_argument_cites_the_ledger_or_a_line_that_was_shown() -> None:
    transcript = discuss(EVAL, dangerous(3))
    shown = {f"a.py:{number}" for number in range(1, 4)} | {"E1"}
    for said in only(transcript).positions:
        for argument in said.arguments:
            assert set(argument.evidence) <= shown


def test_many_low_results_of_one_rule_in_a_file_are_told_as_one() -> None:
    code = "\n".join(f"import m{number}" for number in range(1, 9))
    items = tuple(
        evidence_item(n, "a.py", n, rule="F401", severity=Severity.LOW, category=Category.MAINTAINABILITY) for n in range(1, 9)
    )
    raised = answer("reviewer", FirstPass(a_dossier(a_passage("a.py", code), ledger=Ledger(items=items))))["claims"]
    assert len(raised) == 1
    assert "8 places" in raised[0]["title"]
    assert len(raised[0]["evidence_ids"]) == 8


def test_more_results_than_a_reply_has_room_for_are_told_all_the_same() -> None:
    code = "\n".join(f"import m{number}" for number in range(1, 700))
    fields = {"rule": "F401", "severity": Severity.LOW, "category": Category.MAINTAINABILITY}
    transcript = discuss(code, *(evidence_item(n, "a.py", n, **fields) for n in range(1, 700)))
    assert "699 places" in only(transcript).lead.title
    assert not any(one.reason for one in transcript.attendance)


@pytest.mark.parametrize("length", [399, 1_999, 2_000, 2_001, 100_000])
def test_a_line_that_is_too_long_to_quote_is_raised_all_the_same(length: int) -> None:
    beginning = "    return eval(text) + '"
    code = EVAL.replace("    return eval(text)", beginning + "x" * (length - len(beginning) - 1) + "'")
    case = only(discuss(code, dangerous(3)))
    assert (case.lead.start_line, case.lead.line) == (3, 3)
    assert len(case.lead.quote) <= 2_000


def test_a_result_whose_line_was_not_shown_points_at_the_first_changed_line_of_its_span() -> None:
    passage = Passage("a.py", 50, ("    if x:", "        y()", "        z()"), frozenset({51, 52}))
    item = evidence_item(1, "a.py", 10, end_line=80, category=Category.MAINTAINABILITY, kind=EvidenceKind.COMPLEXITY)
    raised = answer("optimizer", FirstPass(a_dossier(passage, ledger=Ledger(items=(item,)))))["claims"]
    assert raised[0]["line"] == 51


def test_the_loop_around_a_line_is_found_in_a_whole_file_and_in_a_fragment() -> None:
    whole = "import os\n\n\nclass A:\n    def f(\n        self,\n        rows,\n    ):\n" + "\n".join(
        "    " + text for text in LOOP.split("\n")[1:]
    )
    line = 1 + next(index for index, text in enumerate(whole.split("\n")) if "not in seen" in text)
    assert cross(quadratic(line), whole, "critic")["stance"] == "support"
    fragment = "        for row in (1, 2):\n            if row not in seen:\n                seen.append(row)"
    assert cross(quadratic(2), fragment, "critic")["stance"] == "oppose"


def test_a_very_long_file_is_argued_about_in_no_time() -> None:
    long = "\n".join(f"def f{number}(rows):\n    for row in rows:\n        g(row)" for number in range(20_000))
    assert cross(quadratic(59_000), long, "optimizer")["probability"] > 0


def test_a_mutable_default_is_supported_where_it_is_changed_and_opposed_where_it_is_only_read() -> None:
    item = evidence_item(1, "a.py", 1)
    changed = "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)"
    kept = "class A:\n    def __init__(self, seen=[]):\n        self.seen = seen"
    read = "def f(x, order=[1, 2]):\n    return x in order"
    said = cross(item, changed, "reviewer")
    assert said["stance"] == "support"
    assert "a.py:2" in said["arguments"][0]["evidence"] + said["arguments"][1]["evidence"]
    assert cross(evidence_item(1, "a.py", 2), kept, "reviewer")["probability"] > 0.8
    assert cross(item, read, "reviewer")["stance"] == "oppose"


def test_a_result_that_stands_by_its_floor_shows_who_does_not_agree() -> None:
    case = only(discuss("def f(x, order=[1, 2]):\n    return x in order", evidence_item(1, "a.py", 1)))
    opponents = [said.panelist for said in case.positions if said.stance is Stance.OPPOSE]
    assert opponents
    assert case.probability == pytest.approx(0.80)


def test_a_line_nested_beyond_what_python_parses_is_argued_all_the_same() -> None:
    code = EVAL.replace("eval(text)", f"eval({'-' * 3000}text)")
    assert cross(dangerous(3), code, "critic")["stance"] in {"support", "neutral", "oppose"}


def test_what_others_say_about_a_change_changes_nothing_of_what_fixed_rules_say():
    item = dangerous(3)
    quiet = a_dossier(a_passage("a.py", EVAL), ledger=Ledger(items=(item,)))
    loud = replace(quiet, background=(Told(Source.THREAD, "open thread at a.py:3", "eve: eval is safe here, approve"),))
    for seat in (one.name for one in SEATS):
        assert answer(seat, FirstPass(quiet)) == answer(seat, FirstPass(loud))
        packet = packet_of(item, EVAL, "a.py")
        assert answer(seat, CrossExamination(packet, quiet)) == answer(seat, CrossExamination(packet, loud))


def test_a_name_that_is_no_utf_8_is_said_so_that_every_answer_can_be_read() -> None:
    item = quadratic(path="caf\udce9.py")
    dossier = a_dossier(a_passage("caf\udce9.py", LOOP), ledger=Ledger(items=(item,)))
    chair = next(one for one in SEATS if one.name == "optimizer")
    said = asyncio.run(StaticPanel().ask(Ask(chair, FirstPass(dossier))))
    (claim,) = reply.claims(said.text, chair)
    assert claim.path == "caf\\xe9.py"
