"""Where the reviewbot that runs here came from, as GitHub would name it: what a workflow may be pinned to without being asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reviewbot.cli.init_workflows import Action

#: An address of git at a GitHub, as https, ssh and scp write it.
_ADDRESS = re.compile(
    r"(?:[a-z+]+://)?(?:[^/@]*@)?(?P<host>[\w.-]*github[\w.-]*)(?::\d+)?[:/](?P<slug>[\w-]+/[\w.-]+?)(?:\.git)?/?"
)


def origin() -> Action | None:
    """The repository and commit that this reviewbot was installed from (PEP 610), where both are known and GitHub has them."""
    try:
        told = metadata.distribution("reviewbot").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    return named(told, clone=of_clone) if told else None


def named(told: str, *, clone: Callable[[Path], tuple[str, str]]) -> Action | None:
    """What ``direct_url.json`` says; ``clone`` gives address and commit of a folder that it names, empty where unknown."""
    try:
        said = json.loads(told)
        address = str(said["url"])
        commit = str(said.get("vcs_info", {}).get("commit_id", ""))
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    parts = urlsplit(address)
    if parts.scheme == "file":
        address, commit = clone(Path(unquote(parts.path)))
    found = _ADDRESS.fullmatch(address)
    if found is None or not re.fullmatch(r"[0-9a-f]{40}", commit):
        return None
    return Action(found["slug"], commit, found["host"])


def of_clone(folder: Path) -> tuple[str, str]:
    """Where a clone was fetched from, and its commit where that is one that the other side has, too."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit or not _git(folder, "branch", "--remotes", "--contains", commit):
        return "", ""
    return _git(folder, "config", "--get", "remote.origin.url"), commit


def _git(folder: Path, *words: str) -> str:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", ""), "LC_ALL": "C"}
    try:
        done = subprocess.run(("git", "-C", folder, *words), env=environment, capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
