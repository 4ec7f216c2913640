from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import click

from reviewbot.cli.host import find_finding, open_repository, open_state
from reviewbot.cli.options import common, state_option
from reviewbot.cli.output import say
from reviewbot.config.dismissals import Dismissal, add, remove, write_dismissals
from reviewbot.errors import GitError, ReviewbotError, UsageError
from reviewbot.hooks.install import user_git
from reviewbot.services import DISMISSALS
from reviewbot.state import load_dismissals, write_file


@click.command
@click.argument("finding")
@click.option("--reason", metavar="TEXT", help="Why it is no defect, or is accepted.")
@click.option("--undo", is_flag=True, help="Report it again.")
@state_option
@common
def command(finding: str, reason: str | None, undo: bool, state: Path | None) -> None:
    """Do not report a finding of the newest review again.

    FINDING is an id such as F1, or a key.
    """
    if not undo and not (reason and reason.strip()):
        raise UsageError(
            "a dismissal needs a reason", hint=f"reviewbot dismiss {finding} --reason TEXT"
        )
    kept = open_state(state, os.environ)
    file = _file(os.environ)
    local, shared = kept.dismissals(), load_dismissals(file) if file else ()
    if undo:
        known = {entry.key for entry in (*local, *shared)}
        key = finding if finding in known else find_finding(kept.newest(), finding).key
        if key not in known:
            raise UsageError(f"{finding} is not dismissed", hint="reviewbot explain lists findings")
        local, shared = remove(local, key), remove(shared, key)
    else:
        found = find_finding(kept.newest(), finding)
        entry = Dismissal(
            key=found.key,
            reason=(reason or "").strip(),
            title=found.title,
            path=found.location.path if found.location else "",
            by=asyncio.run(_user_name(os.environ)),
            date=date.today().isoformat(),
        )
        local, shared = add(local, entry), add(shared, entry)
    if file:
        _write(file, shared)
    kept.save_dismissals(local)
    say(f"reviewbot: {finding} is {'reported again' if undo else 'not reported again here'}")
    if file:
        say(f"For others it counts once {DISMISSALS} is committed in the base of a change.")


def _file(variables: Mapping[str, str]) -> Path | None:
    """The file in the work tree; None if there is none. Raises UsageError for one elsewhere."""
    with open_repository(variables) as repository:
        try:
            root = asyncio.run(repository.root())
        except GitError:
            return None
    if root is None:
        return None
    file = root / DISMISSALS
    if file.resolve() != file:
        raise UsageError(f"{file} is a link to elsewhere", hint="remove the link")
    return file


def _write(file: Path, dismissals: tuple[Dismissal, ...]) -> None:
    try:
        file.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise ReviewbotError(f"{file.parent} cannot be made: {error.strerror}") from error
    write_file(file, write_dismissals(dismissals).encode(), 0o644)


async def _user_name(variables: Mapping[str, str]) -> str:
    try:
        name = await user_git(Path.cwd(), variables)("config", "--get", "user.name")
    except GitError:
        return ""
    return name.decode(errors="replace").strip()
