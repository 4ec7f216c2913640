"""A table that is one test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

Failed = (Exception, pytest.fail.Exception)


def each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Any], Any]:
    """Like `pytest.mark.parametrize`, as one test: a failure says in which row it happened."""
    words = names.replace(",", " ").split() if isinstance(names, str) else names
    table = list(rows)
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def run() -> None:
            for number, row in enumerate(table):
                values = (row,) if len(words) == 1 else row
                try:
                    test(**dict(zip(words, values, strict=True)))
                except Failed as error:
                    error.add_note(f"in row {number}: {row!r}")
                    raise

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate
