"""What lies before the panel, and the debate about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reviewbot import briefing, drive, pipeline
from reviewbot.briefing import Division, Library
from reviewbot.changeset import excerpt, select
from reviewbot.consensus import carry, dismissed, identity, policy
from reviewbot.consensus.look import Look, standing
from reviewbot.consensus.policy import Shown
from reviewbot.debate import improve
from reviewbot.debate.protocol import Brief, debate
from reviewbot.domain.change import FileChange
from reviewbot.domain.debate import Claim, Transcript
from reviewbot.domain.event import ReviewRequest, Source, Told
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.repair import Repair
from reviewbot.domain.review import Finding, FindingStatus, RangeMode
from reviewbot.drive import Chore, Laboratory
from reviewbot.pipeline import checking
from reviewbot.pipeline.material import Material
from reviewbot.pipeline.past import Past
from reviewbot.pipeline.world import Run
from reviewbot.ports import Dossier, Experiment, Verification

if TYPE_CHECKING:
    from reviewbot.pipeline.trying import Court

Missed = Callable[[tuple[Finding, ...]], tuple[Finding, ...]]
"""What is to be told beside what a debate tells."""


def _nothing(_: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Held:
    """A debate that was held: its transcript, what it tells, and what was made of that."""

    transcript: Transcript
    told: tuple[Finding, ...]
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation about a change: what it is about, who asked for it, what was said before, and the run that it is part of."""

    material: Material
    request: ReviewRequest
    past: Past
    run: Run

    def division(self, files: tuple[FileChange, ...]) -> Division:
        """The files as they are shown to people, in portions, with what the rest of the tree says about each."""
        world, tree = self.run.world, self.material.change.revisions.head_tree
        library = None
        if world.objects is not None and world.search is not None and tree is not None:
            library = Library(world.objects, world.search, tree, self.material.blobs)
        passages = excerpt.passages(files, self.material.view.contents)
        return briefing.divided(passages, library, options=self.run.options.briefing)

    def brief(self, division: Division, ledger: Ledger, files: tuple[FileChange, ...]) -> Brief:
        """What the debate is about, and what lies before the panel. ``files`` are those that are shown of."""
        options, request = self.run.options, self.request
        common = Dossier(
            (),
            ledger,
            rules=options.rules,
            title=request.title,
            focus=request.focus,
            criteria=options.debate.criteria,
            background=self._background(),
        )
        paths = frozenset(file.path for file in self.material.change.files)
        read = paths if self.past.mode is RangeMode.FULL else {file.path for file in files}
        prose = bool(read) and all(select.is_documentation(path) or select.is_lock_file(path) for path in read)
        papers = briefing.papers(common, division)
        return Brief(division.passages, papers, paths, ledger, documentation_only=prose, names=self._names, spared=self._spared)

    def _background(self) -> tuple[Told, ...]:
        """What others said of the change, as it was when this debate was begun: a check elsewhere that ends meanwhile must not
        make who resumes it ask, and pay, anew."""
        session = self.run.world.session
        if (kept := session.recall("background")) is not None:
            return tuple(Told(Source(said["source"]), said["who"], said["text"]) for said in kept["background"])
        told = self.request.background
        if told:
            session.keep("background", {"background": [{"source": one.source, "who": one.who, "text": one.text} for one in told]})
        return told

    def hold(self, brief: Brief, missed: Missed = _nothing) -> Held:
        """S1 to S8 over the evidence: the debate, what consensus tells of it, and code for what was accepted. ``missed`` adds
        findings that the debate does not tell."""
        world, options = self.run.world, self.run.options
        court = self._court(brief.ledger)

        def conversation() -> Generator[Any, Any, Held]:
            transcript = yield from debate(brief, world.panel.table, options.debate)
            shown = self._shown(brief, transcript)
            told = self._settled(policy.findings(transcript, shown, options.policy))
            made = yield from improve.improve(transcript, self._wanted(told), brief.papers, options=options.improve)
            drafts = dict(made.suggestions)
            told = self._settled(policy.findings(made.transcript, shown, options.policy))  # a draft may have proved its claim
            told = tuple(replace(finding, suggestion=drafts.get(finding.id)) for finding in told)
            (more,) = yield (Chore("asking whether a broken test was overlooked", lambda: missed(told)),)
            told = (*told, *more)
            if court is None:
                return Held(made.transcript, told)
            wish = pipeline.Wish(told, self.request, made.transcript, brief.papers)
            transcript, repairs = yield from pipeline.repaired(wish, court)
            return Held(transcript, told, repairs)

        def experiment(wanted: Experiment) -> Verification | None:
            return checking.verified(wanted, self.material, self.run)

        def stop() -> None:
            if court is not None:  # first: a trial that meets a closed bench must know why
                court.benches.close()
            self.run.bench.close()

        laboratory = Laboratory(experiment, court.tried) if court is not None else Laboratory(experiment)
        deadline, observer = self.run.deadline, world.observer
        return drive.converse(conversation(), world.panel, laboratory, deadline=deadline, observer=observer, stop=stop)

    def _court(self, ledger: Ledger) -> Court | None:
        """Where candidates are tried; ``None`` where no code is to be made, or none can be."""
        world = self.run.world
        able = world.trees is not None and world.annex is not None and world.objects is not None
        if not (self.run.options.repair.is_on and able) or world.trees is None:
            return None
        return pipeline.Court(self.material, self.run, ledger, world.trees)

    def _wanted(self, told: tuple[Finding, ...]) -> list[str]:
        """What a replacement is written for."""
        return [one.id for one in told if one.status is FindingStatus.ACCEPTED]

    def _settled(self, told: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings, those that somebody dismissed as such: nothing more is made of them."""
        return dismissed.settled(told, self._looked(told), self.past.dismissals.held)

    def _spared(self, leads: Sequence[Claim], ids: Sequence[str]) -> Collection[str]:
        """What nobody is asked about: somebody dismissed it."""
        return dismissed.why(leads, ids, self._looked(leads), held=self.past.dismissals.held)

    def _looked(self, about: Sequence[Claim] | Sequence[Finding]) -> Look:
        """The change, with the texts of the files that something is said about."""
        chosen, paths = self.material.chosen, dict.fromkeys(one.path for one in about)
        return self.past.looked(chosen.change, chosen.contents, Ledger(), told=paths, whole=True)

    def _names(self, leads: Sequence[Claim]) -> tuple[str, ...]:
        """The number of each finding: the one that it had before, else the next that was never given."""
        paths = dict.fromkeys(claim.path for claim in leads)
        lines = {path: tuple(map(identity.normalised, said)) for path, said in self._texts(paths).items()}
        spots = carry.spots(leads, lines, self.material.chosen.names)
        return identity.names(spots, self.past.history, lines, standing=standing(self._looked(leads)))

    def _shown(self, brief: Brief, transcript: Transcript) -> Shown:
        """The passages, and the whole text of those files that something is said about."""
        paths = dict.fromkeys(case.lead.path for case in transcript.cases)
        return Shown(brief.passages, self._texts(paths), self.material.chosen.names)

    def _texts(self, paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
        contents = self.material.view.contents
        heads = {path: contents[path].head for path in paths if path in contents}
        return {path: excerpt.shown_lines(head) for path, head in heads.items() if head is not None}
