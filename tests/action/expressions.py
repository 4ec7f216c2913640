"""GitHub's expressions, as far as workflows use them: parsed, and evaluated over contexts of plain JSON values.

The language: https://docs.github.com/actions/reference/workflows-and-actions/expressions. Numbers are floats, comparison of text
ignores case, what a context lacks is null. GitHub's own evaluator is the oracle in ``test_expressions.py``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = Any
"""``None``, bool, float or int, str, list, dict."""

TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:0x[0-9a-fA-F]+|0o[0-7]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))"
    r"|(?P<text>'(?:[^']|'')*')"
    r"|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<sign>&&|\|\||[=!<>]=|[<>!().,*\[\]]))"
)
HOLE = re.compile(r"\$\{\{(?P<expression>(?:'(?:[^']|'')*'|(?!\}\}).)*)\}\}", re.DOTALL)
CONSTANTS = {"true": True, "false": False, "null": None, "nan": math.nan, "infinity": math.inf}


class ExpressionError(ValueError):
    """A text that is no expression."""


class Filtered(list[Value]):
    """What ``.*`` leaves: a later property is taken of each element."""


@dataclass(frozen=True)
class Tokens:
    """The words of an expression, read from left to right."""

    words: list[tuple[str, str]]

    def peek(self) -> tuple[str, str]:
        return self.words[0] if self.words else ("end", "")

    def take(self, expected: str = "") -> tuple[str, str]:
        kind, word = self.peek()
        if kind == "end" or (expected and word != expected):
            raise ExpressionError(f"{expected or 'more'!r} is wanted, {word!r} is there")
        return self.words.pop(0)

    def takes(self, sign: str) -> bool:
        if self.peek() == ("sign", sign):
            self.words.pop(0)
            return True
        return False


def read(text: str) -> Tokens:
    """Raises ExpressionError."""
    words, at = [], 0
    text = text.strip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match or match.end() == at:
            raise ExpressionError(f"{text!r} cannot be read from {text[at : at + 10]!r} on")
        words.append((match.lastgroup or "", match[match.lastgroup or 0]))
        at = match.end()
    return Tokens(words)


class Evaluator:
    """Evaluates over ``contexts`` (name → value) with ``functions`` beside the built-in ones, such as ``success``."""

    def __init__(self, contexts: Mapping[str, Value], functions: Mapping[str, Callable[..., Value]] | None = None) -> None:
        self.contexts = {name.lower(): value for name, value in contexts.items()}
        self.functions = {**BUILT_IN, **{name.lower(): function for name, function in (functions or {}).items()}}

    def evaluate(self, text: str) -> Value:
        """The value of one expression, without ``${{``. Raises ExpressionError."""
        tokens = read(text)
        value = self._either(tokens)
        if tokens.words:
            raise ExpressionError(f"{text!r} goes on with {tokens.peek()[1]!r}")
        return list(value) if isinstance(value, Filtered) else value

    def fill(self, text: str) -> str:
        """A text with every ``${{ … }}`` replaced by its value."""
        return HOLE.sub(lambda match: as_text(self.evaluate(match["expression"])), text)

    def holds(self, condition: str | bool) -> bool:
        """An ``if:``, with or without ``${{ }}`` around it."""
        text = str(condition).strip()
        if whole := HOLE.fullmatch(text):
            text = whole["expression"]
        elif "${{" in text:
            return is_true(self.fill(text))
        return is_true(self.evaluate(text))

    def _either(self, tokens: Tokens) -> Value:
        value = self._both(tokens)
        while tokens.takes("||"):
            other = self._both(tokens)
            value = value if is_true(value) else other
        return value

    def _both(self, tokens: Tokens) -> Value:
        value = self._same(tokens)
        while tokens.takes("&&"):
            other = self._same(tokens)
            value = other if is_true(value) else value
        return value

    def _same(self, tokens: Tokens) -> Value:
        value = self._order(tokens)
        while tokens.peek() in {("sign", "=="), ("sign", "!=")}:
            sign = tokens.take()[1]
            value = equal(value, self._order(tokens)) == (sign == "==")
        return value

    def _order(self, tokens: Tokens) -> Value:
        value = self._not(tokens)
        while tokens.peek()[0] == "sign" and tokens.peek()[1] in ORDERS:
            sign = tokens.take()[1]
            value = compare(sign, value, self._not(tokens))
        return value

    def _not(self, tokens: Tokens) -> Value:
        if tokens.takes("!"):
            return not is_true(self._not(tokens))
        return self._member(tokens)

    def _member(self, tokens: Tokens) -> Value:
        value = self._atom(tokens)
        while True:
            if tokens.takes("."):
                kind, word = tokens.take()
                if (kind, word) == ("sign", "*"):
                    value = star(value)
                elif kind == "name":
                    value = member(value, word)
                else:
                    raise ExpressionError(f"{word!r} is no property")
            elif tokens.takes("["):
                value = star(value) if tokens.takes("*") else member(value, self._either(tokens))
                tokens.take("]")
            else:
                return value

    def _atom(self, tokens: Tokens) -> Value:
        kind, word = tokens.take()
        if kind == "number":
            return as_number(word)
        if kind == "text":
            return word[1:-1].replace("''", "'")
        if (kind, word) == ("sign", "("):
            value = self._either(tokens)
            tokens.take(")")
            return value
        if kind != "name":
            raise ExpressionError(f"{word!r} is no value")
        return self._call(word, tokens) if tokens.takes("(") else self._named(word)

    def _named(self, word: str) -> Value:
        if word.lower() in CONSTANTS and word.lower() not in self.contexts:
            return CONSTANTS[word.lower()]
        if word.lower() not in self.contexts:
            raise ExpressionError(f"no context {word!r} is here")
        return self.contexts[word.lower()]

    def _call(self, name: str, tokens: Tokens) -> Value:
        arguments: list[Value] = []
        while not tokens.takes(")"):
            if arguments:
                tokens.take(",")
            arguments.append(self._either(tokens))
        if name.lower() not in self.functions:
            raise ExpressionError(f"no function {name!r} is known")
        return self.functions[name.lower()](*arguments)


def is_true(value: Value) -> bool:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return bool(value) and not math.isnan(value)
    return value is not None and value is not False and value != ""


def as_number(value: Value) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if not isinstance(value, str):
        return math.nan
    text = value.strip()
    if not text:
        return 0.0
    try:
        return float(int(text, 0)) if re.match(r"0[xo]", text) else float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def as_text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | int):
        return f"{value:.15g}" if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, str):
        return value
    return "Array" if isinstance(value, list) else "Object"


def is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def levelled(left: Value, right: Value) -> tuple[Value, Value]:
    """Two values as they are compared: both text without case, or both numbers."""
    if isinstance(left, str) and isinstance(right, str):
        return left.upper(), right.upper()
    return as_number(left), as_number(right)


def equal(left: Value, right: Value) -> bool:
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return left is right
    if left is None and right is None:
        return True
    one, other = levelled(left, right)
    return bool(one == other)


ORDERS: dict[str, Callable[[Value, Value], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def compare(sign: str, left: Value, right: Value) -> bool:
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return False
    return ORDERS[sign](*levelled(left, right))


def member(value: Value, name: Value) -> Value:
    if isinstance(value, Filtered):
        return Filtered([found for item in value if (found := member(item, name)) is not None])
    if isinstance(value, dict):
        wanted = as_text(name).lower()
        return next((held for key, held in value.items() if str(key).lower() == wanted), None)
    if isinstance(value, list):
        at = as_number(name)
        return value[int(at)] if not math.isnan(at) and 0 <= at < len(value) else None
    return None


def star(value: Value) -> Filtered:
    if isinstance(value, Filtered):
        return Filtered([inner for item in value for inner in star(item)])
    if isinstance(value, dict):
        return Filtered(value.values())
    return Filtered(value if isinstance(value, list) else [])


def contains(searched: Value, item: Value) -> bool:
    if isinstance(searched, list):
        return any(equal(one, item) for one in searched)
    return (
        not isinstance(searched, dict)
        and not isinstance(item, list | dict)
        and as_text(item).lower() in as_text(searched).lower()
    )


def _format(template: Value, *values: Value) -> str:
    def put(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[1] is None or int(match[1]) >= len(values):
            raise ExpressionError(f"{template!r} has nothing for {match[0]!r}")
        return as_text(values[int(match[1])])

    return re.sub(r"\{\{|\}\}|\{(\d+)\}|[{}]", put, as_text(template))


def _join(values: Value, separator: Value = ",") -> str:
    return as_text(separator).join(map(as_text, values)) if isinstance(values, list) else as_text(values)


def _plain(value: Value) -> Value:
    """Whole numbers without their fraction, as GitHub writes JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def _no_hash(*_patterns: Sequence[str]) -> str:
    raise ExpressionError("hashFiles is not played here")


BUILT_IN: dict[str, Callable[..., Value]] = {
    "contains": contains,
    "startswith": lambda text, start: as_text(text).lower().startswith(as_text(start).lower()),
    "endswith": lambda text, end: as_text(text).lower().endswith(as_text(end).lower()),
    "format": _format,
    "join": _join,
    "tojson": lambda value: json.dumps(_plain(value), indent=2, ensure_ascii=False),
    "fromjson": lambda text: json.loads(as_text(text)),
    "hashfiles": _no_hash,
}
