"""Blocks of data held against what would read them: our loader and schemas, GitHub's, pre-commit's."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema

from reviewbot.config import Source, load
from reviewbot.errors import ConfigError
from tests.action.runner import parse
from tests.docs.pages import TOP, Block

BIN = Path(sys.prefix) / "bin"
OF_THE_REPOSITORY = "# .reviewbot.yml"
"""First line of a configuration that is shown as a repository's own: then it may set no operator key."""


def kind(block: Block) -> str:
    """What a block of YAML is: ``workflow``, ``pre-commit``, ``hooks``, ``configuration``. Raises where it is no YAML."""
    document: Any = parse_any(block.text)
    if isinstance(document, list):
        return "hooks"
    if {"on", "jobs"} <= set(document):
        return "workflow"
    return "pre-commit" if "repos" in document else "configuration"


def parse_any(text: str) -> Any:
    """A YAML document, a list of which is one too."""
    return parse(f"all:\n{_indented(text)}")["all"]


def configured(block: Block) -> str:
    """What is wrong with a configuration; its notices count."""
    data = block.text.encode()
    try:
        if block.text.startswith(OF_THE_REPOSITORY):
            return "; ".join(load(repository=(Source(".reviewbot.yml", data),)).notices)
        return "; ".join(load(user=Source("config.yml", data)).notices)
    except ConfigError as error:
        return str(error)


def accepted(blocks: Iterable[Block], folder: Path, command: tuple[str, ...], suffix: str = ".yml") -> str:
    """What another program says against blocks, all of them at once: it takes a second to start."""
    files = []
    for block in blocks:
        file = folder / f"{str(block).replace('/', '-').replace(':', '-')}{suffix}"
        file.write_text(block.text, encoding="utf-8")
        files.append(file)
    if not files:
        return ""
    done = subprocess.run([BIN / command[0], *command[1:], *files], capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr if done.returncode else ""


PROGRAMS = {
    "workflow": ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
    "pre-commit": ("pre-commit", "validate-config"),
    "hooks": ("pre-commit", "validate-manifest"),
}
"""Who says whether a document of that kind is one."""


def documented(block: Block) -> str:
    """What is wrong with a block of JSON: one with a ``schema_version`` is a document of ours."""
    document = json.loads(block.text)
    if not isinstance(document, dict) or "schema_version" not in document:
        return ""
    name = "review" if "findings" in document else "evidence"
    schema = json.loads((TOP / "reviewbot" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return "\n".join(error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document))


def laid(block: Block) -> str:
    """What is wrong with a block of TOML: reviewbot's part of a ``pyproject.toml`` is loaded."""
    document = tomllib.loads(block.text)
    if "reviewbot" not in document.get("tool", {}):
        return ""
    try:
        return "; ".join(load(repository=(Source("pyproject.toml", block.text.encode()),)).notices)
    except ConfigError as error:
        return str(error)


DATA: dict[str, Callable[[Block], str]] = {"json": documented, "toml": laid}


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
