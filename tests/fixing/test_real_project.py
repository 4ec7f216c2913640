"""A real project of more than 10,000 lines that takes ruff up: what ruff can mend is mended, proved and committed, without any model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.models.stage import Stage

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
RULES = "I,UP006"
TEST = """
from jinja2 import Environment


def test_a_template_is_rendered():
    shown = Environment(autoescape=True).from_string("{% for n in names if n %}{{ loop.index }} {{ n|upper }};{% endfor %}")
    assert shown.render(names=["a", "", "<b>"]) == "1 A;2 &lt;B&gt;;"
"""


def broken(top: Path) -> list[dict[str, object]]:
    """What ruff, asked by hand, could mend safely."""
    words = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        RULES,
        "--output-format",
        "json",
        "--exit-zero",
        ".",
    ]
    ran = subprocess.run(words, cwd=top, capture_output=True, text=True, timeout=60, check=True)
    return [one for one in json.loads(ran.stdout) if one["fix"] and one["fix"]["applicability"] == "safe"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path, functions=1)
    origin = find_spec("jinja2").origin  # type: ignore[union-attr]
    for source in sorted(Path(str(origin)).parent.glob("*.py")):
        made.repo.write(f"jinja2/{source.name}", source.read_text(encoding="utf-8"))
    made.repo.write("tests/test_render.py", TEST)
    made.repo.write("ruff.toml", f'target-version = "py311"\n[lint]\nselect = {json.dumps(RULES.split(","))}\n')
    made.repo.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    made.repo.git("config", "user.name", "Ada")
    made.repo.git("config", "user.email", "ada@example.org")
    made.repo.commit("Take ruff up")
    return made


def test_what_ruff_can_mend_is_mended_proved_and_committed(stage: Stage) -> None:
    top = stage.repo.path
    lines = sum(path.read_text().count("\n") for path in top.rglob("*.py"))
    before, head = broken(top), stage.repo.git("rev-parse", "HEAD").strip()
    assert lines > 10_000
    assert len(before) > 250
    words = ("fix", "--all", "--yes", "--commit", "--panel", "static", "--timeout", "300", "--format", "json")
    fixed: list[dict[str, Any]] = []
    for _ in range(2):  # what changes the same lines as another fix is mended after that one
        ran = stage.run(*words, seconds=600)
        assert ran.code == 0, ran.said
        assert ran.document["usage"]["calls"] == 0
        fixed += [one for one in ran.document["repairs"] if one["outcome"] == "fixed"]
    assert {one["author"] for one in fixed} == {"ruff"}
    assert all(one["proof"]["told"] for one in fixed)
    assert broken(top) == []
    commits = stage.repo.git("log", "--format=%(trailers:key=Reviewbot-Finding,valueonly)", f"{head}..HEAD").split()
    assert sorted(commits) == sorted(one["finding"] for one in fixed if one["patch"])
    assert stage.repo.git("status", "--porcelain") == ""
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=top, capture_output=True, text=True, timeout=60, check=False
    )
    assert tested.returncode == 0, tested.stdout
    shutil.rmtree(top)
