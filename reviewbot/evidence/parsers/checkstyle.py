"""Checkstyle's XML, which many linters write."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.screen import strict_xml

_GRADES = {"error": Grade.ERROR, "warning": Grade.WARNING, "info": Grade.NOTE, "ignore": Grade.NOTE}
_MAX_DIGITS = 9


def read(data: bytes) -> tuple[Remark, ...]:
    """Every error, and a file over which the tool failed as one at line 0. Raises Unreadable."""
    try:
        root = strict_xml.parse(data)
    except strict_xml.InvalidXml as exc:
        raise Unreadable(str(exc)) from exc
    if root.tag != "checkstyle":
        raise Unreadable("its root is not <checkstyle>")
    return shape.first(remark for file in root.iter("file") for remark in _remarks(file))


def _remarks(file: Element) -> Iterator[Remark]:
    path = _text(file, "name")
    for item in file:
        if item.tag == "error":
            yield _remark(path, item)
        elif item.tag == "exception":
            yield Remark(path, 0, (item.text or "").strip(), grade=Grade.ERROR)


def _remark(path: str, item: Element) -> Remark:
    return Remark(
        path,
        _number(item, "line"),
        _text(item, "message"),
        rule=item.get("source") or None,
        grade=_GRADES.get(item.get("severity", "").lower(), Grade.WARNING),
        column=_number(item, "column"),
    )


def _text(item: Element, name: str) -> str:
    value = item.get(name)
    if value is None:
        raise Unreadable(f"<{item.tag}> without {name!r}")
    return value


def _number(item: Element, name: str) -> int:
    """0 where there is none, and for the numbers below 0 by which some tools say so."""
    digits = item.get(name, "")
    value = digits.removeprefix("-")
    if digits and not (value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS):
        raise Unreadable(f"{name!r} of <{item.tag}> is not the number of a line or column")
    return plain.number(digits if digits == value else None)
