"""A dry run: who would be asked about what, and the most that it could take. Nobody is asked."""

from __future__ import annotations

from reviewbot import pipeline
from reviewbot.adapters.till import prices
from reviewbot.changeset import portion
from reviewbot.config.seats import Seating
from reviewbot.ports import Portion
from reviewbot.wiring import seats
from reviewbot.wiring.options import options_of
from reviewbot.wiring.order import Forecast, Order, SystemClock
from reviewbot.wiring.portions import for_models, local_work
from reviewbot.wiring.scene import Scene

PROMPT_FRAME_TOKENS = 3_500
"""Policy, question, schema and some evidence, beside the passages and their context."""


class Unmeasured:
    """Profiles of local models for a run that asks nobody: none are known."""

    def profile(self, host: str, model: str) -> None:
        """Nothing."""

    def learn(self, profile: object) -> None:
        """Nothing."""


def foretold(seating: Seating, scene: Scene, order: Order) -> Forecast:
    """The plan of a review: its portions as they would be read, its calls and money at most."""
    configuration = scene.configuration
    cap = configuration.get("limits.cost_usd", float)
    if seating.is_static:
        return Forecast(seating, (), 0, 0.0, cap)
    plain = options_of(configuration, execute=order.execute)
    hall = seats.Hall(configuration, order.environment, clock=SystemClock(), profiles=Unmeasured())
    laid = seats.lay(seating, hall, tools=None, steps=0, seconds=plain.debate.round_seconds)
    options = for_models(plain, configuration, laid.seats, local=local_work(plain, laid.paces, laid.errors))
    passages, notes = pipeline.shown(scene.revisions, scene.repo, scene.git, options=options)
    tokens = options.briefing.portion_tokens
    portions = portion.listed(portion.divide(passages, tokens) if tokens else (passages,))
    calls, worst = _worst(laid, portions, options)
    return Forecast(seating, portions, calls, worst, cap, notes)


def _worst(laid: seats.Laid, portions: tuple[Portion, ...], options: pipeline.Options) -> tuple[int, float]:
    """Calls and US dollars if every claim is disputed in every round, drafts included. Second attempts and look-ups come on
    top."""
    lines = [sitting.lines[0] for sitting in laid.sittings if sitting.lines]
    debate, largest = options.debate, max((one.tokens for one in portions), default=0)
    frame = PROMPT_FRAME_TOKENS + options.briefing.related_tokens
    calls, usd = 0, 0.0
    for line in lines:
        first = portions if line.host is None else portions[: debate.local.asks]
        price = line.counter.price(line.model)
        sizes = [one.tokens + frame for one in first] + [largest + frame] * (debate.max_disputes * debate.rounds)
        calls += len(sizes)
        usd += sum(prices.worst_case(size, line.max_output_tokens, price) for size in sizes)
    judge = laid.moderator.lines[0] if laid.moderator and laid.moderator.lines and debate.moderate else None
    if judge is not None:
        price = judge.counter.price(judge.model)
        calls += 2 * debate.max_disputes
        usd += 2 * debate.max_disputes * prices.worst_case(largest + frame, judge.max_output_tokens, price)
    if lines and options.improve.most:
        price = lines[0].counter.price(lines[0].model)
        calls += 2 * options.improve.most
        usd += 2 * options.improve.most * prices.worst_case(largest + frame, lines[0].max_output_tokens, price)
    return calls, usd
