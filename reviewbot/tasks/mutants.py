"""Small defects in Python code, to see whether tests notice them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import accumulate

from msgspec import Struct

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


def mutants_of(text: str, lines: Collection[int]) -> Iterator[Mutant]:
    """Defects on these lines, at most one for each node of the syntax tree."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    raw = text.encode()
    starts = [0, *accumulate(map(len, raw.splitlines(keepends=True)))]
    for node in _executed(tree):
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
