"""The whole review in a hook before a commit, and how it is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

from reviewbot.cli import glance
from reviewbot.cli.arguments import HookArguments
from reviewbot.cli.hook_said import SUBJECT, Said
from reviewbot.cli.output import wants_color
from reviewbot.cli.settings import read_file, read_user_file
from reviewbot.domain.review import Conclusion
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import RepositoryError, ReviewbotError
from reviewbot.ports import Job, Outcome
from reviewbot.publish import document, terminal_hook
from reviewbot.publish.terminal_hook import Manner
from reviewbot.wiring import hooking
from reviewbot.wiring.hook_order import StagedOrder
from reviewbot.wiring.hooking import Staged
from reviewbot.wiring.order import Order
from reviewbot.wiring.places import state_directory

FOUND, INCOMPLETE = 1, 3
Ran = tuple[tuple[Job, Outcome], ...]


def reviewed(arguments: HookArguments, sight: glance.Sight | None, *, ran: Ran = ()) -> Said:
    """Review the index; what cannot be reviewed stops the commit only with ``--strict``. ``ran``: as ``StagedOrder`` has it."""
    color = wants_color(arguments.color or "auto", sys.stderr, os.environ)
    try:
        order = replace(_order(arguments, sight, os.environ), ran=ran)
        made = hooking.staged(order)
    except ReviewbotError as exc:
        manner = Manner(SUBJECT, glance.SKIP, color=color, columns=glance.columns(os.environ))
        return Said(_incomplete(arguments), terminal_hook.not_reviewed(str(exc), manner))
    return _told(made, arguments, lasts=not hooking.is_of_models(order))


def _told(made: Staged, arguments: HookArguments, *, lasts: bool) -> Said:
    review, held = made.outcome.review, made.outcome.configuration
    fail_on = held.get("review.fail_on", str)
    is_whole = review.conclusion is Conclusion.COMPLETE
    code = FOUND if terminal_hook.blocks(review, fail_on) else 0 if is_whole else _incomplete(arguments)
    color = wants_color(arguments.color or held.get("display.color", str), sys.stderr, os.environ)
    columns = glance.columns(os.environ)
    manner = Manner(SUBJECT, glance.SKIP, blocks=code == FOUND, fail_on=fail_on, color=color, columns=columns)
    is_json = arguments.format == "json"
    return Said(
        code,
        "" if is_json else terminal_hook.render(review, manner),
        document.dumps(document.document(review)) if is_json else "",
        stamps=(str(made.kept),) if made.kept else (),
        lasts=lasts and is_whole and made.kept is not None,
        is_quiet=is_whole and not review.posted(),
    )


def _incomplete(arguments: HookArguments) -> int:
    return INCOMPLETE if arguments.strict else 0


def _order(arguments: HookArguments, sight: glance.Sight | None, environ: Mapping[str, str]) -> StagedOrder:
    """What is asked for. Keys are looked for in a ``.env`` only where models are. Raises ReviewbotError."""
    target, is_here = Target(TargetKind.STAGED), arguments.repo == Path()
    if sight is None and is_here and (named := glance.elsewhere(environ)):
        raise RepositoryError(f"git calls this hook for {named}", hint="run git in a folder of that repository's work tree")
    if arguments.model or arguments.panel not in (None, "static") or arguments.env_file:
        from reviewbot.cli.orders import order_of

        order = order_of(arguments, target)
    else:
        order = Order(
            target=target,
            directory=arguments.repo,
            environment=environ,
            flags=arguments.overrides(),
            config=read_file(arguments.config) if arguments.config else None,
            user=read_user_file(environ),
            state=arguments.state or state_directory(environ),
            panel=arguments.panel,
        )
    said = {field.name: getattr(order, field.name) for field in fields(order)}
    index = environ.get("GIT_INDEX_FILE") if is_here else None
    return StagedOrder(**said, index=Path(index) if index else None, names=sight.names if sight else None)
