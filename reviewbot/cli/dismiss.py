from datetime import date
from pathlib import Path

import click

from reviewbot.cli.host import find_finding, find_root, open_state
from reviewbot.cli.terminal import Command, say, state_option
from reviewbot.config.dismissals import DISMISSALS, Dismissal, write_dismissals
from reviewbot.errors import UsageError
from reviewbot.journal import write_file
from reviewbot.state import load_dismissals


@click.command(cls=Command)
@click.argument("finding")
@click.option("--reason", metavar="TEXT", help="Why it is no defect, or is accepted.")
@click.option("--undo", is_flag=True, help="Report it again.")
@state_option
async def command(finding: str, reason: str | None, undo: bool, state: Path | None) -> None:
    """Do not report a finding of the newest review again.

    FINDING is an id such as F1, or a key.
    """
    reason = (reason or "").strip()
    if not undo and not reason:
        raise UsageError("a dismissal needs a reason", hint="dismiss FINDING --reason TEXT")
    kept, root = await open_state(state), await find_root()
    files = {kept.dismissals: 0o600} | ({root / DISMISSALS: 0o644} if root else {})
    if root and (root / DISMISSALS).resolve() != root / DISMISSALS:
        raise UsageError(f"{root / DISMISSALS} is a link to elsewhere", hint="remove the link")
    known = {file: load_dismissals(file) for file in files}
    if undo:
        dismissed = {key for entries in known.values() for key in entries}
        key = finding if finding in dismissed else find_finding(kept.newest(), finding).key
        if key not in dismissed:
            raise UsageError(f"{finding} is not dismissed", hint="reviewbot explain lists findings")
        for file, entries in known.items():
            known[file] = {k: e for k, e in entries.items() if key not in (e.key, *e.copies)}
    else:
        found = find_finding(kept.newest(), finding)
        for entries in known.values():
            entries[found.key] = Dismissal(
                key=found.key,
                reason=reason,
                title=found.title,
                path=found.location.path if found.location else "",
                date=date.today().isoformat(),
                copies=found.copies,
            )
    for file, entries in known.items():
        if file.exists() or not undo:
            write_file(file, write_dismissals(entries), files[file])
    say(f"reviewbot: {finding} is {'reported again' if undo else 'not reported again here'}")
    if root:
        when = "An entry that the base has counts until" if undo else "For others it counts once"
        say(f"{when} {DISMISSALS} is committed in the base of a change.")
