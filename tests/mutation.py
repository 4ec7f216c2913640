"""Do the rings still catch bugs? Plant mutants, run the tests that execute the mutated line, and say who notices.

    python -m tests.mutation trace TRACE              which tests execute which lines of the targets (40 minutes on 2 cores)
    python -m tests.mutation run TRACE RESULTS        300 mutants, each against those tests of the default ring that are nearest to it
    python -m tests.mutation rest TRACE RESULTS...    those that are left, together, against the default ring and then everything
    python -m tests.mutation report RESULTS...        figures, and the mutants that only the whole suite notices

``run`` and ``rest`` change files: call them in a clone made for it. ``run --part 1/2`` and ``run --part 2/2`` share the mutants
between two clones; a second ``run`` goes on where the first one stopped.

``rest`` plants all mutants that are left at once, runs every test that executes one of them, and searches for the mutant with which
alone a failed test still fails; without that one it starts again, until nothing fails that a single mutant explains. What fails
only with several mutants together counts as not caught.

The whole suite here is every test with as many examples as at night, its commands forked. Lines are traced in the process of the
tests and in forked commands, not in true processes (hooks, the Action) or sandboxes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
NEAREST = 60
"""So many tests each mutant meets alone."""


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

    def overlaps(self, other: Mutant) -> bool:
        return self.path == other.path and self.start < other.end and other.start < self.end


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


class Failures:
    """A pytest plugin: write the id of each test that fails, and of each file that cannot be collected."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and report.nodeid:
            with self._file.open("a", encoding="utf-8") as names:
                names.write(report.nodeid + "\n")

    pytest_collectreport = pytest_runtest_logreport


def pytest_configure(config: Any) -> None:
    """This module is a plugin of the runs of pytest that it starts."""
    if (folder := os.environ.get("TRACE_FOLDER")) and (hasattr(config, "workerinput") or not config.getoption("numprocesses")):
        config.pluginmanager.register(Tracer(Path(folder)))
    if (file := os.environ.get("FAILURES")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(Path(file)))


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


def trace(file: Path, paths: Sequence[str]) -> None:
    """Write which tests execute which lines: ``{"tests": [Test as a list], "lines": {path: {line: [number of a test]}}}``.

    ``paths`` are those of the tests; none means all.
    """
    from coverage import CoverageData

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        pytest("-p", "tests.mutation", "-m", "ci or not ci", *paths, ring="default", TRACE_FOLDER=place)
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


def failures(tests: Iterable[Test], ring: str, *, stop: bool = False, workers: int = 0) -> list[str]:
    """The ids of those tests that fail, cheapest first and only the first one with ``stop``; ``["hangs"]`` if they do not end."""
    known = {test.name: test for test in tests}
    if not known:
        return []
    with tempfile.TemporaryDirectory() as place:
        names, failed = Path(place, "names"), Path(place, "failed")
        names.write_text("\n".join(sorted(known, key=lambda name: known[name].seconds)))
        words = ["-p", "tests.mutation", "-n", str(workers), "-q", f"@{names}", *(["-x"] if stop else [])]
        seconds = SECONDS + TIMES[ring] * sum(test.seconds for test in known.values())
        code = pytest(*words, ring=ring, seconds=seconds, FAILURES=str(failed))
        found = failed.read_text().splitlines() if failed.exists() else []
    if code == 0:
        return []
    if code == -1:
        return ["hangs"]
    return [name if name in known else name.rpartition("@")[0] for name in found] or [f"pytest ends with {code}"]


@contextlib.contextmanager
def planted(some: Iterable[Mutant]) -> Iterator[None]:
    """The files with these mutants, which do not overlap."""
    before: dict[Path, bytes] = {}
    try:
        # From the end of a file to its beginning, so that the places of the others stay.
        for mutant in sorted(some, key=lambda mutant: mutant.start, reverse=True):
            file = TOP / mutant.path
            text = file.read_bytes()
            before.setdefault(file, text)
            file.write_bytes(text[: mutant.start] + mutant.new.encode() + text[mutant.end :])
        yield
    finally:
        for file, text in before.items():
            file.write_bytes(text)


class Trace:
    """What ``trace`` has written."""

    def __init__(self, file: Path) -> None:
        known = json.loads(file.read_text())
        self.tests = [Test(*one) for one in known["tests"]]
        self._lines: dict[str, dict[str, list[int]]] = known["lines"]
        self._executed = Counter(number for lines in self._lines.values() for some in lines.values() for number in some)

    def covering(self, mutant: Mutant) -> list[Test]:
        """The tests that execute the statement; those that execute little else come first.

        A statement that runs at import has those that execute anything of its file, or of its folder.
        """
        lines = self._lines.get(mutant.path, {})
        numbers = {number for line in {mutant.line, mutant.statement} for number in lines.get(str(line), [])}
        numbers = numbers or self._in_folder(mutant.path) or self._in_folder(mutant.path.rpartition("/")[0])
        return [self.tests[number] for number in sorted(numbers, key=lambda number: (self._executed[number], number))]

    def _in_folder(self, folder: str) -> set[int]:
        found = (lines for path, lines in self._lines.items() if path == folder or path.startswith(f"{folder}/"))
        return {number for lines in found for some in lines.values() for number in some}


def result(mutant: Mutant, ring: str | None, test: str | None) -> str:
    return json.dumps({"mutant": asdict(mutant), "ring": ring, "test": test}) + "\n"


def results(files: Iterable[Path]) -> dict[Mutant, tuple[str | None, str | None]]:
    """The ring that catches a mutant, the first one if there are several, and the test that fails."""
    rows = [json.loads(line) for file in files if file.exists() for line in file.read_text().splitlines()]
    found: dict[Mutant, tuple[str | None, str | None]] = {}
    for row in rows:
        mutant = Mutant(**row["mutant"])
        if not found.get(mutant, (None, None))[0]:
            found[mutant] = (row["ring"], row["test"])
    return found


def run(traced: Path, file: Path, count: int, seed: int, part: tuple[int, int]) -> None:
    """Try each mutant of this part that is not among the results yet."""
    trace = Trace(traced)
    sample = random.Random(seed).sample([mutant for path in targets() for mutant in mutants(path)], count)
    done = results([file])
    for mutant in sample[part[0] - 1 :: part[1]]:
        if mutant in done:
            continue
        nearest = [test for test in trace.covering(mutant) if test.is_default][:NEAREST]
        with planted([mutant]):
            caught = failures(nearest, "default", stop=True)
        with file.open("a", encoding="utf-8") as rows:
            rows.write(result(mutant, "default" if caught else None, caught[0] if caught else None))
        print(f"{mutant.name}: {caught[0] if caught else 'left'}", flush=True)


def rest(traced: Path, files: Sequence[Path]) -> None:
    """Add to the first file which of the mutants that are left the default ring catches, and which only the whole suite."""
    trace = Trace(traced)
    for ring in ("default", "nightly"):
        left = [mutant for mutant, (caught, _) in results(files).items() if not caught]
        while left:
            # Two mutants of the same place cannot be planted at once.
            together = [one for n, one in enumerate(left) if not any(one.overlaps(other) for other in left[:n])]
            for mutant, test in attributed(together, trace, ring):
                with files[0].open("a", encoding="utf-8") as rows:
                    rows.write(result(mutant, ring, test))
                print(f"{mutant.name}: {ring}: {test}", flush=True)
            left = [mutant for mutant in left if mutant not in together]


def attributed(some: Sequence[Mutant], trace: Trace, ring: str) -> Iterator[tuple[Mutant, str]]:
    """The mutants that this ring catches, each with a test that fails with it alone."""
    covering = {mutant: set(trace.covering(mutant)) for mutant in some}
    if ring == "default":
        chosen = {test for test in trace.tests if test.is_default}
    else:
        chosen = {test for test in trace.tests if not test.is_default or test.is_property}
    suspects = chosen & set().union(*covering.values())
    while suspects and covering:
        print(f"{ring}: {len(covering)} mutants, {len(suspects)} tests", flush=True)
        with planted(covering):
            found = failures(suspects, ring, workers=3)
        if found and not {test.name for test in suspects} & set(found):
            raise RuntimeError(f"{len(covering)} mutants together tell nothing of any one of them: {', '.join(found)}")
        suspects = {test for test in suspects if test.name in found}
        while suspects:
            test = min(suspects, key=lambda test: test.seconds)
            guilty = culprit(test, [mutant for mutant, tests in covering.items() if test in tests], ring)
            if guilty:
                del covering[guilty]
                yield guilty, test.name
                break
            print(f"no mutant alone: {test.name}", flush=True)
            suspects.remove(test)


def culprit(test: Test, some: Sequence[Mutant], ring: str) -> Mutant | None:
    """One of these mutants with which alone the test fails; ``None`` where it takes several, or none."""

    def fails(planting: Sequence[Mutant]) -> bool:
        with planted(planting):
            return bool(failures([test], ring))

    if fails([]):
        return None
    while len(some) > 1:
        middle = len(some) // 2
        some = next((half for half in (some[:middle], some[middle:]) if fails(half)), [])
    return some[0] if some and fails(some) else None


def report(files: Sequence[Path]) -> str:
    """The figures, and the mutants behind them."""
    found = results(files)
    rings = Counter(ring for ring, _ in found.values())
    packages = Counter(mutant.path.split("/")[1] for mutant in found)
    only_whole = f"{rings['nightly']} ({rings['nightly'] / len(found):.1%})"
    lines = [
        f"{len(found)} mutants (" + ", ".join(f"{name} {number}" for name, number in sorted(packages.items())) + ")",
        f"caught by the default ring {rings['default']}, only by the whole suite {only_whole}, by nothing {rings[None]}",
    ]
    for title, wanted in (("Only the whole suite catches", "nightly"), ("Nothing catches", None)):
        lines += ["", f"{title}:"]
        lines += [
            f"  {mutant.name}" + (f"  ({test})" if test else "") for mutant, (ring, test) in found.items() if ring == wanted
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("trace", "run", "rest"):
        commands.add_parser(name).add_argument("trace", type=Path)
    commands.choices["trace"].add_argument("tests", nargs="*", help="paths of tests to trace (default: all)")
    running = commands.choices["run"]
    running.add_argument("results", type=Path)
    running.add_argument("--count", type=int, default=300)
    running.add_argument("--seed", type=int, default=1)
    running.add_argument("--part", default="1/1", help="K/N: every Nth mutant from the Kth")
    commands.choices["rest"].add_argument("results", type=Path, nargs="+")
    commands.add_parser("report").add_argument("results", type=Path, nargs="+")
    words = parser.parse_args()
    match words.command:
        case "trace":
            trace(words.trace, words.tests)
        case "run":
            number, _, of = words.part.partition("/")
            run(words.trace, words.results, words.count, words.seed, (int(number), int(of)))
        case "rest":
            rest(words.trace, words.results)
        case "report":
            print(report(words.results))


if __name__ == "__main__":
    main()
