"""Where a job's tools are found, what they are shown of the disk, and what they are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.ports import Ended, Job, Outcome
from tests.sandboxes import open_room, shell

pytestmark = pytest.mark.matrix(parts=1)

SECRET = "canary-beside-the-tool"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "exported"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home-of-user"
    (folder / ".local" / "bin").mkdir(parents=True)
    (folder / ".local" / "secret").write_text(SECRET)
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A work tree with packages in it."""
    folder = tmp_path / "repository"
    a_package(folder / "node_modules", "lint", "#!/bin/sh\necho of the project $(cat node_modules/lint/data)\n")
    (folder / ".env").write_text(SECRET)
    return folder


def a_program(place: Path, text: str = "#!/bin/sh\necho found\n") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


def a_package(folder: Path, name: str, text: str) -> None:
    a_program(folder / name / "run.sh", text)
    (folder / name / "data").write_text("data")
    (folder / ".bin").mkdir(exist_ok=True)
    (folder / ".bin" / name).symlink_to(f"../{name}/run.sh")


def run(room: sandbox.ClosableSandbox, *argv: str, executes: bool = True, tree: Side | None = Side.HEAD) -> Outcome:
    return room.run(Job("tool", argv, 20, executes=executes, tree=tree))


def said(outcome: Outcome) -> str:
    assert outcome.exit_code == 0, outcome
    return outcome.stdout.decode().strip()


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined", "container", "none"])
def test_a_tool_that_is_not_there_is_missing(tree: Path, level: str) -> None:
    room = open_room(level, tree)
    outcome = run(room, "{tool:no-such-tool}", executes=level != "none")
    assert (outcome.ended, outcome.reason) == (Ended.MISSING, "no-such-tool is not installed here")


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined", "container"])
def test_a_tool_of_the_system_runs(tree: Path, level: str) -> None:
    assert said(run(open_room(level, tree), "{tool:cat}", "package.json")) == "{}"


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined", "container"])
def test_the_packages_of_the_work_tree_are_in_the_copy_of_the_tree(tree: Path, top: Path, level: str) -> None:
    room = open_room(level, tree, toplevel=top)
    assert said(run(room, "{tool:lint}")) == "of the project data"
    assert said(shell(room, "{tool:lint}; cat node_modules/lint/data")) == "of the project data\ndata"


@pytest.mark.parametrize("level", ["bubblewrap", "container"])
def test_the_packages_of_the_work_tree_cannot_be_changed(tree: Path, top: Path, level: str) -> None:
    shell(open_room(level, tree, toplevel=top), "echo bad > node_modules/lint/data; rm -rf node_modules; true")
    assert (top / "node_modules" / "lint" / "data").read_text() == "data"


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined", "container"])
def test_packages_of_a_part_of_the_repository_are_there_too(tree: Path, top: Path, level: str) -> None:
    (tree / "packages" / "one").mkdir(parents=True)
    (tree / "packages" / "one" / "package.json").write_text("{}")
    a_package(top / "packages" / "one" / "node_modules", "inner", "#!/bin/sh\necho inner\n")
    assert said(shell(open_room(level, tree, toplevel=top), "packages/one/node_modules/.bin/inner")) == "inner"


def test_a_package_that_is_a_part_of_the_repository_leads_to_the_copy(tree: Path, top: Path) -> None:
    (top / "node_modules" / "@own").mkdir()
    for name in ("own", "@own/part"):
        (top / "node_modules" / name).symlink_to("../" * (name.count("/") + 1) + "part")
    (top / "part").mkdir()
    (top / "part" / "code").write_text("of the work tree")
    (tree / "part").mkdir()
    (tree / "part" / "code").write_text("of the change ")
    for level in ("bubblewrap", "unconfined"):
        script = "cat node_modules/own/code node_modules/@own/part/code"
        assert said(shell(open_room(level, tree, toplevel=top), script)) == "of the change of the change"


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined"])
def test_packages_that_an_end_of_the_change_has_committed_are_not_borrowed(
    tree: Path, top: Path, tmp_path: Path, level: str
) -> None:
    base = tmp_path / "base"
    a_package(base / "node_modules", "lint", "#!/bin/sh\necho committed\n")
    room = open_room(level, tree, base=base, toplevel=top)
    assert run(room, "{tool:lint}").ended is Ended.MISSING
    assert said(shell(room, "ls")) == "package.json"
    assert run(room, "{tool:lint}", tree=Side.BASE).ended is Ended.MISSING


def test_a_file_laid_in_the_place_of_packages_takes_it(tree: Path, top: Path) -> None:
    for level in ("bubblewrap", "unconfined"):
        room = open_room(level, tree, toplevel=top)
        assert said(shell(room, "cat node_modules", overlay=(("node_modules", b"a file"),))) == "a file"


@pytest.mark.parametrize("level", ["none", "unconfined", "bubblewrap"])
def test_what_executes_nothing_of_the_change_takes_no_tool_of_the_project(tree: Path, top: Path, level: str) -> None:
    a_program(top / ".venv" / "bin" / "lint2")
    (top / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (top / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    host = sandbox.Host(path=(top / "node_modules" / ".bin", top / ".venv" / "bin"))
    room = open_room(level, tree, toplevel=top, host=host)
    for name in ("lint", "lint2"):
        assert run(room, f"{{tool:{name}}}", executes=False, tree=None).ended is Ended.MISSING


def test_the_project_s_own_environment_comes_before_the_operator_s_programs(tree: Path, top: Path, home: Path) -> None:
    a_program(top / ".venv" / "bin" / "check", "#!/bin/sh\necho of the environment\n")
    (top / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (top / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    a_program(home / ".local" / "bin" / "check", "#!/bin/sh\necho of the user\n")
    host = sandbox.Host(path=(home / ".local" / "bin",), home=home)
    for level in ("bubblewrap", "unconfined"):
        assert said(run(open_room(level, tree, toplevel=top, host=host), "{tool:check}")) == "of the environment"
        assert said(run(open_room(level, tree, host=host), "{tool:check}")) == "of the user"


@pytest.mark.usefixtures("bubblewrap")
def test_a_program_of_the_user_is_shown_alone(tree: Path, home: Path) -> None:
    bin_folder = home / ".local" / "bin"
    a_program(bin_folder / "mine", f"#!/bin/sh\nls {bin_folder}; cat {home}/secret {home}/.local/secret; echo ended\n")
    a_program(bin_folder / "other")
    room = open_room("bubblewrap", tree, host=sandbox.Host(path=(bin_folder,), home=home))
    assert said(run(room, "{tool:mine}")) == "mine\nended"
    assert SECRET not in said(shell(room, f"{{tool:mine}}; cat {home}/*; find {home} -type f | xargs cat"))


def test_the_folders_of_the_tools_are_on_the_path(tree: Path, home: Path) -> None:
    a_program(home / "tools" / "one")
    a_program(home / "more" / "two")
    host = sandbox.Host(path=(home / "tools", home / "more"), home=home)
    for level in ("bubblewrap", "unconfined"):
        assert said(shell(open_room(level, tree, host=host), "one && two # {tool:one} {tool:two}")) == "found\nfound"


@pytest.mark.usefixtures("bubblewrap")
def test_a_script_brings_what_its_first_line_names(tree: Path, home: Path) -> None:
    a_program(home / "bin" / "runner", '#!/bin/sh\necho "runner runs $(basename "$1")"\n')
    a_program(home / "scripts" / "by-name", "#!/usr/bin/env -S runner\n")
    a_program(home / "scripts" / "by-path", f"#!{home}/bin/runner\n")
    host = sandbox.Host(path=(home / "scripts", home / "bin"), home=home)
    room = open_room("bubblewrap", tree, host=host)
    assert said(run(room, "{tool:by-name}")) == "runner runs by-name"
    by_path = run(room, "{tool:by-path}")
    assert b"interpreter" in by_path.stderr or said(by_path) == "runner runs by-path"  # a script cannot be one's interpreter


@pytest.mark.usefixtures("bubblewrap")
def test_a_script_of_a_python_environment_finds_its_packages(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "linter.py").write_text("def main(): print('its package')\n")
    long_way = f"#!/bin/sh\n'''exec' \"{folder}/bin/python\" \"$0\" \"$@\"\n' '''\nimport linter; linter.main()\n"
    a_program(folder / "bin" / "linter", f"#!{folder}/bin/python\nimport linter; linter.main()\n")
    a_program(folder / "bin" / "linter-by-shell", long_way)
    elsewhere = tmp_path / "bin"
    elsewhere.mkdir()
    (elsewhere / "linter").symlink_to(folder / "bin" / "linter")
    for path, name in ((folder / "bin", "linter"), (elsewhere, "linter"), (folder / "bin", "linter-by-shell")):
        room = open_room("bubblewrap", tree, host=sandbox.Host(path=(path,)))
        assert said(run(room, f"{{tool:{name}}}")) == "its package"


@pytest.mark.usefixtures("bubblewrap")
def test_a_toolchain_is_shown_as_a_whole_unless_it_is_the_home(tree: Path, home: Path) -> None:
    for root in (home, home / "sdk" / "go1.99"):
        a_program(root / "bin" / "go", '#!/bin/sh\ncat "$(dirname "$0")/../src/fmt.go" || echo alone\n')
        (root / "src").mkdir()
        (root / "src" / "fmt.go").write_text("package fmt\n")
    inside = open_room("bubblewrap", tree, host=sandbox.Host(path=(home / "sdk" / "go1.99" / "bin",), home=home))
    assert said(run(inside, "{tool:go}")) == "package fmt"
    outside = open_room("bubblewrap", tree, host=sandbox.Host(path=(home / "bin",), home=home))
    assert said(run(outside, "{tool:go}")) == "alone"
    assert SECRET not in shell(outside, f"find {home} -type f | xargs cat # {{tool:go}}").stdout.decode()


@pytest.mark.usefixtures("bubblewrap")
def test_a_toolchain_that_holds_the_repository_is_not_shown(tree: Path, tmp_path: Path) -> None:
    root = tmp_path / "go"
    a_program(root / "bin" / "go", "#!/bin/sh\nls ../../..; cat ../../../.git/config; true\n")
    (root / "src").mkdir()
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text(SECRET)
    room = open_room("bubblewrap", tree, toplevel=root / "src" / "project", host=sandbox.Host(path=(root / "bin",)))
    assert SECRET not in said(run(room, "{tool:go}"))


@pytest.mark.parametrize("link", ["/home", "..", "{home}"])
def test_packages_that_are_a_link_to_something_else_are_not_borrowed(tree: Path, tmp_path: Path, home: Path, link: str) -> None:
    top = tmp_path / "linked"
    top.mkdir()
    (top / "node_modules").symlink_to(link.format(home=home))
    for level in ("bubblewrap", "unconfined"):
        room = open_room(level, tree, toplevel=top, host=sandbox.Host(home=home))
        assert said(shell(room, "ls")) == "package.json"


def test_shims_and_relative_folders_are_passed_over(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_program(tmp_path / "shims" / "managed")
    a_program(tmp_path / "here" / "managed")
    monkeypatch.chdir(tmp_path)
    room = open_room("bubblewrap", tree, host=sandbox.Host(path=(tmp_path / "shims", Path("here"), Path())))
    assert run(room, "{tool:managed}").ended is Ended.MISSING


@pytest.mark.parametrize("name", ["../cat", "/bin/cat", "a b", ""])
def test_a_word_that_names_no_tool_is_left_as_it_is(tree: Path, name: str) -> None:
    assert said(run(open_room("bubblewrap", tree), "/bin/echo", f"{{tool:{name}}}")) == f"{{tool:{name}}}"


need_go = pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
need_node = pytest.mark.skipif(not shutil.which("npm"), reason="Node.js is not installed")
GO_MODULE = {
    "go.mod": "module example.org/calc\n\ngo 1.19\n\nrequire example.org/dep v1.0.0\n",
    "calc.go": 'package calc\n\nimport "example.org/dep"\n\nfunc Twice(x int) int { return dep.Double(x) }\n',
    "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 {\n\t\tt.Fatal("not 4")\n\t}\n}\n',
    "go.sum": "",
}


@pytest.mark.ci
@need_go
@pytest.mark.parametrize("level", ["bubblewrap", "unconfined"])
def test_go_tests_run_without_a_network_from_the_module_cache(tree: Path, tmp_path: Path, level: str) -> None:
    cache = tmp_path / "modules"
    a_go_module(cache, tmp_path)
    for name, text in GO_MODULE.items():
        (tree / name).write_text(text if name != "go.sum" else (tmp_path / "go.sum").read_text())
    path = tuple(Path(folder) for folder in os.environ["PATH"].split(":"))
    room = open_room(level, tree, toplevel=tmp_path / "repo", host=sandbox.Host(path=path, go_modules=cache))
    outcome = room.run(Job("go", ("{tool:go}", "test", "-json", "./..."), 120, executes=True, tree=Side.HEAD))
    assert outcome.exit_code == 0, outcome
    assert b'"Action":"pass"' in outcome.stdout
    hidden = shell(room, "cat $GOMODCACHE/cache/vcs/*/config # {tool:go}")
    assert level == "unconfined" or SECRET.encode() not in hidden.stdout


def a_go_module(cache: Path, tmp_path: Path) -> None:
    """Fill a module cache with one module, from a proxy that is a folder."""
    source = tmp_path / "proxy" / "example.org" / "dep" / "@v"
    source.mkdir(parents=True)
    (source / "v1.0.0.info").write_text('{"Version":"v1.0.0"}')
    (source / "v1.0.0.mod").write_text("module example.org/dep\n")
    (source / "list").write_text("v1.0.0\n")
    with zipfile.ZipFile(source / "v1.0.0.zip", "w") as packed:
        packed.writestr("example.org/dep@v1.0.0/go.mod", "module example.org/dep\n")
        packed.writestr("example.org/dep@v1.0.0/dep.go", "package dep\n\nfunc Double(x int) int { return x + x }\n")
    project = tmp_path / "project"
    project.mkdir()
    for name, text in GO_MODULE.items():
        (project / name).write_text(text)
    environment = os.environ | {
        "GOPROXY": f"file://{tmp_path}/proxy",
        "GOSUMDB": "off",
        "GOMODCACHE": str(cache),
        "GOFLAGS": "-mod=mod -modcacherw",
        "GOCACHE": str(tmp_path / "built"),
    }
    done = subprocess.run(["go", "mod", "tidy"], cwd=project, env=environment, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    shutil.copy(project / "go.sum", tmp_path / "go.sum")
    (cache / "cache" / "vcs" / "abc").mkdir(parents=True)
    (cache / "cache" / "vcs" / "abc" / "config").write_text(SECRET)


@need_node
@pytest.mark.parametrize("level", ["bubblewrap", "unconfined"])
def test_npm_runs_the_project_s_script_with_the_packages_of_the_work_tree(tree: Path, tmp_path: Path, level: str) -> None:
    top = tmp_path / "repository"
    a_package(
        top / "node_modules", "tester", "#!/usr/bin/env node\nconsole.log(require('dep'), process.env.HOME !== undefined)\n"
    )
    (top / "node_modules" / "dep").mkdir()
    (top / "node_modules" / "dep" / "index.js").write_text("module.exports = 'a dependency'\n")
    (tree / "package.json").write_text('{"name": "x", "version": "1.0.0", "scripts": {"test": "tester && touch ~/written"}}')
    path = tuple(Path(folder) for folder in os.environ["PATH"].split(":"))
    room = open_room(level, tree, toplevel=top, host=sandbox.Host(path=path))
    assert said(run(room, "{tool:npm}", "test", "--silent")) == "a dependency true"
