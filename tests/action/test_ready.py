"""The ready workflows, run whole: their own scripts, the real Action around a played reviewbot, and the fake GitHub."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.action.runner import WORKFLOWS, Run, event_of_run, run_workflow
from tests.action.world import TOP, World
from tests.forge.hub import Fault, Hub, Pull, Repository

#: Does by mode what workflows rely on, and tells what it was given.
PLAYED = """\
#!/bin/sh
[ "$*" = "-I -m reviewbot.cli github" ] || exit 9
mkdir -p "$RUNNER_TEMP/reviewbot" "$RUNNER_TEMP/reviewbot-state"
cd "$RUNNER_TEMP/reviewbot"
echo "$INPUT_MODE has $(ls | tr '\\n' ' ')key=$OPENAI_API_KEY workspace=$(ls "$GITHUB_WORKSPACE" | tr '\\n' ' ')"
echo "$GITHUB_RUN_ID" >>"$RUNNER_TEMP/reviewbot-state/ledger"
echo "paid: $(tr '\\n' ' ' <"$RUNNER_TEMP/reviewbot-state/ledger")"
case "$INPUT_MODE" in
collect) echo {} >changeset.json; echo {} >evidence.json; echo note >notes.txt ;;
debate | all)
    [ -e skip ] || [ -n "$SKIP" ] && { echo "skip_reason=draft" >>"$GITHUB_OUTPUT"; exit 0; }
    echo '{"by": "debate"}' >review.json
    echo {} >request.json
    echo "conclusion=complete" >>"$GITHUB_OUTPUT"
    if [ -n "$INPUT_SARIF_FILE" ]; then
        echo '{"version": "2.1.0", "runs": []}' >"$INPUT_SARIF_FILE"
        echo "sarif_file=$INPUT_SARIF_FILE" >>"$GITHUB_OUTPUT"
    fi
    exit "${EXIT:-0}" ;;
publish) cat review.json ;;
esac
"""


class Shop:
    """A repository with a pull request, on machines whose reviewbot is played."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.hub = hub
        self.repository: Repository = hub.repository("octo/shop")
        self.repository.commit("main", {"a.py": "x = 1\n"})
        venv = folder / "venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").write_text(PLAYED, encoding="utf-8")
        (venv / "bin" / "python").chmod(0o755)
        self.world = World(folder / "world", forge=hub, secrets={"OPENAI_API_KEY": "sk-1"}, venv=venv)
        python = self.world.programs() / "python3"
        python.write_text("#!/bin/sh\necho 3.11\n", encoding="utf-8")
        (venv / "reviewbot-state").write_text(f"{TOP} 3.11\n", encoding="utf-8")

    def pull(self) -> Pull:
        self.repository.commit("topic", {"a.py": "x = 2\n"})
        return self.repository.pull("Change x", "topic")

    def of_a_fork(self) -> Pull:
        fork = self.repository.fork("eve/shop")
        fork.commit("topic", {"a.py": "x = 3\n"}, author="eve")
        return self.repository.pull("Change x", "topic", author="eve", head_repository=fork)

    def run(self, name: str, event_name: str, event: dict[str, Any], own: bool = False) -> Run:
        folder = TOP / ".github" / "workflows" if own else WORKFLOWS
        return run_workflow(folder / name, event_name, event, self.world)

    def opened(self, pull: Pull, action: str = "opened", **more: Any) -> dict[str, Any]:
        return {**self.hub.event("pull_request", pull=pull, action=action), **more}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with Hub() as hub:
        yield Shop(hub, tmp_path)


def test_a_pull_request_of_the_repository_is_reviewed_and_what_was_paid_for_is_kept(shop: Shop) -> None:
    event = shop.opened(shop.pull())
    first, again = shop.run("review.yml", "pull_request", event), shop.run("review.yml", "pull_request", event)
    assert "all has key=sk-1 workspace=\n" in first.log
    assert f"paid: {first.id} \n" in first.log
    assert f"paid: {first.id} {again.id} \n" in again.log
    assert list(shop.world.artifacts[first.id]) == ["reviewbot-review"]
    assert first.jobs["sarif"].result == "skipped"
    assert shop.run("review-collect.yml", "pull_request", event).conclusion == "skipped"


def test_findings_go_to_code_scanning_where_that_is_wanted_also_when_they_fail_the_job(shop: Shop) -> None:
    pull = shop.pull()
    shop.world.variables["REVIEWBOT_SARIF"] = "true"
    shop.world.environment["EXIT"] = "1"
    run = shop.run("review.yml", "pull_request", shop.opened(pull))
    assert (run.jobs["review"].result, run.jobs["review"].exit_code, run.jobs["sarif"].result) == ("failure", 1, "success")
    assert len(shop.world.caches) == 1, "what was paid for is kept when the job fails, too"
    (sarif,) = shop.world.sarifs
    assert (sarif.ref, sarif.sha, sarif.category) == (f"refs/pull/{pull.number}/head", pull.head_sha, "reviewbot")


@pytest.mark.parametrize(("label", "result"), [("bug", "skipped"), ("reviewbot:review", "success")])
def test_only_reviewbots_own_labels_start_a_review(shop: Shop, label: str, result: str) -> None:
    run = shop.run("review.yml", "pull_request", shop.opened(shop.pull(), "labeled", label={"name": label}))
    assert run.conclusion == result
    group = run.jobs["review"].concurrency
    assert group == f"reviewbot-review-{1 if result == 'success' else run.id}", "a job that is skipped ends no other"


def test_a_fork_is_reviewed_in_three_jobs_that_never_share_code_key_and_right_to_write(shop: Shop) -> None:
    event = shop.opened(shop.of_a_fork())
    assert shop.run("review.yml", "pull_request", event).conclusion == "skipped"
    first = shop.run("review-collect.yml", "pull_request", event)
    assert "collect has key= workspace=\n" in first.log
    assert "sk-1" not in first.log
    then = shop.run("review-publish.yml", "workflow_run", event_of_run(first, "pull_request", event))
    assert "debate has changeset.json evidence.json key=sk-1 workspace=\n" in then.jobs["debate"].log
    assert "publish has review.json key= workspace=\n" in then.jobs["publish"].log
    assert '{"by": "debate"}' in then.jobs["publish"].log
    assert then.jobs["publish"].concurrency == f"reviewbot-publish-{event['pull_request']['head']['repo']['id']}-topic"
    assert "write" not in then.jobs["debate"].permissions.values()
    assert shop.world.caches == []


def forged(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_documents_that_a_fork_lays_beside_its_evidence_are_not_taken_over(shop: Shop) -> None:
    event = shop.opened(shop.of_a_fork())
    first = shop.run("review-collect.yml", "pull_request", event)
    evil = {"evidence.json": "{}", "changeset.json/x": "", "review.json": '{"by": "eve"}', "request.json": "{}", "skip": ""}
    shop.world.artifacts[first.id] = {
        "reviewbot-evidence": forged(**evil),
        "reviewbot-review": forged(**{"review.json": '{"by": "eve"}'}),
    }
    shop.world.environment["SKIP"] = "yes"
    then = shop.run("review-publish.yml", "workflow_run", event_of_run(first, "pull_request", event))
    assert "debate has evidence.json key=" in then.jobs["debate"].log
    assert then.jobs["publish"].result == "skipped"
    assert "eve" not in then.log


def test_where_nothing_was_collected_nothing_is_debated(shop: Shop) -> None:
    event = shop.opened(shop.of_a_fork())
    first = shop.run("review-collect.yml", "pull_request", event)
    shop.world.artifacts.clear()
    then = shop.run("review-publish.yml", "workflow_run", event_of_run(first, "pull_request", event))
    assert (then.jobs["debate"].result, then.jobs["publish"].result) == ("success", "skipped")
    assert then.jobs["publish"].concurrency == f"reviewbot-publish-{then.id}"
    assert "debate has" not in then.log


def comment(shop: Shop, login: str, body: str) -> tuple[Any, dict[str, Any]]:
    said = (shop.repository.pulls[0] if shop.repository.pulls else shop.pull()).comment(login, body)
    return said, shop.hub.event("issue_comment", comment=said)


def test_who_may_write_commands_and_who_may_not_is_told_before_any_key_is_near(shop: Shop) -> None:
    shop.repository.allow("ada", "write")
    _, event = comment(shop, "ada", "/debate full")
    run = shop.run("commands.yml", "issue_comment", event)
    assert "all has key=sk-1" in run.jobs["command"].log
    assert run.jobs["command"].concurrency == "reviewbot-commands-1"
    said, event = comment(shop, "eve", "/debate full")
    refused = shop.run("commands.yml", "issue_comment", event)
    assert refused.jobs["command"].concurrency == f"reviewbot-commands-{refused.id}", "not in the queue of those who may"
    assert (refused.jobs["gate"].result, refused.jobs["command"].result) == ("success", "skipped")
    assert [note.level for note in refused.jobs["gate"].annotations] == ["notice"]
    assert [reaction.content for reaction in said.reactions] == ["confused"]


@pytest.mark.parametrize("body", ["please /debate", "> /debate", "hello"])
def test_other_comments_start_nothing(shop: Shop, body: str) -> None:
    shop.repository.allow("ada", "admin")
    _, event = comment(shop, "ada", body)
    assert shop.run("commands.yml", "issue_comment", event).conclusion == "skipped"


def test_a_bot_commands_nothing(shop: Shop) -> None:
    shop.repository.allow("helper[bot]", "admin")
    _, event = comment(shop, "helper[bot]", "/debate")
    assert shop.run("commands.yml", "issue_comment", event).conclusion == "skipped"


def test_an_answer_that_does_not_come_means_no(shop: Shop) -> None:
    shop.repository.allow("ada", "admin")
    _, event = comment(shop, "ada", "/debate")
    shop.hub.faults.append(Fault(on="repos/get-collaborator-permission-level", status=502))
    run = shop.run("commands.yml", "issue_comment", event)
    assert run.jobs["command"].result == "skipped"


def test_fixes_are_one_workflows_business_and_not_twos(shop: Shop) -> None:
    shop.repository.allow("ada", "write")
    _, event = comment(shop, "ada", "/debate fix F1")
    assert shop.run("commands.yml", "issue_comment", event).jobs["command"].result == "success"
    assert shop.run("autofix.yml", "issue_comment", event).conclusion == "skipped"
    shop.world.variables["REVIEWBOT_AUTOFIX"] = "true"
    assert shop.run("commands.yml", "issue_comment", event).conclusion == "skipped"
    assert shop.run("autofix.yml", "issue_comment", event).jobs["fix"].permissions["contents"] == "write"


@pytest.mark.parametrize("body", ["/debate fixtures look wrong", "/debate undocumented API", "/debate prefix fix"])
def test_a_focus_that_begins_like_a_fix_is_a_review_with_the_keys(shop: Shop, body: str) -> None:
    shop.repository.allow("ada", "write")
    shop.world.variables["REVIEWBOT_AUTOFIX"] = "true"
    _, event = comment(shop, "ada", body)
    assert shop.run("commands.yml", "issue_comment", event).jobs["command"].result == "success"
    assert shop.run("autofix.yml", "issue_comment", event).conclusion == "skipped"


@pytest.mark.parametrize("body", ["/debate fix", "/debate fix F1", "/debate undo\r\nplease", "/debate fix\nF1"])
def test_a_fix_is_one_whatever_comes_after_the_word(shop: Shop, body: str) -> None:
    shop.repository.allow("ada", "write")
    shop.world.variables["REVIEWBOT_AUTOFIX"] = "true"
    _, event = comment(shop, "ada", body)
    assert shop.run("commands.yml", "issue_comment", event).conclusion == "skipped"
    assert shop.run("autofix.yml", "issue_comment", event).jobs["fix"].result == "success"


def test_the_tree_is_audited_on_schedule(shop: Shop) -> None:
    run = shop.run("audit.yml", "schedule", shop.hub.event("schedule", repository=shop.repository))
    assert "all has key=sk-1" in run.jobs["audit"].log
    assert shop.run("audit.yml", "schedule", shop.hub.event("schedule", repository=shop.repository)).log.count("paid: ") == 1


def test_this_repositorys_own_copy_takes_reviewbot_from_the_base(shop: Shop) -> None:
    pull = shop.pull()
    run = shop.run("review.yml", "pull_request", shop.opened(pull), own=True)
    assert "all has key=sk-1 workspace=base \n" in run.log
    machine = run.jobs["review"].machine
    assert machine
    assert (machine.workspace / "base" / "a.py").read_text() == "x = 1\n"
    assert "AUTHORIZATION" not in (machine.workspace / "base" / ".git" / "config").read_text()
