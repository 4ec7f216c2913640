"""Programs of the npm registry that the tests of the Action ask: ``./dev test`` installs them beside the environment."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parent / "node"
INSTALLED = Path(sys.prefix) / "reviewbot-node"
"""Where ``./dev test`` runs ``npm ci`` for ``package-lock.json``."""


def ask(script: str, question: object) -> Any:
    """What a script of ``node/`` answers. The test is skipped where node or its packages are missing."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: sudo apt-get install nodejs npm")
    if not (INSTALLED / "node_modules").is_dir():
        pytest.skip("the packages of tests/action/node are not installed: './dev test' does it")
    lock = (SCRIPTS / "package-lock.json").read_text(encoding="utf-8")
    if (INSTALLED / "package-lock.json").read_text(encoding="utf-8") != lock:
        pytest.skip("the packages of tests/action/node are out of date: './dev test' brings them up to date")
    done = subprocess.run(
        [node, SCRIPTS / script, INSTALLED], input=json.dumps(question).encode(), capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return json.loads(done.stdout)
