"""The narrow doors to the world, and the values that pass through them. Adapters stand behind, stages never look."""

from reviewbot.ports.forge import Archive, Board, Changes, Desk, Forge, ForgeDiff
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
from reviewbot.ports.panel import (
    Ask,
    Assignment,
    CheckDesign,
    Consultation,
    CrossExamination,
    Dispute,
    Dossier,
    Draft,
    Experiment,
    FirstPass,
    Given,
    Improvement,
    Judgement,
    Pace,
    Packet,
    Panel,
    Passage,
    Portion,
    Question,
    Rebuttal,
    Related,
    Removed,
    Reply,
    ReplyStatus,
    Rule,
    Synthesis,
    ToolUse,
    Verification,
    Word,
)
from reviewbot.ports.repo import Hit, Objects, RawDiff, Repo, Search, TreeEntry
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
    "Account", "Archive", "Ask", "Assignment", "Board", "CallState", "Calls", "Changes", "CheckDesign", "Clock", "Completion",
    "Consultation", "CrossExamination", "Desk", "Dispute", "Dossier", "Draft", "Ended", "Exchange", "Experiment", "Fault",
    "FirstPass", "Forge", "ForgeDiff", "Given", "Hit", "Improvement", "Job", "Judgement", "ModelCall", "Objects", "Observer",
    "Outcome", "Pace", "Packet", "Panel", "Passage", "Portion", "Profile", "Profiles", "Progress", "Prompt", "Provider",
    "ProviderError", "Question", "RawDiff", "Rebuttal", "Recorded", "Related", "Removed", "Reply", "ReplyStatus", "Repo",
    "Rule", "Sandbox", "Scribe", "Search", "Session", "SessionPlan", "SessionState", "Stop", "Synthesis", "Timings", "Tokens",
    "ToolCall", "ToolResult", "ToolSpec", "ToolUse", "Toolbox", "TreeEntry", "Verification", "Wanted", "Word", "Worker",
    "WorkerLost",
]  # fmt: skip
