"""Loops whose work grows faster than their input: searches of lists, rebuilt collections, calls to the outside, by their syntax.

A name counts as a list where all that a function assigns to it makes one, or its annotation says so; then a result is likely
true. What cannot be known from the text is a reason to look.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence.analysers.locals import Kind, Names, names_of, written
from reviewbot.evidence.analysers.source import Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_JUDGED = (ast.Compare, ast.Call, ast.Assign, ast.AugAssign, ast.For, ast.AsyncFor, ast.While, *_COMPREHENSIONS)
_SCANS = frozenset({"index", "count", "remove"})
_WHOLE = frozenset({"sorted", "sum", "min", "max", "list", "set", "tuple", "dict", "frozenset"})
_HTTP = frozenset({"get", "post", "put", "patch", "delete", "head", "request"})
_HTTP_OWNERS = frozenset({"requests", "httpx", "aiohttp", "session", "client", "http"})
_QUERY_OWNERS = frozenset({"cursor", "cur", "conn", "connection", "db", "session"})
_QUERIES = frozenset({"execute", "executemany", "fetchone", "fetchall", "scalar", "scalars"})
_SMALL = 64
"""A constant range of so many steps is no growing input."""
_GROWS = "the input grows"
_QUADRATIC = "the time grows with its square"


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop around a place: the names that change in it, and the collection it walks, if it is a plain name."""

    bound: frozenset[str]
    over: str


@dataclass(frozen=True, slots=True)
class _Place:
    """An expression inside of loops, with what is known of the names around it."""

    node: ast.AST
    loops: tuple[_Loop, ...]
    names: Names

    def is_outer(self, name: str) -> bool:
        """The name keeps its value while the innermost loop runs."""
        return name not in self.loops[-1].bound

    def kind(self, node: ast.expr) -> Kind:
        """What a name that the loop did not make is known to be."""
        return self.names.kind(node.id) if isinstance(node, ast.Name) else Kind.UNKNOWN


@dataclass(frozen=True, slots=True)
class _Slow:
    """What is slow about a place."""

    rule: str
    message: str
    precision: Precision
    consequence: str = _QUADRATIC
    severity: Severity = Severity.MEDIUM


def analyse(source: Source) -> Iterator[Result]:
    """Every slow place outside of test code, one per line."""
    if source.is_test or source.tree is None:
        return
    seen: set[int] = set()
    for place in _places(source.tree):
        line = getattr(place.node, "lineno", 0)
        slow = next((slow for judge in _JUDGES if (slow := judge(place))), None)
        if slow and line not in seen:
            seen.add(line)
            yield _result(source, line, slow)


def _places(tree: ast.Module) -> Iterator[_Place]:
    """Every node that stands in a loop of its own function."""
    known: dict[ast.AST, Names] = {}
    waiting: list[tuple[ast.AST, tuple[_Loop, ...], ast.AST]] = [(tree, (), tree)]
    while waiting:
        node, loops, scope = waiting.pop()
        if loops and isinstance(node, _JUDGED):
            if scope not in known:
                known[scope] = names_of(scope)
            yield _Place(node, loops, known[scope])
        if isinstance(node, _FUNCTIONS):
            loops, scope = (), node
        inner = _loop(node)
        repeated = _repeated(node) if inner else ()
        deeper = (*loops, inner) if inner else loops
        waiting += [
            (child, deeper if child in repeated else loops, scope) for child in reversed(list(ast.iter_child_nodes(node)))
        ]


def _loop(node: ast.AST) -> _Loop | None:
    """The loop that a node begins, unless it is short by its own text."""
    if isinstance(node, ast.While):
        return _Loop(_stored(node), "")
    if isinstance(node, (ast.For, ast.AsyncFor)) and not _is_short(node.iter):
        return _Loop(_stored(node), _walked(node.iter))
    if isinstance(node, _COMPREHENSIONS) and not _is_short(node.generators[0].iter):
        return _Loop(_stored(node), _walked(node.generators[0].iter))
    return None


def _repeated(node: ast.AST) -> tuple[ast.AST, ...]:
    """The parts of a loop that run again and again."""
    if isinstance(node, ast.While):
        return (node.test, *node.body)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return tuple(node.body)
    if isinstance(node, ast.DictComp):
        return (node.key, node.value, *(part for generator in node.generators for part in generator.ifs))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return (node.elt, *node.generators)
    return ()


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


def _stored(node: ast.AST) -> frozenset[str]:
    """The names that a loop gives a value."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _membership(place: _Place) -> _Slow | None:
    node = place.node
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn))):
        return None
    searched = node.comparators[0]
    if isinstance(searched, ast.Name) and place.kind(searched) is Kind.LIST and place.is_outer(searched.id):
        return _Slow(
            "list-membership", f"The list `{searched.id}` is searched in a loop; a set is found in at once", Precision.LIKELY
        )
    return None


def _method(place: _Place) -> _Slow | None:
    node = place.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)):
        return None
    owner, method = node.func.value, node.func.attr
    is_list = place.kind(owner) is Kind.LIST
    if not place.is_outer(owner.id):
        return None
    if is_list and method in _SCANS and node.args:
        return _Slow("list-search", f"`{owner.id}.{method}` walks the list in each turn of a loop", Precision.LIKELY)
    at_front = bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    if (
        at_front
        and ((method == "pop" and len(node.args) == 1) or method == "insert")
        and place.kind(owner) in (Kind.LIST, Kind.UNKNOWN)
    ):
        precision = Precision.LIKELY if is_list else Precision.HEURISTIC
        return _Slow("list-front", f"`{owner.id}.{method}(0…)` moves the whole list in each turn of a loop", precision)
    return None


def _growing(place: _Place) -> _Slow | None:
    """``xs = xs + [x]`` copies all of ``xs``; ``text += part`` may."""
    node = place.node
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        target, left = node.targets[0], node.value.left
        same = isinstance(target, ast.Name) and isinstance(left, ast.Name) and target.id == left.id
        if same and place.kind(target) is Kind.LIST:
            return _Slow("list-concatenation", f"The list `{written(target)}` is copied in each turn of a loop", Precision.LIKELY)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and place.kind(node.target) is Kind.TEXT:
        message = f"The text `{written(node.target)}` is built piece by piece in a loop; joining a list copies once"
        return _Slow("text-concatenation", message, Precision.HEURISTIC, severity=Severity.LOW)
    return None


def _nested(place: _Place) -> _Slow | None:
    inner = _loop(place.node)
    if inner and inner.over and any(inner.over == loop.over for loop in place.loops):
        return _Slow("nested-loop", f"A loop over `{inner.over}` runs inside of another loop over it", Precision.HEURISTIC)
    return None


def _repeated_work(place: _Place) -> _Slow | None:
    node = place.node
    if not (isinstance(node, ast.Call) and len(node.args) >= 1):
        return None
    called, first = written(node.func), node.args[0]
    if called == "re.compile" and isinstance(first, ast.Constant):
        message, consequence = (
            "A constant pattern is compiled in each turn of a loop",
            "time is spent on the same work again and again",
        )
        return _Slow("repeated-work", message, Precision.HEURISTIC, consequence, Severity.LOW)
    is_whole = called in _WHOLE and len(node.args) == 1 and isinstance(first, ast.Name) and place.kind(first) is Kind.LIST
    if is_whole and isinstance(first, ast.Name) and place.is_outer(first.id) and not place.names.grows(first.id):
        return _Slow("repeated-work", f"`{called}({first.id})` walks all of it in each turn of a loop", Precision.HEURISTIC)
    return None


def _outside(place: _Place) -> _Slow | None:
    """A round trip per element."""
    node = place.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    owner = written(node.func.value).rpartition(".")[2].lower()
    method = node.func.attr
    is_http = method in _HTTP and owner in _HTTP_OWNERS and bool(node.args) and not isinstance(node.args[0], ast.Constant)
    is_query = (method in _QUERIES and owner in _QUERY_OWNERS) or (owner == "objects" and method in ("get", "filter", "create"))
    if not (is_http or is_query):
        return None
    what = "request is sent" if is_http else "query is made"
    message = f"A {what} in each turn of a loop: `{written(node.func)[:60]}`"
    return _Slow("query-in-loop", message, Precision.HEURISTIC, "every element waits for a round trip")


_JUDGES: tuple[Callable[[_Place], _Slow | None], ...] = (_membership, _method, _growing, _nested, _repeated_work, _outside)


def _result(source: Source, line: int, slow: _Slow) -> Result:
    return Result(
        EvidenceKind.PERFORMANCE,
        "loops",
        slow.rule,
        source.path,
        line,
        slow.message,
        Category.PERFORMANCE,
        slow.severity,
        slow.precision,
        end_line=line,
        anchor=source.anchor(line),
        trigger=_GROWS,
        consequence=slow.consequence,
        excerpt=source.anchor(line)[:400],
    )
