"""Speed of the program, as ratios of things that are measured in the same run.

    ./dev bench             the program without models
    ./dev bench debate      a debate of three models
    ./dev bench github      a pull request on a fake GitHub
    ./dev bench commits FOLDER [COUNT]      findings in commits of a project, see commits.py
    ./dev bench lines FOLDER [COUNT]        where broken tests are reported, see lines.py
    ./dev bench bugs FOLDER                 known bugs of projects, see bugs.py

Prints a table: what was measured, the figure, and the most it may be. Exits with 1 if one is above.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.timing import BIN, RUNS, Figure, best, git, own, run

CART = "def total(prices):\n    return sum(prices)\n"
TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
NO_OP = """
repos:
  - repo: local
    hooks:
      - {id: nothing, name: nothing, language: system, entry: "true", pass_filenames: false}
"""


def main() -> int:
    if sys.argv[1:2] in (["commits"], ["lines"]):
        from benchmarks import commits, lines

        bench = lines if sys.argv[1] == "lines" else commits
        folder, count = [*sys.argv[2:4], str(bench.COUNT)][:2] if sys.argv[2:] else ("", "")
        if folder and count.isdecimal() and Path(folder, ".git").exists():
            return bench.main(Path(folder), int(count))
        usage = f"usage: ./dev bench {sys.argv[1]} FOLDER [COUNT]; FOLDER is a clone"
        print(usage, file=sys.stderr)
        return 2
    if sys.argv[1:2] == ["bugs"]:
        from benchmarks import bugs

        if len(sys.argv) == 3 and Path(sys.argv[2]).is_dir():
            return bugs.main(Path(sys.argv[2]))
        print("usage: ./dev bench bugs FOLDER; FOLDER has clones", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:] == ["debate"]:
            from benchmarks import debate

            figures = list(debate.measure(Path(folder)))
        elif sys.argv[1:] == ["github"]:
            from benchmarks import github

            figures = list(github.measure(Path(folder)))
        else:
            figures = list(measure(Path(folder)))
    for what, value, unit, most in figures:
        verdict = "" if value <= most else "  TOO MUCH"
        print(f"{what:58} {value:8.2f} {unit:3} at most {most:g}{verdict}")
    return int(any(figure.value > figure.most for figure in figures))


def measure(folder: Path) -> Iterator[Figure]:
    python = best(lambda: run(folder, sys.executable, "-c", "pass"))
    version = best(lambda: run(folder, BIN / "reviewbot", "--version"))
    yield Figure("reviewbot --version, beyond bare Python", 1000 * (version - python), "ms", 40)

    make_project(folder)
    used = [own_of_review(folder) for _ in range(RUNS)]
    yield Figure("review HEAD without models, own CPU", median(u[0] for u in used), "s", 0.2)
    yield Figure("review HEAD without models, memory", max(u[1] for u in used), "MB", 60)

    (folder / ".pre-commit-config.yaml").write_text(NO_OP)
    no_op = best(lambda: run(folder, BIN / "pre-commit", "run", "--all-files"))
    for name, text in (("nothing to report", "x = 1\n"), ("a finding", "print(undefined)\n")):
        times = []
        for number in range(RUNS):
            (folder / "new.py").write_text(f"{text}# {number}\n")  # no recorded result answers
            git(folder, "add", "new.py")
            started = time.perf_counter()
            run(folder, BIN / "reviewbot", "hook", "run", "pre-commit")
            times.append(time.perf_counter() - started)
        what = f"commit hook with {name}, to a no-op pre-commit run"
        yield Figure(what, min(times) / no_op, "x", 1.5)


def make_project(folder: Path) -> None:
    git(folder, "init", "--quiet")
    for message, cart in (("Cart", CART), ("Tax", CART.replace("sum(prices)", "sum(prices) + 1"))):
        (folder / "cart.py").write_text(cart)
        (folder / "test_cart.py").write_text(TEST)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", f"--message={message}")


def own_of_review(folder: Path) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as state:
        return own(folder, None, "review", "HEAD", "--state", state)


if __name__ == "__main__":
    sys.exit(main())
