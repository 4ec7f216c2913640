"""Commands that ask rather than review: a question, a dispute, an explanation, the configuration. They post nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from reviewbot.domain.answer import DisputeEnd, Settlement
from reviewbot.domain.forge import Standing
from reviewbot.domain.history import Fate, Known, PullMemory
from reviewbot.domain.review import Finding, Review
from reviewbot.ports import Changes
from reviewbot.publish import answer, replies
from reviewbot.publish import dispute as disputed
from reviewbot.wiring import books, consulting
from reviewbot.wiring.github import ground, orders
from reviewbot.wiring.github.situation import Situation
from reviewbot.wiring.order import Order
from reviewbot.wiring.scene import opened

WITHDRAWN = "withdrawn after a dispute"


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


def dispute(at: Situation, changes: Changes, known: Known, *, argument: str) -> Answer:
    """A person's argument against a finding, before the panel. What it comes to is remembered. Raises ReviewbotError."""
    with ground.found(at.job, _pull(at).pull, changes) as found:
        argued = _argued(at, known.id)
        finding = argued[0] if argued else known
        made = consulting.dispute(_order(at, found), finding, argument)
    settled = _settled(known, made.settlement, by=_who(at))
    paid = _paid(made.settlement.bill.total.paid_usd)
    return Answer(disputed.markdown_of(made.settlement), lambda memory: paid(memory.with_known(settled)))


def explanation(at: Situation, name: str) -> str:
    """Everything about one finding that is remembered between runs; where only its place is, that."""
    if (argued := _argued(at, name)) is not None:
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


def _argued(at: Situation, name: str) -> tuple[Finding, Review] | None:
    """A finding in the last review that argued it (a later one only carried it along), where that travelled to this run."""
    kept = (
        (found, review) for review in books.beside(at.job.state, project(at)) for found in review.findings if found.id == name
    )
    told = list(kept)
    return next((pair for pair in told if pair[0].positions), told[0] if told else None)


def _settled(known: Known, settlement: Settlement, *, by: str) -> Known:
    """A finding after its dispute: who raised it took it back, or words it anew, or it stands."""
    if settlement.end is DisputeEnd.WITHDRAWN:
        return replace(known, fate=Fate.DISMISSED, reason=WITHDRAWN, by=by)
    if settlement.end is DisputeEnd.AMENDED:
        return replace(known, title=settlement.title, severity=settlement.severity)
    return known


def _paid(usd: float) -> Callable[[PullMemory], PullMemory]:
    return lambda memory: replace(memory, cost_usd=round(memory.cost_usd + usd, 6))


def _who(at: Situation) -> str:
    said = at.job.event.comment
    return said.author.login if said and said.author else "somebody"
