"""``reviewbot doctor``: what is found here, what is missing, and the next step."""

from __future__ import annotations

import os
import sys

import click

from reviewbot import wiring
from reviewbot.cli.diagnosis import Diagnosis, examine, exit_code, table
from reviewbot.cli.options import Common, common_options
from reviewbot.cli.output import deliver, wants_color
from reviewbot.cli.places import state_directory


@click.command("doctor")
@common_options
def doctor(arguments: Common) -> int:
    """Say what is found here, what is missing, and the next step."""
    diagnoses = examine(os.environ, arguments.state or state_directory(os.environ))
    if exit_code(diagnoses) == 0:
        diagnoses += tuple(Diagnosis(*line) for line in wiring.diagnose(arguments.repo, os.environ))
    deliver(table(diagnoses, color=wants_color(arguments.color or "auto", sys.stdout, os.environ)))
    return exit_code(diagnoses)
