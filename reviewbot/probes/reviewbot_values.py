"""Values as text that can be read back, and what came of a call as text that can be compared.

``build`` makes a value from source text: literals, and calls of classes that the code under test or the standard library names.
``tell`` says what a value holds without asking its own ``__repr__``. Two values that mean the same give the same text in two
processes and in two trees. Differences of floats past the twelfth digit do not count, nor does the sign of zero.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import hashlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

MAX_TEXT = 4000
"""Characters of a text that are told; of a longer one also its length and hash are, so that it can be compared."""
MAX_NODES = 20_000
MAX_DEPTH = 40
MAX_ITEMS = 200
"""What is read of an iterator."""
STATIC = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``: a type without it was not written in Python, and its ``__repr__`` is harmless."""
NAMED = {kind.__name__: kind for kind in (set, frozenset, bytearray, float, complex, range, dict)}


class Unbuildable(ValueError):
    """A text of which no value can be made."""


def argument(text: str, names: Mapping[str, Any]) -> tuple[str, Any]:
    """The keyword (empty for a positional one) and the value of one argument. Raises Unbuildable."""
    try:
        call = ast.parse(f"_({text})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as exc:
        raise Unbuildable(f"{text[:80]} is no argument") from exc
    if not isinstance(call, ast.Call) or len(call.args) + len(call.keywords) != 1:
        raise Unbuildable(f"{text[:80]} is not one argument")
    if call.args:
        return "", build(call.args[0], names)
    word = call.keywords[0].arg
    if word is None:
        raise Unbuildable(f"{text[:80]} is not one argument")
    return word, build(call.keywords[0].value, names)


def build(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression. Raises Unbuildable, and whatever a constructor raises."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(build(node.operand, names))
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        maker = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
        return maker(build(item, names) for item in node.elts)
    if isinstance(node, ast.Dict):
        return {build(_given(key), names): build(value, names) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.Call):
        return _called(node, names)
    found = _named(node, names)
    if not isinstance(found, enum.Enum):
        raise Unbuildable(f"{ast.unparse(node)[:80]} is not a value that may be named")
    return found


def _number(value: Any) -> Any:
    if type(value) not in (int, float, complex):
        raise Unbuildable("a minus before what is no number")
    return value


def _given(node: ast.expr | None) -> ast.expr:
    if node is None:
        raise Unbuildable("a dictionary that takes in another")
    return node


def _called(node: ast.Call, names: Mapping[str, Any]) -> Any:
    maker = _named(node.func, names)
    if not isinstance(maker, type):
        raise Unbuildable(f"{ast.unparse(node.func)[:80]} is no class")
    words = dict(argument(ast.unparse(keyword), names) for keyword in node.keywords)
    return maker(*(build(item, names) for item in node.args), **words)


def _named(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a dotted name stands for: in the module under test, among a few makers, or in a module of that name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise Unbuildable("neither a literal nor the call of a class")
    parts.insert(0, node.id)
    if len(parts) == 1 and parts[0] in NAMED:
        return NAMED[parts[0]]
    if parts[0] in names:
        found, rest = names[parts[0]], parts[1:]
    else:
        found, rest = _imported(parts)
    for part in rest:
        if not hasattr(found, part):
            raise Unbuildable(f"{'.'.join(parts)} is not there")
        found = getattr(found, part)
    return found


def maker(name: str, names: Mapping[str, Any]) -> Any:
    """The class of that name. Raises Unbuildable."""
    return _named(ast.parse(name, mode="eval").body, names)


def _imported(parts: list[str]) -> tuple[Any, list[str]]:
    for count in range(len(parts) - 1, 0, -1):
        try:
            return importlib.import_module(".".join(parts[:count])), parts[count:]
        except ImportError:
            continue
    raise Unbuildable(f"{'.'.join(parts)} is not there")


def source(value: Any) -> str:
    """Source text of a plain value, for ``build``. Raises Unbuildable."""
    if type(value) not in _SOURCES:
        raise Unbuildable(f"no source text for a {type(value).__name__}")
    return _SOURCES[type(value)](value)


def source_of_set(items: list[str], kind: str) -> str:
    inner = f"{{{', '.join(items)}}}" if items else ""
    return inner if inner and kind == "set" else f"{kind}({inner})"


_SOURCES: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((type(None), bool, int, str, bytes), ascii),
    float: lambda value: repr(value) if value - value == 0 else f"float('{value!r}')",
    complex: lambda value: f"complex({source(value.real)}, {source(value.imag)})",
    list: lambda value: f"[{', '.join(map(source, value))}]",
    tuple: lambda value: f"({', '.join(map(source, value))}{',' if len(value) == 1 else ''})",
    dict: lambda value: "{" + ", ".join(f"{source(key)}: {source(item)}" for key, item in value.items()) + "}",
    set: lambda value: source_of_set(sorted(map(source, value)), "set"),
    frozenset: lambda value: source_of_set(sorted(map(source, value)), "frozenset"),
}


def ascii_text(text: object, limit: int = 300) -> str:
    """Text that every reader can store; empty where it cannot be had."""
    try:
        words = str(text)[:limit]
    except BaseException:
        return ""
    return words.encode("ascii", "backslashreplace").decode("ascii").replace("\0", "\\x00")


def cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}... ({len(text)} characters, {hashlib.sha256(text.encode()).hexdigest()[:16]})"


@dataclasses.dataclass(frozen=True, slots=True)
class Drained:
    """What an iterator gave, and the exception it ended with."""

    kind: str
    items: tuple[Any, ...]
    raised: str


def drained(value: Any) -> Any:
    """An iterator as what it gives; anything else as it is."""
    if not hasattr(type(value), "__next__") or not hasattr(type(value), "__iter__"):
        return value
    items: list[Any] = []
    try:
        for item in value:
            items.append(item)
            if len(items) >= MAX_ITEMS:
                break
    except Exception as exc:  # iterating runs code of the tree
        return Drained(type(value).__name__, tuple(items), type(exc).__qualname__)
    return Drained(type(value).__name__, tuple(items), "")


class Teller:
    """Tells values. With ``private`` also of attributes whose names begin with an underscore; ``hidden`` are those met."""

    def __init__(self, *, private: bool) -> None:
        self.private = private
        self.hidden: set[str] = set()
        self._above: list[int] = []
        self._nodes = 0

    def tell(self, value: Any) -> str:
        self._nodes += 1
        if id(value) in self._above:
            return "<itself>"
        if self._nodes > MAX_NODES or len(self._above) > MAX_DEPTH:
            return "<too much>"
        self._above.append(id(value))
        try:
            return self._told(value)
        finally:
            self._above.pop()

    def _told(self, value: Any) -> str:
        kind = type(value)
        if isinstance(value, enum.Enum):
            return f"{kind.__qualname__}.{ascii_text(value._name_)}"
        for parent in kind.__mro__:
            if parent in _TELLERS:
                text = _TELLERS[parent](self, value)
                return text if parent is kind else f"{kind.__qualname__}({text}{self._attributes(value, ', ')})"
        if isinstance(value, type):
            return f"<class {value.__qualname__}>"
        if isinstance(value, BaseException):
            return f"{kind.__qualname__}{self.tell(value.args)}"
        if not kind.__flags__ & STATIC:
            text = ascii_text(repr(value), MAX_TEXT * 4)
            return f"<{kind.__qualname__}>" if " at 0x" in text else text
        return f"{kind.__qualname__}({self._attributes(value, '')})"

    def _attributes(self, value: Any, before: str) -> str:
        """What an object holds, by name; of a dataclass what is compared of it."""
        found = dict(_held(value))
        fields = getattr(type(value), "__dataclass_fields__", None)
        if isinstance(fields, dict):
            found = {name: found[name] for name, field in fields.items() if name in found and field.compare}
        else:
            secret = {name for name in found if name.startswith("_")}
            self.hidden |= {f"{type(value).__qualname__}.{name}" for name in secret}
            found = {name: found[name] for name in sorted(found) if self.private or name not in secret}
        text = ", ".join(f"{ascii_text(name)}={self.tell(item)}" for name, item in found.items())
        return before + text if text else ""

    def items(self, values: Iterable[Any]) -> str:
        return ", ".join(self.tell(value) for value in values)

    def pairs(self, value: dict[Any, Any]) -> str:
        return ", ".join(f"{self.tell(key)}: {self.tell(item)}" for key, item in dict.items(value))


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of the object itself, without asking its class for them."""
    for kind in reversed(type(value).__mro__):
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if isinstance(name, str) and name not in ("__dict__", "__weakref__"):
                try:
                    yield name, object.__getattribute__(value, name)
                except AttributeError:
                    continue
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    yield from ((name, item) for name, item in dict(held).items() if isinstance(name, str))


def _integer(_: Teller, value: int) -> str:
    return int.__repr__(value) if int.bit_length(value) < 4000 else hex(int(value))


def _float(_: Teller, value: float) -> str:
    text = format(float(value), ".12g")
    text = "0" if text == "-0" else text
    return text if any(letter in text for letter in ".en") else f"{text}.0"


def _drained(teller: Teller, value: Drained) -> str:
    ended = f" and raises {value.raised}" if value.raised else ""
    return f"{value.kind}[{teller.items(value.items)}{ended}]"


_TELLERS: dict[type, Any] = {
    bool: lambda _, value: bool.__repr__(value),
    int: _integer,
    float: _float,
    complex: lambda teller, value: f"complex({_float(teller, value.real)}, {_float(teller, value.imag)})",
    str: lambda _, value: ascii(str.__str__(value)),
    bytes: lambda _, value: bytes.__repr__(value),
    bytearray: lambda _, value: bytearray.__repr__(value),
    list: lambda teller, value: f"[{teller.items(list.__iter__(value))}]",
    tuple: lambda teller, value: f"({teller.items(tuple.__iter__(value))}{',' if len(value) == 1 else ''})",
    set: lambda teller, value: source_of_set(sorted(map(teller.tell, set.__iter__(value))), "set"),
    frozenset: lambda teller, value: source_of_set(sorted(map(teller.tell, frozenset.__iter__(value))), "frozenset"),
    dict: lambda teller, value: f"{{{teller.pairs(value)}}}",
    Drained: _drained,
}
