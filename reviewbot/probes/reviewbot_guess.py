"""Arguments as source text, made up from shapes: first values at boundaries, the simplest first, then hypothesis' examples.

A parameter with a default is left out too. Optional parameters are given by keyword, so that any of them may be left out.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

from reviewbot_values import source, source_of_set

Shape = list[Any]
Parameter = dict[str, Any]
Constants = dict[str, list[str]]
LEFT_OUT = ""
MAX_GUESSES = 40
MAX_LENGTH = 6
"""Items of a container that hypothesis makes."""
PLAIN: Constants = {
    "int": ["0", "1", "-1", "2", "3", "10", "-2", "100", "255", "256", "1000000", "-9223372036854775808"],
    "bool": ["False", "True"],
    "float": ["0.0", "1.0", "-1.0", "0.5", "1.5", "2.5", "-0.5", "0.1", "100.0", "1e+16"],
    "complex": ["complex(0.0, 0.0)", "complex(1.0, -1.0)"],
    "str": ["''", "'a'", "'b'", "'A'", "' '", "'ab'", "'0'", "'a b'", "' a '", "'\\n'", "'-1'", "'1.5'", "'a,b'", "'\\xe9'"],
    "bytes": ["b''", "b'a'", "b'\\x00'", "b'\\xff'"],
    "none": ["None"],
}
Form = Callable[[list[str]], str]
FORMS: dict[str, Form] = {
    "list": lambda items: f"[{', '.join(items)}]",
    "tuples": lambda items: f"({', '.join(items)}{',' if len(items) == 1 else ''})",
    "tuple": lambda items: f"({', '.join(items)}{',' if len(items) == 1 else ''})",
    "set": lambda items: source_of_set(sorted(set(items)), "set"),
    "frozenset": lambda items: source_of_set(sorted(set(items)), "frozenset"),
}


def written(name: str, items: list[list[Any]], texts: list[str]) -> str:
    """A call, by the keywords of its shape."""
    words = (f"{keyword}={text}" if keyword else text for (keyword, _), text in zip(items, texts, strict=True))
    return f"{name}({', '.join(words)})"


def keyed(items: list[list[Any]], texts: list[str]) -> str:
    return "{" + ", ".join(f"{key}: {text}" for (key, _), text in zip(items, texts, strict=True)) + "}"


def dictionary(pairs: list[list[str]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


def passed(parameters: list[Parameter], texts: list[str]) -> list[str]:
    """Arguments of a call from one text a parameter, which is empty for one that is left out."""
    named = {True: "{0}={1}", False: "{1}"}
    pairs = zip(parameters, texts, strict=True)
    return [named[by_keyword(parameter)].format(parameter["name"], text) for parameter, text in pairs if text]


def by_keyword(parameter: Parameter) -> bool:
    return bool(parameter["kind"] == "keyword" or parameter["optional"])


def boundaries(parameters: list[Parameter], constants: Constants, most: int) -> Iterator[list[str]]:
    """Arguments of calls, from the simplest on, each parameter's guesses against the others'."""
    columns = [([LEFT_OUT] if parameter["optional"] else []) + guesses(parameter["shape"], constants) for parameter in parameters]
    for count, places in enumerate(diagonal([len(column) for column in columns])):
        if count >= most:
            return
        yield passed(parameters, [column[place] for column, place in zip(columns, places, strict=True)])


def diagonal(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """All tuples of numbers below ``sizes``, those of the smallest sum first."""

    def summing(total: int, left: list[int]) -> Iterator[tuple[int, ...]]:
        if not left:
            if total == 0:
                yield ()
            return
        most = sum(size - 1 for size in left[1:])
        for first in range(max(0, total - most), min(total, left[0] - 1) + 1):
            for rest in summing(total - first, left[1:]):
                yield (first, *rest)

    if all(sizes):
        for total in range(sum(size - 1 for size in sizes) + 1):
            yield from summing(total, sizes)


def guesses(shape: Shape, constants: Constants) -> list[str]:
    """Texts of a few values of a shape, simple and likely ones first."""
    return list(dict.fromkeys(_guesses(shape, constants)))[:MAX_GUESSES]


def _guesses(shape: Shape, constants: Constants) -> Iterator[str]:
    kind = shape[0]
    if kind in PLAIN:
        yield from _leaves(kind, constants)
    elif kind == "between":
        yield from (str(value) for value in (shape[1], shape[1] + 1, (shape[1] + shape[2]) // 2, shape[2]))
    elif kind in ("one of", "some of"):
        yield from shape[1]
    elif kind == "any of":
        yield from _woven([guesses(inner, constants) for inner in shape[1]])
    elif kind == "call":
        yield from (written(shape[1], shape[2], texts) for texts in _rows([inner for _, inner in shape[2]], constants))
    elif kind == "keyed":
        yield from (keyed(shape[1], texts) for texts in _rows([inner for _, inner in shape[1]], constants))
    elif kind == "tuple":
        yield from (FORMS[kind](texts) for texts in _rows(shape[1], constants))
    elif kind == "dict":
        yield from _dictionaries(*(guesses(inner, constants) for inner in shape[1:]))
    else:
        yield from (FORMS[kind](items) for items in _sequences(guesses(shape[1], constants)))


def _leaves(kind: str, constants: Constants) -> Iterator[str]:
    """The module's own constants come early: a branch may wait for them."""
    own = constants.get(kind, [])
    yield from PLAIN[kind][:3]
    for text in own:
        yield from (str(int(text) + step) for step in (0, 1, -1)) if kind == "int" else (text,)
    yield from PLAIN[kind][3:]


def _woven(columns: list[list[str]]) -> Iterator[str]:
    """One of each in turn."""
    for place in range(max(map(len, columns))):
        yield from (column[place] for column in columns if place < len(column))


def _rows(shapes: list[Shape], constants: Constants) -> Iterator[list[str]]:
    columns = [guesses(shape, constants) for shape in shapes]
    for count, places in enumerate(diagonal([len(column) for column in columns])):
        if count >= MAX_GUESSES:
            return
        yield [column[place] for column, place in zip(columns, places, strict=True)]


def _sequences(items: list[str]) -> Iterator[list[str]]:
    yield []
    few = items[:8]
    yield from ([item] for item in few)
    yield few[:2]
    yield few[1::-1]
    yield few[:1] * 2
    yield few[1:4]
    yield few
    yield few[::-1]
    yield from ([item] for item in items[8:])


def _dictionaries(keys: list[str], values: list[str]) -> Iterator[str]:
    yield "{}"
    for key, value in zip(keys, values, strict=False):
        yield dictionary([[key, value]])
    for step in (1, -1):
        yield dictionary([[key, value] for key, value in zip(keys[:3], values[:3][::step], strict=False)])


def examples(
    parameters: list[Parameter], constants: Constants, most: int, *, judge: Callable[[list[str]], bool]
) -> list[str] | None:
    """The smallest arguments hypothesis finds that ``judge`` holds for; the same in every run."""
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "hypothesis"))
    hypothesis = import_module("hypothesis")
    making = Making(import_module("hypothesis.strategies"), constants)
    found: list[list[str]] = []

    def search(texts: list[str]) -> None:
        arguments = passed(parameters, list(texts))
        if judge(arguments):
            found.append(arguments)
            raise AssertionError

    settings = hypothesis.settings(
        max_examples=most,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    with contextlib.suppress(AssertionError, hypothesis.errors.HypothesisException):  # found, or not found again when asked twice
        settings(hypothesis.given(making.tuples(parameters))(search))()
    return found[-1] if found else None


class Making:
    """Hypothesis' strategies for source texts."""

    def __init__(self, st: Any, constants: Constants) -> None:
        self.st = st
        self.constants = constants

    def tuples(self, parameters: list[Parameter]) -> Any:
        makers = []
        for parameter in parameters:
            maker = self.of(parameter["shape"])
            makers.append(self.st.just(LEFT_OUT) | maker if parameter["optional"] else maker)
        return self.st.tuples(*makers)

    def of(self, shape: Shape) -> Any:
        """The strategy for a shape."""
        st = self.st
        making: dict[str, Callable[[], Any]] = {
            "between": lambda: st.integers(shape[1], shape[2]).map(str),
            "one of": lambda: st.sampled_from(shape[1]),
            "some of": lambda: st.sampled_from(shape[1]),
            "any of": lambda: st.one_of(*map(self.of, shape[1])),
            "call": lambda: self._row([inner for _, inner in shape[2]]).map(partial(written, shape[1], shape[2])),
            "keyed": lambda: self._row([inner for _, inner in shape[1]]).map(partial(keyed, shape[1])),
            "tuple": lambda: self._row(shape[1]).map(FORMS["tuple"]),
            "dict": lambda: self._pairs(shape).map(dictionary),
        }
        if shape[0] in PLAIN:
            return self._leaf(shape[0])
        if shape[0] in making:
            return making[shape[0]]()
        return st.lists(self.of(shape[1]), max_size=MAX_LENGTH).map(FORMS[shape[0]])

    def _pairs(self, shape: Shape) -> Any:
        return self.st.lists(self._row(shape[1:]), max_size=MAX_LENGTH, unique_by=lambda pair: pair[0])

    def _row(self, shapes: list[Shape]) -> Any:
        return self.st.tuples(*map(self.of, shapes)).map(list)

    def _leaf(self, kind: str) -> Any:
        st = self.st
        plain = {
            "int": st.integers,
            "bool": st.booleans,
            "float": lambda: st.floats(allow_nan=False, allow_infinity=False, width=32),
            "complex": lambda: st.complex_numbers(allow_nan=False, allow_infinity=False, max_magnitude=1e6),
            "str": lambda: st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
            "bytes": lambda: st.binary(max_size=20),
            "none": st.none,
        }
        made = plain[kind]().map(source)
        likely = list(_leaves(kind, self.constants))
        return made if kind in ("bool", "none") else made | st.sampled_from(likely)
