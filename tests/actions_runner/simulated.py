"""Actions of others: what they leave behind for later steps and jobs.

`SIMULATED` names the inputs that are simulated or make no difference here.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tests.actions_runner import stub_uv

if TYPE_CHECKING:
    from tests.actions_runner.job import Machine

Inputs = dict[str, str]
Print = Callable[[str], None]
FORBIDDEN = "Resource not accessible by integration"


class ActionError(Exception):
    """The action fails with this message."""


class SarifUpload(Struct, frozen=True):
    """What code scanning received."""

    text: str
    ref: str
    sha: str
    category: str


def checkout(machine: Machine, inputs: Inputs, write: Print) -> dict[str, str]:
    """A token that is kept stands in the configuration of the repository."""
    github = machine.github
    repository = inputs.get("repository") or github["repository"]
    is_own = repository == github["repository"]
    wanted = inputs.get("ref") or (github["sha"] if is_own else "HEAD")
    token = inputs.get("token") or github["token"]
    folder = machine.workspace / inputs.get("path", ".")
    folder.mkdir(parents=True, exist_ok=True)
    depth = inputs.get("fetch-depth", "1")
    options = ["--quiet", "--no-tags", *([f"--depth={depth}"] if depth != "0" else [])]
    url = f"{github['server_url']}/{repository}.git"
    try:
        git(folder, "init", "--quiet")
        git(folder, "remote", "add", "origin", url)
        git(folder, "fetch", *options, "origin", wanted, token=token)
        git(folder, "checkout", "--quiet", "--force", "FETCH_HEAD")
    except subprocess.CalledProcessError as error:
        write(error.stderr)
        raise ActionError(f"The process 'git' failed with exit code {error.returncode}") from error
    if inputs.get("persist-credentials") != "false":
        name = f"http.{github['server_url']}/.extraheader"
        git(folder, "config", "--local", name, _authorization(token))
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


def setup_python(machine: Machine, _inputs: Inputs, _write: Print) -> dict[str, str]:
    """The interpreter of the tests, without its packages, whichever version is asked for."""
    folder = machine.folder / "tools/python"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("python", "python3"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(Path(sys.executable).resolve())
    machine.path.insert(0, str(folder))
    return {"python-path": str(folder / "python")}


def setup_uv(machine: Machine, _inputs: Inputs, _write: Print) -> dict[str, str]:
    program = stub_uv.install(machine.folder / "tools/uv")
    machine.path.insert(0, str(program.parent))
    return {"uv-path": str(program)}


def upload_artifact(machine: Machine, inputs: Inputs, write: Print) -> dict[str, str]:
    """The root of an artifact is the folder that all paths share. Hidden files are left out."""
    paths = [machine.workspace / line.strip() for line in inputs["path"].split("\n") if line]
    if set(inputs["path"]) & set("*?[!"):
        raise NotImplementedError(f"patterns are not simulated: {inputs['path']}")
    files = [
        file
        for path in paths
        for file in sorted([path, *path.rglob("*")])
        if file.is_file() and "/." not in f"/{file.relative_to(path.parent)}"
    ]
    if not files:
        message = f"No files were found with the provided path: {inputs['path']}."
        if inputs.get("if-no-files-found") == "error":
            raise ActionError(message)
        write(message if inputs.get("if-no-files-found") == "ignore" else f"::warning::{message}")
        return {}
    name = inputs.get("name", "artifact")
    folder = machine.runner.artifacts_folder(machine.github["run_id"]) / name
    if folder.exists() and inputs.get("overwrite") != "true":
        raise ActionError(f"an artifact with the name {name} already exists on the workflow run")
    shutil.rmtree(folder, ignore_errors=True)
    root = paths[0].parent if paths == files else Path(os.path.commonpath(paths))
    _copy(files, root, folder)
    return {"artifact-id": str(len(list(folder.parent.iterdir())))}


def download_artifact(machine: Machine, inputs: Inputs, _write: Print) -> dict[str, str]:
    """Without a name all artifacts. `run-id` counts only with `github-token`, as on GitHub."""
    github, run_id = machine.github, machine.github["run_id"]
    if token := inputs.get("github-token"):
        run_id = inputs.get("run-id") or run_id
        if token == github["token"] and "actions" not in machine.permissions:
            raise ActionError(FORBIDDEN)
    name, folder = inputs.get("name", "."), machine.workspace / inputs.get("path", ".")
    source = machine.runner.artifacts_folder(run_id) / name
    if not source.is_dir():
        reason = f"Artifact not found for name: {name}"
        raise ActionError(f"Unable to download artifact(s): {reason}")
    files = (file for file in source.rglob("*") if file.is_file() and not file.is_symlink())
    _copy(files, source, folder)
    return {"download-path": str(folder)}


def _copy(files: Iterable[Path], source: Path, folder: Path) -> None:
    for file in files:
        target = folder / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def upload_sarif(machine: Machine, inputs: Inputs, _write: Print) -> dict[str, str]:
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


SIMULATED: dict[str, tuple[Callable[[Machine, Inputs, Print], dict[str, str]], str]] = {
    "actions/checkout": (checkout, "repository ref path token fetch-depth persist-credentials"),
    "actions/setup-python": (setup_python, "python-version check-latest"),
    "astral-sh/setup-uv": (setup_uv, "version checksum enable-cache github-token"),
    "actions/upload-artifact": (
        upload_artifact,
        "name path if-no-files-found retention-days overwrite",
    ),
    "actions/download-artifact": (download_artifact, "name path run-id github-token"),
    "github/codeql-action/upload-sarif": (upload_sarif, "sarif_file category ref sha"),
}
