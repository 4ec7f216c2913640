"""What checks do with a whole tree: they run once, with its own configuration, and everything they say counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import diff
from reviewbot.domain.change import Contents
from reviewbot.domain.evidence import EvidenceStatus, Side
from reviewbot.domain.target import Target, TargetKind
from reviewbot.evidence import collect, plan, presets, sources
from reviewbot.evidence.match import Heard
from reviewbot.evidence.view import SETTINGS, Benchmark, CheckOptions, Custom, View
from reviewbot.ports import Ended, Job, Outcome
from tests.repo import Repo

PRESETS = ("ruff", "pytest", "migrations", *presets.TOOLS, *presets.SUITES)
OPTIONS = CheckOptions(
    presets=PRESETS,
    custom=(
        Custom("house", ("./check",), parser="gnu"),
        Custom("cover", ("./cover",), parser="coverage-xml", files=("*.py",)),
        Custom("suite", ("./suite",), parser="junit", files=("*.py",)),
    ),
    benchmarks=(Benchmark("speed", ("./speed",), "hyperfine"),),
)


@pytest.fixture
def tree(git_repo: Repo, tmp_path: Path) -> View:
    """A tree of many languages, as an audit sees it."""
    for name, text in {
        "pyproject.toml": "[tool.mypy]\nstrict = true\n[tool.ruff]\n",
        "shop/price.py": "def price(amount, seen=[]):\n    return amount\n",
        "shop/known.py": "def known(seen=[]):  # noqa: B006\n    return seen\n",
        "tests/test_price.py": "def test_price():\n    assert False\n",
        "migrations/V1__a.sql": "CREATE TABLE a (id serial);\n",
        "go.mod": "module shop\n",
        "shop.go": "package shop\n",
        ".golangci.yml": "run: {}\n",
        "package.json": '{"scripts": {"test": "node --test"}, "devDependencies": {"eslint": "9"}}\n',
        "eslint.config.js": "export default [];\n",
        "shop.js": "export const a = 1;\n",
        "run.sh": "#!/bin/sh\ntrue\n",
    }.items():
        git_repo.write(name, text)
    git_repo.commit()
    (tmp_path / "scratch").mkdir()
    git = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    revisions = git.resolve(Target(TargetKind.ALL))
    change = diff.read(git.diff(revisions), revisions)
    contents = {file.path: Contents(None, git.blob(file.new_id or "")) for file in change.files}
    paths = tuple(entry.path for entry in git.entries(revisions.head_tree or ""))
    settings = {name: contents[name].head or b"" for name in SETTINGS if name in contents}
    git.close()
    return View(change, change.files, contents, paths, settings=settings, sandbox="bubblewrap")


def planned(tree: View) -> dict[str, Job]:
    return {job.name: job for job in plan.plan(tree, OPTIONS).jobs}


def test_no_check_runs_twice_and_none_compares(tree: View) -> None:
    jobs = planned(tree)
    assert {"pytest:head", "ruff:head", "ruff-project:head", "mypy:head", "go-test:head", "npm-test:head", "house:head"} <= set(
        jobs
    )
    assert not [name for name in jobs if "base" in name or "overlay" in name]
    assert not {name for name in jobs if name.startswith(("cover", "speed", "migrations", "api"))}
    assert not [job.name for job in jobs.values() if job.beside]


def test_a_trusted_tree_keeps_its_own_configuration(tree: View) -> None:
    for job in planned(tree).values():
        assert job.without == (), job.name
        assert not job.overlay or job.name == "ruff-project:head"


def test_all_that_is_said_at_head_is_new_but_for_what_the_project_silenced(tree: View) -> None:
    said = b'[{"filename": "00000/module.py", "code": "B006", "message": "x", "location": {"row": 1, "column": 1}, \
"end_location": {"row": 1, "column": 2}}]'
    places = {number: file.path for number, file in enumerate(tree.python())}
    both = [said.replace(b"00000", f"{number:05}".encode()) for number, path in places.items() if path.startswith("shop/")]
    output = b"[" + b",".join(part[1:-1] for part in both) + b"]"
    wanted = plan.plan(tree, CheckOptions(presets=("ruff",)))
    outcomes = [Outcome(Ended.EXITED, 0, output if job.name == "ruff:head" else b"[]", b"", 0.1) for job in wanted.jobs]
    ledger = collect.collect(tree, wanted, outcomes, read=Heard(), options=CheckOptions(presets=("ruff",)))
    found = {(item.result.path, item.status, item.suppressed) for item in ledger.items}
    assert found == {("shop/price.py", EvidenceStatus.NEW, False), ("shop/known.py", EvidenceStatus.EXISTING, True)}
    assert {item.revision for item in ledger.items} == {Side.HEAD}


def test_what_analysers_say_of_the_whole_tree_is_new(tree: View) -> None:
    contents = dict(tree.contents) | {"run.sh": Contents(None, b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")}
    view = View(tree.change, tree.files, contents, tree.paths, settings=tree.settings)
    wanted = plan.plan(view, CheckOptions(presets=()))
    ledger = collect.collect(view, wanted, [], read=sources.hear(sources.ends(view)), options=CheckOptions(presets=()))
    assert ("run.sh", EvidenceStatus.NEW) in {(item.result.path, item.status) for item in ledger.items}
