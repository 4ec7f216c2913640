"""Whether changed Python code still does what it did, and whether tests notice if it does not."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate

from msgspec import Struct

from reviewbot.proofs.search import compare_behaviour
from reviewbot.tasks.task import Judgement, Step
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify

MAX_FUNCTIONS = 20
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


def mutants_of(text: str, lines: Collection[int]) -> Iterator[Mutant]:
    """Defects on these lines, at most one for each node of the syntax tree."""
    raw = text.encode()
    starts = [0, *accumulate(map(len, raw.splitlines(keepends=True)))]
    for node in _executed(_parse(text)):
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
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            return value, ast.Constant(None)
    return None, None


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of annotations and decorators, of which few tests could notice a defect,
    and of f-strings, whose places are not known before Python 3.12.
    """
    yield node
    skipped = ("annotation", "returns", "decorator_list")
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_known = isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr)
            if is_known and name not in skipped:
                yield from _executed(child)


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


def _parse(content: str | bytes) -> ast.Module:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
