"""The operator's ``setup``: commands that bring a project's dependencies, run once with the network, on the base's tree.

They run behind bubblewrap, with nothing of this machine but its network, and with no secret: what such a command needs to know,
its text must say. What they make beside the tree is kept as a layer, read-only for later jobs, under a key of the commands and
of the manifests that they read. A change's own manifest is never read with the network.

With the network a command reaches what listens on this machine, and a cloud's metadata service, as the operator's own shell does.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from reviewbot.adapters.sandbox import bubblewrap, layers, mounts, tools, watch
from reviewbot.adapters.sandbox.host import Ground, Layer
from reviewbot.adapters.sandbox.layers import Unusable
from reviewbot.adapters.sandbox.limits import MIB, Limits
from reviewbot.adapters.sandbox.mounts import HOME, Kind, Mount
from reviewbot.adapters.sandbox.process import Command, Supervisor
from reviewbot.adapters.sandbox.system import system
from reviewbot.adapters.sandbox.tools import Shelf
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError
from reviewbot.ports import Ended, Outcome

LIMITS = Limits(
    memory_bytes=4096 * MIB,
    processes=512,
    threads=4096,
    cpu_seconds=3600,
    folder_bytes=4096 * MIB,
    file_bytes=1024 * MIB,
)
"""Installers may take more than a check; the disk and the network bound them more than these."""
SECONDS = 900.0
"""For all commands together."""
_VERSION = 1
_MANIFEST = re.compile(
    r"(?:[\w.-]*(?:requirements|constraints)[\w.-]*\.(?:txt|in)|pyproject\.toml|setup\.(?:py|cfg)|uv\.lock|poetry\.lock|pdm\.lock|"
    r"Pipfile(?:\.lock)?|environment\.ya?ml|package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(?:lock|workspace)\.yaml|"
    r"\.npmrc|\.yarnrc(?:\.yml)?|\.nvmrc|\.node-version|\.python-version|\.tool-versions|go\.(?:mod|sum|work)|go\.work\.sum|"
    r"Cargo\.(?:toml|lock)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|[Mm]akefile|[Jj]ustfile)"
)
_WORD = re.compile(r"[A-Za-z0-9][\w./+-]*", re.ASCII)


def key(commands: tuple[str, ...], files: Iterable[tuple[str, str]], tree: str, *, toplevel: Path | None) -> str:
    """Under which a preparation is kept. ``files`` are path and object id of the base's files, ``tree`` its own id.

    Manifests, lock files and the files that a command names decide; where there are none, all of the tree does. What is installed
    also knows where it lies and which Python made it.
    """
    named = {word.removeprefix("./") for command in commands for word in _WORD.findall(command)}
    read = tuple(sorted((path, name) for path, name in files if path in named or _MANIFEST.fullmatch(path.rpartition("/")[2])))
    maker = (_VERSION, sys.version, sys.base_prefix, mounts.tree_path(toplevel))
    return hashlib.sha256(repr((maker, commands, read or tree)).encode("utf-8", "surrogateescape")).hexdigest()


def prepare(commands: tuple[str, ...], *, key: str, state: Path, ground: Ground) -> Layer | str:
    """The layer of these commands, made now or before; else the reason why there is none, for a reader.

    They run on the base's tree; ``state`` is the folder where layers are kept. Several may do this at the same time.
    """
    if found := layers.find(state, key):
        return found
    tree = ground.trees(Side.BASE)
    try:
        with layers.unfinished(state) as folder:
            shutil.copytree(tree, folder / layers.TREE, symlinks=True, dirs_exist_ok=True)
            before = watch.folder_bytes(folder)
            if reason := _run_all(commands, folder, ground):
                return reason
            if watch.folder_bytes(folder) - before > LIMITS.folder_bytes:
                return f"setup made more than {LIMITS.folder_bytes} bytes"
            return layers.keep(folder, tree, state, key=key)
    except (SandboxError, Unusable, shutil.Error) as exc:
        return f"setup cannot be used: {exc}"
    except OSError as exc:
        return f"setup cannot be used: {exc.filename or state}: {exc.strerror}"


def _run_all(commands: tuple[str, ...], folder: Path, ground: Ground) -> str:
    """Why it failed, empty where it did not."""
    program, supervisor = bubblewrap.program(), Supervisor(LIMITS)
    until = time.monotonic() + SECONDS
    for command in commands:
        words = _words(program, command, folder=folder, ground=ground)
        outcome = supervisor.run(Command(words, {}, folder, b"", max(until - time.monotonic(), 1.0), writes=folder))
        if reason := _failed(outcome):
            return f"setup failed: `{command}`: {reason}"
    return ""


def _failed(outcome: Outcome) -> str:
    if outcome.ended is not Ended.EXITED:
        return outcome.reason
    said = (outcome.stderr.strip() or outcome.stdout.strip()).decode("utf-8", "replace").rpartition("\n")[2]
    return f"exit code {outcome.exit_code}: {said[:200]}" if outcome.exit_code else ""


def _words(program: str, command: str, *, folder: Path, ground: Ground) -> tuple[str, ...]:
    """How one command is started: every program that it names and that lies outside of the system is shown."""
    place = mounts.tree_path(ground.toplevel)
    kit = tools.gather(("python3", *_WORD.findall(command)), _shelves(ground), ground.hides)
    own = (Mount(Kind.WRITE, HOME, str(folder / layers.HOME)), Mount(Kind.WRITE, place, str(folder / layers.TREE)))
    shown = (mounts.read(path) for path in kit.shows)
    links = (Mount(Kind.LINK, str(link), str(goal)) for link, goal in kit.links)
    path = ":".join(dict.fromkeys(kit.folders))
    variables = {"PATH": path, "HOME": HOME, "TMPDIR": HOME, "LANG": "C.UTF-8", "TZ": "UTC", "CI": "true"}
    return (
        *bubblewrap.walled(program, (*system(folder, network=True), *own, *shown, *links), folder=place, network=True),
        *(*bubblewrap.in_environment(variables), "--", *LIMITS.prlimit(own_users=True), "/bin/sh", "-c", command),
    )


def _shelves(ground: Ground) -> tuple[Shelf, ...]:
    """The operator's programs, without those of the environment that reviewbot itself lives in: it is not to be changed."""
    ours = Path(sys.prefix, "bin")
    found = tools.own_shelves(ground.host.path, ground.toplevel)
    return (Shelf(Path(sys.base_prefix, "bin")), *(shelf for shelf in found if shelf.folder != ours))
