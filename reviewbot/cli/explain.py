from pathlib import Path

import click

from reviewbot.cli.host import find_finding, open_state
from reviewbot.cli.terminal import Command, deliver, state_option, style_for
from reviewbot.reports import words
from reviewbot.reports.text import explanation
from reviewbot.text.secrets import safe


@click.command(cls=Command)
@click.argument("finding", required=False)
@state_option
async def command(finding: str | None, state: Path | None) -> None:
    """Show everything about a finding of the newest review.

    FINDING is an id such as F1, or a key. Without one, all findings are listed.
    """
    review = (await open_state(state)).newest()
    if finding is None:
        lines = [
            f"{found.id}  {found.severity}  {words.place(found.location)}  {found.title}"
            f"  ({words.STATUSES[found.status].lower()})"
            for found in review.findings
        ] or [f"The newest review ({review.target}) has no findings."]
        deliver("\n".join(safe(line) for line in lines))
        return
    found = find_finding(review, finding)
    effect = "requests changes" if found.blocks else "does not request changes"
    about = f"Key {found.key}, rule {found.rule or 'none'}, category {found.category}; {effect}."
    deliver(f"{explanation(found, style_for())}\n\n{safe(about)}")
