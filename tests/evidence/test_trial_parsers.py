"""JUnit XML of many runners, and what all readers of tests share: ids, bounds, the words and the place of a failure."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import failure_text, junit, roll
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial

REPORTS = Path(__file__).parents[1] / "data" / "reports"
P, F, S, U = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED, TestOutcome.UNFINISHED


def told(name: str) -> dict[str, Trial]:
    """The trials of a stored report by id: no two have the same."""
    trials = junit.read((REPORTS / "junit" / name).read_bytes())
    assert len({trial.id for trial in trials}) == len(trials)
    return {trial.id: trial for trial in trials}


def outcomes(trials: dict[str, Trial]) -> dict[str, TestOutcome]:
    return {name: trial.outcome for name, trial in trials.items()}


def place(trial: Trial) -> tuple[str, int]:
    return trial.file, trial.line


def case(body: str, attributes: str = 'classname="c" name="n"') -> Trial:
    trials = junit.read(f"<testsuites><testsuite><testcase {attributes}>{body}</testcase></testsuite></testsuites>".encode())
    assert len(trials) == 1
    return trials[0]


def test_pytest_tells_how_each_test_ended_and_where_it_failed():
    trials = told("pytest.xml")
    price = "tests.test_price"
    assert outcomes(trials) == {
        "tests.test_broken": F,
        f"{price}::test_sum": P,
        f"{price}::test_words[plain]": P,
        f"{price}::test_words[\\xe4\\xf6\\xfc]": P,
        f"{price}::test_words[a b]": P,
        f"{price}::test_words[<x>]": F,
        f"{price}::test_discount": F,
        f"{price}::test_coupon": S,
        f"{price}::test_known": S,
        f"{price}::test_till": F,
        f"{price}::test_leaves": F,
        f"{price}.TestOld::test_old": F,
        f"{price}.TestOld::test_subs": F,
    }
    assert place(trials[f"{price}::test_discount"]) == ("tests/test_price.py", 23)
    assert trials[f"{price}::test_discount"].message == "AssertionError: three is wanted\nassert 1.5 == 3"
    assert trials[f"{price}::test_coupon"].message == "no coupon yet"
    assert trials[f"{price}.TestOld::test_subs"].text.count("AssertionError: ") == 2, "both subtests are told"


def test_a_file_that_pytest_cannot_collect_is_a_group():
    broken = told("pytest.xml")["tests.test_broken"]
    assert broken.is_group
    assert place(broken) == ("tests/test_broken.py", 1)
    assert "No module named 'no_such_module'" in broken.text
    assert [trial.id for trial in told("pytest.xml").values() if trial.is_group] == ["tests.test_broken"]


def test_pytest_counts_lines_of_its_attributes_from_zero():
    assert place(told("pytest_xunit1.xml")["tests.test_price::test_sum"]) == ("tests/test_price.py", 8)


def test_other_tools_count_lines_from_one():
    assert place(case("", 'name="n" classname="c" file="src/a_test.php" line="8"')) == ("src/a_test.php", 8)


def test_go_junit_report_tells_packages_that_were_not_built():
    trials = told("go_junit_report.xml")
    shop = "example.com/shop"
    assert {name: place(trial) for name, trial in trials.items() if trial.is_group} == {
        f"{shop}/broken": ("broken/b.go", 4),
        f"{shop}/vetfail": ("vetfail/v_test.go", 5),
        f"{shop}/initfail": ("/src/initfail/i_test.go", 5),
    }
    assert trials[f"{shop}/broken"].message == "undefined: undefinedThing"
    assert trials[f"{shop}/initfail"].message == "panic: no init"
    assert place(trials[f"{shop}/calc::TestTable/n=2"]) == ("calc_test.go", 20)
    assert trials[f"{shop}/calc::TestSkipped"].outcome is S


def test_go_junit_report_tells_a_test_that_never_ended():
    assert case('<error message="No test result found"/>').outcome is U


def test_jest_names_tests_once_and_libraries_are_not_blamed():
    trials = told("jest.xml")
    assert outcomes(trials) == {
        "a till adds up": P,
        "a till gives a discount": F,
        "a till is not written yet": P,
        "a till is left out": S,
        "a till takes 1": F,
        "a till takes 2": P,
        "alone": F,
        "jtest/broken.test.js": F,
    }
    assert place(trials["a till gives a discount"]) == ("jtest/price.test.js", 7)
    assert trials["alone"].message == "TypeError: no <tag> ü"


def test_a_file_that_jest_cannot_load_is_one_group():
    broken = told("jest.xml")["jtest/broken.test.js"]
    assert broken.is_group
    assert place(broken) == ("jtest/broken.test.js", 1)
    assert broken.message == "Cannot find module './no_such_file.js' from 'jtest/broken.test.js'"


def test_vitest_tells_suites_in_names_and_files_as_classes():
    trials = told("vitest.xml")
    assert trials["test/broken.test.js"].is_group
    assert place(trials["test/price.test.js::a till > gives a discount"]) == ("test/price.test.js", 4)
    assert trials["test/price.test.js::a till > to do"].outcome is S


@pytest.mark.parametrize("name", ["mocha_xunit.xml", "mocha_junit_reporter.xml"])
def test_both_reporters_of_mocha_name_a_file_and_the_text_its_line(name: str):
    found = next(trial for trial in told(name).values() if trial.id.endswith("gives a discount"))
    assert (found.outcome, place(found)) == (F, ("/src/test/price.js", 8))
    assert found.message.split() == ["Expected", "values", "to", "be", "strictly", "equal:", "1.5", "!==", "2"]
    assert found.id == ("a till::gives a discount" if name == "mocha_xunit.xml" else "a till gives a discount")
    late = next(trial for trial in told(name).values() if trial.id.endswith("never calls back"))
    assert place(late) == ("/src/test/price.js", 0), "no line of it is named"


def test_surefire_names_classes_whose_packages_are_folders():
    trials = told("surefire.xml")
    assert outcomes(trials) == {
        "com.example.PriceTest::addsUp": P,
        "com.example.PriceTest::breaks": F,
        "com.example.PriceTest::later": S,
        "com.example.PriceTest::discount": F,
    }
    assert place(trials["com.example.PriceTest::discount"]) == ("com/example/PriceTest.java", 16)
    assert "looking" in trials["com.example.PriceTest::breaks"].text, "what the test printed"


def test_a_class_that_surefire_cannot_start_is_a_group():
    start = told("surefire_class.xml")["com.example.StartTest"]
    assert start.is_group
    assert place(start) == ("com/example/StartTest.java", 9)


def test_the_frame_of_the_test_s_own_class_is_its_place():
    stack = "\n".join(
        (
            "org.opentest4j.AssertionFailedError: no",
            "\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:39)",
            "\tat com.example.Shop.sell(Shop.java:7)",
            "\tat com.example.ShopTest$Inner.sells(ShopTest.java:21)",
            "\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)",
        )
    )
    attributes = 'classname="com.example.ShopTest" name="sells"'
    assert place(case(f"<failure>{stack}</failure>", attributes)) == ("com/example/ShopTest.java", 21)
    other = stack.replace("ShopTest", "Till")
    assert place(case(f"<failure>{other}</failure>", attributes)) == ("com/example/Shop.java", 7)


def test_bats_tells_the_line_in_words():
    trials = told("bats.xml")
    found = trials["./price.bats::fails with a reason: ünicode"]
    assert (place(found), found.message) == (("price.bats", 10), '`[ "$output" = 4 ]\' failed')
    assert trials["./price.bats::skipped"].message == "no till here"


def test_node_s_suites_tell_tests_of_one_name_apart():
    trials = told("node.xml")
    assert {"a suite > works", "a suite > deeper > works", "nested > inner passes"} <= set(trials)
    assert trials["a suite > is to do"].outcome is S, "what is to be done may fail"
    assert place(trials["a suite > deeper > rejects"]) == ("/src/test/price.test.js", 28)
    assert trials["/src/test/throws.test.js"].is_group


def test_tests_of_one_name_are_numbered_as_they_come():
    again = '<testcase classname="c" name="n"/>'
    trials = junit.read(f'<testsuite name="s">{again}{again}<testcase classname="c" name="n (2)"/>{again}</testsuite>'.encode())
    assert [trial.id for trial in trials] == ["c::n", "c::n (2)", "c::n (2) (2)", "c::n (3)"]


def test_a_test_that_passed_in_the_end_passed():
    assert case('<flakyFailure message="once">at x</flakyFailure>').outcome is P


def test_a_test_that_was_left_out_and_then_failed_to_close_failed():
    assert case('<skipped/><error message="failed on teardown">x</error>').outcome is F


def test_a_test_that_says_it_was_not_run_was_left_out():
    assert case("", 'name="n" classname="c" status="notrun"').outcome is S


def test_an_error_of_a_suite_is_a_group():
    (trial,) = junit.read(
        b'<testsuites><testsuite name="pkg"><error message="exit 3">a.py:3: no</error></testsuite></testsuites>'
    )
    assert (trial.id, trial.outcome, trial.is_group, trial.message) == ("pkg", F, True, "exit 3")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PASS",
        b"<html/>",
        (REPORTS / "junit" / "pytest.xml").read_bytes()[:900],
        b'<!DOCTYPE testsuites [<!ENTITY a "b">]><testsuites/>',
    ],
    ids=["empty", "words", "another document", "cut off", "entities"],
)
def test_what_is_no_whole_report_is_one_error(data: bytes):
    with pytest.raises(Unreadable):
        junit.read(data)


def test_line_ends_and_colours_are_not_kept():
    found = case("<failure>one\r\ntwo&#xD;\nthree</failure>")
    assert found.text == "one\ntwo\nthree"


def test_a_long_text_keeps_its_head_and_tail():
    words = "\n".join(f"line {number}" for number in range(100_000))
    found = case(f"<failure>{words}</failure>")
    assert len(found.text) <= failure_text.MAX_TEXT
    assert found.text.startswith("line 0\n")
    assert found.text.endswith("line 99999")


def test_more_trials_than_can_be_kept_are_refused():
    cases = b"<testcase name='n'/>" * (roll.MAX_NAMES + 1)
    with pytest.raises(Unreadable, match="run fewer tests"):
        junit.read(b"<testsuite>" + cases + b"</testsuite>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tests/test_a.py:15: AssertionError", ("tests/test_a.py", 15)),
        ('  File "pkg/a b.py", line 3, in f', ("pkg/a b.py", 3)),
        ("    at Object.<anonymous> (/src/a.test.ts:7:32)", ("/src/a.test.ts", 7)),
        ("at file:///src/a.mjs:7:30", ("/src/a.mjs", 7)),
        ("thread 'main' panicked at src/lib.rs:10:5:", ("src/lib.rs", 10)),
        ("#  at t/a.t line 4.", ("t/a.t", 4)),
        ("(in test file ./a.bats, line 10)", ("a.bats", 10)),
        ("at x (/src/node_modules/m/i.js:1:1)\nat y (lib/y.js:2:2)", ("lib/y.js", 2)),
        ("at process (node:internal/timers:483:21)", ("", 0)),
        ("connect to example.com:443 or 127.0.0.1:8080", ("", 0)),
        ("at 12:30 o'clock, v1.2.3:4", ("", 0)),
        ("", ("", 0)),
    ],
)
def test_a_place_is_found_in_the_words_of_a_failure(text: str, expected: tuple[str, int]):
    assert failure_text.place(text) == expected


@given(st.text(max_size=300), st.integers(1, 10**9 - 1))
def test_a_place_is_found_behind_any_words(words: str, line: int):
    file, found = failure_text.place(f"{words}\nsrc/own.py:{line}: E")
    assert file
    assert 0 < found < 10**9


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b", "", " a "]) | st.text(max_size=4), max_size=40))
def test_names_are_always_told_apart(names: list[str]):
    known = roll.Names()
    own = [known.own(name) for name in names]
    assert len(set(own)) == len(own)
    assert all(own)


SUITES = st.sampled_from(["testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out", "x"])
KEYS = st.sampled_from(["name", "classname", "file", "line", "message", "type", "status"])
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12) | st.sampled_from(
    ["test", "0", "pytest"]
)


def element(tag: str, attributes: dict[str, str], body: list[str]) -> str:
    return f"<{tag} {' '.join(f'{key}={quoteattr(value)}' for key, value in attributes.items())}>{''.join(body)}</{tag}>"


documents = st.recursive(
    st.sampled_from(["", "words", "a.py:3: E", "    at a.B.c(B.java:3)"]),
    lambda inner: st.builds(element, SUITES, st.dictionaries(KEYS, VALUES, max_size=4), st.lists(inner, max_size=4)),
    max_leaves=12,
)


@given(
    st.binary(max_size=200) | documents.map(str.encode) | documents.map(lambda body: f"<testsuites>{body}</testsuites>".encode())
)
def test_any_bytes_are_read_or_refused(data: bytes):
    try:
        trials = junit.read(data)
    except Unreadable:
        return
    assert len({trial.id for trial in trials}) == len(trials)
    for trial in trials:
        assert trial.id
        assert 0 <= trial.line < 10**9
        assert len(trial.text) <= failure_text.MAX_TEXT
