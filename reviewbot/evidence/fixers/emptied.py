"""Fixes that are each sound and together empty a block of Python: what goes last leaves ``pass``, as ruff itself does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewbot.evidence.fixers.splices import applied
from reviewbot.evidence.statements import parse
from reviewbot.ports import Splice


def sound(data: bytes, splices: Sequence[Splice]) -> tuple[Splice, ...] | None:
    """Replacements in one file, in order, with which it can be parsed still: ``None`` where there are none such. A file that
    cannot be parsed here, which may be newer than this Python, says nothing of them."""
    if parse(applied(data, splices)) is not None or parse(data) is None:
        return tuple(splices)
    found: list[Splice] = []
    for one in splices:
        ways = (one, *_passing(data, one))
        fitting = next((way for way in ways if parse(applied(data, (*found, way))) is not None), None)
        if fitting is None:
            return None
        found.append(fitting)
    return tuple(found)


def _passing(data: bytes, splice: Splice) -> tuple[Splice, ...]:
    """``pass`` instead of whole lines that would go."""
    gone = data[splice.start : splice.end]
    whole = gone.endswith(b"\n") and data[: splice.start].endswith((b"\n", b"\r")) and not splice.text
    if not whole:
        return ()
    bare = gone.lstrip(b" \t")
    ending = b"\r\n" if gone.endswith(b"\r\n") else b"\n"
    return (replace(splice, text=gone[: len(gone) - len(bare)] + b"pass" + ending),)
