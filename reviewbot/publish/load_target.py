"""Which change a document is about, read back: a document about another change is none for this one."""

from __future__ import annotations

from reviewbot.domain.change import Revisions
from reviewbot.publish.node import Node

FIELDS = "kind base head base_tree head_tree"


def read(node: Node, *, beside: str = "") -> Revisions:
    """Both ends of the change, without what is to be said of them. ``beside`` names further keys of the object."""
    at = node.fields(f"{FIELDS} {beside}")
    return Revisions(
        kind=at["kind"].text(),
        base=at["base"].text(),
        head=at["head"].text(),
        base_tree=at["base_tree"].maybe(Node.text),
        head_tree=at["head_tree"].maybe(Node.text),
    )


def expect(node: Node, target: Revisions, about: Revisions) -> None:
    """The target is this change. Raises UsageError where it is another."""
    if key(target) != key(about):
        raise node.wrong(f"it is about another change ({_short(target)}) than this one ({_short(about)})")


def key(revisions: Revisions) -> tuple[str | None, ...]:
    """What tells one change from another."""
    return (revisions.kind, revisions.base, revisions.head, revisions.base_tree, revisions.head_tree)


def _short(revisions: Revisions) -> str:
    return f"{revisions.base[:12]}..{revisions.head[:12]}"
