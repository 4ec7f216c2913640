"""Projects in folders of a repository whose top is none."""

from __future__ import annotations

import asyncio
import json
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from conftest import Project
from each import each
from lean import lean_environment
from scripted import Scripted, by_edit

from reviewbot.checks.languages.go import GO
from reviewbot.checks.languages.javascript import JAVASCRIPT
from reviewbot.checks.languages.python import PYTHON
from reviewbot.checks.project import find_uses, folder_of, load_project
from reviewbot.checks.run import applies
from reviewbot.fixing import fix, pursue
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.reports.words import failed_tests, headline
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.job import Job
from reviewbot.services import Host
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
"""
EMPTY = "from cart import total\n\n\ndef test_empty():\n    assert total([]) == 0\n"
COSTLY = CART.replace("sum(prices)", "sum(prices) or 1") + "\n\ndef more(x: List[str]): ...\n"
FLAKY = "import os\n\n\ndef test_it():\n    assert not os.path.exists('/reviewbot/changed.json')\n"
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
    broken = CART.replace("sum(prices)", 'len(prices) + "1"') + "\n\ndef more(x: List[str]): ...\n"
    services.commit("Change", {API: broken})
    review = services.review()
    places = {f"{f.result.check} {f.rule}": str(f.location) for f in review.findings if f.result}
    assert places == {
        "pytest services/api services/api/tests/test_cart.py::test_total": f"{API}:5",
        "ruff-project services/api UP006": f"{API}:8",
    }
    # Neither the other service nor the top has anything to do with it.
    assert [name for name in results_of(review) if "pytest" in name] == ["pytest services/api"]
    (lines,) = (c for c in review.coverage if c.statements)
    assert (lines.path, lines.executed) == (API, 1)


def test_what_fails_below_the_configuration_of_pytest_is_named_once(project: Project) -> None:
    """A test, and a file that cannot be loaded."""
    web = {path: text for path, text in FILES.items() if "web" in path}
    project.commit("Begin", VIRTUAL | web | {"services/web/tests/test_x.py": "import page as x\n"
                   "Y = 1 // x.x\n\n\ndef test_x():\n    assert Y\n"})  # fmt: skip
    project.commit("Break", {"services/web/page.py": "x = 0\n"})
    tests = [test for f in project.review().reported if f.result for test in f.result.tests]
    folder = "services/web/tests"
    assert sorted(tests) == [f"{folder}/test_page.py::test_x", f"{folder}/test_x.py"]


USES = [
    ("package.json", '{"dependencies": {"@a/web": "^1.0", "b": "2"}}', "b web"),
    ("package.json", '{"dependencies": {"of-others": "^1.0"}}', ""),
    ("package.json", '{"devDependencies": {"web": "file:../../libs/web/", "b": "git:"}}', "web"),
    ("package.json", '{"peerDependencies":{"@a/web":"workspace:*"},"scripts":{"b":"b"}}', "web"),
    ("pyproject.toml", "[tool.uv.sources]\nb = {workspace = true}\nweb = {git = ''}\n", "b"),
    ("requirements.txt", "b>=1\n-e ../../libs/web[all]\n", "web"),
    ("Cargo.toml", '[dependencies]\nb = "1"\nweb = { path = "../../libs/web/src" }\n', "web"),
]


# What pnpm installs for the same names: a package of the registry, and links.
LOCK = """importers:

  apps/a:
    dependencies:
      '@a/web':
        version: %s

packages:

  '@a/web@1.0.0':
    resolution: {}
"""


def test_of_names_with_versions_pnpm_says_which_are_links() -> None:
    web = {"libs/web/package.json": '{"name": "@a/web"}', "libs/b/package.json": '{"name": "b"}'}
    text = '{"dependencies": {"@a/web": "^1.0", "b": "%s"}}'
    rows: list[tuple[str, str, set[str]]] = [
        ("1.0.0", "1", set()),
        ("link:../../libs/web", "1", {"libs/web"}),
        ("1.0.0", "workspace:1", {"libs/b"}),
    ]
    for version, of_b, used in rows:
        manifests = {**web, "apps/a/package.json": text % of_b}
        uses = find_uses(["apps/a", "libs/b", "libs/web"], manifests, LOCK % version)
        assert uses["apps/a"] == used


@each("file, text, used", USES)
def test_which_projects_a_project_uses(file: str, text: str, used: str) -> None:
    names = {"libs/web/package.json": '{"name":"@a/web"}', "libs/b/Cargo.toml": '\nname = "b"'}
    projects = ["apps", "apps/a", "libs/b", "libs/web"]
    uses = find_uses(projects, {**names, f"apps/a/{file}": text})
    folders = {f"libs/{name}" for name in used.split()}
    assert uses == {"apps": set(), "apps/a": folders, "libs/b": set(), "libs/web": set()}


def test_who_uses_what_changes_runs_his_tests(services: Project) -> None:
    """Also if nothing changes in his folder. A flaky test is none of his findings.

    What one line breaks is one finding, in however many suites, with what is claimed about one.
    """
    config = '[tool.pytest.ini_options]\npythonpath = ["../api/src"]\n'
    tests = [f"services/{name}/tests/test_{name}.py" for name in ("shop", "store")]
    users = {f"services/{name}/pyproject.toml": config for name in ("shop", "store")}
    services.commit("Use", users | dict.fromkeys(tests, EMPTY))
    page = "services/web/page.py"
    change = {API: CART.replace("sum(prices)", "sum(prices) or len('a')"), page: "x = 1 + 0\n"}
    services.commit("Change", change | {"services/web/tests/test_flaky.py": FLAKY})
    words = dict.fromkeys(("title", "trigger", "consequence", "refuted_if"), "The store charges 1.")
    claim = {"path": API, "line": 5, "quote": "sum(prices)", "severity": "high", **words}
    claims = json.dumps({"claims": [claim | {"category": "correctness"}]})
    review = services.review({"critic/first_pass": claims})
    (finding,) = review.reported
    assert (str(finding.location), finding.rule) == (f"{API}:5", f"{tests[0]}::test_empty")
    assert finding.title == "test_empty fails: assert 1 == 0 (and in pytest services/store)"
    assert [claim.title for claim in finding.claims] == ["The store charges 1."]
    assert [*failed_tests(finding)] == [f"{path}::test_empty" for path in tests]
    assert headline(review, explains=True).endswith(": 2 tests that passed fail now")
    assert results_of(review)["pytest services/api"] == "1 passed"
    assert "1 flaky" in results_of(review)["pytest services/web"]
    lines = {c.path: (c.statements, c.executed) for c in review.coverage if c.statements}
    assert (lines[API], lines[page]) == ((1, 1), (1, 1))


def test_a_tool_runs_where_it_is_configured(project: Project) -> None:
    """At the top or between, where the folder of a project does not configure it."""
    project.environment = sys.prefix  # it has mypy
    cart, own, app = "python/libs/cart/cart.py", "python/libs/own/own.py", "app/app.py"
    files = {f"{path.rpartition('/')[0]}/setup.py": "" for path in (cart, own, app)}
    files |= {
        "ruff.toml": 'lint.select = ["E711"]\n',
        "python/ruff.toml": 'lint.select = ["UP006"]\n',
    }
    project.commit("Begin", files | {"python/libs/own/mypy.ini": "[mypy]\nstrict = true\n"})
    wrong = "from typing import List\n\n\ndef more(x: List[str]):\n    return x == None\n"
    project.commit("Add", dict.fromkeys((cart, own, app), wrong))
    found = {(f.result.check, str(f.location)) for f in project.review().findings if f.result}
    assert found == {
        *(("ruff-project", f"{app}:5"), ("ruff-project python", f"{cart}:4")),
        *(("ruff-project python", f"{own}:4"), ("mypy python/libs/own", f"{own}:4")),
    }


def test_packages_that_many_projects_lack_are_one_gap(project: Project) -> None:
    """Whether tests, a plug-in, a conftest.py or an option of a missing plug-in shows that."""
    lacks, config = "import nowhere_at_all\n", "[pytest]\naddopts = --strict-config\nplugged = 1\n"
    files = {f"{name}/pytest.ini": config if name == "a" else "" for name in "abc"}
    files |= {f"{name}/tests/test_it.py": lacks for name in "abc"}
    files["b/tests/conftest.py"] = "pytest_plugins = ['nowhere_at_all']\n"
    files |= {"a/tests/conftest.py": lacks}
    project.commit("Begin", {"e/pytest.ini": ""})
    project.commit("Change", files | {f"{name}/x.py": "" for name in "abc"})
    (gap,) = project.review().gaps
    assert gap == (
        "pytest a is incomplete: ModuleNotFoundError: No module named 'nowhere_at_all'"
        " (a/tests/conftest.py): install it into the project's environment (0 passed);"
        " packages are missing for pytest b, pytest c as well"
    )


def test_a_tool_that_fails_in_many_projects_says_why_in_each(project: Project) -> None:
    ruff = 'lint.select = ["UP006"]\nline-length = "{}"\n'
    files = {f"{name}/ruff.toml": ruff.format(name) for name in "ab"}
    project.commit("Begin", files | {f"{name}/setup.py": "" for name in "ab"})
    project.commit("Change", {f"{name}/x.py": "" for name in "ab"})
    gaps = [gap.partition(":")[0] for gap in project.review().gaps]
    assert gaps == ["ruff-project a is incomplete", "ruff-project b is incomplete"]


def test_an_ignore_names_the_check_without_its_folder(project: Project) -> None:
    path, folder = "api/cart.py", "api/pyproject.toml"
    before = (
        "# reviewbot: ignore[ruff-project] it runs on old Python\ndef f(x: list) -> None: ...\n"
    )
    project.commit("Begin", {folder: CONFIG, path: before})
    project.commit("Change", {path: "from typing import List\n\n" + before.replace("list", "List")})
    (finding,) = project.review().findings
    assert (finding.rule, finding.reason) == ("UP006", "An inline ignore covers it.")


SHOP = {path.replace("web", "shop"): text for path, text in FILES.items() if "web" in path}
SERVICES = {path: text for path, text in FILES.items() if "services" in path}
NODE = {
    "package.json": '{"workspaces": ["a/*"]}',
    "a/b/package.json": '{"scripts": {"test": "jest"}}',
}
PNPM = {"pnpm-workspace.yaml": "packages: ['a/*']\n", "pnpm-lock.yaml": "\n  a/b:\n"}
PNPM |= {"package.json": NODE["a/b/package.json"]}
PNPM |= {"a/b/package.json": '{"dependencies": {"c": "^1"}, "scripts": {"test": "jest"}}'}
PNPM |= {"a/c/package.json": '{"name": "c", "scripts": {"test": "jest"}}'}
GONE = {path: None for path in FILES if "web" in path}
UV = '[project]\nname = "top"\n[tool.uv.workspace]\nmembers = ["services/*"]\n[tool.pytest]\n'
VIRTUAL = {"pyproject.toml": f"{UV}[tool.uv]\npackage = false\n"}
BACKEND = {"backend/requirements.txt": "", "backend/tests/test_a.py": ""}
# What the base has, what changes, and where tests run.
PLANS = [
    (FILES, {"prices.py": ""}, "pytest"),
    (FILES, {"services/web/page.py": ""}, "pytest services/web"),
    (FILES, SHOP, "pytest services/shop"),
    (SERVICES, SHOP | GONE, "pytest services/shop"),
    (FILES | {"pytest.ini": ""}, {"services/web/page.py": ""}, "pytest"),
    # A project that tests read, and a script in a hidden folder.
    ({f"tests/data/{path}": text for path, text in SHOP.items()}, {"a.py": ""}, "pytest"),
    ({"a/setup.py": "", ".github/run_api_test.py": ""}, {"README.md": "More\n"}, ""),
    (
        {"a.py": "", "shop/tests/__init__.py": "", "shop/tests/smoke.py": ""},
        {"a.py": "#"},
        "pytest",
    ),
    ({"contests/__init__.py": "", "contests/a.py": ""}, {"contests/a.py": "#"}, ""),
    # What all projects below share, at the top or between
    (SERVICES, {"tox.ini": ""}, "pytest services/api, pytest services/web"),
    (
        SERVICES | SHOP,
        {"services/pyproject.toml": "# more\n", "libs/conftest.py": ""},
        "pytest services/api, pytest services/shop, pytest services/web",
    ),
    (SERVICES | NODE, {"tsconfig.base.json": "{}"}, "npm-test a/b"),
    # What is locked is installed for both sides, unless it is data of tests.
    (SERVICES | NODE, {"uv.lock": "", "a/b/yarn.lock": "", "services/api/uv.lock": ""}, ""),
    (SERVICES, {"services/api/tests/data/uv.lock": ""}, "pytest services/api"),
    # No test reads what a hidden folder says in prose.
    (PNPM, {".changeset/new.md": "", "a/b/x.js": ""}, "npm-test a/b"),
    (PNPM, {"a/c/x.js": ""}, "npm-test a/c"),
    # The top of a workspace of uv, which may be a package itself
    (SERVICES | {"pyproject.toml": UV}, {"services/web/page.py": ""}, "pytest"),
    (SERVICES | VIRTUAL, {"services/web/page.py": ""}, "pytest services/web"),
    (SERVICES | VIRTUAL | {"pytest.ini": ""}, {"services/web/page.py": ""}, "pytest services/web"),
    # Where nothing says how it is installed, an application that is not at the top
    (BACKEND, {"backend/a.py": ""}, "pytest backend"),
    (BACKEND | {"requirements.txt": ""}, {"backend/a.py": ""}, "pytest"),
    ({"tests/requirements.txt": "", "tests/test_a.py": ""}, {"a.py": ""}, "pytest"),
]


def test_where_tests_run(project: Project) -> None:
    for base, change, names in PLANS:
        project.commit("Begin", base)
        project.commit("Change", change)
        assert ", ".join(suites_of(project)) == names, (base, change)
        project.git("rm", "-r", "--quiet", ".")


def test_a_project_that_loses_all_of_its_tests_is_not_complete(services: Project) -> None:
    services.commit("Lose", {"services/api/tests/test_cart.py": None, API: COSTLY})
    review = services.review()
    assert review.gaps == ("pytest services/api is incomplete: ran no test",)


def suites_of(project: Project) -> list[str]:
    async def plan() -> list[str]:
        with Repository(project.folder) as repository:
            change = await repository.load_change("HEAD")
            found = await load_project(change, repository, (*PYTHON.checks, *JAVASCRIPT.checks))
            paths = [path for file in change.files for path in (file.old_path, file.path)]
            return [c.name for c in found.checks if c.kind == "test" and applies(c, paths, found)]

    return asyncio.run(plan())


def test_a_whole_tree_is_checked_in_the_folders_of_its_projects(services: Project) -> None:
    services.commit("Fail", {"services/web/tests/test_page.py": "def test_x():\n    assert 0\n"})
    review = services.review(target="", kind="all")
    suites = {name: text for name, text in results_of(review).items() if "pytest" in name}
    assert suites.pop("pytest services/web") == "0 passed, 1 failed"
    assert suites == dict.fromkeys(("pytest", "pytest services/api"), "1 passed")
    found = {f.rule.rpartition("::")[2]: f.reason for f in review.reported}
    assert found == {"test_x": "This test fails.", "UP006": "A check reports this."}  # none is new


def host_of(repository: Repository, scripted: Scripted) -> Host:
    return Host(
        repository=repository,
        journal=Journal(),
        providers={"replay": scripted},
        panelists={"critic": "replay:critic"},
        variables={"VIRTUAL_ENV": lean_environment()},
    )


def test_a_claim_is_proven_and_fixed_in_the_project_that_it_is_about(services: Project) -> None:
    """And what a linter of the project reports, as it fixes it."""
    services.commit("Change", {API: COSTLY})
    words = dict.fromkeys(("title", "trigger", "consequence", "refuted_if"), "An empty cart costs.")
    claim = {"path": API, "line": 5, "quote": "return sum(prices) or 1", "severity": "high"}
    claim |= {"category": "correctness", **words}
    claim["reproduction"] = {"language": "python", "source": EMPTY}
    edit = by_edit(API, " or 1", " or 0")

    def answer(label: str, prompt: str) -> Any:
        return {"claims": [claim]} if "first_pass" in label else edit(label, prompt)

    with Repository(services.folder) as repository:
        change = asyncio.run(repository.load_change("HEAD"))
        review, results = asyncio.run(fix(change, host_of(repository, Scripted(answer))))
    proof = next(finding.proof for finding in review.findings if finding.proof)
    assert (proof.result, proof.folder) == ("proven", "services/api")
    assert [result.outcome for result in results] == ["fixed", "fixed"], results
    (linted,) = (result for result in results if result.author == "ruff-project services/api")
    assert b"def more(x: list[str]): ..." in linted.files[API]


def test_a_report_about_a_project_is_reproduced_there(services: Project) -> None:
    services.commit("Change", {API: COSTLY})
    edit = by_edit(API, " or 1", "")

    def answer(label: str, prompt: str) -> Any:
        is_asked = "/reproduce" in label
        return {"cause": "or", "test": EMPTY} if is_asked else edit(label, prompt)

    with Repository(services.folder) as repository:
        change = asyncio.run(repository.load_change("HEAD"))
        host = host_of(repository, Scripted(answer))
        report = "An empty cart costs 1, see api/src/cart.py"
        result = asyncio.run(pursue(None, (), change, host, report))
    assert result.outcome == "fixed", result.attempts
    test = next(path for path in result.files if path != API)
    assert test.startswith("services/api/tests/test_regression_")


def test_a_folder_may_have_an_environment_of_its_own(tmp_path: Path) -> None:
    root, tree, api = tmp_path / "project", tmp_path / "trees/tree", "python/services/api"
    for folder in (root, tree / api):
        folder.mkdir(parents=True)
    venv.create(root / api / ".venv", with_pip=False)
    for name in ("requirements.txt", "pyproject.toml"):
        environment = find_environment(root, {}, committed := [f"{api}/{name}"])
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
