"""Values of CrossHair in the making: symbolic parts, put together on each side of a comparison.

Objects are made on each side from the same symbolic parts, because an object of one tree means nothing to the other.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from reviewbot_guess import FORMS, keyed, written
from reviewbot_values import argument, maker, source

MOST_RECORDS = 3
"""In a list of objects; a list of plain values is as long as the solver likes."""
INEXACT = frozenset({"float", "complex"})
"""They are real numbers to the solver."""
LEAVES = {"int": int, "bool": bool, "float": float, "complex": complex, "str": str, "bytes": bytes, "none": type(None)}
CONTAINERS: dict[str, Any] = {"list": list, "set": set, "frozenset": frozenset, "tuple": tuple, "tuples": tuple, "dict": dict}


@dataclass(frozen=True, slots=True)
class Draft:
    """``value`` makes it from the names of a side, ``text`` is asked for once the solver has chosen."""

    value: Callable[[dict[str, Any]], Any]
    text: Callable[[], str]


class Drafts:
    """Makes drafts of shapes on one path. ``partial``: there are values that are not made, or made only nearly, as floats are."""

    partial = False

    def __init__(self, core: Any, space: Any) -> None:
        self._core = core
        self._space = space

    def optional(self, parameter: dict[str, Any]) -> Draft | None:
        if parameter["optional"] and self._space.smt_fork(desc=f"leaves out {parameter['name']}"):
            return None
        return self.draft(parameter["shape"], parameter["name"])

    def draft(self, shape: list[Any], name: str) -> Draft:
        kind, name = shape[0], f"{name}_{self._space.uniq()}"
        plain = _annotation(shape)
        self.partial = self.partial or kind == "some of" or shape[-1] == "not all" or not INEXACT.isdisjoint(_words(shape))
        if plain is not None:
            value = self._core.proxy_for_type(plain, name)
            return Draft(lambda _: copy.deepcopy(value), lambda: str(source(self._core.deep_realize(value))))
        if kind == "between":
            number = self._core.proxy_for_type(int, name)
            self._space.add(number.var >= shape[1])
            self._space.add(number.var <= shape[2])
            return Draft(lambda _: number, lambda: str(source(self._core.realize(number))))
        if kind in ("one of", "some of"):
            text = _chosen(shape[1], self._space)
            return Draft(lambda names: argument(text, names)[1], lambda: text)
        if kind == "any of":
            return self.draft(_chosen(shape[1], self._space), name)
        return self._made_of(shape, name)

    def _made_of(self, shape: list[Any], name: str) -> Draft:
        """What consists of other drafts."""
        kind = shape[0]
        if kind == "call":
            parts = [self.draft(inner, name) for _, inner in shape[2]]
            return Draft(
                lambda names: _construct(shape, names, [part.value(names) for part in parts]),
                lambda: written(shape[1], shape[2], [part.text() for part in parts]),
            )
        if kind == "keyed":
            parts = [self.draft(inner, name) for _, inner in shape[1]]
            keys = [argument(key, {})[1] for key, _ in shape[1]]
            return Draft(
                lambda names: dict(zip(keys, [part.value(names) for part in parts], strict=True)),
                lambda: keyed(shape[1], [part.text() for part in parts]),
            )
        return self._several(shape, name)

    def _several(self, shape: list[Any], name: str) -> Draft:
        kind = shape[0]
        if kind == "dict":
            pairs = [self.draft(["tuple", shape[1:]], name) for _ in range(self._count())]
            return Draft(
                lambda names: dict(part.value(names) for part in pairs),
                lambda: "dict([" + ", ".join(part.text() for part in pairs) + "])",
            )
        shapes = shape[1] if kind == "tuple" else [shape[1]] * self._count()
        parts = [self.draft(inner, name) for inner in shapes]
        return Draft(
            lambda names: CONTAINERS[kind]([part.value(names) for part in parts]),
            lambda: str(FORMS[kind]([part.text() for part in parts])),
        )

    def _count(self) -> int:
        """How many records: the solver may ask for more, up to a bound."""
        count = 0
        while self._space.smt_fork(desc=f"more than {count}"):
            if count == MOST_RECORDS:
                self.partial = True
                break
            count += 1
        return count


def _annotation(shape: list[Any]) -> Any:
    """What CrossHair makes whole, or ``None``."""
    kind = shape[0]
    if kind in LEAVES:
        return LEAVES[kind]
    if kind not in CONTAINERS:
        return None
    inner = [_annotation(part) for part in (shape[1] if kind == "tuple" else shape[1:])]
    if any(part is None for part in inner):
        return None
    return types.GenericAlias(CONTAINERS[kind], (*inner, ...) if kind == "tuples" else tuple(inner))


def _words(shape: list[Any]) -> Iterator[str]:
    for part in shape:
        if isinstance(part, list):
            yield from _words(part)
        else:
            yield str(part)


def _construct(shape: list[Any], names: dict[str, Any], values: list[Any]) -> Any:
    words = {word: value for (word, _), value in zip(shape[2], values, strict=True) if word}
    return maker(shape[1], names)(*(value for (word, _), value in zip(shape[2], values, strict=True) if not word), **words)


def _chosen(items: list[Any], space: Any) -> Any:
    for item in items[:-1]:
        if space.smt_fork(desc=f"takes {item}"):
            return item
    return items[-1]
