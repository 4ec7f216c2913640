"""A bug report: hypotheses whose checks fail are mended, with the failing test beside the fix; the others are told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.domain.repair import Goal
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import ConfigError, UsageError
from reviewbot.pipeline.goals import Wanted
from reviewbot.ports import Diagnosis, Drafting
from tests.goals.house import Cast, House, hypothesis, only, outcomes, told

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]

PAGES = "def page_count(items, size):\n    return items // size\n"
SHOP = {
    "README.md": "A shop.\n",
    "shop/__init__.py": "",
    "shop/pages.py": PAGES,
    "shop/cart.py": "from shop.pages import page_count\n\n\ndef total(cart):\n    return page_count(len(cart), 10)\n",
    "tests/test_pages.py": "from shop.pages import page_count\n\n\ndef test_even():\n    assert page_count(20, 10) == 2\n",
}
REPORT = (
    'The last page is lost.\n\n  File "/app/shop/pages.py", line 2, in page_count\n    return items // size\nAssertionError\n'
)
RIGHT_TEST = (
    "from shop.pages import page_count\n\n\ndef test_a_page_that_is_not_full_counts():\n    assert page_count(21, 10) == 3\n"
)
PASSES = "from shop.pages import page_count\n\n\ndef test_two():\n    assert page_count(20, 10) == 2\n"
BROKEN = "from shop.pages import pages\n\n\ndef test_two():\n    assert pages(20, 10) == 2\n"
OWN_FAULT = "from shop.pages import page_count\n\n\ndef test_two():\n    assert page_count(20) == 2\n"
ELSEWHERE = "import shop.pages\n\n\ndef test_two():\n    assert 1 == 2\n"
WRONG_FIX = [("shop/pages.py", "    return items // size\n", "    return items // size + 1\n")]
RIGHT_FIX = [("shop/pages.py", "    return items // size\n", "    return -(-items // size)\n")]
WANTED = Wanted(Goal.REPORT, REPORT)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House.built(tmp_path, {"README.md": "A shop.\n"}, SHOP)


def cast(source: str = RIGHT_TEST, *, drafts=(RIGHT_FIX,), **other) -> Cast:
    return Cast(drafts, {"tester": [hypothesis("shop/pages.py", 2, source)]}, **other)


def test_a_reported_bug_is_mended_and_its_failing_test_comes_along(house: House):
    made = house.pursue(WANTED, cast())
    repair = only(made)
    assert (repair.outcome, repair.why) == ("fixed", ""), told(repair)
    assert {edit.path for edit in repair.edits} == {"shop/pages.py", "tests/test_the_last_page_is_lost.py"}
    assert b"+    return -(-items // size)" in repair.patch
    assert repair.proof is not None
    assert repair.proof.check is not None
    assert repair.proof.check.author == "tester"
    assert (made.conclusion, made.verdict, made.findings) == ("complete", None, ())


def test_a_wrong_fix_is_refused_with_what_the_sandbox_said_and_the_writer_tries_again(house: House):
    panel = cast(drafts=(WRONG_FIX, RIGHT_FIX))
    repair = only(house.pursue(WANTED, panel))
    assert repair.outcome == "fixed"
    first, second = repair.tries
    assert "worse than before: pytest at shop/pages.py:2: `test_even` fails" in first.reason
    assert second.reason == ""
    again = panel.of(Drafting)[1].question
    assert isinstance(again, Drafting)
    assert "test_even" in again.tried[0].told


def test_a_fix_that_does_not_turn_the_check_green_is_none(house: House):
    still = [("shop/pages.py", "    return items // size\n", "    return int(items / size)\n")]
    repair = only(house.pursue(WANTED, cast(drafts=(still,))))
    assert repair.outcome == "failed"
    assert "the check of H1 does not pass with it" in told(repair)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (PASSES, "it did not fail: it passes at head"),
        (BROKEN, "it cannot be loaded: ImportError: cannot import name 'pages'"),
        (OWN_FAULT, "it fails by a fault of its own: TypeError: page_count() missing 1 required positional argument"),
        (ELSEWHERE, "it fails without running what the hypothesis is about"),
        (
            "import random\nfrom shop.pages import page_count\n\ndef test_x(tmp_path_factory, nosuch):\n    page_count(1, 1)\n",
            "nosuch",
        ),
    ],
    ids=["passes", "cannot be loaded", "own fault", "elsewhere", "no such fixture"],
)
def test_a_hypothesis_whose_check_shows_nothing_is_told_as_such(house: House, source: str, why: str):
    panel = cast(source)
    repair = only(house.pursue(WANTED, panel))
    assert repair.outcome == "skipped"
    assert repair.why.startswith("its check shows nothing: ")
    assert why in repair.why
    assert not panel.of(Drafting)


def test_an_exception_that_the_report_speaks_of_is_no_fault_of_the_check(house: House):
    wanted = Wanted(Goal.REPORT, "page_count(20) raises TypeError; a page should hold 10 by default. See shop/pages.py")
    mend = [("shop/pages.py", "def page_count(items, size):", "def page_count(items, size=10):")]
    source = "from shop.pages import page_count\n\n\ndef test_a_page_holds_ten():\n    assert page_count(20) == 2\n"
    repair = only(house.pursue(wanted, Cast((mend,), {"tester": [hypothesis("shop/pages.py", 1, source)]})))
    assert repair.outcome == "fixed", told(repair)


def test_several_seats_are_asked_blind_and_what_two_hold_is_one_hypothesis(house: House):
    same = hypothesis("shop/pages.py", 2, RIGHT_TEST)
    other = hypothesis("shop/cart.py", 5, PASSES.replace("shop.pages", "shop.pages"), title="the cart is empty")
    panel = Cast((RIGHT_FIX,), {"tester": [other, same], "critic": [same], "reviewer": []})
    made = house.pursue(WANTED, panel)
    assert outcomes(made) == [("H1", "fixed"), ("H2", "skipped")]
    assert [repair.title for repair in made.repairs] == ["the last page is lost", "the cart is empty"]
    assert {ask.seat.role for ask in panel.of(Diagnosis)} == {"tester", "critic", "reviewer"}


def test_the_second_of_two_checks_of_one_bug_finds_it_mended(house: House):
    second = RIGHT_TEST.replace("21", "31").replace("== 3", "== 4")
    panel = cast()
    panel.hypotheses = {
        "tester": [hypothesis("shop/pages.py", 2, RIGHT_TEST), hypothesis("shop/pages.py", 2, second, title="more is lost")]
    }
    made = house.pursue(WANTED, panel)
    assert outcomes(made) == [("H1", "fixed"), ("H2", "skipped")]
    assert "mended by" in made.repairs[1].why
    assert len(panel.of(Drafting)) == 1


def test_the_report_is_shown_as_data_and_the_files_that_it_speaks_of_are_shown(house: House):
    panel = cast()
    house.pursue(WANTED, panel)
    asked = panel.of(Diagnosis)[0].question
    assert isinstance(asked, Diagnosis)
    assert asked.dossier.passages[0].path == "shop/pages.py"
    assert {passage.path for passage in asked.dossier.passages} == {"shop/pages.py", "shop/cart.py"}
    assert "The last page is lost." in asked.report


def test_a_secret_in_a_report_is_not_shown_and_its_escapes_are_gone(house: House):
    panel = cast()
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    house.pursue(Wanted(Goal.REPORT, f"\x1b[31m{REPORT}\x1b[0m token {key}"), panel)
    asked = panel.of(Diagnosis)[0].question
    assert isinstance(asked, Diagnosis)
    assert key not in asked.report
    assert "\x1b" not in asked.report


def test_judges_who_refuse_keep_the_fix_from_being_used(house: House):
    repair = only(house.pursue(WANTED, cast(verdict=lambda _: (False, "it hides the cause"))))
    assert repair.outcome == "failed"
    assert "it hides the cause" in told(repair)


@pytest.mark.smoke
def test_where_nobody_gives_a_valid_answer_nothing_was_done(house: House):
    made = house.pursue(WANTED, Cast())
    assert (made.conclusion, made.repairs) == ("not_reviewed", ())
    assert any("gave a valid answer about the report" in note for note in made.notes)


@pytest.mark.smoke
def test_no_hypothesis_is_an_answer(house: House):
    made = house.pursue(WANTED, Cast(hypotheses={"tester": []}))
    assert (made.conclusion, made.repairs) == ("complete", ())
    assert "nobody formed a hypothesis about the report" in made.notes


@pytest.mark.smoke
def test_without_a_sandbox_nothing_is_asked(house: House):
    panel = cast()
    made = house.pursue(WANTED, panel, level="none")
    assert made.conclusion == "not_reviewed"
    assert any("nothing can be shown to work: there is no sandbox" in note for note in made.notes)
    assert not panel.asked


@pytest.mark.smoke
def test_a_report_needs_language_models(house: House):
    panel = Cast()
    panel.table = StaticPanel.table
    with pytest.raises(ConfigError, match="a report of a bug is read by language models"):
        house.pursue(WANTED, panel)


@pytest.mark.smoke
def test_an_empty_report_is_said(house: House):
    with pytest.raises(UsageError, match="the report is empty"):
        house.pursue(Wanted(Goal.REPORT, " \n"), cast())


def test_who_resumes_it_runs_no_check_again(house: House):
    first = house.pursue(WANTED, cast())
    house.watching.seen.clear()
    again = house.pursue(WANTED, cast())
    assert [repair.patch for repair in again.repairs] == [repair.patch for repair in first.repairs]
    assert not [
        one.text for one in house.watching.seen if one.text.startswith(("running report", "running proof", "running pytest"))
    ]


def test_a_whole_tree_can_be_named_instead_of_a_change(house: House):
    repair = only(house.pursue(WANTED, cast(), target=Target(TargetKind.ALL, head="HEAD")))
    assert repair.outcome == "fixed", told(repair)


def test_a_bug_in_go_is_mended_with_a_test_in_its_package(tmp_path: Path):
    if not shutil.which("go"):
        pytest.skip("go is not installed")
    pages = "package shop\n\nfunc PageCount(items, size int) int {\n\treturn items / size\n}\n"
    house = House.built(tmp_path, {"README.md": "A shop.\n"}, {"go.mod": "module shop\n\ngo 1.19\n", "pages.go": pages})
    source = (
        'package shop\n\nimport "testing"\n\nfunc TestReviewbotCounts(t *testing.T) {\n'
        '\tif PageCount(21, 10) != 3 {\n\t\tt.Fatal("the last page is lost")\n\t}\n}\n'
    )
    check = {"kind": "script", "command": ["go", "test"], "source": source, "subject": "pages_lost_test.go"}
    mend = [("pages.go", "return items / size", "return (items + size - 1) / size")]
    wanted = Wanted(Goal.REPORT, "goroutine 1:\n\t/src/pages.go:4 +0x1d")
    repair = only(house.pursue(wanted, Cast((mend,), {"tester": [hypothesis("pages.go", 4, "", check=check)]})))
    assert repair.outcome == "fixed", told(repair)
    assert {edit.path for edit in repair.edits} == {"pages.go", "pages_lost_test.go"}
