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
import yaml
from click.testing import CliRunner
from conftest import why_no_sandbox

from reviewbot.cli.commands import reviewbot
from reviewbot.cli.init import ACTION, WORKFLOWS
from reviewbot.github.command import FORMS
from reviewbot.github.commands import ARTIFACT, WORKFLOW
from reviewbot.github.job import INPUTS, OUTPUTS
from reviewbot.llm.providers import VENDORS
from tests.actions_runner import Concurrency, JobRun, Runner, WorkflowRun, stub_uv
from tests.actions_runner.workflow import read_yaml
from tests.fake_github import GitHub, Pull, Repository

pytest_plugins = ["tests.fake_github.fixtures"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs/github.md"
FILE = ROOT / "action.yml"
INSTALL, SANDBOX, REVIEW, *_ = read_yaml(FILE)["runs"]["steps"]
# Not settings of reviewbot; the vendors' variables have other names than INPUT_….
SECRETS = ["github_token", *(f"{name}_api_key" for name in ("anthropic", "openai", "gemini"))]
SECRETS += ["openrouter_api_key"]
BASE = {
    "shop.py": "def price(n):\n    return n * 3\n",
    "test_shop.py": "import shop\n\n\ndef test_price():\n    assert shop.price(2) == 6\n",
}
# One line breaks the test; another uses a name that does not exist, which takes no execution.
WORSE = {"shop.py": "def price(n):\n    return n * 4\n\n\ndef half():\n    return m / 2\n"}
# A uv whose environments hold a program that writes down its environment instead of a review.
RECORDING_UV = """\
#!/bin/sh
env >>"$RUNNER_TEMP/installed-with"
echo "uv $*" >>"$RUNNER_TEMP/installed-with"
[ "$1" = venv ] || exit 0
for folder; do :; done
mkdir -p "$folder/bin"
cat >"$folder/bin/python" <<'END'
#!/bin/sh
case "$*" in *sysconfig*) echo "$RUNNER_TEMP" ;; *) echo "$*"; env >"$RUNNER_TEMP/environment" ;; esac
END
chmod +x "$folder/bin/python"
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all workflows, as `reviewbot init` writes them."""
    root = tmp_path_factory.mktemp("project")
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    options = [word for name in WORKFLOWS for word in ("--workflow", name)]
    assert init(root, *options).startswith(f"reviewbot: {root}/.github/workflows/reviewbot-review")
    return root / ".github/workflows"


def init(root: Path, *options: str, code: int = 0) -> str:
    result = CliRunner().invoke(reviewbot, ["-C", str(root), "init", *options])
    assert result.exit_code == code, result.output
    return result.output


def shim(folder: Path, name: str, script: str = "exit 1") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder


class Home:
    """`octo/app` on a runner; tests and machine are not touched by what the Action installs."""

    def __init__(self, github: GitHub, folder: Path, files: Path) -> None:
        self.github, self.files = github, files
        self.app: Repository = github.repository("octo/app", private=True)
        self.app.commit("main", BASE, "Begin")
        self.app.allow("ann", "write")
        self.app.workflows.append(WORKFLOW)
        stub_uv.install(folder / "programs")
        for name in ("sudo", "apt-get", "sysctl"):
            programs = shim(folder / "programs", name)
        self.runner = Runner(
            folder=folder / "runner",
            github=github,
            environment={"PATH": f"{programs}:{os.environ['PATH']}"},
            actions={ACTION.partition("@")[0]: ROOT},
        )

    def pull(self) -> Pull:
        self.app.commit("topic", WORSE, "Raise prices", author="ann")
        return self.app.pull("Raise prices", "topic", author="ann")

    def run(self, name: str, event: str, payload: Mapping[str, Any], **more: int) -> WorkflowRun:
        return self.runner.run_workflow(self.files / f"reviewbot-{name}.yml", event, payload, **more)

    def event(self, pull: Pull, action: str = "opened", **more: str) -> dict[str, Any]:
        return self.github.event("pull_request", pull=pull, action=action, **more)

    def say(self, pull: Pull, login: str, body: str) -> tuple[list[str], WorkflowRun]:
        """Comment. Returns the reactions to it as well."""
        comment = pull.comment(login, body)
        event = self.github.event("issue_comment", comment=comment)
        run = self.run("commands", "issue_comment", event)
        return [reaction.content for reaction in comment.reactions], run


@pytest.fixture
def home(github: GitHub, tmp_path: Path, files: Path) -> Home:
    return Home(github, tmp_path, files)


# --- what the files say


def test_inputs_and_outputs_are_those_of_the_program() -> None:
    action = read_yaml(FILE)
    assert [*action["inputs"]] == [*SECRETS, *INPUTS]
    assert action["outputs"].keys() == {*OUTPUTS}
    for name, output in action["outputs"].items():
        assert output["value"] == f"${{{{ steps.review.outputs.{name} }}}}"
    given = {name: value for name, value in REVIEW["env"].items() if name.startswith("INPUT_")}
    assert given == {f"INPUT_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in INPUTS}


def test_no_script_contains_an_expression_and_every_key_is_unset() -> None:
    keys = {name for vendor in VENDORS.values() for name in vendor.key_names}
    for step in (INSTALL, SANDBOX, REVIEW):
        assert "${{" not in step["run"]
    for step in (INSTALL, REVIEW):
        unset = re.search(r"unset ((?:\w+|\\?\s)+)", step["run"])
        assert unset
        assert keys <= {*unset[1].split()}


def test_actions_are_pinned_to_one_commit_each(files: Path) -> None:
    texts = [path.read_text() for path in (FILE, *files.iterdir())]
    used = {use for text in texts for use in re.findall(r"uses: (.+)", text)} - {ACTION}
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use) for use in used)
    assert len({use.partition("@")[0] for use in used}) == len(used) == 5


def test_linters_of_workflows_find_nothing(files: Path) -> None:
    paths = sorted(map(str, files.iterdir()))
    assert len(paths) == 5
    for words in (
        ["zizmor", "--offline", "--quiet", "--no-progress", str(FILE), *paths],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *paths],
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", str(FILE)],
    ):
        program = Path(sys.executable).with_name(words[0])
        ended = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_ignored_findings_of_linters_have_a_reason(files: Path) -> None:
    for path in files.iterdir():
        assert len(re.findall(r"zizmor: ignore\[[\w-]+\] \w+ \w+ ", path.read_text())) > 0
        assert not re.search(r"zizmor: ignore\[[\w-]+\]$", path.read_text(), re.MULTILINE)


def jobs(files: Path) -> dict[str, str]:
    """The text of each job, by `file: job`, in the order of the files."""
    found = {}
    for name in (name for names in WORKFLOWS.values() for name in names):
        text = (files / name).read_text().partition("\njobs:\n")[2]
        for job, body in re.findall(r"^  (\w+):\n((?:   .*\n|\n)+)", text, re.MULTILINE):
            found[f"{name.removesuffix('.yml')}: {job}"] = body
    return found


def test_the_documentation_says_what_each_job_may_do_and_why(files: Path) -> None:
    table = []
    for job, text in jobs(files).items():
        rights = re.findall(r"^      ([a-z-]+): (read|write) # (.+)$", text, re.MULTILINE)
        table += [[f"`{job}`", f"`{name}: {level}`", why] for name, level, why in rights]
    assert rows(DOCS, "Permissions") == table
    for path in files.iterdir():
        assert read_yaml(path)["permissions"] == {}


def test_only_jobs_that_ask_models_have_keys_and_none_that_writes_reads_evidence(
    files: Path,
) -> None:
    with_keys = {job.partition("reviewbot-")[2] for job, text in jobs(files).items() if "secrets." in text}
    assert with_keys == {"review: review", "audit: audit", "publish: debate"}
    for job, text in jobs(files).items():
        assert ("reviewbot-evidence" in text) == (job == "reviewbot-publish: debate")
        assert "persist-credentials: false" in text or "actions/checkout" not in text
    permissions = read_yaml(files / "reviewbot-publish.yml")["jobs"]["debate"]["permissions"]
    assert {*permissions.values()} == {"read"}


def rows(page: Path, heading: str) -> list[list[str]]:
    text = page.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.+) \|$", text, re.MULTILINE)[1:]
    return [line.split(" | ") for line in lines]


def test_inputs_outputs_and_commands_are_documented() -> None:
    settings = [[f"`{name}`", f"`{key}`" if key else ""] for name, key in INPUTS.items()]
    table = [[cell.strip() for cell in cells[:2]] for cells in rows(DOCS, "Inputs")]
    assert table == [*([f"`{name}`", ""] for name in SECRETS), *settings]
    assert [cells[0] for cells in rows(DOCS, "Outputs")] == [f"`{name}`" for name in OUTPUTS]
    commands = [[f"`{form.usage}`", form.help] for form in FORMS]
    assert [cells[:2] for cells in rows(DOCS, "Commands")] == commands


def test_requirements_of_the_action_are_those_that_are_tested() -> None:
    tested = {*(ROOT / "requirements/dev.txt").read_text().splitlines()}
    for path in ROOT.glob("requirements/action*.txt"):
        stub_uv.check_requirements(path)
        pins = re.findall(r"^(\S.*?) \\$", path.read_text(), re.MULTILINE)
        assert pins
        assert {pin.partition(" ;")[0] for pin in pins} <= {pin.partition(" ;")[0] for pin in tested}


# --- reviewbot init


def test_files_that_exist_stay_and_the_next_step_is_said(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    (folder / "reviewbot-collect.yml").write_text("mine")

    said = init(tmp_path, "--workflow", "forks", "--workflow", "commands", "--workflow", "forks")

    assert "reviewbot-collect.yml is there already and stays as it is" in said
    assert (folder / "reviewbot-collect.yml").read_text() == "mine"
    assert said.count("reviewbot-publish.yml is written") == 1
    assert "gh secret set ANTHROPIC_API_KEY" in said
    assert "reviewbot init --workflow review" in said


@pytest.mark.parametrize("place", [".github", ".github/workflows"])
def test_nothing_is_written_through_a_link(tmp_path: Path, place: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).symlink_to(outside)

    assert "symbolic link" in init(root, "--workflow", "review", code=2)

    assert not (root / ".reviewbot.yml").exists()
    assert not [*outside.iterdir()]


def test_all_files_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.setitem(WORKFLOWS, "forks", ("reviewbot-collect.yml", f"{'x' * 300}.yml"))
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "text")

    init(tmp_path, "--workflow", "forks", code=3)

    assert not [*(tmp_path / ".github/workflows").iterdir()]


# --- the Action


def run_recorded(home: Home, mode: str, **inputs: str) -> tuple[JobRun, str, dict[str, str]]:
    """The Action without a review: how it ended, what it installed, the program's environment."""
    programs = shim(home.runner.folder.parent / "programs", "uv", RECORDING_UV.removeprefix("#!/bin/sh\n"))
    assert programs
    event = home.event(home.pull())
    job = home.runner.run_action(ROOT, {"mode": mode, **inputs}, "pull_request", event, permissions={})
    temp = job.folder / "temp"
    environment = (temp / "environment").read_text().splitlines()
    variables = dict(line.partition("=")[::2] for line in environment)
    return job, (temp / "installed-with").read_text(), variables


KEYS = {"anthropic_api_key": "sk-ant-1", "openrouter_api_key": "sk-or-2"}


@pytest.mark.parametrize("mode", ["all", "collect", "debate", "publish"])
def test_keys_reach_the_program_only_where_it_asks_models(home: Home, mode: str) -> None:
    models = 'critic=openai:x "$(touch x)"\n`y`'
    job, installed, variables = run_recorded(home, mode, **KEYS, models=models)

    assert job.conclusion == "success", job.log
    assert "-I -m reviewbot github" in job.log
    assert "sk-" not in installed
    has_keys = mode in ("all", "debate")
    assert ("sk-ant-1" in variables.values()) == ("sk-or-2" in variables.values()) == has_keys
    used = ["action.txt", *(["action-anthropic.txt", "action-openai.txt"] if has_keys else [])]
    assert re.findall(r"-r \S*/requirements/(\S+)", installed) == used
    assert "--require-hashes" in installed
    assert variables["INPUT_MODELS"] == 'critic=openai:x "$(touch x)"'  # a line of `env`
    assert variables["GITHUB_TOKEN"].startswith("ghs_")


def test_a_second_use_in_a_job_installs_nothing(home: Home, tmp_path: Path) -> None:
    shim(tmp_path / "programs", "uv", RECORDING_UV.removeprefix("#!/bin/sh\n"))
    text = (home.files / "reviewbot-commands.yml").read_text()
    path = tmp_path / "twice.yml"
    path.write_text(text + text[text.index("      - uses:") :])
    comment = home.pull().comment("ann", "/debate help")
    event = home.github.event("issue_comment", comment=comment)

    (job,) = home.runner.run_workflow(path, "issue_comment", event).jobs.values()

    assert job.output.count("-I -m reviewbot github") == 2
    assert (job.folder / "temp/installed-with").read_text().count("uv pip install") == 1


def test_a_runner_without_a_new_python_is_told_what_to_do(home: Home, tmp_path: Path) -> None:
    for name in ("python3", *(f"python3.{minor}" for minor in range(11, 15))):
        shim(tmp_path / "programs", name)
    event = home.event(home.pull())
    job = home.runner.run_action(ROOT, {}, "pull_request", event, permissions={})
    assert (job.conclusion, job.step("Review").outcome) == ("failure", "skipped")
    assert "Put actions/setup-python before this step." in job.annotations[0].message


@pytest.mark.parametrize("environment", ["github-hosted", "self-hosted"])
def test_only_a_machine_of_github_is_made_to_allow_user_namespaces(
    tmp_path: Path, environment: str
) -> None:
    programs = shim(tmp_path / "programs", "sysctl", f'echo "$*" >>{tmp_path}/allowed')
    shim(programs, "bwrap", f"[ -e {tmp_path}/allowed ]")
    shim(programs, "sudo", 'shift; exec "$@"')
    variables = {"PATH": f"{programs}:/usr/bin:/bin", "RUNNER_ENVIRONMENT": environment}
    command = ["bash", "-eo", "pipefail", "-c", SANDBOX["run"]]
    said = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    is_allowed = (tmp_path / "allowed").exists()
    assert is_allowed == (environment == "github-hosted")
    assert ("::notice title=reviewbot::bubblewrap does not start" in said) == (not is_allowed)
