"""What the checks of a change cost against running the same tools by hand, and what a second push costs.

Builds a project in three languages, changes it twice, and runs ``reviewbot review`` (static panel, nothing remembered, then with
what was remembered) and the same tools by hand on both ends, in turn. Ratios, not seconds, are the result: machines differ.

    python benchmarks/proof.py [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import figures

COMMAND = Path(sys.executable).with_name("reviewbot")
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C.UTF-8",
}
MODULES = 12
SECOND = 0.06
"""Seconds that a test of the project sleeps: tests of real projects wait for something."""


TEST = """import time

from shop.part{number} import value


def test_value():
    time.sleep({seconds})
    assert value(1) == {value}
"""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="reviewbot-bench-") as folder:
        place = Place(Path(folder))
        by_hand, first, second = [], [], []
        for number in range(rounds):
            by_hand.append(timed(place.by_hand))
            place.forget()
            first.append(timed(lambda: place.review("HEAD~1..HEAD")))
            place.push(number)
            second.append(timed(lambda: place.review("HEAD~2..HEAD")))
        tools = ", ".join(name for name, *_ in place.tools())
        figures.begin("checks", f"{tools}; both ends of a change of {MODULES} modules, {MODULES} scripts and a package")
        figures.tell("by hand, one after the other", by_hand, "s")
        figures.tell("reviewbot, nothing kept", first, "s")
        figures.tell("reviewbot, nothing kept / by hand", [median(first) / median(by_hand)], "×")
        figures.tell("reviewbot, second push", second, "s")
        figures.tell("reviewbot, second push / the first", [median(second) / median(first)], "×")
    return 0


def timed(work: Callable[[], object]) -> float:
    """Seconds of it."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Place:
    """The project, its history and a home."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.repo, self.home = folder, folder / "project", folder / "home"
        self.repo.mkdir()
        self.home.mkdir()
        self._git("init", "-q", "-b", "main")
        for number in range(MODULES):
            self._write(f"shop/part{number}.py", f"def value(amount):\n    return amount + {number}\n")
            self._write(f"tests/test_part{number}.py", TEST.format(number=number, seconds=SECOND, value=number + 1))
            self._write(f"scripts/step{number}.sh", f'#!/bin/bash\nset -eu\nname="$1"\necho "$name {number}"\n')
        self._write("shop/__init__.py", "")
        self._write("go.mod", "module example.org/shop\n\ngo 1.19\n")
        self._write("cart/cart.go", "package cart\n\nfunc Total(a, b int) int {\n\treturn a + b\n}\n")
        self._write(
            "cart/cart_test.go",
            'package cart\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif Total(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n',
        )
        self._commit("Begin")
        for number in range(MODULES):
            self._write(f"shop/part{number}.py", f"def value(amount, more=0):\n    return amount + {number} + more\n")
            self._write(f"scripts/step{number}.sh", f'#!/bin/bash\nset -eu\nname="$1"\nprintf "%s\\n" "$name {number}"\n')
        self._write("cart/cart.go", "package cart\n\nfunc Total(a, b int) int {\n\treturn b + a\n}\n")
        self._commit("Change every part")

    def push(self, number: int) -> None:
        """One more commit on top: the base of the whole change stays."""
        while int(self._git("rev-list", "--count", "HEAD")) > 2:
            self._git("reset", "-q", "--hard", "HEAD~1")
        self._write("shop/part0.py", f"def value(amount, more=0):\n    return amount + more + 0 * {number}\n")
        self._commit("One more step")

    def forget(self) -> None:
        """A first review: the history without the last push, and nothing remembered."""
        while int(self._git("rev-list", "--count", "HEAD")) > 2:
            self._git("reset", "-q", "--hard", "HEAD~1")
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()

    def review(self, target: str) -> None:
        """One review as a user makes it."""
        done = self._run([str(COMMAND), "review", target, "--panel", "static", "--format", "json"], self.repo)
        ran = {name for name, *_ in self.tools()}
        document = json.loads(done.stdout)
        assert document["conclusion"] == "complete", document["notes"]
        assert ran

    def tools(self) -> list[tuple[str, list[str]]]:
        """What a person would run."""
        python, scripts = sys.executable, sorted(path.name for path in (self.repo / "scripts").iterdir())
        found = [
            ("pytest", [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]),
            ("ruff", ["ruff", "check", "--no-cache", "shop", "tests"]),
            ("shellcheck", ["shellcheck", *(f"scripts/{name}" for name in scripts)]),
            ("go-vet", ["go", "vet", "./..."]),
            ("go-test", ["go", "test", "-count=1", "./..."]),
        ]
        return [(name, argv) for name, argv in found if shutil.which(argv[0], path=ENVIRONMENT["PATH"])]

    def by_hand(self) -> None:
        """All of them at both ends, in folders of their own, with empty caches as in a sandbox."""
        for commit in ("HEAD~1", "HEAD"):
            tree = Path(tempfile.mkdtemp(dir=self.folder))
            archive = subprocess.run(["git", "archive", commit], cwd=self.repo, env=ENVIRONMENT, capture_output=True, check=True)
            subprocess.run(["tar", "-x"], cwd=tree, input=archive.stdout, check=True)
            for name, argv in self.tools():
                cache = {"GOCACHE": str(tree / f"cache-{name}"), "GOFLAGS": "-mod=mod", "PYTHONDONTWRITEBYTECODE": "1"}
                subprocess.run(argv, cwd=tree, env={**ENVIRONMENT, "HOME": str(tree), **cache}, capture_output=True, check=False)

    def _write(self, name: str, text: str) -> None:
        place = self.repo / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def _commit(self, subject: str) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "-m", subject)

    def _git(self, *words: str) -> str:
        return self._run(["git", *words], self.repo).stdout.decode()

    def _run(self, argv: Sequence[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(argv, cwd=folder, env={**ENVIRONMENT, "HOME": str(self.home)}, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr.decode(errors="replace")[-2000:]
        return done


if __name__ == "__main__":
    sys.exit(main())
