"""SARIF 2.1.0. https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; section numbers below are of it.

Left out are results that are no failures (3.27.9), that are suppressed (3.27.23) or gone since the tool's own baseline (3.27.24).
Not looked at: configuration overrides of one invocation (3.20.5), further locations, code flows, and what a tool says of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.locations import Locations
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable

_GRADES = {"error": Grade.ERROR, "warning": Grade.WARNING, "note": Grade.NOTE, "none": Grade.NOTE}
_MAX_NAME_PARTS = 8
_MAX_FILLED = 100
"""Placeholders of one message."""
_MAX_ARGUMENT, _MAX_MESSAGE = 1_000, 4_000
"""Characters. A report can have one long text stand in thousands of messages."""
_PLACEHOLDER = re.compile(r"\{(?:(\{)|(\d{1,4})\})|\}(\})", re.ASCII)
_LINK = re.compile(r"(?<!\\)\[([^\[\]\\]{1,400})\]\(\d{1,9}\)", re.ASCII)
"""A link to a related location (3.11.6)."""


@dataclass(frozen=True, slots=True)
class _Component:
    """A tool, or an extension of one: its rules in order and by name, and messages that all of them may use."""

    rules: tuple[shape.Record, ...]
    named: Mapping[str, shape.Record]
    messages: shape.Record


@dataclass(frozen=True, slots=True)
class _Run:
    driver: _Component
    extensions: tuple[_Component, ...]
    locations: Locations


def read(data: bytes) -> tuple[Remark, ...]:
    """The failures of all runs. One without a place has the path "". Raises Unreadable."""
    report = shape.record(shape.load(data))
    if not report.word("version").startswith("2.1."):
        raise Unreadable("its version is not 2.1.0")
    report.require("runs")
    return shape.first(remark for run in report.records("runs") for remark in _remarks(run))


def _remarks(record: shape.Record) -> Iterator[Remark]:
    tool = record.record("tool")
    extensions = tuple(map(_component, tool.records("extensions")))
    run = _Run(_component(tool.record("driver")), extensions, Locations.of(record))
    return (_remark(run, result) for result in record.records("results") if _is_shown(result))


def _component(record: shape.Record) -> _Component:
    rules = tuple(record.records("rules"))
    return _Component(rules, {name: rule for rule in rules if (name := rule.word("id"))}, record.record("globalMessageStrings"))


def _is_shown(result: shape.Record) -> bool:
    if result.word("kind") not in ("", "fail") or result.word("baselineState") == "absent":
        return False
    states = [suppression.word("status") for suppression in result.records("suppressions")]
    return not states or any(state not in ("", "accepted") for state in states)


def _remark(run: _Run, result: shape.Record) -> Remark:
    component, rule = _rule(run, result)
    name = result.word("ruleId") or result.record("rule").word("id") or rule.word("id")
    place = next(result.records("locations"), shape.Record({})).record("physicalLocation")
    region = place.record("region")
    line = region.number("startLine")
    return Remark(
        run.locations.path(place.record("artifactLocation")) or run.locations.path(result.record("analysisTarget")),
        line,
        _message(result.record("message"), rule, component) or rule.record("shortDescription").word("text"),
        rule=name or None,
        grade=_grade(result, rule),
        end_line=shape.end_of(line, region.number("endLine"), region.number("endColumn")),
        column=region.number("startColumn"),
    )


def _rule(run: _Run, result: shape.Record) -> tuple[_Component, shape.Record]:
    """The rule that a result names by index or by name, empty where there is none; a name may go further down than the rule's
    (3.27.5)."""
    reference = result.record("rule")
    component = reference.record("toolComponent").among("index", run.extensions) or run.driver
    rule = reference.among("index", component.rules) or result.among("ruleIndex", component.rules)
    name = result.word("ruleId") or reference.word("id")
    for _ in range(_MAX_NAME_PARTS):
        rule = rule or component.named.get(name)
        name = name.rpartition("/")[0]
    return component, rule or shape.Record({})


def _grade(result: shape.Record, rule: shape.Record) -> Grade:
    """The result's level, or else what its rule says of all of them (3.27.10)."""
    configured = rule.record("defaultConfiguration").grade("level", _GRADES)
    return result.grade("level", _GRADES, default=configured)


def _message(message: shape.Record, rule: shape.Record, component: _Component) -> str:
    """The text, or the one that the rule or the tool keeps under its name, with the arguments in place (3.11)."""
    arguments = message.values.get("arguments") or []
    if not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
        raise Unreadable("'arguments' are not a list of texts")
    text, name = message.word("text"), message.word("id")
    is_template = bool(arguments)
    if not text and name:
        kept = rule.record("messageStrings").record(name).word("text") or component.messages.record(name).word("text")
        text, is_template = kept or name, bool(kept)
    filled = _filled(text[:_MAX_MESSAGE], arguments) if is_template else text
    return _LINK.sub(r"\1", filled[:_MAX_MESSAGE])


def _filled(text: str, arguments: list[str]) -> str:
    def fill(found: re.Match[str]) -> str:
        if found[2] is None:
            return found[1] or found[3]
        return arguments[int(found[2])][:_MAX_ARGUMENT] if int(found[2]) < len(arguments) else found[0]

    return _PLACEHOLDER.sub(fill, text, count=_MAX_FILLED)
