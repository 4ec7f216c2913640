"""Reproductions of every kind, run in the real sandbox at base and head."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from conftest import Project
from lean import lean_environment
from msgspec.structs import replace

from reviewbot.checks.check import Language, probe
from reviewbot.checks.languages.python import PYTHON
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.proofs.proof import Kind, Proof, Reproduction, prove
from reviewbot.proofs.search import PROGRAM, Comparison, compare_behaviour
from reviewbot.proofs.timing import THRESHOLD, Ratio, ratio_of
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.executor import LocalExecutor
from reviewbot.sandbox.job import Completed, Job

BASE = """import random, time
MENDED, BROKEN = 9, 0
def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
def first(items: list[int]) -> int:
    return items[0]
def lengths(text):
    return [len(word) for word in text.split()]
def dice(sides: int) -> int:
    return random.randint(1, 10**9)
def extend(items: list[int]) -> None:
    items.append(1)
def only(*, name):
    return name
def last(items):
    return items[-1]
def start(items):
    return [*items][0]
def is_any(number: int) -> bool:
    return number > 0
def is_express(word):
    return word == "express"
def mended(number: int) -> int:
    time.sleep(MENDED * (number == 0))
    return number // 2
def broken(number: int) -> int:
    time.sleep(BROKEN * (number == 0))
    return number // 2
"""
HEAD = (
    BASE.replace("MENDED, BROKEN = 9, 0", "MENDED, BROKEN = 0, 9")
    .replace("max(low, min(value, high))", "max(low, min(value, high - 1))")
    .replace("return items[0]", "return items[0] if items else 0")
    .replace("items.append(1)", "items.append(2)")
    .replace("text.split()", "text.split(None)")
    .replace("items[-1]", "[*items][-1]")
    .replace("[*items][0]", "items[0]")
    .replace("number > 0", "number > 1")
    .replace('word == "express"', "False")
    + "\n\ndef added() -> int:\n    return 1\n"
)


TYPED = "def clamp(value: int, low: int, high: int) -> int:\n    return value\n"  # for mypy alone


@pytest.fixture(autouse=True)
def _fewer_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.proofs.search.EXAMPLES", 60)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("numbers"))
    below = "src/below.py"
    files = {"src/numbers_.py": BASE, "numbers_.py": BASE, "typed.py": TYPED, below: "X = 1\n"}
    needs = {  # what the project installed: beside our packages, and with its own interpreter
        "ours.py": "import only_here, sys\nif 'lean' in sys.prefix: raise ImportError\n",
        "its.py": "import only_here, sys\nif 'lean' not in sys.prefix: raise ImportError\n",
    }
    project.commit("Begin", files | {name: text + BASE for name, text in needs.items()})
    typed = TYPED.replace("-> int", "-> str") + "\n\ndef added() -> str:\n    return ''\n"
    files = {"numbers_.py": HEAD, "typed.py": typed, below: "X = 0\n"}
    project.commit("Change", files | {name: text + HEAD for name, text in needs.items()})
    return project


def run(
    project: Project, *reproductions: Reproduction, prefix: str = "", language: Language = PYTHON
) -> list[Proof]:
    """Args: prefix: the environment of the project, by default one that has pytest alone."""

    async def prove_all() -> list[Proof]:
        with Repository(project.folder) as repository:
            change = await repository.load_change("HEAD")
            variables = {"VIRTUAL_ENV": prefix or lean_environment(), **project.variables}
            environment = find_environment(project.folder, variables)
            with LocalExecutor(repository, Bubblewrap(environment), Journal()) as executor:
                proofs = [prove(r, "critic", change, language, executor) for r in reproductions]
                return list(await asyncio.gather(*proofs))

    return asyncio.run(prove_all())


def compare(project: Project, *functions: str) -> dict[str, Comparison]:
    async def run_search() -> dict[str, Comparison]:
        with Repository(project.folder) as repository:
            change = await repository.load_change("HEAD")
            environment = find_environment(project.folder, {"VIRTUAL_ENV": lean_environment()})
            with LocalExecutor(repository, Bubblewrap(environment), Journal()) as executor:
                trees = change.base_tree, change.head_tree
                found = await compare_behaviour(functions, *trees, executor)
                return {c.function.partition(":")[2]: c for c in found}

    return asyncio.run(run_search())


CLAMP = "from numbers_ import clamp\n\n\n"
CONTRACT = CLAMP + (
    "def spec_inside(value: int, low: int, high: int) -> None:\n"
    "    if low <= high:\n        assert low <= clamp(value, low, high) <= high\n"
    "        assert clamp(high, low, high) == high\n"
)
ROWS: dict[str, tuple[Kind, str, str]] = {
    "a property": (
        "test",
        "from hypothesis import given, strategies as st\nfrom numbers_ import clamp\n\n\n"
        "@given(st.integers(0, 9))\ndef test_it(high):\n    assert clamp(high, 0, high) == high\n",
        "proven",
    ),
    "a test of which a part is skipped": (
        "test",
        "import pytest\n\n\ndef test_a(): ...\n\n\n@pytest.mark.skip\ndef test_b(): ...\n",
        "inconclusive",
    ),
    "a script": ("script", f"{CLAMP}assert clamp(9, 0, 5) == 5\n", "proven"),
    "a script that ends in another way": (
        "script",
        f"{CLAMP}raise SystemExit(0 if clamp(9, 0, 5) == 5 else 7)\n",
        "inconclusive",
    ),
    "a script about what is new": (
        "script",
        "from numbers_ import added\n\nassert added() == 2\n",
        "only_at_head",
    ),
    "a script about what is below src": ("script", "import below\n\nassert below.X\n", "proven"),
    "types of what is new": ("types", "import typed\n\nx: int = typed.added()\n", "only_at_head"),
    "types that held": ("types", "import typed\n\nx: int = typed.clamp(1, 2, 3)\n", "proven"),
}
SEARCHES: dict[str, tuple[Kind, str, str]] = {
    "a contract": ("contract", CONTRACT, "proven"),
    "a contract without types": (
        "contract",
        f"{CLAMP}def spec_it(value):\n    assert clamp(value, 0, 5) == value\n",
        "inconclusive",
    ),
    "a contract that is itself wrong": (
        "contract",
        f"{CLAMP}def spec_it(value: int) -> None:\n    assert clamp(value, 0, 5) / 0\n",
        "inconclusive",
    ),
    "a contract that CrossHair breaks": (
        "contract",
        f"{CLAMP}def spec_it(value: int) -> None:\n"
        "    if value * 7 == 86415:\n        assert clamp(value, 0, value) == value\n",
        "proven",
    ),
    "other behaviour": ("behaviour", "numbers_:clamp", "proven"),
    "an exception that is gone": ("behaviour", "numbers_:first", "proven"),
}
BENCHMARKS: dict[str, tuple[Kind, str, str]] = {
    "faster by far": (
        "benchmark",
        "from numbers_ import start as run\n\n\ndef setup():\n    return ([None] * 10**6,)\n",
        "refuted",
    ),
    "slower by far": (
        "benchmark",
        "from numbers_ import last as run\n\n\ndef setup():\n    return ([None] * 10**6,)\n",
        "proven",
    ),
    "a benchmark that fails": ("benchmark", "def run():\n    raise OSError\n", "inconclusive"),
}


def prove_rows(project: Project, rows: Mapping[str, tuple[Kind, str, str]]) -> dict[str, Proof]:
    """The proofs of all rows, which are what the rows say."""
    made = {n: Reproduction(language="python", kind=k, source=s) for n, (k, s, _) in rows.items()}
    needy = [name for name in rows if "types" in name or name == "a property"]
    others = [name for name in rows if name not in needy]
    proofs = dict(zip(others, run(project, *map(made.__getitem__, others)), strict=True))
    found = run(project, *map(made.__getitem__, needy), prefix=sys.prefix)
    proofs |= zip(needy, found, strict=True)
    results: dict[str, str] = {name: proof.result for name, proof in proofs.items()}
    wrong = {n: p.output for n, p in proofs.items() if results[n] != rows[n][2]}
    assert results == {name: result for name, (_, _, result) in rows.items()}, wrong
    return proofs


SAID = (
    "of 0x7f3a51c0 in 1.25s",
    "\x1b[32m✓ adds\x1b[0m (21ms)",
    "--- FAIL: TestAdd (0.01s)",
    "FAIL\tshop\t0.003s",
    "Time:        12.266 s, estimated 2 s",
    "Start at  13:14:10",
    "duration_ms 81.5",
    "goroutine 18 [running]:",
    "thread 'adds' (57) panicked at src/lib.rs:3:5:",
)


def test_neither_colours_nor_what_differs_from_run_to_run_are_output(numbers: Project) -> None:
    (proof,) = run(
        numbers,
        Reproduction(language="python", kind="script", source=f"print(*{SAID!r}, sep='\\n')\n1/0"),
    )
    assert proof.output.split("\n")[: len(SAID)] == [
        "of 0x… in …",
        "✓ adds (…)",
        "--- FAIL: TestAdd (…)",
        "FAIL\tshop\t…",
        "Time:…",
        "Start at…",
        "duration_ms…",
        "goroutine … [running]:",
        "thread 'adds' (…) panicked at src/lib.rs:3:5:",
    ]


def test_what_each_kind_proves(numbers: Project) -> None:
    prove_rows(numbers, ROWS)


def test_what_is_proven_by_a_search(numbers: Project) -> None:
    proofs = prove_rows(numbers, SEARCHES)

    found = proofs["other behaviour"].reproduction
    assert found.kind == "test"
    assert "def test_clamp_does_what_it_did():\n    assert clamp(*(" in found.source
    gone = proofs["an exception that is gone"].reproduction.source
    assert "with pytest.raises(IndexError):\n        first(*([],))" in gone
    counterexample = proofs["a contract"].reproduction.source
    assert "def test_counterexample():\n    spec_inside(*(" in counterexample
    assert "value has no type" in proofs["a contract without types"].output


def test_what_benchmarks_prove(numbers: Project) -> None:
    proofs = prove_rows(numbers, BENCHMARKS)

    (factor,) = re.findall(r"(\S+) times as slow", proofs["slower by far"].output)
    assert int(factor.replace(",", "")) >= 100


def test_a_busy_machine_proves_nothing() -> None:
    """Not even if each round happens to be slower at the head."""
    before, after = [1.0, 1.0, 1.1, 1.6, 1.0], [1.2, 1.15, 1.3, 1.8, 1.9]
    pairs = [new / old for old, new in zip(before, after, strict=True)]
    assert min(pairs) > THRESHOLD

    ratio = ratio_of(before, after)
    assert (ratio.low, ratio.middle, ratio.high) == (1.15 / 1.6, 1.3, 1.9)
    assert ratio_of([1.0, 1.2], [3.0, 6.0]).low == 2.5


class Clock:
    """A machine on which rounds at base and head take these seconds."""

    def __init__(self, **seconds: Sequence[float]) -> None:
        self.seconds = seconds

    async def execute(self, job: Job) -> Completed:
        timing = {"calls": 1, "seconds": self.seconds[job.tree][job.attempt - 1]}
        return Completed(outcome="ended", exit_code=0, report=json.dumps(timing).encode())


def test_a_benchmark_proves_something_only_if_all_rounds_agree() -> None:
    change = Change(base_tree="base", head_tree="head", files=())
    for base, head, outcome in (
        ((1, 1, 1), (1.2, 1.3, 1.2), "fails"),
        ((1, 1, 1), (1.05, 1, 1), "passes"),
        ((1, 1, 1), (1.05, 1.3, 1.3), "unstable"),
        ((1, 1, 1.2), (1.3, 1.3, 1.3), "unstable"),
    ):
        reproduction = Reproduction(language="python", kind="benchmark", source="")
        clock: Any = Clock(base=base, head=head)
        proof = asyncio.run(prove(reproduction, "critic", change, PYTHON, clock))
        assert proof.head == outcome, (base, head)
        assert (proof.result == "proven") == (outcome == "fails")


def test_how_a_factor_is_said() -> None:
    for ratio, words in (
        ((3.214, 2.9, 3.4), "3.21 times as slow (2.9 to 3.4 in 3 rounds)"),
        ((0.25, 0.2, 0.5), "4 times as fast (2 to 5 in 3 rounds)"),
        ((1234.5, 99.94, 20_000), "1,234 times as slow (99.9 to 20,000 in 3 rounds)"),
    ):
        middle, low, high = ratio
        assert Ratio(middle=middle, low=low, high=high).words == words


def test_what_is_compared_and_what_is_not(
    numbers: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program,) = probe(PROGRAM).values()
    quick = program.replace("SECONDS = 2.0", "SECONDS = 0.5")  # of one call
    monkeypatch.setattr("reviewbot.proofs.search.probe", lambda name: {name: quick})
    names = ("lengths", "dice", "extend", "only", "is_any", "is_express", "mended", "broken", "nil")
    found = compare(numbers, *(f"numbers_:{name}" for name in names))
    found |= compare(numbers, "ours:clamp", "its:first")

    assert found["clamp"].before
    assert found["first"].before
    words = {name: comparison.words for name, comparison in found.items()}
    assert words["lengths"].startswith("numbers_.lengths does the same in ")
    assert found["lengths"].count > 20
    assert words["dice"].endswith("was not compared: no arguments were found that it takes")
    assert "changes its arguments to tuple(list(1)) before, and" in words["extend"]
    assert words["only"].endswith("was not compared: TypeError: name can only be passed by name")
    assert "was not compared: AttributeError: " in words["nil"]
    # The values at which code decides are rare among all that there are.
    assert words["is_any"] == "numbers_.is_any(1,) returns True before, and returns False now"
    assert "is_express('express',) returns True before" in words["is_express"]
    # That a call returns only now is no difference.
    assert (found["mended"].before, found["mended"].count > 0) == (None, True), found
    late = "returns 0 before, and does not return within 0.5 s now"
    assert words["broken"] == f"numbers_.broken(0,) {late}"


def test_who_wrote_a_test_that_takes_too_long_is_told(numbers: Project) -> None:
    slow = "import time\n\n\ndef test_it():\n    time.sleep(60)\n"
    reproduction = Reproduction(language="python", source=slow)
    (proof,) = run(numbers, reproduction, language=replace(PYTHON, test_seconds=2))
    assert (proof.head, proof.result) == ("does_not_run", "inconclusive")
    assert "2 s" in proof.output
