"""What judges of goals look at: wrongs put into code, public names, functions to compare, benchmarks as they are given."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.drive import Bench, Deadline
from reviewbot.evidence import faster, fresh, mutants, reproduce, surface, unchanged
from reviewbot.evidence.faster import NoBenchmark
from reviewbot.evidence.parsers import profile
from reviewbot.evidence.view import Benchmark, CheckOptions
from reviewbot.ports import Ended, Job, Outcome
from reviewbot.probes import reviewbot_stopwatch
from reviewbot.testing import FakeClock, FakeSandbox, Watching
from tests.evidence.lab import laid_out

CODE = b'''\
def free(cents: int = 50, names=("a",)):
    """Not a line of code."""
    if cents >= 50 and not names:
        return cents + 1
    names.sort()
    while cents in names:
        cents -= 1
    raise ValueError(f"{cents + 1}")
'''


def wrongs(data: bytes, lines: Sequence[int], most: int = 100) -> list[str]:
    return [wrong.told for wrong in mutants.mutants("a.py", data, lines, most=most)]


def test_wrongs_of_every_kind_are_put_into_the_lines_that_are_meant():
    assert wrongs(CODE, [3]) == [
        "`cents >= 50 and not names` becomes `(not (cents >= 50 and (not names)))`",
        "`cents >= 50 and not names` becomes `(cents >= 50 or not names)`",
        "`cents >= 50` becomes `(cents > 50)`",
        "`not names` becomes `(names)`",
        "`50` becomes `(51)`",
        "`50` becomes `(49)`",
    ]
    assert wrongs(CODE, [4]) == [
        "`return cents + 1` becomes `return None`",
        "`cents + 1` becomes `(cents - 1)`",
        "`1` becomes `(2)`",
        "`1` becomes `(0)`",
    ]
    assert wrongs(CODE, [5]) == ["`names.sort()` becomes `pass`"]
    assert wrongs(CODE, [8]) == ['`raise ValueError(f"{cents + 1}")` becomes `pass`']


def test_wrongs_are_spread_over_the_lines():
    found = mutants.mutants("a.py", CODE, [3, 4, 5], most=3)
    assert [wrong.line for wrong in found] == [3, 4, 5]


def test_a_wrong_changes_nothing_else():
    (wrong,) = mutants.mutants("a.py", CODE, [5], most=1)
    assert wrong.content == CODE.replace(b"names.sort()", b"pass")


@pytest.mark.parametrize(
    "data",
    [b"def f(:\n", b"\xef\xbb\xbfx = 1\n", "# coding: latin-1\nx = 'ä' == 1\n".encode("latin-1")],
    ids=["broken", "mark", "latin"],
)
def test_what_is_not_counted_in_bytes_as_we_do_gets_no_wrongs(data: bytes):
    assert wrongs(data, range(1, 9)) == []


def test_a_wrong_stands_where_it_is_meant_behind_letters_of_two_bytes_and_other_line_ends():
    data = "ä = 'ä' if 1 == 2 else 3\r\nb = 1\r\n".encode()
    found = {wrong.content for wrong in mutants.mutants("a.py", data, [1], most=9)}
    assert "ä = 'ä' if (1 != 2) else 3\r\nb = 1\r\n".encode() in found


@given(
    st.lists(
        st.sampled_from(["a = b + 1", "if a < b:\n    a()", "return_ = not a", "x = [1, 2][0]", "f(a, b=True)", "s = f'{a}'"])
    )
)
def test_every_wrong_is_a_program_and_differs(parts: list[str]):
    data = "\n".join(parts).encode()
    for wrong in mutants.mutants("a.py", data, range(1, 100), most=50):
        ast.parse(wrong.content)
        assert wrong.content != data


@given(st.binary(max_size=200))
def test_any_bytes_get_wrongs_or_none(data: bytes):
    for wrong in mutants.mutants("a.py", data, range(1, 20), most=5):
        ast.parse(wrong.content)


OLD = b"""\
import os
from shop._inner import helper

RATE = 3

class Cart(dict):
    size: int = 0

    def total(self, tax: bool = False) -> int:
        return 1

    def _secret(self):
        return 2

def price(cents, *, rate=RATE):
    return cents

def _hidden():
    return None
"""


def differences(new: bytes, old: bytes = OLD, path: str = "shop/prices.py") -> tuple[str, ...]:
    return surface.compared({path: old}, {path: new}).differences


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            b"def price(cents, *",
            b"def price(cents, tax, *",
            "`price` was `def(cents, *, rate=RATE)` and is `def(cents, tax, *, rate=RATE)`",
        ),
        (b"def price(", b"async def price(", "and is `async def("),
        (b"def price(", b"def cost(", "`price` is gone"),
        (b"def _hidden(", b"def shown(", "`shown` is new"),
        (b"class Cart(dict)", b"class Cart", "`Cart` was `class(dict)` and is `class()`"),
        (b"    def total(", b"    @property\n    def total(", "`Cart.total` was"),
        (b"size: int = 0", b"size: int", "`Cart.size` was `a field: int with a default`"),
        (b"RATE = 3\n", b"RATE = 3\nMORE = 4\n", "`MORE` is new"),
        (b"tax: bool = False", b"tax: bool = True", "`Cart.total` was"),
    ],
)
def test_another_public_name_is_told(old: bytes, new: bytes, told: str):
    assert old in OLD
    assert any(told in one for one in differences(OLD.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"return cents", b"return int(cents)"),
        (b"def _hidden(", b"def _other("),
        (b"    def _secret(self)", b"    def _secret(self, more)"),
        (b"import os\n", b"import os\nimport sys\n"),
        (b"RATE = 3", b"RATE = 1 + 2"),
    ],
)
def test_what_nobody_outside_sees_is_no_difference(old: bytes, new: bytes):
    assert differences(OLD.replace(old, new)) == ()


def test_all_says_what_is_public():
    exported = b"__all__ = ['price']\n" + OLD
    assert differences(exported.replace(b"class Cart", b"class Other"), exported) == ()
    assert differences(exported.replace(b"['price']", b"['price', 'Cart']"), exported)


def test_a_name_that_comes_from_another_changed_module_is_what_it_is_there():
    was = {"shop/a.py": b"def f(x):\n    return x\n", "shop/_b.py": None}
    now = {"shop/a.py": b"from shop._b import g as f\n", "shop/_b.py": b"def g(x):\n    return x\n"}
    assert surface.compared(was, now).differences == ()
    relative = now | {"shop/a.py": b"from ._b import g as f\n"}
    assert surface.compared(was, relative).differences == ()
    other = now | {"shop/_b.py": b"def g(x, y):\n    return x\n"}
    assert surface.compared(was, other).differences == ("shop/a.py: `f` was `def(x)` and is `def(x, y)`",)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.go", b"func Price(c int) int {\n", b"func Price(c int64) int {\n"),
        ("a.ts", b"export function price(c: number) {\n", b"export function cost(c: number) {\n"),
        ("a.rs", b"pub fn price(c: i32) {\n", b"fn price(c: i32) {\n"),
        ("A.java", b"  public int price() {\n", b"  int price() {\n"),
    ],
)
def test_lines_that_declare_for_others_are_compared_in_other_languages(path: str, old: bytes, new: bytes):
    assert differences(new, old, path)
    assert differences(old + b"  inner();\n", old, path) == ()


def test_what_cannot_be_read_is_not_known():
    assert surface.compared({"a.py": b"def f(:"}, {"a.py": b""}).unknown == ("a.py",)
    assert surface.compared({"a.xyz": b"1"}, {"a.xyz": b"2"}).unknown == ("a.xyz",)


@given(st.binary(max_size=120), st.sampled_from(["a.py", "a.go", "a.ts", "a.rs", "a.txt"]))
def test_any_bytes_offer_something_or_are_not_known(data: bytes, path: str):
    assert surface.compared({path: data}, {path: data}).differences == ()


PRIVATE = "def total(x: int) -> int:\n    return _add(x)\n\n\ndef _add(x: int) -> int:\n    return x + BASE\n\n\nBASE = 1\n\n\ndef other(x: int) -> int:\n    return x\n"


@pytest.mark.parametrize(
    ("old", "new", "compared"),
    [
        ("    return x + BASE", "    return BASE + x", ["shop/a.py:total"]),
        ("BASE = 1", "BASE = 2", ["shop/a.py:total"]),
        ("def other(x: int) -> int:\n    return x\n", 'def other(x: int) -> int:\n    """Said."""\n    return x\n', []),
        ("return _add(x)", "return _add(x) + 0", ["shop/a.py:total"]),
    ],
    ids=["a private function", "a variable", "a description", "a public function"],
)
def test_functions_that_others_may_call_are_compared(tmp_path: Path, old: str, new: str, compared: list[str]):
    view = laid_out(tmp_path, {"shop/a.py": PRIVATE}, {"shop/a.py": PRIVATE.replace(old, new)}, level="none").view
    assert list(unchanged.altered(view)) == compared


def test_procedures_run_side_by_side_and_keep_their_order():
    def counting(steps: int):
        for step in range(steps):
            outcomes = yield tuple(Job(f"{steps}:{step}:{n}", (), 1.0, executes=False) for n in range(steps))
            assert [outcome.reason for outcome in outcomes] == [f"{steps}:{step}:{n}" for n in range(steps)]
        return steps

    bench = Counting()
    assert bench.conduct(unchanged.side_by_side([counting(2), counting(0), counting(3)])) == (2, 0, 3)
    assert bench.rounds == 3


class Counting(Bench):
    """A bench on which every job says its name."""

    def __init__(self) -> None:
        super().__init__(FakeSandbox(), deadline=Deadline(FakeClock(), 1), observer=Watching(), cores=1)
        self.rounds = 0

    def run(self, jobs: Iterable[Job]) -> tuple[Outcome, ...]:
        self.rounds += 1
        return tuple(Outcome(Ended.EXITED, reason=job.name) for job in jobs)


CONFIGURED = CheckOptions(benchmarks=(Benchmark("sums", ("go", "test", "-bench", "."), "go-bench"),))


@pytest.mark.parametrize(
    ("words", "parser", "run"),
    [
        ("sums", "go-bench", ("go", "test", "-bench", ".")),
        ("hyperfine 'a b'", "hyperfine", ("{tool:hyperfine}", "a b", "--export-json", "{scratch}/benchmark.json")),
        ("go test -bench .", "go-bench", ("{tool:go}", "test", "-bench", ".")),
        (
            "pytest --benchmark-only x",
            "pytest-benchmark",
            ("{python}", "-m", "pytest", "--benchmark-only", "x", "--benchmark-json={scratch}/benchmark.json"),
        ),
    ],
)
def test_a_benchmark_is_known_by_its_name_or_its_command(words: str, parser: str, run: tuple[str, ...]):
    found = faster.meant(words, CONFIGURED)
    assert (found.parser, found.run) == (parser, run)


def test_of_any_other_command_the_time_is_taken_and_of_python_a_profile():
    plain, python = faster.meant("./bench 1", CONFIGURED), faster.meant("python bench.py", CONFIGURED)
    assert plain.run[-3:] == ("--", "./bench", "1")
    assert (plain.profile, python.profile[-3:]) == ((), ("--", "{python}", "bench.py"))


@pytest.mark.parametrize("words", ["", "  ", "a 'b"])
def test_what_is_no_command_is_one_error(words: str):
    with pytest.raises(NoBenchmark):
        faster.meant(words, CONFIGURED)


@pytest.mark.parametrize("path", ["bench.py", "benchmarks/a.py", "shop/bench/b.go", "tests/test_a.py"])
def test_what_is_measured_is_not_the_writers(path: str):
    assert faster.is_of_benchmark(path, faster.meant("python ./bench.py", CONFIGURED))
    assert not faster.is_of_benchmark("shop/a.py", faster.meant("python bench.py", CONFIGURED))


def stopped(folder: Path, *words: str) -> profile.TimingReport:
    report = folder / "report.json"
    subprocess.run([sys.executable, "-I", reviewbot_stopwatch.__file__, report, *words], cwd=folder, check=False)
    return profile.read(report.read_bytes())


def test_the_stopwatch_takes_the_time_and_a_profile(tmp_path: Path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "sums.py").write_text("def total():\n    return sum(range(200000))\n")
    (tmp_path / "bench.py").write_text("from shop.sums import total\ntotal()\n")
    found = stopped(tmp_path, "profile", "--", sys.executable, "bench.py")
    assert len(found.seconds) == 1
    assert ("shop/sums.py", 1, "total") in [(spot.path, spot.line, spot.function) for spot in found.profile.spots]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--", "/nosuch/program"), "it cannot be started"),
        (("--", sys.executable, "-c", "import sys; sys.exit('too bad')"), "it ended with 1: too bad"),
        (("profile", "--", sys.executable, "-c", "pass"), "only a Python program can be profiled"),
        (("profile", "--", "/bin/true"), "only a Python program can be profiled"),
    ],
)
def test_the_stopwatch_says_what_went_wrong(tmp_path: Path, words: tuple[str, ...], said: str):
    assert said in stopped(tmp_path, *words).error


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("AssertionError: assert 1 == 2", "AssertionError"),
        ("assert 1 == 2", "AssertionError"),
        ("Failed: DID NOT RAISE", "Failed"),
        ("shop.errors.TooBad: no", "TooBad"),
        ("KeyError", "KeyError"),
        ("", ""),
    ],
)
def test_the_exception_of_a_failure_is_known_by_its_message(message: str, name: str):
    assert reproduce.exception(message) == name


def test_a_report_of_the_stopwatch_is_one_of_times():
    data = json.dumps({"calls": 1, "seconds": [0.5], "profile": [], "error": ""}).encode()
    assert replace(profile.read(data), calls=1).seconds == (0.5,)


def run_of(**ends: str) -> Outcome:
    """A run of tests that ended so."""
    records: list[dict[str, object]] = [{"type": "start", "measured": True}]
    fields = {"file": "t.py", "line": 1, "phase": "call", "message": "", "frames": [], "text": "", "seconds": 0.0}
    records += [{"type": "test", "id": f"t.py::{name}", "outcome": end, **fields} for name, end in ends.items()]
    lines = [json.dumps(record | {"n": number}) for number, record in enumerate([*records, {"type": "finish"}])]
    report = ("\n".join(['{"type": "attempt", "number": 0}', *lines]) + "\n").encode()
    return Outcome(Ended.EXITED, 0, collected=(("report.jsonl", report),))


@pytest.mark.parametrize(
    ("first", "second", "before", "fault"),
    [
        ({"a": "passed"}, {"a": "failed"}, {}, "`t.py::a` does not end the same way each time"),
        ({"a": "skipped"}, {"a": "skipped"}, {}, "`t.py::a` does not pass at head: skipped"),
        ({"a": "failed"}, {"a": "failed"}, {}, "`t.py::a` does not pass at head: failed"),
        ({"a": "passed"}, {"a": "passed"}, {"a": "passed"}, "there is no new test in it"),
        ({"a": "passed"}, {}, {}, "`t.py::a` does not end the same way each time"),
        ({"a": "passed"}, {"a": "passed"}, {}, "they run no changed line"),
    ],
)
def test_tests_that_cannot_be_counted_say_why(tmp_path: Path, first: dict, second: dict, before: dict, fault: str):
    view = laid_out(tmp_path, {"shop/a.py": "A = 1\n"}, {"shop/a.py": "A = 2\n"}, level="none").view
    laid = fresh.Laid((("t.py", b""),), (), ("t.py",), (), frozenset())
    judging = fresh.conduct(laid, view, CheckOptions())
    assert len(next(judging)) == 3
    with pytest.raises(StopIteration) as end:
        judging.send((run_of(**first), run_of(**second), run_of(**before)))
    assert end.value.value.fault == fault


def test_tests_that_cannot_be_run_say_why(tmp_path: Path):
    view = laid_out(tmp_path, {"shop/a.py": "A = 1\n"}, {"shop/a.py": "A = 2\n"}, level="none").view
    judging = fresh.conduct(fresh.Laid((), (), ("t.py",), (), frozenset()), view, CheckOptions())
    next(judging)
    with pytest.raises(StopIteration) as end:
        judging.send((Outcome(Ended.TIMEOUT, reason="it took more than 60 s"),) * 3)
    assert end.value.value.fault == "they could not be run: it took more than 60 s"
