"""``reviewbot doctor``: what is found here, what is missing, and the next step."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import click

from reviewbot import wiring
from reviewbot.cli.config import tell
from reviewbot.cli.diagnosis import Diagnosis, examine, exit_code, table
from reviewbot.cli.environment import surroundings
from reviewbot.cli.options import Common, common_options
from reviewbot.cli.output import deliver, wants_color
from reviewbot.cli.places import state_directory
from reviewbot.cli.settings import effective
from reviewbot.config import Configuration
from reviewbot.errors import ConfigError


@click.command("doctor")
@common_options
def doctor(arguments: Common) -> int:
    """Say what is found here, what is missing, and the next step."""
    around = surroundings(arguments, os.environ, is_private=wiring.is_private_file)
    state = arguments.state or state_directory(around.variables)
    configuration, wrong = _configured(arguments, around.variables)
    diagnoses = (*examine(around.variables, state, configuration), *wrong)
    if exit_code(diagnoses) == 0:
        diagnoses += tuple(Diagnosis(*line) for line in wiring.diagnose(arguments.repo, around.variables, configuration))
    deliver(table(diagnoses, color=wants_color(arguments.color or "auto", sys.stdout, around.variables)))
    tell(around.notices, quiet=arguments.quiet)
    return exit_code(diagnoses)


def _configured(arguments: Common, variables: Mapping[str, str]) -> tuple[Configuration, tuple[Diagnosis, ...]]:
    """What user file, environment and ``--config`` say, or the defaults and what is wrong with them."""
    try:
        return effective(arguments, variables, repository_files=tuple), ()
    except ConfigError as exc:
        return Configuration(), (Diagnosis("config", "bad", exc.message, exc.hint or "mend the configuration"),)
