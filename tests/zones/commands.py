"""The three commands as processes, each with no more around it than it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.repo import Repo

TOP = Path(__file__).parents[2]
WATCHER = Path(__file__).with_name("watcher")
HANGS = 120.0
PASSING = ("run_id", "timing")
"""What differs between two equal reviews."""


@dataclass(frozen=True)
class Ran:
    """A process that ended: its exit code, what it said, and which processes and sockets it made."""

    code: int
    out: str
    err: str
    events: tuple[str, ...] = ()


class Zones:
    """The commands, over one folder of documents. What they are told of their environment is what a test gives them."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        self.events = folder.with_name(f"{folder.name}-events")
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *words: str | Path, cwd: Path | None = None, **environment: str) -> Ran:
        """One command line."""
        self.events.unlink(missing_ok=True)
        clean = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": f"{WATCHER}{os.pathsep}{TOP}",
            "EVENTS_FILE": str(self.events),
        }
        done = subprocess.run(
            (sys.executable, "-m", "reviewbot.cli", *map(str, words)),
            cwd=cwd or self.folder,
            env=clean | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HANGS,
            check=False,
        )
        events = self.events.read_text().splitlines() if self.events.exists() else ()
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(), tuple(events))

    def collect(self, repo: Repo, *words: str | Path, **environment: str) -> Ran:
        """Zone R."""
        return self.run("collect", *words, "--out", self.folder, cwd=repo.path, **environment)

    def debate(self, *words: str | Path, **environment: str) -> Ran:
        """Zone M."""
        papers = ("--changeset", "changeset.json", "--evidence", "evidence.json")
        return self.run("debate", *papers, *words, **environment)

    def publish(self, *words: str | Path, **environment: str) -> Ran:
        """Zone W."""
        return self.run("publish", "--review", "review.json", *words, **environment)

    def resumed(self, repo: Repo, *words: str | Path, most: int = 5, **environment: str) -> Ran:
        """The debate to its end: every experiment that it asks for is run by zone R."""
        known: tuple[str, ...] = ()
        for _ in range(most):
            ran = self.debate("--await-runner", *known, *words, **environment)
            assert ran.code == 0, ran.err
            if self.has("review.json"):
                return ran
            conducted = self.collect(repo, "HEAD", "--experiments", self.folder / "experiments.json")
            assert conducted.code == 0, conducted.err
            known = ("--verifications", "verifications.json")
        raise AssertionError(f"the debate asks for more and more: {self.read('experiments.json')}")

    def read(self, name: str) -> dict[str, Any]:
        """A document."""
        found: dict[str, Any] = json.loads((self.folder / name).read_text())
        return found

    def write(self, name: str, document: object) -> None:
        """Put a document in the place of another."""
        (self.folder / name).write_text(json.dumps(document))

    def has(self, name: str) -> bool:
        """A document was written."""
        return (self.folder / name).is_file()


def essence(document: dict[str, Any]) -> dict[str, Any]:
    """A review without what tells when and by which run it was made."""
    found = {name: value for name, value in document.items() if name not in PASSING}
    return found | {"notes": [note for note in document["notes"] if note != "an interrupted debate was resumed"]}
