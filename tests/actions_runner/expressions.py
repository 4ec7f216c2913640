"""Expressions of GitHub Actions: `${{ … }}` and `if:`.

https://docs.github.com/actions/reference/workflows-and-actions/expressions
Not there: hexadecimal and octal numbers, Infinity, NaN, hashFiles and case.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

Function = Callable[..., Any]
Thunk = Callable[[], Any]

TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<text>'(?:[^']|'')*')"
    r"|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<sign>&&|\|\||[=!<>]=|[<>!().,*\[\]]))"
)
EMBEDDED = re.compile(r"\$\{\{((?:'(?:[^']|'')*'|(?!\}\}).)*)\}\}", re.DOTALL)
KEYWORDS = {"true": True, "false": False, "null": None}
COMPARISONS = {
    **{"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le},
    **{">": operator.gt, ">=": operator.ge},
}
# Those that bind least come first.
OPERATORS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="))


class ExpressionError(ValueError):
    """GitHub refuses the expression, or it reads something that cannot be there."""


class Declared(dict[str, Any]):
    """A context whose names are all known. Another name, null for GitHub, is an error here."""


class Filtered(list[Any]):
    """The result of `.*`: a property is read from each element."""


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
            raise ExpressionError(
                f"if: {text!r} is always true, since only a part is in ${{{{ }}}}"
            )
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

    def parse(self) -> Thunk:
        value = self._binary()
        if self._tokens:
            raise self._unexpected()
        return value

    def _unexpected(self) -> ExpressionError:
        found = self._tokens[0][1] if self._tokens else "end"
        return ExpressionError(f"{self._text!r} has an unexpected {found}")

    def _take(self, *signs: str) -> str:
        """The next token if it is one of the signs, else ""."""
        is_next = self._tokens and self._tokens[0][0] == "sign" and self._tokens[0][1] in signs
        return self._tokens.pop(0)[1] if is_next else ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unexpected()

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
        return self._property()

    def _property(self) -> Thunk:
        value = self._primary()
        while sign := self._take(".", "["):
            name: Thunk | None = None
            if sign == "[" and not self._take("*"):
                name = self._binary()
            elif sign == "." and not self._take("*"):
                if not self._tokens or self._tokens[0][0] != "name":
                    raise self._unexpected()
                name = partial(str, self._tokens.pop(0)[1])
            if sign == "[":
                self._expect("]")
            value = partial(_read, value, name)
        return value

    def _primary(self) -> Thunk:
        if self._take("("):
            value = self._binary()
            self._expect(")")
            return value
        if not self._tokens or self._tokens[0][0] == "sign":
            raise self._unexpected()
        kind, word = self._tokens.pop(0)
        if kind == "number":
            return partial(int if word.isdigit() else float, word)
        if kind == "text":
            return partial(str, word[1:-1].replace("''", "'"))
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

        def call() -> Any:
            try:
                return self._evaluator.functions[name](*(argument() for argument in arguments))
            except (TypeError, IndexError, ValueError) as error:
                raise ExpressionError(f"{self._text!r}: {error}") from error

        return call


def _apply(sign: str, left: Thunk, right: Thunk) -> Any:
    value = left()
    if sign in ("||", "&&"):
        return value if is_true(value) == (sign == "||") else right()
    return compare(sign, value, right())


def compare(sign: str, left: Any, right: Any) -> bool:
    """Text is compared without case, values of different types as numbers."""
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return {"==": left is right, "!=": left is not right}.get(sign, False)
    if isinstance(left, str) and isinstance(right, str):
        return bool(COMPARISONS[sign](left.upper(), right.upper()))
    return bool(COMPARISONS[sign](as_number(left), as_number(right)))


def is_true(value: Any) -> bool:
    return isinstance(value, list | dict) or bool(value)


def as_number(value: Any) -> float:
    """NaN for what is no number."""
    text = value.strip() or "0" if isinstance(value, str) else str(float(value or 0))
    is_number = re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text)
    return float(text) if is_number else math.nan


def as_text(value: Any) -> str:
    if isinstance(value, list | dict):
        return "Array" if isinstance(value, list) else "Object"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.15g}"
    return "" if value is None else str(value)


def _read(value: Thunk, name: Thunk | None) -> Any:
    """A property or an element; all of them if the name is None."""
    return _all_of(value()) if name is None else _property_of(value(), name())


def _property_of(value: Any, name: Any) -> Any:
    if isinstance(value, Filtered):
        found = (_property_of(item, name) for item in value)
        return Filtered(item for item in found if item is not None)
    if isinstance(value, dict):
        names = {key.lower(): key for key in value}
        if isinstance(value, Declared) and as_text(name).lower() not in names:
            raise ExpressionError(f"{as_text(name)!r} is none of {', '.join(value) or 'nothing'}")
        return value.get(names.get(as_text(name).lower(), ""))
    is_index = isinstance(value, list) and 0 <= as_number(name) < len(value)
    return value[int(as_number(name))] if is_index else None


def _all_of(value: Any) -> Filtered:
    if isinstance(value, Filtered):
        return Filtered(item for each in value for item in _all_of(each))
    items = value.values() if isinstance(value, dict) else value
    return Filtered(items if isinstance(value, list | dict) else ())


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(compare("==", item, what) for item in where)
    return not isinstance(where, dict) and as_text(what).lower() in as_text(where).lower()


def _join(values: Any, separator: Any = ",") -> str:
    if isinstance(values, list):
        return as_text(separator).join(map(as_text, values))
    return "" if isinstance(values, dict) else as_text(values)


FUNCTIONS: dict[str, Function] = {  # names in lower case
    "contains": _contains,
    "startswith": lambda text, start: as_text(text).lower().startswith(as_text(start).lower()),
    "endswith": lambda text, end: as_text(text).lower().endswith(as_text(end).lower()),
    # Python's format understands {0} and {{ as GitHub's does.
    "format": lambda template, *values: as_text(template).format(*map(as_text, values)),
    "join": _join,
    "tojson": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    "fromjson": lambda text: json.loads(as_text(text)),
}
