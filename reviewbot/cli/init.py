from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Union, get_args, get_origin

import click
import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

from reviewbot.cli.host import open_repository
from reviewbot.cli.options import common
from reviewbot.cli.output import say
from reviewbot.config.load import WHO_MAY_SET
from reviewbot.config.settings import Settings
from reviewbot.config.toml import read_toml
from reviewbot.config.values import allowed
from reviewbot.errors import UsageError
from reviewbot.hooks.install import install_hooks
from reviewbot.services import CONFIG_FILES
from reviewbot.state import write_file

HEADER = """\
# Settings of reviewbot: https://yaml.org, checked by `reviewbot config check`.
# What is committed at the base of a change counts. Every key shows its default, or an example;
# remove the # before it to set it.
"""
NAMES = {"panel": "critic"}
EXAMPLES = {"model": '"anthropic:claude-sonnet-5"', "name": "lint"}
RIGHTS = {
    "lower": "A repository may only lower what the user file says.",
    "operator": "Only the user file, the environment and flags may set this.",
    None: "",
}


@click.command
@click.option("--hooks", is_flag=True, help="Install the git hooks as well.")
@common
def command(hooks: bool) -> None:
    """Write a .reviewbot.yml in which every setting is explained. No file is overwritten."""
    with open_repository(os.environ) as repository:
        root = asyncio.run(repository.root())
    if root is None:
        raise UsageError("this repository is bare", hint="go to a clone with a work tree")
    yaml, toml = (root / name for name in CONFIG_FILES)
    if os.path.lexists(yaml):
        say(f"reviewbot: {yaml} is there already and stays as it is")
    elif toml.is_file() and read_toml(toml.read_bytes(), toml.name).value:
        say(f"reviewbot: {toml} has [tool.reviewbot], so no {yaml.name} is written")
    else:
        write_file(yaml, template().encode(), 0o644)
        say(f"reviewbot: {yaml} is written")
        say(f"It counts once it is committed: git add {yaml.name}")
    if hooks:
        for line in asyncio.run(install_hooks(Path.cwd(), os.environ)):
            say(f"reviewbot: {line}")
    else:
        say("To review before each commit and push: reviewbot hook install")


def template() -> str:
    """A file with every setting commented out, made from the types of settings."""
    lines = [HEADER]
    for field in msgspec.structs.fields(Settings):
        lines += [*_section(field), ""]
    return "\n".join(lines)


def _section(field: FieldInfo) -> Iterator[str]:
    kind = field.type
    options = get_args(kind)
    struct = next(one for one in (kind, *options) if isinstance(one, type) and _is_struct(one))
    summary, keys = _documentation(struct)
    right = WHO_MAY_SET.get(field.name)
    yield from _prose(f"{summary} {RIGHTS[right]}", "")
    if kind is struct:
        is_off = right == "operator"
        yield f"#{field.name}:" if is_off else f"{field.name}:"
        for inner in msgspec.structs.fields(struct):
            words = f"{keys.get(inner.name, '')} {_allowed(inner.type)}"
            yield from _prose(words.strip(), "  ")
            yield f"#  {_pair(inner)}" if is_off else f"  #{_pair(inner)}"
        return
    for name, words in keys.items():
        yield from _prose(f"`{name}`: {words}", "")
    yield f"#{field.name}:"
    indent = "#  "
    if get_origin(kind) is dict:
        yield f"{indent}{NAMES[field.name]}:"
        indent += "  "
    is_list = get_origin(kind) is tuple
    for number, inner in enumerate(msgspec.structs.fields(struct)):
        dash = ("  " if number else "- ") if is_list else ""
        yield f"{indent}{dash}{_pair(inner)}"


def _pair(field: FieldInfo) -> str:
    if field.name in EXAMPLES and field.required:
        return f"{field.name}: {EXAMPLES[field.name]}"
    value = msgspec.to_builtins(field.default)
    text = value if isinstance(value, str) and value else json.dumps(value)
    return f"{field.name}: {text}"


def _allowed(kind: object) -> str:
    if get_origin(kind) in (Union, types.UnionType, tuple, dict):
        return ""
    words = allowed(kind)
    return "" if words == "a text" else f"({words})"


def _documentation(struct: type) -> tuple[str, dict[str, str]]:
    """What the docstring of settings says about all of them, and about each."""
    text, _, attributes = inspect.cleandoc(struct.__doc__ or "").partition("\nAttributes:\n")
    entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", attributes, re.MULTILINE)
    return " ".join(text.split()), {name: " ".join(words.split()) for name, words in entries}


def _prose(text: str, indent: str) -> list[str]:
    prefix = f"{indent}# "
    return textwrap.wrap(text, 100, initial_indent=prefix, subsequent_indent=prefix)


def _is_struct(kind: type) -> bool:
    return issubclass(kind, Struct)
