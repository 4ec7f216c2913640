"""The narrow doors to the world, and the values that pass through them. Adapters stand behind, stages never look."""

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
