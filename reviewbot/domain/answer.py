"""How conversations other than a review end: the panel's counsel on a question, the settlement of a dispute about a finding."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.debate import Argument, Attendance
from reviewbot.domain.evidence import Evidence, Severity
from reviewbot.domain.money import Bill
from reviewbot.domain.review import Finding


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one panelist answered, alone. ``letter`` is its name before whoever drew the answers together.

    ``citations`` exist; ``dropped`` are those that do not. Without any citation the answer is an opinion and nothing more.
    ``portion`` is the part of the change it is about, empty where that is all of it. ``confidence`` is in [0, 1].
    """

    panelist: str
    letter: str
    answer: str
    citations: tuple[str, ...]
    confidence: float
    caveats: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    portion: str = ""


@dataclass(frozen=True, slots=True)
class Dissent:
    """Who holds something else than the common answer, and what."""

    panelists: tuple[str, ...]
    about: str


@dataclass(frozen=True, slots=True)
class Counsel:
    """The panel's answer to a question about a change.

    ``answer`` is what the answers have in common, drawn together by ``by``; where there is none, ``unanswered`` says why.
    ``evidence`` are the items of the ledger that are cited, or (of a panel without a model) that the question is about.
    """

    question: str
    answer: str = ""
    by: str = ""
    citations: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    dissent: tuple[Dissent, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    unanswered: str = ""
    evidence: tuple[Evidence, ...] = ()
    attendance: tuple[Attendance, ...] = ()
    bill: Bill = Bill()
    notes: tuple[str, ...] = ()

    @property
    def rests_on_citations(self) -> bool:
        """Something that exists is cited for it; else it is an opinion."""
        return bool(self.citations)


class DisputeEnd(StrEnum):
    """What became of a disputed finding. ``unheard``: too few could weigh the argument, the finding stands as it stood."""

    MAINTAINED = "maintained"
    AMENDED = "amended"
    WITHDRAWN = "withdrawn"
    UNHEARD = "unheard"


@dataclass(frozen=True, slots=True)
class Voice:
    """What one panelist said in a dispute. ``said`` is ``defend``, ``amend`` or ``withdraw`` of who raised the finding
    (``raised``), else ``support``, ``oppose`` or ``neutral`` with a ``probability``. ``counted`` is false where it cites nothing
    that it would have to cite."""

    panelist: str
    said: str
    raised: bool
    probability: float | None
    arguments: tuple[Argument, ...]
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a dispute ended. ``finding`` is as it was told, at its lines of now; the other fields say how it stands.

    ``held_by`` says which executed evidence keeps it, empty where none does.
    """

    finding: Finding
    argument: str
    end: DisputeEnd
    reason: str
    probability: float
    severity: Severity
    title: str
    voices: tuple[Voice, ...] = ()
    held_by: str = ""
    attendance: tuple[Attendance, ...] = ()
    bill: Bill = Bill()
    notes: tuple[str, ...] = ()
