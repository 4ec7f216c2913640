"""``reviewbot doctor``: what is found here, what is missing, and the next step."""

from __future__ import annotations

import os
import sys

import click

from reviewbot.cli.diagnosis import Diagnosis, examine, exit_code, table
from reviewbot.cli.options import Common, common_options
from reviewbot.cli.output import deliver, wants_color
from reviewbot.cli.places import state_directory


@click.command("doctor")
@common_options
def doctor(arguments: Common) -> int:
    """Say what is found here, what is missing, and the next step."""
    from reviewbot import wiring

    beyond = (Diagnosis(*line) for line in wiring.diagnose(arguments.repo, os.environ))
    diagnoses = (*examine(os.environ, arguments.state or state_directory(os.environ)), *beyond)
    deliver(table(diagnoses, color=wants_color(arguments.color or "auto", sys.stdout, os.environ)))
    return exit_code(diagnoses)
