"""What somebody decided not to hear of again, as the repository's file remembers it."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.evidence import Category, Severity

FILE = ".reviewbot/dismissed.yml"
"""Where a repository keeps its dismissals, from the top of the work tree."""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """One finding that is not to be raised again, and why.

    ``line`` is its normalised anchored line, shortened, and ``near`` what stood around it (``consensus.identity.near``): by them
    it is known again where equal lines come and go. Without them only the very fingerprint tells. ``date`` is a day (2026-01-31).
    """

    fingerprint: str
    path: str
    reason: str
    title: str = ""
    rule: str | None = None
    category: Category | None = None
    severity: Severity | None = None
    line: str = ""
    near: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Dismissals:
    """What is dismissed where a change is reviewed. ``held`` counts; ``opposed`` is what the change itself brings: its author's
    word. ``notes`` say what could not be read. ``is_final``: that is all that counts, also where it is nothing."""

    held: tuple[Dismissal, ...] = ()
    opposed: tuple[Dismissal, ...] = ()
    notes: tuple[str, ...] = ()
    is_final: bool = False
