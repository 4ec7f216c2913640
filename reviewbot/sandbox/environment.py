"""What of this machine a job may read: the project's interpreter, its packages, toolchains.

Nothing of it is run to find out, and nothing is lent that the change could have put there. A folder
counts only for what is in it, so a forged pyvenv.cfg shows no other folder.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reviewbot.journal import key_of
from reviewbot.sandbox.job import PROJECT

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
# A work tree there is laid out at /project instead: jobs need something else at these paths.
NO_PROJECT = {"/", *SYSTEM, "/etc", "/tmp", "/proc", "/dev", "/run", "/var", "/home", "/root"}
# Folders among packages in which tools keep files: empty for a job, which may write there.
NODE_CACHES = (".cache", ".vite", ".vite-temp")
# What the client of docker or podman needs to find its daemon.
ENGINE = {"PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"}


class Mount(Struct, frozen=True, kw_only=True):
    """Something at the path `target` inside.

    Attributes:
        source: what is seen there, or what a link points to; "" for an empty folder in memory.
        name_in_tree: its path in the tree. It is not there if the tree has something of that name.
    """

    target: str
    source: str = ""
    is_link: bool = False
    name_in_tree: str = ""


class Environment(Struct, frozen=True, kw_only=True):
    """The project's tools.

    Attributes:
        project: the folder inside in which trees are laid out: the path of the work tree, so that
            an editable installation of the project means the copy of the tree.
        python: the interpreter of the project, as it is called inside.
        mounts, own_mounts: what the project's tools need, and what reviewbot's interpreter needs.
        path: folders of programs inside, before those of the system.
        tools: a hash that changes with their versions. What is in /usr does not count.
        engine_variables: for the client of docker or podman, never for a job.
    """

    project: str
    python: str
    mounts: tuple[Mount, ...]
    own_mounts: tuple[Mount, ...]
    path: tuple[str, ...]
    variables: Mapping[str, str]
    tools: str
    engine_variables: Mapping[str, str]


def find_environment(
    root: Path | None, variables: Mapping[str, str], committed: Collection[str] = ()
) -> Environment:
    """Find the tools of the project in a work tree.

    Args:
        root: the top of the work tree; None if there is none.
        variables: the environment of the user: PATH, HOME, VIRTUAL_ENV and the like.
        committed: all paths of base and head. What is in the change is not lent.
    """
    lender = _Lender(root, variables, committed)
    own = Path(sys.executable)
    lent = {python: lender.lend(python) for python in lender.pythons()}
    pythons = [python for python in lent if lent[python] is not None] or [own]
    # An interpreter that was found by chance is of less use than a later one that has pytest.
    good = (
        python for python in pythons if _is_environment(python.parent.parent) or _has_pytest(python)
    )
    python = next(good, pythons[0])
    mounts = [*(lent[python] or ()), *lender.node_modules()]
    path = [str(Path(lender.inside(python)).parent), f"{lender.project}/node_modules/.bin"]
    offline: dict[str, str] = {}
    lender.add_toolchains(mounts, path, offline)
    own_mounts = lender.lend(own) or ()
    return Environment(
        project=lender.project,
        python=lender.inside(python),
        mounts=tuple(mounts),
        own_mounts=own_mounts,
        path=tuple(dict.fromkeys(path)),
        variables=offline,
        tools=key_of(
            sys.version,
            sorted({*_packages(own), *_packages(python)}),
            [_version(Path(mount.source)) for mount in (*mounts, *own_mounts) if mount.source],
        ),
        engine_variables={name: variables[name] for name in sorted(ENGINE & variables.keys())},
    )


def is_in_tree(name: str, folder: Path) -> bool:
    """Whether a tree has something at a path, or a file where one of its folders should be."""
    if not name:
        return False
    above = [folder / parent for parent in Path(name).parents if parent != Path()]
    return os.path.lexists(folder / name) or any(
        path.is_symlink() or path.is_file() for path in above
    )


class _Lender:
    def __init__(
        self, root: Path | None, variables: Mapping[str, str], committed: Collection[str]
    ) -> None:
        home = variables.get("HOME", "")
        self._root = root and root.resolve()
        self._home = Path(home).resolve() if home.startswith("/") else None
        self._variables = variables
        self._committed = committed
        folders = (Path(name) for name in variables.get("PATH", "").split(":") if name[:1] == "/")
        self._path = [folder for folder in folders if not self._name_in_tree(folder.resolve())]
        self.project = self._project()

    def _project(self) -> str:
        root, home = self._root, self._home
        if root is None or str(root) in NO_PROJECT or (home and home.is_relative_to(root)):
            return PROJECT
        return str(root)

    def inside(self, path: Path) -> str:
        """How a path is called inside."""
        name = self._name_in_tree(path)
        return f"{self.project}/{name}" if name else str(path)

    def pythons(self) -> Iterator[Path]:
        """Interpreters that may be the project's, best first."""
        folders = [self._root / name for name in (".venv", "venv")] if self._root else []
        if self._variables.get("VIRTUAL_ENV", "").startswith("/"):
            folders.append(Path(self._variables["VIRTUAL_ENV"]))
        yield from (folder / "bin/python" for folder in folders if _is_environment(folder))
        for folder in self._path:
            yield from self._pyenv(folder) if folder.name == "shims" else [folder / "python3"]
        yield Path(sys.executable)

    def _pyenv(self, shims: Path) -> Iterator[Path]:
        """The interpreters that pyenv's scripts start, by the files that name its versions."""
        texts = [self._variables.get("PYENV_VERSION", "")]
        for folder, name in ((self._root, ".python-version"), (shims.parent, "version")):
            with suppress(OSError, ValueError):
                texts += [(folder / name).read_text(encoding="utf-8")[:1000]] if folder else []
        for name in re.split(r"[\s:]+", " ".join(texts)):
            if re.fullmatch(r"\w[\w.+-]*", name):
                yield shims.parent / "versions" / name / "bin/python3"

    def lend(self, python: Path) -> tuple[Mount, ...] | None:
        """What an interpreter needs: its environment, and the installation behind it.

        None if it is not there, or cannot work with what may be lent.
        """
        if not (python.is_file() and os.access(python, os.X_OK)):
            return None
        hops = list(_hops(python))
        environment = python.parent.parent
        environments = [environment, environment.resolve()]
        homes = [*(hop.parent for hop in hops), *_homes(environment)]
        mounts = [
            self._mount(folder)
            for folder in dict.fromkeys((*environments, *(home.parent for home in homes)))
            if _is_installation(folder) or (folder in environments and _is_environment(folder))
            if self._may_lend(folder, environments)
        ]
        seen = (*SYSTEM, *(mount.source for mount in mounts), *(mount.target for mount in mounts))
        if not any(hops[-1].is_relative_to(folder) for folder in seen):
            return None
        for hop in hops[:-1]:
            if not any(Path(self.inside(hop)).is_relative_to(folder) for folder in seen):
                mounts.append(Mount(target=str(hop), source=str(_goal(hop)), is_link=True))
        return tuple(mounts)

    def node_modules(self) -> Iterator[Mount]:
        """Packages of the work tree and of its parts, two levels deep."""
        for pattern in ("node_modules", "*/node_modules", "*/*/node_modules"):
            for folder in sorted(self._root.glob(pattern)) if self._root else ():
                name = self._name_in_tree(folder)
                if "node_modules" in folder.parts[:-1] or folder.is_symlink():
                    continue
                if folder.is_dir() and not self._is_committed(name):
                    yield self._mount(folder)
                    for cache in NODE_CACHES:
                        if (folder / cache).is_dir() and not (folder / cache).is_symlink():
                            target = f"{self.project}/{name}/{cache}"
                            yield Mount(target=target, name_in_tree=name)

    def add_toolchains(
        self, mounts: list[Mount], path: list[str], variables: dict[str, str]
    ) -> None:
        """Add compilers on the user's PATH, and caches of modules without what knows passwords."""
        home = self._home or Path("/nonexistent")

        def lend(folder: Path, programs: str = "") -> bool:
            may = folder.is_dir() and self._may_lend(folder)
            if may:
                mounts.append(self._mount(folder))
            if programs and (may or folder == Path("/usr/local/go")):
                path.append(os.path.normpath(folder / programs))
            return may

        if go := self._which("go"):
            folder = go.resolve().parent.parent
            if (folder / "src").is_dir():
                lend(folder, "bin")
            go_path = Path(self._variables.get("GOPATH") or home / "go")
            lend(go_path / "bin", ".")
            modules = Path(self._variables.get("GOMODCACHE") or go_path / "pkg/mod")
            if lend(modules):
                variables["GOMODCACHE"] = str(modules)
                if (modules / "cache/vcs").is_dir():
                    mounts.append(Mount(target=f"{modules}/cache/vcs"))
            variables |= {"GOPROXY": "off", "GOSUMDB": "off", "GOFLAGS": "-mod=mod"}
            variables |= {"GOTOOLCHAIN": "local"}
        if cargo := self._which("cargo"):
            lend(cargo.parent, ".")
            rustup = Path(self._variables.get("RUSTUP_HOME") or home / ".rustup")
            if lend(rustup):
                variables["RUSTUP_HOME"] = str(rustup)
            registry = Path(self._variables.get("CARGO_HOME") or home / ".cargo") / "registry"
            if registry.is_dir() and self._may_lend(registry):  # cargo writes beside it
                target = "/tmp/.cargo/registry"
                mounts.append(Mount(target=target, source=str(registry.resolve())))
            variables |= {"CARGO_HOME": "/tmp/.cargo", "CARGO_NET_OFFLINE": "true"}
        if node := self._which("node"):
            folder = node.resolve().parent.parent
            if (folder / "include/node").is_dir():  # etc/npmrc beside it may hold a token
                lend(folder / "bin", ".")
                lend(folder / "lib/node_modules")
            variables |= {"npm_config_offline": "true", "npm_config_update_notifier": "false"}
        if java := self._which("java"):
            folder = java.resolve().parent.parent
            if (folder / "release").is_file():
                lend(folder, "bin")
                variables["JAVA_HOME"] = str(folder)

    def _which(self, program: str) -> Path | None:
        found = shutil.which(program, path=":".join(map(str, self._path)))
        return Path(found) if found else None

    def _mount(self, folder: Path) -> Mount:
        name = self._name_in_tree(folder)
        source = str(folder.resolve())
        return Mount(target=self.inside(folder), source=source, name_in_tree=name)

    def _may_lend(self, folder: Path, of_tree: Collection[Path] = ()) -> bool:
        """No folder of the system, which is there anyway, no home and nothing that contains one.

        Args:
            of_tree: folders that may be in the tree under review.
        """
        real, home, root = folder.resolve(), self._home, self._root
        if any(real.is_relative_to(name) for name in SYSTEM):
            return False
        if home and (home.is_relative_to(real) or real in (home / ".local", home / ".config")):
            return False
        if root and root.is_relative_to(real):
            return False
        if name := self._name_in_tree(folder):
            return folder in of_tree and not self._is_committed(name)
        return folder in of_tree or not self._name_in_tree(real)

    def _name_in_tree(self, path: Path) -> str:
        if self._root is None or not path.is_relative_to(self._root):
            return ""
        return str(path.relative_to(self._root))

    def _is_committed(self, name: str) -> bool:
        folder = f"{name}/"
        return any(
            path == name or path.startswith(folder) or name.startswith(f"{path}/")
            for path in self._committed
        )


def _is_environment(folder: Path) -> bool:
    """Whether it is a virtual environment, as `python -m venv` makes it."""
    return (folder / "pyvenv.cfg").is_file() and any(folder.glob("lib/python3*/site-packages"))


def _is_installation(folder: Path) -> bool:
    return any(folder.glob("bin/python3*")) and any(folder.glob("lib/python3*/os.py"))


def _has_pytest(python: Path) -> bool:
    folder = python.parent.parent
    if not _is_environment(folder):
        folder = python.resolve().parent.parent
    return any(folder.glob("lib/python3*/*-packages/pytest/__init__.py"))


def _hops(path: Path) -> Iterator[Path]:
    """A path and every link on the way to its file."""
    for _ in range(20):
        yield path
        if not path.is_symlink():
            return
        path = _goal(path)


def _goal(link: Path) -> Path:
    """Where a link points, without `..` wherever that means the same."""
    plain = Path(os.path.normpath(link.parent / link.readlink()))
    return plain if plain.exists() else link.resolve()


def _homes(environment: Path) -> Iterator[Path]:
    """The folder of the interpreter that an environment was made from."""
    with suppress(OSError, ValueError):
        text = (environment / "pyvenv.cfg").read_text(encoding="utf-8")
        yield from map(Path, re.findall(r"(?m)^home\s*=\s*(/.*?)\s*$", text))


def _packages(python: Path) -> list[str]:
    """Names and versions of the packages beside an interpreter."""
    found = python.parent.parent.glob("lib/python3*/site-packages/*.dist-info")
    return [folder.name for folder in found]


def _version(path: Path) -> tuple[int, int]:
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size
    return 0, 0
