"""Projects in folders of a repository whose top is none."""

from __future__ import annotations

import asyncio
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from conftest import Project
from each import each
from lean import lean_environment
from scripted import Answer, Scripted, by_edit

from reviewbot.checks.languages.go import GO
from reviewbot.checks.languages.python import PYTHON
from reviewbot.checks.project import find_uses, folder_of
from reviewbot.fixing import fix, fix_report
from reviewbot.git.change import Target
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.job import Job
from reviewbot.services import Host
from reviewbot.tasks.task import TaskResult
from reviewbot.verdict.document import Review

CART = "from typing import List\n\n\ndef total(prices: List[int]) -> int:\n    return sum(prices)\n"
TEST = "from {} import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
CONFIG = """
[project]
name = "api"
version = "1"
[tool.pytest.ini_options]
pythonpath = ["src"]
[tool.ruff.lint]
select = ["UP006"]
[tool.mypy]
strict = true
"""
EMPTY = "from cart import total\n\n\ndef test_empty():\n    assert total([]) == 0\n"
API = "services/api/src/cart.py"
FILES = {
    "prices.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_prices.py": TEST.format("prices"),
    "services/api/pyproject.toml": CONFIG,
    API: CART,
    "services/api/tests/test_cart.py": TEST.format("cart"),
    "services/web/setup.py": "from setuptools import setup\n\nsetup()\n",
    "services/web/page.py": "x = 1\n",
    "services/web/tests/test_page.py": "import page\n\n\ndef test_x():\n    assert page.x == 1\n",
}


@pytest.fixture
def services(project: Project) -> Project:
    """Two services with tests, and a module with its test at the top."""
    project.commit("Begin", FILES)
    return project


def results_of(review: Review) -> dict[str, str]:
    return {check.check: check.text for check in review.checks if check.kind != "scan"}


def test_each_project_is_checked_in_its_folder(services: Project) -> None:
    services.environment = sys.prefix  # it has mypy
    broken = CART.replace("sum(prices)", 'len(prices) + "1"') + "\n\ndef more(x: List[str]): ...\n"
    services.commit("Change", {API: broken})
    review = services.review()
    places = {f"{f.result.check} {f.rule}": str(f.location) for f in review.findings if f.result}
    path = "services/api"
    assert places == {
        f"mypy {path} operator": f"{API}:5",
        f"mypy {path} no-untyped-def": f"{API}:8",
        f"pytest {path} services/api/tests/test_cart.py::test_total": f"{API}:5",
        f"ruff-project {path} UP006": f"{API}:8",
    }
    # Neither the other service nor the top has anything to do with it.
    assert [name for name in results_of(review) if "pytest" in name] == [f"pytest {path}"]
    (lines,) = (c for c in review.coverage if c.statements)
    assert (lines.path, lines.executed) == (API, 1)


def test_lines_that_only_others_could_run_do_not_count(services: Project) -> None:
    """A suite says nothing of another project, not even that its lines did not run."""
    services.commit("Hide", {"services/api/coverage.py": ""})  # its lines are not measured
    page = "services/web/page.py"
    services.commit("Change", {API: f"{CART}\n\nx = 1\n", page: "x = 1 + 0\n"})
    lines = {c.path: (c.statements, c.executed) for c in services.review().coverage}
    assert lines == {API: (0, 0), page: (1, 1)}


USES = [
    ("package.json", '{"dependencies": {"@a/web": "^1.0", "b": "2"}}', "b web"),
    ("package.json", '{"dependencies": {"of-others": "^1.0"}}', ""),
    ("package.json", '{"devDependencies": {"web": "file:../../libs/web/", "b": "git:"}}', "web"),
    ("package.json", '{"peerDependencies":{"@a/web":"workspace:*"},"scripts":{"b":"b"}}', "web"),
    ("pyproject.toml", "[tool.uv.sources]\nb = {workspace = true}\nweb = {git = ''}\n", "b"),
    ("requirements.txt", "b>=1\n-e ../../libs/web[all]\n", "web"),
    ("Cargo.toml", '[dependencies]\nb = "1"\nweb = { path = "../../libs/web/src" }\n', "web"),
]


@each("file, text, used", USES)
def test_which_projects_a_project_uses(file: str, text: str, used: str) -> None:
    names = {"libs/web/package.json": '{"name":"@a/web"}', "libs/b/Cargo.toml": '\nname = "b"'}
    projects = ["apps", "apps/a", "libs/b", "libs/web"]
    uses = find_uses(projects, {**names, f"apps/a/{file}": text})
    folders = {f"libs/{name}" for name in used.split()}
    assert uses == {"apps": set(), "apps/a": folders, "libs/b": set(), "libs/web": set()}


def test_who_uses_what_changes_runs_his_tests(services: Project) -> None:
    """Also if nothing changes in his folder."""
    config = '[tool.pytest.ini_options]\npythonpath = ["../api/src"]\n'
    shop = {"services/shop/pyproject.toml": config}
    services.commit("Use", shop | {"services/shop/tests/test_shop.py": EMPTY})
    services.commit("Change", {API: CART.replace("sum(prices)", "sum(prices) or len('a')")})
    review = services.review()
    (finding,) = review.findings
    assert (str(finding.location), finding.rule) == (
        *(f"{API}:5", "services/shop/tests/test_shop.py::test_empty"),
    )
    assert results_of(review)["pytest services/api"] == "1 passed"
    assert "pytest services/web" not in results_of(review)


def test_the_top_has_its_own_tests_alone(services: Project) -> None:
    services.commit("Change", {"prices.py": "def total(prices):\n    return sum(prices) + 0\n"})
    review = services.review()
    assert results_of(review)["pytest"] == "1 passed"
    assert "pytest services/api" not in results_of(review)


def test_a_tool_runs_where_it_is_configured(project: Project) -> None:
    """At the top or between, where the folder of a project does not configure it."""
    project.environment = sys.prefix
    files = {f"python/libs/{name}/setup.py": "" for name in ("own", "cart")}
    files["mypy.ini"] = "[mypy]\nstrict = true\n"
    files["python/ruff.toml"] = 'lint.select = ["UP006"]\n'
    files["python/libs/own/ruff.toml"] = 'lint.select = ["E711"]\n'
    project.commit("Begin", files)
    wrong = "from typing import List\n\n\ndef more(x: List[str]):\n    return x == None\n"
    project.commit("Add", {f"python/libs/{name}/{name}.py": wrong for name in ("own", "cart")})
    cart, own = "python/libs/cart/cart.py", "python/libs/own/own.py"
    found = {(f.result.check, str(f.location)) for f in project.review().findings if f.result}
    assert found == {
        ("mypy", f"{cart}:4"),
        ("mypy", f"{own}:4"),
        ("ruff-project python", f"{cart}:4"),
        ("ruff-project python/libs/own", f"{own}:5"),
    }


def test_packages_that_many_projects_lack_are_one_gap(project: Project) -> None:
    """Whether tests, a conftest.py or an option of a plug-in that is missing shows that."""
    lacks, config = "import nowhere_at_all\n", "[pytest]\naddopts = --strict-config\nplugged = 1\n"
    files = {f"{name}/pytest.ini": config if name in "ab" else "" for name in "abcd"}
    files |= {f"{name}/tests/test_it.py": lacks for name in "abcd"}
    project.commit("Begin", files | {"a/tests/conftest.py": lacks, "e/pytest.ini": ""})
    project.commit("Change", {f"{name}/x.py": "" for name in "abcd"})
    (gap,) = project.review().gaps
    assert gap == (
        "pytest a is incomplete: ModuleNotFoundError: No module named 'nowhere_at_all'"
        " (a/tests/conftest.py): install it into the project's environment (0 passed);"
        " packages are missing for pytest b, pytest c and 1 more as well"
    )


def test_a_tool_that_fails_in_many_projects_says_why_in_each(project: Project) -> None:
    ruff = 'lint.select = ["UP006"]\nline-length = "{}"\n'
    files = {f"{name}/ruff.toml": ruff.format(name) for name in "ab"}
    project.commit("Begin", files | {f"{name}/setup.py": "" for name in "ab"})
    project.commit("Change", {f"{name}/x.py": "" for name in "ab"})
    gaps = [gap.partition(":")[0] for gap in project.review().gaps]
    assert gaps == ["ruff-project a is incomplete", "ruff-project b is incomplete"]


def test_a_project_that_tests_read_is_none_of_the_repository(project: Project) -> None:
    folder = "tests/data/app"
    project.commit("Begin", {f"{folder}/setup.py": "", f"{folder}/test_app.py": "import nothing\n"})
    project.commit("Change", {f"{folder}/test_app.py": "import nothing_else\n"})
    assert f"pytest {folder}" not in results_of(project.review())


def test_a_script_in_a_hidden_folder_is_no_test(project: Project) -> None:
    project.commit("Begin", {"api/setup.py": "", ".github/run_api_test.py": ""})
    project.commit("Change", {"README.md": "More\n"})
    assert not project.review().gaps


def test_an_ignore_names_the_check_without_its_folder(project: Project) -> None:
    path, folder = "api/cart.py", "api/pyproject.toml"
    before = (
        "# reviewbot: ignore[ruff-project] it runs on old Python\ndef f(x: list) -> None: ...\n"
    )
    project.commit("Begin", {folder: CONFIG, path: before})
    project.commit("Change", {path: "from typing import List\n\n" + before.replace("list", "List")})
    (finding,) = project.review().findings
    assert (finding.rule, finding.reason) == ("UP006", "An inline ignore covers it.")


def test_a_test_that_fails_once_is_flaky_in_a_folder_too(services: Project) -> None:
    flaky = (
        "import os\n\n\ndef test_it():\n    assert not os.path.exists('/reviewbot/changed.json')\n"
    )
    services.commit("Add", {"services/web/tests/test_flaky.py": flaky})
    review = services.review()
    assert not review.reported
    assert "1 flaky" in results_of(review)["pytest services/web"]


def test_a_new_project_is_checked_in_its_folder(services: Project) -> None:
    whole = services.review(target=Target(kind="all"))
    suites = {f"pytest{folder}": "1 passed" for folder in ("", " services/api", " services/web")}
    assert {n: t for n, t in results_of(whole).items() if "pytest" in n} == suites
    assert not whole.reported

    more = {path.replace("web", "shop"): text for path, text in FILES.items() if "web" in path}
    services.commit("Add", more)
    review = services.review()
    assert results_of(review)["pytest services/shop"] == "1 passed"
    assert not review.reported


def test_where_the_top_is_a_project_all_runs_there(services: Project) -> None:
    services.commit("Configure", {"pytest.ini": "[pytest]\n"})
    services.commit("Change", {"services/web/page.py": "x = 2\n"})
    assert "pytest" in results_of(services.review())


def scripted_fix(project: Project, answer: Answer) -> tuple[Review, list[TaskResult]]:
    with Repository(project.folder) as repository:
        change = asyncio.run(repository.load_change(Target(kind="revision", revision="HEAD")))
        return asyncio.run(fix(change, host_of(repository, Scripted(answer))))


def host_of(repository: Repository, scripted: Scripted) -> Host:
    return Host(
        repository=repository,
        journal=Journal(),
        providers={"replay": scripted},
        panelists={"critic": "replay:critic"},
        variables={"VIRTUAL_ENV": lean_environment()},
    )


def test_a_claim_is_proven_and_fixed_in_the_project_that_it_is_about(services: Project) -> None:
    services.commit("Change", {API: CART.replace("sum(prices)", "sum(prices) or 1")})
    words = dict.fromkeys(("title", "trigger", "consequence", "refuted_if"), "An empty cart costs.")
    claim = {"path": API, "line": 5, "quote": "return sum(prices) or 1", "severity": "high"}
    claim |= {"category": "correctness", **words}
    claim["reproduction"] = {"language": "python", "source": EMPTY}
    edit = by_edit(API, " or 1", " or 0")

    def answer(label: str, prompt: str) -> Any:
        return {"claims": [claim]} if "first_pass" in label else edit(label, prompt)

    review, (result,) = scripted_fix(services, answer)
    proof = review.findings[0].proof
    assert proof
    assert (proof.result, proof.folder) == ("proven", "services/api")
    assert (result.outcome, [*result.files]) == ("fixed", [API]), result.attempts


def test_what_a_linter_of_a_project_fixes(services: Project) -> None:
    services.commit("Change", {API: f"{CART}\n\ndef more(x: List[str]): ...\n"})
    _, (result,) = scripted_fix(services, lambda *_: {})
    assert (result.outcome, result.author) == ("fixed", "ruff-project services/api")
    assert result.files[API] == f"{CART}\n\ndef more(x: list[str]): ...\n".encode()


def test_a_report_about_a_project_is_reproduced_there(services: Project) -> None:
    services.commit("Change", {API: CART.replace("sum(prices)", "sum(prices) or 1")})
    edit = by_edit(API, " or 1", "")

    def answer(label: str, prompt: str) -> Any:
        is_asked = "/reproduce" in label
        return {"cause": "or", "test": EMPTY} if is_asked else edit(label, prompt)

    with Repository(services.folder) as repository:
        change = asyncio.run(repository.load_change(Target(kind="revision", revision="HEAD")))
        host = host_of(repository, Scripted(answer))
        result = asyncio.run(fix_report("An empty cart costs 1, see api/src/cart.py", change, host))
    assert result.outcome == "fixed", result.attempts
    test = next(path for path in result.files if path != API)
    assert test.startswith("services/api/tests/test_regression_")


def test_a_folder_may_have_an_environment_of_its_own(tmp_path: Path) -> None:
    root, tree, api = tmp_path / "project", tmp_path / "trees/tree", "python/services/api"
    for folder in (root, tree / api):
        folder.mkdir(parents=True)
    venv.create(root / api / ".venv", with_pip=False)
    committed = [f"{api}/pyproject.toml"]
    environment = find_environment(root, {}, committed)
    assert environment.pythons == {api: f"{root}/{api}/.venv/bin/python"}
    said = "import os, sys; print(os.getcwd(), sys.prefix, os.environ['PATH'].split(':')[0])"
    job = Job(tree="", command=("{python}", "-c", said), executes=True, folder=api)
    completed = asyncio.run(Bubblewrap(environment).run(job, tree))
    here = f"{root}/{api}"
    assert completed.stdout.decode().split() == [here, f"{here}/.venv", f"{here}/.venv/bin"]
    assert not find_environment(root, {}, [*committed, f"{api}/.venv/bin/python"]).pythons


def test_the_nearest_project_is_meant() -> None:
    files = {"go.mod", "tool/go.mod", "tool/in/x.go", "pyproject.toml", "a/setup.py", "a/b/c.py"}
    folders = {path: folder_of(path, GO.project_files, files) for path in ("tool/in/x.go", "x.go")}
    assert folders == {"tool/in/x.go": "tool", "x.go": ""}
    assert folder_of("a/b/c.py", PYTHON.project_files, files) == "a"
    assert folder_of("", PYTHON.project_files, files) == ""
