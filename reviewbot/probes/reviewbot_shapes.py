"""What values an annotation asks for, as plain lists that go through JSON. A shape is one of

``["int"] ["bool"] ["float"] ["complex"] ["str"] ["bytes"] ["none"]``, ``["between", low, high]`` (an integer),
``["list", X] ["set", X] ["frozenset", X] ["tuples", X] ["dict", K, V]``, ``["tuple", [X…]]``, ``["keyed", [[key, X]…]]``,
``["any of", [X…]]``, ``["one of", [text…]]`` (source texts), ``["call", name, [[keyword or "", X]…]]``;
where there are others that are not made, ``["some of", [text…]]`` and ``"not all"`` at the end of ``any of`` and ``call``.
"""

from __future__ import annotations

import collections
import collections.abc as abc
import datetime
import decimal
import enum
import fractions
import inspect
import pathlib
import types
import typing
import uuid
from collections.abc import Mapping
from typing import Any

from reviewbot_values import source

MAX_DEPTH = 4
"""Of records within records: deeper ones are left out."""
Shape = list[Any]
NOT_ALL = "not all"
LEAVES = {int: "int", bool: "bool", float: "float", complex: "complex", str: "str", bytes: "bytes", type(None): "none"}
LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection)
SETS = (set, abc.Set, abc.MutableSet)
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
UNIONS = (typing.Union, types.UnionType)
TIME = [["", ["between", 0, 23]], ["", ["between", 0, 59]], ["", ["between", 0, 59]]]
DAY = [["", ["between", 1, 9999]], ["", ["between", 1, 12]], ["", ["between", 1, 31]]]
KNOWN: dict[Any, Shape] = {
    decimal.Decimal: [
        "call",
        "decimal.Decimal",
        [["", ["some of", ["'0'", "'1'", "'-1'", "'0.1'", "'2.675'", "'1E+3'", "'99.995'", "'-0.005'", "'1E-7'"]]]],
    ],
    fractions.Fraction: ["call", "fractions.Fraction", [["", ["int"]], ["", ["between", 1, 1000]]]],
    datetime.date: ["call", "datetime.date", DAY],
    datetime.time: ["call", "datetime.time", TIME],
    datetime.datetime: ["call", "datetime.datetime", DAY + TIME],
    datetime.timedelta: ["call", "datetime.timedelta", [["", ["between", -400, 400]], ["", ["between", 0, 86399]]]],
    uuid.UUID: ["call", "uuid.UUID", [["int", ["between", 0, 2**128 - 1]]]],
    pathlib.Path: ["call", "pathlib.Path", [["", ["some of", ["''", "'a'", "'a/b.txt'", "'../a'", "'/a/b'"]]]]],
    pathlib.PurePath: ["call", "pathlib.PurePath", [["", ["some of", ["''", "'a'", "'a/b.txt'", "'../a'", "'/a/b'"]]]]],
    bytearray: ["call", "bytearray", [["", ["bytes"]]]],
    collections.deque: ["call", "collections.deque", [["", ["list", ["int"]]]]],
}


class Unsupported(ValueError):
    """No values can be made for an annotation."""


def shape(hint: Any, names: Mapping[str, Any], *, depth: int = 0) -> Shape:
    """The shape of an annotation. ``names`` are those of the module under test. Raises Unsupported."""
    hint = type(None) if hint is None else hint
    if isinstance(hint, type) and hint in LEAVES:
        return [LEAVES[hint]]
    if isinstance(hint, type) and hint in KNOWN:
        return KNOWN[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return ["one of", [_literal(value, names) for value in args]]
    choices = _choices(hint)
    if choices:
        return _choice(choices, names, depth)
    found = _container(origin or hint, args, names, depth=depth)
    return found or _record(origin or hint, names, depth)


def _choices(hint: Any) -> tuple[Any, ...]:
    """What an annotation stands for that is only a name for others."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return typing.get_args(hint)[:1]
    if isinstance(hint, typing.TypeVar):
        return hint.__constraints__ or ((hint.__bound__,) if hint.__bound__ else (int,))
    if isinstance(hint, typing.NewType):
        return (hint.__supertype__,)
    return typing.get_args(hint) if origin in UNIONS else ()


def _choice(hints: tuple[Any, ...], names: Mapping[str, Any], depth: int) -> Shape:
    """Those of several that can be made."""
    found: list[Shape] = []
    refused = ""
    for hint in hints:
        try:
            found.append(shape(hint, names, depth=depth))
        except Unsupported as exc:
            refused = str(exc)
    if not found:
        raise Unsupported(refused)
    found.sort(key=lambda made: made != ["none"])  # the simplest first
    return ["any of", found, NOT_ALL] if refused else ["any of", found]


def _container(kind: Any, args: tuple[Any, ...], names: Mapping[str, Any], *, depth: int) -> Shape | None:
    if kind is tuple:
        return _tuple(args, names, depth)
    if kind in MAPPINGS:
        key, value = args or (str, int)
        return _inner("dict", "{}", [key, value], names=names, depth=depth)
    for kinds, name, empty in ((LISTS, "list", "[]"), (SETS, "set", "set()"), ((frozenset,), "frozenset", "frozenset()")):
        if kind in kinds:
            return _inner(name, empty, list(args or (int,)), names=names, depth=depth)
    if kind is collections.deque and args:
        return ["call", "collections.deque", [["", _inner("list", "[]", list(args), names=names, depth=depth)]]]
    return None


def _inner(name: str, empty: str, hints: list[Any], *, names: Mapping[str, Any], depth: int) -> Shape:
    """A container of what can be made; an empty one where records lie within records for ever."""
    if depth >= MAX_DEPTH:
        return ["some of", [empty]]
    return [name, *(shape(hint, names, depth=depth) for hint in hints)]


def _tuple(args: tuple[Any, ...], names: Mapping[str, Any], depth: int) -> Shape:
    if len(args) == 2 and args[1] is Ellipsis:
        return _inner("tuples", "()", [args[0]], names=names, depth=depth)
    if not args:
        return ["tuples", ["int"]]
    return ["tuple", [shape(hint, names, depth=depth) for hint in args if hint != ()]]


def _literal(value: Any, names: Mapping[str, Any]) -> str:
    return f"{named(type(value), names)}.{value.name}" if isinstance(value, enum.Enum) else str(source(value))


def _record(kind: Any, names: Mapping[str, Any], depth: int) -> Shape:
    """An object, by the annotated parameters of its class."""
    if not isinstance(kind, type) or kind is object:
        raise Unsupported(f"no values can be made for the annotation {_told(kind)}")
    if issubclass(kind, enum.Enum):
        return ["one of", [f"{named(kind, names)}.{member}" for member in kind.__members__]]
    if depth >= MAX_DEPTH:
        raise Unsupported(f"{_told(kind)} holds others of its kind")
    if typing.is_typeddict(kind):
        return ["keyed", [[source(key), shape(hint, names, depth=depth + 1)] for key, hint in _hints(kind).items()]]
    if inspect.isabstract(kind) or getattr(kind, "_is_protocol", False):
        raise Unsupported(f"{_told(kind)} is abstract")
    if kind.__module__ in ("builtins", "typing", "collections.abc", "abc"):
        raise Unsupported(f"no values can be made for the annotation {_told(kind)}")
    return ["call", named(kind, names), *_fields(kind, names, depth)]


def _fields(kind: type, names: Mapping[str, Any], depth: int) -> list[Any]:
    """What the class takes, and a remark where it takes more."""
    maker = inspect.getattr_static(kind, "__init__")
    hints = _hints(kind) | (_hints(maker) if isinstance(maker, types.FunctionType) else {})
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (ValueError, TypeError) as exc:
        raise Unsupported(f"{_told(kind)} does not tell its parameters") from exc
    found: list[list[Any]] = []
    more: list[str] = []
    for parameter in parameters:
        given = parameter.default is not parameter.empty
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            more = [NOT_ALL]
            continue
        try:
            if parameter.name not in hints:
                raise Unsupported(f"{_told(kind)}: its parameter {parameter.name} has no annotation")
            made = shape(hints[parameter.name], names, depth=depth + 1)
        except Unsupported:
            if not given:
                raise
            more = [NOT_ALL]
            continue
        found.append(["" if parameter.kind is parameter.POSITIONAL_ONLY else parameter.name, made])
    return [found, *more]


def _hints(thing: Any) -> dict[str, Any]:
    """Annotations, read. Raises Unsupported where they name what is not there."""
    try:
        return typing.get_type_hints(thing)
    except Exception as exc:  # reading annotations runs code of the tree
        raise Unsupported(f"its annotations cannot be read: {type(exc).__name__}: {exc}") from exc


hints = _hints


def named(kind: type, names: Mapping[str, Any]) -> str:
    """How a class is called in the module under test, or its full name. Raises Unsupported for one that has none."""
    name = kind.__qualname__
    if "<locals>" in name:
        raise Unsupported(f"{name} can only be made where it is defined")
    found: Any = names.get(name.partition(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return name if found is kind else f"{kind.__module__}.{name}"


def _told(kind: Any) -> str:
    return str(getattr(kind, "__qualname__", kind))
