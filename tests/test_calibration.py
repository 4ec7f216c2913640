"""What outcomes say about models, and whose votes they take the weight from."""

from typing import Any

import pytest
import test_paid
from conftest import Project
from each import each
from msgspec.structs import replace
from test_reports import PROVEN
from test_rules import case, claim

from reviewbot.debate.case import Position
from reviewbot.debate.judge import is_contested
from reviewbot.debate.panel import Panelist
from reviewbot.verdict.calibration import Score, Scores, score, uncounted
from reviewbot.verdict.document import Review
from reviewbot.verdict.rules import Tally, first_rule
from tests.served import configuration, configure, run
from tests.vendor_server import VendorServer

cart = test_paid.cart  # a fixture
assert PROVEN.proof
REFUTED = replace(PROVEN.proof, result="refuted")
MODELS = {"critic": "v:a", "reviewer": "v:b", "optimizer": "v:c"}
PANELISTS = [Panelist(name, "", *model.split(":")) for name, model in MODELS.items()]
SAID = (("reviewer", 1, "real"), ("reviewer", 2, "not_real"), ("optimizer", 1, "unsure"))
HELD = tuple(
    Position(panelist=name, round=number, stance=stance, reason="") for name, number, stance in SAID
)


def review_of(**fields: Any) -> Review:
    """Its finding is one of the critic; the reviewer is against it in the end."""
    held = {"key": "k", "claims": (claim("critic"),), "positions": HELD, "proof": None}
    empty = dict.fromkeys(("gaps", "coverage", "checks", "absences", "dropped"), ())
    findings = (replace(PROVEN, **{**held, **fields}),)
    about: dict[str, Any] = {"target": "HEAD", "title": "", "verdict": "comment", "complete": True}
    return Review(**{**about, **empty, "findings": findings})


@each(
    ("fields", "dismissed", "right"),
    [
        ({"ruling": "real", "status": "agreed"}, (), "v:a"),
        ({"ruling": "not_real", "status": "recorded"}, (), "v:b"),
        ({"ruling": "real", "status": "question"}, (), ""),
        ({"ruling": None, "status": "agreed"}, (), ""),
        ({"proof": PROVEN.proof, "status": "proven"}, (), "v:a"),
        ({"proof": REFUTED, "status": "recorded"}, (), "v:b"),
        ({"proof": REFUTED, "status": "question"}, (), ""),
        ({"proof": PROVEN.proof, "status": "proven"}, ("k",), "v:b"),
    ],
)
def test_who_was_right(fields: dict[str, Any], dismissed: tuple[str, ...], right: str) -> None:
    wrong = {"v:a": "v:b", "v:b": "v:a", "": ""}[right]
    expected = {right: Score(1, 0), wrong: Score(0, 1)} if right else {}
    assert score([(review_of(**fields), MODELS)], dismissed) == Scores(expected)


def test_a_model_that_is_mostly_wrong_has_no_vote() -> None:
    bad, few, good = Score(9, 11), Score(0, 19), Score(10, 10)
    assert list(uncounted(Scores({"v:b": bad, "v:c": few, "v:a": good}), PANELISTS)) == ["reviewer"]
    # Half of a panel or more cannot be taken out: nobody knows whom to believe then.
    assert not uncounted(Scores({"v:b": bad, "v:c": bad}), PANELISTS)
    assert not uncounted(Scores({"v:b": bad}), PANELISTS[:2])
    assert not uncounted(Scores(), PANELISTS)


def test_votes_that_do_not_count_agree_and_oppose_nothing() -> None:
    bad = frozenset({"reviewer"})
    opposed = case("critic", "optimizer", against=("reviewer",))
    for held, without in ((case("critic", "reviewer"), "question"), (opposed, "agreed")):
        assert first_rule(Tally(held, uncounted=bad)).status == without
        assert first_rule(Tally(held)).status != without
    # Where a vote does not count, the moderator is asked.
    rejected = case("critic", against=("reviewer", "optimizer"))
    for held in (case("critic", "reviewer"), rejected):
        assert [is_contested(held, 2, names) for names in (frozenset(), bad)] == [False, True]
    assert is_contested(case("reviewer"), 2, bad)


def test_outcomes_take_the_vote_of_a_model_and_a_review_stays_what_it_was(
    cart: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """b denies what the moderator finds real, twice in each review."""
    monkeypatch.setattr("reviewbot.verdict.calibration.MIN_SETTLED", 6)
    with VendorServer(test_paid.debate).running() as server:
        configure(configuration(server.url))
        for number in range(4):
            text = {n: f"{code.strip()} -- {number}\n" for n, code in test_paid.AFTER.items()}
            cart.commit(f"Again {number}", text)
            done = run("review", "HEAD", "--format", "json")
            assert done.exit_code == 0, done.stderr
            words = "The votes of reviewer do not count: gpu:b was right in 0 of 6 settled"
            assert (words in done.stdout) == (number == 3), number
        # Outcomes since then change nothing about a change that was reviewed.
        again = run("review", "HEAD~1", "--format", "json")
        assert "do not count" not in again.stdout
        # What was settled in both of its reviews counts once.
        assert "gpu:b  $1 in, $1 out a million tokens; right in 0 of 6" in run("models").stdout
