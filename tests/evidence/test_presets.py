"""Presets: found in the tree, run with the real program where it is installed, and only what is new counts."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from reviewbot.domain.evidence import Category, CheckRun, EvidenceStatus, Precision, Severity
from reviewbot.evidence.view import CheckOptions, Custom
from tests.evidence.lab import Files, Lab, study

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.matrix(parts=1)]
ENVIRONMENT = Path(sys.executable).parent


def need(program: str) -> None:
    if not (shutil.which(program) or (ENVIRONMENT / program).exists()):
        pytest.skip(f"{program} is not installed")


def with_presets(folder: Path, base: Files, head: Files, *presets: str, **options: object) -> Lab:
    return study(folder, base, {**base, **head}, options=CheckOptions(presets=presets, **options))  # type: ignore[arg-type]


def told(lab: Lab, tool: str) -> list[tuple[str, int, str | None]]:
    """Path, line and rule of what is new from one tool."""
    return [(item.result.path, item.result.line, item.result.rule) for item in lab.new() if item.result.tool == tool]


def the_run(lab: Lab, name: str) -> CheckRun:
    (found,) = (check for check in lab.ledger.checks if check.name == name)
    return found


SCRIPT = '#!/bin/bash\nset -eu\nfor file in $(ls); do\n    echo "$file"\ndone\n'


def test_shellcheck_tells_what_is_new_and_not_what_was_there(tmp_path: Path) -> None:
    need("shellcheck")
    lab = with_presets(
        tmp_path, {"run.sh": SCRIPT}, {"run.sh": SCRIPT.replace("set -eu\n", "set -eu\nrm -rf $1/cache\n")}, "shellcheck"
    )
    assert told(lab, "shellcheck") == [("run.sh", 3, "SC2086")]
    existing = [item.result.rule for item in lab.of(EvidenceStatus.EXISTING) if item.result.tool == "shellcheck"]
    assert existing == ["SC2045"]
    assert the_run(lab, "shellcheck").failed


def test_a_script_that_bash_cannot_read_any_more_is_grave(tmp_path: Path) -> None:
    lab = with_presets(tmp_path, {"run.sh": SCRIPT}, {"run.sh": SCRIPT.replace("done\n", "")}, "bash")
    (item,) = lab.new("lint")
    assert (item.result.tool, item.result.path, item.result.severity) == ("bash", "run.sh", Severity.HIGH)
    assert "unexpected end of file" in item.result.message


TYPED = {"mypy.ini": "[mypy]\nstrict = true\n", "shop/__init__.py": "", "shop/price.py": "def price(cents: int) -> str:\n    return str(cents)\n", "shop/page.py": "from shop.price import price\n\nTITLE: str = price(3)\n"}  # fmt: skip


@pytest.mark.ci
def test_mypy_runs_where_the_project_configures_it(tmp_path: Path) -> None:
    need("mypy")
    head = {"shop/price.py": TYPED["shop/price.py"].replace("str(cents)", "cents")}
    lab = with_presets(tmp_path / "a", TYPED, head, "mypy")
    assert told(lab, "mypy") == [("shop/price.py", 2, "return-value")]
    plain = {name: text for name, text in TYPED.items() if name != "mypy.ini"}
    assert not with_presets(tmp_path / "b", plain, head, "mypy").ledger.checks[:-2]


@pytest.mark.ci
def test_a_configuration_in_the_change_has_no_effect_on_its_own_review(tmp_path: Path) -> None:
    need("mypy")
    head = {"shop/price.py": TYPED["shop/price.py"].replace("str(cents)", "cents"), "mypy.ini": "[mypy]\nignore_errors = true\n"}
    assert told(with_presets(tmp_path, TYPED, head, "mypy"), "mypy") == [("shop/price.py", 2, "return-value")]


MODULE = {
    "go.mod": "module example.org/shop\n\ngo 1.19\n",
    "cart/cart.go": "package cart\n\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, price := range prices {\n\t\tsum += price\n\t}\n\treturn sum\n}\n",
    "cart/cart_test.go": 'package cart\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{1, 2, 3}); got != 6 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n\nfunc TestRed(t *testing.T) {\n\tt.Error("always")\n}\n',
}


@pytest.mark.ci
def test_a_go_test_that_the_change_broke_is_proof_and_one_that_failed_before_is_not(tmp_path: Path) -> None:
    need("go")
    head = {"cart/cart.go": MODULE["cart/cart.go"].replace("sum := 0", "sum := 1")}
    lab = with_presets(tmp_path, MODULE, head, "go-test")
    (item,) = lab.new("test")
    assert (item.result.path, item.result.line, item.result.precision) == ("cart/cart.go", 4, Precision.CERTAIN)
    assert item.is_executed_proof
    assert item.result.command == ("go", "test", "-count=1", "-run", "^TestTotal$", "example.org/shop/cart")
    assert [old.result.subject for old in lab.of(EvidenceStatus.EXISTING, "test")] == ["example.org/shop/cart.TestRed"]
    assert (lab.ledger.tests.passed, lab.ledger.tests.failed) == (0, 2)


@pytest.mark.ci
def test_a_package_that_cannot_be_built_any_more_is_a_broken_suite(tmp_path: Path) -> None:
    need("go")
    lab = with_presets(
        tmp_path, MODULE, {"cart/cart.go": MODULE["cart/cart.go"].replace("return sum", "return summe")}, "go-test", "go-vet"
    )
    assert {(item.result.tool, item.result.path, item.result.line, item.result.severity) for item in lab.new()} == {
        ("go-test", "cart/cart.go", 8, Severity.HIGH),
        ("go-vet", "cart/cart.go", 8, Severity.MEDIUM),
    }


SHOP = {
    "package.json": json.dumps({"name": "shop", "type": "module", "scripts": {"test": "node --test"}}),
    "cart.js": "export function total(prices) {\n  let sum = 0;\n  for (const price of prices) sum += price;\n  return sum;\n}\n",
    "test/cart.test.js": "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { total } from '../cart.js';\n\ntest('adds up', () => assert.equal(total([1, 2]), 3));\ntest('of nothing', () => assert.equal(total([]), 0));\n",
}


def test_the_test_script_of_a_javascript_project_is_run_and_its_tests_told_apart(tmp_path: Path) -> None:
    need("npm")
    lab = with_presets(tmp_path, SHOP, {"cart.js": SHOP["cart.js"].replace("sum += price", "sum = price")}, "npm-test")
    (item,) = lab.new("test")
    assert (item.result.path, item.result.line) == ("cart.js", 3)
    assert "adds up" in item.result.subject
    assert item.is_executed_proof


def test_a_project_without_a_test_script_is_not_asked_for_one(tmp_path: Path) -> None:
    bare = {**SHOP, "package.json": json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})}
    lab = with_presets(tmp_path, bare, {"cart.js": "export const total = 1;\n"}, "npm-test")
    assert "npm-test" not in [check.name for check in lab.ledger.checks]


def test_a_tool_that_is_not_installed_is_said_and_no_error(tmp_path: Path) -> None:
    if shutil.which("hadolint"):
        pytest.skip("hadolint is installed")
    lab = with_presets(tmp_path, {"Dockerfile": "FROM scratch\n"}, {"Dockerfile": "FROM scratch\nRUN true\n"}, "hadolint")
    run = the_run(lab, "hadolint")
    assert (run.ran, run.reason, run.cut_short) == (False, "hadolint is not installed here", False)


def test_a_check_of_the_user_s_own_is_three_lines_of_configuration(tmp_path: Path) -> None:
    grep = Custom(
        "no-print",
        ("/usr/bin/grep", "-nH", "print", "{files}"),
        "regex",
        r"(?P<path>[^:]+):(?P<line>\d+):(?P<message>.*)",
        files=("*.py",),
    )
    base = {"a.py": "print(1)\nx = 1\n"}
    lab = with_presets(tmp_path, base, {"a.py": "print(1)\nx = 1\nprint(x)\n"}, custom=(grep,))
    assert told(lab, "no-print") == [("a.py", 3, None)]


def test_a_command_without_a_report_counts_where_it_turns_from_well_to_ill(tmp_path: Path) -> None:
    check = Custom("licence", ("/bin/sh", "-c", "grep -q MIT LICENCE && grep -q x a.py"))
    base = {"LICENCE": "MIT\n", "a.py": "x = 1\n"}
    lab = with_presets(tmp_path / "a", base, {"a.py": "y = 1\n"}, custom=(check,))
    (item,) = lab.new("test")
    assert (item.result.tool, item.result.path, item.is_executed_proof) == ("licence", "a.py", True)
    ill = with_presets(tmp_path / "b", {**base, "LICENCE": "none\n"}, {"a.py": "y = 1\n"}, custom=(check,))
    assert not ill.new("test")
    assert len(ill.of(EvidenceStatus.EXISTING, "test")) == 1


def test_a_test_that_also_asks_for_something_new_does_not_hide_what_the_change_broke(tmp_path: Path) -> None:
    check = Custom("suite", ("/bin/sh", "tests/all.sh"), "tap")
    runner = '. ./lib.sh\necho 1..1\nif [ "$(f 2)" = 4 ]; then echo ok 1 - doubles; else echo not ok 1 - doubles; fi\n'
    base = {"lib.sh": "f() { echo $(($1 * 2)); }\n", "tests/all.sh": runner}
    head = {
        "lib.sh": "f() { echo $(($1 * 3)); }\ng() { echo 1; }\n",
        "tests/all.sh": runner.replace("if [", 'if [ "$(g)" = 1 ] && ['),
    }
    (item,) = with_presets(tmp_path, base, head, custom=(check,)).new("test")
    assert item.result.path == "lib.sh"


def test_a_runner_that_is_not_there_is_no_failing_test(tmp_path: Path) -> None:
    need("npm")
    bare = {**SHOP, "package.json": json.dumps({"scripts": {"test": "no-such-runner"}})}
    run = the_run(with_presets(tmp_path, bare, {"cart.js": "export const total = 1;\n"}, "npm-test"), "npm-test")
    assert (run.ran, run.cut_short) == (False, True)


@pytest.mark.ci
def test_a_change_that_takes_the_configuration_away_is_checked_by_it_all_the_same(tmp_path: Path) -> None:
    need("mypy")
    head = {name: text for name, text in TYPED.items() if name != "mypy.ini"}
    head["shop/price.py"] = TYPED["shop/price.py"].replace("str(cents)", "cents")
    lab = study(tmp_path, TYPED, head, options=CheckOptions(presets=("mypy",)))
    assert told(lab, "mypy") == [("shop/price.py", 2, "return-value")]


def test_code_that_moved_to_another_file_brings_its_old_remarks_along(tmp_path: Path) -> None:
    need("shellcheck")
    base = {"a.sh": SCRIPT, "b.sh": "#!/bin/bash\necho b\n"}
    head = {"a.sh": "#!/bin/bash\nset -eu\n", "b.sh": SCRIPT}
    assert told(with_presets(tmp_path, base, head, "shellcheck"), "shellcheck") == []


@pytest.mark.parametrize("output", ["a" * 200_000, "/a" * 100_000, " " * 200_000, "a.b:" * 50_000])
def test_what_a_test_prints_is_read_in_time_that_grows_with_its_length(tmp_path: Path, output: str) -> None:
    """Each of these took minutes when a regular expression looked at every beginning of it anew."""
    check = Custom("suite", ("/bin/sh", "-c", "cat output; exit 1"))
    lab = with_presets(tmp_path, {"a.py": "x = 1\n", "output": output}, {"a.py": "x = 2\n"}, custom=(check,))
    assert len(lab.of(EvidenceStatus.EXISTING, "test")) == 1


COVERAGE = """<coverage><sources><source>/somewhere/shop</source></sources><packages><package><classes>
<class filename="cart.js"><lines><line number="2" hits="1"/><line number="3" hits="0"/><line number="4" hits="0"/></lines></class>
</classes></package></packages></coverage>"""


def test_lines_that_no_test_runs_are_told_in_any_language(tmp_path: Path) -> None:
    check = Custom(
        "lines",
        ("/bin/sh", "-c", 'cp report.xml "$1"', "sh", "{scratch}/lines.xml"),
        "coverage-xml",
        report="lines.xml",
        files=("*.js",),
    )
    base = {"shop/cart.js": "a();\n", "report.xml": COVERAGE}
    lab = with_presets(tmp_path, base, {"shop/cart.js": "a();\nb();\nc();\nd();\n"}, custom=(check,))
    (item,) = lab.new("coverage")
    assert (item.result.path, item.result.line, item.result.excerpt) == ("shop/cart.js", 3, "lines without a test: 3, 4")
    assert lab.ledger.tests.executed == {("shop/cart.js", 2)}


@pytest.mark.ci
def test_two_runs_give_the_same_evidence(tmp_path: Path) -> None:
    need("shellcheck")
    base = {
        **SHOP,
        **MODULE,
        "run.sh": SCRIPT,
        "calc.py": "def add(a, b):\n    return a + b\n",
        "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    }
    head = {
        "run.sh": SCRIPT.replace("set -eu\n", "set -eu\nrm -rf $1\n"),
        "calc.py": "def add(a, b=[]):\n    return a - b\n",
        "cart.js": SHOP["cart.js"].replace("+= price", "= price"),
    }
    presets = CheckOptions(presets=("ruff", "pytest", "shellcheck", "bash", "npm-test", "go-test", "go-vet"))
    first, second = (study(tmp_path / name, base, {**base, **head}, options=presets) for name in ("a", "b"))
    assert first.ledger.items == second.ledger.items
    assert first.ledger.tests == second.ledger.tests
    assert {item.result.tool for item in first.new()} >= {"ruff", "pytest", "shellcheck"}


WORKFLOW = "name: ci\non: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: make\n"


def test_zizmor_tells_what_a_change_makes_dangerous_in_a_workflow(tmp_path: Path) -> None:
    need("zizmor")
    base = {".github/workflows/ci.yml": WORKFLOW}
    head = {".github/workflows/ci.yml": WORKFLOW + "      - run: echo ${{ github.event.issue.title }}\n"}
    lab = with_presets(tmp_path, base, head, "zizmor")
    assert (".github/workflows/ci.yml", 9, "template-injection") in told(lab, "zizmor")
    assert all(item.result.category is Category.SECURITY for item in lab.new() if item.result.rule == "template-injection")


@pytest.mark.ci
def test_sqlfluff_runs_where_the_project_configures_it(tmp_path: Path) -> None:
    need("sqlfluff")
    base = {".sqlfluff": "[sqlfluff]\ndialect = postgres\n", "db/a.sql": "SELECT 1;\n"}
    lab = with_presets(tmp_path, base, {"db/a.sql": "SELECT 1;\n\nSELEC FROM b WHERE;\n"}, "sqlfluff")
    assert "PRS" in [rule for _, _, rule in told(lab, "sqlfluff")]


MIGRATIONS = {
    "db/migrations/001_users.sql": "CREATE TABLE users (id bigserial PRIMARY KEY, email text NOT NULL);\nCREATE INDEX users_email ON users (email);\nINSERT INTO users (email) VALUES ('a@example.org');\n",
    "db/queries/users.sql": "-- name: ByEmail :one\nSELECT id FROM users WHERE email = $1;\n",
}


@pytest.fixture
def postgresql() -> None:
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        pytest.skip("PostgreSQL is not installed")


@pytest.mark.ci
@pytest.mark.usefixtures("postgresql")
def test_a_migration_that_fails_on_a_database_with_rows_is_found_by_applying_it(tmp_path: Path) -> None:
    head = {"db/migrations/002_name.sql": "-- names\nALTER TABLE users ADD COLUMN name text NOT NULL;\n"}
    lab = with_presets(tmp_path, MIGRATIONS, head, "migrations")
    (item,) = [item for item in lab.new() if item.result.rule == "migration-fails"]
    assert (item.result.path, item.result.line, item.result.severity) == ("db/migrations/002_name.sql", 2, Severity.HIGH)
    assert "contains null values" in item.result.message


@pytest.mark.ci
@pytest.mark.usefixtures("postgresql")
def test_an_edited_migration_and_a_lost_index_are_told(tmp_path: Path) -> None:
    edited = MIGRATIONS["db/migrations/001_users.sql"].replace("email text", "email varchar(80)")
    lab = with_presets(tmp_path / "a", MIGRATIONS, {"db/migrations/001_users.sql": edited}, "migrations")
    assert ("db/migrations/001_users.sql", 0, "edited-migration") in told(lab, "migrations")
    lower = MIGRATIONS["db/queries/users.sql"].replace("email = $1", "lower(email) = $1")
    empty = MIGRATIONS["db/migrations/001_users.sql"].partition("INSERT")[0]  # a table of one row is read without an index
    slow = with_presets(
        tmp_path / "b", {**MIGRATIONS, "db/migrations/001_users.sql": empty}, {"db/queries/users.sql": lower}, "migrations"
    )
    assert told(slow, "migrations") == [("db/queries/users.sql", 0, "index-lost")]
    assert "users_email" in slow.new()[0].result.excerpt


@pytest.mark.ci
@pytest.mark.usefixtures("postgresql")
def test_a_migration_without_trouble_is_run_and_silent(tmp_path: Path) -> None:
    head = {"db/migrations/002_name.sql": "ALTER TABLE users ADD COLUMN name text;\n"}
    lab = with_presets(tmp_path, MIGRATIONS, head, "migrations")
    assert the_run(lab, "migrations").ran
    assert [item for item in lab.new() if item.result.severity >= Severity.MEDIUM] == []
