"""What a hook before a commit may load: next to nothing at a glance, little where it reads files, no model's library ever."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_startup import OF_MODELS
from tests.hooks.lab import BROKEN, CLEAN, Lab

RUN = ("hook", "run", "pre-commit")
AT_A_GLANCE = {
    "reviewbot",
    "reviewbot.cli",
    "reviewbot.cli.glance",
    "reviewbot.cli.glance_git",
    "reviewbot.cli.glance_memory",
    "reviewbot.errors",
}
NEVER_AT_A_GLANCE = {
    "click",
    "json",
    "re",
    "pathlib",
    "subprocess",
    "dataclasses",
    "typing",
    "tempfile",
    "yaml",
    "inspect",
    "threading",
}
NEVER_WHERE_IT_IS_QUIET = {
    *OF_MODELS,
    "asyncio",
    "jinja2",
    "rich",
    "sqlite3",
    "yaml",
    "reviewbot.config",
    "reviewbot.debate",
    "reviewbot.consensus",
    "reviewbot.context",
    "reviewbot.briefing",
    "reviewbot.drive",
    "reviewbot.autofix",
    "reviewbot.adapters.sandbox",
    "reviewbot.adapters.panel",
    "reviewbot.adapters.store",
    "reviewbot.pipeline.whole",
    "reviewbot.wiring.order",
    "reviewbot.wiring.reviewing",
    "reviewbot.evidence.presets",
    "reviewbot.evidence.collect",
    "reviewbot.publish.document",
}
NEVER = {
    *OF_MODELS,
    "rich",
    "sqlite3",
    "reviewbot.autofix",
    "reviewbot.pipeline.trying",
    "reviewbot.pipeline.goals",
    "reviewbot.adapters.store",
}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def loaded(lab: Lab) -> set[str]:
    """The modules that are there after the hook."""
    told = lab.folder / "modules.json"
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; from reviewbot.cli import main; code = main(); modules = list(sys.modules)\n"
        f"import json; json.dump(modules, open({str(told)!r}, 'w')); sys.exit(code)"
    )
    words = [sys.executable, "-S", "-c", program, *RUN]
    subprocess.run(words, cwd=lab.path, env=lab.environment, check=True, capture_output=True, timeout=120)
    return set(json.loads(told.read_text()))


@pytest.mark.ci
def test_each_level_loads_what_it_needs(lab: Lab):
    lab.stage("a.py", CLEAN)
    quiet = loaded(lab)
    assert "reviewbot.pipeline.quiet" in quiet
    assert quiet & NEVER_WHERE_IT_IS_QUIET == set()
    glance = loaded(lab)
    assert {name for name in glance if name.partition(".")[0] == "reviewbot"} == AT_A_GLANCE
    assert glance & NEVER_AT_A_GLANCE == set()
    lab.stage("a.py", BROKEN)
    whole = loaded(lab)
    assert "reviewbot.pipeline.whole" in whole
    assert whole & NEVER == set()
    assert loaded(lab) & NEVER_AT_A_GLANCE == set()
