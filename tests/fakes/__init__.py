"""Fake model servers on loopback. ``README.md`` is their interface."""

from tests.fakes import faults
from tests.fakes.process import Process
from tests.fakes.reviewer import claim, reviewer
from tests.fakes.scripts import by_model, fitting, queue, rejects, said, uses
from tests.fakes.seen import Answer, Seen, Speed, Step, Tokens, Wish
from tests.fakes.server import Decoy, Models

__all__ = [
    "Answer", "Decoy", "Models", "Process", "Seen", "Speed", "Step", "Tokens", "Wish", "by_model", "claim", "faults", "fitting", "queue",
    "rejects", "reviewer", "said", "uses",
]  # fmt: skip
