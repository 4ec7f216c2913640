"""The narrow doors to the world, and the values that pass through them. Adapters stand behind, stages never look.

Each name is imported when it is first asked for (PEP 562): a hook that finds nothing needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.ports.forge import Archive, Board, Branches, Changes, Desk, Forge, ForgeDiff, History
    from reviewbot.ports.making import (
        Appraisal,
        Arbitration,
        Attempted,
        Diagnosis,
        Drafting,
        Proposal,
        Refinement,
        Sheet,
        Shown,
        Splice,
        Task,
        Trial,
        Trialled,
    )
    from reviewbot.ports.model import (
        Account,
        Completion,
        Exchange,
        Fault,
        ModelCall,
        Prompt,
        Provider,
        ProviderError,
        Scribe,
        Stop,
        Timings,
        Tokens,
        Toolbox,
        ToolCall,
        ToolResult,
        ToolSpec,
    )
    from reviewbot.ports.panel import Ask, Experiment, Panel, Question, Reply, ReplyStatus, ToolUse, Verification
    from reviewbot.ports.question import (
        Assignment,
        CheckDesign,
        Consultation,
        CrossExamination,
        Dispute,
        Dossier,
        Draft,
        FirstPass,
        Given,
        Improvement,
        Judgement,
        Pace,
        Packet,
        Passage,
        Portion,
        Rebuttal,
        Related,
        Removed,
        Rule,
        Synthesis,
        Word,
    )
    from reviewbot.ports.repo import Hit, Objects, RawDiff, Repo, Search, TreeEntry, Trees
    from reviewbot.ports.sandbox import Ended, Job, Outcome, Sandbox
    from reviewbot.ports.store import (
        Calls,
        CallState,
        Profile,
        Profiles,
        Recorded,
        Session,
        SessionPlan,
        SessionState,
        Wanted,
    )
    from reviewbot.ports.watch import Clock, Observer, Progress
    from reviewbot.ports.worker import Worker, WorkerLost

__all__ = [
    "Account", "Appraisal", "Arbitration", "Archive", "Ask", "Assignment", "Attempted", "Board", "Branches", "CallState", "Calls",
    "Changes", "CheckDesign", "Clock", "Completion", "Consultation", "CrossExamination", "Desk", "Diagnosis", "Dispute",
    "Dossier", "Draft", "Drafting", "Ended", "Exchange", "Experiment", "Fault", "FirstPass", "Forge", "ForgeDiff", "Given",
    "History", "Hit", "Improvement", "Job", "Judgement", "ModelCall", "Objects", "Observer", "Outcome", "Pace", "Packet", "Panel",
    "Passage", "Portion", "Profile", "Profiles", "Progress", "Prompt", "Proposal", "Provider", "ProviderError", "Question",
    "RawDiff", "Rebuttal", "Recorded", "Refinement", "Related", "Removed", "Reply", "ReplyStatus", "Repo", "Rule", "Sandbox",
    "Scribe", "Search", "Session", "SessionPlan", "SessionState", "Sheet", "Shown", "Splice", "Stop", "Synthesis", "Task",
    "Timings", "Tokens", "ToolCall", "ToolResult", "ToolSpec", "ToolUse", "Toolbox", "TreeEntry", "Trees", "Trial", "Trialled",
    "Verification", "Wanted", "Word", "Worker", "WorkerLost",
]  # fmt: skip

_ROOMS = {
    "forge": (
        "Archive",
        "Board",
        "Branches",
        "Changes",
        "Desk",
        "Forge",
        "ForgeDiff",
        "History",
    ),
    "making": (
        "Appraisal",
        "Arbitration",
        "Attempted",
        "Diagnosis",
        "Drafting",
        "Proposal",
        "Refinement",
        "Sheet",
        "Shown",
        "Splice",
        "Task",
        "Trial",
        "Trialled",
    ),
    "model": (
        "Account",
        "Completion",
        "Exchange",
        "Fault",
        "ModelCall",
        "Prompt",
        "Provider",
        "ProviderError",
        "Scribe",
        "Stop",
        "Timings",
        "Tokens",
        "Toolbox",
        "ToolCall",
        "ToolResult",
        "ToolSpec",
    ),
    "panel": (
        "Ask",
        "Experiment",
        "Panel",
        "Question",
        "Reply",
        "ReplyStatus",
        "ToolUse",
        "Verification",
    ),
    "question": (
        "Assignment",
        "CheckDesign",
        "Consultation",
        "CrossExamination",
        "Dispute",
        "Dossier",
        "Draft",
        "FirstPass",
        "Given",
        "Improvement",
        "Judgement",
        "Pace",
        "Packet",
        "Passage",
        "Portion",
        "Rebuttal",
        "Related",
        "Removed",
        "Rule",
        "Synthesis",
        "Word",
    ),
    "repo": (
        "Hit",
        "Objects",
        "RawDiff",
        "Repo",
        "Search",
        "TreeEntry",
        "Trees",
    ),
    "sandbox": (
        "Ended",
        "Job",
        "Outcome",
        "Sandbox",
    ),
    "store": (
        "Calls",
        "CallState",
        "Profile",
        "Profiles",
        "Recorded",
        "Session",
        "SessionPlan",
        "SessionState",
        "Wanted",
    ),
    "watch": (
        "Clock",
        "Observer",
        "Progress",
    ),
    "worker": (
        "Worker",
        "WorkerLost",
    ),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
