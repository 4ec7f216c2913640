"""A review document read back: strict, bounded, and one named error with the place where it went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from reviewbot.domain.change import Coverage, CoverageStatus, Revisions
from reviewbot.domain.debate import (
    Argument,
    Attendance,
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
    Footprint,
    Lifecycle,
    RangeMode,
    Review,
    Suggestion,
    Timing,
    Verdict,
)
from reviewbot.publish.load_evidence import SANDBOXES, check, load_evidence, load_verification
from reviewbot.publish.load_repair import load_repair
from reviewbot.publish.node import Kind, Node, root

__all__ = ["load_evidence", "load_review", "load_verification"]

REVIEW = Kind("review document", "write it with --format json", 8_000_000)
SIDES = ("LEFT", "RIGHT")
CHANGES = ("raised", "amended", "withdrawn", "merged")


def load_review(text: str | bytes) -> Review:
    """The review of a document, without what documents do not hold (code, turns). Raises UsageError with the JSON path."""
    return _review(root(text, REVIEW))


def _review(node: Node) -> Review:
    at = node.fields(
        "schema_version run_id tool_version conclusion verdict target coverage findings debate evidence panel usage timing"
        " sandbox notes",
        later="range repairs",
    )
    at["schema_version"].version()
    target = at["target"].fields("kind base head repository pull_request")
    debate = at["debate"].fields("criteria rounds moderator")
    timing = at["timing"].fields("seconds critical_path_seconds")
    mode, footprint = _range(at["range"]) if "range" in at else (RangeMode.FULL, Footprint())
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
        notes=at["notes"].texts(),
        repository=target["repository"].maybe(Node.text),
        pull_request=target["pull_request"].maybe(Node.count),
        range_mode=mode,
        footprint=footprint,
        repairs=at["repairs"].each(load_repair) if "repairs" in at else (),
    )


def _range(node: Node) -> tuple[RangeMode, Footprint]:
    at = node.fields("mode course whole seen")
    return at["mode"].word(RangeMode), Footprint(at["course"].text(), at["whole"].text(), at["seen"].texts())


def _coverage(node: Node) -> Coverage:
    at = node.fields("path status reason")
    return Coverage(at["path"].path_inside(), at["status"].word(CoverageStatus), at["reason"].maybe(Node.text))


def _finding(node: Node) -> Finding:
    at = node.fields(
        "id fingerprint path start_line line side severity category title body failure_scenario quote status lifecycle proof"
        " rule confidence probability raised_by pre_existing positions dissent evidence check versions settled_by stop_reason"
        " suggestion",
        later="grounds near blocks",
    )
    return Finding(
        id=at["id"].text(),
        fingerprint=at["fingerprint"].text(),
        path=at["path"].path_inside(),
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
        raised_by=at["raised_by"].texts(),
        settled_by=at["settled_by"].word(SettledBy),
        stop_reason=at["stop_reason"].text(),
        positions=at["positions"].each(_position),
        versions=at["versions"].each(_version),
        evidence=at["evidence"].texts(),
        dissent=at["dissent"].maybe(Node.text),
        check=at["check"].maybe(check),
        rule=at["rule"].maybe(Node.text),
        lifecycle=at["lifecycle"].word(Lifecycle),
        pre_existing=at["pre_existing"].truth(),
        side=at["side"].one_of(SIDES),
        suggestion=at["suggestion"].maybe(_suggestion),
        grounds=at["grounds"].texts() if "grounds" in at else (),
        near=at["near"].text() if "near" in at else "",
        blocks="blocks" in at and at["blocks"].truth(),
    )


def _position(node: Node) -> Position:
    at = node.fields("panelist round stance probability arguments", later="counted check")
    return Position(
        panelist=at["panelist"].text(),
        round=at["round"].count(),
        stance=at["stance"].word(Stance),
        probability=at["probability"].probability(),
        arguments=at["arguments"].each(_argument),
        counted=at["counted"].truth() if "counted" in at else True,
        check=at["check"].maybe(check) if "check" in at else None,
    )


def _argument(node: Node) -> Argument:
    at = node.fields("claim evidence reasoning counter_arguments")
    return Argument(at["claim"].text(), at["evidence"].texts(), at["reasoning"].text(), at["counter_arguments"].texts())


def _version(node: Node) -> Version:
    at = node.fields("round by change text")
    return Version(at["round"].count(), at["by"].text(), at["change"].one_of(CHANGES), at["text"].text())


def _suggestion(node: Node) -> Suggestion:
    at = node.fields("start_line line replacement")
    return Suggestion(at["start_line"].count(), at["line"].count(), at["replacement"].text())


def _ruling(node: Node) -> Ruling:
    at = node.fields("round scores open decision")
    scores = tuple((name, score.probability()) for name, score in at["scores"].entries())
    return Ruling(at["round"].count(), scores, at["open"].texts(), at["decision"].text())


def _evidence(node: Node) -> Evidence:
    """The document holds what was seen, not how the collector weighed it: category, severity and precision stay neutral."""
    at = node.fields("id kind tool command revision exit_code path line rule excerpt status")
    result = Result(
        kind=at["kind"].word(EvidenceKind),
        tool=at["tool"].text(),
        rule=at["rule"].maybe(Node.text),
        path=at["path"].text(),
        line=at["line"].count(),
        message="",
        category=Category.CORRECTNESS,
        severity=Severity.LOW,
        precision=Precision.HEURISTIC,
        excerpt=at["excerpt"].text(),
        command=at["command"].texts(),
        exit_code=at["exit_code"].maybe(Node.integer),
    )
    return Evidence(at["id"].text(), at["status"].word(EvidenceStatus), at["revision"].word(Side), result)


def _attendance(node: Node) -> Attendance:
    at = node.fields("name role model status reason")
    model = at["model"].text()
    seat = Seat(at["name"].text(), at["role"].text(), model, model.split(":")[0])
    return Attendance(seat, at["status"].word(SeatStatus), at["reason"].maybe(Node.text))


_USAGE = "calls input_tokens cached_input_tokens output_tokens cost_usd"
_LATER = "local_tokens seconds replayed_calls paid_usd estimated_usd cached_share local_share"


def _bill(node: Node) -> Bill:
    at = node.fields(f"{_USAGE} by_panelist", later=_LATER)
    by_panelist = {name: _usage(usage.fields(_USAGE, later=_LATER)) for name, usage in at["by_panelist"].entries()}
    return Bill(_usage(at), MappingProxyType(by_panelist))


def _usage(at: Mapping[str, Node]) -> Usage:
    """The shares say nothing that the counts do not: they are looked at and left."""
    for share in ("cached_share", "local_share"):
        if share in at:
            at[share].probability()

    def count(name: str) -> int:
        return at[name].count() if name in at else 0

    def amount(name: str) -> float:
        return at[name].amount() if name in at else 0.0

    return Usage(
        calls=count("calls"),
        input_tokens=count("input_tokens"),
        cached_input_tokens=count("cached_input_tokens"),
        output_tokens=count("output_tokens"),
        cost_usd=amount("cost_usd"),
        local_tokens=count("local_tokens"),
        seconds=amount("seconds"),
        replayed_calls=count("replayed_calls"),
        paid_usd=amount("paid_usd"),
        estimated_usd=amount("estimated_usd"),
    )
