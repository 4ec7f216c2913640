"""An audit put together: a review of the whole tree in the light of the last one, and what it leaves to the next."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.consensus import carry
from reviewbot.domain.audit import AuditMemory, Comparison, file_mark, finding_mark
from reviewbot.domain.change import CoverageStatus
from reviewbot.domain.review import Conclusion, Finding, Lifecycle, Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.ports import Observer
from reviewbot.publish import audit as report
from reviewbot.publish import phrases
from reviewbot.wiring import books, reviewing
from reviewbot.wiring.order import Order, Outcome
from reviewbot.wiring.rooms import open_repository
from reviewbot.wiring.scene import project_of

AUDITS = "audits"
TITLE = "An audit of the whole tree: every line counts, whether or not it is new"
MOST_READ, MOST_TOLD = 200_000, 5_000
"""Files and findings that a state folder remembers."""

_LARGEST = 2_000_000


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit. ``outcome`` is its review and the configuration it was made under, ``comparison`` what differs from the last
    one, ``memory`` what the next one must know, and ``body`` an issue's text that says all of it."""

    outcome: Outcome
    comparison: Comparison
    memory: AuditMemory
    body: str

    @property
    def review(self) -> Review:
        """The review: every finding, also those that are told to nobody."""
        return self.outcome.review


def audit(order: Order, observer: Observer | None = None, *, last: AuditMemory | None = None) -> Audit:
    """Look at the whole tree that ``order`` names. ``last`` is what the last audit left where that is known from elsewhere (an
    issue: ``publish.audit.decode``); else the state folder is asked. Raises ReviewbotError."""
    if order.target.kind is not TargetKind.ALL:
        order = replace(order, target=Target(TargetKind.ALL, head=order.target.head))
    project = project_of(order)
    known = last or _remembered(order, project) or AuditMemory()
    # Without its head nothing is taken as seen: what an audit found is known again, and everything is looked at.
    asked = replace(order, history=replace(known.history, head="", seen=frozenset()), rotation=known.rotation)
    outcome = reviewing.review(replace(asked, title=order.title or TITLE), observer)
    review = replace(outcome.review, findings=tuple(_told(finding, known) for finding in outcome.review.findings))
    comparison = Comparison.of(review, known.history.head)
    memory = known if review.conclusion is Conclusion.NOT_REVIEWED else _after(review, known, _marks(order, review))
    problem = _keep(memory, order, project)
    notes = (report.note(comparison), *review.notes, *((problem,) if problem else ()))
    review = replace(review, notes=notes)
    books.keep(review, order, project)
    return Audit(replace(outcome, review=review), comparison, memory, report.render(review, memory))


def _told(finding: Finding, known: AuditMemory) -> Finding:
    """The finding as an old one where the last audit told it and had no room to remember all of it."""
    is_old = finding.lifecycle is Lifecycle.NEW and finding_mark(finding.fingerprint) in known.told
    return replace(finding, lifecycle=Lifecycle.CARRIED) if is_old else finding


def _after(review: Review, known: AuditMemory, marks: Mapping[str, str]) -> AuditMemory:
    now = int(time.time())
    read = (item.path for item in review.coverage if item.status is CoverageStatus.REVIEWED)
    seen = [marks[path] for path in read if path in marks] if phrases.is_of_models(review) else []
    return AuditMemory(
        replace(carry.history_after(review, known.history), seen=frozenset()),
        known.rotation.after(seen, now, standing=marks.values()),
        frozenset(finding_mark(finding.fingerprint) for finding in review.posted()),
        now,
    )


def _marks(order: Order, review: Review) -> Mapping[str, str]:
    """What stands for each file of the tree, by path."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True)))
        git = stack.enter_context(open_repository(order.directory, scratch, order.environment))
        entries = git.entries(review.revisions.head_tree) if review.revisions.head_tree else ()
        return {entry.path: file_mark(entry.path, entry.object_id) for entry in entries}


def _remembered(order: Order, project: str) -> AuditMemory | None:
    """What a state folder remembers; ``None`` where there is nothing, or nothing that can be read: then the audit is a first."""
    if order.state is None:
        return None
    try:
        with _place(order.state, project).open(encoding="ascii") as file:
            return report.decode(file.read(_LARGEST))
    except (OSError, ValueError):
        return None


def _keep(memory: AuditMemory, order: Order, project: str) -> str:
    """Keep what the next audit must know. Returns what to say where that is not possible."""
    if order.state is None:
        return ""
    place = _place(order.state, project)
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = place.with_suffix(".new")
        made.write_text(report.encode(memory, most_read=MOST_READ, most_told=MOST_TOLD) + "\n", encoding="ascii")
        made.replace(place)
    except OSError as exc:
        return f"the audit is not remembered: {place.parent}: {exc.strerror}"
    return ""


def _place(state: Path, project: str) -> Path:
    return state / AUDITS / hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:32]
