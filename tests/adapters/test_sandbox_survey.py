"""What doctor tells of the sandbox, and how a review's configuration reaches it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot import config, wiring
from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.sandbox import survey
from reviewbot.config import Configuration
from reviewbot.domain.evidence import Side
from reviewbot.domain.target import Target, TargetKind
from reviewbot.ports import Job, Sandbox
from reviewbot.wiring import Order, hosting
from tests.repo import Repo
from tests.sandboxes import container_host

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/dev/null/home"}


def configured(**flags: object) -> Configuration:
    return config.load(
        flags={key.replace("__", "."): (value, f"--{key}") for key, value in flags.items()}, environ={}, repository=()
    )


def told(directory: Path, environment: Mapping[str, str] = ENVIRONMENT, **flags: object) -> dict[str, tuple[str, str, str]]:
    """Lines by name; those of one name are joined."""
    found: dict[str, tuple[str, str, str]] = {}
    for name, state, text, step in wiring.diagnose(directory, environment, configured(**flags)):
        found[name] = (state, f"{found[name][1]}; {text}" if name in found else text, step)
    return found


@pytest.mark.usefixtures("bubblewrap")
def test_every_level_is_told_with_its_self_test(git_repo: Repo) -> None:
    lines = told(git_repo.path)
    assert lines["sandbox"][:2] == ("ok", "bubblewrap")
    assert lines["bubblewrap"][0] == "ok"
    assert "self-test passed" in lines["bubblewrap"][1]
    assert lines["container"][:2] == ("ok", "not here: no image for containers is configured")
    assert "2048 MiB of memory" in lines["limits"][1]
    assert "256 processes" in lines["limits"][1]


def test_where_nothing_can_be_had_the_next_step_is_told(git_repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.sandbox.bubblewrap.PLACES", (Path("/no/bwrap"),))
    lines = told(git_repo.path)
    assert lines["sandbox"][0] == "warn"
    assert "none" in lines["sandbox"][1]
    assert "apt-get install bubblewrap" in lines["bubblewrap"][2]
    assert "container.image" in lines["container"][2]


@pytest.mark.parametrize("level", ["none", "unconfined"])
def test_a_level_that_was_configured_is_told_as_such(git_repo: Repo, level: str) -> None:
    assert told(git_repo.path, sandbox=level)["sandbox"][:1] == ("warn",)
    assert level in told(git_repo.path, sandbox=level)["sandbox"][1]


def test_tools_are_told_by_whose_they_are(git_repo: Repo, tmp_path: Path) -> None:
    for place in (git_repo.path / "node_modules" / ".bin" / "eslint", tmp_path / "bin" / "hadolint"):
        place.parent.mkdir(parents=True)
        place.write_text("#!/bin/sh\n")
        place.chmod(0o755)
    text = told(git_repo.path, ENVIRONMENT | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})["tools"][1]
    parts = dict(part.split(": ", 1) for part in text.split("; "))
    assert parts["of the project"] == "eslint"
    assert "ruff" in parts["beside reviewbot"].split(", ")
    assert f"{tmp_path}/bin/hadolint" in parts["of the machine"].split(", ")
    assert "actionlint" in parts["not found, so their checks are left out"] or "actionlint" in text


def test_a_container_is_surveyed_for_real(git_repo: Repo) -> None:
    machine = container_host()
    ground = sandbox.Ground(lambda _: git_repo.path, sandbox.discover(None), sandbox.Limits(), None, machine)
    rung = survey.rungs(ground)[1]
    assert (rung.level, rung.problem) == ("container", "")
    assert {"python3", "cat"} <= (rung.programs or frozenset())
    gone = replace(machine, container=replace(machine.container, image="gone:1"))
    assert "no image gone:1" in survey.rungs(replace(ground, host=gone))[1].problem


def test_the_machine_is_told_by_environment_and_configuration() -> None:
    environment = {"PATH": "/a:relative::/b", "HOME": "/home-of-x", "DOCKER_HOST": "unix:///x", "GITHUB_TOKEN": "canary"}
    found = hosting.host(environment, configured(container__image="i:1", container__engine="podman", container__runtime="runsc"))
    assert found.path == (Path("/a"), Path("/b"))
    assert found.home == Path("/home-of-x")
    assert found.go_modules == Path("/home-of-x/go/pkg/mod")
    assert found.container == sandbox.ContainerOptions("podman", "i:1", "runsc")
    assert "canary" not in str(found.engine_variables)
    assert dict(found.engine_variables)["DOCKER_HOST"] == "unix:///x"
    assert hosting.host({"GOPATH": "/g:/h"}, configured()).go_modules == Path("/g/pkg/mod")
    assert hosting.host({"GOMODCACHE": "/m", "GOPATH": "/g"}, configured()).go_modules == Path("/m")
    assert hosting.host({}, configured()).go_modules is None


def look_at(repo: Repo, tmp_path: Path, script: str, **flags: object) -> tuple[str, Sandbox]:
    """What a script sees in the head's tree, in the sandbox that a review of the last commit would have."""
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    git = GitRepo.open(repo.path, scratch, environment=repo.environment)
    revisions = git.resolve(Target(TargetKind.RANGE, base="HEAD~1", head="HEAD"))
    order = Order(Target(TargetKind.RANGE, base="HEAD~1", head="HEAD"), repo.path, repo.environment, {}, state=tmp_path / "state")
    with wiring.open_sandbox(configured(**flags), git, revisions, scratch=scratch, order=order) as room:
        outcome = room.run(Job("look", ("/bin/sh", "-c", script), 20, executes=True, tree=Side.HEAD))
    git.close()
    return outcome.stdout.decode(), room


def two_commits(repo: Repo) -> None:
    repo.write("package.json", '{"name": "of the base"}')
    repo.commit()
    repo.write("package.json", '{"name": "of the head", "scripts": {"postinstall": "evil"}}')
    repo.commit()


@pytest.mark.usefixtures("bubblewrap")
def test_setup_runs_once_on_the_base_s_tree_and_is_seen_by_jobs(git_repo: Repo, tmp_path: Path) -> None:
    two_commits(git_repo)
    setup = ("mkdir -p node_modules/dep && cp package.json node_modules/dep/read && date +%N > node_modules/dep/when",)
    first, room = look_at(git_repo, tmp_path, "cat node_modules/dep/*", setup=setup)
    assert first.startswith('{"name": "of the base"}')
    assert room.notes == ()
    (tmp_path / "scratch").rename(tmp_path / "older")
    assert look_at(git_repo, tmp_path, "cat node_modules/dep/*", setup=setup)[0] == first


@pytest.mark.usefixtures("bubblewrap")
def test_a_setup_that_fails_is_one_note_and_checks_go_on(git_repo: Repo, tmp_path: Path) -> None:
    two_commits(git_repo)
    said, room = look_at(git_repo, tmp_path, "echo checks go on", setup=("echo broken >&2; false",))
    assert said == "checks go on\n"
    (note,) = room.notes
    assert "setup failed" in note
    assert "broken" in note


def test_nothing_is_set_up_where_nothing_is_executed(git_repo: Repo, tmp_path: Path) -> None:
    two_commits(git_repo)
    said, room = look_at(git_repo, tmp_path, "echo executed", setup=("touch made",), sandbox="none")
    assert said == ""
    assert room.level == "none"
    assert not (tmp_path / "state").exists()
