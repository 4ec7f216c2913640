"""Cobertura's coverage XML, as written by coverage.py, pytest-cov, gocover-cobertura, c8 and Istanbul."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.screen import strict_xml

_DOCTYPE = re.compile(
    rb"\A((?:\xef\xbb\xbf)?(?:<\?xml[^<>]{0,200}\?>)?\s{0,100})"
    rb"<!DOCTYPE\s{1,100}coverage(?:\s{1,100}SYSTEM\s{1,100}(?:\"[^\"<>\[\]]{0,500}\"|'[^'<>\[\]]{0,500}'))?\s{0,100}>"
)
"""What c8, Istanbul and gocover-cobertura put first: a name and an address, nothing that declares. Others stay, to be refused."""
_NUMBER = re.compile("[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Lines:
    """1-based numbers of one file's lines that hold statements: those run at least once, and the others."""

    executed: frozenset[int]
    missed: frozenset[int]


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """Lines by file, named as the report names it, and the folders that such names start from.

    coverage.py's names start from one of ``sources`` (absolute folders), those of Istanbul from the only one;
    gocover-cobertura's start with the package's import path, and its sources are Go's own.
    """

    files: Mapping[str, Lines]
    sources: tuple[str, ...]


def read(data: bytes) -> CoverageReport:
    """A whole report. Classes of one file are joined: a line that one of them ran was run. Raises Unreadable."""
    try:
        root = strict_xml.parse(_DOCTYPE.sub(rb"\1", data))
    except strict_xml.InvalidXml as exc:
        raise Unreadable(f"no coverage report: {exc}") from exc
    if root.tag != "coverage":
        raise Unreadable(f"no coverage report: its root is {root.tag[:80]!r}, not coverage")
    executed: defaultdict[str, set[int]] = defaultdict(set)
    missed: defaultdict[str, set[int]] = defaultdict(set)
    for group in root.iterfind("packages/package/classes/class"):
        name = group.get("filename")
        if not name:
            raise Unreadable("no coverage report: a class without its file")
        ran, idle = executed[name], missed[name]
        for line in group.iterfind("lines/line"):
            (ran if _number(line.get("hits")) else idle).add(_number(line.get("number")))
    files = {name: Lines(frozenset(ran - {0}), frozenset(missed[name] - ran - {0})) for name, ran in executed.items()}
    sources = tuple(text for source in root.iterfind("sources/source") if (text := (source.text or "").strip()))
    return CoverageReport(MappingProxyType(files), sources)


def _number(text: str | None) -> int:
    if text is None or not _NUMBER.fullmatch(text):
        raise Unreadable("no coverage report: a line without its number or its hits")
    return int(text)
