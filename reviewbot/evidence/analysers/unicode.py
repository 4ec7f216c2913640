"""Characters that a reader does not see, or that make a line look like another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence.analysers.source import Source
from reviewbot.screen import hidden
from reviewbot.screen.hidden import Hidden, HiddenKind

_MARKS = frozenset({0x200E, 0x200F, 0x061C})
"""Directional marks: usual in prose that mixes scripts, and unable to reorder what stands around them."""
_PROSE = (".md", ".rst", ".txt", ".po", ".pot", ".html", ".json", ".csv", ".xlf", ".srt", ".arb", ".strings")
_HARMLESS = frozenset({0x00AD, 0x000C, 0x2028, 0x2029, 0x0085, 0x2800})
_BOM = 0xFEFF
MOST_OF_A_KIND = 20
"""Lines of one file with one kind of hidden character that are told [design]."""
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_HONEST = re.compile(
    r"utf[-_]?8(?:[-_].*)?|(?:us[-_]?)?ascii|latin[-_]?\d+(?:[-_].*)?|iso[-_]?8859[-_]\d+(?:[-_].*)?|(?:windows[-_]?|cp)\d{3,4}"
    r"|gb(?:k|2312|18030)|big5(?:[-_].*)?|euc[-_]\w+|s(?:hift)?[-_]?jis\w*|koi8[-_]\w|mac[-_]?roman",
    re.IGNORECASE,
)
"""Encodings that write every ASCII character as itself and as nothing else, so that code reads as it runs."""


def analyse(source: Source) -> Iterator[Result]:
    """One result per line and kind of character, and one for an encoding that can make code out of what reads like a comment.

    Of one kind so many lines are told as a person would look at: a file that is half binary would push all else out of the
    record."""
    yield from _encoding(source)
    told: Counter[str] = Counter()
    for result in _lines(source):
        told[str(result.rule)] += 1
        if told[str(result.rule)] <= MOST_OF_A_KIND:
            yield result


def _lines(source: Source) -> Iterator[Result]:
    for number, text in source.lines:
        if text.isascii() and text.isprintable():
            continue
        found = [item for item in hidden.find(text) if not _is_writing(item, text, source.path, is_first=number == 1)]
        for _, same in groupby(sorted(found, key=lambda item: (item.kind, item.column)), key=lambda item: item.kind):
            yield _result(source, (number, text), tuple(same))


def _encoding(source: Source) -> Iterator[Result]:
    """PEP 263: the first two lines may name a codec, among them ``utf-7``, in which ``+AAo-`` ends a line."""
    for number, text in source.lines[:2]:
        cookie = _COOKIE.match(text) if number <= 2 and source.path.endswith((".py", ".pyi")) else None
        if cookie and not _HONEST.fullmatch(cookie[1]):
            yield Result(
                EvidenceKind.UNICODE,
                "hidden-characters",
                "encoding",
                source.path,
                number,
                f"The source is in the encoding {hidden.visible(cookie[1])[:40]}: what looks like a comment may be code",
                Category.SECURITY,
                Severity.HIGH,
                Precision.LIKELY,
                end_line=number,
                anchor=text.strip(),
                trigger="a person, a linter or a language model reads the file as text",
                consequence="what they see is not what runs",
                excerpt=hidden.visible(text).strip()[:400],
            )


def _is_writing(item: Hidden, text: str, path: str, *, is_first: bool) -> bool:
    """It belongs to how a language, an old editor or a file is written."""
    if item.codepoint == _BOM and is_first and item.column == 0:
        return True
    if 0xD800 <= item.codepoint <= 0xDFFF or item.codepoint in _HARMLESS:
        return True
    if path.endswith(_PROSE) and (item.codepoint in _MARKS or item.kind in (HiddenKind.ZERO_WIDTH, HiddenKind.CONTROL)):
        return True
    return item.kind in (HiddenKind.ZERO_WIDTH, HiddenKind.BIDI) and item.codepoint not in _REORDER and _joins(text, item.column)


_REORDER = frozenset((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def _joins(text: str, column: int) -> bool:
    """It stands between letters of a script that needs joiners and marks: right-to-left, Indic and South-East Asian ones."""
    beside = text[max(column - 1, 0) : column] + text[column + 1 : column + 2]
    return any(
        0x0590 <= ord(letter) <= 0x109F or 0x1780 <= ord(letter) <= 0x18AF or 0xFB1D <= ord(letter) <= 0xFEFC for letter in beside
    )


def _result(source: Source, line: tuple[int, str], found: tuple[Hidden, ...]) -> Result:
    (number, text), kind = line, found[0].kind
    weighty = kind in (HiddenKind.BIDI, HiddenKind.TAG) and not source.path.endswith(_PROSE)
    severity = Severity.HIGH if weighty else Severity.MEDIUM if kind is not HiddenKind.CONTROL else Severity.LOW
    names = ", ".join(dict.fromkeys(f"{item.name} (U+{item.codepoint:04X})" for item in found))
    clean = hidden.visible(text).strip()
    return Result(
        EvidenceKind.UNICODE,
        "hidden-characters",
        kind.value.replace("_", "-"),
        source.path,
        number,
        f"Hidden character in the line: {names[:120]}",
        Category.SECURITY,
        severity,
        Precision.LIKELY if weighty else Precision.HEURISTIC,
        end_line=number,
        anchor=text.strip(),
        trigger="a person or a language model reads the line",
        consequence="what they see is not what runs",
        excerpt=clean[:400],
    )
