"""The configuration of one command: files and environment read here, laid over each other in ``reviewbot.config``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from reviewbot.cli.options import Common
from reviewbot.config import Configuration, Source, load
from reviewbot.errors import ConfigError
from reviewbot.wiring.places import user_file

MAX_READ = 1_000_000


def effective(
    arguments: Common, environ: Mapping[str, str], *, repository_files: Callable[[], tuple[Source, ...]]
) -> Configuration:
    """Flags, environment, repository files (``--config`` stands in for them), user file. Raises ConfigError.

    A file named with ``--config`` may lie in the work tree under review, so it has a repository file's rights, no more.
    """
    named = arguments.config
    return load(
        flags=arguments.overrides(),
        environ=environ,
        repository=(read_file(named),) if named else repository_files(),
        user=read_user_file(environ),
    )


def read_user_file(environ: Mapping[str, str]) -> Source | None:
    """The user's own file, where there is one."""
    path = user_file(environ)
    return read_file(path) if path.is_file() else None


def read_file(path: Path) -> Source:
    """A file's bytes under the name it was given. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_READ + 1)
    except OSError as exc:
        raise ConfigError(f"cannot read {path}: {exc.strerror}", hint="name a file that can be read") from exc
    if len(data) > MAX_READ:
        raise ConfigError(f"{path} has more than {MAX_READ:,} bytes", hint="name a configuration file")
    return Source(str(path), data)


def top_of(directory: Path) -> Path:
    """The top of the work tree, or the directory itself where there is none."""
    start = directory.resolve()
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def nearest_file(directory: Path) -> Path | None:
    """The configuration of the work tree that ``directory`` lies in: the first found on the way to its top."""
    for folder in (start := directory.resolve(), *start.parents):
        if (folder / ".reviewbot.yml").is_file():
            return folder / ".reviewbot.yml"
        project = folder / "pyproject.toml"
        if project.is_file() and b"[tool.reviewbot" in read_file(project).data:
            return project
        if (folder / ".git").exists():
            break
    return None
