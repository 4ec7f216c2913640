"""Loops whose work grows faster than their input: searches of lists, rebuilt collections, calls to the outside, by their syntax.

A name counts as a list where all that a function assigns to it makes one, or its annotation says so; then a result is likely
true. What cannot be known from the text is a reason to look.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence.analysers.locals import Kind, written
from reviewbot.evidence.analysers.source import Source
from reviewbot.evidence.analysers.within import COMPREHENSIONS, Place, begins, places

_SCANS = frozenset({"index", "count", "remove"})
_WHOLE = frozenset({"sorted", "sum", "min", "max", "list", "set", "tuple", "dict", "frozenset"})
_HTTP = frozenset({"get", "post", "put", "patch", "delete", "head", "request"})
_HTTP_OWNERS = frozenset({"requests", "httpx", "aiohttp", "session", "client", "http"})
_QUERY_OWNERS = frozenset({"cursor", "cur", "conn", "connection", "db", "session"})
_QUERIES = frozenset({"execute", "executemany", "fetchone", "fetchall", "scalar", "scalars"})
_REQUESTS = _HTTP | _QUERIES | {"get", "filter", "create"}
_GROWS = "the input grows"
_QUADRATIC = "the time grows with its square"


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
    for place in places(source.tree, _JUDGES):
        line = getattr(place.node, "lineno", 0)
        slow = next((slow for judge in _JUDGES[type(place.node)] if (slow := judge(place))), None)
        if slow and line not in seen:
            seen.add(line)
            yield _result(source, line, slow)


def _membership(place: Place) -> _Slow | None:
    node = place.node
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn))):
        return None
    searched = node.comparators[0]
    if isinstance(searched, ast.Name) and place.kind(searched) is Kind.LIST and place.is_outer(searched.id):
        return _Slow(
            "list-membership", f"The list `{searched.id}` is searched in a loop; a set is found in at once", Precision.LIKELY
        )
    return None


def _method(place: Place) -> _Slow | None:
    node = place.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)):
        return None
    owner, method = node.func.value, node.func.attr
    scans = method in _SCANS and bool(node.args)
    at_front = bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    moves = at_front and ((method == "pop" and len(node.args) == 1) or method == "insert")
    if not (scans or moves) or not place.is_outer(owner.id):
        return None
    is_list = place.kind(owner) is Kind.LIST
    if is_list and scans:
        return _Slow("list-search", f"`{owner.id}.{method}` walks the list in each turn of a loop", Precision.LIKELY)
    if moves and (is_list or place.kind(owner) is Kind.UNKNOWN):
        precision = Precision.LIKELY if is_list else Precision.HEURISTIC
        return _Slow("list-front", f"`{owner.id}.{method}(0…)` moves the whole list in each turn of a loop", precision)
    return None


def _growing(place: Place) -> _Slow | None:
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


def _nested(place: Place) -> _Slow | None:
    over = begins(place.node)
    if over and any(over == loop.over for loop in place.loops):
        return _Slow("nested-loop", f"A loop over `{over}` runs inside of another loop over it", Precision.HEURISTIC)
    return None


def _repeated_work(place: Place) -> _Slow | None:
    node = place.node
    if not (isinstance(node, ast.Call) and len(node.args) >= 1):
        return None
    called, first = _called(node.func), node.args[0]
    if called == "re.compile" and isinstance(first, ast.Constant):
        message, consequence = (
            "A constant pattern is compiled in each turn of a loop",
            "time is spent on the same work again and again",
        )
        return _Slow("repeated-work", message, Precision.HEURISTIC, consequence, Severity.LOW)
    is_whole = called in _WHOLE and len(node.args) == 1 and isinstance(first, ast.Name) and place.kind(first) is Kind.LIST
    if is_whole and isinstance(first, ast.Name) and place.is_outer(first.id) and not place.grows(first.id):
        return _Slow("repeated-work", f"`{called}({first.id})` walks all of it in each turn of a loop", Precision.HEURISTIC)
    return None


def _called(function: ast.expr) -> str:
    """The name of a function, or of one that stands in a module by its name."""
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
    return ""


def _outside(place: Place) -> _Slow | None:
    """A round trip per element."""
    node = place.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _REQUESTS):
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


_JUDGES: Mapping[type[ast.AST], tuple[Callable[[Place], _Slow | None], ...]] = MappingProxyType(
    {
        ast.Compare: (_membership,),
        ast.Call: (_method, _repeated_work, _outside),
        ast.Assign: (_growing,),
        ast.AugAssign: (_growing,),
        **dict.fromkeys((ast.For, ast.AsyncFor, *COMPREHENSIONS), (_nested,)),
    }
)
"""By what they judge, the gravest first."""


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
