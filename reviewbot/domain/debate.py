"""The debate's own values: claims, positions, votes, the transcript. Probabilities are in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.evidence import Category, Severity
from reviewbot.domain.money import Bill


class Stance(StrEnum):
    """Where a panelist stands on a claim."""

    SUPPORT = "support"
    OPPOSE = "oppose"
    NEUTRAL = "neutral"


class Proof(StrEnum):
    """What execution said of a claim."""

    PROVEN = "proven"
    CONTRADICTED = "contradicted"
    UNTESTED = "untested"


class SettledBy(StrEnum):
    """What ended the debate on a claim."""

    EVIDENCE = "evidence"
    AGREEMENT = "agreement"
    VOTE = "vote"
    MODERATOR = "moderator"
    BUDGET = "budget"


class Triage(StrEnum):
    """What became of a cluster before any cross-examination."""

    ACCEPTED = "accepted"
    DEBATED = "debated"
    RECORDED = "recorded"


STATIC_FAMILY = "static"
"""Of seats that argue by fixed rules: no model answers."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A chair at the table. ``family`` is the model family that answers: votes of one family count less.

    ``lens`` is what this seat looks for, in its owner's words (empty: the role's own). ``room`` is how many tokens of passages
    it takes at a time, ``None`` for no limit; ``local`` says that a machine of the user's answers, at its own pace.
    """

    name: str
    role: str
    model: str
    family: str
    lens: str = ""
    room: int | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Who sits: the panelists, and who judges their deadlocks (not one of them; ``None``: nobody)."""

    seats: tuple[Seat, ...]
    moderator: Seat | None = None


class CheckKind(StrEnum):
    """How a claim is made executable.

    ``test``: a test of the project (``subject``: its id) or a whole pytest file (``source``). ``script``: a program, ``source``,
    laid at the path ``subject``, whose suffix says what runs it. ``command``: an argv. ``rule``: a linter's rule,
    ``subject`` as ``tool:rule``. ``types``: a type checker, ``subject`` names it. ``behaviour``: ``subject`` is
    ``path:function``, which should do at head what it did at base. ``contract``: ``source`` is a specification of it.
    ``benchmark``: ``source`` has ``run()``, or ``subject`` names a configured benchmark: head should not be slower than base.
    """

    TEST = "test"
    SCRIPT = "script"
    COMMAND = "command"
    RULE = "rule"
    TYPES = "types"
    BEHAVIOUR = "behaviour"
    CONTRACT = "contract"
    BENCHMARK = "benchmark"


class CheckOutcome(StrEnum):
    """What the runs of a check showed together.

    ``fails_at_head``: and passes at base. ``passes_with_fix``: fails at head, also at base or not to be run there, and passes
    with the proposed fix. ``none_found``: a bounded search for a counter-example came to its end without one. ``unrelated``: it
    fails without running what the claim is about. ``unstable``: two equal runs differ.
    """

    FAILS_AT_HEAD = "fails_at_head"
    PASSES_AT_HEAD = "passes_at_head"
    FAILS_AT_BOTH = "fails_at_both"
    PASSES_WITH_FIX = "passes_with_fix"
    NONE_FOUND = "none_found"
    UNRELATED = "unrelated"
    UNSTABLE = "unstable"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class Check:
    """A claim made executable. ``command`` is what a person would run; ``output`` is what was printed, trimmed. ``author`` is who
    wrote it, empty where nobody did: a test of the project."""

    command: tuple[str, ...]
    source: str = ""
    subject: str = ""
    outcome: CheckOutcome = CheckOutcome.NOT_RUN
    evidence: tuple[str, ...] = ()
    output: str = ""
    kind: CheckKind = CheckKind.TEST
    author: str = ""

    @property
    def label(self) -> str:
        """What it is, in a line."""
        return " ".join(self.command) or f"{self.kind.value} {self.subject}".strip()


@dataclass(frozen=True, slots=True)
class Argument:
    """One reason. ``evidence`` holds citations: ids of the ledger (``E2``), hunks (``H1``) or lines (``a.py:11``)."""

    claim: str
    evidence: tuple[str, ...] = ()
    reasoning: str = ""
    counter_arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """A panelist's stand on one claim in one round. ``counted`` is false for a flip that cites nothing new; ``check`` is an
    experiment that it offers."""

    panelist: str
    round: int
    stance: Stance
    probability: float
    arguments: tuple[Argument, ...] = ()
    counted: bool = True
    check: Check | None = None

    def citations(self) -> frozenset[str]:
        """Everything the position cites."""
        return frozenset(cite for argument in self.arguments for cite in argument.evidence)


@dataclass(frozen=True, slots=True)
class Claim:
    """What one panelist says is wrong.

    ``quote`` is verbatim code as shown; after the gates it anchors ``start_line``–``line`` (head numbering).
    """

    path: str
    start_line: int
    line: int
    quote: str
    category: Category
    severity: Severity
    title: str
    trigger: str
    consequence: str
    confidence: float
    falsifier: str
    raised_by: str
    evidence: tuple[str, ...] = ()
    rule: str | None = None
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One step in the life of a claim: ``raised``, ``amended``, ``withdrawn`` or ``merged``."""

    round: int
    by: str
    change: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster of claims about one thing, and all that was said of it. ``readers`` counts who read its place blind;
    ``tried`` are earlier checks that were run and decided nothing."""

    id: str
    claims: tuple[Claim, ...]
    severity: Severity
    triage: Triage
    triage_reason: str
    positions: tuple[Position, ...] = ()
    versions: tuple[Version, ...] = ()
    proof: Proof = Proof.UNTESTED
    check: Check | None = None
    tried: tuple[Check, ...] = ()
    probability: float = 0.0
    settled_by: SettledBy = SettledBy.VOTE
    stop_reason: str = ""
    withdrawn: bool = False
    deadlocked: bool = False
    readers: int = 0

    @property
    def lead(self) -> Claim:
        """The claim that speaks for the cluster: the first one (clusters order them)."""
        return self.claims[0]

    @property
    def raised_by(self) -> tuple[str, ...]:
        """The panelists who raised it, each once, in order."""
        return tuple(dict.fromkeys(claim.raised_by for claim in self.claims))

    def last_words(self) -> Mapping[str, Position]:
        """Each panelist's last position, by name."""
        return {said.panelist: said for said in sorted(self.positions, key=lambda said: said.round)}

    @property
    def evidence(self) -> tuple[str, ...]:
        """Every ledger id that its claims rest on, each once, in order."""
        return tuple(dict.fromkeys(item for claim in self.claims for item in claim.evidence))


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said or run in the debate, for the record. ``outcome`` is ``ok`` or why it does not count."""

    number: int
    phase: str
    panelist: str
    round: int
    subject: str
    outcome: str
    summary: str


class SeatStatus(StrEnum):
    """Whether a panelist kept its seat."""

    OK = "ok"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Attendance:
    """A seat and how it fared."""

    seat: Seat
    status: SeatStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the moderator looked at between rounds: the open cases and their probabilities, and what it ordered."""

    round: int
    scores: tuple[tuple[str, float], ...]
    open: tuple[str, ...]
    decision: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Lines of the change that too few panelists read: the path, how many changed lines, whether that is all of the file."""

    path: str
    lines: int
    whole: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """The whole debate, ended. ``quorum`` says whether enough panelists answered for a verdict to mean anything; ``capped`` why
    a budget ended it early, empty where none did."""

    cases: tuple[Case, ...] = ()
    dropped: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    attendance: tuple[Attendance, ...] = ()
    rounds: int = 0
    quorum: bool = True
    bill: Bill = Bill()
    notes: tuple[str, ...] = ()
    criteria: tuple[tuple[str, int], ...] = ()
    unread: tuple[Unread, ...] = ()
    capped: str = ""
