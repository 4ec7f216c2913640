"""The ledger document and what experiments showed, read back whole: who resumes a debate sees what it saw before."""

from __future__ import annotations

from reviewbot.domain.debate import Check
from reviewbot.domain.evidence import (
    Category,
    CheckRun,
    Evidence,
    EvidenceKind,
    EvidenceStatus,
    Ledger,
    Precision,
    Result,
    Side,
    TestRun,
)
from reviewbot.ports import Verification
from reviewbot.publish.document import SCHEMA_VERSION
from reviewbot.publish.node import Kind, Node, root

LEDGER = Kind("evidence document", "write it with 'reviewbot collect'", 64_000_000)
VERIFICATION = Kind("record of an experiment", "begin again with --fresh", 8_000_000)
OUTCOMES = ("fails_at_head", "passes_at_head", "fails_at_both", "unstable", "not_run")
SANDBOXES = ("bubblewrap", "container", "unconfined", "none")


def load_evidence(text: str | bytes) -> Ledger:
    """The ledger of an evidence document, nothing lost. Raises UsageError with the JSON path."""
    at = root(text, LEDGER).fields("schema_version target items checks tests sandbox notes")
    _current(at["schema_version"])
    at["target"].fields("kind base head base_tree head_tree")
    return Ledger(
        items=at["items"].each(_item),
        checks=at["checks"].each(_check_run),
        tests=_tests(at["tests"]),
        sandbox=at["sandbox"].one_of(SANDBOXES),
        notes=at["notes"].texts(),
    )


def load_verification(text: str | bytes) -> Verification:
    """What an experiment showed. Raises UsageError with the JSON path."""
    at = root(text, VERIFICATION).fields("schema_version check excerpt")
    _current(at["schema_version"])
    check = at["check"].fields("command source subject outcome evidence output")
    return Verification(
        Check(
            command=check["command"].texts(),
            source=check["source"].text(),
            subject=check["subject"].text(),
            outcome=check["outcome"].one_of(OUTCOMES),
            evidence=check["evidence"].texts(),
            output=check["output"].text(),
        ),
        at["excerpt"].text(),
    )


def _current(version: Node) -> None:
    if version.integer() != SCHEMA_VERSION:
        raise version.wrong(f"version {SCHEMA_VERSION} is expected")


def _item(node: Node) -> Evidence:
    at = node.fields(
        "id kind tool command revision exit_code path line rule excerpt status end_line message category severity precision"
        " anchor trigger consequence subject suppressed"
    )
    result = Result(
        kind=at["kind"].word(EvidenceKind),
        tool=at["tool"].text(),
        rule=at["rule"].maybe(Node.text),
        path=at["path"].text(),
        line=at["line"].count(),
        message=at["message"].text(),
        category=at["category"].word(Category),
        severity=at["severity"].severity(),
        precision=at["precision"].word(Precision),
        end_line=at["end_line"].count(),
        anchor=at["anchor"].text(),
        trigger=at["trigger"].text(),
        consequence=at["consequence"].text(),
        excerpt=at["excerpt"].text(),
        command=at["command"].texts(),
        exit_code=at["exit_code"].maybe(Node.integer),
        subject=at["subject"].text(),
    )
    return Evidence(
        at["id"].text(),
        at["status"].word(EvidenceStatus),
        at["revision"].word(Side),
        result,
        suppressed=at["suppressed"].truth(),
    )


def _check_run(node: Node) -> CheckRun:
    at = node.fields("name ran reason seconds required failed", later="cut_short")
    return CheckRun(
        name=at["name"].text(),
        ran=at["ran"].truth(),
        reason=at["reason"].text(),
        seconds=at["seconds"].amount(),
        required=at["required"].truth(),
        failed=at["failed"].truth(),
        cut_short="cut_short" in at and at["cut_short"].truth(),
    )


def _tests(node: Node) -> TestRun:
    at = node.fields("passed failed measured executed")
    executed = frozenset(at["executed"].each(_line))
    return TestRun(at["passed"].count(), at["failed"].count(), measured=at["measured"].truth(), executed=executed)


def _line(node: Node) -> tuple[str, int]:
    at = node.fields("path line")
    return at["path"].text(), at["line"].count()
