"""Packages that extend reviewbot: the example, installed by pip, and broken ones, laid down as pip would leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from reviewbot.adapters.installed import GROUPS

PACKAGE = Path(__file__).with_name("package")


def install(target: Path) -> Path:
    """The example, built and installed without an index: what builds it is in the tests' environment."""
    command = [sys.executable, "-I", "-m", "pip", "install", "-q", "--no-build-isolation", "--no-index", "--no-deps"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(target), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [*command, "--target", str(target), str(PACKAGE)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return target


def lay(target: Path, package: str, source: str, points: Mapping[str, Mapping[str, str]], version: str = "1.0") -> Path:
    """A package of one module. ``points``: kind → name → what of the module it is (or ``module:name``)."""
    module = package.replace("-", "_")
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{module}.py").write_text(source, encoding="utf-8")
    info = target / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8")
    text = ""
    for kind, names in points.items():
        lines = (f"{name} = {value if ':' in value else f'{module}:{value}'}\n" for name, value in names.items())
        text += f"[{GROUPS[kind]}]\n{''.join(lines)}\n"
    (info / "entry_points.txt").write_text(text, encoding="utf-8")
    return target
