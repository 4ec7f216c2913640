from __future__ import annotations

import inspect
import json
import os
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
import msgspec
from msgspec import Struct

from reviewbot.cli.host import find_root, run
from reviewbot.cli.terminal import common, say
from reviewbot.config.load import WHO_MAY_SET
from reviewbot.config.settings import Settings
from reviewbot.config.toml import read_toml
from reviewbot.config.values import allowed
from reviewbot.errors import GitError, ReviewbotError, UsageError
from reviewbot.hooks.install import install_hooks
from reviewbot.services import CONFIG_FILES
from reviewbot.state import write_file

# What `uses:` of the workflows says.
ACTION = (
    "OWNER/reviewbot@v0"
    " # zizmor: ignore[unpinned-uses] v0 gets fixes; pin the SHA of a commit to choose them"
)
TEMPLATES = Path(__file__).parents[1] / "workflows"
WORKFLOWS = {
    "review": ("reviewbot-review.yml",),
    "commands": ("reviewbot-commands.yml",),
    "audit": ("reviewbot-audit.yml",),
    "forks": ("reviewbot-collect.yml", "reviewbot-publish.yml"),
}
HEADER = """\
# Settings of reviewbot: https://yaml.org, checked by `reviewbot config check`.
# What is committed at the base of a change counts. Every key shows its default, or an example;
# remove the # before it to set it.
"""
RIGHTS = {
    "lower": "A repository may only lower what the user file says.",
    "operator": "Only the user file, the environment and flags may set this.",
    None: "",
}
EXAMPLES = {"model": '"anthropic:claude-sonnet-5"', "name": "lint"}
# What stands before the first key, and before the others, of a section that holds several.
INDENTS = {
    "panel": ("  critic:\n#    ", "    "),
    "providers": ("  gpu:\n#    ", "    "),
    "checks": ("  - ", "    "),
}


@click.command
@click.option("--hooks", is_flag=True, help="Install the git hooks as well.")
@click.option(
    "--workflow",
    "workflows",
    type=click.Choice([*WORKFLOWS]),
    multiple=True,
    help="Write a workflow for GitHub as well.",
)
@common
def command(hooks: bool, workflows: tuple[str, ...]) -> None:
    """Write a .reviewbot.yml in which every setting is explained. No file is overwritten."""
    root = run(find_root())
    if root is None:
        raise GitError("this is no work tree of git", hint="run it in a git repository, or use -C")
    write_workflows(root, workflows)
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
        for line in run(install_hooks(Path.cwd(), os.environ)):
            say(f"reviewbot: {line}")
    else:
        say("To review before each commit and push: reviewbot hook install")


def write_workflows(root: Path, names: Sequence[str]) -> None:
    """Write those that are not there yet, all or none of them. Raises ReviewbotError."""
    folder = root / ".github/workflows"
    for place in (folder.parent, folder):
        if names and (place.is_symlink() or (place.exists() and not place.is_dir())):
            hint = "workflows are only written into a folder of the repository itself"
            raise UsageError(f"{place} is no folder, or a symbolic link", hint=hint)
    written: list[Path] = []
    for path in (folder / file for name in dict.fromkeys(names) for file in WORKFLOWS[name]):
        if os.path.lexists(path):
            say(f"reviewbot: {path} is there already and stays as it is")
            continue
        text = (TEMPLATES / path.name).read_text(encoding="utf-8")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_file(path, text.replace("uses: REVIEWBOT", f"uses: {ACTION}").encode(), 0o644)
        except (OSError, ReviewbotError) as error:
            for other in written:
                other.unlink()
            raise ReviewbotError(f"no workflow is written: {error}") from error
        written.append(path)
    for path in written:
        say(f"reviewbot: {path} is written")
    if written:
        say("They count once they are on the default branch: git add .github/workflows")
    if written and {*names} != {"commands"}:
        say("To add language models, set the secret of a key: gh secret set ANTHROPIC_API_KEY")
    if "commands" in names and not (folder / WORKFLOWS["review"][0]).exists():
        say("Commands that review need that workflow too: reviewbot init --workflow review")


def template() -> str:
    """A file with every setting commented out, made from the types of settings."""
    lines = [HEADER]
    for section in msgspec.structs.fields(Settings):
        kinds = (section.type, *get_args(section.type))
        (struct,) = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Struct))
        text, _, attributes = inspect.cleandoc(struct.__doc__ or "").partition("\nAttributes:\n")
        documented = dict(re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", attributes, re.MULTILINE))
        lines += _comment(f"{text} {RIGHTS[WHO_MAY_SET.get(section.name)]}", "")
        # A mapping of settings may be empty: only the # of a key must go.
        lines.append(f"{'' if section.type is struct else '#'}{section.name}:")
        indent, other = INDENTS.get(section.name, ("  ", "  "))
        for key in msgspec.structs.fields(struct):
            values = f"({allowed(key.type)})".replace("(a text)", "")
            lines += _comment(f"{documented.get(key.name, '')} {values}", other)
            value = EXAMPLES[key.name] if key.required else msgspec.to_builtins(key.default)
            is_word = key.required or (isinstance(value, str) and value)
            lines.append(f"#{indent}{key.name}: {value if is_word else json.dumps(value)}")
            indent = other
        lines.append("")
    return "\n".join(lines)


def _comment(text: str, indent: str) -> list[str]:
    prefix = f"{indent}# "
    text = " ".join(text.split())
    return textwrap.wrap(text, 100, initial_indent=prefix, subsequent_indent=prefix)
