"""The demo: a real review of the small project that it brings along."""

import asyncio
import json
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from lean import lean_environment

from reviewbot.cli.commands import reviewbot
from reviewbot.debate.prompts import data
from reviewbot.demo.project import SHOP, create_project, read_files
from reviewbot.llm.providers.replay import Recording
from reviewbot.text.secrets import find_secrets

RECORDING = SHOP.parent / "recording.json"
PROVEN = {
    ("secret-stripe-key", "shop/payments.py", 19),
    ("F821", "shop/vouchers.py", 40),
    ("tests/test_cart.py::test_removing_what_is_not_there_changes_nothing", "shop/cart.py", 36),
    ("object-removed", "shop/orders.py", 0),
}
CLAIMED = ["only_at_head", "only_at_head", "proven", "proven"]  # a benchmark among them
CLAIM = {
    "path": "shop/catalog.py",
    "line": 39,
    "quote": "return len(self.listed(available=available)) // size + 1",
    "title": "A full last page is followed by an empty one",
    "category": "correctness",
    "severity": "high",
    "trigger": "there are 20 products",
    "consequence": "the last page is empty",
    "refuted_if": "pages are never full",
    "reproduction": {
        "language": "python",
        "source": "from shop.catalog import Catalog, Product\n\n\ndef test_it():\n"
        "    assert Catalog([Product('a', 'a', 1)] * 20).page_count() == 1\n",
    },
}


def demo(*arguments: str) -> Result:
    return CliRunner().invoke(reviewbot, ("demo", *arguments))


def token() -> str:
    (text,) = (text for _, text in read_files("head") if list(find_secrets(text)))
    (secret,) = find_secrets(text)
    return text[secret.start : secret.end]


def recorded() -> Any:
    """What comes with the demo, without tests for claims but one. It is older than the prompts."""
    recording = json.loads(RECORDING.read_text())
    for entry in recording["entries"]:
        answer = json.loads(entry["answer"])
        for claim in answer.get("claims", ()):
            claim["reproduction"] = None
        if entry["label"] == "critic/first_pass":
            answer, entry["prompt"] = {"claims": [CLAIM]}, "?"
        entry["answer"] = json.dumps(answer)
    return recording


@pytest.fixture(autouse=True)
def _environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo uses the environment that a tool made for it, though one on PATH has pytest."""
    own, other = tmp_path_factory.mktemp("own") / "pipx/venvs/x", tmp_path_factory.mktemp("other")
    own.parent.mkdir(parents=True)
    own.symlink_to(lean_environment())
    for name in (
        "bin/python3",
        "lib/python3.11/os.py",
        "lib/python3.11/site-packages/pytest/__init__.py",
    ):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text("#!/bin/sh\n")
        (other / name).chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(own))
    monkeypatch.setenv("PATH", f"{other}/bin:/usr/bin:/bin")


def proven_by_checks(findings: Any) -> set[tuple[str, str, int]]:
    return {
        (finding["rule"], finding["location"]["path"], finding["location"]["line"])
        for finding in findings
        if finding["result"] and finding["status"] == "proven"
    }


@pytest.mark.filterwarnings("default:The recording")
def test_what_is_shipped_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes a prompt reads below the results of all tests that the recording is older."""
    recording, shipped = tmp_path / "recording.json", RECORDING.read_text()
    fewer = json.loads(shipped.replace("range(100_000)", "range(5_000)"))  # products to time
    assert fewer != json.loads(shipped)
    for entry in fewer["entries"]:  # the marks around a text are made from it
        block = re.compile(r"<<<(\w{12})\n(.*?)\n>>>\1", re.DOTALL)
        entry["prompt"] = block.sub(lambda match: data(match[2]), entry["prompt"])
    recording.write_text(json.dumps(fewer))
    monkeypatch.setattr("reviewbot.cli.demo.RECORDING", recording)
    monkeypatch.setattr(sys, "prefix", lean_environment())  # pytest starts in half the time
    result = demo("--format", "json")
    assert result.exit_code == 0
    if (older := "The recording is older than the prompts") in result.stderr:
        warnings.warn(f"{older}: see CONTRIBUTING.md", stacklevel=1)
    findings = json.loads(result.stdout)["findings"]
    assert proven_by_checks(findings) == PROVEN
    assert sorted(f["proof"]["result"] for f in findings if f["proof"]) == CLAIMED


def test_the_demo_proves_planted_defects(tmp_path: Path) -> None:
    recording, folder = tmp_path / "recording.json", tmp_path / "project"
    recording.write_text(json.dumps(recorded()))
    result = demo("--format", "json", "--record", str(recording), "--keep", str(folder))
    assert result.exit_code == 0
    assert "What the panelists answer is a recording" in result.stderr
    assert "The recording is older than the prompts" in result.stderr
    findings = json.loads(result.stdout)["findings"]
    assert proven_by_checks(findings) == PROVEN
    claimed = [f["proof"]["result"] for f in findings if f["title"] == CLAIM["title"]]
    assert claimed == ["proven"]
    # What is asked about the test of the claim is the same in every run.
    questions = recording.read_text()
    assert "page_count = <shop.catalog.Catalog object at 0x…>" in questions
    assert not re.search(r"0x[0-9a-f]{6}|in \d+\.\d+s", questions)
    assert str(folder) not in questions
    assert token() not in questions + result.output


def test_no_file_of_the_demo_contains_the_token() -> None:
    recording = msgspec.json.decode(RECORDING.read_bytes(), type=Recording)
    first = {f"{name}/first_pass" for name in ("critic", "reviewer", "optimizer")}
    assert first <= {entry.label for entry in recording.entries}
    for path in (RECORDING, *SHOP.rglob("*.txt")):
        assert not list(find_secrets(path.read_text())), path


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = demo("--keep", str(tmp_path))
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_older_git_creates_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    newer = "*--initial-branch*|*--object-format*) echo unknown option >&2; exit 129"
    program.write_text(f'#!/bin/sh\ncase "$*" in {newer};; esac\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr("os.defpath", str(tmp_path))
    (tmp_path / "shop").mkdir()
    asyncio.run(create_project(tmp_path / "shop"))
    head = (tmp_path / "shop/.git/HEAD").read_text()
    assert head == "ref: refs/heads/main\n"


def test_the_files_of_the_shop_parse() -> None:
    for path, text in (*read_files("base"), *read_files("head")):
        if path.endswith(".py"):
            compile(text, path, "exec")
