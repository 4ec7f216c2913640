"""The Action and the workflows that `reviewbot init` writes, executed against the fake GitHub."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import why_no_sandbox
from test_docs import rows as table_rows
from test_docs import section

from reviewbot.cli.commands import reviewbot
from reviewbot.cli.init import ACTION, WORKFLOWS
from reviewbot.github.command import FORMS
from reviewbot.github.commands import ORDERED
from reviewbot.github.job import INPUTS
from reviewbot.github.steps import ARTIFACT, WORKFLOW
from reviewbot.llm.providers import VENDORS
from tests.actions_runner import JobRun, Runner, WorkflowRun, stub_uv
from tests.actions_runner.workflow import read_yaml
from tests.fake_github import GitHub, Pull, Repository
from tests.fake_github import rules as fake_rules
from tests.github_job import model

pytest_plugins = ["tests.fake_github.fixtures"]

ROOT = Path(__file__).parents[1]
FILE = ROOT / "action.yml"
INSTALL, SANDBOX, _, REVIEW, *_ = read_yaml(FILE)["runs"]["steps"]
KEYS = [f"{name}_api_key" for name, vendor in VENDORS.items() if vendor.key_names]
BASE = {"shop.py": "def price(n):\n    return n * 3\n"}
TEST = {"test_shop.py": "import shop\n\n\ndef test_price():\n    assert shop.price(2) == 6\n"}
# One line breaks the test; another uses a name that does not exist, which is found by reading.
WORSE = {"shop.py": "def price(n):\n    return n * 4\n\n\ndef half():\n    return m / 2\n"}
BY_BOT = {"action": "synchronize", "sender": "renovate[bot]"}
BROKEN, UNDEFINED = "test_price fails: assert 8 == 6", "Undefined name `m`"
# A uv whose environments write down how the program is started, instead of a review.
RECORDING_UV = """
{ env; echo "uv $*"; } >>"$RUNNER_TEMP/installed-with"
[ "$1" = venv ] || exit 0
for folder; do :; done
mkdir -p "$folder/bin"
cat >"$folder/bin/python" <<'END'
#!/bin/sh
case "$*" in *sysconfig*) echo "$RUNNER_TEMP" ;; *) echo "$*"; env -0 >"$RUNNER_TEMP/env" ;; esac
END
chmod +x "$folder/bin/python"
"""


def init(root: Path, *names: str, code: int = 0) -> str:
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    options = [word for name in names for word in ("--workflow", name)]
    result = CliRunner().invoke(reviewbot, ["-C", str(root), "init", *options])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all workflows, as `reviewbot init` writes them."""
    root = tmp_path_factory.mktemp("project")
    init(root, *WORKFLOWS)
    return root / ".github/workflows"


def shim(folder: Path, name: str, script: str = "exit 1") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


class Home:
    """`octo/app`, and machines on which nothing of this one can be installed or changed."""

    def __init__(self, github: GitHub, folder: Path, files: Path) -> None:
        self.github, self.files = github, files
        self.app: Repository = github.repository("octo/app", private=True)
        self.app.commit("main", BASE, "Begin")
        self.app.allow("ann", "write")
        self.app.workflows.append(WORKFLOW)
        self.programs = stub_uv.install(folder / "programs").parent
        for name in ("sudo", "apt-get", "sysctl"):
            shim(self.programs, name)
        self.runner = Runner(
            folder=folder / "runner",
            github=github,
            environment={"PATH": f"{self.programs}:{os.environ['PATH']}"},
            actions={ACTION.partition("@")[0]: ROOT},
        )

    def pull(self, **about: Any) -> Pull:
        home = about.get("head_repository", self.app)
        home.commit("topic", WORSE, "Raise prices", author="ann")
        return self.app.pull("Raise prices", "topic", author="ann", **about)

    def run(self, name: str, event: str, about: Mapping[str, Any], **more: int) -> WorkflowRun:
        return self.runner.run_workflow(self.files / f"reviewbot-{name}.yml", event, about, **more)

    def event(self, pull: Pull, **about: str) -> dict[str, Any]:
        return self.github.event("pull_request", pull=pull, **about)

    def say(self, pull: Pull, login: str, body: str) -> tuple[list[str], WorkflowRun]:
        """Comment. Returns the reactions to it as well."""
        comment = pull.comment(login, body)
        event = self.github.event("issue_comment", comment=comment)
        run = self.run("commands", "issue_comment", event)
        return [reaction.content for reaction in comment.reactions], run

    def run_action(self, permissions: Mapping[str, str] | None = None, **inputs: str) -> JobRun:
        event, may = self.event(self.pull()), permissions or {}
        return self.runner.run_action(ROOT, inputs, "pull_request", event, permissions=may)


@pytest.fixture
def home(github: GitHub, tmp_path: Path, files: Path) -> Home:
    return Home(github, tmp_path, files)


def test_inputs_and_outputs_are_those_of_the_program() -> None:
    action = read_yaml(FILE)
    assert [*action["inputs"]] == ["github_token", *KEYS, *INPUTS]
    values = {name: output["value"] for name, output in action["outputs"].items()}
    assert values == {name: f"${{{{ steps.review.outputs.{name} }}}}" for name in values}
    assert {"verdict", "complete", "skip_reason", "autofix_sha"} <= values.keys()
    given = {name: value for name, value in REVIEW["env"].items() if name.startswith("INPUT_")}
    assert given == {f"INPUT_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in INPUTS}
    assert not [step for step in (INSTALL, SANDBOX, REVIEW) if "${{" in step["run"]]
    for step in (INSTALL, REVIEW):
        keys = {name for vendor in VENDORS.values() for name in vendor.key_names}
        unset = step["run"].replace("\\\n", " ").partition("unset ")[2].partition("\n")[0]
        assert keys <= {*unset.split()}, "unset the key in action.yml where nobody is asked"
    for name in KEYS:
        given = REVIEW["env"].get(name.upper(), "")
        assert f"inputs.{name} " in given, f"hand {name} to the step Review of action.yml"
        uses = "".join(INSTALL["env"].values())
        assert f"inputs.{name} " in uses.replace(")", " "), f"install what {name} needs"


def test_linters_find_nothing_and_actions_are_pinned(files: Path) -> None:
    paths = [*map(str, sorted(files.iterdir()))]
    for words in (
        ["zizmor", "--offline", "--quiet", "--no-progress", str(FILE), *paths],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *paths],
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", str(FILE)],
    ):
        program = Path(sys.executable).with_name(words[0])
        ended = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    text = "".join(path.read_text() for path in (FILE, *files.iterdir()))
    used = {*re.findall(r"uses: (.+)", text)} - {ACTION}
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use) for use in used)
    assert len({use.partition("@")[0] for use in used}) == len(used) == 7
    assert all(len(words.split()) > 4 for words in re.findall(r"zizmor: ignore(.*)", text))


def rows(heading: str) -> list[list[str]]:
    return table_rows(section("docs/github.md", f"## {heading}"))


def test_permissions_are_documented_and_keys_are_apart_from_the_right_to_write(files: Path) -> None:
    table, permissions, with_keys, job = [], 0, [], ""
    for name in (name for names in WORKFLOWS.values() for name in names):
        for line in (files / name).read_text().splitlines():
            if match := re.fullmatch(r"  (\w+):", line):
                job = f"`{name.removesuffix('.yml')}: {match[1]}`"
            if match := re.fullmatch(r"      ([a-z-]+: (?:read|write)) # (.+)", line):
                table.append([job, f"`{match[1]}`", match[2]])
        workflow = read_yaml(files / name)
        assert workflow["permissions"] == {}
        permissions += sum(len(each["permissions"]) for each in workflow["jobs"].values())
        for given in re.findall(r"with:\n(.*?)(?:\n\n|\Z)", (files / name).read_text(), re.DOTALL):
            passed = re.findall(r"(\w+_api_key): ", given)
            assert passed in ([], KEYS), f"pass the key of every provider in {name}"
        with_keys += [id for id, each in workflow["jobs"].items() if "secrets." in str(each)]
    assert rows("Permissions") == table
    assert (len(table), with_keys) == (permissions, ["review", "order", "audit", "debate"])
    assert not [cells for cells in table if "debate" in cells[0] and "write" in cells[1]]


def test_inputs_outputs_and_commands_are_documented() -> None:
    settings = [[f"`{name}`", f"`{key}`" if key else ""] for name, key in INPUTS.items()]
    table = [[f"`{name}`", ""] for name in ("github_token", *KEYS)]
    assert [cells[:2] for cells in rows("Inputs")] == table + settings
    assert [cells[0] for cells in rows("Outputs")] == [
        f"`{name}`" for name in read_yaml(FILE)["outputs"]
    ]
    where = {form.verb: "commands workflow" for form in FORMS}
    where |= dict.fromkeys(ORDERED, "review workflow")
    assert rows("Commands") == [[f"`{f.usage}`", f.help, where[f.verb]] for f in FORMS]
    assert len(where) == len(FORMS)


def test_requirements_of_the_action_are_those_that_are_tested() -> None:
    tested = re.findall(r"^[^\s;]+", (ROOT / "requirements/dev.txt").read_text(), re.MULTILINE)
    for path in ROOT.glob("requirements/action*.txt"):
        stub_uv.check_requirements(path)
        pins = re.findall(r"^\w[^\s;]+", path.read_text(), re.MULTILINE)
        assert set() < {*pins} <= {*tested}


def test_files_that_exist_stay_and_the_next_step_is_said(tmp_path: Path) -> None:
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    (folder / "reviewbot-collect.yml").write_text("mine")
    said = init(tmp_path, "forks", "commands", "forks")
    assert "reviewbot-collect.yml is there already and stays as it is" in said
    assert (folder / "reviewbot-collect.yml").read_text() == "mine"
    assert said.count("reviewbot-publish.yml is written") == 1
    assert "Put the owner of the Action in place of OWNER" in said  # or it cannot be resolved
    assert "gh secret set ANTHROPIC_API_KEY" in said
    assert "reviewbot init --workflow review" in said


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    for place in (".github", ".github/workflows"):
        root, outside = tmp_path / place / "root", tmp_path / place / "outside"
        outside.mkdir(parents=True)
        (root / place).parent.mkdir(parents=True)
        (root / place).symlink_to(outside)
        assert "is a link to elsewhere" in init(root, "review", code=2)
        assert not (root / ".reviewbot.yml").exists()
        assert not [*outside.iterdir()]


@pytest.mark.parametrize("mode", ["all", "collect", "debate", "publish"])
def test_keys_reach_the_program_only_where_it_asks_models(home: Home, mode: str) -> None:
    shim(home.programs, "uv", RECORDING_UV)
    keys = {"anthropic_api_key": "sk-ant-1", "openrouter_api_key": "sk-or-2"}
    job = home.run_action(mode=mode, **keys)
    assert job.conclusion == "success", job.log
    assert "-I -m reviewbot github" in job.log
    variables = (job.folder / "temp/env").read_text().split("\0")
    has_keys = mode in ("all", "debate")
    assert ("ANTHROPIC_API_KEY=sk-ant-1" in variables) == has_keys
    assert ("OPENROUTER_API_KEY=sk-or-2" in variables) == has_keys
    installed = (job.folder / "temp/installed-with").read_text()
    assert "sk-" not in installed
    assert installed.count("--require-hashes") == 1
    used = ["action.txt", *(["action-models.txt"] if has_keys else [])]
    assert re.findall(r"-r \S*/requirements/(\S+)", installed) == used


def test_a_second_use_in_a_job_installs_nothing(home: Home, tmp_path: Path) -> None:
    shim(home.programs, "uv", RECORDING_UV)
    text = (home.files / "reviewbot-commands.yml").read_text()
    home.files = tmp_path
    (tmp_path / "reviewbot-commands.yml").write_text(text + text[text.index("      - uses:") :])
    (job,) = home.say(home.pull(), "ann", "/debate help")[1].jobs.values()
    assert job.log.count("-I -m reviewbot github") == 2
    assert (job.folder / "temp/installed-with").read_text().count("uv pip install") == 1


@pytest.mark.parametrize("environment", ["github-hosted", "self-hosted"])
def test_only_machines_of_github_get_user_namespaces(tmp_path: Path, environment: str) -> None:
    shim(tmp_path, "sysctl", f"touch {tmp_path}/allowed")
    shim(tmp_path, "bwrap", f"[ -e {tmp_path}/allowed ]")
    shim(tmp_path, "sudo", 'shift; exec "$@"')
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "RUNNER_ENVIRONMENT": environment}
    command = ["bash", "-eo", "pipefail", "-c", SANDBOX["run"]]
    said = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    is_allowed = (tmp_path / "allowed").exists()
    assert is_allowed == (environment == "github-hosted")
    assert ("::notice title=reviewbot::bubblewrap does not start" in said) == (not is_allowed)


def test_a_pull_request_is_reviewed(home: Home) -> None:
    pull = home.pull()
    run = home.run("review", "pull_request", home.event(pull))
    assert run.conclusion == "success", run.log
    assert [(thread.path, thread.line) for thread in pull.threads] == [("shop.py", 6)]
    assert UNDEFINED in pull.comments[0].body
    assert [*run.artifacts] == [ARTIFACT]
    assert (run.concurrency.group, run.concurrency.cancel_in_progress) == ("reviewbot-1", True)


APPROVED = {"action": "labeled", "label": "reviewbot:approved"}
ASKED, OTHER = {"action": "labeled", "label": "reviewbot:review"}, {"action": "labeled"}
STRANGER = {"author_association": "NONE"}


def test_what_starts_a_job_and_what_cancels_another(home: Home, tmp_path: Path) -> None:
    """Only what a person does cancels: it alone shares a group with other runs."""
    for path in home.files.iterdir():
        workflow = read_yaml(path)
        for name, job in workflow["jobs"].items():
            job["steps"] = [{"id": name, "run": "true"}]
        (tmp_path / path.name).write_text(json.dumps(workflow))
    home.files, app = tmp_path, home.app
    own, fork = home.pull(), home.pull(head_repository=app.fork("eve/app"))
    update = app.pull("Bump", "topic", author="dependabot[bot]")
    pulls: list[tuple[str, Pull, dict[str, str], list[str], str]] = [
        ("review", own, {}, ["review"], "reviewbot-1"),
        ("review", own, {"action": "closed"}, [], ""),
        ("review", own, BY_BOT, ["review"], "reviewbot-own"),
        ("review", own, ASKED, ["review"], "reviewbot-1"),
        ("review", own, APPROVED, ["review"], "reviewbot-own"),
        ("review", own, OTHER | {"label": "bug"}, [], "reviewbot-own"),
        ("review", own, {"action": "edited"}, [], "reviewbot-own"),
        ("review", fork, {}, [], "reviewbot-2"),
        ("review", update, {"sender": "ann"}, [], "reviewbot-3"),
        ("collect", own, {}, [], "reviewbot-collect-1"),
        ("collect", fork, {}, ["collect"], "reviewbot-collect-2"),
        ("collect", fork, BY_BOT, ["collect"], "reviewbot-collect-own"),
        ("collect", fork, ASKED, ["collect"], "reviewbot-collect-2"),
        ("collect", fork, APPROVED, ["collect"], "reviewbot-collect-own"),
        ("collect", fork, OTHER | {"label": "bug"}, [], "reviewbot-collect-own"),
        ("collect", fork, {"action": "edited"}, [], "reviewbot-collect-own"),
        ("collect", update, {}, ["collect"], "reviewbot-collect-own"),
        ("collect", update, {"sender": "ann"}, ["collect"], "reviewbot-collect-3"),
    ]
    changed = {"changes": {"base": {"ref": {"from": "next"}}}}
    for name, pull, about, jobs, group in pulls:
        run = home.run(name, "pull_request", home.event(pull, **about))
        assert started(run) == jobs, (name, about)
        assert run.concurrency.group.replace(str(run.id), "own") == group, (name, about)
    for name, pull in (("review", own), ("collect", fork)):
        run = home.run(name, "pull_request", home.event(pull, action="edited") | changed)
        assert (started(run), run.concurrency.group[-1]) == ([name], str(pull.number))

    known, other = (app.run("reviewbot collect", pull=pull) for pull in (fork, own))
    groups = []
    for finished, about, jobs in (
        (known, {}, ["debate"]),
        (other, {}, ["debate"]),
        (known, {"conclusion": "failure"}, []),
        (known, {"event": "push"}, []),
        (known, {"actor": {"login": "renovate[bot]", "type": "Bot"}}, ["debate"]),
    ):
        event = home.github.event("workflow_run", run=finished)
        event["workflow_run"] |= about
        run = home.run("publish", "workflow_run", event)
        assert started(run) == jobs, about
        assert run.jobs["debate"].concurrency.cancel_in_progress
        groups.append(run.jobs["debate"].concurrency.group.replace(str(run.id), "own"))
    branches = [f"reviewbot-debate-{each.id}-topic" for each in (fork.head_repository, app)]
    assert groups == [*branches, "reviewbot-debate-own", branches[0], "reviewbot-debate-own"]

    thread, event = own.thread("ann", "shop.py", 2), home.github.event
    for login, body, about, number in (
        ("ann", "/debate help", {"author_association": "MEMBER"}, "1"),
        ("eve", "/debate help", STRANGER, "own"),
        ("helper[bot]", "/debate help", STRANGER, ""),
        ("ann", "Thanks! /debate", {}, ""),
    ):
        said = event("issue_comment", comment=own.comment(login, body))
        reply = fake_rules.create_reply(thread, home.github.user(login), body)
        inline = event("pull_request_review_comment", comment=reply)
        for kind, payload in (("issue_comment", said), ("pull_request_review_comment", inline)):
            payload["comment"] |= about
            run = home.run("commands", kind, payload)
            assert started(run) == (["command"] if number else []), (kind, login)
            queue = run.jobs["command"].concurrency
            if number:
                group = queue.group.replace(str(run.id), "own")
                assert (group, queue.queue) == (f"reviewbot-commands-{number}", "max")
    inline = event(
        "pull_request_review_comment", comment=fork.thread("ann", "shop.py", 2).comments[0]
    )
    inline["comment"]["body"] = "/debate help"
    assert started(home.run("commands", "pull_request_review_comment", inline)) == []


def started(run: WorkflowRun) -> list[str]:
    return [name for name, job in run.jobs.items() if job.conclusion != "skipped"]


def test_a_run_pays_for_nothing_that_models_answered_in_an_earlier_one(home: Home) -> None:
    with model(lambda *_: {"claims": []}).running() as server:
        home.runner.environment |= {"REVIEWBOT_PROVIDERS__GPU__BASE_URL": f"{server.url}/v1"}
        inputs = {"models": "critic=gpu:a reviewer=gpu:b", "effort": "medium"}
        event = home.event(home.pull())
        for number, posts in enumerate(({}, {}, {"pull-requests": "write"})):
            may = {"contents": "read", "pull-requests": "read", **posts}
            run = home.runner.run_action(ROOT, inputs, "pull_request", event, permissions=may)
            assert run.conclusion == "success", run.log
            assert ("recorded" in run.summary) == (number > 0)
            assert len(server.received) == 2
    assert home.app.pulls[0].comments


def test_commands_are_answered_or_ordered(home: Home) -> None:
    pull = home.pull()
    assert home.say(pull, "ann", "Thanks! /debate")[1].conclusion == "skipped"
    reactions, run = home.say(pull, "ann", "/debate full")
    assert (reactions, run.conclusion) == (["eyes"], "success")
    (order,) = home.app.dispatches
    event = home.github.event("workflow_dispatch", repository=home.app, inputs=order.inputs)
    run = home.run("review", "workflow_dispatch", event)
    assert run.conclusion == "success", run.log
    assert "Changes requested" in pull.comments[-1].body
    assert run.concurrency.group == f"reviewbot-{run.id}"  # nothing cancels it
    queue = run.jobs["order"].concurrency
    assert (queue.group, queue.queue) == ("reviewbot-command-1", "max")


def test_a_fork_is_reviewed_by_the_pair_and_its_evidence_proves_nothing(home: Home) -> None:
    if reason := why_no_sandbox():
        pytest.skip(f"not run: no sandbox ({reason})")
    home.app.commit("main", TEST)
    pull = home.pull(head_repository=home.app.fork("eve/app"))
    event = home.event(pull)
    assert home.run("review", "pull_request", event).conclusion == "skipped"
    known = home.app.run("reviewbot collect", pull=pull)
    first = home.run("collect", "pull_request", event, run_id=known.id)
    assert first.conclusion == "success", first.log
    assert not home.github.writes()
    assert "No language model is asked in this job." in first.jobs["collect"].summary
    run = home.run("publish", "workflow_run", home.github.event("workflow_run", run=known))
    assert run.conclusion == "success", run.log
    findings = json.loads(run.jobs["publish"].step("review").outputs["findings_json"])
    statuses = {finding["title"]: finding["status"] for finding in findings}
    assert statuses == {UNDEFINED: "proven", BROKEN: "question"}
    assert {*run.jobs["debate"].permissions.values()} == {"read"}
    assert BROKEN in pull.comments[0].body
    assert "a job that the author controls reports this" in "".join(
        c.body for c in pull.review_comments
    )


def test_an_audit_writes_an_issue(home: Home) -> None:
    home.runner.variables["REVIEWBOT_SARIF"] = "true"
    home.app.commit("main", WORSE)
    event = home.github.event("schedule", repository=home.app)
    run = home.run("audit", "schedule", event)
    assert run.conclusion == "success", run.log
    (issue,) = home.app.issues
    assert "The first audit: " in issue.body
    assert [upload.category for upload in home.runner.sarif_uploads] == ["reviewbot-audit"]


def test_what_the_merge_queue_merges_is_checked(home: Home) -> None:
    pull = home.pull()
    group = {"base_sha": pull.base_sha, "head_sha": pull.head_sha}
    event = {
        **home.event(pull, action="checks_requested"),
        "merge_group": group,
        "pull_request": None,
    }
    run = home.run("review", "merge_group", event)
    assert run.conclusion == "success", run.log
    assert [check.name for check in home.app.check_runs(pull.head_sha)] == ["reviewbot"]
