"""What became of tasks, read back from a review document: strict; without whole files, which documents do not hold."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.domain.repair import Goal, Proven, Repair, RepairOutcome, Tried
from reviewbot.publish.document_repair import BASE64, MOST_PATCH, UTF8
from reviewbot.publish.load_evidence import check
from reviewbot.publish.node import Node


def load_repair(node: Node) -> Repair:
    """One task. Raises UsageError with the JSON path."""
    at = node.fields("finding title goal outcome why author explanation patch encoding withheld proof tries dissent")
    if at["withheld"].text() and at["patch"].text():
        raise at["patch"].wrong("nothing is expected where the patch is withheld")
    return Repair(
        id=at["finding"].text(),
        title=at["title"].text(),
        outcome=at["outcome"].word(RepairOutcome),
        goal=at["goal"].word(Goal),
        why=at["why"].text(),
        author=at["author"].text(),
        explanation=at["explanation"].text(),
        patch=_patch(at),
        proof=at["proof"].maybe(_proof),
        tries=at["tries"].each(_tried),
        dissent=at["dissent"].maybe(Node.text),
        withheld=at["withheld"].text(),
    )


def _tried(node: Node) -> Tried:
    at = node.fields("author attempt reason patch encoding")
    absent = at["patch"].value is None and at["encoding"].one_of((UTF8,)) == UTF8
    return Tried(at["author"].text(), at["attempt"].count(), b"" if absent else _patch(at), at["reason"].text())


def _patch(at: Mapping[str, Node]) -> bytes:
    text = at["encoding"].one_of((UTF8, BASE64)) == UTF8
    found = at["patch"].text().encode() if text else at["patch"].data()
    if len(found) > MOST_PATCH:
        raise at["patch"].wrong(f"at most {MOST_PATCH} bytes are expected")
    return found


def _proof(node: Node) -> Proven:
    at = node.fields("told check beside")
    return Proven(at["told"].text(), at["check"].maybe(check), at["beside"].texts())
