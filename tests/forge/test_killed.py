"""The machine goes away between any two writes, or before the answer to one arrives. The next run finishes the work: exactly one
review, no comment twice, none lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.forge.acting import REVIEWER, Actor, kill
from tests.forge.hub import Fault, Hub, Pull, Repository

pytestmark = pytest.mark.matrix

FAULTY = "def f{0}(x, y=[]):\n    y.append(x)\n    return y\n"
MENDED = "def f{0}(x):\n    return [x]\n"


@pytest.fixture
def pull(hub: Hub) -> Pull:
    """Five files, each made worse."""
    made = hub.repository("octo/app")
    made.allow("octocat", "write")
    made.commit("main", {f"m{n}.py": f"def f{n}(x):\n    return x\n" for n in range(5)}, "Begin")
    made.commit("topic", {f"m{n}.py": FAULTY.format(n) for n in range(5)}, "Change")
    return made.pull("Change", "topic")


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    return Actor(hub, tmp_path, hub.token(permissions=REVIEWER))


def cut_off(hub: Hub, actor: Actor, pull: Pull, *, action: str, writes: int, done: bool) -> None:
    """A run that is killed at its write number ``writes``, with that write ``done`` or not."""
    running: list[subprocess.Popen[bytes]] = []
    hub.faults.append(Fault("write", skip=writes, after=done, drop=True, then=lambda: kill(running[0])))
    running.append(actor.start("pull_request", hub.event("pull_request", action=action, pull=pull)))
    running[0].wait(timeout=60)
    assert running[0].returncode == -9
    hub.faults.clear()


def again(hub: Hub, actor: Actor, pull: Pull, action: str) -> None:
    ran = actor.run("pull_request", hub.event("pull_request", action=action, pull=pull))
    assert ran.exit_code == 0, ran.stderr


def stands(pull: Pull, repository: Repository) -> dict[str, object]:
    """What people see."""
    return {
        "threads": sorted((thread.path, thread.comments[0].body.split(" id=")[1].split(" ")[0]) for thread in pull.threads),
        "open": sorted(thread.path for thread in pull.threads if not thread.is_resolved),
        "reviews": len(pull.reviews),
        "comments": len(pull.comments),
        "checks": [(run.name, run.conclusion) for run in repository.check_runs(pull.head_sha)],
    }


FIRST = {
    "threads": [(f"m{n}.py", f"F{n + 1}") for n in range(5)],
    "open": [f"m{n}.py" for n in range(5)],
    "reviews": 1,
    "comments": 1,
    "checks": [("reviewbot", "neutral")],
}
AFTER = FIRST | {"open": ["m0.py", "m4.py"]}


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("writes", range(3))
def test_a_first_review_is_finished_by_the_next_run(hub: Hub, actor: Actor, pull: Pull, writes: int, done: bool) -> None:
    cut_off(hub, actor, pull, action="opened", writes=writes, done=done)
    again(hub, actor, pull, "opened")
    assert stands(pull, pull.repository) == FIRST
    before = len(hub.writes())
    again(hub, actor, pull, "opened")
    assert len(hub.writes()) == before


@pytest.mark.ci
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("writes", range(5))
def test_a_review_of_a_push_is_finished_by_the_next_run(hub: Hub, actor: Actor, pull: Pull, writes: int, done: bool) -> None:
    again(hub, actor, pull, "opened")
    pull.push({f"m{n}.py": MENDED.format(n) for n in (1, 2, 3)})
    cut_off(hub, actor, pull, action="synchronize", writes=writes, done=done)
    again(hub, actor, pull, "synchronize")
    assert stands(pull, pull.repository) == AFTER
