"""What a review would ask, before it asks anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewbot.context.brief import Brief
from reviewbot.debate.first_pass import first_questions
from reviewbot.debate.panel import Panel
from reviewbot.debate.plan import Plan
from reviewbot.errors import ModelError
from reviewbot.llm.client import BYTES_A_TOKEN
from reviewbot.llm.prices import dollars, size_of


def forecast(
    briefs: Sequence[Brief], panel: Panel, plan: Plan, languages: Sequence[str], cap_usd: float
) -> Iterator[str]:
    """Lines for people."""
    if not panel.panelists:
        yield "No language model would be asked: only executed checks decide."
        return
    why = "; ".join(plan.reasons) or "the change is small and tested, and touches nothing risky"
    is_alone = all(len(names) == 1 for names in plan.readers.values()) and len(briefs) == 1
    yield f"Effort {plan.effort}: {'one panelist' if is_alone else 'the panel'} ({why})."
    total = 0
    for question in first_questions(briefs, panel, plan, languages):
        request = panel.request(question)
        who = f"{question.label}  {request.provider}:{request.model}"
        tokens = size_of(request) // BYTES_A_TOKEN
        try:
            worst = panel.client.price(request).worst(request)
        except ModelError as error:
            yield f"  {who}  would not be asked: {error}"
            continue
        total += worst
        yield f"  {who}  about {tokens} tokens, at most {dollars(worst)}"
    yield f"The first pass costs at most {dollars(total)}."
    parts = ["a test for serious claims without one", "intent of proven differences"]
    if plan.rounds:
        serious = " of serious claims" if plan.only_serious else ""
        rounds = "a round" if plan.rounds == 1 else f"up to {plan.rounds} rounds"
        parts.append(f"{rounds} of cross-examination{serious}")
    if plan.has_moderator:
        parts.append("a moderator for what stays contested")
    yield f"Then, where claims need it: {', '.join(parts)}."
    yield f"All of it together costs at most ${cap_usd:.2f} (limits.cost_usd)."
