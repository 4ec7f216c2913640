"""A review document read back: strict, bounded, and one named error with the place where it went wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

from reviewbot.domain.change import Coverage, CoverageStatus, Revisions
from reviewbot.domain.debate import (
    Argument,
    Attendance,
    Check,
    Position,
    Proof,
    Ruling,
    Seat,
    SeatStatus,
    SettledBy,
    Stance,
    Version,
)
from reviewbot.domain.evidence import Category, Evidence, EvidenceKind, EvidenceStatus, Precision, Result, Severity, Side
from reviewbot.domain.money import Bill, Usage
from reviewbot.domain.review import (
    Conclusion,
    Confidence,
    Finding,
    FindingStatus,
    Lifecycle,
    Review,
    Suggestion,
    Timing,
    Verdict,
)
from reviewbot.errors import UsageError
from reviewbot.publish.document import SCHEMA_VERSION
from reviewbot.screen import strict_json

MAX_BYTES = 8_000_000
SIDES = ("LEFT", "RIGHT")
CHANGES = ("raised", "amended", "withdrawn", "merged")
OUTCOMES = ("fails_at_head", "passes_at_head", "fails_at_both", "unstable", "not_run")
SANDBOXES = ("bubblewrap", "container", "unconfined", "none")

_Word = TypeVar("_Word", bound=StrEnum)
_Value = TypeVar("_Value")


def load_review(text: str | bytes) -> Review:
    """The review of a document, without what documents do not hold (code, turns). Raises UsageError with the JSON path."""
    try:
        value = strict_json.loads(text, max_bytes=MAX_BYTES)
    except strict_json.InvalidJson as exc:
        raise UsageError(f"the review document is not valid JSON: {exc}", hint="write it with --format json") from exc
    return _review(_Node(value, "$"))


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the document and its JSON path."""

    value: Any
    path: str

    def wrong(self, wanted: str) -> UsageError:
        """The error for this place."""
        return UsageError(f"the review document is wrong at {self.path}: {wanted}", hint="write it with --format json")

    def fields(self, names: str) -> dict[str, _Node]:
        """An object with exactly these keys."""
        expected = names.split()
        if not isinstance(self.value, dict):
            raise self.wrong("an object is expected")
        for name in expected:
            if name not in self.value:
                raise self.wrong(f"the key {name!r} is missing")
        for name in self.value:
            if name not in expected:
                raise self.wrong(f"the key {name[:80]!r} is unknown")
        return {name: _Node(self.value[name], f"{self.path}.{name}") for name in expected}

    def entries(self) -> Iterator[tuple[str, _Node]]:
        """An object with free keys."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object is expected")
        return ((name, _Node(item, f"{self.path}.{name[:80]}")) for name, item in self.value.items())

    def each(self, read: Callable[[_Node], _Value]) -> tuple[_Value, ...]:
        """A list, every item read."""
        if not isinstance(self.value, list):
            raise self.wrong("a list is expected")
        return tuple(read(_Node(item, f"{self.path}[{index}]")) for index, item in enumerate(self.value))

    def maybe(self, read: Callable[[_Node], _Value]) -> _Value | None:
        """Null, or what ``read`` makes of it."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.wrong("a string is expected")
        return self.value

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false is expected")
        return self.value

    def integer(self) -> int:
        """A whole number; an exit code may be below zero."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("a whole number is expected")
        return self.value

    def count(self) -> int:
        """A whole number, zero or more."""
        if self.integer() < 0:
            raise self.wrong("a number of zero or more is expected")
        return self.integer()

    def amount(self) -> float:
        """A finite number, zero or more."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool) or not math.isfinite(self.value):
            raise self.wrong("a number is expected")
        if self.value < 0:
            raise self.wrong("a number of zero or more is expected")
        return self.value

    def probability(self) -> float:
        """A number from 0 to 1."""
        if self.amount() > 1:
            raise self.wrong("a number from 0 to 1 is expected")
        return self.amount()

    def word(self, kind: type[_Word]) -> _Word:
        """One of an enum's words."""
        try:
            return kind(self.text())
        except ValueError as exc:
            raise self.wrong(f"one of {', '.join(kind)} is expected") from exc

    def one_of(self, words: tuple[str, ...]) -> str:
        """One of these words."""
        if self.text() not in words:
            raise self.wrong(f"one of {', '.join(words)} is expected")
        return self.text()

    def severity(self) -> Severity:
        """A severity's word."""
        found = {severity.label: severity for severity in Severity}.get(self.text())
        if found is None:
            raise self.wrong("one of low, medium, high, critical is expected")
        return found


def _texts(node: _Node) -> tuple[str, ...]:
    return node.each(_Node.text)


def _review(node: _Node) -> Review:
    at = node.fields(
        "schema_version run_id tool_version conclusion verdict target coverage findings debate evidence panel usage timing"
        " sandbox notes"
    )
    if at["schema_version"].integer() != SCHEMA_VERSION:
        raise at["schema_version"].wrong(f"version {SCHEMA_VERSION} is expected")
    target = at["target"].fields("kind base head repository pull_request")
    debate = at["debate"].fields("criteria rounds moderator")
    timing = at["timing"].fields("seconds critical_path_seconds")
    return Review(
        run_id=at["run_id"].text(),
        tool_version=at["tool_version"].text(),
        conclusion=at["conclusion"].word(Conclusion),
        verdict=at["verdict"].maybe(lambda verdict: verdict.word(Verdict)),
        revisions=Revisions(target["kind"].text(), target["base"].text(), target["head"].text(), None, None),
        coverage=at["coverage"].each(_coverage),
        findings=at["findings"].each(_finding),
        evidence=at["evidence"].each(_evidence),
        attendance=at["panel"].each(_attendance),
        rulings=debate["moderator"].each(_ruling),
        rounds=debate["rounds"].count(),
        criteria=tuple((name, weight.count()) for name, weight in debate["criteria"].entries()),
        bill=_bill(at["usage"]),
        timing=Timing(timing["seconds"].amount(), timing["critical_path_seconds"].amount()),
        sandbox=at["sandbox"].one_of(SANDBOXES),
        notes=_texts(at["notes"]),
        repository=target["repository"].maybe(_Node.text),
        pull_request=target["pull_request"].maybe(_Node.count),
    )


def _coverage(node: _Node) -> Coverage:
    at = node.fields("path status reason")
    return Coverage(at["path"].text(), at["status"].word(CoverageStatus), at["reason"].maybe(_Node.text))


def _finding(node: _Node) -> Finding:
    at = node.fields(
        "id fingerprint path start_line line side severity category title body failure_scenario quote status lifecycle proof"
        " rule confidence probability raised_by pre_existing positions dissent evidence check versions settled_by stop_reason"
        " suggestion"
    )
    return Finding(
        id=at["id"].text(),
        fingerprint=at["fingerprint"].text(),
        path=at["path"].text(),
        start_line=at["start_line"].count(),
        line=at["line"].count(),
        severity=at["severity"].severity(),
        category=at["category"].word(Category),
        title=at["title"].text(),
        body=at["body"].text(),
        failure_scenario=at["failure_scenario"].text(),
        quote=at["quote"].text(),
        status=at["status"].word(FindingStatus),
        proof=at["proof"].word(Proof),
        confidence=at["confidence"].word(Confidence),
        probability=at["probability"].probability(),
        raised_by=_texts(at["raised_by"]),
        settled_by=at["settled_by"].word(SettledBy),
        stop_reason=at["stop_reason"].text(),
        positions=at["positions"].each(_position),
        versions=at["versions"].each(_version),
        evidence=_texts(at["evidence"]),
        dissent=at["dissent"].maybe(_Node.text),
        check=at["check"].maybe(_check),
        rule=at["rule"].maybe(_Node.text),
        lifecycle=at["lifecycle"].word(Lifecycle),
        pre_existing=at["pre_existing"].truth(),
        side=at["side"].one_of(SIDES),
        suggestion=at["suggestion"].maybe(_suggestion),
    )


def _position(node: _Node) -> Position:
    at = node.fields("panelist round stance probability arguments")
    return Position(
        panelist=at["panelist"].text(),
        round=at["round"].count(),
        stance=at["stance"].word(Stance),
        probability=at["probability"].probability(),
        arguments=at["arguments"].each(_argument),
    )


def _argument(node: _Node) -> Argument:
    at = node.fields("claim evidence reasoning counter_arguments")
    return Argument(at["claim"].text(), _texts(at["evidence"]), at["reasoning"].text(), _texts(at["counter_arguments"]))


def _version(node: _Node) -> Version:
    at = node.fields("round by change text")
    return Version(at["round"].count(), at["by"].text(), at["change"].one_of(CHANGES), at["text"].text())


def _check(node: _Node) -> Check:
    at = node.fields("command source outcome evidence")
    return Check(
        _texts(at["command"]), at["source"].text(), outcome=at["outcome"].one_of(OUTCOMES), evidence=_texts(at["evidence"])
    )


def _suggestion(node: _Node) -> Suggestion:
    at = node.fields("start_line line replacement")
    return Suggestion(at["start_line"].count(), at["line"].count(), at["replacement"].text())


def _ruling(node: _Node) -> Ruling:
    at = node.fields("round scores open decision")
    scores = tuple((name, score.probability()) for name, score in at["scores"].entries())
    return Ruling(at["round"].count(), scores, _texts(at["open"]), at["decision"].text())


def _evidence(node: _Node) -> Evidence:
    """The document holds what was seen, not how the collector weighed it: category, severity and precision stay neutral."""
    at = node.fields("id kind tool command revision exit_code path line rule excerpt status")
    result = Result(
        kind=at["kind"].word(EvidenceKind),
        tool=at["tool"].text(),
        rule=at["rule"].maybe(_Node.text),
        path=at["path"].text(),
        line=at["line"].count(),
        message="",
        category=Category.CORRECTNESS,
        severity=Severity.LOW,
        precision=Precision.HEURISTIC,
        excerpt=at["excerpt"].text(),
        command=_texts(at["command"]),
        exit_code=at["exit_code"].maybe(_Node.integer),
    )
    return Evidence(at["id"].text(), at["status"].word(EvidenceStatus), at["revision"].word(Side), result)


def _attendance(node: _Node) -> Attendance:
    at = node.fields("name role model status reason")
    model = at["model"].text()
    seat = Seat(at["name"].text(), at["role"].text(), model, model.split(":")[0])
    return Attendance(seat, at["status"].word(SeatStatus), at["reason"].maybe(_Node.text))


_USAGE = "calls input_tokens cached_input_tokens output_tokens cost_usd"


def _bill(node: _Node) -> Bill:
    at = node.fields(f"{_USAGE} by_panelist")
    by_panelist = {name: _usage(usage.fields(_USAGE)) for name, usage in at["by_panelist"].entries()}
    return Bill(_usage(at), MappingProxyType(by_panelist))


def _usage(at: dict[str, _Node]) -> Usage:
    return Usage(
        calls=at["calls"].count(),
        input_tokens=at["input_tokens"].count(),
        cached_input_tokens=at["cached_input_tokens"].count(),
        output_tokens=at["output_tokens"].count(),
        cost_usd=at["cost_usd"].amount(),
    )
