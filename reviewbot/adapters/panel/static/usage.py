"""What a Python function does with one of its parameters, read off the code that was shown."""

from __future__ import annotations

import ast

CHANGING = frozenset(
    {
        "append",
        "extend",
        "insert",
        "add",
        "update",
        "setdefault",
        "pop",
        "popitem",
        "remove",
        "discard",
        "clear",
        "sort",
        "reverse",
    }
)
"""Methods of lists, dictionaries and sets that change them."""


READING = frozenset(
    {"len", "sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "dict", "enumerate", "repr", "str", "bool"}
)
"""Built-in functions that look at what they are given and keep nothing of it."""


def mutable_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """The parameters whose default is a list, dictionary or set of its own."""
    positional = [*function.args.posonlyargs, *function.args.args]
    padded: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    pairs = [*zip(positional, padded + list(function.args.defaults), strict=True)]
    pairs += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return tuple(argument.arg for argument, default in pairs if default is not None and _is_mutable(default))


def changed_or_kept(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> int | None:
    """The first line on which the function changes the parameter, keeps it or hands it out; ``None`` where it only reads it."""
    nodes = (node for statement in function.body for node in ast.walk(statement) if _lets_go(node, name))
    lines = [node.lineno for node in nodes if isinstance(node, ast.expr | ast.stmt)]
    return min(lines, default=None)


def _is_mutable(default: ast.expr) -> bool:
    if isinstance(default, ast.Call):
        return isinstance(default.func, ast.Name) and default.func.id in ("list", "dict", "set", "defaultdict")
    return isinstance(default, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def _lets_go(node: ast.AST, name: str) -> bool:  # noqa: PLR0911 - one case each
    """One node that changes the named value, stores it, returns it, or passes it on as it is."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)) if owner == name and method in CHANGING:
            return True
        case ast.Call():
            passed = (*node.args, *(keyword.value for keyword in node.keywords))
            harmless = isinstance(node.func, ast.Name) and node.func.id in READING
            return not harmless and any(_is(argument, name) for argument in passed)
        case ast.Assign() | ast.AnnAssign() if node.value is not None and _is(node.value, name):
            return True
        case ast.Assign():
            return any(isinstance(target, ast.Subscript) and _is(target.value, name) for target in node.targets)
        case ast.AugAssign(target=target):
            return _is(target, name) or (isinstance(target, ast.Subscript) and _is(target.value, name))
        case ast.Return(value=value) | ast.Yield(value=value) if value is not None:
            return _is(value, name)
        case _:
            return False


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
