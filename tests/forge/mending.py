"""A pull request with two findings that ruff mends by itself, and what stands there after its fixes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reviewbot.domain.history import PullMemory
from reviewbot.publish import own, state
from tests.forge.acting import REVIEWER, Actor, Ran, zipped
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub.state import Run

PLAIN = {"a.py": "def f(x):\n    return x\n", "b.py": "def g(x):\n    return x\n"}
WORSE = {"a.py": "import os\n\n\ndef f(x):\n    return x + 1\n", "b.py": "import json\n\n\ndef g(x):\n    return x + 1\n"}
FIXED = {"a.py": "def f(x):\n    return x + 1\n", "b.py": "def g(x):\n    return x + 1\n"}
MORE = {"c.py": "import re\n\n\ndef h(x):\n    return x\n"}
WRITER = REVIEWER | {"contents": "write", "actions": "read"}
STATUS = "<!-- reviewbot:status v1 -->"
BOT = "github-actions[bot]"


def a_repository(hub: Hub) -> Repository:
    made = hub.repository("octo/app")
    made.allow("octocat", "write")
    made.commit("main", PLAIN, "Begin")
    return made


def a_pull(repository: Repository) -> Pull:
    repository.commit("topic", WORSE, "Change")
    return repository.pull("Change", "topic")


def an_actor(hub: Hub, folder: Path, permissions: dict[str, str] | None = None) -> Actor:
    return Actor(hub, folder, hub.token(permissions=permissions or WRITER))


def reviewed(hub: Hub, actor: Actor, pull: Pull, action: str = "opened", *, autofix: str = "commit", **told: Any) -> Ran:
    """A review of the head as it is."""
    return actor.run("pull_request", hub.event("pull_request", action=action, pull=pull, **told), autofix=autofix)


def argued(hub: Hub, actor: Actor, pull: Pull, *, autofix: str = "suggest", forge: Any = None) -> Run:
    """A review in a run that the forge knows, with its document as an artifact. ``forge`` makes another document of it."""
    made = pull.repository.run("review", pull=pull)
    actor.environment["GITHUB_RUN_ID"] = str(made.id)
    ran = reviewed(hub, actor, pull, autofix=autofix)
    assert ran.exit_code == 0, ran.stderr
    document = json.loads((actor.documents / "review.json").read_text())
    text = json.dumps(forge(document) if forge else document)
    pull.repository.artifact(made, "reviewbot-review", zipped(review=text))
    return made


def said(hub: Hub, actor: Actor, pull: Pull, words: str, *, autofix: str = "commit") -> tuple[Ran, list[str], str]:
    """A command: its run, the reactions to it, and the answer."""
    comment = pull.comment("octocat", words)
    ran = actor.run("issue_comment", hub.event("issue_comment", action="created", comment=comment), autofix=autofix)
    return ran, [reaction.content for reaction in comment.reactions], answer(pull)


def answer(pull: Pull) -> str:
    found = [one.body for one in pull.comments if one.body.startswith(STATUS) and one.login == BOT]
    assert len(found) <= 1
    return found[0] if found else ""


def summary(pull: Pull) -> str:
    found = [one.body for one in pull.comments if one.body.startswith("<!-- reviewbot:summary") and one.login == BOT]
    assert len(found) == 1
    return found[0]


def memory(pull: Pull) -> PullMemory:
    kept = state.decode(own.state_line(summary(pull))).memory
    assert kept is not None
    return kept


def log(repository: Repository, branch: str = "topic", *, since: str = "main") -> list[tuple[str, str, list[str]]]:
    """The commits of a branch, the oldest first: author, headline, findings of its trailers."""
    return [
        (author, headline, sorted(marks.get("Finding", ())))
        for author, headline, marks in commits(repository, branch, since=since)
    ]


def commits(repository: Repository, branch: str = "topic", *, since: str = "main") -> list[tuple[str, str, dict[str, list[str]]]]:
    """The same with all trailers of ours, as ``Finding``, ``Check``, ``Undo``."""
    told = repository.code.git("log", "--reverse", "--format=%an%x00%B%x01", f"{since}..{branch}").split("\x01")
    found = []
    for one in told:
        author, _, message = one.strip("\n").partition("\0")
        if message:
            lines = message.strip().split("\n")
            marks: dict[str, list[str]] = {}
            for name, value in (line.split(": ", 1) for line in lines if line.startswith("Reviewbot-")):
                marks.setdefault(name.removeprefix("Reviewbot-"), []).append(value)
            found.append((author, lines[0], marks))
    return found


def files(repository: Repository, ref: str = "topic") -> dict[str, str]:
    return {path: repository.git_text(ref, path) for *_, path in repository.code.tree(ref, recursive=True)}


BY_US = [
    (BOT, "Fix F1: `os` imported but unused", ["F1"]),
    (BOT, "Fix F2: `json` imported but unused", ["F2"]),
]
BY_THEM = ("octocat", "Change", list[str]())
