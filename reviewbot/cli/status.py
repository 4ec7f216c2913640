"""``reviewbot status``: debates running or interrupted, then the last ones."""

from __future__ import annotations

import click

from reviewbot import wiring
from reviewbot.cli.options import Common, list_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver
from reviewbot.cli.sessions import table
from reviewbot.cli.tables import as_json
from reviewbot.ports import SessionState

LOOKED_AT = 200
LAST = 5
GOES_ON = "An interrupted debate goes on where it was when the same review is run again: what was answered is not paid again."

ENDED = (SessionState.CONVERGED, SessionState.PARTIAL, SessionState.FAILED)


@click.command("status")
@list_options
def status(arguments: Common, format: str) -> int:  # noqa: A002 - the option's name
    """Say which debates run or were interrupted, and how the last ones ended.

    An interrupted debate goes on where it was when the same review is run again. Reviews of the static panel are no debates that
    are kept; `reviewbot explain` tells of the last one.
    """
    found = wiring.sessions(order_of(arguments), LOOKED_AT)
    open_ones = tuple(one for one in found if one.state not in ENDED)
    last = tuple(one for one in found if one.state in ENDED)[:LAST]
    if format == "json":
        deliver(as_json({"open": open_ones, "last": last}))
    elif not found:
        deliver(table(()))
    else:
        now = f"{table(open_ones)}\n{GOES_ON}" if open_ones else "No debate runs or was interrupted."
        deliver("\n\n".join([now, *([table(last)] if last else [])]))
    return 0
