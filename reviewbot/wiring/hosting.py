"""What of the operator's machine a sandbox is told: where programs lie, what runs containers, what was prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.config import Configuration

ENGINE_VARIABLES = (
    *("PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *("CONTAINER_HOST", "CONTAINER_SSHKEY", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"),
)
"""What a container engine's client needs to find its engine. No container gets any of it."""
PREPARING_LEVELS = ("auto", "bubblewrap")


def host(environment: Mapping[str, str], configuration: Configuration) -> sandbox.Host:
    """The machine as the operator's environment and configuration tell it."""
    home = Path(environment["HOME"]) if environment.get("HOME") else None
    return sandbox.Host(
        path=tuple(Path(folder) for folder in environment.get("PATH", "").split(":") if folder.startswith("/")),
        home=home,
        go_modules=_go_modules(environment, home),
        container=_container(configuration),
        engine_variables=tuple((name, environment[name]) for name in ENGINE_VARIABLES if name in environment),
    )


def prepared(before: sandbox.Ground, commands: tuple[str, ...], *, git: GitRepo, base_tree: str, state: Path) -> sandbox.Host:
    """The host with the layer that ``setup`` made, or with a note that says why there is none. Raises GitError."""
    files = ((entry.path, entry.object_id) for entry in git.entries(base_tree))
    key = sandbox.key(commands, files, base_tree, toplevel=before.toplevel)
    made = sandbox.prepare(commands, key=key, state=state / "setup", ground=before)
    if isinstance(made, str):
        return replace(before.host, notes=(*before.host.notes, f"{made}; checks ran without what it prepares"))
    return replace(before.host, layer=made)


def _go_modules(environment: Mapping[str, str], home: Path | None) -> Path | None:
    """Where Go keeps modules (``go help environment``)."""
    if named := environment.get("GOMODCACHE"):
        return Path(named)
    if paths := environment.get("GOPATH"):
        return Path(paths.split(":")[0], "pkg", "mod")
    return home / "go" / "pkg" / "mod" if home else None


def _container(configuration: Configuration) -> sandbox.ContainerOptions:
    engine, image, runtime = (configuration.value(f"container.{name}") for name in ("engine", "image", "runtime"))
    return sandbox.ContainerOptions("" if engine in (None, "auto") else str(engine), str(image or ""), str(runtime or ""))
