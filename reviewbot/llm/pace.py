"""How fast a model on the user's own hardware is, by the counters of its server."""

from __future__ import annotations

from msgspec import Struct

from reviewbot.journal import Journal, key_of
from reviewbot.llm.provider import Usage

KEPT = 0.7  # the weight of what was measured before
ANSWER_TOKENS = 1_500  # what an answer usually has


class Pace(Struct, frozen=True, kw_only=True):
    """Tokens that a model reads and writes in a second."""

    read: float
    written: float

    def seconds(self, input_tokens: int) -> float:
        """How long one question takes."""
        return input_tokens / self.read + ANSWER_TOKENS / self.written

    def readable(self, seconds: float) -> int:
        """How many tokens can be read and answered in a time."""
        return max(0, int((seconds - ANSWER_TOKENS / self.written) * self.read))


def load_pace(journal: Journal, provider: str, model: str) -> Pace | None:
    return journal.get(key_of("pace", provider, model), Pace)


def save_pace(journal: Journal, provider: str, model: str, usage: Usage) -> Pace | None:
    """Record the pace of a call: the worse of it and of the moving average counts.

    None if the server did not measure.
    """
    old = load_pace(journal, provider, model)
    if not all(
        (usage.input_tokens, usage.output_tokens, usage.input_seconds, usage.output_seconds)
    ):
        return old
    read = usage.input_tokens / usage.input_seconds
    written = usage.output_tokens / usage.output_seconds
    if old:
        read = min(read, KEPT * old.read + (1 - KEPT) * read)
        written = min(written, KEPT * old.written + (1 - KEPT) * written)
    new = Pace(read=read, written=written)
    journal.put(key_of("pace", provider, model), new)
    return new
