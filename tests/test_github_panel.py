"""Pull requests with models, of forks, and reviews without a pull request."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lean import lean_environment

from tests.fake_github import GitHub, Pull, Repository, faults
from tests.fake_github import rules as fake_rules
from tests.fake_github.records import Issue
from tests.github_job import BASE, FAULTY, REVIEWER, Jobs, model, panel_of, summary_of

LUA = {"a.lua": "x = 1\n", "b.lua": "y = 1\n"}
PATHS = re.compile(r'^## "([^"]+)"', re.MULTILINE)


@pytest.fixture
def jobs(github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Jobs:
    return Jobs(github, tmp_path, capsys, permissions=REVIEWER | {"actions": "write"})


@pytest.fixture
def app(github: GitHub) -> Repository:
    repository = github.repository("octo/app")
    repository.commit("main", BASE | LUA, "Begin")
    repository.allow("ann", "write")
    repository.workflows.append("reviewbot-review.yml")
    return repository


def claim(path: str, line: int, quote: str, title: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(("trigger", "consequence", "refuted_if"), "-"),
        **{"path": path, "line": line, "quote": quote, "title": title},
        **{"category": "correctness", "severity": "high"},
    }


def test_a_push_is_read_where_it_differs_and_numbers_stay(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", {"a.lua": "x = 2\n"}, "Change x")
    pull = app.pull("Change x", "topic", author="ann", body="x was wrong.")
    read: list[list[str]] = []

    def reply(_: str, prompt: str) -> Any:
        if "# Task: find defects in this change" not in prompt:
            return {"judgements": [], "tests": []}
        read.append(PATHS.findall(prompt))
        found = [("a.lua", "x = 2", "x is off"), ("b.lua", "y = 2", "y is off")]
        return {"claims": [claim(p, 1, q, t) for p, q, t in found if p in read[-1]]}

    with model(reply).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        first = jobs.push(pull, "opened")
        pull.push({"b.lua": "y = 2\n"})
        second = jobs.push(pull)
        pull.push({"README.md": "Hello.\n"})
        third = jobs.push(pull)
        pushed = len(read)
        jobs.say(pull, "ann", "/debate")
        again = len(read)
        jobs.say(pull, "ann", "/debate full")

    assert (pushed, again) == (6, 6)
    assert len(read) == 8
    assert all({"a.lua", "b.lua", "README.md"} <= set(paths) for paths in read[6:])
    assert read[:2] == [["a.lua"], ["a.lua"]]
    assert read[2:4] == [["b.lua"], ["b.lua"]]
    assert all("README.md" in paths and "a.lua" not in paths for paths in read[4:6])
    ids = [[f["id"] for f in json.loads(ran.outputs["findings_json"])] for ran in (first, third)]
    assert ids == [["F1"], ["F1", "F2"]]
    summary = summary_of(pull)
    assert "F1" in summary
    assert "F2" in summary
    assert len(pull.threads) == 2
    assert second.outputs["verdict"] == "comment"
    assert float(second.outputs["cost_usd"]) > 0


def test_words_after_debate_say_what_to_look_at(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", {"a.lua": "x = 2\n"}, "Change x")
    pull = app.pull("Change x", "topic", author="ann")
    read: list[str] = []

    def reply(_: str, prompt: str) -> Any:
        if "# Task: find defects in this change" in prompt:
            read.append(prompt)
        return {"claims": [], "judgements": [], "tests": []}

    with model(reply).running() as server:
        jobs.config = panel_of(server, "critic")
        jobs.push(pull, "opened")
        jobs.say(pull, "ann", "/debate")
        jobs.say(pull, "ann", "/debate the order of the locks")

    # What was read before is read again for it.
    assert ["the order of the locks" in prompt for prompt in read] == [False, True]
    assert PATHS.findall(read[1]) == ["a.lua"]


def test_people_ask_and_dispute(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", {"a.lua": "x = 2\n"}, "Change x")
    pull = app.pull("Change x", "topic", author="ann")
    prompts: list[str] = []

    def reply(role: str, prompt: str) -> Any:
        prompts.append(prompt)
        judged = {"case": "F1", "reason": f"{role} says no.", "citations": ["a.lua:1"]}
        if "# Task: answer a question" in prompt:
            return {"judgements": [judged | {"case": "question", "stance": "unsure"}]}
        if "# Task: judge a claim again" in prompt:
            return {"judgements": [judged | {"stance": "not_real"}]}
        return {"claims": [claim("a.lua", 1, "x = 2", "x is off")], "judgements": []}

    with model(reply).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(pull, "opened")
        assert "F1" in summary_of(pull)
        jobs.say(pull, "ann", "/debate ask Why is `x` 2 in a.lua?\nAnd not 3?")
        answer = pull.comments[-1].body
        asked = prompts[-1]
        count = len(prompts)
        jobs.say(pull, "ann", "/debate dispute F1 The old value was wrong.")
        disputed = pull.comments[-1].body
        pull.push({"README.md": "Hello.\n"})
        ran = jobs.push(pull)

    assert "**critic:** critic says no. (`a.lua:1`)" in answer
    assert "**reviewer:** reviewer says no." in answer
    assert "And not 3?" in asked
    assert len(prompts) >= count + 2
    assert "F1 is taken back." in disputed
    assert pull.threads[0].is_resolved
    assert json.loads(ran.outputs["findings_json"]) == []


def test_a_finding_is_explained_from_the_document_of_the_review(
    jobs: Jobs, app: Repository, tmp_path: Path
) -> None:
    app.commit("topic", FAULTY, "Rename")
    pull = app.pull("Rename", "topic", author="ann")
    run = app.run("reviewbot-review", pull=pull)
    jobs.variables["GITHUB_RUN_ID"] = str(run.id)
    jobs.push(pull, "opened", temp=str(tmp_path / "temp"))
    jobs.permissions["actions"] = "read"
    jobs.say(pull, "ann", "/debate explain F1")
    assert "is not kept any more" in pull.comments[-1].body
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.write(tmp_path / "temp/reviewbot/review.json", "review.json")
    app.artifact(run, "reviewbot-review", content.getvalue())

    jobs.say(pull, "ann", "/debate explain F1")

    assert "is not kept any more" not in pull.comments[-1].body
    assert "**Proven:** a check reports this for the first time (ruff F821)." in (
        pull.comments[-1].body
    )


def test_what_was_executed_is_not_disputed_away(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", FAULTY, "Rename")
    pull = app.pull("Rename", "topic", author="ann")

    def reply(_: str, prompt: str) -> Any:
        judged = {"case": "F1", "reason": "No.", "citations": ["a.py:2"], "stance": "not_real"}
        return {"claims": [], "judgements": [judged] if "again" in prompt else []}

    with model(reply).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(pull, "opened")
        jobs.say(pull, "ann", "/debate dispute F1 It is a global.")

    assert "F1 stands: ruff reports it, and words do not change that." in pull.comments[-1].body
    assert not pull.threads[0].is_resolved


CART = "def total(prices):\n    return sum(prices)\n"
MORE = "\n\ndef count(prices):\n    return len(prices)\n"
CART_TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"


def fixer(_: str, prompt: str) -> Any:
    if "# Task: fix a defect" in prompt:
        edit = {"path": "cart.py", "find": "sum(prices) + 1", "replace": "sum(prices)"}
        return {"edits": [edit], "explanation": "It was off by one."}
    if "# Task: judge a change" in prompt:
        return {"objections": []}
    if "# Task: make an accepted change" in prompt:
        return {"edits": [], "explanation": ""}
    return {"claims": [], "judgements": [], "tests": []}


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The temporary folder of a machine whose jobs find what earlier ones recorded."""
    return str(tmp_path_factory.mktemp("temp"))


@pytest.fixture
def cart(app: Repository, jobs: Jobs) -> Pull:
    jobs.permissions |= {"contents": "write"}
    jobs.variables["VIRTUAL_ENV"] = lean_environment()
    app.commit("main", {"cart.py": CART, "test_cart.py": CART_TEST}, "Add a cart")
    app.commit("topic", {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1") + MORE}, "Count")
    return app.pull("Count", "topic", author="ann")


def test_a_fix_is_committed_and_taken_back(jobs: Jobs, cart: Pull, temp: str) -> None:
    broken = cart.repository.text(cart.head_sha, "cart.py")
    with model(fixer).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(cart, "opened", temp=temp)
        jobs.say(cart, "ann", "/debate fix F1", temp=temp)
        answer = next(c.body for c in cart.comments if "committed as" in c.body)
        fixed = cart.head_sha
        assert cart.repository.text(fixed, "cart.py") == CART + MORE
        message = cart.repository.bare.git("log", "-1", "--format=%B", fixed)
        assert cart.threads[0].is_resolved, "what was committed is reviewed"
        reviewed = summary_of(cart)
        jobs.say(cart, "ann", "/debate undo", temp=temp)

    for command in ("/debate fix F1", "/debate undo"):
        assert reactions(cart, command) == {"eyes", "rocket"}
    assert f"F1 (by critic): committed as `{fixed[:10]}`" in answer
    assert "Reviewbot-Finding: " in message
    assert fixed[:10] in reviewed
    assert cart.head_sha != fixed
    assert cart.repository.text(cart.head_sha, "cart.py") == broken
    assert "is taken back by" in cart.comments[-1].body


def test_a_command_that_is_killed_after_its_commit_goes_on(
    jobs: Jobs, cart: Pull, temp: str
) -> None:
    broken = cart.repository.text(cart.head_sha, "cart.py")
    started: list[subprocess.Popen[bytes]] = []

    def killed_after(count: int, body: str) -> None:
        """Its run, which is killed after so many writes, and then the same run again."""
        comment = fake_rules.create_comment(cart, jobs.github.user("ann"), body)
        jobs.run("issue_comment", jobs.github.event("issue_comment", comment=comment))
        inputs = cart.repository.dispatches.pop().inputs
        event = jobs.github.event("workflow_dispatch", repository=cart.repository, inputs=inputs)
        kill = faults.dropped("write", skip=count - 1, after=True, then=lambda: started[-1].kill())
        jobs.github.faults.append(kill)
        variables = jobs.prepare("workflow_dispatch", event, temp=temp)
        started.append(
            subprocess.Popen([sys.executable, "-m", "reviewbot", "github"], env=variables)
        )
        assert started[-1].wait(timeout=60) == -9
        assert jobs.run("workflow_dispatch", event, temp=temp).exit_code == 0
        cart.repository.dispatches.clear()

    with model(fixer).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(cart, "opened", temp=temp)
        killed_after(1, "/debate fix F1")
        fixed = cart.head_sha
        killed_after(2, "/debate undo")  # when the state says so already

    said = [c.body.partition("\n")[2] for c in cart.comments if "answer comment=" in c.body]
    assert said == [
        f"- F1: committed as `{fixed[:10]}`",
        f"The fix of F1 is taken back by `{cart.head_sha[:10]}`.",
    ]
    assert cart.repository.text(cart.head_sha, "cart.py") == broken


def test_a_finding_that_is_not_there_costs_nothing(jobs: Jobs, cart: Pull, temp: str) -> None:
    asked: list[str] = []
    with model(lambda name, prompt: asked.append(name) or fixer(name, prompt)).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(cart, "opened", temp=temp)
        count = len(asked)
        jobs.say(cart, "ann", "/debate fix F77", temp=temp)

    assert "There is no finding F77 here." in cart.comments[-1].body
    assert len(asked) == count
    assert reactions(cart, "/debate fix F77") == {"eyes", "confused"}


def reactions(pull: Pull, body: str) -> set[str]:
    """To the comment with a command."""
    asked = [comment for comment in pull.comments if comment.body == body]
    return {reaction.content for comment in asked for reaction in comment.reactions}


@pytest.mark.parametrize(
    ("obstacle", "words"),
    [("protected", "the branch is protected"), ("rule", "has the rule"), ("moved", "to point to")],
)
def test_a_fix_is_not_forced_upon_a_branch(
    jobs: Jobs, cart: Pull, temp: str, obstacle: str, words: str
) -> None:
    if obstacle == "protected":
        cart.repository.protect("topic")
    if obstacle == "rule":
        cart.repository.add_rule("update", "topic")
    if obstacle == "moved":
        jobs.github.faults.append(
            faults.meanwhile("graphql:createCommitOnBranch", lambda: cart.push({"z.py": "z = 1\n"}))
        )
    with model(fixer).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.say(cart, "ann", "/debate fix", temp=temp)

    assert words in cart.comments[-1].body
    assert reactions(cart, "/debate fix") == {"eyes", "confused"}
    assert cart.repository.text(cart.head_sha, "cart.py") != CART + MORE


def test_a_command_whose_run_cannot_begin_is_answered(jobs: Jobs, app: Repository) -> None:
    app.commit("main", {".reviewbot.yml": "review: {effort: no}\n"}, "Configure")
    app.commit("topic", FAULTY, "Rename")
    pull = app.pull("Rename", "topic", author="ann")

    ran = jobs.say(pull, "ann", "/debate")

    assert ran.exit_code == 2
    assert "review.effort" in pull.comments[-1].body
    assert reactions(pull, "/debate") == {"eyes", "confused"}


def test_without_models_there_is_nobody_to_ask(jobs: Jobs, app: Repository) -> None:
    app.commit("topic", FAULTY, "Rename")
    pull = app.pull("Rename", "topic", author="ann")

    jobs.say(pull, "ann", "/debate ask Why?")

    assert "No language model is configured" in pull.comments[-1].body


def test_a_fork_is_reviewed_in_three_jobs(jobs: Jobs, app: Repository, tmp_path: Path) -> None:
    app.commit(
        "main",
        {"test_a.py": "from a import half\n\n\ndef test_half():\n    assert half(4) == 2\n"},
        "Test",
    )
    fork = app.fork("mallory/app")
    fork.commit("topic", {"a.py": "def half(n):\n    return n * 2\n"}, "Change")
    pull = app.pull("Change", "topic", author="mallory", head_repository=fork)
    handed = {name: str(tmp_path / name) for name in ("author", "debate")}

    jobs.permissions = {"contents": "read", "pull_requests": "read", "metadata": "read"}
    collected = jobs.push(pull, "opened", mode="collect", temp=handed["author"])
    assert (collected.exit_code, collected.writes) == (0, [])
    assert "handed to the next job" in collected.log
    assert "No language model is asked in this job." in collected.summary
    run = app.run("reviewbot-collect", pull=pull)
    finished = jobs.github.event("workflow_run", run=run)
    evidence = Path(handed["author"], "reviewbot/evidence")
    assert list(evidence.glob("*.json"))
    there = Path(handed["debate"], "reviewbot/evidence")
    there.mkdir(parents=True)
    for file in evidence.glob("*.json"):
        (there / file.name).write_bytes(file.read_bytes())

    debated = jobs.run("workflow_run", finished, mode="debate", temp=handed["debate"])
    assert (debated.exit_code, debated.writes) == (0, [])
    assert debated.outputs["verdict"] == "comment"
    jobs.permissions = dict(REVIEWER)
    published = jobs.run("workflow_run", finished, mode="publish", temp=handed["debate"])

    assert published.exit_code == 0
    summary = summary_of(pull)
    assert "the job of the author reports this" in pull.threads[0].comments[0].body
    assert "question" in summary
    assert [review.state for review in pull.reviews] == ["COMMENTED"]

    jobs.permissions |= {"actions": "write"}
    jobs.say(pull, "ann", "/debate full")
    assert "pytest was not run: this job executes nothing of forks" in summary_of(pull)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "AWS_ACCESS_KEY_ID", "MY_SERVER_API_KEY", "NAMED_BY_SETTINGS"]
)
def test_beside_keys_a_fork_is_not_reviewed(jobs: Jobs, app: Repository, name: str) -> None:
    fork = app.fork("mallory/app")
    fork.commit("topic", FAULTY, "Change")
    pull = app.pull("Change", "topic", author="mallory", head_repository=fork)
    jobs.variables[name] = "sk-nothing"
    settings = {"base_url": "https://example.org", "key_variable": "NAMED_BY_SETTINGS"}
    jobs.config = json.dumps({"providers": {"gpu": settings}})

    ran = jobs.push(pull, "opened")

    assert (ran.calls, ran.outputs) == (0, {"skip_reason": "fork_needs_two_jobs"})


@pytest.mark.parametrize("what", ["open", "closed", "moved"])
def test_whose_evidence_it_is_is_found_or_nothing_is_done(
    jobs: Jobs, app: Repository, what: str
) -> None:
    """Pull requests of forks often have branches of one name."""
    for number in range(3):
        fork = app.fork(f"user{number}/app")
        fork.commit("patch-1", {"a.py": f"def half(n):\n    return n * {number}\n"}, "Change")
        pull = app.pull("Change", "patch-1", author=f"user{number}", head_repository=fork)
    finished = jobs.github.event("workflow_run", run=app.run("reviewbot-collect", pull=pull))
    if what == "closed":
        pull.close()
    if what == "moved":
        pull.push({"z.py": "z = 1\n"}, "Again")

    ran = jobs.run("workflow_run", finished, mode="debate")

    assert ran.exit_code == 0
    assert ran.outputs.get("skip_reason") == (None if what == "open" else "head_moved")


def test_an_audit_keeps_one_issue(jobs: Jobs, app: Repository) -> None:
    jobs.permissions = {"contents": "read", "issues": "write", "metadata": "read"}
    jobs.variables["GITHUB_SHA"] = app.commit("main", FAULTY, "Break")
    event = jobs.github.event("schedule", repository=app)

    assert jobs.run("schedule", event, dry_run="true").writes == []
    jobs.run("schedule", event)
    (issue,) = app.issues
    assert "**Incomplete**. The first audit: 1 in all." in issue.body
    assert "no findings" not in issue.body
    assert "Undefined name" in issue.body
    jobs.variables["GITHUB_SHA"] = app.commit(
        "main", BASE | {"c.py": "def third(n):\n    return p / 3\n"}, "Fix one, break one"
    )
    ran = jobs.run("schedule", event)

    (issue,) = app.issues
    assert "Since the last audit: 1 new, 1 gone, 1 in all." in issue.body
    assert ran.outputs["summary_comment_url"] == issue.url


def test_an_audit_without_the_right_to_write_issues_is_in_the_job_summary(
    jobs: Jobs, app: Repository
) -> None:
    jobs.permissions = {"contents": "read", "metadata": "read"}
    jobs.variables["GITHUB_SHA"] = app.commit("main", FAULTY, "Break")

    ran = jobs.run("schedule", jobs.github.event("schedule", repository=app))

    assert (ran.exit_code, ran.writes) == (0, [])
    assert "give issues: write" in ran.log
    assert "Undefined name" in ran.summary


def test_a_merge_group_gets_a_check_run(jobs: Jobs, app: Repository) -> None:
    base = app.bare.sha("refs/heads/main")
    head = app.commit("gh-readonly-queue/main/pr-1", FAULTY, "Merge")
    group = {"base_sha": base, "head_sha": head, "head_ref": "refs/heads/x", "base_ref": "main"}
    event = {"action": "checks_requested", "merge_group": group}

    assert jobs.run("merge_group", event, dry_run="true").writes == []
    jobs.variables["ANTHROPIC_API_KEY"] = "nothing"
    ran = jobs.run("merge_group", event, fail_on="high")

    (check,) = app.check_runs(head)
    assert (check.name, check.conclusion, ran.exit_code) == ("reviewbot", "failure", 1)
    for page in (check.output["summary"], ran.summary):
        assert "No language model is asked in this job." in page
        assert "/debate" not in page


def test_dependencies_by_a_bot_are_not_executed_beside_keys(jobs: Jobs, app: Repository) -> None:
    app.commit("dependabot/pip/x", FAULTY, "Bump")
    pull: Pull = app.pull("Bump", "dependabot/pip/x", author="ann")

    def reply(_: str, __: str) -> Any:
        return {"claims": [], "judgements": []}

    with model(reply).running() as server:
        jobs.config = panel_of(server, "critic")
        jobs.variables["ANTHROPIC_API_KEY"] = "nothing"
        ran = jobs.push(pull, "opened")

    assert ran.exit_code == 0
    assert ran.outputs["verdict"] == "request_changes"


def test_what_dependabot_changes_is_not_approved(
    jobs: Jobs, app: Repository, tmp_path: Path
) -> None:
    app.actions_may_approve = True
    app.commit("main", {".reviewbot.yml": "github: {bots: [dependabot]}\n"}, "Set")
    app.commit("dependabot/pip/x", {"a.py": "def half(n):\n    return n / 4\n"}, "Bump")
    pull = app.pull("Bump", "dependabot/pip/x", author="dependabot[bot]")
    event = jobs.github.event("workflow_run", run=app.run("reviewbot collect", pull=pull))

    for mode in ("debate", "publish"):
        ran = jobs.run(
            "workflow_run", event, mode=mode, temp=str(tmp_path / "temp"), allow_approve="true"
        )

    assert (ran.outputs["verdict"], ran.outputs["complete"]) == ("comment", "true")
    assert pull.reviews == []


@pytest.fixture
def untidy(app: Repository, jobs: Jobs) -> Pull:
    """A linter fixes what it reports, in one line."""
    jobs.permissions |= {"contents": "write"}
    jobs.variables["VIRTUAL_ENV"] = lean_environment()
    app.commit("topic", {"b.py": "x = []\nif not 1 in x or x is 'a':\n    print(x)\n"}, "Add b")
    return app.pull("Add b", "topic", author="ann")


# A person mends what was taken back, and something else is found.
OTHER = {"b.py": "x = []\n", "c.py": "y = 1\nif y is 'a':\n    print(y)\n"}


def test_autofix_commits_once_and_ends_when_a_person_takes_it_back(
    jobs: Jobs, untidy: Pull
) -> None:
    broken = untidy.head_sha
    jobs.github.faults.append(faults.dropped("graphql:createCommitOnBranch", after=True))

    ran = jobs.push(untidy, "opened", autofix="commit")

    assert ran.outputs["autofix_sha"] == untidy.head_sha != broken
    assert "x == 'a'" in untidy.repository.text(untidy.head_sha, "b.py")
    assert [order.inputs["pull_request"] for order in untidy.repository.dispatches] == ["1"]
    said = untidy.repository.bare.git("log", "-1", "--format=%B", untidy.head_sha)
    assert re.fullmatch("Fix: Use `==` .+\n\nReviewbot-Finding: .+\n*", said)
    jobs.push(untidy, autofix="commit")
    untidy.push({"b.py": untidy.repository.text(broken, "b.py")}, "Revert")
    reverted = untidy.head_sha

    ran = jobs.push(untidy, autofix="commit")

    assert "Nothing is fixed: the fix of F1 was taken back." in ran.log
    assert untidy.head_sha == reverted
    assert json.loads(ran.outputs["findings_json"])[0]["id"] == "F1"
    untidy.push(OTHER, "Fix b, add c")
    other = untidy.head_sha
    ran = jobs.push(untidy, autofix="commit")
    assert json.loads(ran.outputs["findings_json"])[0]["id"] == "F2"
    jobs.say(untidy, "ann", "/debate undo")
    assert "was changed since in all files." in untidy.comments[-1].body
    assert reactions(untidy, "/debate undo") == {"eyes", "confused"}
    assert untidy.head_sha == other


def test_autofix_ends_after_an_undo(jobs: Jobs, untidy: Pull) -> None:
    broken = untidy.repository.text(untidy.head_sha, "b.py")
    untidy.push({"c.py": broken}, "Add c")
    jobs.push(untidy, "opened", autofix="commit")
    untidy.repository.dispatches.clear()
    jobs.push(untidy, autofix="commit")
    untidy.push({"c.py": "x = []\n"}, "Mend c")
    jobs.say(untidy, "ann", "/debate undo")
    assert untidy.comments[-1].body.endswith(" Changed since, and left: `c.py`.")
    texts = [untidy.repository.text(untidy.head_sha, path) for path in ("b.py", "c.py")]
    assert texts == [broken, "x = []\n"]
    jobs.say(untidy, "ann", "/debate undo")
    assert "There is no fix here to take back." in untidy.comments[-1].body
    untidy.push(OTHER, "Fix b, add c")
    head = untidy.head_sha

    ran = jobs.push(untidy, autofix="commit")

    assert "Nothing is fixed: the fix of F2 was taken back." in ran.log
    assert untidy.head_sha == head


@pytest.mark.parametrize("what", ["closed", "moved"])
def test_autofix_writes_nothing_once_its_pull_request_goes_on_without_it(
    jobs: Jobs, untidy: Pull, what: str
) -> None:
    def happens() -> None:
        if what == "closed":
            untidy.close(merged=True)
        else:
            untidy.push({"c.txt": "hello\n"}, "More")

    jobs.github.faults.append(faults.meanwhile("pulls/create-review", happens, after=True))
    ran = jobs.push(untidy, "opened", autofix="commit")

    assert "createCommitOnBranch" not in " ".join(ran.writes)
    assert untidy.repository.dispatches == []


def test_what_was_committed_stays_known_if_it_cannot_be_looked_at(
    jobs: Jobs, cart: Pull, tmp_path: Path
) -> None:
    temp = str(tmp_path / "temp")
    with model(fixer).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(cart, "opened", temp=temp)
        no_git = faults.Fault("git", status=503)
        then = partial(jobs.github.faults.append, no_git)
        jobs.github.faults.append(faults.meanwhile("graphql:createCommitOnBranch", then))
        jobs.say(cart, "ann", "/debate fix F1", temp=temp)
        answer = next(c.body for c in cart.comments if "committed as" in c.body)
        fixed = cart.head_sha
        jobs.say(cart, "ann", "/debate undo", temp=temp)

    assert "the commits cannot be fetched" in answer
    assert cart.head_sha != fixed


def test_autofix_suggests_lines_that_a_click_commits(jobs: Jobs, untidy: Pull) -> None:
    head = untidy.head_sha

    jobs.push(untidy, "opened", autofix="suggest")

    (thread,) = untidy.threads
    suggestion = "```suggestion\nif not 1 in x or x == 'a':\n```"
    assert suggestion in thread.comments[0].body
    assert untidy.head_sha == head


def test_each_finding_that_a_linter_fixes_has_its_suggestion(jobs: Jobs, untidy: Pull) -> None:
    untidy.push(
        {"c.py": "y = 1\nif y is 'a':\n    print(y)\nif y is 'b':\n    print(y)\n"}, "Add c"
    )

    jobs.push(untidy, "opened", autofix="suggest")

    offers = [re.findall(r"```suggestion\n(.*?)\n```", t.comments[0].body) for t in untidy.threads]
    assert sorted(offers) == [["if not 1 in x or x == 'a':"], ["if y == 'a':"]]


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_fix_that_changes_other_lines_too_is_no_suggestion(
    jobs: Jobs, cart: Pull, is_alone: bool
) -> None:
    def fix(role: str, prompt: str) -> Any:
        answer = fixer(role, prompt)
        if answer.get("edits") and not is_alone:
            typed = {
                "path": "cart.py",
                "find": "total(prices):",
                "replace": "total(prices: list[int]):",
            }
            answer["edits"].append(typed)
        return answer

    with model(fix).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.push(cart, "opened", autofix="suggest")

    (thread,) = cart.threads
    assert ("```suggestion\n    return sum(prices)\n" in thread.comments[0].body) == is_alone
    assert ("```suggestion" in thread.comments[0].body) == is_alone


def test_what_python_takes_for_an_end_of_line_moves_no_suggestion(
    jobs: Jobs, app: Repository
) -> None:
    text = "x = []\n\f# a\x85b\u2028c\nif 1 in x or x is 'a':\n    print(x)\n"
    app.commit("topic", {"b.py": text}, "Add b")
    pull = app.pull("Add b", "topic", author="ann")

    jobs.push(pull, "opened", autofix="suggest")

    (thread,) = pull.threads
    assert thread.line == 3
    assert "```suggestion\nif 1 in x or x == 'a':\n```" in thread.comments[0].body


def test_autofix_opens_a_pull_request_of_its_own(jobs: Jobs, untidy: Pull) -> None:
    untidy.repository.actions_may_approve = True
    untidy.repository.protect("topic")

    jobs.push(untidy, "opened", autofix="pull_request")

    (made,) = [pull for pull in untidy.repository.pulls if pull is not untidy]
    assert (made.base_ref, made.title) == ("topic", "Fixes for pull request 1")
    assert made.head_ref == f"reviewbot/fix-1-{untidy.head_sha[:8]}"
    assert "x == 'a'" in untidy.repository.text(made.head_sha, "b.py")


def test_a_push_brings_the_pull_request_with_fixes_up_to_date(jobs: Jobs, untidy: Pull) -> None:
    home = untidy.repository
    home.actions_may_approve = True
    jobs.push(untidy, "opened", autofix="pull_request")
    (made,) = [pull for pull in home.pulls if pull is not untidy]
    untidy.push({"c.py": "y = 1\nif y is 'a':\n    print(y)\n"}, "Add c")

    ran = jobs.push(untidy, autofix="pull_request")

    assert (home.pulls, made.state) == ([untidy, made], "open")
    assert f"The fixes are in {made.url}" in ran.log
    assert [file.path for file in made.files] == ["b.py", "c.py"]
    assert len(made.commits) == 1, "it begins at the newest commit"
    branches = home.bare.git("for-each-ref", "--format=%(refname:short)", "refs/heads/reviewbot")
    assert branches == made.head_ref


@pytest.mark.parametrize(
    ("how", "said", "count"),
    [("closed", "somebody closed", 2), ("pushed", "somebody pushed to", 2), ("merged", "", 3)],
)
def test_what_a_person_did_with_a_pull_request_of_fixes_counts(
    jobs: Jobs, untidy: Pull, how: str, said: str, count: int
) -> None:
    home = untidy.repository
    home.actions_may_approve = True
    jobs.push(untidy, "opened", autofix="pull_request")
    made = home.pulls[-1]
    if how == "pushed":
        made.push({"b.py": "x = []\n"}, "Mend it in another way")
    else:
        made.close(merged=how == "merged")
    head = made.head_sha
    untidy.push({"c.py": "y = 1\nif y is 'a':\n    print(y)\n"}, "Add c")

    ran = jobs.push(untidy, autofix="pull_request")

    assert said in ran.log
    assert ran.exit_code == 0
    assert (len(home.pulls), made.head_sha) == (count, head)


def test_what_does_not_prove_itself_is_not_committed(jobs: Jobs, untidy: Pull) -> None:
    untidy.push({"test_b.py": "import nowhere_at_all\n"}, "Add a test")
    head = untidy.head_sha

    jobs.say(untidy, "ann", "/debate fix")

    assert "pytest did not run to its end" in untidy.comments[-1].body
    assert reactions(untidy, "/debate fix") == {"eyes", "confused"}
    assert untidy.head_sha == head


def test_a_dry_run_posts_no_review_and_commits_no_fix(jobs: Jobs, untidy: Pull) -> None:
    ran = jobs.push(untidy, "opened", autofix="commit", dry_run="true")

    assert (ran.exit_code, ran.writes) == (0, [])
    assert ran.outputs["verdict"] == "comment"
    assert "F1" in ran.summary


@pytest.mark.parametrize("mode", ["suggest", "commit", "pull_request"])
def test_autofix_writes_nothing_of_a_fork(jobs: Jobs, app: Repository, mode: str) -> None:
    jobs.permissions |= {"contents": "write"}
    app.actions_may_approve = True
    fork = app.fork("mallory/app")
    fork.commit("topic", {"b.py": "x = []\nif x is 'a':\n    print(x)\n"}, "Add b")
    pull = app.pull("Add b", "topic", author="mallory", head_repository=fork)

    ran = jobs.push(pull, "opened", autofix=mode)

    assert ran.exit_code == 0
    assert app.pulls == [pull]
    assert "createCommitOnBranch" not in " ".join(ran.writes)
    if mode != "suggest":
        assert "Nothing can be committed here: the branch is in a fork." in ran.log


@pytest.mark.parametrize(
    ("mode", "obstacle", "said"),
    [
        ("commit", "contents", "GitHub was asked to commit a fix and answered"),
        ("commit", "protected", "Nothing can be committed here: the branch is protected."),
        ("pull_request", "setting", "is not permitted to create or approve pull requests"),
        ("pull_request", "branch", "there is a branch reviewbot/fix-1-"),
        ("sometimes", "", "choose one of off, suggest, commit, pull_request"),
    ],
)
def test_autofix_says_why_nothing_is_written(
    jobs: Jobs, untidy: Pull, mode: str, obstacle: str, said: str
) -> None:
    home, head = untidy.repository, untidy.head_sha
    if obstacle == "contents":
        jobs.permissions["contents"] = "read"
    if obstacle == "protected":
        home.protect("topic")
    if obstacle == "branch":
        home.bare.git("update-ref", f"refs/heads/reviewbot/fix-1-{head[:8]}", head)

    ran = jobs.push(untidy, "opened", autofix=mode)

    assert said in ran.log
    assert ran.exit_code == (2 if mode == "sometimes" else 0)
    assert untidy.head_sha == head
    assert home.pulls == [untidy]
    branches = home.bare.git("for-each-ref", "refs/heads/reviewbot").splitlines()
    assert len(branches) == (obstacle == "branch")


LARGEST = {
    "lists.py": "def largest(items):\n    return max(items)\n",
    "test_lists.py": "from lists import largest\n\n\ndef test_1():\n    assert largest([1]) == 1\n",
}


def mender(_: str, prompt: str) -> Any:
    if "# Task: reproduce" in prompt:
        test = "from lists import largest\n\n\ndef test_none():\n    assert largest([]) is None\n"
        return {"cause": "max() of nothing raises.", "test": test}
    if "# Task: fix what was reported" in prompt:
        edit = {"path": "lists.py", "find": "max(items)", "replace": "max(items, default=None)"}
        return {"edits": [edit], "explanation": "Nothing has no largest."}
    return {"objections": []} if "# Task: judge" in prompt else {"edits": [], "explanation": ""}


@pytest.fixture
def reported(jobs: Jobs, app: Repository) -> Issue:
    jobs.permissions |= {"contents": "write", "issues": "write"}
    jobs.variables["VIRTUAL_ENV"] = lean_environment()
    app.actions_may_approve = True
    app.commit("main", LARGEST, "Add lists")
    body = "`largest([])` raises `ValueError: max() arg is an empty sequence` in lists.py."
    return app.issue("An empty list crashes @ann, see #7 [skip ci]", body, author="mallory")


def test_an_issue_becomes_a_pull_request_with_its_test_once_actions_may_open_one(
    jobs: Jobs, app: Repository, reported: Issue
) -> None:
    app.actions_may_approve = False
    asked: list[str] = []
    with model(lambda name, prompt: asked.append(name) or mender(name, prompt)).running() as server:
        jobs.config = panel_of(server, "critic", "reviewer")
        jobs.say(reported, "ann", "/debate fix")
        count, refused = len(asked), reported.comments[-1].body
        assert app.bare.sha(f"refs/heads/reviewbot/issue-{reported.number}") is None
        app.actions_may_approve = True
        jobs.say(reported, "ann", "/debate fix")
        opened = reported.comments[-1].body
        jobs.say(reported, "ann", "/debate fix")

    assert "is not permitted to create or approve pull requests" in refused
    assert "Cost: " in refused
    (made,) = app.pulls
    assert f"It is reproduced and fixed in {made.url}" in opened
    assert made.head_ref == f"reviewbot/issue-{reported.number}"
    assert made.title == "Fix: An empty list crashes @ ann, see # 7 (skip ci)"
    message = app.bare.git("log", "-1", "--format=%s", made.head_sha).strip()
    assert message == made.title, "it mentions nobody, and the workflows run"
    assert made.body.startswith(f"Closes #{reported.number}.")
    assert "default=None" in app.text(made.head_sha, "lists.py")
    names = app.bare.git("ls-tree", "--name-only", made.head_sha).split()
    assert any(name.startswith("test_regression_") for name in names)
    assert "max(items)\n" in app.text("refs/heads/main", "lists.py")
    assert len(asked) <= 2 * count, "nothing is paid twice"
    assert "there is a branch reviewbot/issue-1 already" in reported.comments[-1].body


def test_more_commands_than_allowed_in_an_hour_are_not_obeyed_on_an_issue(
    jobs: Jobs, app: Repository, reported: Issue
) -> None:
    jobs.config = "github: {commands_per_hour: 2}\n"
    jobs.say(reported, "mallory", "/debate fix")
    for _ in range(3):
        jobs.say(reported, "ann", "/debate fix")

    asked = [comment for comment in reported.comments if comment.login == "ann"]
    assert [len(comment.reactions) for comment in asked] == [2, 2, 1]
    assert len(reported.comments) == 1 + 3 + 2
    assert app.pulls == []


@pytest.mark.parametrize(
    ("login", "words", "count"),
    [("mallory", "/debate fix", 0), ("ann", "/debate status", 0), ("ann", "/debate fix", 1)],
)
def test_only_writers_and_only_fix_on_an_issue(
    jobs: Jobs, app: Repository, reported: Issue, login: str, words: str, count: int
) -> None:
    jobs.say(reported, login, words)

    answers = [comment for comment in reported.comments if comment.login != login]
    assert len(answers) == count
    assert app.pulls == []
    if count:
        assert "no language model is configured" in answers[0].body
