"""A check run as GitHub takes it: at most 50 annotations in a request, every text bounded.

Limits by GitHub's OpenAPI description and its own messages: 255 characters of title, 65,535 of summary, 64 kB of message. They
are counted in bytes of UTF-8, of which there are never fewer than of anything GitHub may count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reviewbot.domain.action import (
    Annotation,
    PostCheck,
)

ANNOTATIONS = 50
TITLE_BYTES = 255
SUMMARY_BYTES = 65_535
MESSAGE_BYTES = 64 * 1024


def bodies(check: PostCheck) -> Iterator[dict[str, Any]]:
    """The requests of one check run, in order: the first makes it (or changes the one there is), each further one adds
    annotations. Only the last says how it ended, so that a check that was cut off is not taken for a whole one."""
    batches = [check.annotations[at : at + ANNOTATIONS] for at in range(0, len(check.annotations), ANNOTATIONS)] or [()]
    for number, batch in enumerate(batches, 1):
        is_first, is_last = number == 1, number == len(batches)
        # A check run that is changed keeps its commit.
        head = {"head_sha": check.head_sha} if is_first and check.check_id is None else {}
        named = {"name": bounded(check.name, TITLE_BYTES), "external_id": check.external_id} if is_first else {}
        ending = {"status": "completed", "conclusion": check.conclusion.value} if is_last else {"status": "in_progress"}
        yield {**named, **head, **ending, "output": _output(check, batch)}


def bounded(text: str, most: int) -> str:
    """At most ``most`` bytes of UTF-8, with an ellipsis where something was cut off."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= most:
        return raw.decode("utf-8")
    return raw[: most - len("…".encode())].decode("utf-8", "ignore") + "…"


def _output(check: PostCheck, batch: tuple[Annotation, ...]) -> dict[str, Any]:
    return {
        "title": bounded(check.title, TITLE_BYTES),
        "summary": bounded(check.summary, SUMMARY_BYTES),
        "annotations": [_annotation(annotation) for annotation in batch],
    }


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path.encode("utf-8", "replace").decode("utf-8"),
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level.value,
        "title": bounded(annotation.title, TITLE_BYTES),
        "message": bounded(annotation.message, MESSAGE_BYTES),
    }
