"""S4: the cross-examination of each disputed case, in a fresh context: no author, no votes, no other claim in sight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.debate import broken, numbers, reply, stop, weigh
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.numbers import SETTLED_ABOVE, SETTLED_BELOW
from reviewbot.debate.papers import Papers
from reviewbot.debate.rounds import Heard
from reviewbot.domain.debate import Case, Check, CheckOutcome, Position, Proof, Seat, SettledBy, Stance, Triage, Version
from reviewbot.domain.evidence import Ledger
from reviewbot.ports import Ask, CrossExamination, Experiment, Packet, Passage, Rebuttal, Verification, Word

PROOFS: Mapping[CheckOutcome, Proof] = {
    CheckOutcome.FAILS_AT_HEAD: Proof.PROVEN,
    CheckOutcome.PASSES_WITH_FIX: Proof.PROVEN,
    CheckOutcome.PASSES_AT_HEAD: Proof.CONTRADICTED,
}
"""What a check's outcome says of its claim; every other outcome leaves it untested."""

BY_EXECUTION = "a check that was executed settled it"


def read(ask: Ask, text: str) -> Position | reply.Answer:
    """A reply's value by the kind of question. Raises InvalidReply."""
    if isinstance(ask.question, Rebuttal):
        return reply.rebuttal(text)
    assert isinstance(ask.question, CrossExamination)
    return reply.position(text, ask.seat, round_number=ask.round)


@dataclass(frozen=True, slots=True)
class Hearing:
    """What every case is heard against: the passages, the papers, the evidence, those who read the change, and the number of
    rounds."""

    passages: tuple[Passage, ...]
    papers: Papers
    ledger: Ledger
    seats: Mapping[str, Seat]
    rounds: int

    def opened(self, case: Case) -> Case:
        """The case before anyone argues: its prior, the evidence, and an end where none is wanted."""
        weighed = self._weighed(case)
        if case.triage is Triage.DEBATED:
            return weighed
        settled = SettledBy.AGREEMENT if case.triage is Triage.ACCEPTED else SettledBy.VOTE
        return replace(weighed, stop_reason=case.triage_reason, settled_by=settled)

    def is_open(self, case: Case) -> bool:
        """Another round may tell more."""
        return not case.stop_reason

    def asks(self, cases: Iterable[Case], seated: tuple[Seat, ...], *, number: int, seconds: float) -> list[Ask]:
        """The questions of round ``number``: those who did not raise a case argue it, from round 2 its raiser answers them."""
        return [
            Ask(seat, question, subject=case.id, round=number, timeout_seconds=seconds)
            for case in cases
            if self.is_open(case)
            for seat in seated
            if number <= self.rounds and (question := self._question(case, seat, number))
        ]

    def proved(
        self, table: Mapping[str, Case], wanted: Iterable[Experiment], verified: Iterable[Verification]
    ) -> dict[str, Case]:
        """The cases whose check was run, labelled. One that is settled by it is not argued any further.

        An outcome is that of a check at one claim's place: two claims may name the same test."""
        found = {}
        for experiment, told in zip(wanted, verified, strict=True):
            case, check = table[experiment.subject], replace(told.check, output=told.excerpt)
            if case.check and _key(case.check) == _key(check):
                found[case.id] = _ended(self._weighed(_labelled(case, check, self.ledger)))
        return found

    def offered(self, table: Mapping[str, Case]) -> dict[str, Case]:
        """The cases that no check has decided and for which somebody, while arguing, named another."""
        found = {}
        for case in table.values():
            known = {_key(check) for check in (*case.tried, case.check) if check}
            named = (replace(said.check, author=said.panelist) for said in case.positions if said.check)
            if check := next((check for check in named if _key(check) not in known), None):
                found[case.id] = with_check(case, check)
        return {name: case for name, case in found.items() if case is not table[name]}

    def heard(self, table: Mapping[str, Case], asks: list[Ask], heard: tuple[Heard, ...], *, minutes: Minutes) -> dict[str, Case]:
        """The cases with what was said in this round, weighed, and ended where a stop test holds."""
        found: dict[str, Case] = {}
        for ask, answer in zip(asks, (item.value for item in heard), strict=True):
            case = found.get(ask.subject, table[ask.subject])
            found[case.id] = case if answer is None else _with(case, ask, answer)
            if answer is not None:
                minutes.say("S4", _summary(answer), who=ask.seat.name, subject=case.id)
        return {
            name: self._stopped(case, before=table[name].probability, last_round=asks[0].round) for name, case in found.items()
        }

    def closed(self, case: Case) -> Case:
        """The case with its last word: what settled it, and whether it is too close to call."""
        floor = weigh.floor(case, self.ledger)
        by_floor = floor > 0 and case.probability <= floor
        tested = decided(case)
        settled = SettledBy.EVIDENCE if tested or by_floor else case.settled_by
        reason = case.stop_reason or ("nobody was left to ask" if self.rounds else "no rounds are configured")
        debated = case.triage is Triage.DEBATED
        if debated and by_floor:
            reason = f"{reason}, and what was executed keeps it at {floor:.0%}"
        return replace(case, settled_by=settled, stop_reason=reason, deadlocked=debated and stop.is_deadlock(case.probability))

    def _weighed(self, case: Case) -> Case:
        shown = tuple(passage for passage in self.passages if passage.path == case.lead.path)
        return replace(case, probability=weigh.probability(case, seats=self.seats, ledger=self.ledger, passages=shown))

    def _question(self, case: Case, seat: Seat, number: int) -> CrossExamination | Rebuttal | None:
        raiser = seat.name in case.raised_by
        if raiser and number != 2:
            return None
        dossier = self.papers.about(case.lead, seat)
        said = tuple(words(case, but=seat.name)) if number > 1 else ()
        if raiser:
            against = tuple(word for word in said if word.stance is not Stance.SUPPORT)
            return Rebuttal(packet(case), dossier, against, late(case)) if against else None
        return CrossExamination(packet(case), dossier, said, late(case))

    def _stopped(self, case: Case, *, before: float, last_round: int) -> Case:
        weighed = self._weighed(case)
        if weighed.withdrawn:
            return replace(weighed, stop_reason="its raiser withdrew it", settled_by=SettledBy.AGREEMENT)
        reason = stop.reason(weighed, before=before, last_round=last_round, rounds=self.rounds)
        settled = {stop.ALL_EQUAL: SettledBy.AGREEMENT, stop.NOBODY: SettledBy.BUDGET}.get(reason or "", SettledBy.VOTE)
        return replace(weighed, stop_reason=reason or "", settled_by=settled)


def decided(case: Case) -> bool:
    """A check of the case came to a result that says something of it."""
    outcome = case.check.outcome if case.check else CheckOutcome.NOT_RUN
    return outcome in PROOFS or outcome == CheckOutcome.NONE_FOUND


def with_check(case: Case, check: Check) -> Case:
    """The case with another check to be run, where none has decided it and it had not too many."""
    if decided(case) or len(case.tried) + (case.check is not None) >= numbers.MOST_CHECKS:
        return case
    tried = (*case.tried, case.check) if case.check else case.tried
    return replace(case, check=check, tried=tried)


def _ended(case: Case) -> Case:
    is_open = case.triage is Triage.DEBATED and not case.stop_reason
    settled = case.proof is not Proof.UNTESTED and not SETTLED_BELOW <= case.probability <= SETTLED_ABOVE
    return replace(case, stop_reason=BY_EXECUTION) if is_open and settled else case


def _labelled(case: Case, check: Check, ledger: Ledger) -> Case:
    """The case after its check ran. A test that did not fail again, or fails without the change too, confirms nothing."""
    proof = PROOFS.get(check.outcome, Proof.UNTESTED)
    if case.triage is not Triage.ACCEPTED or proof is Proof.PROVEN or check.outcome == CheckOutcome.NOT_RUN:
        return replace(case, check=check, proof=proof)
    if not broken.stood_on(case.claims, ledger):
        return replace(case, check=check, proof=proof)
    reason = f"its check gave {check.outcome.replace('_', ' ')} when it was run again"
    return replace(case, check=check, proof=proof, triage=Triage.RECORDED, triage_reason=reason, stop_reason=reason)


def _with(case: Case, ask: Ask, answer: Position | reply.Answer) -> Case:
    if isinstance(answer, Position):
        return replace(case, positions=(*case.positions, _counted(case, answer)))
    return _answered(case, ask, answer)


def _counted(case: Case, position: Position) -> Position:
    """A flip that cites nothing new weighs nothing."""
    earlier = case.last_words().get(position.panelist)
    if earlier is None or earlier.stance is position.stance:
        return position
    known = {cite for said in case.positions if said.round < position.round for cite in said.citations()} | set(case.evidence)
    return replace(position, counted=bool(position.citations() - known))


def _answered(case: Case, ask: Ask, answer: reply.Answer) -> Case:
    """A raiser's rebuttal becomes a version of the claim. An amendment may lower the severity, never raise it."""
    name = ask.seat.name
    stance = Stance.OPPOSE if answer.decision == "withdraw" else Stance.SUPPORT
    own = case.last_words()[name]
    probability = 1 - own.probability if stance is Stance.OPPOSE else own.probability
    positions = (*case.positions, Position(name, ask.round, stance, probability, answer.arguments))
    if answer.decision == "defend":
        return replace(case, positions=positions)
    severity = min(case.severity, answer.severity or case.severity)
    title = answer.title or case.lead.title
    change = "withdrawn" if answer.decision == "withdraw" else "amended"
    version = Version(ask.round, name, change, f"{severity.label}: {title}")
    gone = {version.by for version in (*case.versions, version) if version.change == "withdrawn"}
    claims = (replace(case.lead, title=title, severity=severity), *case.claims[1:])
    withdrawn = gone >= set(case.raised_by)
    return replace(
        case, positions=positions, versions=(*case.versions, version), claims=claims, severity=severity, withdrawn=withdrawn
    )


def packet(case: Case) -> Packet:
    """The claim as it is shown to those who judge it."""
    claim = case.lead
    return Packet(
        claim.path,
        claim.start_line,
        claim.line,
        claim.quote,
        claim.category,
        case.severity,
        claim.title,
        claim.trigger,
        claim.consequence,
        claim.falsifier,
        case.evidence,
        claim.rule,
    )


def words(case: Case, *, but: str = "", stances: tuple[Stance, ...] = tuple(Stance)) -> Iterable[Word]:
    """What was said of a case, without names."""
    for position in case.positions:
        if position.panelist != but and position.stance in stances:
            for argument in position.arguments:
                yield Word(position.stance, argument.claim, argument.evidence, argument.reasoning)


def late(case: Case) -> tuple[str, ...]:
    """What was executed since the dossiers were made."""
    run = [check for check in (*case.tried, case.check) if check and check.outcome != CheckOutcome.NOT_RUN]
    return tuple(shown(check) for check in run)


def shown(check: Check) -> str:
    """What a check is, and what it showed."""
    parts = (f"{check.label}: {check.outcome.replace('_', ' ')}", check.output, check.source)
    return "\n".join(part for part in parts if part.strip()).strip()


def _summary(answer: Position | reply.Answer) -> str:
    reason = answer.arguments[0].claim if answer.arguments else "no argument"
    if isinstance(answer, Position):
        return f"{answer.stance.value} ({answer.probability:.2f}): {reason}"
    return f"{answer.decision}: {reason}"


def _key(check: Check) -> tuple[str, tuple[str, ...], str, str]:
    return check.kind, check.command, check.subject, check.source
