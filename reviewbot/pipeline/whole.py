"""The order of a review. Reads like a table of contents; every line of it is somebody else's work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reviewbot.changeset import excerpt
from reviewbot.domain.change import Revisions
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.review import RangeMode, Review
from reviewbot.pipeline import checking, ending, material, unread
from reviewbot.pipeline.conversation import Talk
from reviewbot.pipeline.past import past
from reviewbot.pipeline.world import Identity, Options, World, begun
from reviewbot.ports import Experiment, Objects, Passage, Repo, Verification


def review(request: ReviewRequest, revisions: Revisions, world: World, *, options: Options, identity: Identity) -> Review:
    """Review one change whose ends were resolved. Raises ReviewbotError where it cannot be read at all, and drive.Awaited where
    experiments are run elsewhere and have not been yet."""
    started = world.clock.seconds()
    run = begun(world, options)
    read = material.read(revisions, run)
    before = past(request, read.chosen, identity.course)
    if before.mode is RangeMode.UNCHANGED:
        return _closed(ending.unchanged(read.chosen, before, identity), request, world, started=started)
    talk = Talk(read, request, before, run)
    names = read.chosen.names
    evidence = checking.begin(read, run)
    division = talk.division(read.chosen.shown) if before.mode is RangeMode.FULL else None
    ledger, overlapped = evidence()
    files = before.shown(read.chosen.shown, ledger, names)
    apart = unread.told(talk, ledger)
    talk = unread.after(talk, apart)
    brief = talk.brief(division or talk.division(files), before.heard(ledger, names), files)
    held = talk.hold(brief, lambda found: unread.missed(talk, brief.ledger, found))
    told = (*held.told, *apart)
    made = ending.concluded(read.chosen, before, ledger, transcript=held.transcript, told=told, identity=identity)
    made = replace(made, repairs=held.repairs)
    return _closed(made, request, world, started=started, overlapped=overlapped)


def unchanged(
    request: ReviewRequest, revisions: Revisions, repo: Repo, *, objects: Objects | None, options: Options, identity: Identity
) -> Review | None:
    """The review where nothing changed since the last one, made of what is known; ``None`` where something is to be done."""
    if not request.history.head:
        return None
    known = material.chosen(repo.diff(revisions), revisions, objects, options=options)
    before = past(request, known, identity.course)
    if before.mode is not RangeMode.UNCHANGED:
        return None
    return replace(ending.unchanged(known, before, identity), pull_request=request.pull_request)


def gathered(revisions: Revisions, world: World, *, options: Options) -> Ledger:
    """What the checks say of a change, by itself: nobody is asked."""
    run = begun(world, options)
    return checking.begin(material.read(revisions, run), run)()[0]


def verified(wanted: Iterable[Experiment], revisions: Revisions, world: World, *, options: Options) -> list[Verification]:
    """What the experiments show that a debate elsewhere asked for, in their order."""
    run = begun(world, options)
    read = material.read(revisions, run)
    return [found for one in wanted if (found := checking.verified(one, read, run))]


def shown(
    revisions: Revisions, repo: Repo, objects: Objects | None, *, options: Options
) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The passages that a review would show, and what of the change it would not, in words."""
    known = material.chosen(repo.diff(revisions), revisions, objects, options=options)
    left_out = tuple(f"{item.path}: {item.reason}" for item in known.scope.coverage if not item.ignored)
    return excerpt.passages(known.shown, known.contents), (*known.scope.notes, *left_out)


def _closed(made: Review, request: ReviewRequest, world: World, *, started: float, overlapped: float = 0.0) -> Review:
    """The review, told to the session that remembers it."""
    made = replace(made, pull_request=request.pull_request)
    made = ending.timed(made, world.clock.seconds() - started, overlapped)
    world.session.close(made, ending.ENDS[made.conclusion])
    return made
