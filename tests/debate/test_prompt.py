"""What panelists are told: the same change for all, nothing that says who spoke, nothing that escapes its block."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.debate import prompt_change, schema
from reviewbot.debate.prompt import FORMS, JinjaScribe
from reviewbot.domain.debate import Seat, Stance
from reviewbot.domain.evidence import CheckRun, EvidenceKind, Ledger, Severity
from reviewbot.errors import IncompleteError
from reviewbot.ports import (
    Ask,
    CrossExamination,
    Dossier,
    FirstPass,
    Judgement,
    Passage,
    Rebuttal,
    Removed,
    Word,
)
from reviewbot.testing import a_passage, a_seat, evidence_item
from tests.debate.prompts import AGAINST, DOSSIER, FOR, HERE, LATE, PACKET, QUESTIONS, SEAT, scribe, templates, written
from tests.debate.prompts.reading import FEW, SCRIBE, WILD, blocks, put

# What is written


@pytest.mark.parametrize(("name", "text"), written().items(), ids=list(written()))
def test_a_prompt_reads_as_it_did_when_somebody_last_read_it(name: str, text: str):
    assert text == (HERE / name).read_text(encoding="utf-8"), "python -m tests.debate.prompts writes it anew; then read it"


def test_no_file_of_prompts_is_left_over():
    assert {path.name for path in HERE.glob("*.txt")} == set(written())


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_brings_its_schema_along_as_value_and_in_words(name: str):
    prompt = put(QUESTIONS[name])
    form = FORMS[type(QUESTIONS[name])]
    assert prompt.schema is form.schema
    assert prompt.schema_name == form.name
    shown = json.loads(prompt.suffix.rsplit("\n", 1)[1])
    assert list(shown["properties"]) == list(form.schema["properties"]), "in the order in which it is to be answered"
    assert "maxLength" not in json.dumps(shown)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_explains_every_field_of_its_answer(name: str):
    form = FORMS[type(QUESTIONS[name])]
    fields = form.schema["properties"] if form.name != "claims" else form.schema["properties"]["claims"]["items"]["properties"]
    question = put(QUESTIONS[name]).suffix.split("# The answer")[0]
    told = {"category", "severity"} if form.name == "claims" else set()  # the policy and the schema say what these are
    assert not [field for field in fields if field not in told and f"`{field}`" not in question]


def test_every_choice_of_an_answer_is_explained():
    for question, document in ((QUESTIONS["rebuttal"], schema.REBUTTAL_SCHEMA), (QUESTIONS["judgement"], schema.JUDGEMENT_SCHEMA),
                               (QUESTIONS["improvement_again"], schema.DRAFT_SCHEMA)):  # fmt: skip
        suffix = put(question).suffix
        assert not [choice for choice in document["properties"]["decision"]["enum"] if f"`{choice}`" not in suffix]


def test_a_first_pass_is_asked_for_no_fix():
    assert "Do not propose a fix" in put(QUESTIONS["first_pass"]).suffix
    assert "replacement" not in put(QUESTIONS["first_pass"]).suffix


def test_the_policy_is_short_and_states_the_criteria_with_their_weights():
    policy = put(FirstPass(DOSSIER)).system
    assert len(policy.split()) <= 900
    assert "- correctness (5): wrong results" in policy
    assert "- style of the house (1)\n" in policy
    assert "- security (5)" in put(FirstPass(Dossier((), Ledger()))).system, "the usual ones where none are given"


@pytest.mark.parametrize("role", ["critic", "reviewer", "optimizer", "tester", "proposer", "security", "moderator"])
def test_every_role_looks_through_a_short_lens_of_its_own(role: str):
    lens = templates()[f"lens/{role}.j2"]
    assert len(lens.split()) <= 200
    assert lens.strip() in put(FirstPass(DOSSIER), a_seat(role)).suffix
    assert lens.strip() not in put(FirstPass(DOSSIER), a_seat("somebody")).suffix


def test_a_seat_with_words_of_its_own_looks_through_these_alone():
    seat = replace(SEAT, lens="Mind the {{ ledger }} of the bank. " + "x" * 9_000)
    suffix = put(FirstPass(DOSSIER), seat).suffix
    ((kind, text),) = blocks(suffix)[0]
    assert kind == "perspective"
    assert text.startswith("Mind the {{ ledger }} of the bank. xxx")
    assert len(text) < 4_100
    assert templates()["lens/critic.j2"].strip() not in suffix


@pytest.mark.parametrize("role", ["own", "perspective", "../policy", "no such role"])
def test_a_role_that_nobody_described_reads_as_an_engineer(role: str):
    assert "an experienced engineer" in put(FirstPass(DOSSIER), a_seat(role)).suffix


def test_a_complaint_is_quoted_on_the_second_attempt_only():
    ask = Ask(SEAT, FirstPass(DOSSIER), attempt=2, complaint="claims[0]: missing ['line']" + "!" * 2_000)
    assert "claims[0]: missing ['line']!!" in SCRIBE.write(ask, None).suffix
    assert "!" * 1_100 not in SCRIBE.write(ask, None).suffix
    assert "missing [" not in SCRIBE.write(replace(ask, attempt=1), None).suffix


def test_templates_that_are_not_there_are_named():
    few = templates()
    del few["question/judgement.j2"]
    with pytest.raises(IncompleteError, match=r"question/judgement\.j2 is missing; install"):
        JinjaScribe(few)


# The part that all share


ASKS = [
    Ask(seat, question, subject="F1", round=round_, attempt=attempt, complaint="bad" * attempt)
    for seat in (
        SEAT,
        a_seat("reviewer"),
        replace(a_seat("own"), lens="money"),
        replace(a_seat("optimizer"), room=900),
    )
    for question in QUESTIONS.values()
    for round_, attempt in ((1, 1), (2, 2))
]


def test_all_seats_rounds_and_kinds_of_question_share_system_and_prefix_to_the_byte():
    prompts = [SCRIBE.write(ask, None) for ask in ASKS]
    assert len({prompt.system for prompt in prompts}) == 1
    assert len({prompt.prefix for prompt in prompts}) == 1
    assert len({prompt.suffix for prompt in prompts}) > len(QUESTIONS)


def test_another_scribe_writes_an_equal_dossier_in_the_same_bytes():
    again = replace(DOSSIER, ledger=replace(DOSSIER.ledger), passages=tuple(replace(passage) for passage in DOSSIER.passages))
    assert scribe().write(Ask(a_seat("reviewer"), FirstPass(again)), None).prefix == put(FirstPass(DOSSIER)).prefix


def test_how_long_checks_took_and_in_which_order_they_ended_is_not_told():
    ledger = DOSSIER.ledger
    slower = replace(ledger, checks=tuple(replace(check, seconds=check.seconds + 1) for check in reversed(ledger.checks)))
    assert put(FirstPass(replace(DOSSIER, ledger=slower))).prefix == put(FirstPass(DOSSIER)).prefix


def test_the_shared_part_is_rendered_once():
    writer = scribe()
    first, second = (writer.write(Ask(a_seat(name), FirstPass(DOSSIER)), None).prefix for name in ("critic", "reviewer"))
    assert first is second
    assert writer.write(Ask(SEAT, QUESTIONS["judgement"]), None).prefix is first


@FEW
@given(
    texts=st.lists(WILD, min_size=1, max_size=4),
    title=WILD,
    seats=st.lists(st.sampled_from(ASKS), min_size=2, max_size=3),
)
def test_the_shared_part_depends_on_the_dossier_only(texts: list[str], title: str, seats: list[Ask]):
    passages = tuple(Passage(f"f{number}.py", 1, tuple(text.split("\n")), frozenset({1})) for number, text in enumerate(texts))
    dossier = Dossier(passages, DOSSIER.ledger, title=title)
    prompts = [scribe().write(replace(ask, question=replace(ask.question, dossier=dossier)), None) for ask in seats]
    assert len({(prompt.system, prompt.prefix) for prompt in prompts}) == 1
    assert all(prompt.unread == () for prompt in prompts)


def test_local_models_share_a_shorter_frame_among_themselves():
    writer = scribe()
    asks = [replace(ask, seat=replace(ask.seat, local=True)) for ask in ASKS]
    prompts = [writer.write(ask, None) for ask in asks]
    assert len({(prompt.system, prompt.prefix) for prompt in prompts}) == 1
    long = writer.write(ASKS[0], None)
    short = next(prompt for ask, prompt in zip(asks, prompts, strict=True) if isinstance(ask.question, FirstPass))
    assert len(short.system) < len(long.system) / 4
    assert "properties" not in short.suffix
    assert prompts[0].schema == long.schema


def test_code_is_shown_with_its_numbers_and_what_was_removed_where_it_stood():
    removed = (Removed(9, "one"), Removed(11, "two"), Removed(12, "three"), Removed(99, "four"))
    passage = Passage("a.py", 9, ("alpha", "beta | gamma", "delta"), frozenset({10}), "f", removed)
    assert prompt_change.code([passage]).split("\n") == [
        "=== a.py, lines 9-11, in f",
        "  -|one",
        " 9 |alpha",
        "10+|beta | gamma",
        "  -|two",
        "11 |delta",
        "  -|three",
        "  -|four",
    ]


def test_a_file_that_is_gone_is_shown_by_what_was_removed():
    passage = Passage("gone.py", 1, (), frozenset(), "", (Removed(1, "import os"), Removed(1, "os.abort()")))
    assert prompt_change.code([passage]) == "=== gone.py, nothing is left\n -|import os\n -|os.abort()"


def test_only_new_results_that_concern_the_portion_are_shown_and_broken_tests_to_all():
    items = (
        evidence_item(1, "a.py", 1),
        evidence_item(2, "b.py", 1),
        evidence_item(3, "tests/test_c.py", 1, kind=EvidenceKind.TEST),
        evidence_item(4, "", 0, message="no file at all"),
    )
    text = prompt_change.evidence(Ledger(items), frozenset({"a.py"}))
    assert re.findall(r"(?m)^(E\d+):", text) == ["E1", "E3", "E4"]


def test_the_worst_results_are_shown_and_the_others_counted():
    items = tuple(
        evidence_item(number, "a.py", number, severity=Severity.HIGH if number % 10 == 0 else Severity.LOW)
        for number in range(1, 101)
    )
    text = prompt_change.evidence(Ledger(items), frozenset({"a.py"}), 12)
    shown = re.findall(r"(?m)^(E\d+):", text)
    assert shown == ["E1", "E2", "E10", "E20", "E30", "E40", "E50", "E60", "E70", "E80", "E90", "E100"]
    assert text.endswith("88 more new results, none of them more severe, are not shown")


def test_of_many_broken_tests_only_the_worst_show_what_they_printed():
    items = tuple(
        evidence_item(
            number, f"t{number}.py", 0, kind=EvidenceKind.TEST, excerpt="\n".join(f"out {number} {line}" for line in range(40))
        )
        for number in range(1, 21)
    )
    text = prompt_change.evidence(Ledger(items), frozenset())
    assert len(re.findall(r"(?m)^E\d+:", text)) == 20
    assert text.count("  | out ") == 12 * 12
    assert "  | … 28 lines left out\n  | out 1 28\n" in text
    assert "  | out 1 39\n" in text


def test_a_check_says_whether_it_ran():
    checks = (
        CheckRun("a", ran=True),
        CheckRun("b", ran=True, failed=True, cut_short=True),
        CheckRun("c", ran=False, reason="no python\nhere"),
    )
    assert prompt_change.evidence(Ledger(checks=checks), frozenset()).split("\n") == [
        "check a: ran",
        "check b: ran and failed at head, cut short",
        "check c: did not run (no python⟨U+000A⟩here)",
    ]


@pytest.mark.parametrize(
    ("path", "notes"),
    [
        ("a.py", ("python",)),
        ("x/main.go", ("go",)),
        ("bin/run.SH", ("bash",)),
        ("db/1.sql", ("sql",)),
        ("app/migrations/0001_initial.py", ("python", "sql")),
        ("web/a.test.tsx", ("typescript",)),
        ("src/lib.rs", ("rust",)),
        (".github/workflows/ci.yml", ("github_workflows",)),
        ("action.yml", ("github_workflows",)),
        ("deploy/Dockerfile.web", ("dockerfile",)),
        ("README.md", ()),
        ("python/notes.txt", ()),
    ],
)
def test_a_note_is_read_with_files_of_its_language(path: str, notes: tuple[str, ...]):
    assert prompt_change.languages([path]) == notes
    prefix = put(FirstPass(Dossier((a_passage(path, "x"),), Ledger()))).prefix
    assert prefix.count("# A note on the language") == len(notes)
    assert all(templates()[f"notes/{note}.md"].strip() in prefix for note in notes)


def test_every_note_has_files_that_it_is_read_with():
    every = ("a.py", "a.go", "a.rs", "a.ts", "a.sh", "a.sql", "action.yaml", "Dockerfile")
    assert {f"notes/{name}.md" for name in prompt_change.languages(every)} == {name for name in templates() if "notes/" in name}


def test_a_very_large_portion_is_rendered_quickly_and_whole():
    code = tuple(f"    value_{number} = compute(thing, {number})  # as it was before" for number in range(60_000))
    dossier = Dossier((Passage("big.py", 1, code, frozenset(range(1, 60_001))),), Ledger())
    begun = time.perf_counter()
    prefix = put(FirstPass(dossier)).prefix
    assert time.perf_counter() - begun < 5, "a bound for hangs: it takes a twentieth of a second"
    assert prefix.count("+|    value_") == 60_000


# Anonymity


RAISER = Seat("Ophelia-9", "archivist", "vendor-x:oracle-77b", "house-of-x")
SPEAKER = Seat("Laertes-4", "auditor", "vendor-y:sage-3", "house-of-y")


def test_who_is_asked_about_a_claim_learns_nothing_of_who_raised_it_or_who_spoke():
    words = (FOR, AGAINST, replace(FOR, claim="another voice"))
    asked = a_seat("critic")
    for question in (CrossExamination(PACKET, DOSSIER, words, LATE), Judgement(PACKET, DOSSIER, (FOR,), (AGAINST,), LATE)):
        prompt = put(question, asked, subject="F1", round=2)
        text = f"{prompt.system}\n{prompt.prefix}\n{prompt.suffix}".lower()
        for seat in (RAISER, SPEAKER):
            assert not [word for word in (seat.name, seat.role, seat.model, seat.family) if word.lower() in text]
        assert "confidence" not in prompt.suffix.lower()
        assert not re.search(
            r"\b(?:\d|two|three) (?:votes?|others|reviewers|panelists)\b|\b0\.\d|\d ?%", prompt.suffix.replace("below 0.5", "")
        )


def test_neither_name_nor_model_nor_family_of_who_is_asked_stands_in_a_prompt():
    seat = Seat("Ophelia-9", "critic", "vendor-x:oracle-77b", "house-of-x")
    for question in QUESTIONS.values():
        prompt = put(question, seat)
        text = f"{prompt.system}\n{prompt.prefix}\n{prompt.suffix}"
        assert not [word for word in (seat.name, "oracle", "house-of-x", "vendor-x") if word in text]


def test_the_order_of_the_arguments_does_not_tell_who_spoke_and_an_echo_is_not_heard_twice():
    said = (FOR, AGAINST, replace(AGAINST, claim="A third thing"))
    one = put(CrossExamination(PACKET, DOSSIER, said)).suffix
    assert one == put(CrossExamination(PACKET, DOSSIER, said[::-1])).suffix
    assert one == put(CrossExamination(PACKET, DOSSIER, (*said, FOR))).suffix


def test_the_two_cases_of_a_judgement_change_places_and_nothing_else():
    one = put(Judgement(PACKET, DOSSIER, (FOR,), (AGAINST,)))
    other = put(Judgement(PACKET, DOSSIER, (AGAINST,), (FOR,)))
    cases = [[text for kind, text in blocks(prompt.suffix)[0] if kind == "case"] for prompt in (one, other)]
    assert cases[0] == cases[1][::-1]
    assert sorted(one.suffix) == sorted(other.suffix) or len(one.suffix) == len(other.suffix)
    assert "Case A holds that the claim is true." in one.suffix
    assert "Case A holds that it is not." in other.suffix


def test_a_case_of_mixed_arguments_or_none_is_said_to_hold_nothing():
    suffix = put(Judgement(PACKET, DOSSIER, (FOR, AGAINST), ())).suffix
    assert "Case A.\n" in suffix
    assert "Case B.\n" in suffix
    assert "nothing was said" in suffix


def test_many_arguments_are_capped_and_said_so():
    words = tuple(Word(Stance.OPPOSE, f"reason {number:03}" + "y" * 5_000, ("a.py:1",) * 50, "") for number in range(40))
    suffix = put(Rebuttal(PACKET, DOSSIER, words)).suffix
    assert "16 more arguments left out" in suffix
    assert len(suffix) < 24 * 2_500 + 6_000
    assert suffix.count("a.py:1") == 24 * 20
