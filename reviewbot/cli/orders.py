"""What was typed, as an order to the wiring."""

from __future__ import annotations

import json
import os
from dataclasses import replace

from reviewbot import wiring
from reviewbot.cli.config import tell
from reviewbot.cli.environment import surroundings
from reviewbot.cli.options import Common, ReviewArguments
from reviewbot.cli.output import say
from reviewbot.cli.settings import read_file, read_user_file
from reviewbot.domain.target import Target, TargetKind
from reviewbot.wiring.places import state_directory


def order_of(arguments: Common, target: Target | None = None) -> wiring.Order:
    """The order for a command, with the variables of this process and of a ``.env``; what of that is not read is said."""
    around = surroundings(arguments, os.environ, is_private=wiring.is_private_file)
    if isinstance(arguments, ReviewArguments) and arguments.log_format == "json":
        for notice in around.notices:
            say(json.dumps({"event": "notice", "stage": "configuration", "at": 0.0, "text": notice}))
    else:
        tell(around.notices, quiet=arguments.quiet)
    order = wiring.Order(
        target=target or Target(TargetKind.AUTO),
        directory=arguments.repo,
        environment=around.variables,
        flags=arguments.overrides(),
        config=read_file(arguments.config) if arguments.config else None,
        user=read_user_file(around.variables),
        state=arguments.state or state_directory(around.variables),
    )
    if not isinstance(arguments, ReviewArguments):
        return order
    chosen = replace(order, panel=arguments.panel, models=arguments.model)
    return replace(chosen, execute=not arguments.no_exec, fresh=not arguments.resume)
