"""The commands beside review: explain, dismiss, sessions, config, schema, doctor, init, …"""

from __future__ import annotations

import json
import os
import re
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest
import yaml
from conftest import Project
from each import each
from jsonschema import Draft202012Validator
from lean import lean_environment
from msgspec.structs import replace
from test_review import CART, TEST, WRONG

from reviewbot.cli.init import EXAMPLE
from reviewbot.config.load import load_settings, read_layer
from reviewbot.config.settings import Settings
from reviewbot.errors import ConfigError
from reviewbot.state import MAX_REVIEWS, State
from reviewbot.store.database import FILE
from reviewbot.verdict.document import Review
from tests.served import run

UNDEFINED = "def total():\n    return undefined\n"
TWICE = f"{UNDEFINED}\n\ndef tax():\n    return undefined\n"


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("VIRTUAL_ENV", lean_environment())
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cart(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    project.commit("A cart", {"cart.py": "def total():\n    return 1\n"})
    project.commit("Tidy", {"cart.py": UNDEFINED})
    monkeypatch.chdir(project.folder)
    return project


def test_a_finding_is_explained_with_its_test_and_output(cart: Project) -> None:
    cart.commit("A cart", {"cart.py": CART, "test_cart.py": TEST})
    cart.commit("Tidy", {"cart.py": WRONG})
    assert "F1  high" in run("review", "HEAD").stdout
    assert re.match(r"F1  high  .*33\.0 == 27\.0  \(proven\)", run("explain").stdout)
    shown = run("explain", "F1").stdout
    for words in (
        "test_cart.py::test_total",
        "this test passed before the change",
        "assert total([10, 20], 0.1) == 27.0",
        "requests changes",
    ):
        assert words in shown
    key = re.search(r"Key (\w+)", shown)
    assert key
    assert run("explain", key[1]).stdout == shown
    result = run("explain", "F9")
    assert result.exit_code == 2
    assert "the newest review has no finding F9\nIt has F1." in result.stderr
    cart.commit("Next", {"next.py": "a = 1\n"})
    run("review", "HEAD", "--no-exec")
    assert run("explain").stdout == "The newest review (HEAD) has no findings.\n"


def test_a_dismissal_acts_at_once_here_and_for_others_from_the_base_on(cart: Project) -> None:
    """With the findings that it stands for."""
    cart.commit("Two totals", {"cart.py": TWICE})
    cart.git("reset", "--quiet", "--soft", "HEAD~2")
    cart.git("commit", "--quiet", "--message=Tidy")
    assert run("review", "HEAD", "--fail-on", "high").exit_code == 1
    assert "a dismissal needs a reason" in run("dismiss", "F1").stderr
    run("dismiss", "F1", "--reason", "No.")
    said = run("dismiss", "F1", "--reason", "It is a surcharge.").stderr
    assert said == (
        "reviewbot: F1 is not reported again here\n"
        "For others it counts once .reviewbot/dismissed.yml is committed in the base of a change.\n"
    )
    again = json.loads(run("review", "--no-exec", "--format", "json").stdout)
    assert again["target"] == "HEAD"  # what the command wrote is no work to be reviewed
    (entry,) = yaml.safe_load((cart.folder / ".reviewbot/dismissed.yml").read_text())
    assert entry["reason"] == "It is a surcharge."
    assert entry["title"] == "Undefined name `undefined` (and in line 6)"
    assert run("review", "HEAD", "--fail-on", "high").exit_code == 0
    (copy,) = entry["copies"]
    assert run("dismiss", copy, "--reason", "No.").exit_code == 0
    undone = run("dismiss", copy, "--undo").stderr
    assert f"{copy} is reported again" in undone
    assert "An entry that the base has counts until .reviewbot/dismissed.yml is committed" in undone
    assert yaml.safe_load((cart.folder / ".reviewbot/dismissed.yml").read_text()) == []
    assert run("review", "HEAD", "--fail-on", "high").exit_code == 1
    assert "F1 is not dismissed" in run("dismiss", "F1", "--undo").stderr


def test_a_dismissal_is_not_written_through_a_link(
    cart: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run("review", "HEAD")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (cart.folder / ".reviewbot").symlink_to(elsewhere)
    result = run("dismiss", "F1", "--reason", "no")
    assert result.exit_code == 2
    assert "is a link to elsewhere" in result.stderr
    assert [*elsewhere.iterdir()] == []


def test_past_reviews_are_listed_shown_and_removed(
    cart: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("sessions").stdout == ""
    run("review", "HEAD")
    cart.commit("Next", {"next.py": "a = 1\n"})
    run("review", "HEAD")
    newest, oldest = run("sessions").stdout.splitlines()
    assert "Reviewed: no findings  HEAD Next" in newest
    assert "Changes requested: 1 finding  HEAD Tidy" in oldest
    assert run("sessions", "list").stdout == run("sessions").stdout
    shown = json.loads(run("sessions", "show", oldest.split()[0], "--format", "json").stdout)
    assert shown["title"] == "Tidy"
    assert "no findings" in run("sessions", "show").stdout
    assert run("sessions", "show", "1").exit_code == 2
    kept, access = cart.folder / ".git/reviewbot", os.access
    with monkeypatch.context() as patch:  # root may write everywhere
        patch.setattr(os, "access", lambda path, mode: path != kept and access(path, mode))
        result = run("sessions", "prune")
    assert (result.exit_code, f"{kept} cannot be used: " in result.stderr) == (3, True)
    assert "removed reviews: 2, and recorded results, from " in run("sessions", "prune").stderr
    assert run("sessions").stdout == ""


def test_the_newest_reviews_are_kept(tmp_path: Path, cart: Project) -> None:
    review = cart.review()
    state = State(tmp_path / "state")
    for number in range(MAX_REVIEWS):
        (tmp_path / "state/reviews").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"state/reviews/20000101-000000-{number:06}.json").write_bytes(b"torn")
    for name in ("old", "new"):
        state.journal().put(name, "result")
    for copied_first in ("journal/old.json", "reviews/20000101-000000-000100.json"):
        os.utime(tmp_path / "state" / copied_first, (0, 0))
    state.save(review)
    assert [path.stem for path in (tmp_path / "state/journal").iterdir()] == ["new"]
    assert len(state.ids()) == MAX_REVIEWS
    assert state.newest() == review
    assert "20000101-000000-000000" not in state.ids()
    assert msgspec.json.decode(msgspec.json.encode(review), type=Review) == review


def test_settings_are_shown_with_their_origins(
    cart: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cart.commit("Settings", {".reviewbot.yml": "review:\n  fail_on: high\n"})
    monkeypatch.setenv("REVIEWBOT_HOOKS__PUSH", "critical")
    shown = {line.split()[0]: line.split()[1:] for line in run("config").stdout.splitlines()}
    assert shown["review.fail_on"] == ["high", ".reviewbot.yml:2"]
    assert shown["hooks.push"] == ["critical", "REVIEWBOT_HOOKS__PUSH"]
    assert shown["limits.seconds"] == ["600", "default"]
    shallow = str(tmp_path_factory.mktemp("shallow"))
    cart.git("clone", "--quiet", "--depth=1", f"file://{cart.folder}", shallow)
    assert ".reviewbot.yml:2" in run("-C", shallow, "config").stdout
    doctor = run("-C", shallow, "doctor").stdout
    assert "✓ the configuration is valid\n  ✓ linters and tests that a change may run: " in doctor
    os.chdir(cart.folder)
    (cart.folder / ".reviewbot.yml").write_text("review:\n  fail: low\n")
    result = run("config", "show")
    assert "high" in result.stdout
    assert ".reviewbot.yml in the work tree differs; what is committed counts" in result.stderr
    result = run("config", "check")
    assert result.exit_code == 2
    assert "unknown key review.fail; did you mean review.fail_on?" in result.stderr
    (cart.folder / "other.toml").write_text("[project]\nname = 'reviewbot'\n")
    assert run("config", "check", "other.toml").stdout == "no file configures reviewbot\n"
    (cart.folder / "other.yml").write_text("review: {fail_on: low}\n")
    assert run("config", "check", "other.yml").stdout == "other.yml: valid\n"
    operators = "sandbox: {kind: none}\nlimits: {cost_usd: 5}\n"
    (cart.folder / "other.yml").write_text(operators)
    assert run("config", "check", "other.yml").stdout == "other.yml: valid\n"
    (cart.folder / ".reviewbot.yml").write_text(operators)
    assert "a repository may not set sandbox.kind" in run("config", "check").stderr
    wrong = "checks: [{name: unit, run: [jest], report: ../unit.xml}]\n"
    (cart.folder / "other.yml").write_text(wrong)
    result = run("config", "check", "other.yml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give the name of a file, without a folder" in result.stderr
    within = "checks: [{name: unit, run: [sh, -c, 'lint {files}']}]\n"
    (cart.folder / "other.yml").write_text(within)
    assert "unit has {files} within an argument" in run("config", "check", "other.yml").stderr
    for pattern, said in {"!": "Invalid git pattern: '!'", "[z-a]": "bad character range"}.items():
        (cart.folder / "other.yml").write_text(f"review: {{ignore: ['{pattern}']}}\n")
        assert f"review.ignore: {said}" in run("config", "check", "other.yml").stderr
    cart.commit("Wrong", {".reviewbot.yml": wrong})
    said = "has an error that stops all later reviews: checks: the report of unit"
    assert any(said in note for note in cart.review().notes)
    cart.commit("Right", {".reviewbot.yml": None})
    for broken in (wrong, "zzz: {}\n", "a: [\n"):
        cart.commit("Wrong", {".reviewbot.yml": broken})
        cart.commit("Right", {".reviewbot.yml": None})
        result = run("review")
        assert "(as it was before the change: what that repairs counts for later" in result.stderr


def test_init_writes_a_file_with_settings_to_choose_from(cart: Project) -> None:
    assert "git add .reviewbot.yml" in run("init").stderr
    content = (cart.folder / ".reviewbot.yml").read_bytes()
    assert run("config", "check").exit_code == 0
    (cart.folder / ".reviewbot.yml").write_bytes(content + b"# mine\n")
    result = run("init", "--hooks")
    assert "is there already and stays as it is" in result.stderr
    assert "pre-commit is installed" in result.stderr
    assert (cart.folder / ".reviewbot.yml").read_bytes() == content + b"# mine\n"
    (cart.folder / ".reviewbot.yml").unlink()
    (cart.folder / "pyproject.toml").write_text("[tool.reviewbot.review]\nfail_on = 'low'\n")
    assert "has [tool.reviewbot], so no .reviewbot.yml is written" in run("init").stderr


def test_the_file_of_init_has_the_defaults_in_comments() -> None:
    template = EXAMPLE.read_text()
    loaded = load_settings([read_layer("template", "repository", template.encode())])
    assert {*loaded.origins.values()} == {"default"}
    enabled = re.sub(r"(?m)^#(?! \S)", "", template)
    settings = load_settings([read_layer("template", "repository", enabled.encode())]).settings
    assert settings.panel
    assert settings.moderator
    assert settings.checks
    chosen = replace(settings, panel={}, moderator=None, checks=())
    assert chosen == Settings(), f"{EXAMPLE.name} has other defaults"


@each(
    ("text", "is_valid"),
    [
        (EXAMPLE.read_text(), True),
        ("review:\npanel:\nproviders: {own: }\n", True),
        ("moderator:\n", True),
        ("checks:\n", False),
        ("review: {effort: }\n", False),
    ],
)
def test_the_schema_says_what_can_be_empty_in_yaml(text: str, is_valid: bool) -> None:
    schema = json.loads(run("schema", "config").stdout)
    assert Draft202012Validator(schema).is_valid(yaml.safe_load(text)) is is_valid
    with nullcontext() if is_valid else pytest.raises(ConfigError):
        load_settings([read_layer("a.yml", "user", text.encode())])


def test_doctor_names_what_works_and_the_next_step(
    cart: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("doctor")
    assert result.exit_code == 0
    for line in (
        "✓ git version",
        "✓ the sandbox starts",
        "✓ linters and tests that a change may run: ruff",
        "! pre-commit is not installed",
        "! no language model is configured",
    ):
        assert f"  {line}" in result.stdout
    assert result.stdout.endswith("\nNext: reviewbot hook install\n")
    assert all(len(line) <= 100 for line in result.stdout.splitlines())
    cart.commit("Settings", {".reviewbot.yml": "nonsense: 1\n", "test_a.py": ""})
    result = run("doctor")
    assert result.exit_code == 3
    assert "✗ .reviewbot.yml:1: unknown key nonsense" in result.stdout
    cart.commit("No such check", {".reviewbot.yml": "checks: [{name: nothing}]\n"})
    result = run("doctor")
    assert result.exit_code == 3
    assert "✗ checks: nothing is no linter or test suite" in result.stdout
    said = "reviewbot: .reviewbot.yml:1: checks: nothing is no linter or test suite"
    assert said in run("review", "--worktree").stderr
    assert "the configuration is valid" not in result.stdout
    cart.commit("No settings", {".reviewbot.yml": None, "pyproject.toml": "[project]\n"})
    kept, access = cart.folder / ".git/reviewbot", os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != kept and access(path, mode))
    monkeypatch.setenv("REVIEWBOT_SANDBOX__KIND", "none")
    result = run("doctor")
    assert result.exit_code == 3
    assert f"✗ {kept} cannot be used: it is not writable" in " ".join(result.stdout.split())
    assert "✓ no configuration is committed" in result.stdout
    assert "✓ linters and tests that a change may run: ruff\n" in result.stdout
    assert result.stdout.endswith("\nNext: name another folder with --state\n")
    monkeypatch.setattr(os, "access", access)
    cart.git("config", "core.hooksPath", "/dev/null")
    result = run("doctor")
    assert result.exit_code == 0
    assert "! git looks for hooks in /dev/null, which is no folder\n" in result.stdout
    (kept / FILE).write_text("no database" * 100)
    result = run("doctor")
    assert result.exit_code == 3
    assert "cannot be used: file is not a database" in " ".join(result.stdout.split())


def test_doctor_says_what_runs_in_packages_and_works_outside_of_a_repository(
    cart: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart.commit("Nothing", {path: None for path in cart.git("ls-files").split()})
    said = run("doctor").stdout
    assert "! no linter and no test runs here" in said
    assert said.endswith("\nNext: add one under checks: in .reviewbot.yml\n")
    (cart.folder / "new.py").touch()
    assert "✓ linters and tests that a change may run: ruff\n" in run("doctor").stdout
    (cart.folder / "new.py").unlink()
    conflict = f"100644 {cart.git('hash-object', '-w', '/dev/null')} 2\tcart.py\n"
    cart.git("update-index", "--index-info", stdin=conflict.encode())
    assert "! the index has unresolved conflicts, for example in cart.py" in run("doctor").stdout
    cart.git("reset", "--hard")
    package = '{"scripts": {"test": "%s"}}'
    files = {"pnpm-workspace.yaml": "", "package.json": package % "turbo"}
    files |= {"api/package.json": package % "node --test", "web/package.json": package % "jest"}
    files["c8/package.json"] = package % "A=1 c8 node --test"
    files["ava/package.json"] = package % "ava"
    more = [f"w{n}/package.json" for n in range(8)]
    cart.commit("Packages", files | dict.fromkeys(more, package % "jest"))
    said = " ".join(run("doctor").stdout.split())
    assert "! not installed: npm-test c8, npm-test w0, npm-test w1" in said
    assert ", npm-test w6 and 2 more; run npm ci, pnpm install or" in said
    assert "! npm-test ava does not run: no script runs Jest, Vitest, Mocha, node:test or" in said
    assert "✓ linters and tests that a change may run: npm-test api !" in said
    tools = "{name: a, run: [tidy-up]}, {name: b, run: [tidy-up]}, {name: shell, run: [sh]}"
    settings = {".reviewbot.yml": f"checks: [{tools}]\n", "mypy.ini": "[mypy]\n"}
    new = {"web/a.py": "", "web/test_a.py": ""}
    cart.commit("A program", {**settings, **new, **dict.fromkeys(more)})
    said = run("doctor").stdout
    place = "into the project's environment"
    assert f"! not installed: a, b; install tidy-up {place} or /usr/local\n" in said
    assert f"! not installed: mypy; install mypy {place}\n" in said
    assert "✓ linters and tests that a change may run: ruff, pytest, npm-test api, shell\n" in said
    assert re.search(r"✓ the Python of this project is /.+/python3?$", said, re.MULTILINE)
    for name, value in {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": "/usr"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.executable", "/usr/bin/python3")
    assert "Python of this project is /usr/bin/python3 (no .venv)\n" in run("doctor").stdout
    step = "run the tests as a check of your own, see docs/checks.md, and set off: true for npm"
    assert f"\nNext: {step}" in said
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    result = run("doctor")
    assert (result.exit_code, "! this is no git repository" in result.stdout) == (0, True)
    assert "configuration" not in result.stdout
