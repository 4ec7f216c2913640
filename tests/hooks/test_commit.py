"""`reviewbot hook run pre-commit` as git calls it: what it says, when it stops a commit, and what is remembered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewbot.adapters.git import command
from reviewbot.cli import glance, glance_git
from reviewbot.cli import glance_memory as memory
from reviewbot.publish import terminal_hook
from reviewbot.wiring.places import state_directory, user_file
from tests.hooks.lab import BROKEN, CLEAN, Lab
from tests.pictures import acting

pytestmark = pytest.mark.matrix(parts=1)

RUN = ("hook", "run", "pre-commit")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_finding_is_a_warning_that_names_its_place_and_what_to_do(lab: Lab):
    lab.hook()
    lab.stage("a.py", BROKEN)
    made = lab.git("commit", "-m", "broken")
    assert "reviewbot: 1 finding in this commit (static panel, no language model)\n" in made.err
    assert "\n  F1  medium  a.py:1  Mutable default argument is shared between calls\n" in made.err
    assert "reviewbot explain F1" in made.err
    assert "reviewbot dismiss F1 --reason" in made.err
    assert "SKIP=reviewbot" in made.err
    assert lab.repo.git("log", "-1", "--format=%s") == "broken"
    told = lab.reviewbot("explain", "F1")
    assert told.code == 0
    assert "a.py:1" in told.out


def test_what_was_told_is_told_again_word_for_word_without_a_review(lab: Lab):
    lab.stage("a.py", BROKEN)
    first, second = lab.reviewbot(*RUN), lab.reviewbot(*RUN)
    assert first == second
    assert len(list((lab.state / "hooks" / "records").iterdir())) == 1


def test_it_is_told_as_wide_as_the_terminal_is_also_when_it_is_told_again(lab: Lab):
    lab.stage("a.py", BROKEN)
    for columns in (40, 140, 40):
        rows = acting.shown((*lab.program, *RUN), columns=columns, folder=lab.path, environ=lab.environment).splitlines()
        assert any(row.endswith("Mutable default argument is shared between calls") for row in rows) == (columns == 140)
        assert max(map(len, rows)) <= columns or columns == 40
    assert len(list((lab.state / "hooks" / "records").iterdir())) == 2


def test_fail_on_stops_the_commit_also_when_it_is_told_again(lab: Lab):
    lab.hook("pre-commit", "--fail-on", "low")
    lab.stage("a.py", BROKEN)
    for _ in range(2):
        made = lab.git("commit", "-m", "broken", check=False)
        assert made.code == 1
        assert "stopped" in made.err
    assert lab.repo.git("log", "-1", "--format=%s") == "The first commit"
    lab.git("commit", "-m", "broken", env={"SKIP": "flake8, reviewbot"})
    lab.stage("b.py", BROKEN)
    lab.git("commit", "--no-verify", "-m", "again")


def test_the_configuration_of_head_stops_commits_and_that_of_the_index_does_not(lab: Lab):
    lab.stage(".reviewbot.yml", "version: 1\nreview: {fail_on: low}\n")
    lab.stage("a.py", BROKEN)
    assert lab.reviewbot(*RUN).code == 0
    lab.git("rm", "-q", "--cached", "a.py")
    lab.git("commit", "-qm", "configured")
    lab.stage("a.py", BROKEN)
    assert lab.reviewbot(*RUN).code == 1
    assert lab.reviewbot(*RUN, "--fail-on", "high").code == 0


def test_skip_is_one_line(lab: Lab):
    lab.stage("a.py", BROKEN)
    made = lab.reviewbot(*RUN, env={"SKIP": "reviewbot"})
    assert (made.code, made.out) == (0, "")
    assert made.err.count("\n") == 1
    assert "SKIP" in made.err
    assert "a.py" in lab.reviewbot(*RUN, env={"SKIP": "reviewbot-push"}).err


def test_nothing_found_is_one_line_and_with_quiet_none(lab: Lab):
    lab.stage("a.py", CLEAN)
    cold = lab.reviewbot(*RUN)
    assert cold.err == "reviewbot: nothing found in this commit (1 file)\n"
    assert lab.reviewbot(*RUN) == cold
    assert lab.reviewbot(*RUN, "-q").err == ""
    assert not (lab.state / "hooks" / "records").exists()


def test_an_empty_commit_says_nothing(lab: Lab):
    lab.hook()
    made = lab.git("commit", "--allow-empty", "-m", "empty")
    assert "reviewbot" not in made.err


def test_json_is_the_review_and_nothing_else_on_standard_output(lab: Lab):
    lab.stage("a.py", BROKEN)
    first, second = lab.reviewbot(*RUN, "--format", "json"), lab.reviewbot(*RUN, "--format", "json")
    assert first.document["findings"][0]["path"] == "a.py"
    assert first.err == ""
    assert second == first
    lab.stage("a.py", CLEAN)
    assert lab.reviewbot(*RUN, "--format", "json").document["conclusion"] == "complete"


def test_a_conflict_is_not_reviewed_and_strict_makes_that_an_error(lab: Lab):
    lab.git("checkout", "-qb", "other")
    lab.repo.write("first.py", "x = 1\n")
    lab.repo.commit("theirs")
    lab.git("checkout", "-q", "main")
    lab.repo.write("first.py", "x = 2\n")
    lab.repo.commit("ours")
    lab.git("merge", "other", check=False)
    made = lab.reviewbot(*RUN)
    assert made.code == 0
    assert made.err.startswith("NOT REVIEWED this commit: the index has unresolved conflicts")
    assert lab.reviewbot(*RUN, "--strict").code == 3


def test_a_broken_configuration_does_not_keep_anybody_from_mending_it(lab: Lab):
    lab.repo.write(".reviewbot.yml", "reveiw: {}\n")
    lab.repo.commit("a slip")
    lab.stage("a.py", CLEAN)
    for _ in range(2):
        made = lab.reviewbot(*RUN)
        assert made.code == 0
        assert made.err.startswith("NOT REVIEWED this commit: ")
        assert "reveiw" in made.err
    assert lab.reviewbot(*RUN, "--strict").code == 3


def test_models_without_a_key_are_a_notice(lab: Lab):
    lab.stage("a.py", BROKEN)
    made = lab.reviewbot(*RUN, "--panel", "models")
    assert made.code == 0
    assert "NOT REVIEWED" in made.err
    assert lab.reviewbot(*RUN, "--panel", "models", "--strict").code == 3


def test_a_configured_key_asks_no_model_before_a_commit(lab: Lab):
    lab.stage("a.py", BROKEN)
    made = lab.reviewbot(*RUN, env={"ANTHROPIC_API_KEY": "never-used"})
    assert "static panel, no language model" in made.err


def test_an_unknown_option_is_an_error_of_its_own(lab: Lab):
    lab.stage("a.py", CLEAN)
    lab.reviewbot(*RUN)
    assert lab.reviewbot(*RUN, "--fail-on", "never").code == 2
    assert lab.reviewbot(*RUN, "--sharp").code == 2


def test_a_review_in_between_is_not_passed_off_as_the_one_that_was_told(lab: Lab):
    """`explain F1` tells of the last review: what is told again must be that one."""
    lab.stage("a.py", BROKEN)
    first = lab.reviewbot(*RUN)
    lab.reviewbot("review", "HEAD", "--no-exec")
    again = lab.reviewbot(*RUN)
    assert again.err == first.err
    assert "a.py:1" in lab.reviewbot("explain", "F1").out


@pytest.mark.parametrize(
    "changed",
    [
        lambda lab: lab.stage("a.py", BROKEN + "\n"),
        lambda lab: lab.stage("b.py", BROKEN),
        lambda lab: lab.git("commit", "-qm", "a"),
        lambda lab: lab.extra.update(REVIEWBOT__REVIEW__FAIL_ON="low"),
        lambda lab: lab.extra.update(XDG_CONFIG_HOME="/nowhere"),
        lambda lab: lab.extra.update(COLUMNS="60"),
        lambda lab: lab.repo.write(".reviewbot/dismissed.yml", "version: 1\n"),
        lambda lab: _configure(lab, "version: 1\nreview: {fail_on: low}\n"),
    ],
    ids=["content", "another file", "head", "environment", "folders", "width", "dismissals", "user file"],
)
def test_what_decides_a_review_decides_what_is_told_again(lab: Lab, changed):
    lab.stage("a.py", BROKEN)
    before = _key(lab)
    assert before == _key(lab)
    changed(lab)
    assert _key(lab) != before


def test_a_record_that_is_broken_is_none(lab: Lab):
    lab.stage("a.py", BROKEN)
    first = lab.reviewbot(*RUN)
    (record,) = (lab.state / "hooks" / "records").iterdir()
    whole = record.read_bytes()
    assert memory.record(str(record)) == (0, "", first.err)
    for damaged in (b"", whole[:-1], whole[:40], b"0" * 32 + whole[32:], whole + b"9", b"\xff" * 100):
        record.write_bytes(damaged)
        assert memory.record(str(record)) is None
    assert lab.reviewbot(*RUN).err == first.err


def test_old_records_go(tmp_path: Path):
    for number in range(30):
        memory.write(str(tmp_path), f"{number:032}", b"x", most=20)
    assert len(list(tmp_path.iterdir())) <= 20
    assert (tmp_path / f"{29:032}").exists()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(lab: Lab):
    lab.state.parent.mkdir(parents=True, exist_ok=True)
    lab.state.write_text("in the way")
    lab.stage("a.py", BROKEN)
    lab.stage("b.py", CLEAN)
    made = lab.reviewbot(*RUN)
    assert made.code == 0
    assert "medium  a.py:1 " in made.err


def test_a_glance_asks_git_as_carefully_as_a_review():
    environment = dict.fromkeys((*glance_git.KEPT, "GIT_DIR", "SECRET", "GIT_INDEX_FILE"), "x")
    assert glance_git.HARDENING == command.HARDENING
    assert glance_git.variables(environment) == command.clean_environment(environment) | {"GIT_INDEX_FILE": "x"}


@pytest.mark.parametrize(
    "environ",
    [{"HOME": "/h"}, {"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}, {"HOME": "/h", "XDG_STATE_HOME": "s"}],
)
def test_a_glance_looks_where_everybody_looks(environ: dict[str, str]):
    assert glance._state(environ) == str(state_directory(environ) / "hooks")
    assert glance._user_file(environ) == str(user_file(environ))


@pytest.mark.parametrize("count", [1, 2])
def test_a_glance_and_a_review_say_nothing_in_the_same_words(count: int):
    assert glance.quiet(count) == terminal_hook.quiet("this commit", count)


def _key(lab: Lab) -> str:
    program = (
        "import json, os, sys; from reviewbot.cli import glance; print(json.dumps(glance.seen(sys.argv[1:], os.environ).key))"
    )
    made = lab.run(lab.program[0], "-c", program, *RUN, check=True)
    return str(json.loads(made.out))


def _configure(lab: Lab, text: str) -> None:
    path = lab.repo.home / ".config" / "reviewbot" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
