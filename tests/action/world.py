"""What outlives a job: the forge, secrets and variables, artifacts, caches, and SARIF files that were taken."""

from __future__ import annotations

import base64
import io
import itertools
import os
import stat
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

TOP = Path(__file__).parents[2]

PYTHON = """\
#!/bin/sh
# Environments that this makes see the packages of the tests' own: here is no package index.
"{python}" "$@" || exit
for last; do :; done
case " $* " in
*" -m venv "*) for folder in "$last"/lib/python*/site-packages; do echo "{packages}" >"$folder/tests.pth"; done ;;
esac
"""

#: How pip installs where there is no package index; everything that is needed is in the tests' environment. The 0 is right: pip
#: takes it for the value of build isolation itself.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


class Forge(Protocol):
    """What of :class:`tests.forge.hub.Hub` a runner needs."""

    @property
    def api_url(self) -> str: ...

    @property
    def graphql_url(self) -> str: ...

    @property
    def server_url(self) -> str: ...

    def token(self, login: str = ..., permissions: Mapping[str, str] | None = ...) -> str:
        """A token with these permissions, named with underscores (``pull_requests``)."""
        ...


@dataclass(frozen=True)
class Cached:
    """An entry of the cache. ``scope`` is the ref whose runs may read it, with all that branch off it."""

    scope: str
    key: str
    archive: bytes


@dataclass(frozen=True)
class Sarif:
    """What code scanning was sent."""

    content: str
    ref: str
    sha: str
    category: str


@dataclass
class World:
    """A repository on a forge, and the runner's machines for it, all below ``folder``.

    ``artifacts`` are zip archives by run and name: a test may put its own there. ``environment`` is in every step, as if the
    machine had it. ``venv``: an environment with reviewbot, made before by the install step; without it each job makes its own. ``hosted``: the
    machines are GitHub's. ``hidden`` are programs that the machines do not have.
    """

    folder: Path
    repository: str = "octo/shop"
    forge: Forge | None = None
    default_branch: str = "main"
    secrets: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    venv: Path | None = None
    hosted: bool = False
    system: str = "Linux"
    hidden: tuple[str, ...] = ()
    artifacts: dict[int, dict[str, bytes]] = field(default_factory=dict)
    caches: list[Cached] = field(default_factory=list)
    sarifs: list[Sarif] = field(default_factory=list)
    runs: Iterator[int] = field(default_factory=lambda: itertools.count(7_000_000_001))
    machines: Iterator[int] = field(default_factory=itertools.count)

    def token(self, permissions: Mapping[str, str]) -> str:
        """A job's own token."""
        if self.forge is None:
            return "ghs_of_no_forge"
        return self.forge.token(
            permissions={name.replace("-", "_"): level for name, level in permissions.items()} | {"metadata": "read"}
        )

    def urls(self) -> dict[str, str]:
        """Where the forge answers; nowhere without one."""
        nowhere = "http://127.0.0.1:9"
        return {
            "GITHUB_API_URL": self.forge.api_url if self.forge else nowhere,
            "GITHUB_GRAPHQL_URL": self.forge.graphql_url if self.forge else nowhere,
            "GITHUB_SERVER_URL": self.forge.server_url if self.forge else nowhere,
        }

    def default_sha(self) -> str:
        """The newest commit of the default branch; zeros without a forge."""
        if self.forge is None:
            return "0" * 40
        url = f"{self.forge.server_url}/{self.repository}.git"
        told = git(self.folder, "ls-remote", url, f"refs/heads/{self.default_branch}", token=self.token({"contents": "read"}))
        return told.split()[0] if told else "0" * 40

    def search_path(self) -> str:
        """Where programs are found: the machine's own, and links to this one's where some are hidden."""
        own = str(self.programs())
        if not self.hidden:
            return os.pathsep.join([own, os.environ["PATH"]])
        shown = self.folder / "shown"
        if not shown.exists():
            shown.mkdir()
            for folder in reversed(os.environ["PATH"].split(os.pathsep)):
                for program in Path(folder).glob("*"):
                    if program.name not in self.hidden and not program.is_dir():
                        (shown / program.name).unlink(missing_ok=True)
                        (shown / program.name).symlink_to(program)
        return os.pathsep.join([own, str(shown)])

    def programs(self) -> Path:
        """A folder for the front of PATH, with the ``python3`` that a machine has."""
        folder = self.folder / "bin"
        python = folder / "python3"
        if not python.exists():
            folder.mkdir(parents=True, exist_ok=True)
            python.write_text(PYTHON.format(python=sys.executable, packages=sysconfig.get_path("purelib")), encoding="utf-8")
            python.chmod(0o755)
        return folder


def git(folder: Path, *arguments: str, token: str = "") -> str:
    """One git command, deaf to the configuration of the machine; its output. Raises CalledProcessError."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    options = ("-c", f"http.extraheader={authorization(token)}") if token else ()
    done = subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=environment, capture_output=True, check=True, timeout=120
    )
    return done.stdout.decode()


def authorization(token: str) -> str:
    """The header with which a checkout sends a token."""
    return "AUTHORIZATION: basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


def packed(files: Mapping[str, Path]) -> bytes:
    """A zip archive of files by the names that they have in it. Symbolic links are followed, as upload-artifact does."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            archive.write(path, name)
    return data.getvalue()


def unpacked(data: bytes, into: Path) -> None:
    """Write the files of an archive; names that lead out of the folder and links are left out, as download-artifact does."""
    into.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            target = (into / member.filename).resolve()
            if member.is_dir() or stat.S_ISLNK(member.external_attr >> 16) or not target.is_relative_to(into.resolve()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))
