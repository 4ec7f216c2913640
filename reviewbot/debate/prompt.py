"""Questions turned into words. Templates come as values; what people and programs wrote enters them as values too, in blocks.

A prompt is ``system`` (who we are and by which rules), ``prefix`` (the change, the same bytes for every seat, round and kind of
question, so that a provider's cache serves it) and ``suffix`` (whose eyes, which question, the answer's form).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

from reviewbot.debate import numbers, prompt_case, prompt_change, prompt_consult, prompt_making, schema
from reviewbot.debate.diagnosis import HYPOTHESES_SCHEMA
from reviewbot.debate.making.schema import APPRAISAL_SCHEMA, EDITS_SCHEMA
from reviewbot.debate.prompt_fence import block, cut, screened
from reviewbot.debate.prompt_room import Place, Shown, everything, fitting
from reviewbot.domain.debate import Seat
from reviewbot.domain.event import Told
from reviewbot.errors import IncompleteError
from reviewbot.ports import (
    Appraisal,
    Arbitration,
    Ask,
    Assignment,
    CheckDesign,
    Consultation,
    CrossExamination,
    Diagnosis,
    Dispute,
    Dossier,
    Drafting,
    FirstPass,
    Improvement,
    Judgement,
    Prompt,
    Question,
    Rebuttal,
    Refinement,
    Synthesis,
)

MOST_LENS = 4_000
MOST_COMPLAINT = 1_000
MOST_KEPT = 12_000_000
"""Characters of rendered material that are kept: some times the largest change that is read whole."""
ITEMS_OF_A_NARROW_SEAT = 15
ITEMS_OF_A_LOCAL_SEAT = 5

_Key = tuple[Dossier, int | None, Place | None, bool]


@dataclass(frozen=True, slots=True)
class _Form:
    """How a kind of question is put: its template, and the name and schema of its answer."""

    template: str
    name: str
    schema: Mapping[str, Any]


FORMS: Mapping[type, _Form] = {
    FirstPass: _Form("question/first_pass.j2", "claims", schema.CLAIMS_SCHEMA),
    CrossExamination: _Form("question/cross_examination.j2", "position", schema.POSITION_SCHEMA),
    Rebuttal: _Form("question/rebuttal.j2", "rebuttal", schema.REBUTTAL_SCHEMA),
    Judgement: _Form("question/judgement.j2", "judgement", schema.JUDGEMENT_SCHEMA),
    Improvement: _Form("question/improvement.j2", "draft", schema.DRAFT_SCHEMA),
    Assignment: _Form("question/assignment.j2", "assignment", schema.ASSIGNMENT_SCHEMA),
    CheckDesign: _Form("question/check_design.j2", "check", schema.DESIGN_SCHEMA),
    Consultation: _Form("question/consultation.j2", "opinion", schema.OPINION_SCHEMA),
    Synthesis: _Form("question/synthesis.j2", "counsel", schema.COUNSEL_SCHEMA),
    Dispute: _Form("question/dispute.j2", "rebuttal", schema.REBUTTAL_SCHEMA),
    Drafting: _Form("question/drafting.j2", "edits", EDITS_SCHEMA),
    Appraisal: _Form("question/appraisal.j2", "appraisal", APPRAISAL_SCHEMA),
    Refinement: _Form("question/refinement.j2", "edits", EDITS_SCHEMA),
    Arbitration: _Form("question/arbitration.j2", "judgement", schema.JUDGEMENT_SCHEMA),
    Diagnosis: _Form("question/diagnosis.j2", "hypotheses", HYPOTHESES_SCHEMA),
}
_NEEDED = (
    "policy.j2",
    "policy_brief.j2",
    "shared.j2",
    "background.j2",
    "question.j2",
    "question_brief.j2",
    "perspective.j2",
    "task.j2",
    *(form.template for form in FORMS.values()),
)


class JinjaScribe:
    """Writes prompts from the templates of the folder ``prompts/``.

    ``templates`` maps paths below that folder to their texts: ``*.j2`` are templates, ``notes/*.md`` are plain. Raises
    IncompleteError where one that every review needs is not there.
    """

    def __init__(self, templates: Mapping[str, str]) -> None:
        missing = [name for name in _NEEDED if name not in templates]
        if missing:
            raise IncompleteError(f"the prompt template {missing[0]} is missing", hint="install reviewbot again")
        self._templates = dict(templates)
        self._environment = Environment(
            loader=DictLoader(self._templates),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._kept: dict[_Key, tuple[str, Shown]] = {}

    def write(self, ask: Ask, room: int | None) -> Prompt:
        """The prompt for ``ask``. Where the passages take more than ``room`` tokens, those that matter are shown, and no
        related code; one passage may be shown in part, and the parts left out are then in ``unread``."""
        question = ask.question
        form = FORMS[type(question)]
        brief = ask.seat.local
        prefix, shown = self._shared(question.dossier, room, _place(question), brief=brief)
        policy = "policy_brief.j2" if brief else "policy.j2"
        return Prompt(
            system=self._render(policy, criteria=question.dossier.criteria or numbers.CRITERIA),
            prefix=prefix,
            suffix=self._briefly(ask, form) if brief else self._own(ask, form),
            schema=form.schema,
            schema_name=form.name,
            unread=shown.unread,
        )

    def _shared(self, dossier: Dossier, room: int | None, place: Place | None, *, brief: bool) -> tuple[str, Shown]:
        """The material, rendered once for all who are shown the same of it."""
        key = (dossier, room, place if room is not None else None, brief)
        if key not in self._kept:
            shown = fitting(dossier, room, place)
            whole = shown == everything(dossier)
            if whole and room is not None:
                prefix, _ = self._shared(dossier, None, None, brief=brief)
            else:
                prefix = self._material(dossier, shown, brief=brief)
            self._keep(key, (prefix, shown))
        return self._kept[key]

    def _keep(self, key: _Key, entry: tuple[str, Shown]) -> None:
        """Keep it, and let go of what was kept first where that is too much."""
        self._kept[key] = entry
        while len(self._kept) > 1 and sum(len(prefix) for prefix, _ in self._kept.values()) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def _material(self, dossier: Dossier, shown: Shown, *, brief: bool) -> str:
        paths = frozenset(passage.path for passage in shown.passages)
        notes = [self._templates.get(f"notes/{name}.md", "").strip() for name in prompt_change.languages(paths)]
        standing = [
            *(f"# A rule of the repository\n{block('rule', prompt_change.rule(rule))}" for rule in dossier.rules),
            *self._background(shown.background),
            *(f"# A note on the language\n{note}" for note in notes if note),
        ]
        most = ITEMS_OF_A_NARROW_SEAT if shown.unread else prompt_change.MOST_ITEMS
        if brief:
            standing, most = [], ITEMS_OF_A_LOCAL_SEAT
        intent = prompt_change.intent(dossier.title, dossier.focus)
        material = [
            *([block("intent", intent)] if intent else []),
            block("diff", prompt_change.code(shown.passages)),
            *([f"# Related code, unchanged\n{block('related', prompt_change.related(shown.related))}"] if shown.related else []),
            f"# The ledger\n{block('ledger', prompt_change.evidence(dossier.ledger, paths, most))}",
        ]
        portion = screened(dossier.portion)
        text = self._render(
            "shared.j2", standing=standing, material=material, portion=portion, of=dossier.of, unread=len(shown.unread)
        )
        return text.strip("\n") + "\n\n"

    def _background(self, said: tuple[Told, ...]) -> tuple[str, ...]:
        """Before the change, among what all its portions share."""
        words = block("background", prompt_change.background(said)) if said else ""
        return (self._render("background.j2", words=words),) if words else ()

    def _own(self, ask: Ask, form: _Form) -> str:
        complaint = block("complaint", cut(screened(ask.complaint), MOST_COMPLAINT)) if ask.complaint else ""
        return self._render(
            "question.j2",
            lens=self._lens(ask.seat),
            question=self._render(form.template, **_values(ask.question)),
            complaint=complaint if ask.attempt > 1 else "",
            schema=json.dumps(_without_lengths(form.schema), separators=(",", ":")),
        )

    def _briefly(self, ask: Ask, form: _Form) -> str:
        """The same for a local model, which pays with its time for every word, and whose server holds it to the schema."""
        complaint = block("complaint", cut(screened(ask.complaint), MOST_COMPLAINT)) if ask.complaint else ""
        name = form.template.replace(".j2", "_brief.j2")
        return self._render(
            "question_brief.j2",
            lens=self._lens(ask.seat).split("\n\n", 1)[0],
            question=self._render(name if name in self._templates else form.template, **_values(ask.question, brief=True)),
            complaint=complaint if ask.attempt > 1 else "",
        )

    def _lens(self, seat: Seat) -> str:
        """A role's own words, or the operator's in their place."""
        name = f"lens/{seat.role}.j2"
        if seat.lens.strip() or name not in self._templates:
            words = cut(screened(seat.lens.strip()), MOST_LENS)
            return self._render("perspective.j2", words=block("perspective", words) if words else "")
        return self._render(name)

    def _render(self, name: str, **values: object) -> str:
        return self._environment.get_template(name).render(values).strip("\n")


def _without_lengths(document: Any) -> Any:
    """A schema in its own order, without the caps of every single text: they say little and stand everywhere."""
    if isinstance(document, Mapping):
        return {key: _without_lengths(value) for key, value in document.items() if key != "maxLength"}
    return document


def _place(question: Question) -> Place | None:
    """The lines that a question is about; ``None`` where it is about everything."""
    if isinstance(question, FirstPass | Assignment | Consultation | Synthesis | Diagnosis):
        return None
    return Place(question.packet.path, question.packet.start_line, question.packet.line)


def _values(question: Question, *, brief: bool = False) -> dict[str, object]:
    """What a question's template is given: blocks, and nothing that a template would have to enclose."""
    if isinstance(question, FirstPass):
        return {}
    if isinstance(question, Consultation | Synthesis | Dispute):
        return prompt_consult.values(question)
    if isinstance(question, prompt_making.Making):
        return prompt_making.values(question, brief=brief)
    if isinstance(question, Assignment):
        errors = prompt_case.errors(question)
        return {
            "seconds": f"{question.seconds:.0f}",
            "portions": block("portions", prompt_case.portions(question)),
            "paces": block("panelists", prompt_case.paces(question)),
            "errors": block("predictions", errors) if errors else "",
        }
    return _argued(question)


def _argued(question: CrossExamination | Rebuttal | Judgement | Improvement | CheckDesign) -> dict[str, object]:
    """The same for a question about a claim."""
    claim = block("claim", prompt_case.packet(question.packet))
    if isinstance(question, Improvement):
        draft = block("draft", prompt_case.draft(question.draft)) if question.draft else ""
        return {"claim": claim, "draft": draft}
    if isinstance(question, CheckDesign):
        said = block("arguments", prompt_case.words(question.words)) if question.words else ""
        return {
            "claim": claim,
            "words": said,
            "tried": block("outcomes", prompt_case.late(question.tried)) if question.tried else "",
        }
    late = block("outcomes", prompt_case.late(question.late)) if question.late else ""
    if isinstance(question, Judgement):
        return {
            "claim": claim,
            "late": late,
            "first_side": prompt_case.side(question.first),
            "second_side": prompt_case.side(question.second),
            "first": block("case", prompt_case.words(question.first, sides=False) or "nothing was said"),
            "second": block("case", prompt_case.words(question.second, sides=False) or "nothing was said"),
        }
    words = block("arguments", prompt_case.words(question.words)) if question.words else ""
    return {"claim": claim, "late": late, "words": words}
