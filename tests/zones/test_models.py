"""A debate of models through the zones: the same review, no answer paid for twice, and nobody asked by whoever needs no model."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models
from tests.models.stage import ROLES, Stage, one_vendor, panelist
from tests.sandboxes import need_bubblewrap
from tests.zones.commands import Zones, essence
from tests.zones.test_powers import connected, started

pytestmark = pytest.mark.ci

SHOWS = """def test_one_number_below_the_limit_is_the_sum():
    try:
        from shop.work import work_1
    except ImportError:
        return
    total = work_1([1])
    assert total == 1
"""
FAILS_ALWAYS = "def test_nothing():\n    assert False\n"


def check(source: str) -> dict[str, Any]:
    return {"kind": "test", "command": ["pytest"], "source": source, "subject": ""}


@pytest.fixture
def zones(stage: Stage, models: Models, tmp_path: Path) -> Zones:
    """The commands; two of four claims come with a check."""
    need_bubblewrap()
    claims = stage.claims
    claims[1]["check"], claims[2]["check"] = check(SHOWS), check(FAILS_ALWAYS)
    models.script = panelist(claims)
    stage.configure(one_vendor(models))
    return Zones(tmp_path / "zones", stage.home)


def told(document: dict[str, Any]) -> dict[str, Any]:
    """A review without what depends on how much was said in a prompt: without a repository nothing is looked up."""
    return {name: value for name, value in essence(document).items() if name != "usage"}


def test_a_debate_of_models_says_the_same_through_the_zones(stage: Stage, models: Models, zones: Zones) -> None:
    direct = stage.run("review", "HEAD", "--format", "json")
    assert direct.code == 0, direct.said
    asked = len(models.calls)
    assert zones.collect(stage.repo, "HEAD").code == 0
    assert len(models.calls) == asked, "who collects asks nobody"
    zones.resumed(stage.repo, "--state", stage.folder / "elsewhere")
    made = zones.read("review.json")
    assert told(made) == told(direct.document)
    outcomes = {finding["id"]: finding["check"] and finding["check"]["outcome"] for finding in made["findings"]}
    assert outcomes == {"F1": None, "F2": "fails_at_head", "F3": "fails_at_both", "F4": None}
    of_zones = Counter(call.raw for call in models.calls[asked:])
    assert set(of_zones.values()) == {1}, "nothing was paid for twice"
    assert sum(of_zones.values()) == asked
    assert made["usage"]["replayed_calls"] > 0
    before = len(models.calls)
    published = zones.publish("--changeset", "changeset.json", "--format", "json")
    assert json.loads(published.out) == made
    assert len(models.calls) == before, "who publishes asks nobody"


@pytest.mark.smoke
def test_a_debate_of_models_starts_no_process_and_speaks_to_models_only(stage: Stage, models: Models, zones: Zones) -> None:
    assert zones.collect(stage.repo, "HEAD", "--no-exec").code == 0
    ran = zones.debate("--await-runner", PATH="/nowhere")
    assert ran.code == 0, ran.err
    assert zones.has("experiments.json")
    assert [event for event in started(ran) if "'uname', '-p'" not in event] == [], "a vendor's library asks for the processor"
    assert all("127.0.0.1" in event for event in connected(ran))
    assert len(models.calls) > len(ROLES)


def test_a_pending_debate_is_one_that_can_be_resumed(stage: Stage, zones: Zones) -> None:
    zones.collect(stage.repo, "HEAD")
    zones.debate("--await-runner")
    listed = zones.run("status", "--format", "json", cwd=stage.repo.path)
    assert "interrupted" in listed.out
    zones.resumed(stage.repo)
    assert "an interrupted debate was resumed" in zones.read("review.json")["notes"]


def test_the_rules_of_the_base_are_told_to_the_panel_and_a_request_directs_it(stage: Stage, models: Models, zones: Zones) -> None:
    stage.repo.write("RULES.md", "Every sum is documented.\n")
    stage.repo.commit("Write rules")
    stage.repo.write("shop/work.py", stage.text + "\n\nMORE = 1\n")
    stage.repo.commit("Do more")
    stage.configure(one_vendor(models, review={"instructions": ["RULES.md"]}))
    zones.collect(stage.repo, "HEAD", "--no-exec")
    zones.write("request.json", {"schema_version": 1, "title": "Do more of it", "focus": "overflowing sums"})
    assert zones.debate("--request", "request.json").code == 0
    said = "\n".join(call.raw.decode() for call in models.calls)
    assert "Every sum is documented." in said
    assert "Do more of it" in said
    assert "overflowing sums" in said
    before = len(models.calls)
    assert zones.debate("--evidence-origin", "author", "--fresh").code == 0
    said = "\n".join(call.raw.decode() for call in models.calls[before:])
    assert said
    assert "Every sum is documented." not in said, "in an author's document that is the author's word"
