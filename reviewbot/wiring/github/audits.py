"""A scheduled audit of the whole tree: fetched from the forge by its commit, compared with the last one, told in one issue."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from reviewbot.adapters.git.fetched import fetch
from reviewbot.domain.action import (
    EditIssue,
    OpenIssue,
)
from reviewbot.domain.evidence import Severity
from reviewbot.domain.forge import (
    Notice,
)
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import ForgeError, GitError, NotPermittedError, RepositoryError, RevisionError
from reviewbot.publish import audit as report
from reviewbot.wiring import auditing
from reviewbot.wiring.auditing import Audit
from reviewbot.wiring.github import posts
from reviewbot.wiring.github.job import Job, Report
from reviewbot.wiring.github.situation import Hub
from reviewbot.wiring.order import Order
from reviewbot.wiring.rooms import open_repository

Found = TypeVar("Found")

NO_ISSUE = "this run's token may not write issues: the audit stands in the job's summary; give the job 'issues: write'"


def audit(job: Job, hub: Hub, *, execute: bool) -> Report:
    """Audit the tree of the event, and say what differs from the last audit. Raises ReviewbotError."""
    notices: list[str] = []
    last = _tried(lambda: hub.notice(report.MARKER), notices)
    with tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True) as name:
        order = _order(job, Path(name), execute=execute)
        made = auditing.audit(order, last=report.decode(last.body) if last else None)
    fail_on = made.outcome.configuration.get("review.fail_on", str)
    told = posts.reported(made.review, None if fail_on == "none" else Severity[fail_on.upper()], job=job)
    url = "" if job.inputs.is_dry else _tried(lambda: _posted(made, last, hub), notices) or ""
    return replace(told, summary=report.render(made.review), notices=(*told.notices, *notices), summary_url=url)


def _order(job: Job, scratch: Path, *, execute: bool) -> Order:
    """The tree of the commit that the event is about: in the job's checkout, or fetched."""
    flags = job.inputs.flags()
    if not execute:
        flags["sandbox"] = ("none", "a run of this kind runs nothing")
    return Order(
        target=Target(TargetKind.ALL, head=job.sha or None),
        directory=job.workspace if _is_here(job, scratch) else _fetched(job, scratch),
        environment=job.environment,
        flags=flags,
        config_path=job.inputs.text("config_file") or None,
        models=job.inputs.items("models"),
        state=job.state,
    )


def _is_here(job: Job, scratch: Path) -> bool:
    try:
        with open_repository(job.workspace, scratch, job.environment) as repo:
            repo.resolve(Target(TargetKind.ALL, head=job.sha or None))
    except (RepositoryError, RevisionError, GitError):
        return False
    return True


def _fetched(job: Job, scratch: Path) -> Path:
    return fetch(job.git_url, (job.sha,), scratch / "fetched", token=job.place.token, environment=job.environment)


def _posted(made: Audit, last: Notice | None, hub: Hub) -> str:
    """The issue, opened or edited in place: when each file was read stands in it, too. Its address."""
    if last is None:
        return hub.do(OpenIssue(report.ISSUE_TITLE, made.body)).url
    hub.do(EditIssue(last.number, made.body))
    return last.url


def _tried(ask: Callable[[], Found], notices: list[str]) -> Found | None:
    """What comes of it; where that is not to be had, a notice: an audit that was made is told in the job's summary."""
    try:
        return ask()
    except NotPermittedError:
        notices.append(NO_ISSUE)
    except ForgeError as exc:
        notices.append(str(exc))
    return None
