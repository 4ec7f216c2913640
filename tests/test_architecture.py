"""The house's rules, checked by reading the program: sizes, names, who imports whom, what nobody does."""

from __future__ import annotations

import ast
import gc
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PROGRAM = TOP / "reviewbot"
MODULES = sorted(PROGRAM.rglob("*.py"))
pytestmark = pytest.mark.xdist_group("architecture")

LINES_OF_A_MODULE = 400
LINES_OF_A_FUNCTION = 50
METHODS_OF_A_PROTOCOL = 3
PACKAGES_DEEP = 3

FORBIDDEN_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "manager",
    "managers",
    "service",
    "services",
    "base",
    "types",
    "common",
    "misc",
}
STAGES = ("changeset", "context", "evidence", "debate", "consensus", "publish", "autofix", "screen", "domain")
ENTRY_POINTS = ("cli", "library.py", "probes")

#: Where everything may be caught: the one catcher of the program, that of a worker's process, and that around code of other
#: packages. Probes are programs of their own, too.
CATCHERS = {"cli/__init__.py": 1, "adapters/worker.py": 1, "adapters/installed.py": 1}

MUTATORS = {"append", "add", "update", "extend", "insert", "pop", "popitem", "clear", "remove", "discard", "setdefault"}
DOING = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
PATH_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "rename", "chmod"}

#: A home folder of some person, a private address, a name of an internal network. 10.255.* is nowhere: tests knock there.
OF_A_MACHINE = re.compile(
    r"/(?:home|Users)/[a-z]\w+/|/root/\w|\b(?:10\.(?!255\.)\d+|192\.168)\.\d+\.\d+\b|\b[\w-]+\.(?:internal|corp|lan)\b"
)


@cache
def tree(module: Path) -> ast.Module:
    """Kept for the next test, and out of sight of the garbage collector, which would look through every tree again and again."""
    gc.disable()
    parsed = ast.parse(module.read_text(encoding="utf-8"))
    gc.freeze()
    gc.enable()
    return parsed


def name(module: Path) -> str:
    return module.relative_to(PROGRAM).as_posix()


def belongs_to(module: Path, floors: tuple[str, ...]) -> bool:
    return module.relative_to(PROGRAM).parts[0] in floors


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def catches_everything(node: ast.AST) -> bool:
    """``except:``, ``except Exception`` or ``except (…, BaseException)`` that does not raise again."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = {inner.id for inner in ast.walk(node.type) if isinstance(inner, ast.Name)} if node.type else {"Exception"}
    raises = any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node))
    return bool(caught & {"Exception", "BaseException"}) and not raises


def mutations(module: Path) -> Iterator[str]:
    """Functions that change what belongs to the module."""
    root = tree(module)
    owned = {
        target.id
        for node in root.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for function in functions(module):
        nodes = list(ast.walk(function))
        local = {node.arg for node in nodes if isinstance(node, ast.arg)}
        local |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for node in nodes:
            if isinstance(node, ast.Global):
                yield f"{name(module)}:{node.lineno} global"
            touched = None
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                touched = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
                touched = node.func.value
            if isinstance(touched, ast.Name) and touched.id in owned - local:
                yield f"{name(module)}:{node.lineno} {touched.id}"


def deeds(module: Path) -> Iterator[str]:
    """Calls that reach out into the world without an import."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DOING:
            yield f"{name(module)}:{node.lineno} {node.func.id}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PATH_METHODS:
            yield f"{name(module)}:{node.lineno} .{node.func.attr}"


def tracked_files() -> list[Path]:
    """What a clone would hold, or all there is where this is no clone."""
    git = shutil.which("git")
    if git and (TOP / ".git").exists():
        listed = subprocess.run(
            [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP, capture_output=True, check=False
        )
        if listed.returncode == 0:
            return [path for word in listed.stdout.decode().split("\0") if word and (path := TOP / word).is_file()]
    return [path for folder in (PROGRAM, TOP / "tests") for path in folder.rglob("*.py")]


def test_there_is_a_program_to_look_at():
    assert len(MODULES) > 40


def test_a_module_can_be_read_in_one_sitting():
    long = [name(m) for m in MODULES if len(m.read_text(encoding="utf-8").splitlines()) > LINES_OF_A_MODULE]
    assert not long, f"more than {LINES_OF_A_MODULE} lines"
    found = [
        f"{name(module)}:{f.lineno} {f.name}"
        for module in MODULES
        for f in functions(module)
        if (f.end_lineno or 0) - f.lineno + 1 >= LINES_OF_A_FUNCTION
    ]
    assert not found, f"{LINES_OF_A_FUNCTION} lines or more"


def test_a_module_is_named_by_what_it_knows_and_lies_where_it_is_found():
    parts = {name(module): module.relative_to(PROGRAM.parent).with_suffix("").parts for module in MODULES}
    assert not [module for module, words in parts.items() if FORBIDDEN_NAMES & set(words)]
    assert not [module for module, words in parts.items() if len(words) - 2 > PACKAGES_DEEP], "packages below the top one"
    assert not [name(module) for module in MODULES if not ast.get_docstring(tree(module))], "a module says what it is for"


def test_a_port_is_narrow():
    wide = [
        f"{name(module)}:{node.name}"
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(inner, ast.Name) and inner.id == "Protocol" for base in node.bases for inner in ast.walk(base))
        and sum(isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) for item in node.body) > METHODS_OF_A_PROTOCOL
    ]
    assert not wide


def test_everything_is_caught_in_one_place_only():
    found = {
        name(module): count
        for module in MODULES
        if not belongs_to(module, ("probes",)) and (count := sum(map(catches_everything, ast.walk(tree(module)))))
    }
    assert found == CATCHERS


def test_the_environment_is_read_by_entry_points_only():
    reading = re.compile(r"\bos\.(?:environ|getenv)\b|from os import .*\b(?:environ|getenv)\b")
    readers = [name(m) for m in MODULES if not belongs_to(m, ENTRY_POINTS) and reading.search(m.read_text(encoding="utf-8"))]
    assert not readers


def test_no_function_changes_what_belongs_to_its_module():
    assert not [found for module in MODULES for found in mutations(module)]


def test_stages_and_the_domain_do_nothing_but_think():
    assert not [deed for module in MODULES if belongs_to(module, STAGES) for deed in deeds(module)]


def test_probes_stand_alone():
    found = [
        name(module)
        for module in MODULES
        if belongs_to(module, ("probes",))
        for node in ast.walk(tree(module))
        if (isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "reviewbot"))
        or (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "reviewbot" for alias in node.names))
    ]
    assert not found


def test_importing_the_program_starts_nothing():
    """No module-level statement but definitions, imports, tables and the guard of an entry point."""
    quiet = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.If)
    loud = [
        f"{name(module)}:{node.lineno}"
        for module in MODULES
        if module.name != "__main__.py"
        for node in tree(module).body
        if not isinstance(node, quiet) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        if not (belongs_to(module, ("probes",)) and isinstance(node, ast.Try))
    ]
    assert not loud


def test_everyone_imports_from_below_only():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_in_the_repository_belongs_to_one_machine():
    found = []
    for path in tracked_files():
        if "data" in path.relative_to(TOP).parts or path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(TOP)}: {match[0]}" for match in OF_A_MACHINE.finditer(text)]
    assert not found


@pytest.mark.parametrize("package", ["reviewbot.ports", "reviewbot.pipeline", "reviewbot.wiring"])
def test_a_package_whose_names_come_late_has_each_of_them(package: str):
    module = importlib.import_module(package)
    assert set(module.__all__) == set(module._HOMES)
    assert all(hasattr(module, name) for name in module.__all__)
