"""The hooks through pre-commit itself: fetched, installed, run by ``git commit`` and ``git push``, passed over, stashed around."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.hooks.framework import PRE_COMMIT, TOP, Framed, Source, source
from tests.hooks.lab import BROKEN, CLEAN

FAILING = {"id": "reviewbot", "args": ["--fail-on", "low"]}
MENDABLE = 'def add(a, b):\n    note = f"sum"\n    print(note)\n    return a + b\n'


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Source:
    """One for all workers of this run."""
    own = tmp_path_factory.getbasetemp()
    return source((own if worker_id == "master" else own.parent) / "pre-commit-source")


@pytest.fixture
def lab(tmp_path: Path, origin: Source) -> Framed:
    return Framed(tmp_path, origin)


@pytest.mark.parametrize(("what", "file"), [("manifest", ".pre-commit-hooks.yaml"), ("config", ".pre-commit-config.yaml")])
def test_what_pre_commit_reads_of_this_repository_is_valid(what: str, file: str) -> None:
    done = subprocess.run([PRE_COMMIT, f"validate-{what}", TOP / file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_hook_is_a_command_that_exists_and_is_told_no_files() -> None:
    hooks = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())
    assert {hook["id"]: tuple(hook["stages"]) for hook in hooks} == {
        "reviewbot": ("pre-commit", "manual"),
        "reviewbot-push": ("pre-push",),
        "reviewbot-fix": ("manual",),
    }
    for hook in hooks:
        assert hook["language"] == "python"
        assert (hook["pass_filenames"], hook["require_serial"], hook["verbose"], hook["always_run"]) == (False, True, True, True)
        program, *words = hook["entry"].split()
        assert program == "reviewbot"
        done = subprocess.run([sys.executable, "-m", "reviewbot.cli", *words, "--help"], capture_output=True, check=False)
        assert done.returncode == 0


@pytest.mark.ci
def test_a_commit_is_blocked_and_passes_when_it_is_mended(lab: Framed) -> None:
    lab.use(FAILING)
    before = lab.git("rev-parse", "HEAD").out
    lab.stage("first.py", BROKEN)
    ran = lab.commit()
    assert ran.code == 1
    assert "hook id: reviewbot" in ran.err
    assert "first.py:1 " in ran.err
    assert lab.git("rev-parse", "HEAD").out == before
    lab.stage("first.py", CLEAN + "\n\nNAME = 1\n")
    ran = lab.commit()
    assert ran.code == 0, ran.err
    assert lab.git("rev-parse", "HEAD").out != before


@pytest.mark.ci
def test_findings_are_a_warning_where_nothing_else_is_said(lab: Framed) -> None:
    lab.use()
    lab.stage("first.py", BROKEN)
    ran = lab.commit()
    assert ran.code == 0
    assert "first.py:1 " in ran.err


@pytest.mark.ci
def test_a_hook_is_passed_over_as_pre_commit_and_git_do_it(lab: Framed) -> None:
    lab.use(FAILING)
    lab.stage("first.py", BROKEN)
    ran = lab.commit(env={"SKIP": "other,reviewbot"})
    assert ran.code == 0
    assert "Skipped" in ran.err
    lab.stage("second.py", BROKEN)
    ran = lab.commit("--no-verify")
    assert (ran.code, "reviewbot" in ran.err) == (0, False)


@pytest.mark.ci
def test_what_is_staged_counts_and_what_is_not_comes_back(lab: Framed) -> None:
    lab.use(FAILING)
    path = lab.stage("first.py", CLEAN + "\n\nNAME = 1\n")
    path.write_text(BROKEN)
    ran = lab.commit()
    assert ran.code == 0, ran.err
    assert "Stashing unstaged files" in ran.err
    assert path.read_text() == BROKEN
    lab.stage("first.py", BROKEN)
    path.write_text(CLEAN)
    assert lab.commit().code == 1
    assert path.read_text() == CLEAN
    assert lab.git("show", ":first.py").out == BROKEN


@pytest.mark.ci
def test_a_commit_that_only_deletes_is_looked_at(lab: Framed) -> None:
    lab.use(FAILING)
    lab.git("rm", "-q", "first.py")
    ran = lab.commit()
    assert ran.code == 0, ran.err
    assert "no files to check" not in ran.err


@pytest.mark.ci
def test_a_push_is_reviewed_on_its_way_to_a_bare_remote(lab: Framed, tmp_path: Path) -> None:
    lab.use(*({"id": "reviewbot-push", "args": ["--fail-on", "low"]},))
    lab.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    lab.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    lab.git("push", "--no-verify", "origin", "main")
    lab.git("switch", "-qc", "topic")
    lab.stage("first.py", BROKEN)
    lab.git("commit", "-qm", "Break it")
    ran = lab.git("push", "origin", "topic", check=False)
    assert ran.code == 1
    assert "first.py:1 " in ran.out + ran.err
    assert "topic" not in lab.git("ls-remote", "origin").out
    assert lab.git("push", "origin", "topic", check=False, env={"SKIP": "reviewbot-push"}).code == 0
    assert "topic" in lab.git("ls-remote", "origin").out


@pytest.mark.ci
def test_fixes_are_written_as_a_formatter_writes(lab: Framed) -> None:
    lab.use({"id": "reviewbot-fix"})
    apart = MENDABLE + "\n\n" + CLEAN + "\n\n"
    path = lab.stage("sums.py", apart)
    path.write_text(apart + "UNSTAGED = 1\n")
    ran = lab.pre_commit("run", "--hook-stage", "manual", "reviewbot-fix")
    assert ran.code == 1
    assert "- files were modified by this hook" in ran.out
    assert lab.git("show", ":sums.py").out == apart
    assert path.read_text() == apart.replace('f"', '"') + "UNSTAGED = 1\n"


@pytest.mark.ci
def test_fixes_that_meet_unstaged_work_are_rolled_back_and_the_work_is_not(lab: Framed) -> None:
    """pre-commit takes the work tree from the index again: that is why a fix must not be in the index."""
    lab.use({"id": "reviewbot-fix"})
    path = lab.stage("sums.py", MENDABLE)
    path.write_text(MENDABLE.replace('f"sum"', 'f"total"'))
    ran = lab.pre_commit("run", "--hook-stage", "manual", "reviewbot-fix")
    assert ran.code == 1
    assert "Rolling back fixes" in ran.out
    assert lab.git("show", ":sums.py").out == MENDABLE
    assert path.read_text() == MENDABLE.replace('f"sum"', 'f"total"')


@pytest.mark.ci
def test_pre_commit_over_ours_and_ours_over_pre_commits_run_each_once(lab: Framed) -> None:
    lab.use(FAILING)
    ours = {"PATH": f"{Path(sys.executable).parent}:{lab.environment['PATH']}"}
    assert lab.reviewbot("hook", "install", "--no-pre-push").code == 2
    assert lab.reviewbot("hook", "install", "--no-pre-push", "--force").code == 0
    lab.pre_commit("install", check=True)
    assert (lab.git_dir / "hooks" / "pre-commit.legacy").exists()
    assert "calls it as pre-commit.legacy" in lab.reviewbot("hook", "status", env=ours).out
    lab.stage("second.py", CLEAN)
    ran = lab.commit()
    assert ran.code == 0, ran.err
    assert ran.err.count("hook id: reviewbot") == 1
    assert lab.reviewbot("hook", "uninstall").code == 0
    lab.stage("third.py", CLEAN)
    ran = lab.commit()
    assert ran.code == 0, ran.err
    lab.stage("fourth.py", "def f(x):\n    breakpoint()\n    return x\n")
    ran = lab.commit()
    assert (ran.code, ran.err.count("hook id: reviewbot")) == (1, 1)


@pytest.mark.ci
def test_it_can_be_tried_without_any_configuration(lab: Framed) -> None:
    lab.stage("first.py", BROKEN)
    ran = lab.pre_commit("try-repo", lab.origin.path, "reviewbot", "--verbose")
    assert ran.code == 0, ran.out + ran.err
    assert "hook id: reviewbot" in ran.out
    assert "first.py:1 " in ran.out
