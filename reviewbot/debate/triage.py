"""S3: what is settled by the first pass, what is worth an argument, what is only kept in the record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median_low

from reviewbot.debate import broken
from reviewbot.debate.numbers import prior
from reviewbot.debate.weigh import tool_floor
from reviewbot.domain.debate import Argument, Case, Check, Claim, Position, Stance, Triage, Version
from reviewbot.domain.evidence import Ledger, Precision, Severity


def cases(
    clusters: Sequence[tuple[Claim, ...]],
    *,
    readers: Mapping[tuple[Claim, ...], int],
    ledger: Ledger,
    max_disputes: int,
    names: Sequence[str] | None = None,
    spared: Collection[str] = (),
) -> tuple[Case, ...]:
    """A case for every cluster with its triage. At most ``max_disputes`` are debated: those where an argument can matter most.

    ``readers`` tells for each cluster how many panelists read its place in the first pass; ``names`` are the cases' ids,
    ``spared`` those of cases that nobody is asked about: they are told to nobody, whatever is said.

    Which ones depends on the claims and the configured number only, never on money or time left.
    """
    ids = numbered([claims[0] for claims in clusters]) if names is None else names
    found = [_case(name, claims, readers=readers[claims], ledger=ledger) for name, claims in zip(ids, clusters, strict=True)]
    found = [_spared(case) if case.id in spared else case for case in found]
    disputed = sorted((case for case in found if case.triage is Triage.DEBATED), key=_rank)
    heard = {case.id for case in disputed[:max_disputes]}
    return tuple(
        case if case.triage is not Triage.DEBATED or case.id in heard else _unheard(case, max_disputes) for case in found
    )


def numbered(leads: Sequence[Claim]) -> tuple[str, ...]:
    """Ids in the order of the claims that speak for the cases."""
    return tuple(f"F{number}" for number in range(1, len(leads) + 1))


@dataclass(frozen=True, slots=True)
class _Support:
    """Who raised a cluster, how bad they think it is, and what execution already said."""

    raisers: int
    seats: int
    severities: tuple[Severity, ...]
    confirmation: str

    @property
    def worst(self) -> Severity:
        return max(self.severities)

    @property
    def spread(self) -> int:
        return self.worst - min(self.severities)

    @property
    def is_majority(self) -> bool:
        return self.raisers > self.seats / 2 and self.raisers > 1

    def __str__(self) -> str:
        return f"raised by {self.raisers} of {self.seats}, at {self.worst.label} severity"


_RULES: tuple[tuple[Callable[[_Support], bool], Triage, Callable[[_Support], str]], ...] = (
    (lambda s: bool(s.confirmation), Triage.ACCEPTED, lambda s: s.confirmation),
    (lambda s: s.spread >= 2, Triage.DEBATED, lambda s: f"{s}, the severities two steps apart"),
    (lambda s: s.is_majority and s.raisers == s.seats, Triage.ACCEPTED, str),
    (lambda s: s.is_majority and s.worst <= Severity.MEDIUM, Triage.ACCEPTED, str),
    (lambda s: s.worst >= Severity.MEDIUM, Triage.DEBATED, str),
    (bool, Triage.RECORDED, str),
)
"""The first rule that holds decides; the last one always does."""


def _case(case_id: str, claims: tuple[Claim, ...], *, readers: int, ledger: Ledger) -> Case:
    severities = tuple(claim.severity for claim in claims)
    raisers = len({claim.raised_by for claim in claims})
    support = _Support(raisers, max(readers, raisers), severities, _confirmation(claims, ledger))
    triage, reason = next((triage, why(support)) for holds, triage, why in _RULES if holds(support))
    return Case(
        case_id,
        claims,
        Severity(median_low(severities)),
        triage,
        reason,
        positions=tuple(_opening(claim) for claim in claims),
        versions=tuple(_first_version(claim, index) for index, claim in enumerate(claims)),
        check=_check(claims, ledger),
        readers=support.seats,
    )


def _check(claims: tuple[Claim, ...], ledger: Ledger) -> Check | None:
    """The broken test that the claims stand on, else the first check that somebody named, with the results of the ledger that
    are about the same test."""
    known = (check for item in broken.stood_on(claims, ledger) if (check := broken.again(item)))
    named = (claim.check for claim in claims if claim.check)
    check = next(chain(known, named), None)
    if check is None:
        return None
    items = (item for name in dict.fromkeys(name for claim in claims for name in claim.evidence) if (item := ledger.item(name)))
    same = tuple(item.id for item in items if check.subject and item.result.subject == check.subject)
    return replace(check, evidence=same)


def _opening(claim: Claim) -> Position:
    """A raiser's stand: it is in the prior, so it is shown and never weighed again."""
    argument = Argument(claim.title, claim.evidence, claim.trigger, (claim.falsifier,) if claim.falsifier else ())
    return Position(claim.raised_by, 1, Stance.SUPPORT, claim.confidence, (argument,))


def _confirmation(claims: tuple[Claim, ...], ledger: Ledger) -> str:
    """Why executed evidence settles the cluster by itself, empty where it does not."""
    if broken.stood_on(claims, ledger):
        return "an executed test fails at head and passes at base"
    items = [item for claim in claims for name in claim.evidence if (item := ledger.item(name))]
    lead = claims[0]
    for item in items:
        if item.result.precision is Precision.CERTAIN and tool_floor(lead, item):
            return f"{item.result.tool} {item.result.rule or ''} is new on this line and certain by its rule".replace("  ", " ")
    return ""


def _rank(case: Case) -> tuple[float, str, int]:
    """Severity · p(1-p) / tokens, highest first."""
    probability = prior(len(case.raised_by), case.readers)
    tokens = max(sum(len(claim.quote) + len(claim.trigger) + len(claim.consequence) for claim in case.claims) / 4, 1)
    return -case.severity * probability * (1 - probability) / tokens, case.lead.path, case.lead.line


def _spared(case: Case) -> Case:
    if case.triage is not Triage.DEBATED:
        return case
    return replace(case, triage=Triage.RECORDED, triage_reason=f"{case.triage_reason}; somebody dismissed it")


def _unheard(case: Case, max_disputes: int) -> Case:
    return replace(
        case, triage=Triage.RECORDED, triage_reason=f"{case.triage_reason}; beyond the {max_disputes} that are debated"
    )


def _first_version(claim: Claim, index: int) -> Version:
    text = f"{claim.severity.label}: {claim.title}"
    return Version(0, claim.raised_by, "raised" if index == 0 else "merged", text)
