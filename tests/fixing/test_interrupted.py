"""Interrupted and killed from outside: the work tree and the index are as they were, and nothing that was paid is paid again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.fakes import Answer, Models, Seen
from tests.fixing.seeded import MENDS, SEEDED, Seeded

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]


@pytest.fixture
def stage(tmp_path: Path):
    bug = next(bug for bug in SEEDED if bug.name == "python/price-truncated-cents")
    made = Seeded(tmp_path, bug)
    yield made
    made.close()


@pytest.mark.parametrize("which", ["edits", "verdicts"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_stops_it_while_models_work_finds_everything_as_it_was(stage: Seeded, which: str, number: int):
    before = stage.state_of()
    with Models() as models:
        stage.seat(models, written=[MENDS[stage.bug.name]["right"]])
        plain = models.script
        process = None

        def stops(seen: Seen):
            asked = set((seen.schema or {}).get("properties", {}))
            answer = plain(seen)
            if which in asked:
                assert isinstance(answer, Answer)
                return Answer(answer.text, before_reply=lambda: os.kill(process.pid, number))
            return answer

        models.script = stops
        process = stage.start("fix", "HEAD", "--yes", "--format", "json")
        ran = stage.ended(process)
        assert ran.code in (130, 143, -number), ran.said
        assert stage.state_of() == before
        paid = len(models.calls)
        models.script = plain
        again = stage.run("fix", "HEAD", "--yes", "--format", "json")
        assert again.code == 0, again.said
        assert again.document["repairs"][0]["outcome"] == "fixed"
        assert 0 < len(models.calls) - paid <= 3, "what was answered is not asked again"
    changed = {name for name, value in stage.state_of().items() if before.get(name) != value and not name.startswith(".git/")}
    assert changed == {stage.bug.path}
