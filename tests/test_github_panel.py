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

from reviewbot.github import steps
from tests.fake_github import GitHub, Pull, Repository, faults
from tests.fake_github import rules as fake_rules
from tests.fake_github.records import Issue, WorkflowRun
from tests.github_job import BASE, FAULTY, REVIEWER, Jobs, Ran, summary_of

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


def opened(app: Repository, files: dict[str, str], **about: Any) -> Pull:
    """A pull request of ann, or of who has a fork."""
    home = about.get("head_repository") or app
    home.commit("topic", files, "Change")
    return app.pull("Change", "topic", **{"author": "ann"} | about)


def forked(app: Repository, files: dict[str, str]) -> Pull:
    return opened(app, files, author="mallory", head_repository=app.fork("mallory/app"))


def claim(path: str, line: int, quote: str, title: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(("trigger", "consequence", "refuted_if"), "-"),
        **{"path": path, "line": line, "quote": quote, "title": title},
        **{"category": "correctness", "severity": "high"},
    }


def findings(ran: Ran) -> dict[str, str]:
    """The path of each, by its id."""
    return {each["id"]: each["path"] for each in json.loads(ran.outputs["findings_json"])}


def reactions(pull: Pull, body: str) -> set[str]:
    """To the comments with a command."""
    asked = [comment for comment in pull.comments if comment.body == body]
    return {reaction.content for comment in asked for reaction in comment.reactions}


def test_a_push_is_read_where_it_differs_and_numbers_stay(jobs: Jobs, app: Repository) -> None:
    pull = opened(app, {"a.lua": "x = 2\n"}, body="x was wrong.")
    prompts: list[str] = []

    def reply(_: str, prompt: str) -> Any:
        if "# Task: find defects in this change" not in prompt:
            return {"judgements": [], "tests": []}
        prompts.append(prompt)
        found = [("a.lua", "x = 2", "x is off"), ("b.lua", "y = 2\nz = y", "y is off")]
        return {"claims": [claim(p, 1, q, t) for p, q, t in found if p in PATHS.findall(prompt)]}

    counts = []
    with jobs.panel(reply):
        first = jobs.push(pull, "opened")
        pull.push({"b.lua": "y = 2\nz = y\n"})
        second = jobs.push(pull)
        pull.push({"README.md": "Hello.\n"})
        third = jobs.push(pull)
        for words in ("", " full", " the order of the locks"):
            jobs.say(pull, "ann", f"/debate{words}")
            counts.append(len(prompts))

    assert counts == [6, 8, 10]
    read = [PATHS.findall(prompt) for prompt in prompts]
    assert read[:4] == [["a.lua"], ["a.lua"], ["b.lua"], ["b.lua"]]
    assert all("README.md" in paths and "a.lua" not in paths for paths in read[4:6])
    # What was read before is read again for words that say what to look at.
    assert all({"a.lua", "b.lua", "README.md"} <= set(paths) for paths in read[6:])
    assert ["the order of the locks" in prompt for prompt in prompts] == [False] * 8 + [True] * 2
    assert [[*findings(ran)] for ran in (first, third)] == [["F1"], ["F1", "F2"]]
    assert all(id in summary_of(pull) for id in ("F1", "F2"))
    lines = [(each.anchor.start_line, each.anchor.line) for each in pull.threads]
    assert lines == [(None, 1), (1, 2)]  # GitHub refuses a first line that is the last
    assert second.outputs["verdict"] == "comment"
    assert float(second.outputs["cost_usd"]) > 0


def test_comments_stand_at_lines_that_github_shows(jobs: Jobs, app: Repository) -> None:
    """What is elsewhere stands in the summary alone, and no request is refused."""
    body = (
        "".join(f"    v{number} = n\n" for number in range(9)) + "    return v0\n\n\nprint(half(2))"
    )
    app.commit("main", {"c.py": f"def half(n):\n{body}\n"}, "Count")
    pull = opened(app, {"c.py": f"def halve(n):\n{body}\n"})
    quote = "\n".join(["def halve(n):", *body.split("\n")[:6]])

    def reply(_: str, prompt: str) -> Any:
        found = [claim("c.py", 1, quote, "Many lines")] if "# Task: find defects" in prompt else []
        return {"claims": found, "judgements": [], "tests": []}

    with jobs.panel(reply):
        ran = jobs.push(pull, "opened")
    lines = [(each.anchor.start_line, each.anchor.line) for each in pull.threads]
    assert (lines, len(findings(ran))) == ([(1, 4)], 2)
    assert ran.writes.count("pulls/create-review") == 1
    assert "Undefined name `half`\n\n`c.py:14`" in summary_of(pull)


def test_the_log_says_what_took_long(
    jobs: Jobs, app: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LONG", 0)
    with jobs.panel(lambda *_: {"claims": []}):
        log = jobs.push(opened(app, {"a.lua": "x = 2\n"}), "opened").log
    assert re.search(r"(?m)^critic: first_pass \(\d+\.\d s\)$", log)


def test_a_summary_says_why_the_last_review_is_not_complete(jobs: Jobs, app: Repository) -> None:
    pull, cap = opened(app, {"a.lua": "x = 2\n"}), "limits.cost_usd"
    with jobs.panel(lambda *_: "I cannot help with that."):
        jobs.push(pull, "opened", max_cost_usd="0.000001")
        assert cap in summary_of(pull)
        answer = jobs.ask(pull, "/debate")
    assert "The summary comment has the details." in answer
    assert cap not in summary_of(pull)
    assert "did not answer" in summary_of(pull)


def test_a_command_in_a_thread_is_answered_and_marked_there(jobs: Jobs, app: Repository) -> None:
    pull = opened(app, FAULTY)
    (id,) = findings(jobs.push(pull, "opened"))
    words = f"/debate dismiss {id} it is a global"
    comment = fake_rules.create_reply(pull.threads[0], jobs.github.user("ann"), words)
    event = jobs.github.event("pull_request_review_comment", comment=comment)
    assert jobs.run("pull_request_review_comment", event).exit_code == 0
    assert {reaction.content for reaction in comment.reactions} == {"eyes", "rocket"}
    assert f"{id} is dismissed" in pull.comments[-1].body
    assert pull.threads[0].is_resolved
    again = jobs.run("pull_request_review_comment", event)
    assert (again.writes, again.outputs) == ([], {"skip_reason": "answered"})


def test_people_ask_and_dispute_what_was_not_executed(jobs: Jobs, app: Repository) -> None:
    pull = opened(app, FAULTY | {"a.lua": "x = 2\n"})
    prompts: list[str] = []

    def reply(role: str, prompt: str) -> Any:
        prompts.append(prompt)
        judged = {"case": "F1", "reason": f"{role} says no.", "citations": ["a.lua:1"]}
        if "# Task: answer a question" in prompt:
            return {"judgements": [judged | {"case": "question", "stance": "unsure"}]}
        if "# Task: judge a claim again" in prompt:
            return {"judgements": [judged | {"case": id, "stance": "not_real"} for id in ids]}
        return {"claims": [claim("a.lua", 1, "x = 2", "x is off")], "judgements": []}

    with jobs.panel(reply):
        ids = findings(jobs.push(pull, "opened"))
        claimed, proven = sorted(ids, key=lambda id: ids[id] == "a.py")
        answer = jobs.ask(pull, "/debate ask Why is `x` 2 in a.lua?\nAnd not 3?")
        assert "And not 3?" in prompts[-1]
        count = len(prompts)
        disputed = jobs.ask(pull, f"/debate dispute {claimed} The old value was wrong.")
        assert len(prompts) >= count + 2
        stands = jobs.ask(pull, f"/debate dispute {proven} It is a global.")
        pull.push({"README.md": "Hello.\n"})
        assert [*findings(jobs.push(pull))] == [proven]

    assert "\n> Why is `x` 2 in a.lua? And not 3?\n\n**critic:** critic says" in answer
    assert "**critic:** critic says no. (`a.lua:1`)" in answer
    assert "**reviewer:** reviewer says no." in answer
    assert f"{claimed} is taken back." in disputed
    assert f"{proven} stands: ruff reports it, and words do not change that." in stands
    assert {thread.path: thread.is_resolved for thread in pull.threads} == {
        "a.lua": True,
        "a.py": False,
    }


def keep(app: Repository, run: WorkflowRun, temp: Path, damage: bytes = b"") -> None:
    """As the last step of the Action does."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(temp / "reviewbot/review.json", "review.json")
    zipped = content.getvalue()
    app.artifact(run, "reviewbot-review", zipped[:99] + damage + zipped[99 + len(damage) :])


def test_a_finding_is_explained_from_the_document_of_the_review(
    jobs: Jobs, app: Repository, tmp_path: Path
) -> None:
    pull = opened(app, FAULTY)
    run = app.run("reviewbot-review", pull=pull)
    jobs.variables["GITHUB_RUN_ID"] = str(run.id)
    jobs.push(pull, "opened", temp=str(tmp_path / "temp"))
    jobs.permissions["actions"] = "read"
    assert "is not kept any more" in jobs.ask(pull, "/debate explain F1")
    keep(app, run, tmp_path / "temp", damage=b"\xff" * 40)
    assert "is not kept any more" in jobs.ask(pull, "/debate explain F1")
    keep(app, run, tmp_path / "temp")
    explained = jobs.ask(pull, "/debate explain F1")
    assert "is not kept any more" not in explained
    assert "**Proven:** a check reports this for the first time (ruff F821)." in explained


def test_what_was_said_is_known_after_later_reviews(
    jobs: Jobs, app: Repository, tmp_path: Path
) -> None:
    pull = opened(app, FAULTY | {"a.lua": "x = 2\n"})
    prompts: list[str] = []

    def reply(role: str, prompt: str) -> Any:
        prompts.append(prompt)
        if "# Task: judge a claim again" in prompt:
            stance = "real" if role == "critic" else "not_real"
            reason = {"reason": "-", "citations": ["a.lua:1"], "stance": stance}
            return {"judgements": [{"case": id, **reason} for id in ids]}
        found = claim("a.lua", 1, "x = 2", "x is off") | {"trigger": "Whoever reads x."}
        return {"claims": [found] * ("# Task: find defects" in prompt), "judgements": []}

    with jobs.panel(reply, "critic", "reviewer", "optimizer"):  # one is enough for it to stand
        for number, action in enumerate(("opened", "synchronize")):
            run, temp = app.run("reviewbot-review", pull=pull), tmp_path / str(number)
            jobs.variables["GITHUB_RUN_ID"] = str(run.id)
            ids = findings(jobs.push(pull, action, temp=str(temp)))
            keep(app, run, temp)
            pull.push({"README.md": "Hello.\n"})
        (claimed,) = [id for id, path in ids.items() if path == "a.lua"]
        assert "- When: Whoever reads x." in jobs.ask(pull, f"/debate explain {claimed}")
        jobs.ask(pull, f"/debate ask Is {claimed} worth it?")
        asked = prompts[-1]
        costs = [jobs.ask(pull, "/debate cost")]
        disputed = jobs.ask(pull, f"/debate dispute {claimed} It is right.")
        costs.append(jobs.ask(pull, "/debate cost"))
    paid = [float(words.rpartition("$")[2].rstrip(".")) for words in costs]
    assert paid[0] < paid[1]
    for question in (asked, prompts[-1]):
        assert 'Claim: "x is off"\nTrigger: "Whoever reads x."' in question
    assert "most panelists would have to find it not real, citing a line, and none real" in disputed


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
    return opened(app, {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1") + MORE})


def test_a_fix_is_committed_and_taken_back(jobs: Jobs, cart: Pull, temp: str) -> None:
    broken, asked = cart.repository.text(cart.head_sha, "cart.py"), list[str]()
    with jobs.panel(lambda name, prompt: asked.append(name) or fixer(name, prompt)):
        jobs.push(cart, "opened", temp=temp)
        count = len(asked)
        assert "There is no finding F77 here." in jobs.ask(cart, "/debate fix F77", temp=temp)
        assert len(asked) == count, "it costs nothing"
        jobs.say(cart, "ann", "/debate fix F1", temp=temp)
        answer = next(c.body for c in cart.comments if "committed as" in c.body)
        fixed = cart.head_sha
        assert cart.repository.text(fixed, "cart.py") == CART + MORE
        message = cart.repository.bare.git("log", "-1", "--format=%B", fixed)
        assert cart.threads[0].is_resolved, "what was committed is reviewed"
        reviewed = summary_of(cart)
        assert "is taken back by" in jobs.ask(cart, "/debate undo", temp=temp)
    assert reactions(cart, "/debate fix F77") == {"eyes", "confused"}
    for command in ("/debate fix F1", "/debate undo"):
        assert reactions(cart, command) == {"eyes", "rocket"}
    assert f"F1 (by critic): committed as `{fixed[:10]}`" in answer
    assert "Reviewbot-Finding: " in message
    assert fixed[:10] in reviewed
    assert cart.head_sha != fixed
    assert cart.repository.text(cart.head_sha, "cart.py") == broken


def test_who_fixes_is_told_what_was_said_and_nobody_is_asked_again(
    jobs: Jobs, cart: Pull, tmp_path: Path
) -> None:
    run, asked = cart.repository.run("reviewbot-review", pull=cart), list[str]()
    jobs.variables["GITHUB_RUN_ID"] = str(run.id)

    def reply(role: str, prompt: str) -> Any:
        asked.append(prompt)
        found = claim("cart.py", 2, "return sum(prices) + 1", "One too much")
        if "# Task: find defects" in prompt:
            return {"claims": [found | {"trigger": "total([1])"}]}
        return fixer(role, prompt)

    with jobs.panel(reply):
        jobs.push(cart, "opened", temp=str(tmp_path / "1"))
        keep(cart.repository, run, tmp_path / "1")
        asked.clear()
        jobs.say(cart, "ann", "/debate fix F1", temp=str(tmp_path / "2"))
    assert "# Task: fix a defect" in asked[0]
    assert 'Trigger: "total([1])"' in asked[0]
    assert cart.threads[0].is_resolved


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
        command = [sys.executable, "-m", "reviewbot", "github"]
        started.append(subprocess.Popen(command, env=variables))
        assert started[-1].wait(timeout=60) == -9
        assert jobs.run("workflow_dispatch", event, temp=temp).exit_code == 0
        cart.repository.dispatches.clear()

    with jobs.panel(fixer):
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


def test_a_fix_is_not_forced_upon_a_branch(jobs: Jobs, cart: Pull, temp: str) -> None:
    home, count = cart.repository, iter(range(9))

    def moves() -> None:
        cart.push({f"z{next(count)}.py": "z = 1\n"})

    with jobs.panel(fixer):
        assert "this is a dry run" in jobs.ask(cart, "/debate fix", temp=temp, dry_run="true")
        home.default_branch = "topic"
        assert "it is the default branch" in jobs.ask(cart, "/debate fix", temp=temp)
        home.default_branch = "main"
        home.protect("topic")
        assert "the branch is protected" in jobs.ask(cart, "/debate fix", temp=temp)
        home.protected.clear()
        home.add_rule("update", "topic")
        assert "has the rule" in jobs.ask(cart, "/debate fix", temp=temp)
        home.branch_rules.clear()
        jobs.github.faults.append(faults.error("repos/get-branch", 404, "Branch not found"))
        assert "answered 404 Branch not found" in jobs.ask(cart, "/debate fix", temp=temp)
        jobs.github.faults.append(faults.Fault("repos/get-branch-rules", 200, "[5]"))
        assert "answer has another shape" in jobs.ask(cart, "/debate fix", temp=temp)
        for moment in ("graphql:createCommitOnBranch", "repos/get-branch-rules"):
            jobs.github.faults.append(faults.meanwhile(moment, moves))
            assert "to point to" in jobs.ask(cart, "/debate fix", temp=temp), moment
    assert reactions(cart, "/debate fix") == {"eyes", "confused"}
    assert home.text(cart.head_sha, "cart.py") != CART + MORE


def test_nothing_is_fixed_on_the_default_branch_of_forks_and_of_dependabot(
    jobs: Jobs, app: Repository
) -> None:
    jobs.permissions |= {"contents": "write"}
    for branch in ("release", "main", "dependabot/pip/x"):
        app.commit(branch, {f"{branch[:4]}.py": UNTIDY}, "Add")
    back = app.pull("Back", "main", base="release", author="ann")
    assert "it is the default branch" in jobs.ask(back, "/debate fix")
    bump = app.pull("Bump", "dependabot/pip/x", author="dependabot[bot]")
    for pull in (bump, forked(app, {"b.py": UNTIDY})):
        assert "can be executed: not for forks or Dependabot." in jobs.ask(pull, "/debate fix")


def test_what_was_committed_stays_known_if_it_cannot_be_looked_at(
    jobs: Jobs, cart: Pull, tmp_path: Path
) -> None:
    temp = str(tmp_path / "temp")
    then = partial(jobs.github.faults.append, faults.Fault("git", status=503))
    jobs.github.faults.append(faults.meanwhile("graphql:createCommitOnBranch", then))
    with jobs.panel(fixer):
        jobs.say(cart, "ann", "/debate fix", temp=temp)
        answer = next(c.body for c in cart.comments if "committed as" in c.body)
        fixed = cart.head_sha
        jobs.say(cart, "ann", "/debate undo", temp=temp)
    assert "the commits cannot be fetched" in answer
    assert cart.head_sha != fixed


def test_a_command_whose_run_cannot_begin_is_answered(jobs: Jobs, app: Repository) -> None:
    pull = opened(app, FAULTY)
    assert "No language model is configured" in jobs.ask(pull, "/debate ask Why?")
    apart = "No common ancestor between main and topic."
    compare = faults.error("repos/compare-commits-with-basehead", 404, apart)
    jobs.github.faults.append(compare)
    assert f"{apart} (rebase the branch onto its base)" in jobs.ask(pull, "/debate full")
    app.commit("main", {".reviewbot.yml": "review: {effort: no}\n"}, "Configure")
    assert jobs.say(pull, "ann", "/debate").exit_code == 2
    assert "review.effort" in pull.comments[-1].body
    assert reactions(pull, "/debate") == {"eyes", "confused"}


def test_a_panel_that_does_not_answer_finds_nothing_to_fix(jobs: Jobs, app: Repository) -> None:
    jobs.permissions |= {"contents": "write"}
    pull = opened(app, {"a.py": "def half(n):\n    return n / 3\n"})
    with jobs.panel(lambda *_: "no object", "critic"):
        said = jobs.ask(pull, "/debate fix")
    assert "There is nothing to fix. Not complete: " in said
    assert "critic did not answer" in said


def test_an_order_executes_nothing_of_a_fork(jobs: Jobs, app: Repository) -> None:
    """Nor is a test written for what panelists claim, so that this requests no change."""
    test = "from a import half\n\n\ndef test_half():\n    assert half(4) == 2\n"
    app.commit("main", {"test_a.py": test}, "Test")
    pull = forked(app, {"a.py": "def half(n):\n    return n * 2\n"})
    wrong, prompts = claim("a.py", 2, "return n * 2", "It doubles"), list[str]()

    def reply(_: str, prompt: str) -> Any:
        prompts.append(prompt)
        found = [wrong] if "# Task: find defects" in prompt else []
        return {"claims": found, "judgements": [], "tests": [{"case": "1", "test": test}]}

    with jobs.panel(reply):
        jobs.config = jobs.config.replace('"medium"', '"high"')
        ran = jobs.say(pull, "ann", "/debate full")
    assert "pytest was not run: this job executes nothing of forks" in summary_of(pull)
    (found,) = json.loads(ran.outputs["findings_json"])
    assert (found["title"], found["status"], found["blocks"]) == ("It doubles", "agreed", False)
    assert ran.outputs["verdict"] == "comment"
    assert not [prompt for prompt in prompts if "# Task: write a test" in prompt]


def test_beside_keys_a_fork_is_not_reviewed(jobs: Jobs, app: Repository) -> None:
    pull = forked(app, FAULTY)
    settings = {"base_url": "https://example.org", "key_variable": "NAMED_BY_SETTINGS"}
    jobs.config = json.dumps({"providers": {"gpu": settings}})
    for name in ("OPENAI_API_KEY", "AWS_ACCESS_KEY_ID", "MY_SERVER_API_KEY", "NAMED_BY_SETTINGS"):
        jobs.variables = {name: "sk-nothing"}
        ran = jobs.push(pull, "opened")
        assert (ran.calls, ran.outputs) == (0, {"skip_reason": "fork_needs_two_jobs"}), name


def test_whose_evidence_it_is_is_found_or_nothing_is_done(jobs: Jobs, app: Repository) -> None:
    """Pull requests of forks often have branches of one name."""
    for number in range(3):
        fork = app.fork(f"user{number}/app")
        fork.commit("patch-1", {"a.py": f"def half(n):\n    return n * {number}\n"}, "Change")
        pull = app.pull("Change", "patch-1", author=f"user{number}", head_repository=fork)
    finished = jobs.github.event("workflow_run", run=app.run("reviewbot-collect", pull=pull))
    reasons = []
    for happens in (lambda: None, lambda: pull.push({"z.py": "z = 1\n"}, "Again"), pull.close):
        happens()
        ran = jobs.run("workflow_run", finished, mode="debate")
        reasons.append((ran.exit_code, ran.outputs.get("skip_reason")))
    assert reasons == [(0, None), (0, "head_moved"), (0, "head_moved")]


def test_a_review_of_another_base_is_not_published(
    jobs: Jobs, app: Repository, tmp_path: Path
) -> None:
    app.commit("release", {"b.py": "b = 1\n"}, "Release")
    fork = app.fork("eve/app")
    fork.commit("topic", {"c.py": "c = m\n"}, "Use it", parent="release")
    pull = app.pull("Use it", "topic", author="eve", head_repository=fork)
    finished = jobs.github.event("workflow_run", run=app.run("reviewbot-collect", pull=pull))
    jobs.run("workflow_run", finished, mode="debate", temp=str(tmp_path))
    pull.base_ref = "release"
    ran = jobs.run("workflow_run", finished, mode="publish", temp=str(tmp_path))
    assert (ran.exit_code, ran.outputs, ran.writes) == (0, {"skip_reason": "base_moved"}, [])


def test_an_audit_keeps_one_issue(jobs: Jobs, app: Repository) -> None:
    jobs.permissions = {"contents": "read", "metadata": "read"}
    forged = app.issue("Audit by reviewbot", "<!-- reviewbot:audit -->\nnothing", author="mallory")
    jobs.variables["GITHUB_SHA"] = app.commit("main", FAULTY, "Break")
    event = jobs.github.event("schedule", repository=app)
    ran = jobs.run("schedule", event)
    assert (ran.exit_code, ran.writes) == (0, [])
    assert "give issues: write" in ran.log
    assert "Undefined name" in ran.summary
    jobs.permissions["issues"] = "write"
    assert jobs.run("schedule", event, dry_run="true").writes == []
    for name in ("issues/list-for-repo", "issues/create"):
        jobs.github.faults.append(faults.error(name, 410, "Issues are disabled"))
    ran = jobs.run("schedule", event)
    assert (ran.exit_code, "answered 410 Issues are disabled. The audit is in" in ran.log) == (
        0,
        True,
    )
    jobs.run("schedule", event)
    (issue,) = (each for each in app.issues if each is not forged)
    assert "**Incomplete**. The first audit: 1 in all." in issue.body
    assert "no findings" not in issue.body
    assert "Undefined name" in issue.body
    other = BASE | {"c.py": "def third(n):\n    return p / 3\n"}
    jobs.variables["GITHUB_SHA"] = app.commit("main", other, "Fix one, break one")
    jobs.github.faults.append(faults.error("issues/list-for-repo", 400, "Problems"))
    assert jobs.run("schedule", event).exit_code == 3
    ran = jobs.run("schedule", event)
    (issue,) = (each for each in app.issues if each is not forged)
    assert "Since the last audit: 1 new, 1 gone, 1 in all." in issue.body
    assert ran.outputs["summary_comment_url"] == issue.url
    assert forged.body.endswith("nothing")


def test_a_merge_group_gets_a_check_run(jobs: Jobs, app: Repository) -> None:
    base = app.bare.sha("refs/heads/main")
    head = app.commit("gh-readonly-queue/main/pr-1", FAULTY, "Merge")
    group = {"base_sha": base, "head_sha": head, "head_ref": "refs/heads/x", "base_ref": "main"}
    event = {"action": "checks_requested", "merge_group": group}
    assert jobs.run("merge_group", event, dry_run="true").writes == []
    jobs.variables["ANTHROPIC_API_KEY"] = "nothing"
    ran = jobs.run("merge_group", event, fail_on="high", models="critic=gpu:a")
    (check,) = app.check_runs(head)
    assert (check.name, check.conclusion, ran.exit_code) == ("reviewbot", "failure", 1)
    for page in (check.output["summary"], ran.summary):
        assert "No language model is asked in this job." in page
        assert "/debate" not in page


def test_what_dependabot_changes_is_not_approved(
    jobs: Jobs, app: Repository, tmp_path: Path
) -> None:
    app.actions_may_approve = True
    app.commit("main", {".reviewbot.yml": "github: {bots: [dependabot]}\n"}, "Set")
    app.commit("dependabot/pip/x", {"a.py": "def half(n):\n    return n / 4\n"}, "Bump")
    pull = app.pull("Bump", "dependabot/pip/x", author="dependabot[bot]")
    event = jobs.github.event("workflow_run", run=app.run("reviewbot collect", pull=pull))
    inputs = {"temp": str(tmp_path / "temp"), "allow_approve": "true"}
    for mode in ("debate", "publish"):
        ran = jobs.run("workflow_run", event, mode=mode, **inputs)
    assert (ran.outputs["verdict"], ran.outputs["complete"]) == ("comment", "true")
    assert pull.reviews == []


UNTIDY = "x = []\nif not 1 in x or x is 'a':\n    print(x)\n"
# A person mends what was taken back, and something else is found.
OTHER = {"b.py": "x = []\n", "c.py": "y = 1\nif y is 'a':\n    print(y)\n"}


@pytest.fixture
def untidy(app: Repository, jobs: Jobs) -> Pull:
    """A linter fixes what it reports, in one line."""
    jobs.permissions |= {"contents": "write"}
    jobs.variables["VIRTUAL_ENV"] = lean_environment()
    return opened(app, {"b.py": UNTIDY})


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
    assert f"**Fixes committed:** F1 as `{untidy.head_sha[:10]}`" in summary_of(untidy)
    untidy.push({"b.py": UNTIDY}, "Revert")
    reverted = untidy.head_sha
    ran = jobs.push(untidy, autofix="commit")
    assert "Nothing is fixed: the fix of F1 was taken back." in ran.log
    assert untidy.head_sha == reverted
    assert [*findings(ran)] == ["F1"]
    untidy.push(OTHER, "Fix b, add c")
    other = untidy.head_sha
    assert [*findings(jobs.push(untidy, autofix="commit"))] == ["F2"]
    assert "were changed since: they are left." in jobs.ask(untidy, "/debate undo")
    assert reactions(untidy, "/debate undo") == {"eyes", "confused"}
    assert untidy.head_sha == other


def test_autofix_ends_after_an_undo(jobs: Jobs, untidy: Pull) -> None:
    untidy.push({"c.py": UNTIDY}, "Add c")
    jobs.push(untidy, "opened", autofix="commit")
    untidy.repository.dispatches.clear()
    jobs.push(untidy, autofix="commit")
    untidy.push({"c.py": "x = []\n"}, "Mend c")
    assert jobs.ask(untidy, "/debate undo").endswith(" Changed since, and left: `c.py`.")
    texts = [untidy.repository.text(untidy.head_sha, path) for path in ("b.py", "c.py")]
    assert texts == [UNTIDY, "x = []\n"]
    assert "There is no fix here to take back." in jobs.ask(untidy, "/debate undo")
    untidy.push(OTHER, "Fix b, add c")
    head = untidy.head_sha
    assert "the fix of F2 was taken back." in jobs.push(untidy, autofix="commit").log
    assert untidy.head_sha == head


def test_a_fix_is_taken_back_from_a_branch_that_was_rewritten(jobs: Jobs, untidy: Pull) -> None:
    jobs.push(untidy, "opened", autofix="commit")
    untidy.force_push({"b.py": untidy.repository.text(untidy.head_sha, "b.py")})
    jobs.push(untidy, autofix="commit")
    assert "The fix of F1 is taken back by" in jobs.ask(untidy, "/debate undo")
    assert untidy.repository.text(untidy.head_sha, "b.py") == UNTIDY


def test_autofix_writes_nothing_once_its_pull_request_is_closed(jobs: Jobs, untidy: Pull) -> None:
    closes = partial(untidy.close, merged=True)
    jobs.github.faults.append(faults.meanwhile("pulls/create-review", closes, after=True))
    ran = jobs.push(untidy, "opened", autofix="commit")
    assert "createCommitOnBranch" not in " ".join(ran.writes)
    assert untidy.repository.dispatches == []


def test_autofix_suggests_lines_that_a_click_commits(jobs: Jobs, untidy: Pull) -> None:
    twice = "#\ny = 1\nif y is 'a':\n    print(y)\nif y is 'b':\n    print(y)\n"
    odd = UNTIDY.replace("\n", "\n\f# a\x85b\u2028c\n", 1)  # ends of lines for Python, not for git
    untidy.push({"b.py": odd, "c.py": twice}, "Add c")
    head = untidy.head_sha
    jobs.push(untidy, "opened", autofix="suggest")
    offers = {
        (thread.path, thread.line): re.findall(
            r"```suggestion\n(.*?)\n```", thread.comments[0].body
        )
        for thread in untidy.threads
    }
    assert offers == {("b.py", 3): ["if not 1 in x or x == 'a':"], ("c.py", 3): ["if y == 'a':"]}
    assert untidy.head_sha == head


def test_a_fix_that_changes_other_lines_too_is_no_suggestion(jobs: Jobs, cart: Pull) -> None:
    def fix(role: str, prompt: str) -> Any:
        answer = fixer(role, prompt)
        if answer.get("edits"):
            more = {"find": "len(prices)", "replace": "len(list(prices))"}
            answer["edits"].append({"path": "cart.py", **more})
        return answer

    with jobs.panel(fix):
        jobs.push(cart, "opened", autofix="suggest")
    (thread,) = cart.threads
    assert "```suggestion" not in thread.comments[0].body


def test_a_pull_request_with_fixes_is_opened_and_brought_up_to_date(
    jobs: Jobs, untidy: Pull
) -> None:
    home, first = untidy.repository, untidy.head_sha
    home.actions_may_approve = True
    home.protect("topic")
    jobs.push(untidy, "opened", autofix="pull_request")
    (made,) = [pull for pull in home.pulls if pull is not untidy]
    assert (made.base_ref, made.title) == ("topic", "Fixes for pull request 1")
    assert made.head_ref == f"reviewbot/fix-1-{first[:8]}"
    assert "x == 'a'" in home.text(made.head_sha, "b.py")
    untidy.push({"c.py": OTHER["c.py"]}, "Add c")
    ran = jobs.push(untidy, autofix="pull_request")
    assert (home.pulls, made.state) == ([untidy, made], "open")
    assert f"The fixes are in {made.url}" in ran.log
    assert [file.path for file in made.files] == ["b.py", "c.py"]
    assert len(made.commits) == 1, "it begins at the newest commit"
    branches = home.bare.git("for-each-ref", "--format=%(refname:short)", "refs/heads/reviewbot")
    assert branches == made.head_ref


def test_what_a_person_did_with_a_pull_request_of_fixes_counts(
    jobs: Jobs, untidy: Pull, tmp_path: Path
) -> None:
    home, temp = untidy.repository, str(tmp_path / "temp")
    home.actions_may_approve = True
    jobs.variables["GITHUB_RUN_ATTEMPT"] = "2"

    def said() -> str:
        ran = jobs.push(untidy, autofix="pull_request", temp=temp)
        assert ran.exit_code == 0
        return ran.log

    said()
    made = home.pulls[-1]
    untidy.push({"c.py": OTHER["c.py"]}, "Add c")
    made.close()
    assert "somebody closed" in said()
    made.state = "open"
    mended = made.push({"b.py": "x = []\n"}, "Mend it in another way")
    assert "somebody pushed to" in said()
    assert (home.pulls, made.head_sha) == ([untidy, made], mended)
    made.close(merged=True)
    said()
    assert (len(home.pulls), made.head_sha) == (3, mended)


def test_what_does_not_prove_itself_is_not_committed(jobs: Jobs, untidy: Pull) -> None:
    untidy.push({"test_b.py": "import nowhere_at_all\n"}, "Add a test")
    head = untidy.head_sha
    assert "pytest did not run to its end" in jobs.ask(untidy, "/debate fix")
    assert reactions(untidy, "/debate fix") == {"eyes", "confused"}
    assert untidy.head_sha == head


def test_autofix_says_why_nothing_is_written(jobs: Jobs, untidy: Pull, tmp_path: Path) -> None:
    home, head = untidy.repository, untidy.head_sha
    jobs.variables["GITHUB_RUN_ATTEMPT"] = "2"
    branch = f"refs/heads/reviewbot/fix-1-{head[:8]}"

    def said(mode: str, code: int = 0, **inputs: str) -> str:
        ran = jobs.push(untidy, "opened", autofix=mode, temp=str(tmp_path / "temp"), **inputs)
        assert ran.exit_code == code
        assert (untidy.head_sha, home.pulls) == (head, [untidy])
        return ran.log + ran.summary

    assert "F1" in said("commit", dry_run="true")
    assert untidy.reviews == untidy.comments == []
    assert "choose one of off, suggest, commit, pull_request" in said("sometimes", code=2)
    assert "is not permitted to create or approve pull requests" in said("pull_request")
    assert home.bare.git("for-each-ref", "refs/heads/reviewbot") == ""
    home.bare.git("update-ref", branch, head)
    assert "there is a branch reviewbot/fix-1-" in said("pull_request")
    assert home.bare.sha(branch) == head
    home.protect("topic")
    assert "Nothing can be committed here: the branch is protected." in said("commit")
    home.protected.clear()
    jobs.permissions["contents"] = "read"
    assert "GitHub was asked to commit a fix and answered" in said("commit")


def test_autofix_writes_nothing_of_a_fork(jobs: Jobs, app: Repository) -> None:
    jobs.permissions |= {"contents": "write"}
    jobs.variables["GITHUB_RUN_ATTEMPT"] = "2"
    app.actions_may_approve = True
    pull = forked(app, {"b.py": UNTIDY})
    for mode in ("commit", "pull_request", "suggest"):
        ran = jobs.push(pull, "opened", autofix=mode)
        assert ran.exit_code == 0
        assert app.pulls == [pull]
        assert "createCommitOnBranch" not in " ".join(ran.writes)
        said = "Nothing can be committed here: the branch is in a fork."
        assert (said in ran.log) == (mode != "suggest")


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
    with jobs.panel(lambda name, prompt: asked.append(name) or mender(name, prompt)):
        refused = jobs.ask(reported, "/debate fix")
        assert "dry run" in jobs.ask(reported, "/debate fix", dry_run="true")
        count = len(asked)
        assert app.bare.sha(f"refs/heads/reviewbot/issue-{reported.number}") is None
        app.actions_may_approve = True
        for after in (False, True):  # the answer is lost
            jobs.github.faults.append(faults.server_error("pulls/create", after=after))
            said = jobs.ask(reported, "/debate fix")
        again = jobs.ask(reported, "/debate fix")
    assert "is not permitted to create or approve pull requests" in refused
    assert "Cost: " in refused
    (made,) = app.pulls
    assert f"It is reproduced and fixed in {made.url}" in said
    assert made.head_ref == f"reviewbot/issue-{reported.number}"
    assert made.title == "Fix: An empty list crashes @ ann, see # 7 (skip ci)"
    message = app.bare.git("log", "-1", "--format=%s", made.head_sha).strip()
    assert message == made.title, "it mentions nobody, and the workflows run"
    assert made.body.startswith(f"Closes #{reported.number}.")
    assert "default=None" in app.text(made.head_sha, "lists.py")
    names = app.bare.git("ls-tree", "--name-only", made.head_sha).split()
    assert any(name.startswith("test_regression_") for name in names)
    assert "max(items)\n" in app.text("refs/heads/main", "lists.py")
    assert len(asked) <= 3 * count, "nothing is paid twice"
    assert "there is a branch reviewbot/issue-1 already" in again


def test_only_writers_and_only_fix_on_an_issue_and_not_without_end(
    jobs: Jobs, app: Repository, reported: Issue
) -> None:
    jobs.config = "github: {commands_per_hour: 3}\n"
    for login, words in (("mallory", "/debate fix"), ("ann", "/debate status")):
        jobs.say(reported, login, words)
        assert reported.comments[-1].login == login
    inputs = {"issue": str(reported.number), "comment": str(reported.comments[0].id)}
    order = jobs.github.event("workflow_dispatch", repository=app, inputs=inputs)
    assert jobs.run("workflow_dispatch", order).writes == []
    reported.comments[-1].created_at = "2020-01-01T00:00:00Z"  # it was not in this hour
    for _ in range(4):
        jobs.say(reported, "ann", "/debate fix")
    asked = [comment for comment in reported.comments if comment.body == "/debate fix"]
    assert [len(comment.reactions) for comment in asked] == [0, 2, 2, 2, 1]
    answers = [c.body for c in reported.comments if c.login not in ("ann", "mallory")]
    assert len(answers) == 3
    assert "no language model is configured" in answers[0]
    inputs["comment"] = str(asked[1].id)
    again = jobs.github.event("workflow_dispatch", repository=app, inputs=inputs)
    assert jobs.run("workflow_dispatch", again).outputs == {"skip_reason": "answered"}
    jobs.config, reported.state = "", "closed"
    assert "The issue is closed (reopen it" in jobs.ask(reported, "/debate fix")
    assert app.pulls == []
