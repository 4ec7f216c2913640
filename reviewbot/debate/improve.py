"""S8: what should stand there instead. Asked after the verdict, never with it: who must offer a fix finds fault with good code.

The Reviewer writes the replacement, the Optimizer may refine it. Nothing here proves anything; gates that need the tree and the
sandbox come later.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.debate import reply
from reviewbot.debate.examine import packet
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.numbers import FLOOR_PROVEN
from reviewbot.debate.papers import Papers
from reviewbot.debate.rounds import Answers, Heard, Round, hold
from reviewbot.domain.debate import Case, Check, CheckOutcome, Proof, Seat, Transcript
from reviewbot.domain.review import Suggestion
from reviewbot.ports import Ask, Dossier, Draft, Experiment, Improvement, Passage
from reviewbot.screen import hidden, secrets

Improving = Generator[Round, Answers, "Improved"]
MARKS = ("«secret:", "⟨U+")
"""How screened text shows what it hides."""

MOST_LINES = 60
"""A replacement longer than this is no fix of one finding [design]."""


@dataclass(frozen=True, slots=True)
class ImproveOptions:
    """At most ``most`` findings get a draft; 0: none. ``seconds`` for each answer."""

    most: int = 0
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Improved:
    """The transcript with these turns and costs in it, and a suggestion by case id where one passed the gates."""

    transcript: Transcript
    suggestions: tuple[tuple[str, Suggestion], ...]


def improve(transcript: Transcript, chosen: Iterable[str], papers: Papers, *, options: ImproveOptions) -> Improving:
    """Drafts for the chosen cases, in their order. Returns what became of them."""
    minutes = Minutes.of(transcript)
    wanted = frozenset(chosen)
    cases = [case for case in transcript.cases if case.id in wanted][: options.most]
    writer, refiner = _writers(minutes.seated)
    if not cases or writer is None:
        return Improved(transcript, ())
    desk = _Desk(papers, minutes, options.seconds)
    held = yield from hold([desk.ask(case, writer, None) for case in cases], _read, minutes)
    drafts = {case.id: desk.admitted(case, heard, writer) for case, heard in _pairs(cases, held.heard)}
    if refiner is not None:
        again = [case for case in cases if drafts[case.id] is not None]
        held = yield from hold([desk.ask(case, refiner, drafts[case.id]) for case in again], _read, minutes)
        for case, heard in _pairs(again, held.heard):
            better = desk.admitted(case, heard, refiner)
            drafts[case.id] = better or drafts[case.id]
    tested = yield from _tried(cases, drafts, minutes)
    told = tuple(
        (name, Suggestion(d.start_line, d.line, d.replacement))
        for name, d in drafts.items()
        if d is not None and name not in tested.failing
    )
    cases_after = tuple(tested.cases.get(case.id, case) for case in transcript.cases)
    return Improved(minutes.transcript(cases_after, transcript.criteria), told)


@dataclass(frozen=True, slots=True)
class _Tested:
    """The cases whose check was run with a draft in place, and those among them whose check still fails."""

    cases: Mapping[str, Case]
    failing: frozenset[str]


def _tried(cases: list[Case], drafts: Mapping[str, Draft | None], minutes: Minutes) -> Generator[Round, Answers, _Tested]:
    """Each check that fails at head, once more with the draft: a draft that does not mend it is no fix, and one that does proves
    the claim where the base failed too."""
    wanted = {case.id: (case, draft) for case in cases if (draft := drafts[case.id]) and case.check and _fails(case.check)}
    experiments = tuple(
        Experiment(case.id, case.check, case.lead.path, case.lead.start_line, case.lead.line, draft)
        for case, draft in wanted.values()
        if case.check
    )
    held = yield from hold([], _read, minutes, experiments=experiments)
    found: dict[str, Case] = {}
    failing: set[str] = set()
    for (case, _), shown in zip(wanted.values(), held.verified, strict=True):
        if shown.fixed is False:
            failing.add(case.id)
            minutes.say("S8", "draft dropped: its check fails with it too", who="sandbox", subject=case.id, outcome="dropped")
        if shown.fixed and shown.check.outcome == CheckOutcome.PASSES_WITH_FIX:
            check = replace(shown.check, output=shown.excerpt)
            found[case.id] = replace(case, check=check, proof=Proof.PROVEN, probability=max(case.probability, FLOOR_PROVEN))
    return _Tested(found, frozenset(failing))


def _fails(check: Check) -> bool:
    return check.outcome in (CheckOutcome.FAILS_AT_HEAD, CheckOutcome.FAILS_AT_BOTH)


def _writers(seated: tuple[Seat, ...]) -> tuple[Seat | None, Seat | None]:
    """Who writes and who refines: by role, else whoever sits."""
    by_role = {seat.role: seat for seat in reversed(seated)}
    writer = by_role.get("reviewer") or next(iter(seated), None)
    refiner = by_role.get("optimizer")
    return writer, None if refiner == writer else refiner


def _pairs(cases: list[Case], heard: tuple[Heard, ...]) -> Iterable[tuple[Case, Heard]]:
    return zip(cases, heard, strict=False)


def _read(ask: Ask, text: str) -> object:
    assert isinstance(ask.question, Improvement)
    answer = reply.draft(text, ask.question.packet.path)
    if answer == "keep":
        return ask.question.draft or "none"
    return answer or "none"


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where drafts are looked at before anyone sees them."""

    papers: Papers
    minutes: Minutes
    seconds: float

    def ask(self, case: Case, seat: Seat, draft: Draft | None) -> Ask:
        """Write a replacement, or refine the draft."""
        question = Improvement(packet(case), self.papers.about(case.lead, seat), draft)
        return Ask(seat, question, subject=case.id, round=1 if draft is None else 2, timeout_seconds=self.seconds)

    def admitted(self, case: Case, heard: Heard, seat: Seat) -> Draft | None:
        """The draft, if it may be shown as a suggestion."""
        draft = heard.value
        if not isinstance(draft, Draft):
            return None
        if problem := fault(draft, case, self.papers.about(case.lead, seat), unread=heard.unread):
            self.minutes.say("S8", f"draft dropped: {problem}", who=seat.name, subject=case.id, outcome="dropped")
            return None
        self.minutes.say("S8", draft.explanation or "a replacement", who=seat.name, subject=case.id)
        return replace(draft, replacement=draft.replacement.removesuffix("\n"))


def fault(draft: Draft, case: Case, dossier: Dossier, *, unread: tuple[Passage, ...] = ()) -> str:
    """Why a draft may not be shown, empty where it may. ``unread`` is what of the dossier its writer did not see.

    It must replace lines that were shown as they are (nothing redacted, nothing made visible in them), at the finding's place,
    by something else that holds no secret and no hidden character.
    """
    here = [passage for passage in dossier.passages if passage.path == draft.path]
    span = range(draft.start_line, min(draft.line, draft.start_line + MOST_LINES) + 1)
    gone = [passage for passage in unread if passage.path == draft.path]
    shown = [None if _text(gone, number) is not None else _text(here, number) for number in span]
    written = draft.replacement.removesuffix("\n")
    if max(draft.line - draft.start_line, written.count("\n")) >= MOST_LINES:
        return f"it is longer than {MOST_LINES} lines"
    if None in shown:
        return "it replaces lines that were not shown"
    if draft.start_line > case.lead.line + MOST_LINES or draft.line < case.lead.start_line - MOST_LINES:
        return "it is about another place"
    old = "\n".join(text or "" for text in shown)
    if written == old:
        return "it changes nothing"
    if hidden.visible(secrets.redact(written)[0]) != written or any(mark in text for text in (old, written) for mark in MARKS):
        return "there is a secret or a hidden character in it"
    return ""


def _text(passages: list[Passage], line: int) -> str | None:
    return next((text for passage in passages if (text := passage.text(line)) is not None), None)
