"""What of this machine a job may read: the project's interpreter, its packages, toolchains.

Nothing of it is run to find out, and nothing is lent that the change could have put there. A folder
counts only for what is in it, so a forged pyvenv.cfg shows no other folder.
"""

import os
import re
import shutil
import sys
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath

from msgspec import Struct

from reviewbot.journal import key_of
from reviewbot.sandbox.job import PROJECT

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
# A work tree there is laid out at /project instead: jobs need something else at these paths.
NO_PROJECT = {"/", *SYSTEM, "/etc", "/tmp", "/proc", "/dev", "/run", "/var", "/home", "/root"}
# Below the home of a user, where tools keep an environment of a project elsewhere. Its name has a
# hash of the path of the project, or of a file there.
KEPT_ENVIRONMENTS = {
    ".cache/pypoetry/virtualenvs/*-{}-py3*": "",
    ".local/share/virtualenvs/*-{}*": "Pipfile",
    ".local/share/hatch/env/virtual/*/{}/hatch-test*": "",
    ".local/share/hatch/env/virtual/*/{}/*": "",
}
OWN_FOLDERS = ("/var/tmp/", "/tree/", "/overlay/", "/reviewbot/", "/out/")  # of the sandbox
# They are at the top of a project of Python.
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")
APPLICATION_FILES = ("requirements.txt", "Pipfile", "manage.py")  # of what nobody installs
GO_CACHE = "/tmp/go-cache"  # what was compiled before; it is read, and changes no result
# Compilers on the PATH of users: what tells their installation, a folder of it or a cache to lend,
# and the variable that names it or another place for it. What knows passwords lies beside that.
TOOLCHAINS = (
    ("go", "src", "{installation}", ""),
    ("go", "src", "{GOPATH}/bin", ""),
    ("go", "src", "{GOMODCACHE}", "GOMODCACHE"),
    ("go", "src", "{GOCACHE}", GO_CACHE),
    ("cargo", "bin", "{installation}/bin", ""),
    ("cargo", "bin", "{RUSTUP_HOME}", "RUSTUP_HOME"),
    ("cargo", "bin", "{CARGO_HOME}/registry", "/tmp/.cargo/registry"),
    ("node", "include/node", "{installation}/bin", ""),
    ("node", "include/node", "{installation}/lib/node_modules", ""),
    ("java", "release", "{installation}", "JAVA_HOME"),
)
# Where folders are, unless a variable of the user says otherwise.
PLACES = {
    "GOPATH": "{HOME}/go",
    "GOMODCACHE": "{GOPATH}/pkg/mod",
    "GOCACHE": "{HOME}/.cache/go-build",
    "RUSTUP_HOME": "{HOME}/.rustup",
    "CARGO_HOME": "{HOME}/.cargo",
}
OFFLINE = {
    **{"CARGO_HOME": "/tmp/.cargo", "CARGO_NET_OFFLINE": "true"},  # cargo writes there
    **{"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local"},
    **{"npm_config_offline": "true", "npm_config_update_notifier": "false"},
}
# Folders that are empty for a job, which may write there: what tools keep among packages of node,
# and the repositories in Go's cache, which may know passwords.
EMPTY = (".cache", ".vite", ".vite-temp", "cache/vcs")
# Modules that a build writes beside those that are committed, and that hold no secrets.
GENERATED = re.compile(r"_?version\.py|__version__\.py|\w+_pb2(_grpc)?\.pyi?|.+\.so")
# An environment that pre-commit, the Action, prek, uv or pipx makes for a tool, and may activate.
OF_A_TOOL = re.compile(
    r"/(py_env-|reviewbot-venv|prek/hooks/|uv/(tools|archive-v\d+)/|pipx/venvs/)[^/]*/bin/"
)
# What the client of docker or podman needs to find its daemon.
ENGINE = {"PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"}


class Mount(Struct, frozen=True, kw_only=True):
    """Something at the path `target` inside."""

    target: str
    source: str = ""  # what is seen there; "" for an empty folder in memory
    is_link: bool = False  # to the source


class Environment(Struct, frozen=True, kw_only=True):
    """The project's tools.

    Trees are laid out in `project` inside: the path of the work tree, so that an editable
    installation of the project means the copy of the tree.
    """

    project: str
    python: str
    pythons: Mapping[str, str]  # of folders that have an environment of their own
    mounts: tuple[Mount, ...]
    own_mounts: tuple[Mount, ...]  # what reviewbot's interpreter needs
    path: tuple[str, ...]  # folders of programs inside, behind that of the interpreter
    variables: Mapping[str, str]
    tools: str  # a hash that changes with their versions; of /usr, only Python's packages count
    engine_variables: Mapping[str, str]  # for the client of docker or podman, never for a job


def find_environment(
    root: Path | None,  # the top of the work tree
    variables: Mapping[str, str],  # of the user: PATH, HOME, VIRTUAL_ENV and the like
    committed: Collection[str] = (),  # all paths of base and head: these are not lent
    generated: Collection[str] = (),  # files that belong to it, though git ignores them
) -> Environment:
    """Find the tools of the project in a work tree."""
    lender = _Lender(root, variables, committed)
    own = Path(sys.executable)
    lend = cache(lender.lend)
    usable = (python for python in lender.pythons() if lend(python) is not None)
    first = next(usable, own)
    # An interpreter that was found by chance is of less use than a later one that has pytest.
    python = next(filter(_is_environment_or_has_pytest, chain([first], usable)), first)
    mounts = [*(lend(python) or ()), *lender.of_tree(generated)]
    below = dict(lender.pythons_below())
    mounts += (mount for other in below.values() for mount in lend(other) or ())
    path: list[str] = []
    named = lender.add_toolchains(mounts, path)
    own_mounts = lend(own) or ()
    prefixes = {Path("/usr/local"), *(p.parent.parent for p in (own, python, *below.values()))}
    packages = [f.name for p in prefixes for f in p.glob("lib/python3*/*-packages/*-info")]
    lent = [m.source for m in (*mounts, *own_mounts) if m.source and m.target != GO_CACHE]
    versions = [(found.st_mtime_ns, found.st_size) for found in map(os.stat, lent)]
    return Environment(
        project=lender.project,
        python=str(python),
        pythons={folder: str(other) for folder, other in below.items()},
        mounts=tuple(mounts),
        own_mounts=own_mounts,
        path=tuple(dict.fromkeys(path)),
        variables=OFFLINE | named,
        tools=key_of(sys.version, sorted(packages), versions),
        engine_variables={name: variables[name] for name in sorted(ENGINE & variables.keys())}
        | {"PATH": lender.engine_path},
    )


def find_generated(root: Path, committed: Iterable[str]) -> list[str]:
    """Files beside the committed modules of a work tree that a build may have written."""
    known = frozenset(committed)
    found = []
    for folder in sorted({path.rpartition("/")[0] for path in known if path.endswith(".py")}):
        with suppress(OSError), os.scandir(root / folder) as entries:
            names = sorted(entry.name for entry in entries if GENERATED.fullmatch(entry.name))
            found += [f"{folder}/{name}".removeprefix("/") for name in names]
    return [path for path in found if path not in known]


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
        self.engine_path = ":".join((*map(str, self._path), os.defpath, "/usr/local/bin"))
        has_home = self._home and self._root and self._home.is_relative_to(self._root)
        is_taken = f"{self._root}/".startswith(OWN_FOLDERS) or str(self._root) in NO_PROJECT
        has_bytes = re.search("[\udc80-\udcff]", str(self._root))  # results are recorded as UTF-8
        self._tree = None if has_home or is_taken or has_bytes else self._root
        self.project = str(self._tree or PROJECT)

    def pythons(self) -> Iterator[Path]:
        """Interpreters that may be the project's, best first."""
        found = chain(self._pythons_of(""), (folder / "python3" for folder in self._path))
        yield from (python for python in found if not OF_A_TOOL.search(str(python)))

    def pythons_below(self) -> Iterator[tuple[str, Path]]:
        """Folders of projects, and above, with the python of an environment of their own."""
        names = {*PROJECT_FILES, *APPLICATION_FILES}
        files = [path for path in self._committed if path.rpartition("/")[2] in names]
        for folder in sorted({str(f) for path in files for f in PurePosixPath(path).parents[:-1]}):
            usable = (p for p in self._pythons_of(folder) if self.lend(p) is not None)
            if python := next(usable, None):
                yield folder, python

    def _pythons_of(self, folder: str) -> Iterator[Path]:
        """Where a project may have one: in its folder, the active one, or where tools keep it."""
        active = Path("" if folder else self._variables.get("VIRTUAL_ENV", ""))
        places = [active] if active.is_absolute() else []
        if self._tree:
            project, home = self._tree / folder, self._home or Path("/nonexistent")
            places = [project / ".venv", project / "venv", *places]
            for pattern, name in KEPT_ENVIRONMENTS.items():
                tag = urlsafe_b64encode(sha256(os.fsencode(project / name)).digest()[:6]).decode()
                places += sorted(home.glob(pattern.format(tag)))
        return (place / "bin/python" for place in places if _is_environment(place))

    def lend(self, python: Path) -> tuple[Mount, ...] | None:
        """The environment and installation of an interpreter; None if these may not all be lent."""
        if not shutil.which(python):
            return None
        hops = [python]  # and every link on the way to its file
        while hops[-1].is_symlink() and len(hops) < 20:
            hops.append(Path(os.path.normpath(hops[-1].parent / hops[-1].readlink())))
        environments = [python.parent.parent, python.parent.parent.resolve()]
        config = environments[0] / "pyvenv.cfg"
        is_readable = config.is_file() and os.access(config, os.R_OK)
        text = config.read_text(encoding="utf-8", errors="replace") if is_readable else ""
        homes = map(Path, re.findall(r"(?m)^home\s*=\s*(/.*?)\s*$", text))
        installations = [place.parent for place in (*(hop.parent for hop in hops), *homes)]
        mounts: list[Mount] = []
        for folder in dict.fromkeys((*environments, *installations)):
            is_there = folder in environments and _is_environment(folder)
            is_there |= any(folder.glob("bin/python3*")) and any(folder.glob("lib/python3*/os.py"))
            if is_there and self._may_lend(folder, environments):
                mounts += self._mount(folder)
        seen = (*SYSTEM, *(place for mount in mounts for place in (mount.source, mount.target)))
        if not hops[-1].exists() or not any(hops[-1].is_relative_to(folder) for folder in seen):
            return None
        for hop, goal in pairwise(hops):
            if not any(hop.is_relative_to(folder) for folder in seen):
                mounts.append(Mount(target=str(hop), source=str(goal), is_link=True))
        return tuple(mounts)

    def of_tree(self, generated: Iterable[str]) -> Iterator[Mount]:
        """Packages of node, at the top and beside each package.json, and files of a build."""
        if self._tree is None:
            return
        names = {"package.json", *(p for p in self._committed if p.endswith("/package.json"))}
        folders = sorted({(self._tree / name).with_name("node_modules") for name in names})
        for path in (*folders, *(self._tree / name for name in generated)):
            if path.exists() and not path.is_symlink() and self._may_lend(path, [path]):
                yield from self._mount(path)

    def add_toolchains(self, mounts: list[Mount], path: list[str]) -> dict[str, str]:
        """Add what compilers need, and return the variables that name it."""
        named = {}
        places = {"HOME": str(self._home or "/nonexistent")}
        for name, usual in PLACES.items():
            places[name] = self._variables.get(name) or usual.format_map(places)
        for program, mark, template, name in TOOLCHAINS:
            found = shutil.which(program, path=":".join(map(str, self._path)))
            installation = Path(found or "/nonexistent/bin").resolve().parent.parent
            folder = Path(template.format_map({**places, "installation": str(installation)}))
            if not found or not (installation / mark).exists() or not folder.is_dir():
                continue
            is_elsewhere = name.startswith("/")
            if self._may_lend(folder):
                mounts += self._mount(folder, name if is_elsewhere else "")
            elif not _is_of_system(folder):
                continue
            path.append(str(folder if folder.name == "bin" else folder / "bin"))
            if name and not is_elsewhere:
                named[name] = str(folder)
        return named

    def _mount(self, folder: Path, target: str = "") -> Iterator[Mount]:
        yield Mount(target=target or str(folder), source=str(folder.resolve()))
        for empty in EMPTY:
            if (folder / empty).is_dir() and not (folder / empty).is_symlink():
                yield Mount(target=f"{target or folder}/{empty}")

    def _may_lend(self, folder: Path, of_tree: Collection[Path] = ()) -> bool:
        """No folder of the system, which is there anyway, no home and nothing that contains one.

        Those `of_tree` may be in the tree under review.
        """
        real, home, root = folder.resolve(), self._home, self._root
        if _is_of_system(real) or (root and root.is_relative_to(real)):
            return False
        if home and (home.is_relative_to(real) or real in (home / ".local", home / ".config")):
            return False
        if name := self._name_in_tree(folder):
            is_committed = any(
                f"{path}/".startswith(f"{name}/") or name.startswith(f"{path}/")
                for path in self._committed
            )
            return folder in of_tree and self._tree is not None and not is_committed
        return folder in of_tree or not self._name_in_tree(real)

    def _name_in_tree(self, path: Path) -> str:
        root = self._root
        return str(path.relative_to(root)) if root and path.is_relative_to(root) else ""


def _is_of_system(folder: Path) -> bool:
    return f"{folder.resolve()}/".startswith(tuple(f"{name}/" for name in SYSTEM))


def _is_environment(folder: Path) -> bool:
    """Whether it is a virtual environment, as `python -m venv` makes it."""
    return (folder / "pyvenv.cfg").is_file() and any(folder.glob("lib/python3*/site-packages"))


def _is_environment_or_has_pytest(python: Path) -> bool:
    installed = python.resolve().parent.parent.glob("lib/python3*/*-packages/pytest/__init__.py")
    return _is_environment(python.parent.parent) or any(installed)
