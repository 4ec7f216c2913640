"""``zizmor --format json-v1``, which is also what ``json`` means so far. Places count from 0 there."""

from __future__ import annotations

from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.remark import Grade, Remark

_GRADES = {
    "unknown": Grade.NOTE,
    "informational": Grade.NOTE,
    "low": Grade.WARNING,
    "medium": Grade.WARNING,
    "high": Grade.ERROR,
}
"""As zizmor translates its severities to SARIF."""


def read(data: bytes) -> tuple[Remark, ...]:
    """Every finding that the project did not ignore, at its primary place. Raises Unreadable."""
    findings = shape.records(shape.load(data))
    return shape.first(_remark(finding) for finding in findings if finding.values.get("ignored") is not True)


def _remark(finding: shape.Record) -> Remark:
    place = _primary(finding)
    symbolic, span = place.record("symbolic"), place.record("concrete").record("location")
    start, end = span.record("start_point"), span.record("end_point")
    start.require("row")
    line = start.number("row") + 1
    end_line = end.number("row") + 1 if end.values else 0
    said = (finding.text("desc"), symbolic.word("annotation"))
    return Remark(
        _path(symbolic.record("key")),
        line,
        ": ".join(filter(None, said)),
        rule=finding.text("ident") or None,
        grade=finding.record("determinations").grade("severity", _GRADES),
        end_line=shape.end_of(line, end_line, end.number("column") + 1),
        column=start.number("column") + 1,
    )


def _primary(finding: shape.Record) -> shape.Record:
    """A finding has one primary place, and others that explain it."""
    places = tuple(finding.records("locations"))
    found = (place for place in places if place.record("symbolic").values.get("kind") == "Primary")
    return next(found, places[0] if places else shape.Record({}))


def _path(key: shape.Record) -> str:
    """The name of the first is of zizmor 1.32, the second of those before it; the last is of a repository elsewhere."""
    local = key.record("Local")
    return local.word("verbatim_path") or local.word("given_path") or key.record("Remote").text("path")
