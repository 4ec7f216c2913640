"""What the panel is asked: every kind of question as a typed value, and what lies before whoever is asked."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.debate import Stance
from reviewbot.domain.event import Told
from reviewbot.domain.evidence import Category, Ledger, Severity


@dataclass(frozen=True, slots=True)
class Removed:
    """A line that the change takes away, as shown. It stood right before head line ``before``."""

    before: int
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Numbered lines of one file as they are shown: redacted, hidden characters made visible.

    ``start`` is the head number of the first of ``lines``; ``changed`` holds the numbers of added lines; ``symbol`` names
    the enclosing function or class; ``removed`` what stood there at base.
    """

    path: str
    start: int
    lines: tuple[str, ...]
    changed: frozenset[int]
    symbol: str = ""
    removed: tuple[Removed, ...] = ()

    def text(self, line: int) -> str | None:
        """One line by its head number."""
        index = line - self.start
        return self.lines[index] if 0 <= index < len(self.lines) else None


@dataclass(frozen=True, slots=True)
class Related:
    """Code that the change does not touch but that speaks about it: ``relation`` is ``definition``, ``caller`` or ``test``,
    ``symbol`` what of the change it is about."""

    relation: str
    symbol: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Rule:
    """What the repository asks of changes, from a file of the base commit. ``source`` names that file."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Dossier:
    """What lies before everyone who is asked about one portion of a change: the same for every seat and every round.

    ``portion`` is its name (``P1``), ``of`` how many there are. The evidence is the ledger as it was before the debate.
    ``background`` is what others said about the change: untrusted words, and no evidence.
    """

    passages: tuple[Passage, ...]
    ledger: Ledger
    portion: str = "P1"
    of: int = 1
    related: tuple[Related, ...] = ()
    rules: tuple[Rule, ...] = ()
    title: str = ""
    focus: str = ""
    criteria: tuple[tuple[str, int], ...] = ()
    background: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstPass:
    """S1: what is wrong with this change? Asked blind."""

    dossier: Dossier


@dataclass(frozen=True, slots=True)
class Packet:
    """A claim as the others see it: no author, no votes, no confidence."""

    path: str
    start_line: int
    line: int
    quote: str
    category: Category
    severity: Severity
    title: str
    trigger: str
    consequence: str
    falsifier: str
    evidence: tuple[str, ...]
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A peer's argument, without its name: what is said, what it cites."""

    stance: Stance
    claim: str
    evidence: tuple[str, ...]
    reasoning: str


@dataclass(frozen=True, slots=True)
class CrossExamination:
    """S4: does this claim stand? Asked of those who did not raise it; from round 2 with the arguments said so far.

    ``late`` is evidence that came after the dossier was made: outcomes of checks.
    """

    packet: Packet
    dossier: Dossier
    words: tuple[Word, ...] = ()
    late: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rebuttal:
    """S4, round 2: the raiser's one answer: defend, amend or withdraw."""

    packet: Packet
    dossier: Dossier
    words: tuple[Word, ...]
    late: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """S7: a deadlocked claim before the moderator, who knows nobody's name. Asked twice, the two cases in swapped order."""

    packet: Packet
    dossier: Dossier
    first: tuple[Word, ...]
    second: tuple[Word, ...]
    late: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckDesign:
    """How could this claim be settled by running something? Asked of who writes checks: the Tester, the Formal seat.

    ``tried`` tells what earlier checks of this claim showed, ``words`` what was said of it.
    """

    packet: Packet
    dossier: Dossier
    words: tuple[Word, ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A replacement for the lines ``start_line``–``line`` of ``path`` at head, and why it mends what was found."""

    path: str
    start_line: int
    line: int
    replacement: str
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Improvement:
    """S8: write what should stand there instead (``draft`` is ``None``), or refine what another wrote."""

    packet: Packet
    dossier: Dossier
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of the change, by name, for whoever deals out work. ``tokens`` estimates what reading it takes."""

    name: str
    paths: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a local panelist works, by its own counters, and how many tokens of passages it reads in one answer's time."""

    seat: str
    model: str
    prompt_tokens_per_second: float
    output_tokens_per_second: float
    load_seconds: float
    room: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who of the local panelists reads which portion? Asked of a strong model, which has read the change anyway.

    ``errors`` says how earlier predictions fared: (seat, predicted seconds, real seconds)."""

    dossier: Dossier
    portions: tuple[Portion, ...]
    paces: tuple[Pace, ...]
    seconds: float
    errors: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Consultation:
    """What somebody asks about the change, in their ``words``. Put to everyone, blind; no part of a review."""

    dossier: Dossier
    words: str


@dataclass(frozen=True, slots=True)
class Given:
    """An answer to a consultation, under a ``letter`` instead of its author's name. ``citations`` exist."""

    letter: str
    answer: str
    citations: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What do these answers to one question have in common, and who differs? Asked of the moderator, or who stands in."""

    dossier: Dossier
    words: str
    answers: tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """A person disputes a finding that was told: its raiser defends, amends or withdraws it. Answered as a Rebuttal is."""

    packet: Packet
    dossier: Dossier
    words: tuple[Word, ...]
    late: tuple[str, ...] = ()
