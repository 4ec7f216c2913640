"""Small defects in Python code, to see whether tests notice them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from msgspec import Struct

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    **{ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")},
    **{ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in")},
    **{ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is")},
    **{ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*")},
    **{ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "+"), ast.And: ("and", "or")},
    **{ast.Or: ("or", "and")},
}


class Mutant(Struct, frozen=True):
    """A text of a file with one defect, on a line (counted from 1). `words` say which."""

    line: int
    words: str
    text: str


def mutants_of(text: str, lines: Collection[int]) -> Iterator[Mutant]:
    """Defects on these lines, at most one for each node of the syntax tree.

    Annotations and decorators are left out: few tests could notice.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    raw = text.encode()
    starts = [0]
    for row in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column

    for node in _executed(tree):
        line: int = getattr(node, "lineno", 0)
        if line not in lines:
            continue
        for start, end, old, new in _changes(node, offset):
            found = raw[start:end]
            if not old or found.count(old.encode()) == 1:
                replaced = found.replace(old.encode(), new.encode()) if old else new.encode()
                changed = (raw[:start] + replaced + raw[end:]).decode()
                shown = found.decode().strip() or old
                yield Mutant(line, f"`{shown}` as `{replaced.decode().strip()}`", changed)


def _changes(node: ast.AST, offset: object) -> Iterator[tuple[int, int, str, str]]:
    """Ranges of bytes, and what is replaced in them; the whole range if that is empty."""
    assert callable(offset)

    def end(part: ast.expr) -> int:
        return int(offset(part.end_lineno, part.end_col_offset))

    def start(part: ast.expr) -> int:
        return int(offset(part.lineno, part.col_offset))

    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield (end(left), start(right), *OPERATORS.get(type(operator), ("", "")))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            yield (end(left), start(right), *OPERATORS[type(operator)])
        case ast.BoolOp(op=operator, values=[left, right]):
            yield (end(left), start(right), *OPERATORS[type(operator)])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield start(node), start(operand), "", ""
        case ast.Constant(value=bool(value)):
            yield start(node), end(node), "", str(not value)
        case ast.Constant(value=int(value)):
            yield start(node), end(node), "", str(value + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield start(value), end(value), "", "None"


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of annotations and decorators."""
    yield node
    skipped = ("annotation", "returns", "decorator_list")
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if name not in skipped and isinstance(child, ast.AST):
                yield from _executed(child)
