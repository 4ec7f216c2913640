"""The request document, written: what the trusted job that starts a review hands to the one that holds it."""

from __future__ import annotations

from typing import Any

from reviewbot.domain.change import Revisions
from reviewbot.domain.dismissal import Dismissals
from reviewbot.domain.history import History, Known
from reviewbot.publish.document import storable
from reviewbot.publish.document_dismissed import dismissals_fields
from reviewbot.publish.load_request import MOST_FOCUS, MOST_SAID, MOST_TITLE, MOST_TOLD, MOST_WHO, Request
from reviewbot.publish.node import SCHEMA_VERSION


def request_document(request: Request, about: Revisions | None = None) -> dict[str, Any]:
    """The request document. ``about`` binds it to one change. Words that are longer than a request may be are cut."""
    written: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "title": request.title[:MOST_TITLE],
        "focus": request.focus[:MOST_FOCUS],
        "pull_request": request.pull_request,
        "background": [
            {"source": said.source.value, "who": said.who[:MOST_WHO], "text": said.text[:MOST_SAID]}
            for said in request.background[:MOST_TOLD]
        ],
        "earlier": history_fields(request.earlier),
    }
    if request.dismissals != Dismissals():
        written["dismissals"] = dismissals_fields(request.dismissals)
    target = {} if about is None else {"target": {"base": about.base, "head": about.head}}
    storable_words: dict[str, Any] = storable({**written, **target})
    return storable_words


def history_fields(history: History) -> dict[str, Any]:
    """What earlier reviews left behind, the same in every document."""
    return {
        "head": history.head,
        "base": history.base,
        "course": history.course,
        "seen": sorted(history.seen),
        "conclusion": history.conclusion.value if history.conclusion else None,
        "verdict": history.verdict.value if history.verdict else None,
        "findings": [known_fields(known) for known in history.findings],
        "next_number": history.next_number,
        "whole": history.whole,
    }


def known_fields(known: Known) -> dict[str, Any]:
    """A finding as it is remembered, the same in every document and in the state of a pull request."""
    return {
        "id": known.id,
        "fingerprint": known.fingerprint,
        "path": known.path,
        "start_line": known.start_line,
        "line": known.line,
        "severity": known.severity.label,
        "category": known.category.value,
        "title": known.title,
        "text": known.text,
        "rule": known.rule,
        "fate": known.fate.value,
        "reason": known.reason,
        "by": known.by,
        "is_question": known.is_question,
        "is_proven": known.is_proven,
        "grounds": list(known.grounds),
        "near": known.near,
        "probability": known.probability,
    }
