"""The README, followed from top to bottom on a machine that has seen nothing of reviewbot: real clone, real pip, real commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.clone import Machine
from tests.docs.pages import TOP, blocks
from tests.docs.play import Reader
from tests.docs.vendors import answering
from tests.sandboxes import need_bubblewrap

README = TOP / "README.md"
BIN = Path(sys.prefix) / "bin"

HERE = {
    "git clone <this repository> reviewbot && cd reviewbot": 'git clone -q "$ORIGIN" reviewbot && cd reviewbot',
    "reviewbot init --yes --workflow review --action-ref <owner>/reviewbot@<commit>": (
        "reviewbot init --yes --workflow review --action-ref octo/reviewbot@0123456789abcdef0123456789abcdef01234567"
    ),
}
"""What the reader fills in."""

ANYWAY = (r"pip install 'reviewbot\[models\]'.*",)
"""Commands of the table that are run here all the same: wheels lie ready."""


@pytest.mark.matrix
@pytest.mark.ci
def test_the_readme_can_be_followed(tmp_path: Path) -> None:
    need_bubblewrap()
    pytest.importorskip("editables", reason="the build of an editable installation wants it: pip install editables")
    with answering() as models:
        machine = Machine(tmp_path, models.url)
        reader = Reader("README.md", machine.shell, instead=HERE, anyway=ANYWAY)
        reader.follow(blocks(README))
        assert not reader.wrong, "\n\n".join(reader.wrong)
        assert models.calls, "models were asked"
        assert models.refused == []
    _check_workflow(machine.home / "project" / ".github" / "workflows" / "review.yml")
    attempts = machine.scratch.attempts
    assert not attempts.exists(), attempts.read_text(encoding="utf-8")


def _check_workflow(written: Path) -> None:
    """What was written is a workflow that GitHub takes and that no linter minds."""
    offline = ("--offline", "--no-progress", "--quiet", "--config", str(TOP / ".github" / "zizmor.yml"))
    for command in (("check-jsonschema", "--builtin-schema", "vendor.github-workflows"), ("zizmor", *offline)):
        done = subprocess.run([BIN / command[0], *command[1:], written], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
