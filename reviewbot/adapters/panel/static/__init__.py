"""The static panel: Critic, Reviewer and Optimizer as deterministic analysts over executed evidence. No language model.

They answer the same questions as models do, in the same JSON, and pass the same gates. ``lenses`` says who raises what,
``scene`` reads facts off the code and the ledger, ``argue`` turns facts into a stance.
"""

from __future__ import annotations

import json
from typing import Any

from reviewbot.adapters.panel.static import argue, lenses
from reviewbot.domain.debate import Seat, Table
from reviewbot.ports import Ask, CrossExamination, FirstPass, Rebuttal, Reply, ReplyStatus
from reviewbot.screen.storable import storable

FAMILY = "static"
SEATS = tuple(Seat(role, role, f"{FAMILY}:{role}", FAMILY) for role in lenses.LENSES)


class StaticPanel:
    """Three analysts of one family. Answers at once, costs nothing, and says the same again when asked again."""

    table = Table(SEATS)

    async def ask(self, ask: Ask) -> Reply:
        """The analyst's answer as JSON text."""
        return Reply(ReplyStatus.OK, json.dumps(_storable(_answer(ask)), ensure_ascii=True))

    async def close(self) -> None:
        """Nothing is open."""


def _answer(ask: Ask) -> dict[str, object]:
    question, role = ask.question, ask.seat.role
    if isinstance(question, FirstPass):
        return {"claims": lenses.claims(question, role)}
    if isinstance(question, CrossExamination):
        return argue.position(question, role)
    assert isinstance(question, Rebuttal)
    return argue.rebuttal(question, role)


def _storable(value: Any) -> Any:
    """The answer as it can be read: one file name that is not UTF-8 must not cost all that is said of the others."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value
