"""Do the rings still catch bugs? Plant mutants, run the tests that execute the mutated line, and say who notices.

    python -m tests.mutation trace TRACE               which tests execute which lines of the targets (about as long as CI's ring)
    python -m tests.mutation run TRACE RESULTS         try 300 mutants; a second run goes on where the first one stopped
    python -m tests.mutation report RESULTS            figures, and the mutants that only the whole suite notices

``run`` changes files: call it in a clone made for it. ``--part 1/2`` and ``--part 2/2`` share the mutants between two clones;
``report`` takes several files of results. The whole suite here is every test with as many examples as at night, its commands
forked. Lines are traced in the process of the tests and in forked commands, not in true processes (hooks, the Action) or sandboxes.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

TOP = Path(__file__).parents[1]
PACKAGES = ("debate", "consensus", "autofix")
RECONCILIATION = ("anchors", "inline", "markers", "own", "plan", "protected", "runs", "state", "suggested")
COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
OPERATORS = {"+": "-", "-": "+", "*": "+", "//": "*", "/": "*", "%": "+", "|": "&", "&": "|"}
WORDS = {"True": "False", "False": "True", "and": "or", "or": "and", "any": "all", "all": "any", "min": "max", "max": "min"}
SECONDS = 60.0
"""Before a run of pytest counts as hanging: this, and so many times what its tests took when they were traced."""
TIMES = {"default": 4, "nightly": 20}


@dataclass(frozen=True)
class Mutant:
    """``new`` in the place of the bytes ``start`` to ``end`` of a file; ``statement`` is the first line of the innermost one."""

    path: str
    line: int
    statement: int
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.start} {self.old!r} -> {self.new!r}"


class Test(NamedTuple):
    """``seconds`` are those of the trace, ``is_property`` means that other rings try more examples."""

    name: str
    seconds: float
    is_default: bool
    is_property: bool


def targets() -> list[str]:
    """The files that are mutated, from the top of the tree."""
    found = [path for package in PACKAGES for path in (TOP / "reviewbot" / package).rglob("*.py")]
    found += [TOP / "reviewbot" / "publish" / f"{name}.py" for name in RECONCILIATION]
    return sorted(path.relative_to(TOP).as_posix() for path in found)


def mutants(path: str) -> Iterator[Mutant]:
    """Every mutant of a file: another comparison, operator, constant or quantifier, a condition negated, a statement left out."""
    source = Source(path)
    for node in ast.walk(source.tree):
        yield from source.operators(node)
        yield from source.values(node)
        yield from source.statements(node)


class Source:
    """The text of a file, and its mutants by node."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = (TOP / path).read_bytes()
        self.tree = ast.parse(self.text)
        statements = [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]
        self._statements = dict.fromkeys(range(self.text.count(b"\n") + 2), 0)
        for statement in sorted(statements, key=lambda node: node.lineno):
            self._statements |= dict.fromkeys(range(statement.lineno, (statement.end_lineno or 0) + 1), statement.lineno)
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def operators(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.Compare(left=left, comparators=rights):
                for one, other in zip([left, *rights], rights, strict=False):
                    yield from self._between(one, other, COMPARISONS)
            case ast.BinOp(left=left, right=right):
                yield from self._between(left, right, OPERATORS)
            case ast.BoolOp(values=values):
                yield from self._between(values[0], values[1], WORDS)

    def values(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                begin, end = self._span(node)[0], self._span(operand)[0]
                if self.text[begin:end] == b"not ":
                    yield self._mutant(node.lineno, begin, end, "")
            case ast.Constant(value=bool(value)):
                yield self._mutant(node.lineno, *self._span(node), str(not value))
            case ast.Constant(value=int(value)):
                yield self._mutant(node.lineno, *self._span(node), str(value + 1))
            case ast.Call(func=ast.Name(id=name)) if name in WORDS:
                yield self._mutant(node.lineno, *self._span(node.func), WORDS[name])

    def statements(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                begin, end = self._span(test)
                yield self._mutant(test.lineno, begin, end, f"not ({self.text[begin:end].decode()})")
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self._mutant(node.lineno, *self._span(value), "None")
            case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break() | ast.AugAssign():
                yield self._mutant(node.lineno, *self._span(node), "pass")

    def _mutant(self, line: int, start: int, end: int, new: str) -> Mutant:
        return Mutant(self.path, line, self._statements[line], start, end, self.text[start:end].decode(), new)

    def _span(self, node: Any) -> tuple[int, int]:
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _between(self, left: ast.expr, right: ast.expr, table: dict[str, str]) -> Iterator[Mutant]:
        begin, end = self._span(left)[1], self._span(right)[0]
        gap = self.text[begin:end].decode()
        if (word := gap.strip()) in table:
            begin += gap.index(word)
            yield self._mutant(left.end_lineno or 0, begin, begin + len(word), table[word])


class Tracer:
    """A pytest plugin: the lines of the targets that each test executes, and how long it takes."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        self._folder = folder
        self._seconds: dict[str, float] = {}
        self._properties: list[str] = []
        self._failed: list[str] = []
        self._options = {
            "include": [str(TOP / path) for path in targets()],
            "data_suffix": True,
            "data_file": str(folder / "lines"),
        }
        self._coverage = Coverage(**self._options, config_file=False)
        self._coverage.start()

    def pytest_runtest_setup(self, item: Any) -> None:
        from tests.conftest import FORK_SERVER

        self._coverage.switch_context(item.nodeid)
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            self._properties.append(item.nodeid)
        FORK_SERVER.coverage = {**self._options, "context": item.nodeid}

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        (self._folder / f"seconds.{os.getpid()}").write_text(
            json.dumps({"seconds": self._seconds, "properties": self._properties, "failed": self._failed})
        )


def pytest_configure(config: Any) -> None:
    """This module is a plugin of the runs that trace."""
    if (folder := os.environ.get("TRACE_FOLDER")) and (hasattr(config, "workerinput") or not config.getoption("numprocesses")):
        config.pluginmanager.register(Tracer(Path(folder)))


def pytest(*words: str, ring: str, seconds: float | None = None, **variables: str) -> int:
    """Run pytest in a process; its exit code, or -1 if it took longer."""
    environment = {**os.environ, "TEST_RING": ring, "TEST_FORKS": "1", **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:cpu-budget", *words]
    process = subprocess.Popen(
        command, cwd=TOP, env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def collected(ring: str) -> set[str]:
    """The ids of a ring's tests."""
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "--collect-only", "-q"]
    environment = {**os.environ, "TEST_RING": ring}
    done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def trace(file: Path) -> None:
    """Write which tests execute which lines: ``{"tests": [Test as a list], "lines": {path: {line: [number of a test]}}}``."""
    from coverage import CoverageData

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        pytest("-p", "tests.mutation", "-m", "ci or not ci", ring="default", TRACE_FOLDER=place)
        default, whole = collected("default"), collected("nightly")

        def name_of(node: str) -> str:
            """The id of a test, without the group that pytest-xdist adds to it."""
            return node if node in whole else node.rpartition("@")[0]

        seconds: dict[str, float] = defaultdict(float)
        properties: set[str] = set()
        failed: set[str] = set()
        for part in folder.glob("seconds.*"):
            measured = json.loads(part.read_text())
            properties |= {name_of(node) for node in measured["properties"]}
            failed |= {name_of(node) for node in measured["failed"]}
            for node, duration in measured["seconds"].items():
                seconds[name_of(node)] += duration
        # A test that fails without a mutant shows nothing.
        tests = [
            Test(name, round(duration, 3), name in default, name in properties)
            for name, duration in seconds.items()
            if name in whole and name not in failed
        ]
        print(
            f"{len(tests)} of {len(whole)} tests are traced; these fail and are left out: {', '.join(sorted(failed)) or 'none'}"
        )
        numbers = {test.name: number for number, test in enumerate(tests)}
        lines: dict[str, dict[int, set[int]]] = {path: defaultdict(set) for path in targets()}
        for part in folder.glob("lines*"):
            data = CoverageData(str(part))
            data.read()
            for name in data.measured_files():
                for line, contexts in data.contexts_by_lineno(name).items():
                    lines[Path(name).relative_to(TOP).as_posix()][line] |= {
                        numbers[name] for name in map(name_of, contexts) if name in numbers
                    }
    found = {path: {line: sorted(executed) for line, executed in of.items()} for path, of in lines.items()}
    file.write_text(json.dumps({"tests": tests, "lines": found}))


def catches(tests: Sequence[Test], ring: str) -> str | None:
    """Which of these tests fails, cheapest first; ``None`` if none does."""
    if not tests:
        return None
    with tempfile.TemporaryDirectory() as place:
        names, log = Path(place, "names"), Path(place, "log")
        names.write_text("\n".join(test.name for test in sorted(tests, key=lambda test: test.seconds)))
        seconds = SECONDS + TIMES[ring] * sum(test.seconds for test in tests)
        code = pytest("-n", "0", "-x", "-q", f"@{names}", f"--junit-xml={log}", ring=ring, seconds=seconds)
        if code == 0:
            return None
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        before = text.partition("<failure")[0] if "<failure" in text else text.partition("<error")[0]
        return {-1: "hangs", 1: before.rpartition('name="')[2].partition('"')[0]}.get(code, f"pytest ends with {code}")


def _covering(mutant: Mutant, lines: dict[str, list[int]]) -> list[int]:
    """The tests that execute the statement; for one that runs at import, those that execute anything of the file."""
    numbers = {number for line in {mutant.line, mutant.statement} for number in lines.get(str(line), [])}
    return sorted(numbers or {number for found in lines.values() for number in found})


def run(traced: Path, results: Path, count: int, seed: int, part: tuple[int, int]) -> None:
    """Try each mutant of this part that is not among the results yet."""
    known = json.loads(traced.read_text())
    tests = [Test(*one) for one in known["tests"]]
    sample = random.Random(seed).sample([mutant for path in targets() for mutant in mutants(path)], count)
    done = {json.loads(line)["name"] for line in results.read_text().splitlines()} if results.exists() else set()
    for mutant in sample[part[0] - 1 :: part[1]]:
        if mutant.name in done:
            continue
        covering = [tests[number] for number in _covering(mutant, known["lines"].get(mutant.path, {}))]
        default = [test for test in covering if test.is_default]
        others = [test for test in covering if not test.is_default or test.is_property]
        file = TOP / mutant.path
        before = file.read_bytes()
        file.write_bytes(before[: mutant.start] + mutant.new.encode() + before[mutant.end :])
        try:
            caught = catches(default, "default")
            whole = caught or catches(others, "nightly")
        finally:
            file.write_bytes(before)
        row = {
            "name": mutant.name,
            "tests": len(default),
            "all": len(covering),
            "default": caught,
            "whole": whole,
            **asdict(mutant),
        }
        with results.open("a", encoding="utf-8") as file_of_results:
            file_of_results.write(json.dumps(row) + "\n")
        print(f"{mutant.name}: {caught or (f'only the whole suite: {whole}' if whole else 'nobody')}", flush=True)


def report(files: Sequence[Path]) -> str:
    """The figures, and the mutants behind them."""
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    only_whole = [row for row in rows if not row["default"] and row["whole"]]
    nobody = [row for row in rows if not row["whole"]]
    default = len(rows) - len(only_whole) - len(nobody)
    packages = Counter(row["path"].split("/")[1] for row in rows)
    share = len(only_whole) / len(rows)
    lines = [f"{len(rows)} mutants (" + ", ".join(f"{name} {number}" for name, number in sorted(packages.items())) + ")"]
    lines.append(
        f"caught by the default ring {default}, only by the whole suite {len(only_whole)} ({share:.1%}), by nothing {len(nobody)}"
    )
    for title, some in (("Only the whole suite catches", only_whole), ("Nothing catches", nobody)):
        lines += ["", f"{title}:"]
        lines += [f"  {row['name']}" + (f"  ({row['whole']})" if row["whole"] else f"  ({row['all']} tests)") for row in some]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("trace", "run"):
        commands.add_parser(name).add_argument("trace", type=Path)
    running = commands.choices["run"]
    running.add_argument("results", type=Path)
    running.add_argument("--count", type=int, default=300)
    running.add_argument("--seed", type=int, default=1)
    running.add_argument("--part", default="1/1", help="K/N: every Nth mutant from the Kth")
    commands.add_parser("report").add_argument("results", type=Path, nargs="+")
    words = parser.parse_args()
    if words.command == "report":
        print(report(words.results))
    elif words.command == "trace":
        trace(words.trace)
    else:
        number, _, of = words.part.partition("/")
        run(words.trace, words.results, words.count, words.seed, (int(number), int(of)))


if __name__ == "__main__":
    main()
