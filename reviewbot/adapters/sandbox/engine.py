"""The command line of docker or podman: which one there is, and the few words of it that containers of jobs need."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters.sandbox.host import Host
from reviewbot.errors import SandboxError

NAMES = ("docker", "podman")
PLACES = (Path("/usr/local/bin"), Path("/usr/bin"))
_SECONDS = 60.0
_NOT_THERE = "no such container"
_LABEL = "reviewbot"
_FORGOTTEN = "until=1h"
"""Containers of reviews that were ended so hard that they could not tidy up."""
_MOST_WORDS = 200
_PODMAN = ("--read-only-tmpfs=false", "--http-proxy=false", "--systemd=false")
"""What only podman has to be told: it would bring in more of the host than docker does."""


class EngineError(Exception):
    """The engine did not do what it was told; the text is its own."""


@dataclass(frozen=True, slots=True)
class Image:
    """``path`` is the PATH that the image says. ``volumes`` are folders that an engine would put on the disk."""

    path: str
    volumes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that runs containers. Its client sees ``variables``; no container does."""

    program: str
    name: str
    runtime: str
    variables: tuple[tuple[str, str], ...]

    @property
    def is_podman(self) -> bool:
        """It has words of its own."""
        return self.name == "podman"

    def look_at(self, image: str) -> Image:
        """An image that is there. Raises EngineError."""
        said = self._ask("image", "inspect", "--format", "{{json .Config}}", image)
        try:
            told = json.loads(said or b"{}") or {}
        except ValueError as exc:
            raise EngineError(f"it describes the image as {said[:_MOST_WORDS]!r}") from exc
        variables = dict(str(line).partition("=")[::2] for line in told.get("Env") or ())
        return Image(variables.get("PATH", ""), tuple(map(str, told.get("Volumes") or ())))

    def create(self, name: str, words: tuple[str, ...]) -> None:
        """Make a container, not started yet. Raises EngineError."""
        runtime = ("--runtime", self.runtime) if self.runtime else ()
        before, after = (runtime, _PODMAN) if self.is_podman else ((), runtime)
        self._ask(*before, "create", "--name", name, "--label", _LABEL, *after, *words)

    def starting(self, name: str, *, reads: bool) -> tuple[str, ...]:
        """The command that runs a container to its end, with its streams as ours."""
        return (self.program, "start", "--attach", *(("--interactive",) if reads else ()), name)

    def remove(self, name: str) -> None:
        """End a container, and forget it; well, too, where there is none. Raises EngineError."""
        try:
            self._ask("rm", "--force", "--volumes", *(("--time", "0") if self.is_podman else ()), name)
        except EngineError as exc:
            if _NOT_THERE not in str(exc).lower():
                raise

    def tidy(self) -> None:
        """Forget containers that nobody waits for any more. Raises EngineError."""
        self._ask("container", "prune", "--force", "--filter", f"label={_LABEL}", "--filter", _FORGOTTEN)

    def _ask(self, *words: str) -> bytes:
        try:
            done = subprocess.run(
                (self.program, *words),
                env=dict(self.variables),
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise EngineError(f"{self.name} does not answer: {exc}"[:_MOST_WORDS]) from exc
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise EngineError(said[:_MOST_WORDS] or f"{self.name} {words[0]} ended with {done.returncode}")
        return done.stdout


def with_image(host: Host) -> tuple[Engine, Image]:
    """The engine that has the image. Raises SandboxError with what each one said."""
    options = host.container
    if not options.image:
        raise SandboxError(
            "no image for containers is configured", hint="name one that has python3 (container.image), or use bubblewrap"
        )
    reasons: list[str] = []
    for engine in _engines(host):
        try:
            return engine, engine.look_at(options.image)
        except EngineError as exc:
            reasons.append(f"{engine.name}: {exc}")
    wanted = options.engine or " or ".join(NAMES)
    said = "; ".join(reasons) or f"{wanted} is not installed"
    raise SandboxError(f"there is no image {options.image} ({said})", hint="build or pull it; reviewbot never pulls")


def _engines(host: Host) -> Iterator[Engine]:
    for name in (host.container.engine,) if host.container.engine else NAMES:
        places = (folder / name for folder in dict.fromkeys((*host.path, *PLACES)) if folder.is_absolute())
        found = next((place for place in places if place.is_file()), None)
        if found:
            yield Engine(str(found), name, host.container.runtime, host.engine_variables)
