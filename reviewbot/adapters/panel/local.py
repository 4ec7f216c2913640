"""A machine of the user's that answers at its own pace: prompts are cut to what it can do in time, and it teaches by doing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from reviewbot.adapters.panel.pace import LocalPace
from reviewbot.adapters.till import prices, record
from reviewbot.adapters.till.till import Served
from reviewbot.ports import Fault, ModelCall, Pace, Profiles

LEAST_OUTPUT_TOKENS = 400
MOST_OUTPUT_TOKENS = 4_000
SHARE_FOR_OUTPUT = 0.5
"""Of an answer's time: what a model may write at most, so that one that talks without end is cut before the time is up."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens of a whole prompt, and of its answer, that fit into an ask's time."""

    prompt_tokens: int
    output_tokens: int


class LocalHost:
    """One server. Who holds its ``turn`` is the one whose ask is sized and answered now, by what the ones before it took."""

    def __init__(self, name: str, profiles: Profiles, turns: int = 1) -> None:
        self.name = name
        self.turn = asyncio.Semaphore(turns)
        self._profiles = profiles
        self._paces: dict[str, LocalPace] = {}
        self._loaded: set[str] = set()

    def pace(self, model: str) -> LocalPace:
        """What is known of a model here."""
        if model not in self._paces:
            self._paces[model] = LocalPace(self.name, model, known=self._profiles.profile(self.name, model))
        return self._paces[model]

    def allowance(self, model: str, seconds: float) -> Allowance:
        """What can be read and answered in its share of ``seconds``."""
        pace = self.pace(model)
        room = pace.room(seconds, pace.usual_output, loaded=model in self._loaded)
        most = int(pace.profile().output_tokens_per_second * seconds * SHARE_FOR_OUTPUT)
        return Allowance(room, min(max(most, LEAST_OUTPUT_TOKENS), MOST_OUTPUT_TOKENS))

    def told(self, seat: str, model: str, seconds: float) -> Pace:
        """The pace as whoever deals out work sees it."""
        return self.pace(model).pace(seat, seconds, loaded=model in self._loaded)

    async def watched(self, call: ModelCall, serving: Awaitable[Served]) -> Served:
        """Learn from a call. Raises what ``serving`` raises."""
        pace, loaded = self.pace(call.model), call.model in self._loaded
        tokens = prices.tokens_in(call.system + call.prefix + call.suffix + record.exchanges(call.exchanges))
        predicted = pace.predict(tokens, pace.usual_output, loaded=loaded)
        served = await serving
        if served.usage.replayed_calls or not served.seconds:
            return served  # nobody was asked just now
        if served.completion is not None and served.completion.timings is not None:
            self._loaded.add(call.model)
            pace.learn(served.completion.timings, predicted=predicted, real=served.seconds, loaded=loaded)
        elif served.error is not None and served.error.fault is Fault.TIMEOUT:
            pace.timed_out(tokens, pace.usual_output, seconds=served.seconds, loaded=loaded)
        await asyncio.to_thread(self._profiles.learn, pace.profile())
        return served
