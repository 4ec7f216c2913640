"""What ``doctor`` is told about this place."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.errors import RepositoryError
from reviewbot.wiring.rooms import open_repository


def diagnose(directory: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """What is found in this place, as (name, ``ok`` or ``warn``, text, next step): repository, sandbox, the tests' Python."""
    toplevel = None
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(directory, Path(scratch), environment) as repo:
                toplevel = repo.toplevel
                yield "repository", "ok", str(toplevel), ""
        except RepositoryError as exc:
            yield "repository", "warn", exc.message, exc.hint or "run it inside a git repository"
        interpreters = sandbox.discover(toplevel)
        room = sandbox.choose("auto", trees=lambda _: Path(scratch), interpreters=interpreters, toplevel=toplevel)
        room.close()
    if room.level == "none":
        yield "sandbox", "warn", "; ".join(room.notes), "install bubblewrap: sudo apt-get install bubblewrap"
    else:
        yield "sandbox", "ok", "; ".join((room.level, *room.notes)), ""
    if interpreters.project:
        yield "tests", "ok", f"run with the project's own {interpreters.project}", ""
    else:
        step = "make a .venv with the project's dependencies and pytest in it"
        yield "tests", "warn", "no environment of the project's own: tests run with reviewbot's Python", step
