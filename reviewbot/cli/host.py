"""What the command line brings to a review: settings of the user, recorded results, variables."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from reviewbot.config.load import Layer, environment_layer, flag_layer, read_layer
from reviewbot.errors import GitError, UsageError
from reviewbot.events import Emit, ignore
from reviewbot.git.repository import Repository
from reviewbot.services import Host
from reviewbot.state import State, find_state, user_folder
from reviewbot.verdict.document import Finding, Review

# https://github.com/motdotla/dotenv#what-rules-does-the-parsing-engine-follow, without expansion
ASSIGNMENT = re.compile(
    r"""(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|(.*?))\s*(?:(?<=[\s"'])\#.*)?"""
)


def make_host(
    repository: Repository | None,
    state: State,
    variables: Mapping[str, str],
    *,
    flags: Mapping[str, object] | None = None,
    config: Path | None = None,
    may_execute: bool = True,
    emit: Emit = ignore,
) -> Host:
    """Raises ReviewbotError."""
    return Host(
        repository=repository,
        journal=state.journal(),
        layers=read_layers(variables, flags or {}, config),
        variables=variables,
        dismissals=state.dismissals(),
        may_execute=may_execute,
        emit=emit,
    )


def read_layers(
    variables: Mapping[str, str], flags: Mapping[str, object], config: Path | None = None
) -> list[Layer]:
    """Settings of the user file, the environment, a file that --config names, and flags."""
    layers = [environment_layer(variables)]
    if variables.get("HOME") or variables.get("XDG_CONFIG_HOME"):
        path = user_folder(variables, "XDG_CONFIG_HOME", ".config") / "config.yml"
        if path.is_file():
            layers.append(read_layer(str(path), "user", path.read_bytes()))
    if config:  # stands above the repository's own
        layers.append(read_layer(str(config), "flags", config.read_bytes()))
    return [*layers, flag_layer(flags)]


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of a file with lines NAME=VALUE. Raises UsageError."""
    variables = {}
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = ASSIGNMENT.fullmatch(text)
        if match is None:
            raise UsageError(f"{path}:{number}: this is no line NAME=VALUE")
        variables[match[1]] = next((value for value in match.groups()[1:] if value is not None), "")
    return variables


def open_repository(variables: Mapping[str, str]) -> Repository:
    """The repository around the current folder, with the index that git tells its hooks."""
    index = variables.get("GIT_INDEX_FILE")
    return Repository(Path.cwd(), index_file=Path(index) if index else None)


def open_state(folder: Path | None, variables: Mapping[str, str]) -> State:
    """The state of the repository around the current folder, or else of this user."""
    with open_repository(variables) as repository:
        try:
            return asyncio.run(find_state(repository, variables, folder))
        except GitError:
            return asyncio.run(find_state(None, variables, folder))


def find_finding(review: Review, name: str) -> Finding:
    """The finding with an id such as F1, or a key. Raises UsageError."""
    for finding in review.findings:
        if name.upper() == finding.id or name == finding.key:
            return finding
    ids = ", ".join(finding.id for finding in review.findings) or "none"
    message = f"the newest review has no finding {name}"
    raise UsageError(message, hint=f"It has {ids}. reviewbot sessions lists other reviews.")
