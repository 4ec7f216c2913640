"""What checks say of files that come in a later audit: models do not read them now, and a result counts all the same."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.briefing import BriefingOptions
from reviewbot.consensus import identity
from reviewbot.debate.first_pass import LocalWork
from reviewbot.debate.improve import ImproveOptions
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.review import Finding
from reviewbot.pipeline.conversation import Talk
from reviewbot.pipeline.world import Options, Unremembered, begun

CLERK = "checks"
"""Who raised what nobody of the panel has read."""


def told(talk: Talk, ledger: Ledger) -> tuple[Finding, ...]:
    """Findings from evidence alone, about files in scope that the panel does not read in this audit. Nothing where it reads all,
    or where nobody is there to judge results by fixed rules."""
    world, read = talk.run.world, talk.material
    shown = {file.path for file in read.chosen.shown}
    items = tuple(item for item in ledger.items if item.result.path not in shown)
    apart = replace(ledger, items=items)
    if world.clerk is None or len(shown) == len(read.scope.files) or not apart.new():
        return ()
    spoken = {item.result.path for item in apart.new()}
    files = tuple(file for file in read.scope.files if file.path in spoken)
    run = begun(replace(world, panel=world.clerk, session=Unremembered()), _plain(talk.run.options))
    clerk = replace(talk, run=run)
    _, findings = clerk.hold(clerk.brief(clerk.division(files), apart, files))
    return tuple(_by_checks(finding) for finding in findings)


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
    return replace(options, debate=debate, improve=ImproveOptions(), briefing=BriefingOptions())


def _by_checks(finding: Finding) -> Finding:
    """The finding without votes: the seats of the static panel are not those that sit in this audit."""
    return replace(finding, raised_by=(CLERK,), positions=(), versions=(), dissent=None)
