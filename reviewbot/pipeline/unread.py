"""What checks say and nobody of the panel tells: of files that come in a later audit, and of tests that the change broke."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.briefing import BriefingOptions
from reviewbot.consensus import identity
from reviewbot.debate import broken
from reviewbot.debate.first_pass import LocalWork
from reviewbot.debate.improve import ImproveOptions
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.review import Finding, FindingStatus
from reviewbot.pipeline.conversation import Talk
from reviewbot.pipeline.world import Options, RepairOptions, Unremembered, begun

CLERK = "checks"
"""Who raised what nobody of the panel has read."""


def told(talk: Talk, ledger: Ledger) -> tuple[Finding, ...]:
    """Findings from evidence alone, about files in scope that the panel does not read in this audit. Nothing where it reads all,
    or where nobody is there to judge results by fixed rules."""
    read = talk.material
    shown = {file.path for file in read.chosen.shown}
    items = tuple(item for item in ledger.items if item.result.path not in shown)
    apart = replace(ledger, items=items)
    if len(shown) == len(read.scope.files):
        return ()
    return _judged(talk, apart)


def missed(talk: Talk, ledger: Ledger, told: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings from tests that the change broke, and that none of those that are told speaks of: such a result is never lost
    because models looked elsewhere, or cited it beside something else."""
    spoken = {name for finding in told for name in finding.evidence if _speaks_of(finding, name, ledger)}
    items = tuple(item for item in ledger.items if item.is_executed_proof and item.id not in spoken)
    return _judged(after(talk, told), replace(ledger, items=items))


def _speaks_of(finding: Finding, name: str, ledger: Ledger) -> bool:
    """It is told at its own place, or was dismissed there."""
    item = ledger.item(name)
    is_known = finding.is_posted or finding.status is FindingStatus.DISMISSED
    return is_known and item is not None and broken.is_at(finding, item)


def _judged(talk: Talk, apart: Ledger) -> tuple[Finding, ...]:
    """What fixed rules make of results."""
    world, read = talk.run.world, talk.material
    if world.clerk is None or not apart.new():
        return ()
    spoken = {item.result.path for item in apart.new()}
    files = tuple(file for file in read.scope.files if file.path in spoken)
    run = begun(replace(world, panel=world.clerk, session=Unremembered()), _plain(talk.run.options))
    clerk = replace(talk, run=run)
    held = clerk.hold(clerk.brief(clerk.division(files), apart, files))
    return tuple(_by_checks(finding) for finding in held.told)


def after(talk: Talk, findings: tuple[Finding, ...]) -> Talk:
    """The conversation in which no number is free that one of the findings has."""
    if not findings:
        return talk
    history = talk.past.history
    following = max((identity.next_number(history), *(identity.number(finding.id) + 1 for finding in findings)))
    return replace(talk, past=replace(talk.past, history=replace(history, next_number=following)))


def _plain(options: Options) -> Options:
    """The options of a panel that has no window, and asks no model for anything."""
    debate = replace(options.debate, moderate=False, local=LocalWork())
    return replace(options, debate=debate, improve=ImproveOptions(), briefing=BriefingOptions(), repair=RepairOptions())


def _by_checks(finding: Finding) -> Finding:
    """The finding without votes: the seats of the static panel are not those that sit in this audit."""
    return replace(finding, raised_by=(CLERK,), positions=(), versions=(), dissent=None)
