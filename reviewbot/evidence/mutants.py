"""Small wrongs put into Python code on purpose: a test that notices none of them on a line says nothing of that line.

The operators are the sufficient ones of Offutt et al. 1996 (https://doi.org/10.1145/227607.227610) as far as Python has them,
and statement deletion (Deng, Offutt and Li 2013, https://doi.org/10.1109/ICST.2013.20).
"""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from reviewbot.evidence import shown
from reviewbot.evidence.statements import parse

LONGEST_TOLD = 60


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file with one wrong in it, on ``line``; ``told`` says which."""

    path: str
    line: int
    told: str
    content: bytes


@dataclass(frozen=True, slots=True)
class _Change:
    """A part of the syntax tree, and what stands there instead."""

    node: ast.expr | ast.stmt
    text: str


_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_DELETED = (ast.Assign, ast.AugAssign, ast.Raise, ast.Delete, ast.Expr)
_UNTOUCHED = ("annotation", "returns", "decorator_list", "type_params")
"""Parts of a tree in which a wrong is none, or shows when the module is loaded."""


def mutants(path: str, data: bytes, lines: Collection[int], *, most: int) -> tuple[Mutant, ...]:
    """At most so many, all on these lines, spread over them. None for what is no Python."""
    tree = parse(data) if _is_plain(data) else None
    if tree is None:
        return ()
    texts = data.splitlines(keepends=True)
    by_line: dict[int, list[_Change]] = defaultdict(list)
    for change in _changes(tree):
        if change.node.lineno in lines:
            by_line[change.node.lineno].append(change)
    turns = zip_longest(*(by_line[line] for line in sorted(by_line)))
    in_turn = (change for change in chain.from_iterable(turns) if change is not None)
    made = (_mutant(path, texts, change) for change in in_turn)
    return tuple(mutant for _, mutant in zip(range(most), (one for one in made if one is not None), strict=False))


def _changes(tree: ast.Module) -> Iterator[_Change]:
    """Every wrong that is known, in the order of the tree, statements before what is in them."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        for kind, wrongs in _WRONGS:
            if isinstance(node, kind):
                yield from wrongs(node)
        for name, value in ast.iter_fields(node):
            if name not in _UNTOUCHED and not isinstance(node, ast.JoinedStr):  # before 3.12 nothing in it knows its place
                waiting += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)]


def _of_compare(node: ast.Compare) -> Iterator[_Change]:
    for index, operator in enumerate(node.ops):
        other = _COMPARED[type(operator)]()
        changed = ast.Compare(node.left, [*node.ops[:index], other, *node.ops[index + 1 :]], node.comparators)
        yield _Change(node, f"({ast.unparse(changed)})")


def _of_operation(node: ast.BinOp) -> Iterator[_Change]:
    if (other := _COMPUTED.get(type(node.op))) is not None and not _is_text(node.left) and not _is_text(node.right):
        yield _Change(node, f"({ast.unparse(ast.BinOp(node.left, other(), node.right))})")


def _of_both(node: ast.BoolOp) -> Iterator[_Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield _Change(node, f"({ast.unparse(ast.BoolOp(other, node.values))})")


def _of_negation(node: ast.UnaryOp) -> Iterator[_Change]:
    if isinstance(node.op, ast.Not):
        yield _Change(node, f"({ast.unparse(node.operand)})")


def _of_constant(node: ast.Constant) -> Iterator[_Change]:
    if isinstance(node.value, bool):
        yield _Change(node, str(not node.value))
    elif isinstance(node.value, int):
        yield from (_Change(node, f"({node.value + step})") for step in (1, -1))


def _of_condition(node: ast.If | ast.While | ast.IfExp) -> Iterator[_Change]:
    yield _Change(node.test, f"(not ({ast.unparse(node.test)}))")


def _of_return(node: ast.Return) -> Iterator[_Change]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield _Change(node, "return None")


def _of_statement(node: ast.Assign | ast.AugAssign | ast.Raise | ast.Delete | ast.Expr) -> Iterator[_Change]:
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom)):
        yield _Change(node, "pass")


_WRONGS: tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Callable[..., Iterator[_Change]]], ...] = (
    (ast.Compare, _of_compare),
    (ast.BinOp, _of_operation),
    (ast.BoolOp, _of_both),
    (ast.UnaryOp, _of_negation),
    (ast.Constant, _of_constant),
    ((ast.If, ast.While, ast.IfExp), _of_condition),
    (ast.Return, _of_return),
    (_DELETED, _of_statement),
)


def _is_text(node: ast.expr) -> bool:
    """Texts can be joined, and not taken from each other: every test would see that."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _is_plain(data: bytes) -> bool:
    """Its bytes are those that the parser counts: UTF-8 without a mark at its beginning."""
    try:
        return not data.decode("utf-8").startswith("\ufeff")
    except UnicodeDecodeError:
        return False


def _mutant(path: str, texts: Sequence[bytes], change: _Change) -> Mutant | None:
    """The file with it; ``None`` where that is no program any more."""
    node = change.node
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, texts[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, texts[: node.end_lineno - 1])) + node.end_col_offset
    data = b"".join(texts)
    content = data[:start] + change.text.encode("utf-8", "surrogateescape") + data[end:]
    if parse(content) is None:
        return None
    was = data[start:end].decode("utf-8", "replace")
    told = f"`{shown.sentence(was, LONGEST_TOLD)}` becomes `{shown.sentence(change.text, LONGEST_TOLD)}`"
    return Mutant(path, node.lineno, told, content)
