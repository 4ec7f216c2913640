"""Writer, Reviewer and Tester: three models of one Ollama server find a bug, write the check that shows it, mend it and judge that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models, Seen, reviewer
from tests.fixing.seeded import MENDS, SEEDED, Seeded

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
NAMES = {"proposer": "writer:1b", "reviewer": "reviewer:1b", "tester": "tester:1b"}


@pytest.fixture
def stage(tmp_path: Path) -> Seeded:
    bug = next(bug for bug in SEEDED if bug.name == "python/tariff-boundary")
    return Seeded(tmp_path, bug)


def configured(stage: Seeded, models: Models) -> None:
    """Three seats of one server at home, in the user's own configuration."""
    stage.configure(
        {
            "providers": {"ollama": {"base_url": models.url}},
            "panel": {role: {"model": f"ollama:{name}"} for role, name in NAMES.items()},
            "limits": {"seconds": 120, "cost_usd": 0, "tokens": 2_000_000},
        }
    )


def script(stage: Seeded) -> Any:
    """What each of them says: the Reviewer claims, the Tester designs, the Writer errs once."""
    mends = MENDS[stage.bug.name]
    waiting = [stage.edits(mends["wrong"]), stage.edits(mends["right"])]
    check = stage.claim["check"]
    bare = stage.claim | {"check": None}

    def written(_: Seen) -> Any:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    claims = {NAMES["reviewer"]: [bare], "*": []}
    return reviewer(claims=claims, stance=("neutral", 0.5), judgement="undecided", design=check, edits=written)


def test_three_local_models_find_prove_mend_and_judge(stage: Seeded):
    with Models(names=tuple(NAMES.values())) as models:
        configured(stage, models)
        models.script = script(stage)
        ran = stage.run("fix", "HEAD", "--yes", "--commit", "--format", "json")
        assert models.refused == []
        by_model = {call.model: [] for call in models.calls}
        for call in models.calls:
            by_model[call.model].append(json.dumps(call.schema))
        assert {call.protocol for call in models.calls} == {"ollama"}
    assert ran.code == 0, ran.said
    (found,) = ran.document["findings"]
    assert (found["proof"], found["check"]["author"]) == ("proven", "tester")
    (repair,) = ran.document["repairs"]
    assert (repair["outcome"], repair["author"]) == ("fixed", "proposer")
    assert [one["reason"] != "" for one in repair["tries"]] == [True, False]
    assert any('"verdicts"' in schema for schema in by_model[NAMES["reviewer"]]), "the Reviewer judged"
    assert any('"edits"' in schema for schema in by_model[NAMES["proposer"]]), "the Writer wrote"
    assert "Reviewbot-Finding: F1" in stage.repo.git("log", "-1", "--format=%B")
    assert ran.document["usage"]["cost_usd"] == 0
