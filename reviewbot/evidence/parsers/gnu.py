"""``file:line:column: severity: message [rule]``, as compilers and most linters print it.

The columns, the severity and the rule may be missing; a program's name or ``vet:`` may stand before the file, a code such as
``E501`` before the message, a range where GNU's standards put one. Lines of another form are passed over: headings, source
excerpts and totals look different in every tool, so that a text without remarks is no error here.
https://www.gnu.org/prep/standards/html_node/Errors.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Grade, Remark

_LINE = re.compile(
    r"(?:[A-Za-z][\w.+-]*:[ ]?)??"
    r"(?P<path>(?!\d+:|//)(?:[A-Za-z]:(?=[\\/]))?[^:\s][^:]*)"
    r":(?P<line>\d{1,9})"
    r"(?:\.(?P<dotted>\d{1,9})(?:-(?:(?P<end>\d{1,9})\.)?\d{1,9})?|-(?P<last>\d{1,9})|:(?P<column>\d{1,9})(?:-\d{1,9})?)?"
    r":[ \t]*(?P<said>\S.*)",
    re.ASCII,
)
_WORD = "|".join(sorted((word for word in plain.GRADES if len(word) > 1), key=len, reverse=True))
_SEVERITY = re.compile(rf"(?:\[(?P<marked>{_WORD})\]:?|(?P<plain>{_WORD}):)[ \t]*(?=\S)", re.IGNORECASE)
_CODE = re.compile(
    r"(?:\[(?P<marked>[A-Z]{1,8}\d{1,6})\]:?|(?P<plain>[A-Z]{1,8}(?:\d{1,6}:|\d{3,6})))[ \t]+(?:\[\*\] )?(?=\S)",
    re.ASCII,
)
"""Without a colon only a long one: a message may begin with SHA1."""
_RULE_AT_END = re.compile(r"[ \t]\[(?P<name>[A-Za-z-][\w.+=,/-]*)\]", re.ASCII)
_CODE_AT_END = re.compile(r"[ \t]\((?P<name>[A-Z]{1,8}\d{1,6}|[a-z]\w*(?:[/_-]\w+)+)\)", re.ASCII)
"""A word alone in round brackets may be part of the message."""


def read(data: bytes) -> tuple[Remark, ...]:
    """The remarks among the lines of a text. Raises Unreadable only where it is too large."""
    return shape.first(_remarks(data))


def _remarks(data: bytes) -> Iterator[Remark]:
    for line in plain.lines(data):
        if found := _LINE.fullmatch(line):
            yield _remark(found)


def _remark(found: re.Match[str]) -> Remark:
    said = found["said"].rstrip()
    rule, said = _leading(_CODE, said)
    grade, said = _leading(_SEVERITY, said)
    if rule is None:
        rule, said = _leading(_CODE, said)
    if rule is None:
        rule, said = _trailing(said)
    return Remark(
        found["path"],
        plain.number(found["line"]),
        said,
        rule=rule,
        grade=plain.GRADES.get((grade or "").lower(), Grade.WARNING),
        end_line=plain.number(found["end"] or found["last"]),
        column=plain.number(found["column"] or found["dotted"]),
    )


def _leading(mark: re.Pattern[str], said: str) -> tuple[str | None, str]:
    found = mark.match(said)
    return ((found["marked"] or found["plain"]).rstrip(":"), said[found.end() :]) if found else (None, said)


def _trailing(said: str) -> tuple[str | None, str]:
    """The mark that a message ends with. Searched in its last word only."""
    start = max(said.rfind(" "), said.rfind("\t"))
    found = (_RULE_AT_END.fullmatch(said, start) or _CODE_AT_END.fullmatch(said, start)) if start > 0 else None
    return (found["name"], said[:start].rstrip()) if found else (None, said)
