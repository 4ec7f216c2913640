"""How fast a model on the user's own hardware is, by the counters of its server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from reviewbot.journal import Journal, key_of
from reviewbot.llm.provider import ModelRequest, Usage

QUESTION_TOKENS = 1_300  # what a question and its tools have beside the change
ANSWER_TOKENS = 1_500  # what an answer usually has
GROWTH = 1.5


class Pace(Struct, frozen=True, kw_only=True):
    """Tokens that a model reads and writes in a second."""

    read: float
    written: float

    def seconds(self, input_tokens: int) -> float:
        """How long one question about so much of a change takes."""
        return (QUESTION_TOKENS + input_tokens) / self.read + ANSWER_TOKENS / self.written

    def readable(self, seconds: float) -> int:
        """How many tokens of a change can be read and answered in a time."""
        return max(0, int((seconds - self.seconds(0)) * self.read))


def load_pace(journal: Journal, provider: str, model: str) -> Pace | None:
    return journal.get(key_of("pace", provider, model), Pace)


def save_paces(journal: Journal, calls: Iterable[tuple[ModelRequest, Usage]]) -> None:
    """Record the pace of each model whose server measured it.

    The slowest reading counts, and it grows by half at most: Ollama counts all tokens of a prompt,
    and not the time of those that an earlier prompt began with.
    """
    measured = defaultdict[tuple[str, str], list[Usage]](list)
    for request, usage in calls:
        is_whole = usage.input_tokens > usage.cached_input_tokens and usage.output_tokens
        if is_whole and usage.input_seconds and usage.output_seconds:
            measured[request.provider, request.model].append(usage)
    for model, usages in measured.items():
        read = min((u.input_tokens - u.cached_input_tokens) / u.input_seconds for u in usages)
        written = sum(u.output_tokens for u in usages) / sum(u.output_seconds for u in usages)
        if old := load_pace(journal, *model):
            read = min(read, GROWTH * old.read)
        journal.put(key_of("pace", *model), Pace(read=read, written=written))
