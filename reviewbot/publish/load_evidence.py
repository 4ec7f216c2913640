"""The ledger document and what experiments showed, read back whole: who resumes a debate sees what it saw before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
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
from reviewbot.publish import load_target
from reviewbot.publish.node import Kind, Node, root

LEDGER = Kind("evidence document", "write it with 'reviewbot collect'", 64_000_000)
VERIFICATION = Kind("record of an experiment", "begin again with --fresh", 8_000_000)
SANDBOXES = ("bubblewrap", "container", "unconfined", "none")


def load_evidence(text: str | bytes, about: Revisions | None = None) -> Ledger:
    """The ledger of an evidence document, nothing lost. Raises UsageError with the JSON path.

    With ``about`` it comes out of another zone: it must be of this very change, and names no place outside of the tree.
    """
    at = root(text, LEDGER).fields("schema_version target items checks tests sandbox notes")
    at["schema_version"].version()
    target = load_target.read(at["target"])
    if about is not None:
        load_target.expect(at["target"], target, about)
    place = Node.text if about is None else _place
    return Ledger(
        items=at["items"].each(partial(_item, place=place)),
        checks=at["checks"].each(_check_run),
        tests=_tests(at["tests"], place=place),
        sandbox=at["sandbox"].one_of(SANDBOXES),
        notes=at["notes"].texts(),
    )


def load_verification(text: str | bytes) -> Verification:
    """What an experiment showed. Raises UsageError with the JSON path."""
    at = root(text, VERIFICATION).fields("schema_version check excerpt", later="fixed")
    at["schema_version"].version()
    fixed = at["fixed"].maybe(Node.truth) if "fixed" in at else None
    return Verification(check(at["check"]), at["excerpt"].text(), fixed)


def check(node: Node) -> Check:
    """A check with what its runs showed. The first releases wrote neither kind nor author, and no subject in a review."""
    at = node.fields("command source outcome evidence", later="kind subject author output")

    def text(name: str) -> str:
        return at[name].text() if name in at else ""

    return Check(
        command=at["command"].texts(),
        source=at["source"].text(),
        subject=text("subject"),
        outcome=at["outcome"].word(CheckOutcome),
        evidence=at["evidence"].texts(),
        output=text("output"),
        kind=at["kind"].word(CheckKind) if "kind" in at else CheckKind.TEST,
        author=text("author"),
    )


def _place(node: Node) -> str:
    """A path inside the tree, or none: a result may be about no file."""
    return node.path_inside() if node.value else node.text()


def _item(node: Node, *, place: Callable[[Node], str]) -> Evidence:
    at = node.fields(
        "id kind tool command revision exit_code path line rule excerpt status end_line message category severity precision"
        " anchor trigger consequence subject suppressed"
    )
    result = Result(
        kind=at["kind"].word(EvidenceKind),
        tool=at["tool"].text(),
        rule=at["rule"].maybe(Node.text),
        path=place(at["path"]),
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


def _tests(node: Node, *, place: Callable[[Node], str]) -> TestRun:
    at = node.fields("passed failed measured executed")
    executed = frozenset(at["executed"].each(partial(_line, place=place)))
    return TestRun(at["passed"].count(), at["failed"].count(), measured=at["measured"].truth(), executed=executed)


def _line(node: Node, *, place: Callable[[Node], str]) -> tuple[str, int]:
    at = node.fields("path line")
    return place(at["path"]), at["line"].count()
