"""Models before a commit: only where somebody asks for them, and never from memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes import Models
from tests.hooks.lab import BROKEN, Lab, differing

pytestmark = pytest.mark.ci

RUN = ("hook", "run", "pre-commit")


def test_models_are_asked_for_by_name_each_time_and_nothing_of_the_change_runs(tmp_path: Path):
    lab = Lab(tmp_path)
    witness = tmp_path / "witness"
    lab.stage("conftest.py", f"open({str(witness)!r}, 'w').close()\n")
    lab.stage("test_a.py", "def test_a():\n    assert True\n")
    lab.stage("a.py", BROKEN)
    lab.repo.write("a.py", "only = 'in the work tree'\n")
    with Models() as models:
        user = lab.repo.home / ".config" / "reviewbot" / "config.yml"
        user.parent.mkdir(parents=True)
        user.write_text(json.dumps({"version": 1, "providers": {"openai": {"base_url": f"{models.url}/v1", "local": True}}}))
        lab.extra["OPENAI_API_KEY"] = "sk-test"
        before = lab.snapshot()
        made = lab.reviewbot(*RUN)
        assert "static panel" in made.err
        assert models.calls == []
        made = lab.reviewbot(*RUN, "--panel", "models", "--format", "json")
        assert made.code == 0, made.err
        assert made.document["panel"][0]["model"].startswith("openai:")
        assert models.calls
        assert "seen=[]" in models.calls[0].prompt
        assert "only = 'in the work tree'" not in "".join(call.prompt for call in models.calls)
        assert len(list((lab.state / "hooks" / "records").iterdir())) == 1, "what models say is never told from memory"
    assert not witness.exists()
    assert differing(before, lab.snapshot()) == []
