"""``reviewbot schema``: the JSON Schema of a document, as it is shipped."""

from __future__ import annotations

from importlib.resources import files

import click

from reviewbot.cli.output import deliver

DOCUMENTS = ("review", "evidence", "config", "changeset", "request", "experiments", "verifications")


@click.command("schema")
@click.argument("document", type=click.Choice(DOCUMENTS))
def schema(document: str) -> int:
    """Print the JSON Schema of DOCUMENT."""
    shipped = files("reviewbot").joinpath("schema", f"{document}.schema.json")
    deliver(shipped.read_text(encoding="utf-8"))
    return 0
