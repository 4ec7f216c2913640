"""Formatted as the project formats: found by evidence, and not by what is configured.

A formatter is the project's where it leaves the head's file as it is. What is written into such a file is formatted by it, and
must then be left as it is, too. Everything else stays as it was written, but for line endings.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from reviewbot.domain.repair import Edit
from reviewbot.evidence.formatters import tidy
from reviewbot.evidence.formatters.kept import kept, same_words
from reviewbot.evidence.formatters.table import FORMATTERS, Formatter
from reviewbot.evidence.plan import why_not
from reviewbot.evidence.view import CheckOptions, View, named
from reviewbot.ports import Job, Outcome

__all__ = ["Formatted", "formatted", "laid_out"]

Runs = Generator[tuple[Job, ...], tuple[Outcome, ...], list[tuple[bytes | None, ...]]]

NEIGHBOURS = 5
"""Files of the head that stand for one that comes new: all of them must be left as they are [design]."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """The edits, formatted where the file was, and why some that should be are not."""

    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Case:
    """What a formatter makes of a file, and what of the head it must leave as it is to be believed."""

    formatter: Formatter
    path: str
    tidied: bytes
    witnesses: tuple[tuple[str, bytes], ...]

    @property
    def texts(self) -> tuple[tuple[str, bytes], ...]:
        """All that it must leave as it is: its own work, too."""
        return ((self.path, self.tidied), *self.witnesses)

    def holds(self, again: Sequence[bytes | None]) -> bool:
        """It left them as they are."""
        return bool(self.witnesses) and all(text == data for (_, data), text in zip(self.texts, again, strict=True))


def formatted(
    view: View, edits: tuple[Edit, ...], options: CheckOptions
) -> Generator[tuple[Job, ...], tuple[Outcome, ...], tuple[Edit, ...]]:
    """The edits, as many and in their order: formatted as the project formats, with the head's line endings."""
    made = yield from laid_out(view, edits, options)
    return made.edits


def laid_out(
    view: View, edits: tuple[Edit, ...], options: CheckOptions
) -> Generator[tuple[Job, ...], tuple[Outcome, ...], Formatted]:
    """The same, and what could not be done. Each formatter is run once over what was written, and once more, where one would
    change it, over its own work and the head's files."""
    heads = {file.head_path: head for file in view.files if file.head_path and (head := view.contents_of(file).head) is not None}
    edits = tuple(_kept(edit, heads.get(edit.path)) for edit in edits)
    reason = why_not(view, options)
    known = [one for one in FORMATTERS if options.execute and one.wanted(view)]
    usable = [one for one in known if one.parses or not reason]
    written = [(one, texts) for one in usable if (texts := _texts(one, edits))]
    first = yield from _tidied(written, view, options)
    cases = tuple(_cases(written, first, heads))
    groups = [(one, tuple(text for case in cases if case.formatter is one for text in case.texts)) for one in usable]
    again = yield from _tidied([group for group in groups if group[1]], view, options)
    rest = iter([text for found in again for text in found])
    held = [(case, case.holds([next(rest) for _ in case.texts])) for case in cases]
    return _judged(edits, held, tuple(_unasked(view, known, edits, reason=reason)))


def _kept(edit: Edit, head: bytes | None) -> Edit:
    return edit if edit.content is None or head is None else replace(edit, content=kept(head, edit.content))


def _texts(formatter: Formatter, edits: Iterable[Edit]) -> tuple[tuple[str, bytes], ...]:
    """What of the edits it reads."""
    return tuple((edit.path, edit.content) for edit in edits if edit.content and named(edit.path, formatter.files))


def _tidied(wanted: Sequence[tuple[Formatter, tidy.Texts]], view: View, options: CheckOptions) -> Runs:
    """What each formatter makes of its texts."""
    jobs = [tidy.jobs(one, texts, view, seconds=options.seconds) for one, texts in wanted]
    if not jobs:
        return []
    outcomes = iter((yield tuple(job for mine in jobs for job in mine)))
    return [tidy.read(texts, [next(outcomes) for _ in mine]) for (_, texts), mine in zip(wanted, jobs, strict=True)]


def _cases(
    written: Iterable[tuple[Formatter, tuple[tuple[str, bytes], ...]]],
    found: Iterable[tuple[bytes | None, ...]],
    heads: Mapping[str, bytes],
) -> Iterator[_Case]:
    """For every file that a formatter would change, what each formatter makes of it."""
    told = [
        (one, path, data, tidied)
        for (one, texts), results in zip(written, found, strict=True)
        for (path, data), tidied in zip(texts, results, strict=True)
        if tidied is not None and same_words(data, tidied)
    ]
    changed = {path for _, path, data, tidied in told if tidied != data}
    for one, path, _, tidied in told:
        if path in changed:
            yield _Case(one, path, tidied, _witnesses(one, path, heads))


def _witnesses(formatter: Formatter, path: str, heads: Mapping[str, bytes]) -> tuple[tuple[str, bytes], ...]:
    """What tells whether the project formats so: the file itself at head, or where there is nothing in it, files near it."""
    if heads.get(path, b"").strip():
        return ((path, heads[path]),)
    others = [other for other, head in heads.items() if head.strip() and named(other, formatter.files)]
    nearest = sorted(others, key=lambda other: (-_shared(path, other), other))
    return tuple((other, heads[other]) for other in nearest[:NEIGHBOURS])


def _judged(edits: tuple[Edit, ...], held: Sequence[tuple[_Case, bool]], notes: tuple[str, ...]) -> Formatted:
    """Every edit as its formatter made it: the first that leaves the head's file as it is."""
    made: dict[str, bytes] = {}
    for case, holds in held:
        if holds:
            made.setdefault(case.path, case.tidied)
    return Formatted(tuple(replace(edit, content=made.get(edit.path, edit.content)) for edit in edits), notes)


def _shared(path: str, other: str) -> int:
    """How many folders down two files are in one."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path.split("/"), other.split("/"), strict=False)))


def _unasked(view: View, known: Iterable[Formatter], edits: tuple[Edit, ...], *, reason: str) -> Iterator[str]:
    """That nobody could be asked of whom there are settings in the project."""
    walled = (one for one in known if not one.parses and _texts(one, edits) and _has_settings(view, one))
    names = " or ".join(dict.fromkeys(one.name for one in walled))
    if names and reason:
        yield f"whether the project formats with {names} is not known: {reason}"


def _has_settings(view: View, formatter: Formatter) -> bool:
    return any(named(path, formatter.configuration) for path in view.names)
