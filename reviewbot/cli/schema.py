from __future__ import annotations

import json
from typing import get_args

import click

from reviewbot.cli.terminal import common, deliver
from reviewbot.reports.schema import SchemaName, schema_of


@click.command
@click.argument("name", type=click.Choice(get_args(SchemaName)))
@common
def command(name: SchemaName) -> None:
    """Print the JSON Schema of a document that reviewbot writes or reads."""
    deliver(json.dumps(schema_of(name), indent=2))
