"""Steps that several activities of a job share: fetch, review, keep, publish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.config.load import load_settings
from reviewbot.config.settings import Settings
from reviewbot.debate.panel import read_roles
from reviewbot.errors import UsageError
from reviewbot.git.change import Change, Target
from reviewbot.git.fetch import fetch_commits
from reviewbot.git.repository import Repository
from reviewbot.github.actions import Action, WriteComment, perform
from reviewbot.github.activity import Facts
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.command import Command
from reviewbot.github.job import Job, Runner
from reviewbot.github.snapshot import Snapshot, read_snapshot
from reviewbot.github.state import SUMMARY, State, state_of, summaries_of, with_state
from reviewbot.journal import Journal
from reviewbot.pipeline import review as review_target
from reviewbot.services import CONFIG_FILES, Host, repository_layers
from reviewbot.state import read_review
from reviewbot.verdict.document import Memory, Remembered, Review

MAX_DEPTH = 60  # commits of a pull request that are fetched, for their messages
REVIEW_FILE = "review.json"
WORKFLOW = "reviewbot-review.yml"
NOT_EXECUTED = "this job executes nothing of forks, of Dependabot, or of who may not write here"
NOT_REVIEWED = "**reviewbot** has not reviewed this pull request yet."


class Run(Struct, frozen=True, kw_only=True):
    """A job with what its activity needs. `executes`: whether code of the change may run."""

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


class Request(Struct, frozen=True):
    """A command, and what it is about. `login` is who wrote it."""

    command: Command
    login: str
    snapshot: Snapshot
    state: State
    client: Client

    def finding(self) -> Remembered:
        """The finding that the command names. Raises UsageError."""
        known = {finding.id: finding for finding in self.state.memory.findings}
        if self.command.finding not in known:
            ids = ", ".join(sorted(known, key=lambda id: int(id[1:]))) or "none"
            raise UsageError(f"There is no finding {self.command.finding} here. There is: {ids}.")
        return known[self.command.finding]


class Answer(Struct, frozen=True, kw_only=True):
    """What is said, in Markdown, and what else is done.

    Attributes:
        update: changes the state, whatever it is by then.
        reviews_again: the summary, the check run and the verdict follow.
        has_commits: the head moved on, and is to be reviewed in a run of its own.
    """

    words: str
    update: Callable[[State], State] | None = None
    actions: tuple[Action, ...] = ()
    reviews_again: bool = False
    has_commits: bool = False
    is_done: bool = True
    exit_code: int = 0


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
    models = job.inputs["models"].replace(",", " ").split()
    return Host(
        repository=repository,
        journal=Journal(job.documents / ("results" if job.mode == "debate" else "evidence")),
        state_folder=job.documents / "state",
        layers=job.layers(),
        variables=job.variables,
        panelists=read_roles(models, "the input models:"),
        may_execute=False,
        not_executed=NOT_EXECUTED,
        memory=memory,
    )


def make_review(run: Run, change: Change, memory: Memory | None = None, focus: str = "") -> Review:
    """Review it with what earlier reviews pass on."""
    host = host_of(run, memory or run.facts.state.memory, focus)
    return asyncio.run(review_target(change, host))


def host_of(run: Run, memory: Memory, focus: str = "") -> Host:
    journal = Journal(run.job.documents / "evidence")
    is_others = run.snapshot.is_fork or run.facts.is_by_dependabot
    return replace(
        make_host(run.job, run.repository, memory),
        may_execute=run.executes,
        author_journal=journal if run.job.mode == "debate" else None,
        focus=focus,
        may_approve=run.job.is_on("allow_approve") and not is_others,
    )


def update_state(client: Client, number: int, update: Callable[[State], State]) -> None:
    """Change the state of a pull request, whatever it is by now."""
    snapshot = read_snapshot(client, number)
    state = update(state_of(snapshot))
    found = summaries_of(snapshot)
    body, id = (found[0].body, found[0].id) if found else (f"{SUMMARY}\n{NOT_REVIEWED}", 0)
    perform(client, number, WriteComment(with_state(body, state), id))


def order(client: Client, job: Job, comment_id: int | None = None) -> None:
    """Start the review workflow, for a comment if one is given. Raises UsageError."""
    inputs = {"comment": str(comment_id or "")}
    if job.event.issue:
        inputs["issue"] = str(job.event.issue)
    else:
        inputs["pull_request"] = str(job.event.number)
    body = {"ref": job.event.default_branch, "inputs": inputs}
    try:
        path = f"/actions/workflows/{WORKFLOW}/dispatches"
        client.write("POST", path, "start the review workflow", body)
    except GitHubError as error:
        if error.kind == "gone":
            hint = "reviewbot init --workflow review"
            raise UsageError(f"There is no workflow {WORKFLOW} here: {hint}.") from error
        if error.kind == "not_permitted":
            raise UsageError(
                "To start the review workflow, this job needs actions: write."
            ) from error
        raise


def read_document(job: Job) -> Review:
    """The review that the job with keys hands over."""
    path = job.documents / REVIEW_FILE
    document = read_review(path.read_bytes()) if path.is_file() else None
    if document is None:
        raise UsageError(f"{path} holds no review", hint="download the artifact reviewbot-review")
    return document


def fetch(job: Job, *commits: str) -> Path:
    """Fetch commits into the checkout of the job, where the project's environment is, if any."""
    folder = job.workspace
    if not (folder / ".git").exists():
        folder = job.documents / "repository"
    wanted = list(dict.fromkeys(commits))
    asyncio.run(
        fetch_commits(
            job.git_url, wanted, folder, token=job.token, depth=MAX_DEPTH, variables=job.variables
        )
    )
    return folder


def settings_at(job: Job, repository: Repository, commit: str) -> Settings:
    """The settings of the job, and of a commit."""
    target = Target(kind="revision", revision=f"{commit}..{commit}")
    change = asyncio.run(repository.load_change(target))
    files = asyncio.run(repository.read_files(change.base_tree, CONFIG_FILES))
    return load_settings([*job.layers(), *repository_layers(files)]).settings
