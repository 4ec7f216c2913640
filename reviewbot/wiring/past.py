"""What is remembered: past debates, and the last review of a repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from reviewbot.adapters.store.records import CallRecord, SessionRecord
from reviewbot.adapters.store.records import SessionSummary as SessionSummary
from reviewbot.domain.audit import Rotation
from reviewbot.domain.change import Revisions
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import RevisionError, UsageError
from reviewbot.ports import CallState
from reviewbot.publish import document
from reviewbot.publish.load_request import Request, load_request
from reviewbot.publish.transcript import DebateCall, DebateRecord, DebateSeat
from reviewbot.wiring import books
from reviewbot.wiring.order import Order, Outcome
from reviewbot.wiring.reviewing import review
from reviewbot.wiring.scene import configured_here, project_of

if TYPE_CHECKING:
    from reviewbot.adapters.store.opening import Store


def sessions(order: Order, limit: int) -> tuple[SessionSummary, ...]:
    """The last debates, newest first. Raises LedgerError."""
    with _store(order) as store:
        return store.history.sessions(limit=limit)


def session(order: Order, name: str) -> DebateRecord:
    """A whole debate; ``name`` may be shortened. Raises UsageError for none or several."""
    with _store(order) as store:
        return _record(store.history.session(name))


def export(order: Order) -> Iterator[tuple[str, str]]:
    """Lines for fine-tuning as (``train`` or ``validation``, JSON text), one after the other."""
    with _store(order) as store:
        yield from ((example.split, example.line) for example in store.examples())


def replay(order: Order, name: str) -> Outcome:
    """The review of a past debate, made again from what was paid for: a call that is not in the ledger is refused.

    Raises UsageError where that session is unknown, RevisionError where its commits are gone.
    """
    with _store(order) as store:
        summary = store.history.session(name).summary
        said = store.history.document(summary.id, "order")
    if not summary.base or not summary.head or said is None:
        raise UsageError(f"{summary.id} was no debate about commits", hint="show it with 'reviewbot sessions show'")
    nowhere = Revisions("", "", "", None, None)
    asked = load_request(document.dumps(said["request"]), about=nowhere) if "request" in said else Request()
    flags = {key: (value, flag) for key, (value, flag) in said["flags"].items()}
    again = replace(
        order,
        target=_target(summary, is_audit="audit" in said),
        rotation=Rotation(tuple((mark, at) for mark, at in said.get("audit", ()))),
        flags={**flags, **order.flags},
        title=summary.title,
        panel=said["panel"],
        models=tuple(said["models"]) or tuple(f"{seat.name}={seat.model}" for seat in summary.seats),
        execute=said["execute"],
        focus=said["focus"],
        background=asked.background,
        history=asked.earlier,
        pull_request=asked.pull_request,
        dismissals=asked.dismissals,
        offline=True,
    )
    try:
        return review(again)
    except RevisionError as exc:
        raise RevisionError(exc.message, hint="its commits are gone; 'reviewbot sessions show' still has every word") from exc


def _target(summary: SessionSummary, *, is_audit: bool) -> Target:
    if is_audit:
        return Target(TargetKind.ALL, head=summary.head)
    return Target(TargetKind.RANGE, base=summary.base, head=summary.head)


def last_review(order: Order) -> Review:
    """The last review of the repository here. Raises UsageError where none is remembered."""
    return books.last(order, project_of(order))


@contextmanager
def _store(order: Order) -> Iterator[Store]:
    """The ledger as it is configured for this place."""
    with books.opened(order, configured_here(order)) as store:
        yield store


def _record(found: SessionRecord) -> DebateRecord:
    summary = found.summary
    return DebateRecord(
        id=summary.id,
        state=summary.state.value,
        project=summary.project,
        base=summary.base,
        head=summary.head,
        title=summary.title,
        conclusion=summary.conclusion,
        verdict=summary.verdict,
        seats=tuple(DebateSeat(seat.name, seat.role, seat.model, seat.state.value) for seat in summary.seats),
        usage=summary.usage,
        calls=tuple(map(_call, found.calls)),
        repairs=found.repairs,
    )


def _call(call: CallRecord) -> DebateCall:
    document = json.loads(call.document) if call.document else {}
    reply = document.get("text", "") if call.state is CallState.ANSWERED else document.get("message", "")
    return DebateCall(
        number=call.number,
        seat=call.seat,
        model=call.model,
        phase=call.phase,
        subject=call.subject,
        round=call.round,
        attempt=call.attempt,
        step=call.step,
        system=call.system,
        prefix=call.prefix,
        suffix=call.suffix,
        exchanges=call.exchanges,
        reply=reply,
        outcome=call.outcome,
        usage=call.usage,
        seconds=call.seconds,
        replayed=call.replayed,
    )
