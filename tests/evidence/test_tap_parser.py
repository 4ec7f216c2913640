"""TAP of many runners: what is a test, what is only said of one, and what is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import failure_text, roll, tap
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial

REPORTS = Path(__file__).parents[1] / "data" / "reports" / "tap"
P, F, S, U = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED, TestOutcome.UNFINISHED


def by_id(data: bytes) -> dict[str, Trial]:
    trials = tap.read(data)
    assert len({trial.id for trial in trials}) == len(trials)
    return {trial.id: trial for trial in trials}


def stored(name: str) -> dict[str, Trial]:
    return by_id((REPORTS / name).read_bytes())


def outcomes(trials: dict[str, Trial]) -> dict[str, TestOutcome]:
    return {name: trial.outcome for name, trial in trials.items()}


def place(trial: Trial) -> tuple[str, int]:
    return trial.file, trial.line


def lines(text: str) -> dict[str, Trial]:
    return by_id(text.encode())


def test_node_s_tests_are_told_with_those_around_them():
    assert outcomes(stored("node.tap")) == {
        "adds up": P,
        "discount": F,
        "nested > inner passes": P,
        "nested > inner fails # not a directive? äö": F,
        "nested > inner skipped": S,
        "nested": F,
        "a suite > works": P,
        "a suite > is to do": S,
        "a suite > deeper > works": P,
        "a suite > deeper > rejects": F,
        "a suite > deeper": F,
        "a suite": F,
        "skipped": S,
        "prints": P,
        "never ends": F,
        "/src/test/throws.test.js": F,
    }


def test_node_says_why_and_where():
    trials = stored("node.tap")
    discount = trials["discount"]
    assert (place(discount), discount.message) == (
        ("/src/test/price.test.js", 11),
        "Expected values to be strictly equal: 1.5 !== 2",
    )
    assert "test/price.test.js:12:10" in discount.text, "the stack is told"
    assert trials["nested > inner skipped"].message == "no till"
    assert trials["never ends"].text.count("throws.test.js") == 0, "what a later file printed is not said of it"


def test_a_test_that_failed_for_its_parts_says_what_the_first_says():
    trials = stored("node.tap")
    first = trials["nested > inner fails # not a directive? äö"]
    assert (place(trials["nested"]), trials["nested"].message) == (place(first), "first line")
    assert trials["a suite"].message == 'no <tag> & "quote"'


def test_a_file_that_node_cannot_load_is_a_group_with_what_it_printed():
    trials = stored("node.tap")
    broken = trials["/src/test/throws.test.js"]
    assert broken.is_group
    assert place(broken) == ("/src/test/throws.test.js", 1)
    assert "Error: cannot load" in broken.text
    assert [name for name, trial in trials.items() if trial.is_group] == ["/src/test/throws.test.js"]


@pytest.mark.parametrize("name", ["bats.tap", "bats13.tap"])
def test_bats_is_read_in_both_its_versions(name: str):
    trials = stored(name)
    assert outcomes(trials) == {
        "more": P,
        "command not found": F,
        "adds up": P,
        "fails with a reason: ünicode": F,
        "skipped": S,
        "skipped # without reason": S,
        "fails in a function": F,
        "strange": P,
        "prints TAP": P,
    }
    found = trials["fails with a reason: ünicode"]
    assert (place(found), found.message) == (("price.bats", 10), '`[ "$output" = 4 ]\' failed')
    assert "looking at 3" in found.text
    assert place(trials["fails in a function"]) == ("price.bats", 21)
    assert trials["skipped"].message == "no till here"


def test_mocha_s_plain_lines_belong_to_the_test_before():
    trials = stored("mocha.tap")
    found = trials["a till gives a discount"]
    assert (place(found), found.message) == (("test/price.js", 8), "Expected values to be strictly equal: 1.5 !== 2")
    assert trials["a till is not written yet"].outcome is S


@pytest.mark.parametrize("name", ["vitest_flat.tap", "vitest_nested.tap"])
def test_vitest_is_read_though_its_blocks_are_no_yaml(name: str):
    trials = stored(name)
    found = trials["test/price.test.js > a till > gives a discount"]
    assert (found.outcome, place(found)) == (F, ("/src/test/price.test.js", 4))
    assert found.message == "expected { line: 5, message: 'x' } to deeply equal { line: 6 }"
    assert trials["test/price.test.js > alone"].message == 'no <tag> "ü"'
    assert trials["test/price.test.js > a till > adds up"].outcome is P
    assert trials["test/price.test.js > a till > left out"].outcome is S
    assert [name for name, trial in trials.items() if trial.is_group] == ["test/broken.test.js"]


def test_ava_s_own_files_are_not_blamed():
    trials = stored("ava.tap")
    assert outcomes(trials) == {"left out": S, "to do": S, "adds up": P, "discount": F, "known": P, "throws": F}
    assert place(trials["throws"]) == ("/src/ava/price.mjs", 7)
    assert place(trials["discount"]) == ("", 0)


def test_tape_names_the_place_in_words():
    found = stored("tape.tap")["compares # things"]
    assert (place(found), found.message) == (("/src/tape.js", 2), "Error: compares # things")


def test_perl_s_tests_may_have_no_name():
    trials = stored("perl.tap")
    assert outcomes(trials) == {
        "first": P,
        "compares": F,
        "unnamed": F,
        "not yet": S,
        "unnamed (2)": S,
        "inner > a": P,
        "inner > b": F,
        "inner": F,
    }
    assert place(trials["compares"]) == ("t.pl", 4)
    assert trials["unnamed (2)"].message == "no till"


def test_a_run_that_bails_out_is_unfinished():
    whole = stored("perl_bails_out.tap")[tap.WHOLE]
    assert (whole.outcome, whole.is_group, whole.message) == (U, True, "Bail out! no database")


def test_fewer_tests_than_planned_leave_the_run_unfinished():
    whole = stored("perl_dies.tap")[tap.WHOLE]
    assert (whole.outcome, whole.is_group, whole.message) == (U, True, "3 tests were planned and 1 came")


@pytest.mark.parametrize("kept", range(2, 190, 7))
def test_a_run_that_was_cut_off_is_unfinished(kept: int):
    data = b"\n".join((REPORTS / "node.tap").read_bytes().splitlines()[:kept])
    assert tap.WHOLE in by_id(data)


def test_a_test_that_was_announced_and_never_came_is_unfinished():
    trials = lines("TAP version 13\n# Subtest: outer\n    # Subtest: first\n    ok 1 - first\n    # Subtest: hangs\n")
    assert outcomes(trials) == {"outer > first": P, "outer > hangs": U, "outer": U, tap.WHOLE: U}


def test_a_plan_of_nothing_says_why():
    whole = lines("1..0 # SKIP no database\n")[tap.WHOLE]
    assert (whole.outcome, whole.message) == (S, "SKIP no database")


def test_several_plans_are_added_up():
    assert tap.WHOLE not in lines("1..1\nok 1 - a\n1..1\nok 1 - b\n")
    assert tap.WHOLE in lines("1..1\nok 1 - a\n1..2\nok 1 - b\n")


@pytest.mark.parametrize(
    ("line", "name", "outcome"),
    [
        ("ok", "unnamed", P),
        ("ok 1", "unnamed", P),
        ("not ok 1 - a", "a", F),
        ("ok 1 a", "a", P),
        ("ok 1 -5 is negative", "-5 is negative", P),
        ("ok - a", "a", P),
        ("ok 1 - a # time=3ms", "a", P),
        ("ok 1 - a # SKIP", "a", S),
        ("ok 1 - a # skipped: why", "a", S),
        ("not ok 1 - a # TODO why", "a", S),
        ("ok 1 - a # TODO why", "a", P),
        ("not ok 1 - a #TODO", "a", S),
        ("ok 1 - a \\# SKIP", "a # SKIP", P),
        ("ok 1 - issue #todo-5", "issue", P),
        ("ok 1 - a # todoist", "a # todoist", P),
        ("ok 1 - 100% ünicode ✓", "100% ünicode ✓", P),
    ],
)
def test_a_test_s_line_is_understood(line: str, name: str, outcome: TestOutcome):
    assert outcomes(lines(f"1..1\n{line}\n")) == {name: outcome}


@pytest.mark.parametrize("line", ["okay 1 - a", "not okay", "ok: started", "  ok 1 - a", "# ok 1 - a", "Ok 1 - a", "ok1 - a"])
def test_what_only_looks_like_a_test_is_none(line: str):
    assert outcomes(lines(f"TAP version 14\n{line}\n1..0\n")) == {}


def test_a_block_without_its_end_is_ended_by_the_next_test():
    trials = lines("1..2\nnot ok 1 - a\n  ---\n  message: 'why'\n  at: x.js:3:1\nok 2 - b\n")
    assert outcomes(trials) == {"a": F, "b": P}
    assert (place(trials["a"]), trials["a"].message) == (("x.js", 3), "why")


def test_words_inside_a_block_are_no_tests():
    trials = lines("1..1\nnot ok 1 - a\n  ---\n  stack: |-\n    ok 2 - b\n    1..9\n  ...\n")
    assert outcomes(trials) == {"a": F}


@pytest.mark.parametrize(
    "block",
    [
        "  at:\n    fileName: lib/x.rb\n    lineNumber: 7\n    columnNumber: 1\n",
        "  at:\n    file: lib/x.rb\n    line: 7\n",
        "  file: lib/x.rb\n  line: 7\n  found:\n    line: 9\n",
        "  found:\n    file: other.rb\n    line: 9\n  at: lib/x.rb:7\n",
        '  location: "lib/x.rb:7:3"\n',
    ],
)
def test_a_place_is_read_however_the_block_writes_it(block: str):
    trial = lines(f"1..1\nnot ok 1 - a\n  ---\n  message: why\n{block}  ...\n")["a"]
    assert (place(trial), trial.message) == (("lib/x.rb", 7), "why")


def test_words_of_a_longer_text_are_no_keys():
    trial = lines(
        "1..1\nnot ok 1 - a\n  ---\n  error: |-\n    first\n    message: second\n    at: x.js:9\n  at: y.js:3\n  ...\n"
    )["a"]
    assert (place(trial), trial.message) == (("y.js", 3), "first")


def test_line_ends_of_windows_and_colours_are_read():
    data = (REPORTS / "node.tap").read_bytes().replace(b"\n", b"\r\n")
    assert outcomes(by_id(data)) == outcomes(stored("node.tap"))
    assert outcomes(lines("1..1\n\x1b[32mok\x1b[0m 1 - a\n")) == {"a": P}


@pytest.mark.parametrize("data", [b"", b"PASS\n", b"ok\tm/p\t0.1s\n", b"  \xff\n", b"> shop@1.0.0 test\n> node x.js\n"])
def test_what_is_no_tap_is_one_error(data: bytes):
    with pytest.raises(Unreadable):
        tap.read(data)


def test_more_tests_than_can_be_kept_are_refused():
    with pytest.raises(Unreadable, match="run fewer"):
        tap.read(b"ok 1 - a\n" * (roll.MAX_NAMES + 1))


PIECES = st.sampled_from(
    """
ok 1 - a
not ok 2 - b
ok
not ok 1 - c {
ok 1 # SKIP
not ok 1 # TODO
}
1..2
# Subtest: s
# words
words
---
...
message: m
error: >-
at:
file: f.py
line: 3
location: 'a.js:1:2'
x.py:3: E
Bail out! x
TAP version 13
""".splitlines()
)
TEXTS = st.lists(
    st.builds(lambda depth, piece: " " * depth + piece, st.sampled_from([0, 2, 4, 6, 8, 12, 400]), PIECES), max_size=25
)


@given(st.binary(max_size=200) | TEXTS.map("\n".join).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes):
    try:
        trials = tap.read(data)
    except Unreadable:
        return
    assert len({trial.id for trial in trials}) == len(trials)
    for trial in trials:
        assert trial.id
        assert 0 <= trial.line < 10**9
        assert len(trial.text) <= failure_text.MAX_TEXT
        assert "\0" not in trial.id + trial.message + trial.text


@given(TEXTS)
def test_every_test_at_the_margin_is_told_or_stands_in_a_block(text: list[str]):
    try:
        trials = tap.read("\n".join(("1..1", *text)).encode())
    except Unreadable:
        return
    if "---" not in " ".join(text).split():
        margin = [line for line in text if line.split(" ")[0] in ("ok", "not")]
        assert len(trials) >= len(margin)


def test_the_node_that_is_here_is_understood(tmp_path: Path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    (tmp_path / "a.test.mjs").write_text(
        "import { describe, it } from 'node:test';\n"
        "describe('outer', () => {\n  it('works', () => {});\n  it('fails', () => { throw new Error('why'); });\n});\n"
    )
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", "a.test.mjs"], cwd=tmp_path, capture_output=True, check=False, timeout=60
    )
    trials = {trial.id.partition("a.test.mjs > ")[2] or trial.id: trial for trial in tap.read(done.stdout)}
    assert trials["outer > works"].outcome is P
    assert (trials["outer > fails"].outcome, trials["outer > fails"].message) == (F, "why")
    assert trials["outer > fails"].file.endswith("a.test.mjs")
    assert tap.WHOLE not in trials
