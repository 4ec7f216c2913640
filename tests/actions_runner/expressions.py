"""Expressions of GitHub Actions: `${{ … }}` and `if:`, as far as the workflows here use them.

https://docs.github.com/actions/reference/workflows-and-actions/expressions
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

Function = Callable[..., Any]
Thunk = Callable[[], Any]

TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<name>[A-Za-z_][\w-]*)|(?P<sign>&&|\|\||[=!]=|[!().,]))"
)
EMBEDDED = re.compile(r"\$\{\{((?:'(?:[^']|'')*'|(?!\}\}).)*)\}\}", re.DOTALL)
KEYWORDS = {"true": True, "false": False, "null": None}
# Those that bind least come first.
OPERATORS = (("||",), ("&&",), ("==", "!="))


class ExpressionError(ValueError):
    """GitHub or this runner refuses the expression, or it reads what cannot be there."""


class Declared(dict[str, Any]):
    """A context whose names are all known. Another name, null for GitHub, is an error here."""


class Evaluator:
    """Evaluates expressions that may use `contexts` and, besides the usual ones, `functions`."""

    def __init__(
        self, contexts: Mapping[str, Any], functions: Mapping[str, Function] | None = None
    ) -> None:
        self.contexts = contexts
        self.functions = {**FUNCTIONS, **(functions or {})}

    def evaluate(self, text: str) -> Any:
        """The value of an expression without `${{`."""
        return _Parser(text, self).parse()()

    def fill(self, text: Any) -> str:
        """A value of a YAML file as text, with the value of each `${{ … }}` in its place."""
        return EMBEDDED.sub(lambda match: as_text(self.evaluate(match[1])), as_text(text))

    def fill_all(self, texts: Mapping[str, Any] | None) -> dict[str, str]:
        return {name: self.fill(text) for name, text in (texts or {}).items()}

    def holds(self, condition: Any) -> bool:
        """Whether an `if:` lets a step or a job run; None if there is no `if:`."""
        text = "success()" if condition is None else as_text(condition).strip()
        if match := EMBEDDED.fullmatch(text):
            text = match[1]
        elif "${{" in text:
            raise ExpressionError(f"if: {text!r} is always true, only a part is in ${{{{ }}}}")
        parser = _Parser(text, self)
        value = parser.parse()
        asks_status = parser.called & {"success", "failure", "always", "cancelled"}
        return bool(asks_status or self.functions["success"]()) and is_true(value())


class _Parser:
    """`called` has the names of the functions that the expression calls."""

    def __init__(self, text: str, evaluator: Evaluator) -> None:
        self._text, self._evaluator = text.strip(), evaluator
        self._tokens: list[tuple[str, str]] = []
        self.called: set[str] = set()
        at = 0
        while at < len(self._text):
            match = TOKEN.match(self._text, at)
            if not match:
                raise ExpressionError(f"{self._text!r} has a syntax error at {self._text[at:]!r}")
            self._tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
            at = match.end()
        self._tokens.append(("end", ""))

    def parse(self) -> Thunk:
        value = self._binary()
        self._expect("end")
        return value

    def _take(self, *signs: str) -> str:
        """The next token if it is one of the signs, else ""."""
        kind, word = self._tokens[0]
        return self._tokens.pop(0)[1] if kind == "sign" and word in signs else ""

    def _expect(self, kind: str) -> str:
        found, word = self._tokens.pop(0)
        if kind not in (found, word):
            raise ExpressionError(f"{self._text!r} has an unexpected {word or found}")
        return word

    def _binary(self, level: int = 0) -> Thunk:
        if level == len(OPERATORS):
            return self._unary()
        value = self._binary(level + 1)
        while sign := self._take(*OPERATORS[level]):
            value = partial(_apply, sign, value, self._binary(level + 1))
        return value

    def _unary(self) -> Thunk:
        if self._take("!"):
            value = self._unary()
            return lambda: not is_true(value())
        value = self._primary()
        while self._take("."):
            value = partial(_read, value, self._expect("name"))
        return value

    def _primary(self) -> Thunk:
        if self._take("("):
            value = self._binary()
            self._expect(")")
            return value
        if self._tokens[0][0] == "text":
            return partial(str, self._expect("text")[1:-1].replace("''", "'"))
        word = self._expect("name")
        if self._take("("):
            return self._call(word.lower())
        if word not in self._evaluator.contexts and word not in KEYWORDS:
            raise ExpressionError(f"{self._text!r}: the context {word} is not available here")
        return partial({**KEYWORDS, **self._evaluator.contexts}.__getitem__, word)

    def _call(self, name: str) -> Thunk:
        arguments: list[Thunk] = []
        while not self._take(")"):
            if arguments:
                self._expect(",")
            arguments.append(self._binary())
        if name not in self._evaluator.functions:
            raise ExpressionError(f"{self._text!r}: the function {name} is not available here")
        self.called.add(name)
        return lambda: self._evaluator.functions[name](*(argument() for argument in arguments))


def _apply(sign: str, left: Thunk, right: Thunk) -> Any:
    value = left()
    if sign in ("||", "&&"):
        return value if is_true(value) == (sign == "||") else right()
    return is_equal(value, right()) == (sign == "==")


def is_equal(left: Any, right: Any) -> bool:
    """Text is compared without case, null and nothing are equal. Other mixtures are refused."""
    values = [each or "" for each in (left, right)]
    if type(left) is type(right) and not isinstance(left, str):
        return bool(left == right)
    if not all(isinstance(value, str) for value in values):
        raise ExpressionError(f"{left!r} and {right!r} are not compared here")
    return bool(values[0].upper() == values[1].upper())


def is_true(value: Any) -> bool:
    return isinstance(value, list | dict) or bool(value)


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _read(value: Thunk, name: str) -> Any:
    """A property, whose name is written in any case."""
    found = value()
    if not isinstance(found, dict):
        return None
    names = {key.lower(): key for key in found}
    if isinstance(found, Declared) and name.lower() not in names:
        raise ExpressionError(f"{name!r} is none of {', '.join(found) or 'nothing'}")
    return found.get(names.get(name.lower(), ""))


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(is_equal(item, what) for item in where)
    return as_text(what).lower() in as_text(where).lower()


FUNCTIONS: dict[str, Function] = {  # names in lower case
    "contains": _contains,
    "startswith": lambda text, start: as_text(text).lower().startswith(as_text(start).lower()),
    # Python's format understands {0} and {{ as GitHub's does.
    "format": lambda template, *values: as_text(template).format(*map(as_text, values)),
    "fromjson": lambda text: json.loads(as_text(text)),
}
