"""The three zones in jobs of their own: ``collect`` beside the change's code and no secret, ``debate`` beside the keys of models,
``publish`` beside the token that may write. What goes from one to the next are documents."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.consensus import policy
from reviewbot.domain.event import Happening
from reviewbot.domain.forge import (
    PullRequest,
)
from reviewbot.domain.review import Review
from reviewbot.errors import UsageError
from reviewbot.evidence.origin import Origin
from reviewbot.ports import Changes
from reviewbot.publish import anchors, load
from reviewbot.publish.load_evidence import LEDGER, load_evidence
from reviewbot.wiring import books, collecting, debating
from reviewbot.wiring.collecting import Collected
from reviewbot.wiring.github import consulted, documents, ground, orders, posts, pulls
from reviewbot.wiring.github.documents import CHANGESET, EVIDENCE, REVIEW
from reviewbot.wiring.github.job import KEYS, Job, Report
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.order import Order
from reviewbot.wiring.scene import opened

NOT_BELIEVED = "the evidence of the author's run is not about this change, or cannot be read: it was left aside"
NO_EVIDENCE = "no evidence of a runner was at hand: nothing of the change was executed"


def collect(at: Situation, pull: PullRequest, changes: Changes) -> Report:
    """Run the checks and write down what they say. Of the forge, only what git needs. Raises ReviewbotError."""
    job = replace(at.job, environment={name: value for name, value in at.job.environment.items() if name not in KEYS})
    with ground.found(job, pull, changes) as found:
        made = collecting.collect(_collecting(job, found, execute=at.decision.execute))
    documents.write(job, CHANGESET, made.changeset)
    documents.write(job, EVIDENCE, made.evidence)
    missing = [run for run in made.ledger.checks if run.required and not run.ran]
    words = f"{sum(run.ran for run in made.ledger.checks)} checks ran; the debate is held by the workflow that follows."
    # No failure: the workflow that follows takes only a run that succeeded, and its review says itself that it is not whole.
    notices = tuple(f"the required check {run.name} did not run: {run.reason}" for run in missing)
    return Report(summary=f"## Evidence collected\n\n{words}\n", notices=notices, reviewed_sha=pull.head_sha)


def debate(at: Situation, hub: Hub) -> Report:
    """Hold the debate over the change as the forge tells it, and over evidence as far as it can be believed."""
    standing = at.standing
    assert standing is not None
    with ground.found(at.job, standing.pull, hub) as found:
        order = orders.order_of(at.job, found, standing, memory=at.memory, execute=False)
        own = collecting.collect(order)
        papers, notes = _papers(at.job, own, orders.request_of(order, own.revisions))
        made = debating.debate(order, papers)
    assert not isinstance(made, debating.Pending)
    review = policy.limited(pulls.named(made.review, at.job, standing.pull), found.left_out)
    review = replace(review, notes=(*review.notes, *notes))
    documents.keep(at.job, review)
    books.keep_beside(review, at.job.state, consulted.project(at))
    return posts.reported(review)


def publish(at: Situation, hub: Hub) -> Report:
    """Post the review that the debate wrote, every place and replacement held against the change as git tells it here."""
    standing = at.standing
    assert standing is not None
    review = load.load_review(_read(at.job, REVIEW))
    if review.revisions.head != standing.pull.head_sha or review.pull_request != standing.pull.number:
        return Report(skip_reason="head_moved", notices=("the review is about another head: nothing is posted",))
    with ground.found(at.job, standing.pull, hub) as found:
        order = orders.order_of(at.job, found, standing, memory=at.memory, execute=False)
        held = _held(review, order)
        with opened(order) as scene:
            options = pulls.options_of(scene.configuration)
        matter = posts.matter(held, order, options)
    return posts.published(matter, at, hub)


def _collecting(job: Job, found: ground.Ground, *, execute: bool) -> Order:
    flags = job.inputs.flags()
    if not execute:
        flags["sandbox"] = ("none", orders.NOT_HERE)
    config = job.inputs.text("config_file") or None
    return Order(found.target, found.directory, job.environment, flags, config_path=config, state=job.state)


def _papers(job: Job, own: Collected, request: str) -> tuple[debating.Papers, tuple[str, ...]]:
    """What the debate is given, and what is to be said of it: a runner's evidence where it is about this change, beside what
    parsing it here says."""
    ours, change = own.evidence.encode(), own.changeset.encode()
    alone = debating.Papers(change, ours, request.encode())
    if not (job.documents / EVIDENCE).is_file():
        return alone, (NO_EVIDENCE,)
    try:
        told = _read(job, EVIDENCE, LEDGER.max_bytes)
        load_evidence(told, about=own.revisions)
    except UsageError:
        return alone, (NOT_BELIEVED,)
    if job.event.kind is Happening.RUN_FINISHED:
        return replace(alone, evidence=told, origin=Origin.AUTHOR, own=ours), ()
    return replace(alone, evidence=told), ()


def _held(review: Review, order: Order) -> Review:
    """Every place looked up in the change itself."""
    with opened(order) as scene:
        change = posts.change_of(scene, review.revisions)
        git = scene.git
        ids = {file.path: file.new_id for file in change.files if file.head_path is not None and file.new_id is not None}
        told = {finding.path for finding in review.findings}
        heads = {path: git.blob(name) for path, name in ids.items() if path in told} if git is not None else {}
        return anchors.held(review, change, heads)


def _read(job: Job, name: str, most: int = load.REVIEW.max_bytes) -> bytes:
    """A document of an earlier job, bounded. Raises UsageError."""
    path = job.documents / name
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as exc:
        raise UsageError(f"there is no {name}: {exc.strerror}", hint="download the artifact of the job before") from exc
    if len(data) > most:
        raise UsageError(f"{name} has more than {most:,} bytes", hint="no document of reviewbot is so large")
    return data
