"""What reviews and debates of the past could be meant. Asked for at a TAB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewbot import wiring
from reviewbot.cli.arguments import Common
from reviewbot.cli.orders import order_of
from reviewbot.cli.suggest import MOST, fitting
from reviewbot.errors import ReviewbotError

if TYPE_CHECKING:
    from reviewbot.cli.suggest import Items


def findings(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Findings of the last review here, by id."""
    del parameter
    try:
        found = wiring.last_review(_order(context)).findings
    except ReviewbotError:
        return []
    return fitting(((one.id, f"{one.path}: {one.title}") for one in found), incomplete.upper())


def debates(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """The last debates, by id."""
    del parameter
    order = _order(context)
    if order.state is None or not order.state.is_dir():
        return []  # looking would make an empty ledger
    try:
        found = wiring.sessions(order, MOST)
    except ReviewbotError:
        return []
    return fitting(((one.id, one.title or one.state.value) for one in found), incomplete)


def _order(context: click.Context) -> wiring.Order:
    said = context.params
    return order_of(Common(repo=said.get("repo") or Path(), state=said.get("state"), quiet=True))
