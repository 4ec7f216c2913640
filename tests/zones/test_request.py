"""A request that brings the past along: what the job that debates is told, it hands on to the stages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reviewbot.consensus import carry
from reviewbot.domain.event import Source, Told
from reviewbot.domain.history import History
from reviewbot.domain.review import Lifecycle, RangeMode, Review
from reviewbot.publish.document_request import request_document
from reviewbot.publish.load import load_review
from reviewbot.publish.load_request import Request
from tests.fakes import Models, reviewer
from tests.models.stage import Stage, disputed, one_vendor
from tests.zones.commands import Zones
from tests.zones.test_documents import schema

pytestmark = pytest.mark.ci

ASKED = Request(
    "Add work", background=(Told(Source.DESCRIPTION, "description by ada", "It adds WONDERFUL work."),), pull_request=7
)


def debated(stage: Stage, folder: Path, history: History) -> Review:
    """The last commit through both zones, with this past."""
    zones = Zones(folder, stage.home)
    collected = zones.collect(stage.repo, "HEAD", "--no-exec")
    assert collected.code == 0, collected.err
    zones.write("request.json", request_document(replace(ASKED, earlier=history)))
    ran = zones.debate("--request", "request.json")
    assert ran.code == 0, ran.err
    Draft202012Validator(schema("review")).validate(zones.read("review.json"))
    return load_review((folder / "review.json").read_bytes())


def test_what_was_said_and_what_was_found_before_reaches_the_panel_and_the_review(
    stage: Stage, models: Models, tmp_path: Path
) -> None:
    stage.configure(one_vendor(models))
    models.script = reviewer(claims=disputed(stage.text, functions=(1, 2)), stance="support")
    first = debated(stage, tmp_path / "first", History())
    assert (first.range_mode, first.pull_request, len(first.posted())) == (RangeMode.FULL, 7, 2)
    assert all("WONDERFUL" in call.raw.decode() for call in models.calls)
    calls = len(models.calls)
    history = carry.history_after(first, History())
    again = debated(stage, tmp_path / "again", history)
    assert (again.range_mode, len(models.calls)) == (RangeMode.UNCHANGED, calls), "nobody was asked"
    assert {one.lifecycle for one in again.findings} == {Lifecycle.CARRIED}
    assert carry.history_after(again, history) == replace(history, findings=carry.history_after(again, history).findings)
    stage.repo.write("shop/work.py", stage.text.replace("if value <= limit + 1:", "if limits(value):"))
    stage.repo.commit("Mend it")
    stage.repo.git("reset", "-q", "--soft", "HEAD~2")
    stage.repo.commit("Add work")
    models.script = reviewer(claims=[], stance="support")
    third = debated(stage, tmp_path / "third", history)
    assert third.range_mode is RangeMode.INCREMENTAL
    assert [(one.id, one.lifecycle) for one in third.findings] == [("F1", Lifecycle.FIXED), ("F2", Lifecycle.CARRIED)]
    asked = "\n".join(call.raw.decode() for call in models.calls[calls:])
    assert "if limits(value)" in asked
    assert "def work_7" not in asked
