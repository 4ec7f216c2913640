"""`reviewbot review --all`: a real repository, the real command, one audit after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import reviewbot
from reviewbot import wiring
from reviewbot.domain.audit import AuditMemory
from reviewbot.domain.target import Target, TargetKind
from reviewbot.publish import audit
from reviewbot.wiring.auditing import Audit
from tests.repo import Repo
from tests.sandboxes import need_bubblewrap

pytestmark = pytest.mark.ci

COMMAND = (sys.executable, "-m", "reviewbot.cli", "review", "--all")
SCHEMA = Path(reviewbot.__file__).parent / "schema" / "review.schema.json"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SOUND = '"""Numbers."""\n\n\ndef double(n):\n    """Twice."""\n    return 2 * n\n'
SHARED = '"""A basket."""\n\n\ndef add(item, basket=[]):\n    """One more."""\n    basket.append(item)\n    return basket\n'
EVALUATED = '"""Sums."""\n\n\ndef total(request):\n    """What was asked."""\n    return eval(request.args["sum"])\n'
SILENCED = SHARED.replace("basket=[]):", "basket=[]):  # noqa: B006")


@pytest.fixture
def shop(git_repo: Repo) -> Repo:
    """A repository whose last commit touches nothing of what is wrong in it."""
    git_repo.write("shop/numbers.py", SOUND)
    git_repo.write("shop/basket.py", SHARED)
    git_repo.commit("A shop")
    git_repo.write("README.md", "A shop.\n")
    git_repo.commit("Say what it is")
    return git_repo


def audited(repo: Repo, *words: str, code: int = 0) -> Any:
    """The document of an audit, or its text where another format is named."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(repo.home), "LANG": "C.UTF-8", "PYTHONPATH": str(Path.cwd())}
    asked = words if "--format" in words else (*words, "--format", "json")
    done = subprocess.run((*COMMAND, *asked), cwd=repo.path, env=environment, capture_output=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode() if "--format" in words else json.loads(done.stdout)


def put_together(repo: Repo, last: AuditMemory | None = None) -> Audit:
    """An audit as a workflow has it: no folder remembers anything."""
    order = wiring.Order(Target(TargetKind.ALL), repo.path, repo.environment, flags={})
    return wiring.audit(order, last=last)


def told(document: Any) -> set[tuple[str, str | None, str]]:
    """Path, rule and life of what is told."""
    findings = (one for one in document["findings"] if one["status"] == "accepted")
    return {(one["path"], one["rule"], one["lifecycle"]) for one in findings}


def first_note(document: Any) -> str:
    note: str = document["notes"][0]
    return note


@pytest.mark.ci
def test_what_an_old_commit_brought_is_found(shop: Repo) -> None:
    document = audited(shop)
    assert ("shop/basket.py", "B006", "new") in told(document)
    assert document["target"]["kind"] == "all"
    assert document["target"]["base"] == EMPTY_TREE
    assert document["target"]["head"] == shop.git("rev-parse", "HEAD")
    assert document["conclusion"] == "complete"
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert {item["path"] for item in document["coverage"]} == {"README.md", "shop/basket.py", "shop/numbers.py"}
    assert "no earlier one is remembered" in first_note(document)


def test_the_report_says_what_differs_from_the_last_audit(shop: Repo) -> None:
    before = audited(shop)
    first = shop.git("rev-parse", "HEAD")[:10]
    shop.write("shop/sums.py", EVALUATED)
    shop.commit("Sums")
    grown = audited(shop)
    assert {("shop/basket.py", "B006", "carried"), ("shop/sums.py", "S307", "new")} <= told(grown)
    assert first_note(grown).startswith(f"audit: since the last one, of {first}: 1 new, ")
    names = {one["rule"]: one["id"] for one in before["findings"]}
    assert next(one["id"] for one in grown["findings"] if one["rule"] == "B006") == names["B006"]
    shop.write("shop/basket.py", SOUND)
    shop.commit("No shared basket")
    mended = audited(shop)
    assert ("shop/sums.py", "S307", "carried") in told(mended)
    assert [(one["lifecycle"], one["status"]) for one in mended["findings"] if one["rule"] == "B006"] == [
        ("fixed", "below_threshold")
    ]
    assert "0 new" in first_note(mended)
    assert "1 gone" in first_note(mended)
    assert all(one["rule"] != "B006" for one in audited(shop)["findings"]), "what is gone is told once"


def test_an_audit_of_the_same_tree_finds_nothing_new(shop: Repo) -> None:
    found = len(audited(shop)["findings"])
    again = audited(shop)
    assert f"0 new, {found} still there, 0 gone" in first_note(again)


def test_the_text_begins_with_what_differs(shop: Repo) -> None:
    audited(shop)
    assert audited(shop, "--format", "text").startswith("audit: since the last one, of ")
    assert f"whole tree of {shop.git('rev-parse', 'HEAD')[:10]}" in audited(shop, "--format", "text")


def test_findings_decide_the_exit_code(shop: Repo) -> None:
    shop.write("shop/sums.py", EVALUATED)
    shop.commit("Sums")
    audited(shop, "--fail-on", "high", code=1)
    audited(shop, "--fail-on", "critical", code=0)


def test_what_the_project_silenced_stays_silent(shop: Repo) -> None:
    shop.write("shop/basket.py", SILENCED)
    shop.commit("We know")
    document = audited(shop)
    assert not [place for place in told(document) if place[1] == "B006"]
    assert [one["status"] for one in document["evidence"] if one["rule"] == "B006"] == ["existing"]


def test_the_tree_s_own_configuration_holds(shop: Repo) -> None:
    shop.write(".reviewbot.yml", "version: 1\nreview: {ignore: ['shop/basket.py']}\n")
    shop.commit("Leave the basket out")
    document = audited(shop)
    assert not [place for place in told(document) if place[0] == "shop/basket.py"]
    assert {"path": "shop/basket.py", "status": "skipped", "reason": "ignored by configuration"} in document["coverage"]


def test_a_file_of_the_trusted_tree_may_say_that_it_was_generated(shop: Repo) -> None:
    shop.write("shop/made.py", f"# @generated by a tool\n{SHARED}")
    shop.commit("Made")
    document = audited(shop)
    assert not [place for place in told(document) if place[0] == "shop/made.py"]


def test_one_commit_s_tree_can_be_audited_and_a_range_cannot(shop: Repo) -> None:
    first = shop.git("rev-parse", "HEAD~1")
    assert audited(shop, first)["target"]["head"] == first
    audited(shop, "HEAD~1..HEAD", "--format", "text", code=2)
    audited(shop, "--staged", "--format", "text", code=2)


@pytest.mark.ci
def test_the_whole_suite_runs_once_and_what_fails_counts(shop: Repo) -> None:
    need_bubblewrap()
    shop.write("tests/test_numbers.py", "from shop.numbers import double\n\n\ndef test_twice():\n    assert double(2) == 5\n")
    shop.write("tests/test_basket.py", "from shop.basket import add\n\n\ndef test_one_more():\n    assert add(1, []) == [1]\n")
    shop.write("shop/__init__.py", "")
    shop.commit("Tests")
    shop.write("README.md", "Tests have nothing to do with this.\n")
    shop.commit("Words")
    document = audited(shop)
    failing = [one for one in document["evidence"] if one["kind"] == "test"]
    assert [(one["status"], one["revision"]) for one in failing] == [("new", "head")]
    assert [one["path"] for one in document["findings"] if "test_twice" in one["title"]] == ["tests/test_numbers.py"]
    assert not [note for note in document["notes"] if "at base" in note]


@pytest.mark.ci
def test_sarif_has_every_finding_and_a_person_is_told_the_worst(shop: Repo) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(seen=[]):\n    seen.append({n})\n    return seen\n\n\n" for n in range(70)))
    shop.commit("Many")
    results = json.loads(audited(shop, "--format", "sarif"))["runs"][0]["results"]
    assert len(results) > audit.MOST_TOLD + 10
    assert {one["baselineState"] for one in results} == {"new"}
    text = audited(shop, "--format", "text")
    assert "further findings are only in the document" in " ".join(text.split())
    body = audited(shop, "--format", "markdown")
    assert body.startswith(f"{audit.MARKER}\n## Audit of the whole tree at ")
    assert len(body.encode()) <= audit.BUDGET_BYTES
    assert "70 new" not in first_note(audited(shop)), "what was told once is not new again"


def test_an_issue_s_body_carries_what_the_next_audit_must_know(shop: Repo) -> None:
    one = put_together(shop)
    assert one.comparison.since == ""
    assert audit.is_audit(one.body)
    last = audit.decode(one.body.replace("\n", "\r\n"))
    assert last == one.memory
    shop.write("shop/sums.py", EVALUATED)
    shop.write("shop/basket.py", SOUND)
    shop.commit("Other trouble")
    other = put_together(shop, last)
    assert [found.rule for found in other.comparison.new] == ["S307"]
    assert "B006" in [found.rule for found in other.comparison.gone]
    assert other.comparison.since == one.review.revisions.head
    assert "### New since the last audit" in other.body
    assert "### Gone since the last audit" in other.body


def test_a_state_that_somebody_broke_makes_the_audit_a_first(shop: Repo) -> None:
    audited(shop)
    for file in (shop.home / ".local/state/reviewbot/audits").iterdir():
        file.write_bytes(b"\xff\x00")
    assert "no earlier one is remembered" in first_note(audited(shop))


def test_nothing_in_the_repository_is_touched(shop: Repo) -> None:
    before = shop.snapshot()
    audited(shop)
    assert shop.snapshot() == before
