from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from datetime import date
from pathlib import Path

import click

from reviewbot.cli.host import find_finding, find_root, open_state
from reviewbot.cli.terminal import common, say, state_option
from reviewbot.config.dismissals import Dismissal, add, remove, write_dismissals
from reviewbot.errors import GitError, UsageError
from reviewbot.hooks.install import user_git
from reviewbot.journal import write_file
from reviewbot.services import DISMISSALS
from reviewbot.state import load_dismissals


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
    reason = (reason or "").strip()
    if not undo and not reason:
        hint = f"reviewbot dismiss {finding} --reason TEXT"
        raise UsageError("a dismissal needs a reason", hint=hint)
    kept = open_state(state)
    root = asyncio.run(find_root())
    file = root / DISMISSALS if root else None
    if file and file.resolve() != file:
        raise UsageError(f"{file} is a link to elsewhere", hint="remove the link")
    local, shared = kept.dismissals(), load_dismissals(file) if file else ()
    if undo:
        known = {entry.key for entry in (*local, *shared)}
        key = finding if finding in known else find_finding(kept.newest(), finding).key
        if key not in known:
            raise UsageError(f"{finding} is not dismissed", hint="reviewbot explain lists findings")
        local, shared = remove(local, key), remove(shared, key)
    else:
        found = find_finding(kept.newest(), finding)
        name = b""
        with suppress(GitError):  # there is none
            name = asyncio.run(user_git(Path.cwd(), os.environ)("config", "--get", "user.name"))
        entry = Dismissal(
            key=found.key,
            reason=reason,
            title=found.title,
            path=found.location.path if found.location else "",
            by=name.decode(errors="replace").strip(),
            date=date.today().isoformat(),
        )
        local, shared = add(local, entry), add(shared, entry)
    if file:
        write_file(file, write_dismissals(shared).encode(), 0o644, make_folder=True)
    kept.save_dismissals(local)
    say(f"reviewbot: {finding} is {'reported again' if undo else 'not reported again here'}")
    if file:
        say(f"For others it counts once {DISMISSALS} is committed in the base of a change.")
