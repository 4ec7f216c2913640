"""Which tools of a machine jobs may use."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import venv
from base64 import b64encode
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from each import each

from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.environment import Environment, find_environment
from reviewbot.sandbox.job import Completed, Job


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


def run(environment: Environment, tree: Path, *command: str, **options: Any) -> Completed:
    job = Job(tree="", command=command, executes=True, **options)
    return asyncio.run(Bubblewrap(environment).run(job, tree))


def targets(environment: Environment) -> list[str]:
    return [mount.target for mount in environment.mounts]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A work tree, beside the home of its user and a folder for laid out trees."""
    for name in ("project", "home", "trees/tree"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def tree(root: Path) -> Path:
    return root.parent / "trees/tree"


def make_venv(folder: Path) -> Path:
    venv.create(folder, with_pip=False)
    return next(folder.glob("lib/python3*/site-packages"))


def test_an_editable_installation_means_the_copy_under_review(root: Path, tree: Path) -> None:
    packages = make_venv(root / ".venv")
    (packages / "__editable__.shop-1.pth").write_text(f"{root}/src\n")
    write(root, {"src/shop.py": "VERSION = 'of the work tree'\n"})
    write(tree, {"src/shop.py": "VERSION = 'under review'\n"})
    environment = find_environment(root, {})
    assert environment.python == f"{root}/.venv/bin/python"
    completed = run(environment, tree, "{python}", "-c", "import shop; print(shop.VERSION)")
    assert completed.stdout == b"under review\n"
    assert completed.project == str(root)
    # One that the change commits is not lent, and a package more makes it another one.
    assert find_environment(root, {}, [".venv/pyvenv.cfg"]).python == sys.executable
    assert find_environment(root, {}).tools == environment.tools
    (packages / f"msgspec-{version('msgspec')}.dist-info").mkdir()  # reviewbot has it as well
    assert find_environment(root, {}).tools != environment.tools


def test_a_forged_environment_shows_no_other_folder(root: Path) -> None:
    write(root.parent, {"home/.ssh/bin/id": "secret"})
    write(root, {".venv/lib/python3.11/site-packages/x": ""})
    write(root, {".venv/pyvenv.cfg": f"home = {root.parent}/home/.ssh/bin\n"})
    (root / ".venv/bin").mkdir()
    (root / ".venv/bin/python").symlink_to("/usr/bin/env")
    environment = find_environment(root, {"HOME": f"{root.parent}/home"})
    assert targets(environment) == [f"{root}/.venv"]


def test_an_environment_that_a_tool_makes_for_reviewbot_is_not_that_of_a_project(
    root: Path,
) -> None:
    """Any Python is better, also one without pytest, which is lent to it."""
    places = ("repo/py_env-python3", "runner/reviewbot-venv", "uv/tools/reviewbot")
    own, *tools = (root.parent / name for name in ("own", *places))
    bare = root.parent / "bare"
    write(bare, {"lib/python3.11/os.py": "", "bin/python3": "#!/bin/sh\n"})
    for folder in (own, *tools):
        make_venv(folder)
        variables = {"VIRTUAL_ENV": str(folder), "PATH": f"{folder}/bin:{bare}/bin"}
        used = f"{own}/bin/python" if folder == own else f"{bare}/bin/python3"
        assert find_environment(root, variables).python == used


def test_an_environment_that_another_tool_keeps_is_found(root: Path) -> None:
    """By the rules of Poetry 2.5, Pipenv 2026.10 and Hatch 1.18."""
    home = root.parent / "home"
    for place, path in {
        ".cache/pypoetry/virtualenvs/shop-{}-py3.11": "",
        ".local/share/virtualenvs/shop-{}": "/Pipfile",
        ".local/share/hatch/env/virtual/shop/{}/hatch-test.py3.11": "",
        ".local/share/hatch/env/virtual/shop/{}/shop": "",
    }.items():
        tags = [
            b64encode(sha256(f"{folder}{path}".encode()).digest(), b"-_").decode()[:8]
            for folder in (root, root / "backend")
        ]
        first, second = (home / place.format(tag) for tag in tags)
        make_venv(first)
        make_venv(second)
        environment = find_environment(root, {"HOME": str(home)}, ["backend/setup.py"])
        assert environment.python == f"{first}/bin/python"
        assert environment.pythons == {"backend": f"{second}/bin/python"}
        active = {"HOME": str(home), "VIRTUAL_ENV": str(second)}
        assert find_environment(root, active).python == f"{second}/bin/python"
        shutil.rmtree(home)


def test_a_python_of_the_path_is_no_shim_and_not_of_the_tree(root: Path) -> None:
    versions = root.parent / "pyenv/versions/3.11.0"
    write(root, {"bin/python3": "#!/bin/sh\n"})
    write(root.parent, {"pyenv/shims/python3": "#!/bin/sh\n"})
    write(versions, {"bin/python3": "", "lib/python3.11/os.py": ""})
    write(versions, {"lib/python3.11/site-packages/pytest/__init__.py": ""})
    path = f"{root}/bin:{root.parent}/pyenv/shims:{versions}/bin"
    environment = find_environment(root, {"PATH": path})
    assert environment.python == f"{versions}/bin/python3"
    assert targets(environment) == [str(versions)]


def test_packages_of_the_work_tree_are_lent_read_only(root: Path, tree: Path) -> None:
    write(root, {"node_modules/a/x.js": "top", "src/packages/p/q/node_modules/b/x.js": "part"})
    write(root, {"node_modules/.vite/old": "", "node_modules/.bin/tool": "#!/bin/sh\necho ran\n"})
    write(tree, {"src/packages/p/q/package.json": "{}"})
    script = (
        "cat node_modules/a/x.js src/packages/p/q/node_modules/b/x.js; ls node_modules/.vite; tool;"
        " touch node_modules/.vite/new src/packages/p/q/new node_modules/a/new"
    )
    environment = find_environment(root, {}, ["src/packages/p/q/package.json"])
    completed = run(environment, tree, "sh", "-c", script)
    assert completed.stdout == b"toppartran\n"
    assert completed.stderr.count(b"Read-only") == 1


def test_nothing_is_lent_that_lies_behind_a_committed_link(root: Path) -> None:
    write(root.parent, {"other/node_modules/secret.js": ""})
    (root / "app").symlink_to(root.parent / "other")
    package = "app/package.json"
    assert f"{root}/app/node_modules" in targets(find_environment(root, {}, [package]))
    assert f"{root}/app/node_modules" not in targets(find_environment(root, {}, [package, "app"]))


def test_caches_are_lent_without_what_knows_passwords(root: Path, tree: Path) -> None:
    home = root.parent / "home"
    secrets = (".npmrc", ".cargo/credentials.toml", ".git-credentials", "sdk/node/etc/npmrc")
    write(home, dict.fromkeys((*secrets, "go/pkg/mod/cache/vcs/x/config"), "secret"))
    write(home, {"go/pkg/mod/m/x.go": "module", ".cargo/registry/c": "crate", ".rustup/s": ""})
    write(
        home, {".cache/go-build/00/a": "object", "sdk/go/src/x": "", "sdk/node/include/node/x": ""}
    )
    for tool in ("sdk/go/bin/go", ".cargo/bin/cargo", "sdk/node/bin/node"):
        write(home, {tool: f"#!/bin/sh\necho {tool.rpartition('/')[2]}\n"})
    path = f"{home}/sdk/go/bin:{home}/.cargo/bin:{home}/sdk/node/bin"
    environment = find_environment(root, {"HOME": str(home), "PATH": path})
    script = (
        "go; cargo; node; cat $GOMODCACHE/m/x.go $CARGO_HOME/registry/c /tmp/go-cache/00/a;"
        f" touch $CARGO_HOME/lock; grep -r secret {home} {root}"
    )
    completed = run(environment, tree, "sh", "-c", script)
    assert completed.stdout == b"go\ncargo\nnode\nmodulecrateobject"
    assert completed.stderr == b""
    write(home, {".cache/go-build/01/a": ""})  # recorded results stay valid
    assert find_environment(root, {"HOME": str(home), "PATH": path}).tools == environment.tools


def test_a_home_is_never_lent(root: Path) -> None:
    home = root.parent / "home"
    write(home, {"bin/go": "", "src/x": "", "bin/python3": "", "lib/python3.11/os.py": ""})
    write(home, {".local/bin/java": "", ".local/release": ""})
    variables = {"HOME": str(home), "PATH": f"{home}/bin:{home}/.local/bin"}
    lent = targets(find_environment(root, {**variables, "GOMODCACHE": str(home)}))
    assert not {str(home), f"{home}/.local"} & set(lent)


SYSTEM = ("/", "/usr", "/tmp", "/etc", "/proc", "/dev", "/run", "/var", "/home", "/root")


@each("place", [*SYSTEM, "/var/tmp/x", "/tree", "/out/x"])
def test_a_work_tree_in_the_way_of_the_system_is_laid_out_elsewhere(place: str) -> None:
    assert find_environment(Path(place), {}).project == "/project"


def test_no_container_engine_of_the_work_tree_is_started(root: Path) -> None:
    environment = find_environment(root, {"PATH": f"{root}/bin::.:bin:/opt/bin"})
    found = environment.engine_variables["PATH"].split(":")
    assert found == ["/opt/bin", *os.defpath.split(":"), "/usr/local/bin"]
