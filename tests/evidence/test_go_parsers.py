"""``go test -json`` and ``go test -bench``: events, the plain lines between them, and what is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import failure_text, go_bench, go_test, roll
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial

REPORTS = Path(__file__).parents[1] / "data" / "reports"
P, F, S, U = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED, TestOutcome.UNFINISHED
SHOP = "example.com/shop"


def by_id(data: bytes) -> dict[str, Trial]:
    trials = go_test.read(data)
    assert len({trial.id for trial in trials}) == len(trials)
    return {trial.id: trial for trial in trials}


def stored(name: str) -> dict[str, Trial]:
    return by_id((REPORTS / "go_test" / name).read_bytes())


def place(trial: Trial) -> tuple[str, int]:
    return trial.file, trial.line


def event(action: str, test: str = "", output: str = "", package: str = "m/p", **more: str) -> bytes:
    words = {"Action": action, "Package": package, "Test": test, "Output": output, **more}
    return json.dumps({key: word for key, word in words.items() if word}, separators=(",", ":")).encode() + b"\n"


def failing(*output: str) -> Trial:
    """A test that printed this and failed."""
    lines = b"".join(event("output", "TestX", line) for line in output)
    return by_id(event("run", "TestX") + lines + event("fail", "TestX") + event("fail"))["m/p.TestX"]


def test_each_test_is_told_with_its_package():
    assert {name: trial.outcome for name, trial in stored("go1.19.jsonl").items()} == {
        f"{SHOP}/broken": F,
        f"{SHOP}/cached.TestC": P,
        f"{SHOP}/calc.TestHalf": P,
        f"{SHOP}/calc.TestTable": F,
        f"{SHOP}/calc.TestTable/n=2": F,
        f"{SHOP}/calc.TestTable/n=3": F,
        f"{SHOP}/calc.TestTable/n=5": F,
        f"{SHOP}/calc.TestSkipped": S,
        f"{SHOP}/calc.TestNoNewline": P,
        f"{SHOP}/calc.TestHelper": F,
        f"{SHOP}/calc.ExampleHalf": F,
        f"{SHOP}/hang.TestBegins": U,
        f"{SHOP}/hang.TestBegins/sub": U,
        f"{SHOP}/initfail": F,
        f"{SHOP}/panics.TestFine": P,
        f"{SHOP}/panics.TestPanics": F,
        f"{SHOP}/panics.TestPanics/inner": F,
        f"{SHOP}/vetfail": F,
    }


def test_a_failure_says_what_the_test_said_first_and_where():
    trials = stored("go1.19.jsonl")
    helper = trials[f"{SHOP}/calc.TestHelper"]
    assert (place(helper), helper.message) == (("calc_test.go", 45), "ünicode ✓ \ufffd nul"), "NUL cannot be stored"
    skipped = trials[f"{SHOP}/calc.TestSkipped"]
    assert (place(skipped), skipped.message) == (("calc_test.go", 29), "no till: here")
    assert trials[f"{SHOP}/calc.ExampleHalf"].message == "got: 2"
    table = trials[f"{SHOP}/calc.TestTable/n=5"]
    assert "half of 5 is 2,\n        not the whole" in table.text
    assert "=== " not in table.text


def test_a_test_without_words_of_its_own_fails_for_its_first_subtest():
    trials = stored("go1.19.jsonl")
    assert place(trials[f"{SHOP}/calc.TestTable"]) == ("calc_test.go", 20)
    assert trials[f"{SHOP}/panics.TestPanics"].message == trials[f"{SHOP}/panics.TestPanics/inner"].message


def test_a_panic_is_placed_where_the_project_s_code_was():
    found = stored("go1.19.jsonl")[f"{SHOP}/panics.TestPanics/inner"]
    assert (place(found), found.message) == (("/src/panics/p_test.go", 10), "panic: assignment to entry in nil map [recovered]")


def test_a_package_that_is_not_built_is_a_group_with_the_compiler_s_words():
    trials = stored("go1.19.jsonl")
    groups = {name: (place(trial), trial.message) for name, trial in trials.items() if trial.is_group}
    assert groups == {
        f"{SHOP}/broken": (("broken/b.go", 4), "undefined: undefinedThing"),
        f"{SHOP}/vetfail": (("vetfail/v_test.go", 5), '(*testing.common).Errorf format %d has arg "x" of wrong type string'),
        f"{SHOP}/initfail": (("/src/initfail/i_test.go", 5), "panic: no init"),
    }


def test_without_standard_error_it_is_known_only_that_a_package_was_not_built():
    whole = (REPORTS / "go_test" / "go1.19.jsonl").read_bytes()
    standard_output = whole[whole.index(b"FAIL\t") :]
    broken = by_id(standard_output)[f"{SHOP}/broken"]
    assert (broken.outcome, broken.is_group, broken.file) == (F, True, "")
    assert "[build failed]" in broken.message


def test_a_package_that_fails_for_what_it_imports_is_told_what():
    data = (
        b"# m/dep\n./dep/d.go:3:2: undefined: x\nFAIL\tm/p [build failed]\n"
        + event("run", "TestQ", package="m/q")
        + event("pass", "TestQ", package="m/q")
        + event("pass", package="m/q")
    )
    trials = by_id(data)
    assert {name: (trial.outcome, place(trial)) for name, trial in trials.items()} == {
        "m/p": (F, ("dep/d.go", 3)),
        "m/q.TestQ": (P, ("", 0)),
    }


def test_a_compiler_s_words_alone_are_enough():
    (trial,) = go_test.read(b"# m/p [m/p.test]\n./x.go:3:2: undefined: x\n./x.go:9:2: too many errors\n")
    assert (trial.id, trial.outcome, trial.is_group, place(trial)) == ("m/p", F, True, ("x.go", 3))


def test_warnings_of_a_compiler_are_no_failure():
    data = b"# runtime/cgo\ngcc.c:3:2: warning: unused\n" + event("run", "TestX") + event("pass", "TestX") + event("pass")
    assert [trial.outcome for trial in go_test.read(data)] == [P]


def build_event(action: str, output: str = "") -> bytes:
    words = {"ImportPath": "m/p_test [m/p.test]", "Action": action, "Output": output}
    return json.dumps({key: word for key, word in words.items() if word}, separators=(",", ":")).encode() + b"\n"


BUILD = (
    build_event("build-output", "# m/p_test [m/p.test]\n")
    + build_event("build-output", "p/x_test.go:7:3: undefined: y\n")
    + build_event("build-fail")
)


def test_since_go_1_24_builds_have_events_of_their_own():
    data = (
        BUILD
        + event("start")
        + event("output", output="FAIL\tm/p [build failed]\n")
        + event("fail", FailedBuild="m/p_test [m/p.test]")
    )
    (trial,) = go_test.read(data)
    assert (trial.id, trial.outcome, trial.is_group) == ("m/p", F, True)
    assert (place(trial), trial.message) == (("p/x_test.go", 7), "undefined: y")


def test_a_build_that_failed_counts_though_the_rest_was_cut_off():
    (trial,) = go_test.read(BUILD)
    assert (trial.id, trial.outcome, trial.is_group) == ("m/p", F, True)


def test_a_test_that_ran_out_of_time_is_unfinished():
    trials = stored("timeout.jsonl")
    sub = trials[f"{SHOP}/hang.TestBegins/sub"]
    assert (sub.outcome, sub.message, place(sub)) == (U, "panic: test timed out after 1s", ("/src/hang/h_test.go", 5))
    assert set(trials) == {f"{SHOP}/hang.TestBegins", f"{SHOP}/hang.TestBegins/sub"}, "no group beside them"


def test_cached_tests_count_and_packages_without_tests_do_not():
    assert {name: trial.outcome for name, trial in stored("cached.jsonl").items()} == {f"{SHOP}/cached.TestC": P}


@pytest.mark.parametrize("kept", range(1, 7))
def test_a_report_that_was_cut_off_is_never_all_passed(kept: int):
    lines = (REPORTS / "go_test" / "cached.jsonl").read_bytes().splitlines(keepends=True)
    assert U in {trial.outcome for trial in go_test.read(b"".join(lines[:kept]))}


def test_a_package_that_failed_though_its_tests_passed_is_a_group():
    data = event("run", "TestX") + event("pass", "TestX") + event("output", output="exit status 3\n") + event("fail")
    trials = by_id(data)
    assert (trials["m/p"].outcome, trials["m/p"].is_group, trials["m/p"].message) == (F, True, "exit status 3")


@pytest.mark.parametrize(("said", "expected"), [("PASS", P), ("FAIL", F), ("SKIP", S)])
def test_an_end_hidden_behind_a_line_without_its_end_is_found(said: str, expected: TestOutcome):
    data = event("run", "TestX") + event("output", "TestX", f"no end--- {said}: TestX (0.00s)\n") + event("fail")
    assert by_id(data)["m/p.TestX"].outcome is expected


def test_in_a_package_that_passed_no_test_is_unfinished():
    assert by_id(event("run", "TestX") + event("pass"))["m/p.TestX"].outcome is P


def test_testify_s_reason_is_behind_its_trace():
    found = failing(
        "    x_test.go:9: \n",
        "        \tError Trace:\t/src/x_test.go:9\n",
        "        \tError:      \tNot equal: \n",
        "        \t            \texpected: 1\n",
    )
    assert (place(found), found.message) == (("x_test.go", 9), "Not equal: expected: 1")


def test_a_data_race_is_not_placed_in_go_s_own_code():
    found = failing(
        "WARNING: DATA RACE\n", "      /src/x.go:5 +0x1\n", "    testing.go:1312: race detected during execution of test\n"
    )
    assert (place(found), found.message) == (("/src/x.go", 5), "race detected during execution of test")


def test_a_test_run_several_times_is_told_each_time():
    once = event("run", "TestX") + event("pass", "TestX")
    again = event("run", "TestX") + event("fail", "TestX")
    trials = by_id(once + again + event("fail"))
    assert {name: trial.outcome for name, trial in trials.items()} == {"m/p.TestX": P, "m/p.TestX (2)": F}


def test_plain_lines_belong_to_the_package_that_follows():
    data = (
        event("start", package="m/a") + event("pass", package="m/a") + b"cannot load libx.so\r\n" + event("fail", package="m/b")
    )
    (trial,) = go_test.read(data)
    assert (trial.id, trial.message, trial.text) == ("m/b", "cannot load libx.so", "cannot load libx.so\n")


def test_words_before_an_event_on_its_line_do_not_hide_it():
    assert (
        by_id(b"no line end" + event("run", "TestX") + b"more" + event("fail", "TestX") + event("fail"))["m/p.TestX"].outcome is F
    )


def test_line_ends_of_windows_are_read():
    data = (REPORTS / "go_test" / "go1.19.jsonl").read_bytes()
    crlf = {trial.id: trial.outcome for trial in go_test.read(data.replace(b"\n", b"\r\n"))}
    assert crlf == {name: trial.outcome for name, trial in stored("go1.19.jsonl").items()}


@pytest.mark.parametrize("data", [b"", b"go: cannot find main module\n", b'{"Action":"run"}\n', b"[1]\n"])
def test_what_holds_no_event_is_one_error(data: bytes):
    with pytest.raises(Unreadable, match="go test -json"):
        go_test.read(data)


def test_the_error_says_what_the_go_command_said():
    with pytest.raises(Unreadable, match="cannot find main module"):
        go_test.read(b"go: cannot find main module\n")


def test_more_tests_than_can_be_kept_are_refused():
    runs = b"".join(event("run", f"Test{number}") for number in range(roll.MAX_NAMES + 1))
    with pytest.raises(Unreadable, match="run fewer"):
        go_test.read(runs)


ACTIONS = st.sampled_from(
    ["run", "pass", "fail", "skip", "output", "pause", "bench", "start", "build-output", "build-fail", "new"]
)
WORDS = st.text(max_size=6) | st.sampled_from(
    ["m/p", "TestX", "TestX/a", "panic: x\n", "    a.go:3: E\n", "FAIL\tm/p [build failed]\n"]
)
KEYS = st.sampled_from(["Package", "Test", "Output", "ImportPath", "FailedBuild", "Elapsed"])
EVENTS = st.builds(
    lambda action, words: json.dumps({"Action": action, **words}, separators=(",", ":")).encode(),
    ACTIONS,
    st.dictionaries(KEYS, WORDS | st.integers() | st.none(), max_size=5),
)
PLAIN = st.sampled_from([b"# m/p", b"# m/p [m/p.test]", b"./x.go:3:2: no", b"FAIL\tm/p [setup failed]", b"words", b"\xff\x00"])


@given(st.binary(max_size=200) | st.lists(EVENTS | PLAIN | st.binary(max_size=20), max_size=15).map(b"\n".join))
def test_any_bytes_are_read_or_refused(data: bytes):
    try:
        trials = go_test.read(data)
    except Unreadable:
        return
    assert len({trial.id for trial in trials}) == len(trials)
    assert all(trial.id and 0 <= trial.line < 10**9 and len(trial.text) <= failure_text.MAX_TEXT for trial in trials)
    assert all("\0" not in trial.text + trial.message for trial in trials)


@pytest.mark.ci
def test_the_go_that_is_here_is_understood(tmp_path: Path):
    go = shutil.which("go")
    if go is None:
        pytest.skip("no Go")
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.19\n")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "b_test.go").write_text('package bad\n\nimport "testing"\n\nfunc TestB(t *testing.T) { nothing() }\n')
    (tmp_path / "x_test.go").write_text(
        'package m\n\nimport "testing"\n\nfunc TestGood(t *testing.T) {}\n\nfunc TestBad(t *testing.T) {\n\tt.Error("why")\n}\n'
    )
    environment = {
        "PATH": f"{Path(go).parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "GOFLAGS": "-mod=mod",
        "GOTOOLCHAIN": "local",
    }
    done = subprocess.run(
        [go, "test", "-json", "./..."], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=300
    )
    trials = by_id(done.stderr + done.stdout)
    assert {name: trial.outcome for name, trial in trials.items()} == {"m/bad": F, "m.TestGood": P, "m.TestBad": F}
    assert (place(trials["m.TestBad"]), trials["m.TestBad"].message) == (("x_test.go", 8), "why")
    assert (place(trials["m/bad"]), trials["m/bad"].message) == (("bad/b_test.go", 5), "undefined: nothing")


def test_benchmarks_have_a_round_for_each_time_they_ran():
    timings = go_bench.read((REPORTS / "go_bench" / "count.txt").read_bytes())
    assert [(timing.name, len(timing.seconds)) for timing in timings] == [
        (f"{SHOP}/calc.BenchmarkHalf-2", 3),
        (f"{SHOP}/calc.BenchmarkSub/size-10-2", 3),
        (f"{SHOP}/calc.BenchmarkSub/size-100-2", 3),
    ]
    assert timings[2].seconds == pytest.approx((2.3311e-05, 2.352e-05, 1.9772e-05))


def test_what_a_benchmark_prints_does_not_hide_its_result():
    (timing,) = go_bench.read(b"BenchmarkX-2  \tlooking\n   1000\t  1234 ns/op\t 16 B/op\r\nPASS\n")
    assert (timing.name, timing.seconds) == ("BenchmarkX-2", (1.234e-06,))


def test_a_benchmark_with_measures_of_its_own_counts_its_time():
    (timing,) = go_bench.read(b"BenchmarkX \t 10 \t 5.5 ns/op \t 3 widgets/op\nBenchmarkY \t 10 \t 3 widgets/op\n")
    assert (timing.name, timing.seconds) == ("BenchmarkX", (5.5e-09,))


@pytest.mark.parametrize("data", [b"", b"PASS\nok  \tm/p\t0.1s\n", b"BenchmarkX-2\n--- FAIL: BenchmarkX-2\n"])
def test_no_benchmark_is_one_error(data: bytes):
    with pytest.raises(Unreadable, match="-bench"):
        go_bench.read(data)


PIECES = st.sampled_from(
    [b"BenchmarkX-2", b"Benchmark", b" 10 ", b"\t", b"12.5 ns/op", b"0 ns/op", b"pkg: m/p", b"\n", b"9" * 30]
)


@given(st.binary(max_size=100) | st.lists(PIECES, max_size=20).map(b"".join))
def test_any_bytes_are_timings_or_refused(data: bytes):
    try:
        timings = go_bench.read(data)
    except Unreadable:
        return
    assert all(timing.name and timing.seconds and min(timing.seconds) > 0 for timing in timings)
