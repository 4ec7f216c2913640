"""What the stages are told, from the configuration and who sits on the panel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot import pipeline
from reviewbot.config import Folder
from reviewbot.context.blocks import guessed
from reviewbot.debate.first_pass import LocalWork
from reviewbot.domain.debate import Seat
from reviewbot.domain.evidence import Severity
from reviewbot.ports import Pace, Rule
from reviewbot.testing import a_seat
from reviewbot.wiring.options import MOST_RULE_CHARACTERS, effort_of, options_of, parser, rules_for
from reviewbot.wiring.portions import FRAME_TOKENS, LEAST_ROOM, PORTION_TOKENS, for_models, local_work
from tests.wiring.configured import configured

CRITIC, REVIEWER = a_seat("critic"), a_seat("reviewer")
SLOW = replace(a_seat("slow"), local=True)


def pace(room: int, seat: str = "slow") -> Pace:
    return Pace(seat, "m", 100.0, 10.0, 0.0, room)


def modelled(*seats: Seat, local: LocalWork | None = None, text: str = "", **flags: object) -> pipeline.Options:
    configuration = configured(text, **flags)
    return for_models(options_of(configuration), configuration, seats, local=local or LocalWork())


def test_what_is_configured_reaches_its_stage() -> None:
    text = """
debate: {rounds: 3, round_seconds: 30, max_disputes: 2, posting: precise, criteria: {tests: 9}}
review: {min_severity: high, ignore: ["*.lock"]}
checks: [{preset: ruff, required: true}]
limits: {seconds: 60}
"""
    options = options_of(configured(text), execute=False)
    assert (options.debate.rounds, options.debate.round_seconds, options.debate.max_disputes) == (3, 30.0, 2)
    assert dict(options.debate.criteria)["tests"] == 9
    assert (options.policy.posting, options.policy.min_severity) == ("precise", Severity.HIGH)
    assert options.selection.ignore == ("*.lock",)
    assert (options.checks.presets, options.checks.required, options.checks.execute) == (("ruff",), ("ruff",), False)
    assert (options.seconds, options.checks.seconds <= 60) == (60.0, True)


def test_only_a_limit_that_somebody_set_bounds_what_the_static_panel_is_shown() -> None:
    assert options_of(configured()).budget_tokens is None
    assert options_of(configured("limits: {tokens: 5000}")).budget_tokens == 5000


@pytest.mark.parametrize(
    ("effort", "rounds", "disputes", "moderate", "drafts"),
    [("low", 1, 3, False, 0), ("medium", 2, 6, True, 0), ("high", 2, 6, True, 5)],
)
def test_effort_says_how_far_a_debate_goes(effort: str, rounds: int, disputes: int, moderate: bool, drafts: int) -> None:
    options = modelled(CRITIC, debate__effort=effort)
    assert (options.debate.rounds, options.debate.max_disputes) == (rounds, disputes)
    assert (options.debate.moderate, options.improve.most) == (moderate, drafts)
    assert (options.briefing.related_tokens > 0) is (effort != "low")


def test_rounds_that_somebody_set_are_not_cut_by_a_low_effort() -> None:
    assert modelled(CRITIC, debate__effort="low", debate__rounds=4).debate.rounds == 4
    assert effort_of(configured(debate__effort="low")).rounds == 1
    assert modelled(CRITIC, debate__effort="high", debate__rounds=0).debate.rounds == 0


def test_disputes_that_somebody_set_are_not_cut_by_a_low_effort() -> None:
    assert modelled(CRITIC, debate__effort="low", debate__max_disputes=6).debate.max_disputes == 6
    assert modelled(CRITIC, debate__effort="low", debate__max_disputes=1).debate.max_disputes == 1


def test_a_draft_has_the_time_of_a_round() -> None:
    assert modelled(CRITIC, debate__round_seconds=33).improve.seconds == 33.0


def test_portions_fit_the_narrowest_of_the_strong_seats() -> None:
    assert modelled(CRITIC, REVIEWER).briefing.portion_tokens == PORTION_TOKENS
    narrow = replace(REVIEWER, room=7_000)
    assert modelled(CRITIC, narrow).briefing.portion_tokens == 7_000
    assert modelled(CRITIC, replace(REVIEWER, room=10**6)).briefing.portion_tokens == PORTION_TOKENS
    assert modelled(CRITIC, replace(SLOW, room=100)).briefing.portion_tokens == PORTION_TOKENS


def test_the_first_passes_of_all_strong_seats_take_a_share_of_the_tokens() -> None:
    assert modelled(CRITIC, limits__tokens=100_000).budget_tokens == 60_000
    assert modelled(CRITIC, REVIEWER, limits__tokens=100_000).budget_tokens == 30_000
    assert modelled(CRITIC, SLOW, limits__tokens=100_000).budget_tokens == 60_000
    assert modelled(SLOW, limits__tokens=100_000).budget_tokens == 60_000


def test_local_portions_fit_the_slowest_beside_the_frame_of_a_prompt() -> None:
    work = LocalWork((pace(5_000), pace(3_000, "slower")))
    both = modelled(CRITIC, SLOW, local=work).briefing
    assert (both.portion_tokens, both.small_tokens) == (PORTION_TOKENS, 3_000 - FRAME_TOKENS)
    alone = modelled(SLOW, local=work).briefing
    assert (alone.portion_tokens, alone.small_tokens, alone.related_tokens) == (3_000 - FRAME_TOKENS, None, 0)
    crawling = modelled(CRITIC, SLOW, local=LocalWork((pace(10),))).briefing
    assert crawling.small_tokens == LEAST_ROOM
    assert modelled(CRITIC).briefing.small_tokens is None


def test_local_panelists_get_as_many_turns_as_fit_into_their_share_of_the_time() -> None:
    plain = options_of(configured(limits__seconds=300, debate__round_seconds=120))
    errors = (("slow", 1.0, 2.0),)
    assert local_work(plain, (pace(1),), errors) == LocalWork((pace(1),), 5, 120.0, errors)
    assert local_work(replace(plain, seconds=600.0), (), ()).asks == 10
    assert local_work(replace(plain, seconds=1.0), (), ()).asks == 1


def test_rules_come_from_files_and_for_paths_in_this_order() -> None:
    configuration = configured('review: {path_rules: [{path: "*.sql", instructions: "No SELECT *."}]}')
    assert rules_for(configuration, [("AGENTS.md", "Be kind."), ("EMPTY.md", "")]) == (
        Rule("AGENTS.md", "Be kind."),
        Rule("for files that match *.sql", "No SELECT *."),
    )


def test_a_long_file_with_rules_gives_way_to_short_ones() -> None:
    long = "x" * (MOST_RULE_CHARACTERS + 10)
    rules = rules_for(configured(), [("A.md", long), ("B.md", "y" * 50), ("C.md", "z")])
    assert [rule.text for rule in rules[1:]] == ["y" * 50, "z"]
    assert rules[0].text.count("x") == MOST_RULE_CHARACTERS - 51
    assert rules[0].text.endswith("… [61 more characters left out]")


def test_what_folders_say_of_paths_and_of_what_is_not_reviewed_is_added() -> None:
    root = configured('review: {ignore: ["*.lock"], path_rules: [{path: "*.sql", instructions: "No SELECT *."}]}')
    folder = Folder("api", path_rules=(("api/**/*.py", "No prints."),), ignore=("/api/**/*.gen.py",))
    configuration = replace(root, folders=(folder,))
    assert options_of(configuration).selection.ignore == ("*.lock", "/api/**/*.gen.py")
    assert [rule.source for rule in rules_for(configuration, [])] == [
        "for files that match *.sql",
        "for files that match api/**/*.py",
    ]


def test_functions_are_found_with_a_grammar_or_by_a_look() -> None:
    assert callable(parser())
    pytest.importorskip("ast_grep_py")
    assert parser() is not guessed
