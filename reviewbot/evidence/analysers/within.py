"""One walk through a module that finds all that is judged by where it stands: in which loops, among which names."""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property

from reviewbot.evidence.analysers.locals import NAMING, Kind, Names, names_of, written

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = frozenset({ast.While, ast.For, ast.AsyncFor, *COMPREHENSIONS})
_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
_SIGNS = {sign for kind in (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context) for sign in kind.__subclasses__()}
_LEAVES = frozenset({type(None), str, int, bool, ast.Name, ast.Constant, *_SIGNS})
"""Most of what a tree holds: nothing is below it, and nobody judges it by itself."""
_SMALL = 64
"""A constant range of so many steps is no growing input."""


class Loop:
    """A loop around a place; ``over`` is the collection that it walks, if that is a plain name."""

    def __init__(self, node: ast.AST, over: str) -> None:
        self._node = node
        self.over = over

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that change in it."""
        return frozenset(
            part.id for part in ast.walk(self._node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )


class _Scope:
    """A module or function, with the nodes of its own that say what its names are."""

    def __init__(self, node: ast.AST) -> None:
        self._node = node
        self.naming: list[ast.AST] = []

    @cached_property
    def names(self) -> Names:
        """Its names: asked for once all of it was walked, and of many functions never."""
        return names_of(self._node, self.naming)


@dataclass(frozen=True, slots=True)
class _Around:
    """What nodes beside each other have in common. ``naming`` takes what says what a name is where they stand."""

    loops: tuple[Loop, ...]
    scope: _Scope
    naming: list[ast.AST]

    @classmethod
    def at_top(cls, scope: _Scope) -> _Around:
        """Directly in a module or function."""
        return cls((), scope, scope.naming)

    def inside(self, definition: ast.AST) -> _Around:
        """In a function or class that is defined here. The names of a class are known to nobody else."""
        if isinstance(definition, ast.ClassDef):
            return _Around(self.loops, self.scope, [])
        return _Around.at_top(_Scope(definition))

    def in_loop(self, loop: Loop) -> _Around:
        """In what a loop repeats that begins here."""
        return _Around((*self.loops, loop), self.scope, self.naming)


@dataclass(frozen=True, slots=True)
class Place:
    """A node inside of loops, with what is known of the names around it."""

    node: ast.AST
    loops: tuple[Loop, ...]
    scope: _Scope

    def is_outer(self, name: str) -> bool:
        """The name keeps its value while the innermost loop runs."""
        return name not in self.loops[-1].bound

    def kind(self, node: ast.expr) -> Kind:
        """What a name that the loop did not make is known to be."""
        return self.scope.names.kind(node.id) if isinstance(node, ast.Name) else Kind.UNKNOWN

    def grows(self, name: str) -> bool:
        """Elements are added to what it names."""
        return self.scope.names.grows(name)


def places(tree: ast.Module, judged: Container[type[ast.AST]]) -> tuple[Place, ...]:
    """Every node of the ``judged`` types that stands in a loop of its own function, in the order of the text."""
    found: list[Place] = []
    waiting: list[tuple[ast.AST, _Around]] = [(tree, _Around.at_top(_Scope(tree)))]
    while waiting:
        node, around = waiting.pop()
        kind = type(node)
        if around.loops and kind in judged:
            found.append(Place(node, around.loops, around.scope))
        if kind in NAMING:
            around.naming.append(node)
        children = _branches(node)
        children.reverse()
        if kind in _LOOPS and (over := begins(node)) is not None:
            inner, repeated = around.in_loop(Loop(node, over)), _repeated(node)
            waiting += [(child, inner if child in repeated else around) for child in children]
        else:
            inner = around.inside(node) if kind in _DEFINITIONS else around
            waiting += [(child, inner) for child in children]
    return tuple(found)


def _branches(node: ast.AST) -> list[ast.AST]:
    """The children of a node that may have children of their own, in the order of the text."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name)
        kind = type(value)
        if kind is list:
            found += [child for child in value if type(child) not in _LEAVES]
        elif kind not in _LEAVES:
            found.append(value)
    return found


def begins(node: ast.AST) -> str | None:
    """What the loop walks that the node begins, as in ``Loop.over``. ``None`` where it begins none, or one that is short by
    its own text."""
    if isinstance(node, ast.While):
        return ""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return None if _is_short(node.iter) else _walked(node.iter)
    if isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        return None if _is_short(first) else _walked(first)
    return None


def _repeated(node: ast.AST) -> frozenset[ast.AST]:
    """The parts of a loop that run again and again."""
    if isinstance(node, ast.While):
        return frozenset((node.test, *node.body))
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return frozenset(node.body)
    if isinstance(node, ast.DictComp):
        return frozenset((node.key, node.value, *(part for generator in node.generators for part in generator.ifs)))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return frozenset((node.elt, *node.generators))
    return frozenset()


def _is_short(iterable: ast.expr) -> bool:
    if isinstance(iterable, (ast.Tuple, ast.List, ast.Set, ast.Constant, ast.Dict)):
        return True
    is_range = isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"
    if not is_range or not isinstance(iterable, ast.Call):
        return False
    bounds = [part.value for part in iterable.args if isinstance(part, ast.Constant) and isinstance(part.value, int)]
    return len(bounds) == len(iterable.args) and max(bounds, default=0) <= _SMALL


def _walked(iterable: ast.expr) -> str:
    """The name of the collection: of ``xs``, ``xs[1:]``, ``enumerate(xs)``, ``range(len(xs))``."""
    while True:
        if isinstance(iterable, ast.Subscript) and isinstance(iterable.slice, ast.Slice):
            iterable = iterable.value
        elif isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.args:
            if iterable.func.id not in ("enumerate", "range", "len", "reversed", "sorted", "list", "iter"):
                return ""
            iterable = iterable.args[-1] if iterable.func.id == "range" else iterable.args[0]
        else:
            return written(iterable) if isinstance(iterable, (ast.Name, ast.Attribute)) else ""
