"""Changes and repositories at the edge of what GitHub and this program take: whatever is left out is named, nothing is approved
unseen, and what can be said is said in full."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from reviewbot.publish import state
from tests.forge.acting import REVIEWER, Actor, Ran
from tests.forge.hub import Fault, Hub, Pull, Repository, faults
from tests.forge.hub.state import CheckRun

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

WHO = ("-c", "user.name=octocat", "-c", "user.email=octocat@users.example.org")
FAULTY = "def f{0}(x, y=[]):\n    y.append(x)\n    return y\n"
PLAIN = "def f{0}(x):\n    return x\n"
MOST_CHARACTERS = 65_536
TOO_LARGE = [{"resource": "PullRequest", "field": "diff", "code": "too_large"}]
LINES = "Sorry, the diff exceeded the maximum number of lines (20000)"
FILES = (
    "Sorry, the diff exceeded the maximum number of files (300). Consider using 'List pull requests files' API or locally cloning the "
    "repository instead."
)


@pytest.fixture
def repository(hub: Hub) -> Repository:
    """Six modules, two with a defect of their own."""
    made = hub.repository("octo/app")
    made.allow("octocat", "write")
    made.commit("main", {f"m{n}.py": PLAIN.format(n) for n in range(6)}, "Begin")
    return made


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    """It may read all that an approval asks for, so that only the review itself keeps one away."""
    return Actor(hub, tmp_path, hub.token())


def proposed(repository: Repository, files: Mapping[str, str | bytes | None]) -> Pull:
    repository.commit("topic", files, "Change")
    return repository.pull("Change", "topic")


def reviewed(actor: Actor, pull: Pull, action: str = "opened", **inputs: str) -> Ran:
    ran = actor.run("pull_request", actor.hub.event("pull_request", action=action, pull=pull), **inputs)
    assert "Traceback" not in ran.stderr
    assert "bug in reviewbot" not in ran.stderr
    return ran


def summary(pull: Pull) -> str:
    (found,) = [said.body for said in pull.comments if said.login == "github-actions[bot]"]
    return found


def check(pull: Pull) -> CheckRun:
    (found,) = [run for run in pull.repository.check_runs(pull.head_sha) if run.name == "reviewbot"]
    return found


def places(pull: Pull) -> list[tuple[str, int | None]]:
    return sorted((thread.path, thread.line) for thread in pull.threads)


def many(functions: int, name: str = "a_function_whose_name_is_long_enough_to_be_a_burden") -> str:
    """A module of functions, each with the same defect."""
    return "\n\n".join(FAULTY.format(f"_{name}_{n}") for n in range(functions))


def expect_unseen(pull: Pull, ran: Ran, *named: str) -> None:
    """The review says what it did not see, and does not pass."""
    assert (ran.outputs["conclusion"], ran.exit_code) == ("partial", 3), ran.stderr
    assert all(words in summary(pull) for words in named), summary(pull)
    assert check(pull).conclusion == "neutral"
    assert all(review.state != "APPROVED" for review in pull.reviews)


@pytest.mark.parametrize("words", [LINES, FILES], ids=["lines", "files"])
def test_a_diff_that_is_refused_is_read_file_by_file(hub: Hub, actor: Actor, repository: Repository, words: str) -> None:
    """G1, G2."""
    repository.actions_may_approve = True
    pull = proposed(repository, {"m0.py": PLAIN.format(0) + "# \u202e\n", "pic.png": b"\x89PNG\0" * 9})
    hub.faults.append(Fault("git", status=503, body="no", times=9))
    hub.faults.append(faults.refusal("pulls/get", 406, words, TOO_LARGE))
    ran = reviewed(actor, pull, allow_approve="true")
    expect_unseen(pull, ran, "could not be fetched", words.split("(")[0], "pic.png")
    assert [entry.operation for entry in hub.journal].count("pulls/list-files") == 1
    assert places(pull) == [("m0.py", 3)]


def test_a_change_that_git_cannot_fetch_is_reviewed_from_the_forges_diff(hub: Hub, actor: Actor, repository: Repository) -> None:
    repository.actions_may_approve = True
    pull = proposed(repository, {"m0.py": PLAIN.format(0) + "\n", "pic.png": b"\x89PNG\0" * 9})
    hub.faults.append(Fault("git", drop=True, times=9))
    ran = reviewed(actor, pull, allow_approve="true")
    expect_unseen(pull, ran, "could not be fetched")


def test_the_list_of_files_ends_and_the_rest_is_named(hub: Hub, actor: Actor, repository: Repository) -> None:
    """G3: 3,000 files are told, of more."""
    repository.actions_may_approve = True
    pull = proposed(repository, {f"data/n{n}.txt": f"{n}\n" for n in range(3_004)})
    hub.faults.append(Fault("git", status=503, body="no", times=9))
    hub.faults.append(faults.refusal("pulls/get", 406, FILES, TOO_LARGE))
    ran = reviewed(actor, pull, allow_approve="true")
    expect_unseen(pull, ran, "4 of 3004 changed files: GitHub left them out")


def test_worse_findings_have_the_lines_and_the_others_the_summary(actor: Actor, repository: Repository) -> None:
    pull = proposed(repository, {f"m{n}.py": FAULTY.format(n) for n in range(6)})
    ran = reviewed(actor, pull, max_comments="2")
    assert (ran.outputs["comments_inline"], ran.outputs["comments_total"]) == ("2", "6")
    assert len(pull.threads) == 2
    assert summary(pull).count("worse findings have the lines") == 4
    assert all(f"m{n}.py:1" in summary(pull) for n in range(6))


@pytest.mark.smoke
def test_no_comment_at_all_leaves_everything_to_the_summary(actor: Actor, repository: Repository) -> None:
    pull = proposed(repository, {f"m{n}.py": FAULTY.format(n) for n in range(6)})
    ran = reviewed(actor, pull, max_comments="0")
    assert (ran.outputs["comments_inline"], ran.outputs["comments_total"], ran.exit_code) == ("0", "6", 0)
    assert (pull.threads, pull.reviews) == ([], [])
    assert all(f"m{n}.py:1" in summary(pull) for n in range(6))


def bodies(pull: Pull) -> list[str]:
    return [
        *(said.body for said in (*pull.comments, *pull.reviews)),
        *(said.body for thread in pull.threads for said in thread.comments),
        str(check(pull).output["summary"]),
    ]


def left_out(body: str) -> int:
    """How many findings a summary says that it tells nowhere at length."""
    return int(body.split("the details of ")[1].split(" of ")[0]) if "Left out for length" in body else 0


@pytest.mark.parametrize("most", ["0", "90"])
def test_more_findings_than_a_comment_can_hold_fit_and_the_rest_is_counted(
    hub: Hub, actor: Actor, repository: Repository, most: str
) -> None:
    pull = proposed(repository, {f"{'deep/' * 20}{n}.py": many(15) for n in range(10)})
    ran = reviewed(actor, pull, max_comments=most)
    assert ran.exit_code == 0, ran.stderr
    total = int(ran.outputs["comments_total"])
    assert total >= 90
    assert len(pull.threads) == int(most)
    assert all(len(body.encode()) < MOST_CHARACTERS for body in bodies(pull))
    told = summary(pull)
    assert told.count("\n### F") + left_out(told) + len(pull.threads) == total
    assert "more** |" in told
    assert len(json.loads(ran.outputs["findings_json"])) == total
    assert len(check(pull).annotations) == min(total, 100)
    assert [entry.operation for entry in hub.journal].count("checks/update") == 1
    again = reviewed(actor, pull, "synchronize")
    assert again.writes == ()


def test_a_review_whose_lines_are_refused_fits_into_bodies(hub: Hub, actor: Actor, repository: Repository) -> None:
    """G4, with more than one body holds: nothing is lost, and each body says how much it leaves out."""
    pull = proposed(repository, {f"{'深深深深深深深/' * 22}{n}.py": many(15) for n in range(10)})
    line = "Pull request review thread line must be part of the diff"
    hub.faults.append(faults.refusal("pulls/create-review", 422, "Unprocessable Entity", [line]))
    ran = reviewed(actor, pull, max_comments="100")
    assert ran.exit_code == 0, ran.stderr
    assert pull.threads == []
    assert all(len(body.encode()) < MOST_CHARACTERS for body in bodies(pull))
    (review,) = pull.reviews
    more = int(review.body.split("And ")[1].split(" more: see the summary")[0])
    assert review.body.count("\nOn `深") + more == 100
    told = summary(pull)
    assert told.count("\n### F") + left_out(told) == int(ran.outputs["comments_total"])


def test_a_memory_that_outgrows_its_place_is_cut_and_posts_nothing_twice(actor: Actor, repository: Repository) -> None:
    files = {f"{n:032x}{n * 7919 % 104729:x}.py": many(15, f"{n * 104729 % 7919:x}") for n in range(10)}
    pull = proposed(repository, files)
    for n in range(40):
        pull.push({f"more/{n * 15485863 % 32452843:x}.py": "".join(f"x{n * k * 7919} = {k}\n" for k in range(0, 90, 3))}, "More")
    reviewed(actor, pull, max_comments="20")
    line = summary(pull).split("\n")[1]
    assert len(line) <= state.MOST_CHARACTERS
    memory = state.decode(line).memory
    assert memory is not None
    assert memory.history.seen == frozenset()  # the first that is forgotten
    before = places(pull)
    pull.push({"one.py": "x = 1\n"})
    ran = reviewed(actor, pull, "synchronize", max_comments="20")
    assert ran.exit_code == 0, ran.stderr
    assert places(pull) == before
    assert len(pull.comments) == 1


def git(folder: Path, *words: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, env=environment)


def checkout(kind: str, repository: Repository, pull: Pull, folder: Path) -> None:
    """What a job's workspace may hold."""
    folder.mkdir()
    if kind == "words":
        (folder / "m0.py").write_text("x = [\n")
    if kind in ("full", "shallow", "behind"):
        depth = ["--depth=1"] if kind == "shallow" else []
        ref = "refs/heads/main" if kind == "behind" else f"refs/pull/{pull.number}/head"
        git(folder, "init", "-q", "-b", "here")
        git(folder, "fetch", "-q", *depth, f"file://{repository.git}", ref, *(["refs/heads/main"] if kind == "full" else []))
        git(folder, "checkout", "-q", "FETCH_HEAD")
    if kind == "broken":
        (folder / ".git").write_text("gitdir: /nowhere\n")


@pytest.mark.parametrize("kind", ["full", "shallow", "behind", "words", "broken"])
def test_whatever_lies_in_the_workspace_the_same_is_said(hub: Hub, actor: Actor, repository: Repository, kind: str) -> None:
    pull = proposed(repository, {"m0.py": FAULTY.format(0), "m1.py": FAULTY.format(1)})
    checkout(kind, repository, pull, actor.folder / "workspace")
    ran = reviewed(actor, pull)
    assert (ran.exit_code, ran.outputs["conclusion"]) == (0, "complete"), ran.stderr
    assert places(pull) == [("m0.py", 1), ("m1.py", 1)]
    told = {one["id"]: (one["title"], one["severity"]) for one in json.loads(ran.outputs["findings_json"])}
    title = "Mutable default argument is shared between calls"
    assert told == {"F1": (title, "medium"), "F2": (title, "medium")}
    assert ("git" in {entry.operation for entry in hub.journal}) == (kind != "full")


def test_a_head_whose_repository_was_deleted_is_reviewed_all_the_same(hub: Hub, actor: Actor, repository: Repository) -> None:
    """G30: its commits are there under the pull request's own reference."""
    hub.user("stranger")
    fork = repository.fork("stranger/app")
    fork.commit("topic", {"m0.py": FAULTY.format(0)}, "Change", author="stranger")
    pull = repository.pull("Change", "topic", author="stranger", head_repository=fork)
    pull.lose_head()
    ran = reviewed(actor, pull, allow_approve="true")
    assert (ran.exit_code, ran.outputs["conclusion"]) == (0, "complete"), ran.stderr
    assert places(pull) == [("m0.py", 1)]


def test_what_others_did_on_the_base_meanwhile_is_not_reviewed(actor: Actor, repository: Repository) -> None:
    pull = proposed(repository, {"m0.py": FAULTY.format(0)})
    repository.commit("main", {"m5.py": FAULTY.format(5), "m4.py": None}, "Meanwhile")
    ran = reviewed(actor, pull)
    assert (ran.exit_code, ran.outputs["conclusion"]) == (0, "complete"), ran.stderr
    assert places(pull) == [("m0.py", 1)]
    assert "m5.py" not in summary(pull)


def merged(repository: Repository, branch: str, other: str) -> None:
    """A merge commit on a branch, made as a person makes it."""
    code = repository.code
    tree = code.git("merge-tree", "--write-tree", branch, other).split("\n")[0]
    parents = ["-p", code.git("rev-parse", branch).strip(), "-p", code.git("rev-parse", other).strip()]
    commit = code.git(*WHO, "commit-tree", tree, *parents, "-m", f"Merge {other}").strip()
    code.git("update-ref", f"refs/heads/{branch}", commit)
    repository.hub.follow_heads(repository)


def test_a_merge_of_the_base_brings_nothing_of_its_own(actor: Actor, repository: Repository) -> None:
    pull = proposed(repository, {"m0.py": FAULTY.format(0)})
    reviewed(actor, pull)
    repository.commit("main", {"m5.py": FAULTY.format(5)}, "Meanwhile")
    merged(repository, "topic", "main")
    repository.commit("main", {"m4.py": FAULTY.format(4)}, "And later")
    ran = reviewed(actor, pull, "synchronize")
    assert (ran.exit_code, ran.outputs["conclusion"]) == (0, "complete"), ran.stderr
    assert places(pull) == [("m0.py", 1)]
    assert ran.outputs["reviewed_sha"] == pull.head_sha
    assert "m4.py" not in summary(pull)
    assert "m5.py" not in summary(pull)
    assert not any(thread.is_resolved for thread in pull.threads)


def test_a_private_repository_is_read_with_the_jobs_token(hub: Hub, tmp_path: Path) -> None:
    repository = hub.repository("octo/secret", private=True)
    repository.allow("octocat", "write")
    repository.commit("main", {"m0.py": PLAIN.format(0)}, "Begin")
    pull = proposed(repository, {"m0.py": FAULTY.format(0)})
    token = hub.token(permissions=REVIEWER, repositories=["octo/secret"])
    ran = reviewed(Actor(hub, tmp_path, token, repository="octo/secret"), pull)
    assert (ran.exit_code, ran.outputs["conclusion"]) == (0, "complete"), ran.stderr
    assert places(pull) == [("m0.py", 1)]
    assert token not in ran.stdout + ran.stderr + ran.summary + "".join(bodies(pull))
    stranger = Actor(
        hub, tmp_path / "other", hub.token(permissions=REVIEWER, repositories=["octo/other"]), repository="octo/secret"
    )
    refused = reviewed(stranger, pull)
    assert (refused.exit_code, refused.outputs["conclusion"]) == (3, "not_reviewed")


@pytest.mark.smoke
def test_an_empty_change_is_reviewed_and_says_nothing(actor: Actor, repository: Repository) -> None:
    repository.actions_may_approve = True
    pull = proposed(repository, {"m0.py": FAULTY.format(0)})
    pull.push({"m0.py": PLAIN.format(0)}, "Take it back")
    ran = reviewed(actor, pull)
    assert ran.exit_code in (0, 3), ran.stderr
    assert pull.threads == []
    assert ran.outputs["comments_total"] == "0"


def only_moved(repository: Repository) -> Pull:
    """A change of a binary file, a deletion, a rename and a mode: not one line to hang a comment on."""
    repository.commit("topic", {"pic.png": b"\x89PNG\0\1" * 40}, "Change")
    code = repository.code
    rows = [row.replace("\tm1.py", "\trenamed.py") for row in code.git("ls-tree", "topic").splitlines()]
    rows = [row.replace("100644", "100755") if row.endswith("m2.py") else row for row in rows if not row.endswith("m3.py")]
    tree = code.run("mktree", stdin="\n".join((*rows, "")).encode()).decode().strip()
    made = code.git(*WHO, "commit-tree", tree, "-p", code.git("rev-parse", "topic").strip(), "-m", "Move").strip()
    code.git("update-ref", "refs/heads/topic", made)
    return repository.pull("Move", "topic")


def test_a_change_without_a_line_is_reviewed_and_says_nothing(actor: Actor, repository: Repository) -> None:
    pull = only_moved(repository)
    assert len(pull.files) == 4
    ran = reviewed(actor, pull, allow_approve="true")
    assert ran.exit_code in (0, 3), ran.stderr
    assert (pull.threads, pull.reviews) == ([], [])
    assert check(pull).conclusion in ("success", "neutral")
    assert "out of scope" in summary(pull)
