"""What must hold of clustering, weighing and the gates for any input."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.debate import cluster, numbers, weigh
from reviewbot.debate.claims import Gate
from reviewbot.domain.debate import Argument, Case, Claim, Position, Proof, Stance, Triage
from reviewbot.domain.evidence import Category, EvidenceStatus, Ledger, Precision, Severity, TestRun
from reviewbot.testing import a_claim, a_passage, a_seat, evidence_item

SEATS = {name: a_seat(name) for name in ("critic", "reviewer", "optimizer")}
WORDS = st.sampled_from(["eval", "loop", "input", "mutable", "default", "quadratic", "secret", "leaks", "grows", "state"])
SENTENCES = st.lists(WORDS, max_size=4).map(" ".join)
STANCES = st.sampled_from(Stance)
PROBABILITIES = st.floats(0, 1, allow_nan=False)


@st.composite
def claims(draw: st.DrawFn) -> Claim:
    line = draw(st.integers(1, 12))
    return a_claim(
        draw(st.sampled_from(["a.py", "b.py"])),
        line,
        "x",
        end=line + draw(st.integers(0, 3)),
        title=draw(SENTENCES),
        trigger=draw(SENTENCES),
        severity=draw(st.sampled_from(Severity)),
        category=draw(st.sampled_from(Category)),
        raised_by=draw(st.sampled_from(sorted(SEATS))),
        evidence=tuple(draw(st.lists(st.sampled_from(["E1", "E2"]), max_size=1))),
        rule=draw(st.sampled_from([None, "B006", "S307"])),
    )


@st.composite
def positions(draw: st.DrawFn) -> Position:
    return Position(
        draw(st.sampled_from(["reviewer", "optimizer"])),
        draw(st.integers(1, 3)),
        draw(STANCES),
        draw(PROBABILITIES),
        counted=draw(st.booleans()),
    )


def a_case(*said: Position, proof: Proof = Proof.UNTESTED, claim: Claim | None = None) -> Case:
    claim = claim or a_claim("a.py", 1, "x")
    return Case("F1", (claim,), claim.severity, Triage.DEBATED, "", positions=said, proof=proof)


def weighed(case: Case, ledger: Ledger | None = None) -> float:
    return weigh.probability(case, seats=SEATS, ledger=ledger or Ledger())


@given(st.lists(claims(), max_size=12), st.randoms(use_true_random=False))
def test_clusters_do_not_depend_on_the_order_of_claims(found: list[Claim], chance: random.Random) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert cluster.clusters(found) == cluster.clusters(shuffled)


@given(st.lists(claims(), max_size=12))
def test_clustering_loses_and_invents_no_claim(found: list[Claim]) -> None:
    grouped = [claim for group in cluster.clusters(found) for claim in group]
    assert sorted(map(repr, grouped)) == sorted(map(repr, found))


@given(st.lists(claims(), max_size=12))
def test_claims_about_one_thing_share_a_cluster_and_a_cluster_is_connected(found: list[Claim]) -> None:
    groups = cluster.clusters(found)
    home = {id(claim): index for index, group in enumerate(groups) for claim in group}
    for one in found:
        for other in found:
            if cluster.about_one_thing(one, other):
                assert home[id(one)] == home[id(other)]
    for group in groups:
        reached, waiting = {0}, [0]
        while waiting:
            here = group[waiting.pop()]
            near = {i for i, claim in enumerate(group) if cluster.about_one_thing(here, claim)} - reached
            reached |= near
            waiting.extend(near)
        assert len(reached) == len(group)


@given(claims(), claims())
def test_being_about_one_thing_has_no_direction(one: Claim, other: Claim) -> None:
    assert cluster.about_one_thing(one, other) == cluster.about_one_thing(other, one)


@given(st.lists(positions(), max_size=6))
def test_a_weighed_probability_is_a_probability(said: list[Position]) -> None:
    assert 0 <= weighed(a_case(*said)) <= 1


@given(st.lists(positions(), max_size=6), st.sampled_from(Precision), st.booleans())
def test_no_words_bring_a_case_below_what_execution_guarantees(said: list[Position], precision: Precision, proven: bool) -> None:
    item = evidence_item(1, "a.py", 1, precision=precision)
    claim = a_claim("a.py", 1, "x", evidence=("E1",))
    case = a_case(*said, proof=Proof.PROVEN if proven else Proof.UNTESTED, claim=claim)
    floor = numbers.FLOOR_PROVEN if proven else numbers.FLOOR_TOOL_RESULT if precision is not Precision.HEURISTIC else 0
    assert weighed(case, Ledger(items=(item,))) >= floor


@given(st.lists(positions(), max_size=4), PROBABILITIES, PROBABILITIES)
def test_a_stronger_supporter_never_lowers_a_case(said: list[Position], one: float, other: float) -> None:
    weaker, stronger = sorted((one, other))
    last = Position("reviewer", 4, Stance.SUPPORT, weaker)
    assert weighed(a_case(*said, last)) <= weighed(a_case(*said, replace(last, probability=stronger))) + 1e-12


@given(st.lists(positions(), max_size=4), PROBABILITIES)
def test_an_opponent_never_raises_a_case_and_a_supporter_never_lowers_it(said: list[Position], p: float) -> None:
    others = [position for position in said if position.panelist != "reviewer"]
    silent = weighed(a_case(*others))
    assert weighed(a_case(*others, Position("reviewer", 4, Stance.OPPOSE, p))) <= silent + 1e-12
    assert weighed(a_case(*others, Position("reviewer", 4, Stance.SUPPORT, p))) >= silent - 1e-12


@given(PROBABILITIES)
def test_a_quoted_path_is_gone_with_the_word_that_quoted_it(p: float) -> None:
    passages = (a_passage("a.py", "x\ny"),)
    quoting = (Argument("so", ("a.py:1", "a.py:2")),)

    def path_weighs(*said: Position) -> bool:
        return weigh.facts(a_case(*said), Ledger(), passages) == numbers.LOG_ODDS_CALL_PATH_QUOTED

    supports = Position("reviewer", 1, Stance.SUPPORT, p, quoting)
    assert path_weighs(supports)
    assert not path_weighs(supports, Position("reviewer", 2, Stance.OPPOSE, p, quoting))
    assert not path_weighs(replace(supports, counted=False))


@given(st.lists(positions(), max_size=6), PROBABILITIES, STANCES)
def test_what_a_raiser_says_later_is_not_weighed_again(said: list[Position], p: float, stance: Stance) -> None:
    raisers_word = Position("critic", 4, stance, p)
    assert weighed(a_case(*said)) == weighed(a_case(*said, raisers_word))


@given(st.lists(positions(), max_size=6))
def test_votes_of_one_family_move_a_case_less_than_votes_of_several(said: list[Position]) -> None:
    one_family = {name: a_seat(name, family="static") for name in SEATS}
    prior = weigh.probability(a_case(), seats=SEATS, ledger=Ledger())
    mixed = weigh.probability(a_case(*said), seats=SEATS, ledger=Ledger())
    alike = weigh.probability(a_case(*said), seats=one_family, ledger=Ledger())
    assert abs(alike - prior) <= abs(mixed - prior) + 1e-12


def test_the_order_of_rounds_decides_and_not_the_order_of_the_list() -> None:
    early, late = Position("reviewer", 1, Stance.OPPOSE, 0.1), Position("reviewer", 2, Stance.SUPPORT, 0.9)
    assert weighed(a_case(late, early)) == weighed(a_case(early, late))


def test_priors_grow_with_support_and_cover_any_panel() -> None:
    for seats in range(1, 9):
        priors = [numbers.prior(support, seats) for support in range(1, seats + 1)]
        assert all(one <= other for one, other in pairwise(priors))
        assert all(0 < prior < 1 for prior in priors)
    assert numbers.prior(2, 3) == 0.58


def test_a_contradicted_check_and_a_missing_trigger_lower_a_case() -> None:
    plain = weighed(a_case())
    assert weighed(a_case(proof=Proof.CONTRADICTED)) < plain
    assert weighed(a_case(claim=a_claim("a.py", 1, "x", trigger=" "))) < plain


def test_a_green_suite_counts_only_where_it_runs_the_line() -> None:
    here = TestRun(passed=1, measured=True, executed=frozenset({("a.py", 1)}))
    elsewhere = TestRun(passed=1, measured=True, executed=frozenset({("a.py", 2)}))
    red = TestRun(passed=1, failed=1, measured=True, executed=frozenset({("a.py", 1)}))
    plain = weighed(a_case())
    assert weighed(a_case(), Ledger(tests=here)) < plain
    assert weighed(a_case(), Ledger(tests=elsewhere)) == plain
    assert weighed(a_case(), Ledger(tests=red)) == plain


def test_only_a_new_unsuppressed_result_of_that_very_place_earns_a_floor() -> None:
    claim = a_claim("a.py", 3, "x", evidence=("E1",))
    good = evidence_item(1, "a.py", 3)
    assert weigh.tool_floor(claim, good)
    for spoiled in (
        evidence_item(1, "a.py", 4),
        evidence_item(1, "b.py", 3),
        evidence_item(1, "a.py", 3, precision=Precision.HEURISTIC),
        evidence_item(1, "a.py", 3, status=EvidenceStatus.EXISTING),
        replace(good, suppressed=True),
    ):
        assert not weigh.tool_floor(claim, spoiled)


LINES = st.lists(st.sampled_from(["x = 1", "y = 2", "    return x", "", "def f():"]), min_size=1, max_size=12)


@given(LINES, st.data())
def test_the_gate_admits_every_verbatim_quote_next_to_a_change_and_puts_it_where_it_stands(
    lines: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    quote = "\n".join(lines[first : last + 1])
    passage = a_passage("a.py", "\n".join(lines), start=10)
    gate = Gate.of((passage,), {"a.py"}, Ledger())
    admitted = gate.admit(a_claim("a.py", 10 + first, quote, end=10 + last))
    if not quote.strip():
        assert isinstance(admitted, str)
        return
    assert isinstance(admitted, Claim)
    shown = [passage.text(number) for number in range(admitted.start_line, admitted.line + 1)]
    assert [text.strip() for text in shown if text is not None] == [text.strip() for text in quote.strip("\n").split("\n")]


@given(LINES, st.text(alphabet="abcxyz =+", min_size=1))
def test_the_gate_drops_every_quote_that_was_not_shown(lines: list[str], quote: str) -> None:
    gate = Gate.of((a_passage("a.py", "\n".join(lines)),), {"a.py"}, Ledger())
    if quote.strip() not in {line.strip() for line in lines}:
        assert isinstance(gate.admit(a_claim("a.py", 1, quote)), str)


def test_a_claim_far_from_every_changed_line_is_dropped() -> None:
    passage = a_passage("a.py", "\n".join(f"line {n}" for n in range(1, 21)), changed={1})
    gate = Gate.of((passage,), {"a.py"}, Ledger())
    assert isinstance(gate.admit(a_claim("a.py", 4, "line 4")), Claim)
    assert "too far" in str(gate.admit(a_claim("a.py", 15, "line 15")))


def test_a_claim_without_a_quote_stands_only_on_new_evidence_about_that_file() -> None:
    item = evidence_item(1, "a.py", 0)
    gate = Gate.of((), {"a.py"}, Ledger(items=(item,)))
    assert isinstance(gate.admit(a_claim("a.py", 0, "", evidence=("E1",))), Claim)
    assert isinstance(gate.admit(a_claim("a.py", 0, "", evidence=("E9",))), str)
    assert isinstance(gate.admit(a_claim("a.py", 0, "")), str)
