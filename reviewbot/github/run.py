"""Steps that several activities of a job share: fetch, review, keep, publish."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.config.load import load_settings
from reviewbot.config.settings import Settings
from reviewbot.errors import UsageError
from reviewbot.git.change import Change
from reviewbot.git.fetch import fetch_commits
from reviewbot.git.repository import Repository
from reviewbot.git.target import Target
from reviewbot.github.activity import Facts
from reviewbot.github.client import Client
from reviewbot.github.job import Job, Runner
from reviewbot.github.publish import ENDINGS, Outcome, PublishOptions, publish
from reviewbot.github.snapshot import Snapshot
from reviewbot.journal import Journal
from reviewbot.pipeline import review as review_target
from reviewbot.reports import markdown, render
from reviewbot.services import CONFIG_FILES, Host, repository_layers
from reviewbot.severity import reaches
from reviewbot.state import read_review, write_file
from reviewbot.verdict.document import Finding, Memory, Review

MAX_DEPTH = 60  # commits of a pull request that are fetched, for their messages
REVIEW_FILE = "review.json"
NOTHING: Mapping[str, str] = {}


class Run(Struct, frozen=True, kw_only=True):
    """A job with what its activity needs.

    Attributes:
        facts: with snapshot, state and settings.
        executes: whether code of the change may run.
    """

    job: Job
    runner: Runner
    client: Client
    facts: Facts
    repository: Repository
    settings: Settings
    executes: bool

    @property
    def snapshot(self) -> Snapshot:
        assert self.facts.snapshot
        return self.facts.snapshot


def read_change(run: Run) -> Change:
    """What the pull request changes since it left its base, with what its author says about it."""
    pull = run.snapshot.pull
    path = f"/compare/{pull.base_sha}...{pull.head_sha}"
    # The files are on the first page only; the second has the merge base and none of them.
    found = run.client.read(path, "compare base and head", per_page="1", page="2")
    base = str(found["merge_base_commit"]["sha"])
    if base != pull.base_sha:
        fetch(run.job, base)
    target = Target(kind="revision", revision=f"{base}..{pull.head_sha}")
    change = asyncio.run(run.repository.load_change(target))
    said = "\n\n".join(filter(None, (pull.body, change.description)))
    return replace(change, title=pull.title, description=said)


def make_host(job: Job, repository: Repository, memory: Memory | None) -> Host:
    return Host(
        repository=repository,
        journal=Journal(job.documents / ("results" if job.mode == "debate" else "evidence")),
        state_folder=job.documents / "state",
        layers=job.layers(),
        variables=job.variables,
        panelists=read_models(job.inputs["models"]),
        may_execute=False,
        memory=memory,
    )


def make_review(run: Run, change: Change, memory: Memory | None = None, focus: str = "") -> Review:
    """Review it with what earlier reviews pass on."""
    host = host_of(run, memory or run.facts.state.memory, focus)
    return asyncio.run(review_target(change, host))


def host_of(run: Run, memory: Memory, focus: str = "") -> Host:
    journal = Journal(run.job.documents / "evidence")
    return replace(
        make_host(run.job, run.repository, memory),
        may_execute=run.executes,
        author_journal=journal if run.job.mode == "debate" else None,
        focus=focus,
        may_approve=run.job.is_on("allow_approve") and not run.snapshot.is_fork,
    )


def finish(
    run: Run, change: Change, result: Review, suggestions: Mapping[str, str] = NOTHING
) -> int:
    """Publish a review and say so. `suggestions` are new lines by the ids of findings."""
    job, settings = run.job, run.settings
    code = keep(job, run.runner, result, settings)
    if job.is_on("dry_run"):
        run.runner.say("A dry run: nothing is posted.", "notice")
        return code
    options = PublishOptions(
        fail_on=settings.review.fail_on,
        max_comments=settings.github.max_comments,
        has_labels=settings.github.labels,
        run_url=job.run_url,
        run_id=job.run_id,
        suggestions=suggestions,
    )
    outcome = publish(run.client, run.snapshot.pull.number, result, change, options)
    return max(code, report_outcome(run, result, outcome))


def report_outcome(run: Run, result: Review, outcome: Outcome) -> int:
    runner = run.runner
    runner.put(
        {
            "summary_comment_url": outcome.summary_url,
            "comments_inline": outcome.comments,
            "comments_resolved": outcome.resolved,
        }
    )
    for note in outcome.notes:
        runner.say(note, "warning")
    if words := ENDINGS.get(outcome.ending):
        is_lost = outcome.ending in ("deferred", "failed")
        runner.say(words, "error" if is_lost else "notice")
        if outcome.ending == "not_permitted":
            print(render(result, "github"), flush=True)
        return 3 if is_lost else 0
    runner.say(f"The review is posted: {outcome.summary_url}")
    return 0


def keep(job: Job, runner: Runner, result: Review, settings: Settings) -> int:
    """Write the documents, the outputs and the summary of the job; 1 if `fail_on` is reached."""
    job.documents.mkdir(parents=True, exist_ok=True)
    write_file(job.documents / REVIEW_FILE, msgspec.json.encode(result))
    if name := job.inputs["sarif_file"]:
        path = job.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, render(result, "sarif").encode())
    reported = result.reported
    runner.put(
        {
            "verdict": result.verdict,
            "complete": result.complete,
            "reviewed_sha": result.head_commit,
            "cost_usd": f"{result.usage.cost_usd:.6f}",
            "findings_json": msgspec.json.encode([_brief_of(f) for f in reported]).decode(),
        }
    )
    runner.summarise(markdown.summary(result, markdown.Page(run_url=job.run_url)))
    fail_on = settings.review.fail_on
    return int(any(reaches(finding.severity, fail_on) for finding in reported))


def read_document(job: Job) -> Review:
    """The review that the job with keys hands over."""
    path = job.documents / REVIEW_FILE
    document = read_review(path.read_bytes()) if path.is_file() else None
    if document is None:
        raise UsageError(f"{path} holds no review", hint="download the artifact reviewbot-review")
    return document


def read_models(text: str) -> dict[str, str]:
    """The models of roles: `critic=anthropic:claude-sonnet-5`, one a line or between commas."""
    found = {}
    for word in text.replace(",", "\n").split():
        role, _, model = word.partition("=")
        if not role or not all(model.partition(":")):
            hint = "write for example critic=anthropic:claude-sonnet-5"
            raise UsageError(f"the input models names no role and model: {word[:80]}", hint=hint)
        found[role] = model
    return found


def fetch(job: Job, *commits: str) -> Path:
    """Fetch commits into the checkout of the job, where the environment of the project is.

    Without a checkout, into a new folder.
    """
    folder = job.workspace
    if not (folder / ".git").exists():
        folder = job.documents / "repository"
    wanted = list(dict.fromkeys(commits))
    asyncio.run(
        fetch_commits(
            job.git_url,
            wanted,
            folder,
            token=job.token,
            depth=MAX_DEPTH,
            variables=job.variables,
        )
    )
    return folder


def settings_at(job: Job, repository: Repository, commit: str) -> Settings:
    """The settings of the job, and of a commit."""
    target = Target(kind="revision", revision=f"{commit}..{commit}")
    change = asyncio.run(repository.load_change(target))
    files = asyncio.run(repository.read_files(change.base_tree, CONFIG_FILES))
    return load_settings([*job.layers(), *repository_layers(files)]).settings


def _brief_of(finding: Finding) -> dict[str, object]:
    keys = ("id", "key", "title", "severity", "status", "rule", "blocks")
    place = finding.location
    found = {key: getattr(finding, key) for key in keys}
    return found | {"path": place.path if place else "", "line": place.line if place else 0}
