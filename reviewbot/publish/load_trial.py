"""What came of a trial, read back from the ledger of debates."""

from __future__ import annotations

from reviewbot.domain.debate import Check
from reviewbot.domain.repair import Edit, Refusal
from reviewbot.ports import Trialled
from reviewbot.publish.load_evidence import check
from reviewbot.publish.node import Kind, Node, root

TRIAL = Kind("record of a trial", "begin the debate anew with --fresh", 64_000_000)


def load_trial(text: str | bytes) -> Trialled:
    """The result of a trial. Raises UsageError with the JSON path."""
    at = root(text, TRIAL).fields(
        "schema_version patch edits refusals red unknown worse checks shown beside output reason",
    )
    at["schema_version"].version()
    return Trialled(
        patch=at["patch"].data(),
        edits=at["edits"].each(_edit),
        refusals=at["refusals"].each(_refusal),
        red=at["red"].texts(),
        unknown=at["unknown"].texts(),
        worse=at["worse"].texts(),
        checks=at["checks"].each(_check),
        shown=at["shown"].each(_pair),
        beside=at["beside"].texts(),
        output=at["output"].text(),
        reason=at["reason"].text(),
    )


def _edit(node: Node) -> Edit:
    at = node.fields("path content")
    return Edit(at["path"].data().decode("utf-8", "surrogateescape"), at["content"].maybe(Node.data))


def _refusal(node: Node) -> Refusal:
    words = node.texts()
    if len(words) != 3:
        raise node.wrong("a rule, a path and a reason are expected")
    return Refusal(*words)


def _check(node: Node) -> tuple[str, Check]:
    at = node.fields("task check")
    return at["task"].text(), check(at["check"])


def _pair(node: Node) -> tuple[str, str]:
    words = node.texts()
    if len(words) != 2:
        raise node.wrong("a task and words are expected")
    return words[0], words[1]
