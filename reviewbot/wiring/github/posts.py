"""A finished review brought to its pull request, and what is said where that is not possible."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from reviewbot import posting
from reviewbot.adapters.patch import PatchOnly
from reviewbot.changeset import diff
from reviewbot.consensus import carry
from reviewbot.domain.change import ChangeSet, Revisions
from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Conclusion, FindingStatus, Review
from reviewbot.domain.target import TargetKind
from reviewbot.ports import Repo
from reviewbot.posting import Ending, Outcome
from reviewbot.publish import annotate, markdown, own, phrases, sarif
from reviewbot.publish.wanted import Matter, PublishOptions, wanted
from reviewbot.wiring.github.job import Job, Report
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.order import Order
from reviewbot.wiring.rooms import open_repository
from reviewbot.wiring.scene import Scene

DRY = "a dry run: nothing was posted"
ENDINGS = {
    Ending.SUPERSEDED: "the head moved while the review was made: nothing is posted, the newer push has a run of its own",
    Ending.CLOSED: "the pull request was closed meanwhile: nothing is posted",
    Ending.LOCKED: "the conversation is locked: nothing is posted",
    Ending.GONE: "the pull request is gone: nothing is posted",
    Ending.STOPPED: "reviewbot was told to stop while the review was made: nothing is posted",
    Ending.REFUSED: "this run's token may not comment: the review stands in the job's summary and its annotations",
    Ending.DEFERRED: "GitHub's rate limit holds longer than this run can wait: the review is kept, run this job again to post it",
    Ending.UNSURE: "GitHub does not answer: the review is kept, run this job again to post what is missing",
    Ending.FAILED: "GitHub refused the summary: the review stands in the job's summary",
}
SKIPPED = {
    Ending.SUPERSEDED: "head_moved",
    Ending.CLOSED: "closed",
    Ending.LOCKED: "locked",
    Ending.GONE: "not_a_pull_request",
    Ending.STOPPED: "stopped",
}


def matter(review: Review, order: Order, options: PublishOptions) -> Matter:
    """What is to be published of a review: with the change, for the places of its comments. Raises ReviewbotError."""
    history = carry.history_after(review, order.history)
    return Matter(review, _change(order, review.revisions), history, options)


def _change(order: Order, about: Revisions) -> ChangeSet:
    """The change of an order, its ends called as the review calls them. No configuration is looked up for that."""
    if order.target.kind is TargetKind.PATCH:
        return _read(PatchOnly(), order, about)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True)))
        return _read(stack.enter_context(open_repository(order.directory, scratch, order.environment)), order, about)


def _read(repo: Repo, order: Order, about: Revisions) -> ChangeSet:
    return diff.read(repo.diff(repo.resolve(order.target)), about)


def change_of(scene: Scene, about: Revisions) -> ChangeSet:
    """The change of a scene, its ends called as the review calls them."""
    return diff.read(scene.repo.diff(scene.revisions), about)


def published(what: Matter, at: Situation, hub: Hub, *, argued: bool = True) -> Report:
    """Post it, and say how that ended. A run that may not comment says everything in its own page, and does not fail for it.
    ``argued``: it is of this very run, whose artifact has what was argued."""
    review, options = what.review, what.options
    report = reported(review, options.fail_on, job=at.job)
    if at.job.inputs.is_dry:
        return replace(report, notices=(*report.notices, DRY), annotations=annotate.commands(review, options.fail_on))

    standing = at.standing
    assert standing is not None
    run = at.job.run_id if argued else ""
    what = replace(what, workflow_run=int(run) if run.isdecimal() else 0)
    made = posting.post(partial(wanted, what), hub, hub, number=standing.pull.number, head_sha=review.revisions.head)
    return _told(report, made, what)


def alone(review: Review, change: ChangeSet, options: PublishOptions, *, hub: Hub, number: int) -> Outcome:
    """Post a finished review on a pull request, outside of any run of the Action. Raises ForgeError for a token that is none."""
    memory = own.memory(hub.standing(number))
    what = Matter(review, change, carry.history_after(review, memory.history), options)
    return posting.post(partial(wanted, what), hub, hub, number=number, head_sha=review.revisions.head)


def reported(review: Review, fail_on: Severity | None = None, *, job: Job | None = None) -> Report:
    """What a run says of a review, whether or not it could be posted."""
    usage = review.bill.total
    written, troubles = _sarif(review, job) if job else ("", ())
    return Report(
        exit_code=_exit_code(review, fail_on),
        conclusion=review.conclusion,
        verdict=review.verdict,
        findings=review.findings,
        summary=markdown.render(review),
        range_mode=review.range_mode.value,
        reviewed_sha=review.revisions.head,
        cost_usd=usage.paid_usd,
        llm_calls=usage.calls - usage.replayed_calls,
        run_id=review.run_id,
        sarif_file=written,
        notices=troubles,
        told=f"{phrases.headline(review).words}: {phrases.counts(review)}, {phrases.wholeness(review)}.",
    )


def _told(report: Report, made: Outcome, what: Matter) -> Report:
    review, fail_on = what.review, what.options.fail_on
    notices = (*report.notices, *((ENDINGS[made.ending],) if made.ending in ENDINGS else ()), *made.notes)
    return replace(
        report,
        exit_code=max(report.exit_code, made.exit_code) if made.exit_code else report.exit_code,
        skip_reason=SKIPPED.get(made.ending, ""),
        posted=made.ending is Ending.POSTED,
        annotations=annotate.commands(review, fail_on) if made.fallback else (),
        notices=tuple(dict.fromkeys(notices)),
        summary_url=made.summary_url,
        comments_total=made.total,
        comments_inline=made.inline,
        comments_resolved=made.resolved,
    )


def _exit_code(review: Review, fail_on: Severity | None) -> int:
    """As of `reviewbot review`."""
    accepted = (finding for finding in review.findings if finding.status is FindingStatus.ACCEPTED)
    if fail_on is not None and any(finding.severity >= fail_on for finding in accepted):
        return 1
    return 0 if review.conclusion is Conclusion.COMPLETE else 3


def _sarif(review: Review, job: Job) -> tuple[str, tuple[str, ...]]:
    """The report for code scanning, where the input ``sarif_file`` names a file: its path, and what is to be said where it cannot
    be written. No review is lost for it. A link of that name, which a checkout may hold, is replaced and not followed."""
    name = job.inputs.text("sarif_file")
    if not name:
        return "", ()
    path = job.workspace / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(sarif.render(review), encoding="utf-8", errors="replace")
    except (OSError, ValueError) as exc:
        return "", (f"the SARIF file {name} cannot be written: {getattr(exc, 'strerror', None) or exc}",)
    return str(path), ()
