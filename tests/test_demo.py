"""The demo: a real review of the small project that it brings along."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from each import each
from lean import lean_environment

from reviewbot.cli.commands import reviewbot
from reviewbot.demo.project import SHOP, read_files
from reviewbot.llm.providers.replay import Recording
from reviewbot.text.secrets import find_secrets

RECORDING = SHOP.parent / "recording.json"
PROVEN = {
    ("secret-stripe-key", "shop/payments.py", 19),
    ("F821", "shop/vouchers.py", 40),
    ("tests/test_cart.py::test_removing_what_is_not_there_changes_nothing", "shop/cart.py", 36),
    ("object-removed", "shop/orders.py", 0),
}
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


@pytest.fixture(scope="module", autouse=True)
def _environment() -> Iterator[None]:
    """The demo uses the environment that it is installed in. Here, proofs are run once."""
    lean = lean_environment()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "prefix", lean)
        patch.setattr("reviewbot.proofs.proof.TIMES", 1)
        patch.setattr("reviewbot.proofs.timing.ROUNDS", 1)
        yield


@pytest.fixture(scope="module")
def shipped() -> Result:
    return demo("--format", "json")


def test_the_demo_proves_the_planted_defects(shipped: Result) -> None:
    print(shipped.stderr)  # also says whether the recording is older than the prompts
    assert shipped.exit_code == 0
    assert "What the panelists answer is a recording" in shipped.stderr
    proven = {
        (finding["rule"], finding["location"]["path"], finding["location"]["line"])
        for finding in json.loads(shipped.stdout)["findings"]
        if finding["result"] and finding["status"] == "proven"
    }
    assert proven == PROVEN
    assert token() not in shipped.output


def test_another_run_with_an_older_recording(shipped: Result, tmp_path: Path) -> None:
    entry = {"label": "critic/first_pass", "prompt": "?", "answer": json.dumps({"claims": [CLAIM]})}
    recording, folder = tmp_path / "recording.json", tmp_path / "project"
    recording.write_text(json.dumps({"answered_by": "A tester", "entries": [entry]}))
    result = demo("--format", "json", "--record", str(recording), "--keep", str(folder))
    assert result.exit_code == 0
    assert "is a recording: A tester answered." in result.stderr
    assert "The recording is older than the prompts" in result.stderr

    first, second = json.loads(shipped.stdout), json.loads(result.stdout)
    assert what_checks_say(first) == what_checks_say(second)
    claimed = [f["proof"]["result"] for f in second["findings"] if f["title"] == CLAIM["title"]]
    assert claimed == ["proven"]

    # What is asked about the test of the claim is the same in every run.
    questions = recording.read_text()
    assert "reviewer/intent" in questions
    assert "page_count = <shop.catalog.Catalog object at 0x…>" in questions
    assert not re.search(r"0x[0-9a-f]{6}|in \d+\.\d+s", questions)
    assert str(folder) not in questions
    assert token() not in questions + result.output


def what_checks_say(review: Any) -> Any:
    """What no recording changes, without seconds and the output of tests."""
    found = (finding["result"] for finding in review["findings"] if finding["result"])
    results = sorted(found, key=lambda result: str(result["id"]))
    return (
        (review["base_commit"], review["head_commit"]),
        [{name: result[name] for name in result if name != "output"} for result in results],
        [(check["check"], check["state"], check["text"]) for check in review["checks"]],
    )


def test_the_recording_can_be_read() -> None:
    recording = msgspec.json.decode(RECORDING.read_bytes(), type=Recording)
    assert {f"{name}/first_pass" for name in ("critic", "reviewer", "optimizer")} <= {
        entry.label for entry in recording.entries
    }
    assert not list(find_secrets(RECORDING.read_text()))


def test_the_data_files_contain_no_token() -> None:
    for path in SHOP.rglob("*.txt"):
        assert not list(find_secrets(path.read_text())), path


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = demo("--keep", str(tmp_path))
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@each("side", ["base", "head"])
def test_the_files_of_the_shop_parse(side: str) -> None:
    for path, text in read_files(side):
        if path.endswith(".py"):
            compile(text, path, "exec")
