"""Trees as folders, and the formal probes run on them as programs of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviewbot.adapters.sandbox.plain import PROBES
from reviewbot.evidence.parsers import formal
from reviewbot.evidence.parsers.formal import Counterexample, FormalReport, Searched, Unable

GUESSES = {"seconds": 30, "examples": 60, "paths": 0, "call_seconds": 0.7}
"""No CrossHair: for tests that are not about it."""


@dataclass
class Folders:
    """A folder of a test, with ``base`` and ``head`` in it."""

    top: Path
    runs: int = 0

    def lay(self, side: str, files: dict[str, str]) -> Path:
        """Write the files of one tree."""
        for name, text in files.items():
            path = self.top / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return self.top / side

    def run(self, probe: str, spec: dict[str, Any]) -> FormalReport:
        """A probe's report, read as reviewbot reads it."""
        self.runs += 1
        spec_path, report = self.top / f"spec{self.runs}.json", self.top / f"report{self.runs}.jsonl"
        spec_path.write_text(json.dumps(spec))
        done = subprocess.run(
            [sys.executable, "-s", "-B", str(PROBES / f"reviewbot_{probe}.py"), str(spec_path), str(report)],
            cwd=self.top,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == done.stderr == ""
        found = formal.read(report.read_bytes())
        assert found.finished
        return found

    def compare(self, base: str, head: str, function: str = "f", **spec: Any) -> Counterexample | Searched | Unable:
        """What the search for a difference comes to, of a module ``shop.py`` in two versions."""
        trees = {"base": str(self.lay("base", {"shop.py": base})), "head": str(self.lay("head", {"shop.py": head}))}
        return self.search(trees | GUESSES | {"path": "shop.py", "function": function} | spec)

    def search(self, spec: dict[str, Any]) -> Counterexample | Searched | Unable:
        (result,) = self.run("behaviour", spec).results
        assert not isinstance(result, formal.Replayed)
        return result

    def claim(self, code: str, claim: str, **spec: Any) -> Iterator[Counterexample | Searched | Unable]:
        """What the search comes to for each condition of a specification of ``shop.py``."""
        tree = self.lay("tree", {"shop.py": code})
        report = self.run("contract", {"tree": str(tree), "spec": textwrap.dedent(claim)} | GUESSES | spec)
        for result in report.results:
            assert not isinstance(result, formal.Replayed)
            yield result

    def replay(self, **spec: Any) -> formal.Called | formal.Judged | Unable:
        (result,) = self.run("replay", spec).results
        assert isinstance(result, formal.Replayed | Unable)
        return result.outcome if isinstance(result, formal.Replayed) else result
