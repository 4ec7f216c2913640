"""Whether changed Python code still does what it did."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from reviewbot.proofs.search import compare_behaviour
from reviewbot.tasks.task import Judgement, Step
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify

MAX_FUNCTIONS = 20
BRANCHES = (
    *(ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension),
    *(ast.BoolOp, ast.match_case, ast.Assert),
)


async def judge_behaviour(step: Step, trials: Trials) -> Judgement:
    """Public functions of changed files are called with the same arguments before and after.

    What is not called in that way counts as unchanged where tests run every changed line of it.
    """
    paths = [file.path for file in step.change.files if file.path.endswith(".py")]
    if tests := [path for path in paths if classify(path) == "test"]:
        return Judgement(unmet=(f"It changes the tests ({tests[0]}), which say what to keep.",))
    before = await trials.repository.read_files(step.before, paths)
    after = await trials.repository.read_files(step.after, paths)
    folder = await trials.folder_of(paths)
    unmet, functions, others = list[str](), list[str](), list[str]()
    for path in paths:
        old, new = (_public_names(files.get(path, b"")) for files in (before, after))
        unmet += [f"The public name {name} is new in {path}." for name in sorted(set(new) - {*old})]
        file = path.removeprefix(f"{folder}/").removeprefix("src/").removesuffix(".py")
        module = file.removesuffix("/__init__").replace("/", ".")
        names = [name for name in old if name in new and isinstance(old[name], ast.FunctionDef)]
        same = {name for name in new if name in old and ast.dump(old[name]) == ast.dump(new[name])}
        others += sorted(old.keys() - same - {*names})  # classes, and what is asynchronous
        functions += [f"{module}:{name}" for name in names]
    found = await compare_behaviour(
        functions[:MAX_FUNCTIONS], step.before, step.after, trials.executor, folder
    )
    unmet += [f"It changes behaviour: {c.words}." for c in found if c.before]
    left = [comparison for comparison in found if comparison.problem]
    is_partial = left or others or not found or len(functions) > MAX_FUNCTIONS
    unproven = list(_untested(step)) if is_partial else []
    if unproven:
        unproven += [f"{comparison.words}." for comparison in left]
    count = sum(c.count for c in found)
    facts = [f"{count:,} calls do the same as before."] if count else []
    return Judgement(unmet=tuple(unmet), unproven=tuple(unproven), facts=tuple(facts))


def size_of(files: Mapping[str, bytes]) -> tuple[int, int]:
    """How many branches and how many statements there are."""
    nodes = [node for content in files.values() for node in ast.walk(_parse(content))]
    branches = sum(isinstance(node, BRANCHES) for node in nodes)
    words = [node for node in nodes if isinstance(node, ast.Expr)]
    comments = sum(isinstance(node.value, ast.Constant) for node in words)  # docstrings
    return branches, sum(isinstance(node, ast.stmt) for node in nodes) - comments


def _untested(step: Step) -> Iterator[str]:
    """Changed lines that no test runs."""
    suites = [r.report for r in step.evidence.runs if r.side == "head" and r.kind == "test"]
    passed = [test for suite in suites for test in suite.tests if test.outcome == "passed"]
    for file in step.change.files:
        left = {n for suite in suites for n in suite.statements.get(file.path, ())}
        left &= file.added_lines
        left -= {n for test in passed for n in test.lines.get(file.path, ())}
        if left or not suites:
            place = f"{file.path}:{min(left)}" if left else file.path
            yield f"Nothing shows that behaviour is the same: no test runs {place}."


def _public_names(content: bytes) -> dict[str, ast.stmt]:
    """What a module defines at its top."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = {node.name: node for node in _parse(content).body if isinstance(node, kinds)}
    return {name: node for name, node in found.items() if not name.startswith("_")}


def _parse(content: bytes) -> ast.Module:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
