"""Actions of others: what they leave behind for later steps and jobs.

`SIMULATED` names the inputs that are simulated or make no difference here.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tests.actions_runner.job import Machine

Inputs = dict[str, str]
FORBIDDEN = "Resource not accessible by integration"


class ActionError(Exception):
    """The action fails with this message."""


class SarifUpload(Struct, frozen=True):
    """What code scanning received."""

    text: str
    ref: str
    sha: str
    category: str


def checkout(machine: Machine, inputs: Inputs) -> dict[str, str]:
    github = machine.github
    if inputs.get("persist-credentials") != "false":
        raise ActionError("a checkout that keeps its token is not simulated")
    wanted = inputs.get("ref") or github["sha"]
    folder = machine.workspace
    options = ["--quiet", "--no-tags", f"--depth={inputs.get('fetch-depth', '1')}"]
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", f"{github['server_url']}/{github['repository']}.git")
    git(folder, "fetch", *options, "origin", wanted, token=github["token"])
    git(folder, "checkout", "--quiet", "--force", "FETCH_HEAD")
    return {"ref": wanted, "commit": git(folder, "rev-parse", "HEAD").strip()}


def git(folder: Path, *arguments: str, token: str = "") -> str:
    """Run git without the configuration of whoever runs the tests. Raises CalledProcessError."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    header = ["-c", f"http.extraheader={_authorization(token)}"] if token else []
    command = ["git", "-C", str(folder), *header, *arguments]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=60
    ).stdout


def _authorization(token: str) -> str:
    return "AUTHORIZATION: basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


def upload_artifact(machine: Machine, inputs: Inputs) -> dict[str, str]:
    """A file, or what is in a folder. Hidden files are left out."""
    path = machine.workspace / inputs["path"]
    folder = machine.runner.artifacts_folder(machine.github["run_id"]) / inputs["name"]
    if folder.exists() and inputs.get("overwrite") != "true":
        name = inputs["name"]
        raise ActionError(f"an artifact with the name {name} already exists on the workflow run")
    shutil.rmtree(folder, ignore_errors=True)
    root = path if path.is_dir() else path.parent
    found = (file for file in sorted([path, *path.rglob("*")]) if file.is_file())
    _copy((file for file in found if "/." not in f"/{file.relative_to(root)}"), root, folder)
    return {"artifact-id": "1"} if folder.exists() else {}


def download_artifact(machine: Machine, inputs: Inputs) -> dict[str, str]:
    """`run-id` counts only with `github-token`, as on GitHub."""
    github, run_id = machine.github, machine.github["run_id"]
    if token := inputs.get("github-token"):
        run_id = inputs.get("run-id") or run_id
        if token == github["token"] and "actions" not in machine.permissions:
            raise ActionError(FORBIDDEN)
    name, folder = inputs["name"], machine.workspace / inputs.get("path", ".")
    source = machine.runner.artifacts_folder(run_id) / name
    if not source.is_dir():
        reason = f"Artifact not found for name: {name}"
        raise ActionError(f"Unable to download artifact(s): {reason}")
    files = (file for file in source.rglob("*") if file.is_file() and not file.is_symlink())
    _copy(files, source, folder)
    return {"download-path": str(folder)}


def restore_cache(machine: Machine, inputs: Inputs) -> dict[str, str]:
    """What was kept last under the key, or under one that begins as the other keys do."""
    for key in (inputs["key"], *(f"{start}*" for start in inputs["restore-keys"].split())):
        found = (machine.runner.folder / "caches").glob(key)
        if newest := max(found, key=lambda path: path.stat().st_mtime, default=None):
            _copy(filter(Path.is_file, newest.rglob("*")), newest, Path(inputs["path"]))
            break
    return {"cache-primary-key": inputs["key"]}


def save_cache(machine: Machine, inputs: Inputs) -> dict[str, str]:
    source, folder = Path(inputs["path"]), machine.runner.folder / "caches" / inputs["key"]
    _copy(filter(Path.is_file, source.rglob("*")), source, folder)
    return {}


def _copy(files: Iterable[Path], source: Path, folder: Path) -> None:
    for file in files:
        target = folder / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def upload_sarif(machine: Machine, inputs: Inputs) -> dict[str, str]:
    if machine.permissions.get("security-events") != "write":
        raise ActionError(FORBIDDEN)
    path = machine.workspace / inputs["sarif_file"]
    if not path.exists():
        raise ActionError(f"Path does not exist: {inputs['sarif_file']}")
    about = {**machine.github, **{key: value for key, value in inputs.items() if value}}
    for file in sorted(path.glob("*.sarif")) if path.is_dir() else [path]:
        text = file.read_text(encoding="utf-8")
        upload = SarifUpload(text, about["ref"], about["sha"], inputs.get("category", ""))
        machine.runner.sarif_uploads.append(upload)
    return {}


SIMULATED: dict[str, tuple[Callable[[Machine, Inputs], dict[str, str]], str]] = {
    "actions/checkout": (checkout, "ref fetch-depth persist-credentials"),
    "actions/upload-artifact": (
        upload_artifact,
        "name path if-no-files-found retention-days overwrite",
    ),
    "actions/download-artifact": (download_artifact, "name path run-id github-token"),
    "actions/cache/restore": (restore_cache, "path key restore-keys"),
    "actions/cache/save": (save_cache, "path key"),
    "github/codeql-action/upload-sarif": (upload_sarif, "sarif_file category ref sha"),
}
