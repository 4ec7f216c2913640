"""What a panel of models is given to read at a time: portions that fit windows, paces and the budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reviewbot import pipeline
from reviewbot.adapters.panel.pace import SHARE_OF_TIME
from reviewbot.briefing import BriefingOptions
from reviewbot.config import Configuration
from reviewbot.debate.first_pass import LocalWork
from reviewbot.debate.improve import ImproveOptions
from reviewbot.domain.debate import Seat
from reviewbot.ports import Pace
from reviewbot.wiring.options import effort_of, parser

PORTION_TOKENS = 30_000
"""Of one portion: what a model reads with care, and what a cache is worth. Long prompts lose what stands in their middle
[design]."""

SHARE_OF_TOKENS = 0.6
"""Of ``limits.tokens``: for the first pass. The rest is for arguments about it [design]."""

FRAME_TOKENS = 900
"""What a local model's prompt takes beside the passages."""

LEAST_ROOM = 300
"""A portion for a local model is never smaller, whatever its pace."""

SHARE_FOR_LOCAL = 0.5
"""Of a review's seconds: for the first pass of local models [design]."""


def for_models(
    plain: pipeline.Options,
    configuration: Configuration,
    seats: Iterable[Seat],
    *,
    local: LocalWork,
) -> pipeline.Options:
    """Options for a panel of models: portions that fit their windows and paces, within the token budget."""
    effort, table = effort_of(configuration), tuple(seats)
    strong = [seat for seat in table if not seat.local]
    rooms = [seat.room for seat in strong if seat.room is not None]
    first_pass = configuration.get("limits.tokens", int) * SHARE_OF_TOKENS
    debate = replace(
        plain.debate,
        rounds=min(plain.debate.rounds, effort.rounds),
        max_disputes=min(plain.debate.max_disputes, effort.disputes),
        moderate=effort.moderate,
        local=local,
    )
    slowest = min((pace.room for pace in local.paces), default=None)
    small = None if slowest is None else max(slowest - FRAME_TOKENS, LEAST_ROOM)
    portion = min([PORTION_TOKENS, *rooms])
    return replace(
        plain,
        debate=debate,
        improve=ImproveOptions(effort.drafts, plain.debate.round_seconds),
        budget_tokens=int(first_pass / max(len(strong), 1)),
        briefing=BriefingOptions(
            portion_tokens=portion if strong else small,
            small_tokens=small if strong else None,
            related_tokens=effort.related_tokens if strong else 0,
            parser=parser(),
        ),
    )


def local_work(plain: pipeline.Options, paces: tuple[Pace, ...], errors: tuple[tuple[str, float, float], ...]) -> LocalWork:
    """As many asks of each local panelist as fit into their share of the review's time, each planned to take its share of a
    round's."""
    planned = plain.debate.round_seconds * SHARE_OF_TIME
    asks = max(1, int(plain.seconds * SHARE_FOR_LOCAL / planned))
    return LocalWork(paces, asks, plain.debate.round_seconds, errors)
