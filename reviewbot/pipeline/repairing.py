"""From accepted findings to code that mends them: what is to be made, the making of it, and its patches in order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.debate.making import MakeOptions, Shop, make
from reviewbot.debate.papers import Papers
from reviewbot.domain.change import FileChange, FileKind
from reviewbot.domain.debate import Transcript
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import Category, Ledger, Severity
from reviewbot.domain.repair import Edit, Goal, Repair
from reviewbot.domain.review import Finding, FindingStatus, Review
from reviewbot.drive import Chore
from reviewbot.evidence import fixers
from reviewbot.pipeline.material import Material
from reviewbot.pipeline.trying import Court
from reviewbot.pipeline.world import Run
from reviewbot.ports import Packet, Proposal, Splice, Task, Trial, Trialled

Repairing = Generator[Any, Any, tuple[Transcript, tuple[Repair, ...]]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be mended: findings as they are told, and what of them was proposed already."""

    told: tuple[Finding, ...]
    request: ReviewRequest
    transcript: Transcript
    papers: Papers


def repaired(wish: Wish, court: Court) -> Repairing:
    """Make code for the findings, and say what became of each. Returns the transcript with what was said on the way."""
    chosen = tuple(_chosen(wish, court))
    if not chosen:
        return wish.transcript, ()
    world, options = court.run.world, court.run.options
    (proposals,) = yield (Chore("asking tools for fixes", lambda: _proposals(chosen, court)),)
    tasks = tuple(_task(finding, court, proposals.get(finding.id, ())) for finding in chosen)
    moderator = world.panel.table.moderator if options.debate.moderate else None
    shop = Shop(_files(court), wish.papers, moderator, unproven=options.repair.unproven)
    repair = options.repair
    provable = world.sandbox.level != "none" or repair.unproven  # nobody is paid for what would never be written
    limits = MakeOptions(attempts=repair.attempts, most=repair.most if provable else 0, seconds=repair.answer_seconds)
    made = yield from make(tasks, shop, wish.transcript, options=limits)
    (repairs,) = yield (Chore("writing the patches", lambda: tuple(_patched(made.repairs, court))),)
    return made.transcript, repairs


def retried(repairs: tuple[Repair, ...], edits: tuple[Edit, ...], read: Material, *, run: Run, review: Review) -> Trialled:
    """Repairs that were made with others, tried without those: their checks, what reported their findings, and that nothing else
    gets worse than what the review's own checks said."""
    assert run.world.trees is not None
    ledger = Ledger(review.evidence, review.checks, sandbox=review.sandbox)
    court = Court(read, run, ledger, run.world.trees)
    paths = allowed(court) | {edit.path for edit in edits}  # the gate let them through before
    findings = {finding.id: finding for finding in review.findings}
    tasks = tuple(_again(repair, findings.get(repair.id), court, paths=paths) for repair in repairs)
    return court.tried(Trial("the chosen fixes", tasks, edits, author="you chose"))


def _again(repair: Repair, finding: Finding | None, court: Court, *, paths: frozenset[str]) -> Task:
    """The task of a finding as it was; of another goal, what is known of it."""
    check = repair.proof.check if repair.proof else None
    if finding is not None:
        return replace(_task(finding, court, ()), check=check, paths=paths, may_add=True)
    nowhere = Packet("", 0, 0, "", Category.CORRECTNESS, Severity.LOW, repair.title, "", "", "", ())
    return Task(repair.id, repair.goal, repair.title, nowhere, check=check, paths=paths, may_add=True)


def _chosen(wish: Wish, court: Court) -> Iterator[Finding]:
    """The findings to mend, worst first: accepted (so nobody dismissed them), about a file that is there, and wanted."""
    repair = court.run.options.repair
    paths = allowed(court)
    for finding in sorted(wish.told, key=lambda one: (-one.severity, -one.probability, one.path, one.line)):
        told = finding.status is FindingStatus.ACCEPTED
        meant = (not repair.wanted or finding.id in repair.wanted) and finding.id not in repair.spared
        if told and finding.path in paths and finding.side == "RIGHT" and meant:
            yield finding


def allowed(court: Court) -> frozenset[str]:
    """The files that may be changed: those that were reviewed, and are there as text."""
    return frozenset(file.path for file in court.material.scope.files if _is_text(file))


def _is_text(file: FileChange) -> bool:
    return file.head_path is not None and file.kind is FileKind.TEXT


def _files(court: Court) -> Mapping[str, bytes]:
    """The texts of the files that may be changed."""
    view = court.material.view
    heads = ((file.path, view.contents_of(file).head) for file in court.material.scope.files if _is_text(file))
    return {path: head for path, head in heads if head is not None}


def _proposals(chosen: Iterable[Finding], court: Court) -> Mapping[str, tuple[Proposal, ...]]:
    """What tools offer, and what the debate suggested."""
    findings = tuple(chosen)
    wanted = fixers.wanted(findings, court.ledger)
    found = court.run.bench.conduct(fixers.propose(wanted, court.material.view, court.run.options.checks))
    files = _files(court)
    own = {one.id: made for one in findings if (made := _suggested(one, files.get(one.path)))}
    return {one.id: (*found.get(one.id, ()), *own.get(one.id, ())) for one in findings}


def _suggested(finding: Finding, head: bytes | None) -> tuple[Proposal, ...]:
    """A replacement that the debate drafted, as bytes of the file."""
    draft = finding.suggestion
    if draft is None or head is None:
        return ()
    lines = head.splitlines(keepends=True) if b"\r" not in head.replace(b"\r\n", b"") else head.split(b"\n")
    if not 1 <= draft.start_line <= draft.line <= len(lines):
        return ()
    start = sum(map(len, lines[: draft.start_line - 1]))
    end = start + sum(map(len, lines[draft.start_line - 1 : draft.line]))
    ending = b"\r\n" if lines[draft.line - 1].endswith(b"\r\n") else b"\n"
    text = b"".join(line.encode("utf-8", "surrogateescape") + ending for line in draft.replacement.split("\n"))
    return (Proposal("draft", (Splice(finding.path, start, end, text if draft.replacement else b""),)),)


def _task(finding: Finding, court: Court, proposals: tuple[Proposal, ...]) -> Task:
    check, evidence = fixers.shows(finding, court.ledger)
    return Task(
        id=finding.id,
        goal=Goal.FIX,
        title=finding.title,
        packet=_packet(finding),
        check=check,
        evidence=evidence,
        paths=allowed(court),
        proposals=proposals,
    )


def _packet(finding: Finding) -> Packet:
    """The finding as those see it who write and judge."""
    return Packet(
        finding.path,
        finding.start_line,
        finding.line,
        finding.quote,
        finding.category,
        finding.severity,
        finding.title,
        finding.failure_scenario,
        finding.body,
        "",
        finding.evidence,
        finding.rule,
    )


def _patched(repairs: Iterable[Repair], court: Court) -> Iterator[Repair]:
    """Each repair that is made, with git's own patch on top of those before it that are to be written."""
    before, edits = court.head, dict[str, Edit]()
    for repair in repairs:
        if not repair.is_made:
            yield repair
            continue
        with_it = edits | {edit.path: edit for edit in repair.edits}
        tree = court.tree(tuple(with_it.values()))
        yield replace(repair, patch=court.trees.between(before, tree).patch)
        if court.run.options.repair.writes(repair):
            before, edits = tree, with_it
