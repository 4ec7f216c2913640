"""A model that mends with the ``code`` tool, from outside: what it wrote is proved, kept version by version, and replayed for free."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Answer, Models, Seen, Wish
from tests.fixing.seeded import MENDS, SEEDED, Seeded

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
BUG = next(bug for bug in SEEDED if bug.name.startswith("python"))


def script(stage: Seeded, models: Models) -> Callable[[Seen], Any]:
    """Whoever may write with the tool tries to get out first, then writes what is right; the answer itself holds no edits."""
    stage.seat(models, written=[()])
    otherwise = models.script
    mend = [{"action": "update", "path": BUG.path, "find": find, "replace": text} for find, text in MENDS[BUG.name]["right"]]
    escape = {"action": "create", "path": "escaped.py", "content": "x"}
    steps = [[Wish("code", escape), Wish("code", {"action": "read", "path": BUG.path})], [Wish("code", one) for one in mend]]

    def answer(seen: Seen) -> Any:
        if "code" in seen.tools and len(seen.exchanges) < len(steps):
            return Answer(tool_calls=tuple(steps[len(seen.exchanges)]))
        return otherwise(seen)

    return answer


def test_what_is_written_with_the_tool_is_proved_kept_and_replayed(tmp_path: Path) -> None:
    stage = Seeded(tmp_path / "fix", BUG)
    right = MENDS[BUG.name]["right"]
    with Models() as models:
        models.script = script(stage, models)
        ran = stage.run("fix", "HEAD", "--format", "json")
        assert models.refused == []
        (repair,) = ran.document["repairs"]
        assert repair["outcome"] == "fixed", repair
        writing = [seen for seen in models.calls if "code" in seen.tools]
        assert len(writing) == 3, "two steps and the answer"
        assert "may not be created" in str(writing[-1].exchanges[0].results)
        assert len(writing) < len(models.calls), "only those who are asked for code"
        asked = len(models.calls)
        again = stage.run("fix", "HEAD", "--format", "json")
        assert len(models.calls) == asked, "nothing is asked twice"
    assert again.document["repairs"] == ran.document["repairs"]
    assert list(tmp_path.rglob("escaped.py")) == []
    sessions = json.loads(stage.run("sessions", "list", "--format", "json").out)
    assert len(sessions) == 2
    for session in sessions:
        shown = json.loads(stage.run("sessions", "show", session["id"], "--format", "json").out)
        (tried,) = shown["repairs"][0]["tries"]
        assert [(one["path"], one["by"]) for one in tried["versions"]] == [(BUG.path, "proposer")] * len(right)
        assert tried["versions"][-1]["content"] == mended(stage, repair["patch"])


def mended(stage: Seeded, patch: str) -> str:
    """The file with the patch in it, as git applies it."""
    stage.repo.run("apply", stdin=patch.encode())
    text = (stage.repo.path / BUG.path).read_text()
    stage.repo.git("checkout", "-q", "--", ".")
    return text
