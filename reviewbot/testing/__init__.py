"""Fakes at the ports, for tests of this project and of those who extend it.

``ScriptedPanel`` answers from a list, ``FakeSandbox`` returns outcomes by job name, ``FakeClock`` stands still until it is told,
``Watching`` keeps what an observer saw, ``MemorySession`` what a debate left in the ledger, ``MemoryForge`` is a forge with one
pull request. The builders make values with everything filled in but what a test is about.
"""

from reviewbot.testing.fakes import FakeClock, FakeSandbox, MemorySession, ScriptedPanel, Watching
from reviewbot.testing.forge import MemoryForge, a_standing
from reviewbot.testing.made import (
    a_claim,
    a_dossier,
    a_passage,
    a_seat,
    claims_reply,
    design_reply,
    evidence_item,
    position_reply,
    rebuttal_reply,
)

__all__ = [
    "FakeClock",
    "FakeSandbox",
    "MemoryForge",
    "MemorySession",
    "ScriptedPanel",
    "Watching",
    "a_claim",
    "a_dossier",
    "a_passage",
    "a_seat",
    "a_standing",
    "claims_reply",
    "design_reply",
    "evidence_item",
    "position_reply",
    "rebuttal_reply",
]
