"""How a report is printed."""

from __future__ import annotations

from msgspec import Struct


class Style(Struct, frozen=True, kw_only=True):
    """What a user chose. A format ignores what it has no use for.

    Attributes:
        width: columns that prose is wrapped to.
        verbose: print the debate and what was not reported, too.
        quiet: print only findings, and what was not reviewed.
    """

    color: bool = False
    width: int = 80
    verbose: bool = False
    quiet: bool = False


DEFAULT = Style()
