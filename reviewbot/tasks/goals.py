"""Tasks that are not about a finding: simpler code, faster code, more tests."""

import ast
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.evidence import Evidence, Report
from reviewbot.checks.project import Project, load_project
from reviewbot.checks.run import IDS, NO_TEST, job_of, read
from reviewbot.debate import prompts
from reviewbot.errors import UsageError
from reviewbot.git.change import Change
from reviewbot.proofs.search import compare_behaviour
from reviewbot.proofs.timing import THRESHOLD, compare_times, time_snippet
from reviewbot.tasks.gate import parse
from reviewbot.tasks.task import Judge, Judgement, Kind, Task
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify
from reviewbot.text.secrets import shown

MAX_MUTANTS, MAX_TEST_FILES, MAX_FUNCTIONS, MAX_ROWS = 10, 3, 20, 200
NO_CODE = ast.Module([], [])  # stands for a file that cannot be parsed
BRANCHES = (
    *(ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension),
    *(ast.BoolOp, ast.match_case, ast.Assert),
)
OPERATORS: dict[type[ast.AST], type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.And: ast.Or, ast.Or: ast.And},
}


class Mutant(Struct, frozen=True):
    """A text of a file with one defect, on a line (counted from 1). `words` say which."""

    line: int
    words: str
    text: str


class BenchmarkAnswer(Struct, frozen=True):
    """`source` defines `run()`, and if needed `setup()`; see probes/reviewbot_timing.py."""

    source: str


async def refactor(paths: Sequence[str], trials: Trials) -> Task:
    """Fewer branches or statements, with the same public names and the same behaviour."""

    async def judge(step: Change, evidence: Evidence) -> Judgement:
        changed = [file.path for file in step.files]
        before = size_of(await trials.repository.read_files(step.base_tree, changed))
        after = size_of(await trials.repository.read_files(step.head_tree, changed))
        words = f"{after[0]} branches and {after[1]} statements, before {before[0]} and {before[1]}"
        judgement = await judge_behaviour(step, evidence, trials)
        if any(new > old for new, old in zip(after, before, strict=True)) or after == before:
            return replace(judgement, unmet=(*judgement.unmet, f"It is not simpler: {words}."))
        return replace(judgement, facts=(f"{words[0].upper()}{words[1:]}.", *judgement.facts))

    return _task("refactor", "Simplify", paths, judge)


async def performance(paths: Sequence[str], trials: Trials) -> Task:
    """Faster in a benchmark that somebody else writes first, with the same behaviour."""
    files = {path: shown(content) for path, content in (await trials.read(paths)).items()}
    panel, writer = trials.panel, trials.panel.names[-1]
    text = prompts.render("benchmark", files=files)
    answers = await panel.ask_for([writer], "benchmark", text, trials.brief, BenchmarkAnswer)
    if not answers:
        raise UsageError(f"there is no benchmark: {panel.absences[-1].reason}")
    source = answers[0][1].source
    folder = await trials.folder_of(paths)
    try:
        timing = await time_snippet(source, trials.change.head_tree, trials.executor, folder)
    except ValueError as error:
        raise UsageError(f"the benchmark of {writer} does not run: {error}") from error

    async def judge(step: Change, evidence: Evidence) -> Judgement:
        judgement = await judge_behaviour(step, evidence, trials)
        if judgement.unmet:
            return judgement
        trees = step.base_tree, step.head_tree
        try:
            ratio = await compare_times(source, *trees, trials.executor, folder)
        except ValueError as error:
            return replace(judgement, unmet=(f"The benchmark does not run: {error}.",))
        if ratio.high >= 1 / THRESHOLD:
            # Other programs may have used the machine.
            doubt = "" if ratio.low >= 1 else "reliably "
            return replace(judgement, unmet=(f"It is not {doubt}faster: {ratio.words}.",))
        return replace(judgement, facts=(f"It is {ratio.words}.", *judgement.facts))

    return _task("performance", "Speed up", paths, judge, benchmark=source, timing=timing)


async def tests(paths: Sequence[str], trials: Trials) -> Task:
    """Tests that run a line that no test runs, or notice a defect that no test notices."""
    sources = [path for path in paths if classify(path) != "test"]
    tree = trials.change.head_tree
    project = await project_at(tree, trials)
    suites = [check for check in project.checks if IDS in check.command and check.report]
    suite = next((check for check in suites if all(map(check.covers, sources))), None)
    contents = await trials.read(sources)
    if suite is None or not contents:
        raise UsageError("there are no lines that a test could run")
    # All lines: coverage says which of them can be executed, and which tests run them.
    lines = {path: range(1, text.count(b"\n") + 2) for path, text in sorted(contents.items())}
    before = await run_suite(tree, suite, trials, lines)
    if before.problem or not any(before.statements.values()):
        reason = before.problem or "none of these lines can be measured"
        raise UsageError(f"nothing is known of the tests: {reason}")
    # What runs when a module is imported is run by no test.
    ran = [before.executed, *(test.lines for test in before.tests)]
    missing = {
        path: left
        for path, numbers in before.statements.items()
        if (left := set(numbers).difference(*(run.get(path, ()) for run in ran)))
    }
    survivors: list[tuple[str, Mutant]] = []
    if not missing:
        survivors = [
            (path, mutant)
            for path, mutant in _choose(contents, before.statements)
            if await _outcomes_with(tree, path, mutant, suite, (), trials) == before.outcomes
        ]
        if not survivors:
            raise UsageError("tests run every line of it, and notice every defect that was tried")

    async def judge(step: Change, _: Evidence) -> Judgement:
        changed = [file.path for file in step.files]
        if others := [path for path in changed if classify(path) not in ("test", "fixture")]:
            return Judgement(unmet=(f"It changes {others[0]}, which is no test.",))
        after = await run_suite(step.head_tree, suite, trials, lines)
        known = {test.id for test in before.tests}
        new = [test for test in after.tests if test.id not in known]
        if not new or any(test.outcome != "passed" for test in new):
            return Judgement(unmet=("Not every new test passes, or there is none.",))
        ids = tuple(test.id for test in new)
        ran = {path: {n for test in new for n in test.lines.get(path, ())} for path in contents}
        if not any(test.lines for test in after.tests):  # nobody told which test runs a line
            ran = {path: {*after.executed.get(path, ())} for path in contents}
        fresh = {path: tuple(sorted(ran[path] & missing.get(path, set()))) for path in contents}
        count = sum(map(len, fresh.values()))
        if missing and not count:
            return Judgement(unmet=("The new tests run no line that no test ran before.",))
        tried = list[str]()
        for path, mutant in _choose(contents, fresh) if missing else survivors:
            tried.append(f"{mutant.words} at {path}:{mutant.line}")
            outcomes = await _outcomes_with(step.head_tree, path, mutant, suite, ids, trials)
            if "failed" in outcomes.values():  # a file that cannot be imported is no test
                more = f"run {count} lines that no test ran, and " if count else ""
                return Judgement(facts=(f"The new tests {more}fail with {tried[-1]}.",))
        if not tried:
            return Judgement(unproven=("No defect could be tried on lines that only they run.",))
        return Judgement(unmet=(f"The new tests do not fail with {', nor with '.join(tried)}.",))

    code = {path: shown(content).split("\n") for path, content in contents.items()}
    rows = [f"{path}:{n} {code[path][n - 1]}" for path in missing for n in sorted(missing[path])]
    said = [f"{path}:{mutant.line}: {mutant.words}" for path, mutant in survivors]
    task = _task("tests", "Test", sources, judge, rows=rows[:MAX_ROWS], survivors=said)
    return replace(task, paths=(*sources, *await _tests_of(sources, trials)))


async def _tests_of(sources: Sequence[str], trials: Trials) -> list[str]:
    """Tests that show how modules are tested: best those that name them."""
    tests = [at for at in await trials.paths() if at.endswith(".py") and classify(at) == "test"]
    texts = await trials.read(tests)
    names = [PurePosixPath(path).stem.strip("_").encode() for path in sources]
    score = {at: sum(name in at.encode() + text for name in names) for at, text in texts.items()}
    best = sorted(filter(score.get, score), key=score.__getitem__, reverse=True)
    return (best or tests)[:MAX_TEST_FILES]


Prepare = Callable[[Sequence[str], Trials], Awaitable[Task]]
GOALS: Mapping[str, Prepare] = {"refactor": refactor, "performance": performance, "tests": tests}
REPAIR = "repair"  # a goal that is about no files


def _task(kind: Kind, title: str, paths: Sequence[str], judge: Judge, **details: object) -> Task:
    title = f"{title} {', '.join(paths)}"
    return Task(id=kind, kind=kind, title=title, paths=tuple(paths), details=details, judge=judge)


async def run_suite(
    tree: str,
    suite: Check,
    trials: Trials,
    lines: Mapping[str, Sequence[int]] = {},
    ids: tuple[str, ...] = (),
) -> Report:
    """The tests of a suite on a tree, all or some, and which of these lines they run."""
    project = await project_at(tree, trials)
    changed = {suite.relative(path): [*numbers] for path, numbers in lines.items()}
    job = job_of(suite, tree, project, ids=ids, inputs={"changed.json": changed})
    outcome, reason, report = read(suite, "head", await trials.executor.execute(job))
    return report if outcome == "ended" or reason == NO_TEST else replace(report, problem=reason)


async def project_at(tree: str, trials: Trials) -> Project:
    change = Change(base_tree=tree, head_tree=tree, files=())
    return await load_project(change, trials.repository, trials.checks)


def _choose(
    files: Mapping[str, bytes], lines: Mapping[str, Sequence[int]]
) -> list[tuple[str, Mutant]]:
    """Some mutants on these lines, far from each other."""
    found = [
        (path, mutant)
        for path, content in sorted(files.items())
        for mutant in mutants_of(content.decode("utf-8", "replace"), lines.get(path, ()))
    ]
    step = max(1, len(found) / MAX_MUTANTS)
    return [found[int(step * n)] for n in range(min(MAX_MUTANTS, len(found)))]


async def _outcomes_with(
    tree: str, path: str, mutant: Mutant, suite: Check, ids: tuple[str, ...], trials: Trials
) -> dict[str, str]:
    """What becomes of tests, all or some, with a defect."""
    changed = await trials.repository.make_tree(tree, {path: mutant.text.encode()})
    return (await run_suite(changed, suite, trials, ids=ids)).outcomes


async def judge_behaviour(step: Change, evidence: Evidence, trials: Trials) -> Judgement:
    """Public functions of changed files are called with the same arguments before and after.

    What is not called in that way counts as unchanged where tests run every changed line of it.
    """
    paths = [file.path for file in step.files if classify(file.path) != "documentation"]
    if tests := [path for path in paths if classify(path) == "test"]:
        return Judgement(unmet=(f"It changes the tests ({tests[0]}), which say what to keep.",))
    if others := [path for path in paths if not path.endswith(".py")]:
        return Judgement(unmet=(f"It changes {others[0]}, of which no behaviour is compared.",))
    before = await trials.repository.read_files(step.base_tree, paths)
    after = await trials.repository.read_files(step.head_tree, paths)
    folder = await trials.folder_of(paths)
    unmet, functions, others = list[str](), list[tuple[bool, str]](), list[str]()
    for path in paths:
        old, new = (_public_names(files.get(path, b"")) for files in (before, after))
        unmet += [f"The public name {name} is new in {path}." for name in sorted(set(new) - {*old})]
        file = path.removeprefix(f"{folder}/").removeprefix("src/").removesuffix(".py")
        module = file.removesuffix("/__init__").replace("/", ".")
        names = [name for name in old if name in new and isinstance(old[name], ast.FunctionDef)]
        same = {name for name in new if name in old and ast.dump(old[name]) == ast.dump(new[name])}
        others += sorted(old.keys() - same - {*names})  # classes, and what is asynchronous
        functions += [(name in same, f"{module}:{name}") for name in names]
    chosen = [name for _, name in sorted(functions)[:MAX_FUNCTIONS]]  # first what is changed itself
    found = await compare_behaviour(chosen, step.base_tree, step.head_tree, trials.executor, folder)
    unmet += [f"It changes behaviour: {c.words}." for c in found if c.before]
    left = [comparison for comparison in found if comparison.problem]
    is_partial = left or others or not found or len(functions) > MAX_FUNCTIONS
    unproven = list(_untested(step, evidence)) if is_partial else []
    if unproven:
        unproven += [f"{comparison.words}." for comparison in left]
    count = sum(c.count for c in found)
    facts = [f"{count:,} calls do the same as before."] if count else []
    return Judgement(unmet=tuple(unmet), unproven=tuple(unproven), facts=tuple(facts))


def size_of(files: Mapping[str, bytes]) -> tuple[int, int]:
    """How many branches and how many statements there are."""
    nodes = [node for content in files.values() for node in ast.walk(parse(content) or NO_CODE)]
    branches = sum(isinstance(node, BRANCHES) for node in nodes)
    texts = [n for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    return branches, sum(isinstance(node, ast.stmt) for node in nodes) - len(texts)


def mutants_of(text: str, lines: Collection[int]) -> Iterator[Mutant]:
    """Defects on these lines, at most one for each node of the syntax tree."""
    raw = text.encode()
    starts = [0, *accumulate(map(len, raw.splitlines(keepends=True)))]
    for node in _executed(parse(text) or NO_CODE):
        old, new = _change(node)
        if old is None or new is None or getattr(node, "lineno", 0) not in lines:
            continue
        start = starts[old.lineno - 1] + old.col_offset
        end = starts[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
        changed = raw[:start] + f"({ast.unparse(new)})".encode() + raw[end:]
        yield Mutant(old.lineno, f"`{ast.unparse(old)}` as `{ast.unparse(new)}`", changed.decode())


def _change(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    """What is replaced, and what by; None if the node has no defect."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=right):
            return node, ast.Compare(left, [OPERATORS[type(operator)]()], right)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            return node, ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(op=operator, values=values):
            return node, ast.BoolOp(OPERATORS[type(operator)](), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return node, operand
        case ast.Constant(value=bool(value)):
            return node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            return node, ast.Constant(value + 1)
        case ast.Return(value=ast.expr() as value) | ast.Assign(value=ast.expr() as value):
            return value, None if isinstance(value, ast.Constant) else ast.Constant(None)
    return None, None


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of annotations and decorators, of which few tests could notice a defect,
    and of f-strings, whose places are not known before Python 3.12.
    """
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_known = isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr)
            if is_known and name not in ("annotation", "returns", "decorator_list"):
                yield from _executed(child)


def _untested(step: Change, evidence: Evidence) -> Iterator[str]:
    """Changed lines that no test runs, and those that only go away, of which tests say nothing."""
    suites = [r.report for r in evidence.runs if r.side == "head" and r.kind == "test"]
    passed = [test for suite in suites for test in suite.tests if test.outcome == "passed"]
    for file in step.files:
        left = {n for suite in suites for n in suite.statements.get(file.path, ())}
        left &= file.added_lines
        left -= {n for test in passed for n in test.lines.get(file.path, ())}
        if left or not suites:
            place = f"{file.path}:{min(left)}" if left else file.path
            yield f"Nothing shows that behaviour is the same: no test runs {place}."
        runs = [(m, [*run]) for h in file.hunks for m, run in groupby(h.lines, lambda n: n.marker)]
        for (mark, lines), (after, _) in pairwise([*runs, ("", [])]):
            if mark == "-" and after != "+" and any(line.text.strip() for line in lines):
                yield f"No test shows that {file.path}:{lines[0].base} is not needed."


def _public_names(content: bytes) -> dict[str, ast.stmt]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = [node for node in (parse(content) or NO_CODE).body if isinstance(node, kinds)]
    return {node.name: node for node in nodes if not node.name.startswith("_")}
