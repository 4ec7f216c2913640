"""The fake models that answer wherever a page has a key, or a server of its own."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes import Answer, Models, Seen, Speed, reviewer
from tests.fakes.scripts import perform

NAMES = ("claude-sonnet-5-5", "qwen3-coder:30b", "qwen3-coder-30b", "qwen2.5-coder:7b", "qwen2.5-coder:3b")
"""Models that the pages speak of."""


def answering() -> Models:
    """Panelists who find nothing, on every protocol. Ollama's machine is neither fast nor slow."""
    return Models(script=_talkative, names=NAMES, speed=Speed(prompt=3_000, output=600))


_PANELIST = reviewer()


def _talkative(seen: Seen) -> Answer:
    """What a panelist says, as long as real answers are: the pace of a machine shows in those only."""
    answer = perform(_PANELIST, seen)
    assert isinstance(answer, Answer)
    return replace(answer, text=answer.text + " " * 200)
