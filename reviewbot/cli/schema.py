"""JSON Schemas of the documents that reviewbot writes and reads, made from their types."""

import inspect
import json
from typing import Any

import click
import msgspec

from reviewbot.checks.evidence import Evidence
from reviewbot.cli.terminal import Command, deliver
from reviewbot.config.settings import Settings
from reviewbot.llm.providers.replay import Recording
from reviewbot.verdict.document import Review

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {"review": Review, "evidence": Evidence, "config": Settings, "recording": Recording}


@click.command(cls=Command)
@click.argument("name", type=click.Choice([*TYPES]))
def command(name: str) -> None:
    """Print the JSON Schema of a document that reviewbot writes or reads."""
    deliver(json.dumps(schema_of(name), indent=2))


def schema_of(name: str) -> dict[str, Any]:
    schema = msgspec.json.schema(TYPES[name])
    for definition in schema["$defs"].values():
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
        for part in (definition, *definition["properties"].values()) if name == "config" else ():
            if part.get("type") == "object" and not part.get("required"):
                part["type"] = ["object", "null"]  # in YAML, a section that has only comments
    return {"$schema": DIALECT, "title": f"reviewbot {name}", **schema}
