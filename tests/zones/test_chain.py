"""`collect | debate | publish` says what `review` says, and no step says more than it knows."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import IncompleteError
from reviewbot.wiring import Order, collecting
from tests.acceptance.test_planted import CLEAN
from tests.repo import Repo
from tests.sandboxes import need_bubblewrap
from tests.zones.commands import Zones, essence
from tests.zones.test_documents import OF_ZONES, schema

pytestmark = [pytest.mark.xdist_group("zones"), pytest.mark.ci]

WRONG_SUM = CLEAN["shop/price.py"].replace("result - discount", "result + discount")
SHARED = CLEAN["shop/basket.py"].replace("basket=None):", "basket=[]):")


STOPPING = "def f(seen):\n    breakpoint()\n    return seen\n"


def planted(folder: Path) -> Repo:
    """A repository whose last commit breaks a test and shares a default."""
    repo = Repo(folder)
    for name, text in CLEAN.items():
        repo.write(name, text)
    repo.write("AGENTS.md", "Sums are never negative.\n")
    repo.commit("Begin")
    repo.write("shop/price.py", WRONG_SUM)
    repo.write("shop/basket.py", SHARED)
    repo.write("logo.bin", b"\0\1\2")
    repo.write("old/readme.txt", "Nothing.\n")
    repo.commit("Change sums")
    return repo


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    need_bubblewrap()
    return planted(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def finished(repo: Repo, tmp_path_factory: pytest.TempPathFactory) -> Zones:
    """The folder of a debate that went through all zones."""
    zones = Zones(tmp_path_factory.mktemp("zones"), repo.home)
    ran = zones.collect(repo, "HEAD")
    assert ran.code == 0, ran.err
    assert "reviewbot debate --changeset" in ran.err
    assert not ran.out
    zones.resumed(repo)
    return zones


@pytest.fixture(scope="module")
def direct(repo: Repo, finished: Zones) -> dict[str, Any]:
    """The same change, reviewed in one process."""
    ran = finished.run("review", "HEAD", "--format", "json", cwd=repo.path)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


@pytest.fixture
def zones(finished: Zones, tmp_path: Path) -> Zones:
    """A copy of that folder, to be spoilt."""
    return Zones(Path(shutil.copytree(finished.folder, tmp_path / "copy")), finished.home)


@pytest.mark.ci
def test_the_review_through_the_zones_is_the_review_in_one_process(finished: Zones, direct: dict[str, Any]) -> None:
    assert essence(finished.read("review.json")) == essence(direct)
    assert direct["verdict"] == "request_changes"
    assert {finding["proof"] for finding in direct["findings"]} == {"proven", "untested"}


def test_publish_prints_what_debate_wrote(finished: Zones) -> None:
    ran = finished.publish("--changeset", "changeset.json", "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == finished.read("review.json")
    assert not ran.err
    text = finished.publish("--fail-on", "high")
    assert text.code == 1, "as a review would end"
    assert "shop/price.py:7" in text.out


@pytest.mark.parametrize("name", [name for name in (*OF_ZONES, "evidence", "review") if name not in ("request", "experiments")])
def test_every_document_keeps_to_its_schema(finished: Zones, name: str) -> None:
    Draft202012Validator(schema(name)).validate(finished.read(f"{name}.json"))


def test_a_document_of_an_earlier_step_does_not_lie_beside_what_contradicts_it(zones: Zones) -> None:
    assert not zones.has("experiments.json"), "the debate came to its end"
    ran = zones.debate("--await-runner")
    assert ran.code == 0
    assert "pending: 1 experiment to be run first" in ran.err
    assert "collect TARGET --experiments experiments.json" in ran.err
    assert not zones.has("review.json")
    Draft202012Validator(schema("experiments")).validate(zones.read("experiments.json"))


def test_what_is_told_is_told_as_progress_is(zones: Zones) -> None:
    lines = zones.debate("--log-format", "json").err.splitlines()
    assert {json.loads(line)["event"] for line in lines} >= {"notice", "evidence"}
    assert zones.debate("--quiet").err == ""


def test_without_a_runner_a_check_is_not_run_and_nothing_is_proven(zones: Zones) -> None:
    ran = zones.debate()
    assert ran.code == 0, ran.err
    found = {finding["title"]: finding for finding in zones.read("review.json")["findings"]}
    broken = next(finding for title, finding in found.items() if "test_total_with_discount" in title)
    assert (broken["check"]["outcome"], broken["check"]["output"]) == ("not_run", "no runner here")
    assert broken["proof"] == "untested"
    assert zones.read("review.json")["verdict"] == "comment"


@pytest.mark.ci
def test_what_was_run_is_not_run_again(repo: Repo, zones: Zones) -> None:
    before = zones.read("verifications.json")
    zones.debate("--await-runner")
    marked = zones.read("verifications.json")
    marked["verifications"][0]["excerpt"] = "from the first run"
    zones.write("verifications.json", marked)
    ran = zones.collect(repo, "HEAD", "--experiments", zones.folder / "experiments.json")
    assert ran.code == 0, ran.err
    assert zones.read("verifications.json") == marked != before
    zones.write("verifications.json", {"some": "other document"})
    assert zones.collect(repo, "HEAD", "--experiments", zones.folder / "experiments.json").code == 0
    assert zones.read("verifications.json") == before, "what cannot be read is begun anew"


def test_a_request_gives_title_and_focus(zones: Zones) -> None:
    target = {name: zones.read("changeset.json")["target"][name] for name in ("base", "head")}
    zones.write("request.json", {"schema_version": 1, "title": "Sums", "focus": "rounding", "target": target})
    assert zones.debate("--request", "request.json").code == 0
    zones.write("request.json", {"schema_version": 1, "title": "Sums", "focus": "rounding", "target": target | {"head": "x"}})
    ran = zones.debate("--request", "request.json")
    assert ran.code == 2
    assert "the request document is wrong at $.target: it is about another change" in ran.err


@pytest.mark.parametrize("name", ["evidence.json", "verifications.json"])
def test_documents_of_different_changes_do_not_go_together(zones: Zones, name: str) -> None:
    other = zones.read(name)
    other["target"]["head_tree"] = "0" * 40
    zones.write(name, other)
    ran = zones.debate("--verifications", "verifications.json")
    assert ran.code == 2
    assert "wrong at $.target: it is about another change" in ran.err
    assert ran.err.count("\n") == 1


def test_experiments_of_another_change_are_not_run(repo: Repo, zones: Zones) -> None:
    zones.debate("--await-runner")
    ran = zones.collect(repo, "HEAD~1", "--experiments", zones.folder / "experiments.json")
    assert ran.code == 2
    assert "the document of experiments is wrong at $.target: it is about another change" in ran.err


def test_a_review_is_not_held_against_another_change(zones: Zones) -> None:
    other = zones.read("review.json")
    other["target"]["head"] = "0" * 40
    zones.write("review.json", other)
    ran = zones.publish("--changeset", "changeset.json")
    assert ran.code == 2
    assert "are about different changes" in ran.err


def test_publish_tells_without_a_line_what_does_not_stand_in_the_change(zones: Zones) -> None:
    forged = zones.read("review.json")
    forged["findings"][0] |= {"line": 999, "start_line": 999}
    forged["findings"][1] |= {"suggestion": {"start_line": 400, "line": 400, "replacement": "x"}}
    zones.write("review.json", forged)
    ran = zones.publish("--changeset", "changeset.json", "--format", "json")
    told = json.loads(ran.out)
    first, second = (finding["id"] for finding in told["findings"])
    assert told["findings"][0]["line"] == 0
    assert told["findings"][1]["suggestion"] is None
    assert told["notes"][-2:] == [
        f"{first}: its quote does not stand on its lines: told without a line",
        f"{second}: its suggestion does not fit the lines that it replaces: dropped",
    ]


@pytest.mark.parametrize("name", ["changeset.json", "evidence.json", "review.json"])
@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"schema_version": NaN}', '{"a": 1, "a": 2}', '{"schema_version": 1}'])
def test_a_hostile_document_is_one_line_and_exit_2(zones: Zones, name: str, text: str) -> None:
    (zones.folder / name).write_text(text)
    ran = zones.publish("--changeset", "changeset.json") if name == "review.json" else zones.debate()
    assert ran.code == 2, ran.err
    assert ran.err.startswith("reviewbot: error: the ")
    assert ran.err.count("\n") == 1


def test_a_file_that_is_too_large_or_missing_is_refused(zones: Zones) -> None:
    with (zones.folder / "changeset.json").open("wb") as file:
        file.truncate(200_000_000)
    ran = zones.debate()
    assert ran.code == 2
    assert "has more than" in ran.err
    assert zones.run("debate", "--changeset", "nowhere.json", "--evidence", "evidence.json").code == 2


def test_a_planted_link_is_not_written_through(repo: Repo, zones: Zones, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (zones.folder / "evidence.json").unlink()
    (zones.folder / "evidence.json").symlink_to(victim)
    ran = zones.collect(repo, "HEAD", "--no-exec")
    assert ran.code == 2
    assert "is a symbolic link" in ran.err
    assert victim.read_text() == "mine"


def test_a_required_check_that_did_not_run_is_exit_3(repo: Repo, zones: Zones) -> None:
    settings = zones.folder / "needs.yml"
    settings.write_text("version: 1\nchecks:\n  - {preset: pytest, required: true}\n")
    ran = zones.collect(repo, "HEAD", "--no-exec", "--config", settings)
    assert ran.code == 3
    assert "required check pytest did not run: it was not wanted" in ran.err
    again = zones.debate("--config", settings)
    assert again.code == 3
    assert zones.read("review.json")["conclusion"] == "partial"
    assert zones.publish().code == 3, "a review that is not whole is never shown as a pass"


def test_work_that_is_not_committed_goes_through_the_zones_too(repo: Repo, zones: Zones, tmp_path: Path) -> None:
    copy = Repo(tmp_path, name="fresh")
    copy.write("a.py", "def f(seen):\n    return seen\n")
    copy.commit()
    copy.write("a.py", STOPPING)
    ran = zones.collect(copy, "--no-exec")
    assert ran.code == 0, ran.err
    assert "note:" not in ran.err
    assert zones.debate("--fail-on", "low").code == 1
    assert [finding["path"] for finding in zones.read("review.json")["findings"]] == ["a.py"]
    inside = zones.run("collect", "--no-exec", "--out", "made", cwd=copy.path)
    assert "name a folder outside with --out" in inside.err


def test_a_patch_goes_through_the_zones_without_any_repository(zones: Zones, tmp_path: Path) -> None:
    patch = "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+def f(seen=[]):\n+    return seen\n"
    (tmp_path / "a.patch").write_text(patch)
    assert zones.run("collect", "--patch", tmp_path / "a.patch", "--out", zones.folder, cwd=tmp_path).code == 0
    assert zones.debate("--await-runner").code == 0
    direct = json.loads(zones.run("review", "--patch", tmp_path / "a.patch", "--format", "json", cwd=tmp_path).out)
    assert essence(zones.read("review.json")) == essence(direct)
    assert zones.publish("--changeset", "changeset.json").code == 0


def test_the_configuration_of_the_base_holds_and_that_of_the_change_does_not(zones: Zones, tmp_path: Path) -> None:
    repo = Repo(tmp_path, name="configured")
    repo.write(".reviewbot.yml", "version: 1\nreview: {ignore: ['b.py']}\n")
    repo.commit()
    repo.write(".reviewbot.yml", "version: 1\nreview: {ignore: ['**']}\n")
    for name in ("a.py", "b.py"):
        repo.write(name, STOPPING)
    repo.commit()
    assert zones.collect(repo, "HEAD", "--no-exec").code == 0
    assert zones.debate().code == 0
    assert [finding["path"] for finding in zones.read("review.json")["findings"]] == ["a.py"]
    operators = zones.folder / "operator.yml"
    operators.write_text("version: 1\nreview: {ignore: ['a.py']}\n")
    assert zones.collect(repo, "HEAD", "--no-exec", "--config", operators).code == 0
    assert zones.debate("--config", operators).code == 0
    assert [finding["path"] for finding in zones.read("review.json")["findings"]] == ["b.py"]


def test_the_authors_evidence_raises_findings_and_proves_nothing(zones: Zones) -> None:
    ran = zones.debate("--evidence-origin", "author", "--verifications", "verifications.json")
    assert ran.code == 0, ran.err
    made = zones.read("review.json")
    assert len(made["findings"]) == 2
    assert {finding["proof"] for finding in made["findings"]} == {"untested"}
    assert (made["verdict"], made["sandbox"]) == ("comment", "none")
    assert any("the evidence is the author's own word" in note for note in made["notes"])
    assert any("what the author's own run says of checks" in note for note in made["notes"])
    refused = zones.debate("--evidence-origin", "author", "--await-runner")
    assert refused.code == 2
    assert "exclude each other" in refused.err


def test_the_authors_clean_evidence_approves_nothing(zones: Zones) -> None:
    clean = zones.read("evidence.json")
    clean["items"], clean["tests"]["passed"], clean["tests"]["failed"] = [], 100, 0
    for check in clean["checks"]:
        check |= {"ran": True, "failed": False, "required": False, "reason": "", "cut_short": False}
    zones.write("evidence.json", clean)
    change = zones.read("changeset.json")
    change["configuration"] = [{"name": ".reviewbot.yml", "data": "dmVyc2lvbjogMQpyZXZpZXc6IHtpZ25vcmU6IFsnKionXX0K"}]
    zones.write("changeset.json", change)
    assert zones.debate("--evidence-origin", "author").code == 0
    made = zones.read("review.json")
    assert made["verdict"] == "comment"
    assert {item["status"] for item in made["coverage"] if item["path"].endswith(".py")} == {"reviewed"}, "not ignored"
    assert any("are the author's word and are not read" in note for note in made["notes"])


def test_a_change_without_one_of_its_files_is_refused(zones: Zones) -> None:
    change = zones.read("changeset.json")
    del change["contents"][0]
    zones.write("changeset.json", change)
    ran = zones.debate()
    assert ran.code == 2
    assert "the change document is wrong at $.contents: shop/" in ran.err


def test_a_patch_that_names_a_file_outside_of_the_tree_is_refused(zones: Zones, tmp_path: Path) -> None:
    (tmp_path / "a.patch").write_text("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+a = 1\n")
    assert zones.run("collect", "--patch", tmp_path / "a.patch", "--out", zones.folder, cwd=tmp_path).code == 0
    change = zones.read("changeset.json")
    outside = b"--- /dev/null\n+++ b/../a.py\n@@ -0,0 +1 @@\n+a = 1\n"
    change["diff"]["patch"] = base64.b64encode(outside).decode()
    zones.write("changeset.json", change)
    ran = zones.debate()
    assert ran.code == 2
    assert "wrong at $.diff: a path inside the repository is expected" in ran.err


def test_a_change_that_is_too_large_to_be_handed_over_is_not_cut(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    order = Order(Target(TargetKind.COMMIT, head="HEAD"), repo.path, {"PATH": os.defpath}, {}, execute=False)
    change = json.loads(collecting.collect(order).changeset)
    size = sum(len(base64.b64decode(file["data"])) for file in change["contents"])
    monkeypatch.setattr(collecting, "MOST_BYTES", size)
    with pytest.raises(IncompleteError, match="that are handed over") as caught:
        collecting.collect(order)
    assert caught.value.exit_code == 3
