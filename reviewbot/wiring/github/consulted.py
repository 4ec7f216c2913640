"""Commands that ask rather than review: a question, a dispute, an explanation, the configuration. They post nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from reviewbot.domain.answer import DisputeEnd, Settlement
from reviewbot.domain.forge import (
    Standing,
)
from reviewbot.domain.history import Fate, Known, PullMemory
from reviewbot.domain.review import Finding, Review
from reviewbot.errors import ForgeError, UsageError
from reviewbot.ports import Archive, Changes
from reviewbot.publish import answer, load, replies
from reviewbot.publish import dispute as disputed
from reviewbot.wiring import books, consulting
from reviewbot.wiring.github import ground, orders
from reviewbot.wiring.github.documents import REVIEW
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.order import Order
from reviewbot.wiring.scene import opened

WITHDRAWN = "withdrawn after a dispute"
ARTIFACT = "reviewbot-review"
"""The name under which the workflows keep the review of a run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Safe Markdown, and what it changes in what is remembered."""

    text: str
    remembered: Callable[[PullMemory], PullMemory]


def ask(at: Situation, changes: Changes, question: str) -> Answer:
    """A question to the panel about the change. Raises ReviewbotError."""
    with ground.found(at.job, _pull(at).pull, changes) as found:
        made = consulting.ask(_order(at, found), question)
    return Answer(answer.markdown_of(made.counsel), _paid(made.counsel.bill.total.paid_usd))


def dispute(at: Situation, hub: Hub, known: Known, *, argument: str) -> Answer:
    """A person's argument against a finding, before the panel. What it comes to is remembered. Raises ReviewbotError."""
    with ground.found(at.job, _pull(at).pull, hub) as found:
        argued = _argued(at, known.id, hub)
        finding = argued[0] if argued else known
        made = consulting.dispute(_order(at, found), finding, argument)
    paid = _paid(made.settlement.bill.total.paid_usd)
    settled = _settled(made.settlement, known.id, by=_who(at))
    return Answer(disputed.markdown_of(made.settlement), lambda memory: paid(settled(memory)))


def explanation(at: Situation, archive: Archive, name: str) -> str:
    """Everything about one finding: from the state folder, or from the artifacts of the runs that reviewed it. Where neither
    travelled here, what the summary remembers."""
    if (argued := _argued(at, name, archive)) is not None:
        return replies.explained(*argued)
    known = next((one for one in at.memory.history.findings if one.id == name), None)
    return replies.remembered(known) if known else replies.unknown(name, at.memory.history.findings)


def configured(at: Situation, changes: Changes) -> str:
    """The configuration that holds for this pull request, as far as it is not the default: ``key = value  # origin`` lines."""
    with ground.found(at.job, _pull(at).pull, changes) as found, opened(_order(at, found)) as scene:
        rows = [(name, held) for name, held in scene.configuration.rows() if held.origin != "default"]
    return "\n".join(f"{name} = {held.value}  # {held.origin}" for name, held in rows)


def project(at: Situation) -> str:
    """The name under which the last review of this pull request is kept."""
    return f"{at.job.repository}#{_pull(at).pull.number}"


def _order(at: Situation, found: ground.Ground) -> Order:
    return orders.blank(orders.order_of(at.job, found, _pull(at), memory=at.memory, execute=False))


def _pull(at: Situation) -> Standing:
    assert at.standing is not None
    return at.standing


def _argued(at: Situation, name: str, archive: Archive) -> tuple[Finding, Review] | None:
    """A finding in the last review that argued it: a later one only carried it along."""
    first: tuple[Finding, Review] | None = None
    for review in reviews(at, archive):
        for found in review.findings:
            if found.id == name and found.positions:
                return found, review
            first = first or ((found, review) if found.id == name else None)
    return first


def reviews(at: Situation, archive: Archive) -> Iterator[Review]:
    """The reviews of this pull request whose documents can be had, newest first: from the state folder, then from artifacts."""
    return chain(books.beside(at.job.state, project(at)), _archived(at, archive))


def _archived(at: Situation, archive: Archive) -> Iterator[Review]:
    """The reviews that the last runs of this pull request left as artifacts, the newest first. Which runs those are stands in our
    own summary: a run of somebody else's may call an artifact as it likes."""
    for run in reversed(at.memory.workflow_runs):
        with suppress(ForgeError, UsageError):
            files = archive.artifact(run, ARTIFACT)
            review = load.load_review(files.get(REVIEW, b""))
            if review.pull_request == _pull(at).pull.number:
                yield review


def _settled(settlement: Settlement, name: str, *, by: str) -> Callable[[PullMemory], PullMemory]:
    """What a dispute changes in what is remembered by then: its raiser took the finding back, or words it anew, or it stands."""

    def changed(memory: PullMemory) -> PullMemory:
        known = next((one for one in memory.history.findings if one.id == name), None)
        if known is None or settlement.end not in (DisputeEnd.WITHDRAWN, DisputeEnd.AMENDED):
            return memory
        if settlement.end is DisputeEnd.WITHDRAWN:
            return memory.with_known(replace(known, fate=Fate.DISMISSED, reason=WITHDRAWN, by=by))
        return memory.with_known(replace(known, title=settlement.title, severity=settlement.severity))

    return changed


def _paid(usd: float) -> Callable[[PullMemory], PullMemory]:
    return lambda memory: replace(memory, cost_usd=round(memory.cost_usd + usd, 6))


def _who(at: Situation) -> str:
    said = at.job.event.comment
    return said.author.login if said and said.author else "somebody"
