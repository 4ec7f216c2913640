"""S7: what is still too close to call goes before the moderator: blind, and twice, the two cases in swapped order."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from reviewbot.debate import numbers, reply, stop
from reviewbot.debate.examine import Hearing, late, packet, words
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.reply import Decision, Judged
from reviewbot.debate.rounds import Answers, Round, hold
from reviewbot.debate.weigh import expit, logit
from reviewbot.domain.debate import Case, Seat, SettledBy, Stance
from reviewbot.ports import Ask, Judgement

_SIGNS = {Decision.UPHELD: 1, Decision.REJECTED: -1}


@dataclass(frozen=True, slots=True)
class Bench:
    """Who judges, and the time for an answer."""

    moderator: Seat
    seconds: float

    def judge(self, table: Mapping[str, Case], hearing: Hearing, minutes: Minutes) -> Generator[Round, Answers, dict[str, Case]]:
        """The deadlocked cases, judged. A decision counts where both answers give it, each with a citation."""
        stuck = [case for case in table.values() if case.deadlocked]
        asks = [self._ask(case, hearing, turn) for case in stuck for turn in (1, 2)]
        held = yield from hold(asks, lambda _, text: reply.judgement(text), minutes)
        found: dict[str, Case] = {}
        for case, first, second in zip(stuck, held.heard[::2], held.heard[1::2], strict=True):
            judged, decision = _judged(case, first.value, second.value)
            found[case.id] = judged
            minutes.rule((judged,), f"{case.id}: {decision}", still_open=(case.id,) if judged.deadlocked else ())
        return found

    def _ask(self, case: Case, hearing: Hearing, turn: int) -> Ask:
        pro = tuple(words(case, stances=(Stance.SUPPORT,)))
        con = tuple(words(case, stances=(Stance.OPPOSE, Stance.NEUTRAL)))
        first, second = (pro, con) if turn == 1 else (con, pro)
        dossier = hearing.papers.about(case.lead, self.moderator)
        question = Judgement(packet(case), dossier, first, second, late(case))
        return Ask(self.moderator, question, subject=case.id, round=turn, timeout_seconds=self.seconds)


def _judged(case: Case, first: Judged | None, second: Judged | None) -> tuple[Case, str]:
    """The case after the judgement, and what was decided in words."""
    if first is None or second is None:
        return case, "the moderator gave no valid answer; it stays open"
    if first.decision is not second.decision or first.decision is Decision.UNDECIDED:
        said = f"{first.decision.value}, and {second.decision.value} with the cases swapped"
        return case, f"the moderator said {said}; it stays open"
    probability = expit(logit(case.probability) + _SIGNS[first.decision] * numbers.LOG_ODDS_MODERATOR)
    decision = f"{first.decision.value} by the moderator in both orders: {first.arguments[0].claim}"
    settled = replace(
        case,
        probability=probability,
        settled_by=SettledBy.MODERATOR,
        stop_reason=f"{case.stop_reason}; {decision}",
        deadlocked=stop.is_deadlock(probability),
    )
    return settled, decision
