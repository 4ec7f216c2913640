"""``reviewbot doctor``: what is found here, what is missing, and the next step."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import click

from reviewbot import wiring
from reviewbot.cli.config import tell
from reviewbot.cli.diagnosis import Diagnosis, examine, exit_code, table
from reviewbot.cli.diagnosis_place import look
from reviewbot.cli.environment import surroundings
from reviewbot.cli.options import Common, list_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, wants_color
from reviewbot.cli.settings import effective
from reviewbot.cli.tables import as_json
from reviewbot.config import Configuration
from reviewbot.errors import ConfigError, ReviewbotError
from reviewbot.wiring.places import state_directory


@click.command("doctor", short_help="Say what is found here, what is missing, and the next step.")
@click.option(
    "--online", is_flag=True, help="Also ask every provider with a key here for its list of models; that costs nothing."
)
@list_options
def doctor(arguments: Common, format: str, *, online: bool) -> int:  # noqa: A002 - the option's name
    """Say what is found here, what is missing, and the next step.

    A line each for git, Python's tools, keys, the sandbox with a self-test, the languages of this repository and their linters,
    configuration, dismissals, hooks, workflows, extensions and completion. ok: as it should be. open: nothing is wrong, and more
    could be had. warn: less is reviewed than could be. bad: no review is possible. The arrow names what closes the gap. Nothing
    is written; without --online nobody is asked over the network.

    \b
    Examples:
      reviewbot doctor
      reviewbot doctor --online
      reviewbot doctor --format json | jq '.[] | select(.state != "ok")'

    \b
    Exit codes:
      0  a review is possible
      3  something that every review needs is broken
    """
    around = surroundings(arguments, os.environ, is_private=wiring.is_private_file)
    state = arguments.state or state_directory(around.variables)
    configuration, wrong = _configured(arguments, around.variables)
    diagnoses = (*examine(around.variables, state, configuration), *wrong)
    if exit_code(diagnoses) == 0:
        diagnoses += tuple(Diagnosis(*line) for line in wiring.diagnose(arguments.repo, around.variables, configuration))
        diagnoses += tuple(look(arguments.repo, around.variables))
        diagnoses += tuple(_answers(arguments)) if online else ()
    if format == "json":
        deliver(as_json(diagnoses))
    else:
        deliver(table(diagnoses, color=wants_color(arguments.color or "auto", sys.stdout, around.variables)))
    tell(around.notices, quiet=arguments.quiet)
    return exit_code(diagnoses)


def _answers(arguments: Common) -> Iterator[Diagnosis]:
    """Which models that are configured answer."""
    try:
        found = wiring.models(order_of(replace(arguments, quiet=True)))
    except ReviewbotError as exc:
        yield Diagnosis("models", "warn", exc.message, exc.hint)
        return
    for one in found:
        if one.configured and one.reachable is not None:
            words = f"{one.provider}:{one.model} " + ("answers" if one.reachable else "does not answer, so its seat stays empty")
            step = "" if one.reachable else "look at its key, its name and the network; 'reviewbot models list' says more"
            yield Diagnosis("models", "ok" if one.reachable else "warn", words, step)


def _configured(arguments: Common, variables: Mapping[str, str]) -> tuple[Configuration, tuple[Diagnosis, ...]]:
    """What user file, environment and ``--config`` say, or the defaults and what is wrong with them."""
    try:
        return effective(arguments, variables, repository_files=tuple), ()
    except ConfigError as exc:
        return Configuration(), (Diagnosis("config", "bad", exc.message, exc.hint or "mend the configuration"),)
