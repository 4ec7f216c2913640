"""SARIF 2.1.0: the fixes of results (3.55). https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Measure, Spot, Unit
from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.locations import Locations

_KINDS: Mapping[str, tuple[Unit, ...]] = {"utf16CodeUnits": (Unit.UTF16,), "unicodeCodePoints": (Unit.CHARACTER,)}
_UNKNOWN = (Unit.UTF16, Unit.CHARACTER)
"""Without a word of it, columns are UTF-16 units (3.14.17), which not every tool knows."""
_NOWHERE = -1
"""A place that no file has: of regions in bytes, and of whole files."""


@dataclass(frozen=True, slots=True)
class _Run:
    locations: Locations
    rules: tuple[shape.Record, ...]
    units: tuple[Unit, ...]


def read(data: bytes) -> Iterator[Offer]:
    """Every result with its first fix. Raises Unreadable, also while it is read."""
    report = shape.record(shape.load(data))
    report.require("runs")
    for record in report.records("runs"):
        rules = tuple(record.record("tool").record("driver").records("rules"))
        run = _Run(Locations.of(record), rules, _KINDS.get(record.word("columnKind"), _UNKNOWN))
        yield from (_offer(run, result) for result in record.records("results"))


def _offer(run: _Run, result: shape.Record) -> Offer:
    rule = result.among("ruleIndex", run.rules) or shape.Record({})
    place = next(result.records("locations"), shape.Record({})).record("physicalLocation")
    fix = next(result.records("fixes"), shape.Record({}))
    return Offer(
        run.locations.path(place.record("artifactLocation")) or run.locations.path(result.record("analysisTarget")),
        place.record("region").number("startLine"),
        result.word("ruleId") or result.record("rule").word("id") or rule.word("id"),
        tuple(_changes(run, fix)),
        Measure(run.units),
        fix.record("description").word("text") or result.record("message").word("text"),
    )


def _changes(run: _Run, fix: shape.Record) -> Iterator[Change]:
    for change in fix.records("artifactChanges"):
        path = run.locations.path(change.record("artifactLocation"))
        for replacement in change.records("replacements"):
            replacement.require("deletedRegion")
            start, end = _region(replacement.record("deletedRegion"))
            yield Change(path, start, end, replacement.record("insertedContent").word("text"))


def _region(region: shape.Record) -> tuple[Spot, Spot]:
    """Lines and columns, or offsets in characters (3.30). A line without columns is meant as a whole."""
    first = region.number("startLine")
    if not first:
        start = region.number("charOffset") if "charOffset" in region.values else _NOWHERE
        return Spot(0, start), Spot(0, start + region.number("charLength"))
    last = region.number("endLine") or first
    return Spot(first, region.number("startColumn") or 1), Spot(last, region.number("endColumn"))
