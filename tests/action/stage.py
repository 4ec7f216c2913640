"""A repository on the fake GitHub whose ready workflows run for real: the Action's own steps, reviewbot, real files and sockets."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sqlite3
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.action.runner import WORKFLOWS, Result, Run, run_workflow
from tests.action.world import World
from tests.fakes import Models
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub.state import Comment

KEY = "sk-of-the-end-to-end-tests-0001"
STATUS = "<!-- reviewbot:status v1 -->"
SUMMARY = "<!-- reviewbot:summary v1 -->"


class Stage:
    """``octo/app`` and the machines of its workflows. What they leave anywhere lies below ``folder``."""

    def __init__(self, hub: Hub, folder: Path, venv: Path) -> None:
        self.hub, self.folder = hub, folder
        self.repository: Repository = hub.repository("octo/app")
        self.repository.allow("octocat", "write")
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        environment = {"TMPDIR": str(self.temporary)}
        (folder / "world").mkdir()
        self.world = World(folder / "world", repository="octo/app", forge=hub, environment=environment, venv=venv)
        self.runs: list[Run] = []

    def seat(self, models: Models) -> None:
        """A key of models, and where they answer."""
        self.world.secrets["OPENAI_API_KEY"] = KEY
        self.world.environment["REVIEWBOT__PROVIDERS__OPENAI__BASE_URL"] = f"{models.url}/v1"

    def pull(self, before: dict[str, str], after: dict[str, str]) -> Pull:
        """A pull request from a branch of the repository."""
        self.repository.commit("main", dict(before), "Begin")
        self.repository.commit("topic", dict(after), "Change")
        return self.repository.pull("Change", "topic")

    def run(self, name: str, event_name: str, event: dict[str, Any]) -> Run:
        """A ready workflow, from its event to its end."""
        run = run_workflow(WORKFLOWS / name, event_name, event, self.world)
        self.runs.append(run)
        return run

    def review(self, pull: Pull, action: str = "opened") -> Result:
        """``review.yml`` for a pull request; its job."""
        return self.run("review.yml", "pull_request", self.hub.event("pull_request", pull=pull, action=action)).jobs["review"]

    def say(self, pull: Pull, words: str, login: str = "octocat") -> tuple[Comment, Run]:
        """``commands.yml`` for a comment."""
        comment = pull.comment(login, words)
        return comment, self.run("commands.yml", "issue_comment", self.hub.event("issue_comment", comment=comment))

    def processes(self) -> Iterator[tuple[int, bytes]]:
        """Those that run for our machines now: number and command line."""
        mine = f"TMPDIR={self.temporary}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mine in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name), (folder / "cmdline").read_bytes()

    def kill(self) -> None:
        """``reviewbot`` goes away at once, and the runner lives on."""
        for number, line in self.processes():
            if line.split(b"\0")[1:4] == [b"-I", b"-m", b"reviewbot.cli"]:
                os.kill(number, signal.SIGKILL)

    def secrets(self) -> tuple[str, ...]:
        """What must be nowhere: keys of models, and every token that a job had, also as git sends it."""
        sent = (b64encode(f"x-access-token:{token}".encode()).decode() for token in self.hub.tokens)
        return (*self.world.secrets.values(), *self.hub.tokens, *sent)

    def left(self) -> Iterator[tuple[str, bytes]]:
        """All that anybody can read afterwards, by where it is: logs, outputs, what was posted, artifacts, caches, files."""
        for run in self.runs:
            yield "a log", run.log.encode()
            for job in run.jobs.values():
                told = [job.summary, *job.outputs.values(), *(word for step in job.steps for word in step.outputs.values())]
                yield from (("an output", word.encode()) for word in told)
        yield from (("a post", text.encode()) for text in posted(self.repository))
        for held in self.world.artifacts.values():
            for name, data in held.items():
                yield from members(name, data)
        for cached in self.world.caches:
            yield from members(cached.key, cached.archive)
        for path in self.folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield str(path), path.read_bytes()
                yield from rows(path)


def posted(repository: Repository) -> Iterator[str]:
    """Every text that stands on the forge."""
    for talk in repository.talks:
        yield talk.body
        yield from (comment.body for comment in talk.comments)
    for pull in repository.pulls:
        yield from (review.body for review in pull.reviews)
        yield from (comment.body for thread in pull.threads for comment in thread.comments)
    for check in repository.all_check_runs:
        yield repr((check.output, check.annotations))


def members(name: str, archive: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        yield from ((f"{name}: {member}", opened.read(member)) for member in opened.namelist())


def rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every value of a database, whatever its file looks like."""
    if path.read_bytes()[:15] != b"SQLite format 3":
        return
    with contextlib.closing(sqlite3.connect(path)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):
                yield from ((f"{path}: {table}", value if isinstance(value, bytes) else str(value).encode()) for value in row)


def outputs(job: Result) -> dict[str, str]:
    """What the step that is our Action put out."""
    return next(step.outputs for step in job.steps if "conclusion" in step.outputs)


def answer(pull: Pull) -> str:
    """The status comment."""
    (found,) = [said.body for said in pull.comments if said.body.startswith(STATUS)]
    return found
