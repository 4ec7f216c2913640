"""What the names of a function are, as far as its own text makes certain."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """A kind that matters to how fast something is. ``SHORT`` is a list of a few written elements that does not grow."""

    LIST = auto()
    SHORT = auto()
    TEXT = auto()
    OTHER = auto()
    UNKNOWN = auto()


NAMING = frozenset({ast.AnnAssign, ast.Assign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.Call})
"""All types of nodes that say something of a name: what it is given, or that it grows."""
_LIST_KINDS = frozenset({Kind.LIST, Kind.SHORT})
_MAKES_LIST = frozenset({"list", "sorted"})
_GROWTH = frozenset({"append", "extend", "insert"})
_LISTS = frozenset({"list", "List", "typing.List"})


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a function assigns or takes, with their kinds, and those of its lists that grow."""

    kinds: dict[str, Kind]
    growing: frozenset[str]

    def kind(self, name: str) -> Kind:
        """What the name is in this function."""
        kind = self.kinds.get(name, Kind.UNKNOWN)
        return Kind.LIST if kind is Kind.SHORT and name in self.growing else kind

    def grows(self, name: str) -> bool:
        """Elements are added to it."""
        return name in self.growing


def written(node: ast.expr) -> str:
    """The expression as its author would write it, an ellipsis where it is nested beyond anybody's reading."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.unparse(node)
    except RecursionError:
        return "…"


def names_of(scope: ast.AST, naming: Iterable[ast.AST]) -> Names:
    """The names of a module or function. ``naming`` are its nodes of the ``NAMING`` types, without those of what is defined
    inside."""
    seen: defaultdict[str, set[Kind]] = defaultdict(set)
    growing: set[str] = set()
    for name, kind in _parameters(scope):
        seen[name].add(kind)
    for node in naming:
        for name, kind in _assigned(node):
            seen[name].add(kind)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _GROWTH:
                growing.add(name)
    return Names({name: _joined(kinds) for name, kinds in seen.items()}, frozenset(growing))


def _parameters(scope: ast.AST) -> Iterator[tuple[str, Kind]]:
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for parameter in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs):
            yield parameter.arg, _annotated(parameter.annotation)


def _assigned(node: ast.AST) -> Iterator[tuple[str, Kind]]:
    """The names that a statement gives a value, each with what the value is."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, _annotated(node.annotation)
    elif isinstance(node, (ast.Assign, ast.NamedExpr)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for part in _names_in(target):
                if isinstance(part.ctx, ast.Store):
                    kind = _kind(node.value) if part is target else Kind.OTHER
                    if not _extends_itself(part.id, node.value):
                        yield part.id, kind
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        for part in _names_in(node.target):
            yield part.id, Kind.UNKNOWN


def _names_in(target: ast.expr) -> tuple[ast.Name, ...]:
    """All names of a target: most are nothing but one."""
    return (target,) if isinstance(target, ast.Name) else tuple(part for part in ast.walk(target) if isinstance(part, ast.Name))


def _extends_itself(name: str, value: ast.expr) -> bool:
    """``xs = xs + …`` leaves the kind of ``xs`` as it is."""
    return isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == name


def _kind(value: ast.expr) -> Kind:
    if isinstance(value, ast.List):
        return Kind.SHORT if value.elts else Kind.LIST
    if isinstance(value, ast.ListComp):
        return Kind.LIST
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _MAKES_LIST:
        return Kind.LIST
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return Kind.TEXT
    if isinstance(value, (ast.Set, ast.Dict, ast.SetComp, ast.DictComp, ast.Tuple, ast.Constant, ast.GeneratorExp)):
        return Kind.OTHER
    return Kind.UNKNOWN


def _annotated(annotation: ast.expr | None) -> Kind:
    if annotation is None:
        return Kind.UNKNOWN
    outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = written(outer)
    if name in _LISTS:
        return Kind.LIST
    return Kind.TEXT if name == "str" else Kind.OTHER


def _joined(kinds: set[Kind]) -> Kind:
    """One kind for all assignments, if they agree; a list that is also given as another list stays one."""
    if kinds <= _LIST_KINDS:
        return Kind.LIST if Kind.LIST in kinds else Kind.SHORT
    return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
