"""Actions of others, played: what they leave on the machine and carry from job to job, not how."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.action.steps import Machine, Step
from tests.action.world import Cached, Sarif, authorization, git, packed, unpacked

Inputs = dict[str, str]


def checkout(machine: Machine, given: Inputs) -> Step:
    """``git fetch`` of one commit into the workspace; the token stays in its configuration unless told otherwise."""
    assert machine.world.forge, "a checkout needs a forge"
    repository = given.get("repository") or machine.world.repository
    wanted = given.get("ref") or (machine.github["sha"] if repository == machine.world.repository else "HEAD")
    folder = machine.workspace / given.get("path", ".")
    token = given.get("token") or machine.github["token"]
    url = f"{machine.world.forge.server_url}/{repository}.git"
    folder.mkdir(parents=True, exist_ok=True)
    depth = int(given.get("fetch-depth", "1"))
    try:
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", url)
        git(folder, "fetch", "-q", "--no-tags", *([f"--depth={depth}"] if depth else []), "origin", wanted, token=token)
        git(folder, "checkout", "-q", "--force", "FETCH_HEAD")
    except subprocess.CalledProcessError as exc:
        return machine.fail("checkout", exc.stderr.decode(errors="replace"))
    if given.get("persist-credentials") != "false":
        git(folder, "config", "--local", f"http.{machine.world.forge.server_url}/.extraheader", authorization(token))
    return Step("checkout", outputs={"ref": wanted, "commit": git(folder, "rev-parse", "HEAD").strip()})


def setup_python(machine: Machine, given: Inputs) -> Step:
    """The machine has its Python already."""
    del machine
    return Step("setup-python", outputs={"python-version": given.get("python-version", "")})


def upload_artifact(machine: Machine, given: Inputs) -> Step:
    """Files as an archive of this run; their common folder is its root."""
    name, run = given.get("name", "artifact"), int(machine.github["run_id"])
    files = [file for line in given["path"].splitlines() if line.strip() for file in _matched(machine, line.strip())]
    if not files:
        lacking = given.get("if-no-files-found", "warn")
        message = f"No files were found with the provided path: {given['path']}. No artifacts will be uploaded."
        machine.log.append(f"::warning::{message}\n" if lacking == "warn" else "")
        return machine.fail("upload-artifact", message) if lacking == "error" else Step("upload-artifact")
    held = machine.world.artifacts.setdefault(run, {})
    if name in held and given.get("overwrite") != "true":
        return machine.fail("upload-artifact", f"an artifact with the name {name} already exists on the associated workflow run")
    folders = [line.strip() for line in given["path"].splitlines() if line.strip()]
    one_folder = len(folders) == 1 and (machine.workspace / folders[0]).is_dir()
    root = machine.workspace / folders[0] if one_folder else Path(os.path.commonpath([file.parent for file in files]))
    held[name] = packed({str(file.relative_to(root)): file for file in files})
    return Step("upload-artifact", outputs={"artifact-id": str(len(held) + run), "artifact-url": "https://example.org/artifact"})


def _matched(machine: Machine, pattern: str) -> list[Path]:
    """The files that a path names, hidden ones left out. Patterns are not played."""
    assert not set(pattern) & set("*?[!"), pattern
    path = machine.workspace / pattern
    if not path.is_dir():
        return [path] if path.is_file() else []
    files = (file for file in path.rglob("*") if file.is_file())
    return sorted(file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts))


def download_artifact(machine: Machine, given: Inputs) -> Step:
    """An artifact of this run, or with ``run-id`` and a token that may read actions of another one."""
    run = int(given.get("run-id") or machine.github["run_id"])
    if run != int(machine.github["run_id"]):
        if machine.permissions.get("actions") not in ("read", "write"):
            return machine.fail("download-artifact", "Resource not accessible by integration")
        if not given.get("github-token"):
            return machine.fail("download-artifact", "artifacts of another run need github-token")
    name = given.get("name", "")
    data = machine.world.artifacts.get(run, {}).get(name)
    if data is None:
        return machine.fail("download-artifact", f"Unable to download artifact(s): Artifact not found for name: {name}")
    into = machine.workspace / given.get("path", ".")
    unpacked(data, into)
    return Step("download-artifact", outputs={"download-path": str(into)})


def _readable_scopes(machine: Machine) -> list[str]:
    """A run reads what its own ref saved, then what its base and the default branch did; never what another branch did."""
    github = machine.github
    base = f"refs/heads/{github['base_ref']}" if github.get("base_ref") else ""
    return [github["ref"], *([base] if base else []), f"refs/heads/{machine.world.default_branch}"]


def restore_cache(machine: Machine, given: Inputs) -> Step:
    """The newest entry with the key, else with one that begins as a restore key does."""
    for scope in _readable_scopes(machine):
        for wanted in (given["key"], *given.get("restore-keys", "").split()):
            for cached in reversed(
                [entry for entry in machine.world.caches if entry.scope == scope and entry.key.startswith(wanted)]
            ):
                if wanted != given["key"] or cached.key == wanted:
                    unpacked(cached.archive, machine.workspace / given["path"])
                    return Step(
                        "cache", outputs={"cache-hit": str(cached.key == given["key"]).lower(), "cache-matched-key": cached.key}
                    )
    return Step("cache", outputs={"cache-hit": ""})


def save_cache(machine: Machine, given: Inputs) -> Step:
    """A new entry for this ref; what is there already, or nothing, is only warned about. A fork's run has its own ref too."""
    folder, scope = machine.workspace / given["path"], machine.github["ref"]
    if not folder.exists():
        machine.log.append("::warning::Path Validation Error: Path(s) specified in the action for caching do(es) not exist\n")
    elif not any((entry.scope, entry.key) == (scope, given["key"]) for entry in machine.world.caches):
        files = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
        machine.world.caches.append(Cached(scope, given["key"], packed(files)))
    return Step("cache")


def upload_sarif(machine: Machine, given: Inputs) -> Step:
    """A file, or all of a folder, to code scanning."""
    if machine.permissions.get("security-events") != "write":
        return machine.fail("upload-sarif", "Resource not accessible by integration")
    path = machine.workspace / given["sarif_file"]
    for file in sorted(path.glob("*.sarif")) if path.is_dir() else [path]:
        text = file.read_text(encoding="utf-8")
        assert json.loads(text)["version"] == "2.1.0"
        told = (given.get("ref") or machine.github["ref"], given.get("sha") or machine.github["sha"], given.get("category", ""))
        machine.world.sarifs.append(Sarif(text, *told))
    return Step("upload-sarif")


ACTIONS: dict[str, tuple[Callable[[Machine, Inputs], Step], frozenset[str]]] = {
    "actions/checkout": (checkout, frozenset({"repository", "ref", "path", "token", "fetch-depth", "persist-credentials"})),
    "actions/setup-python": (setup_python, frozenset({"python-version", "cache"})),
    "actions/upload-artifact": (upload_artifact, frozenset({"name", "path", "if-no-files-found", "retention-days", "overwrite"})),
    "actions/download-artifact": (download_artifact, frozenset({"name", "path", "run-id", "github-token", "repository"})),
    "actions/cache/restore": (restore_cache, frozenset({"path", "key", "restore-keys"})),
    "actions/cache/save": (save_cache, frozenset({"path", "key"})),
    "github/codeql-action/upload-sarif": (upload_sarif, frozenset({"sarif_file", "category", "ref", "sha"})),
}
"""Who plays an action, and the inputs that are played: another one is an error of the test."""
