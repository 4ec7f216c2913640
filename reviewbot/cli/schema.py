"""``reviewbot schema``: the JSON Schema of a document, as it is shipped."""

from __future__ import annotations

from importlib.resources import files

import click

from reviewbot.cli.output import deliver

DOCUMENTS = ("review", "evidence", "config", "changeset", "request", "experiments", "verifications", "dismissed")


@click.command("schema")
@click.argument("document", metavar="DOCUMENT", type=click.Choice(DOCUMENTS))
def schema(document: str) -> int:
    """Print the JSON Schema of DOCUMENT.

    DOCUMENT is review, evidence, config, changeset, request, experiments, verifications or dismissed.

    \b
    Examples:
      reviewbot schema review
      reviewbot schema config >reviewbot.schema.json       for an editor
    """
    shipped = files("reviewbot").joinpath("schema", f"{document}.schema.json")
    deliver(shipped.read_text(encoding="utf-8"))
    return 0
