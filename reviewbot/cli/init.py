import os
from pathlib import Path

import click

from reviewbot.cli.hook import print_hooks
from reviewbot.cli.host import open_repository
from reviewbot.cli.terminal import Command, say
from reviewbot.config.load import read_toml
from reviewbot.errors import UsageError
from reviewbot.hooks.install import install_hooks
from reviewbot.journal import write_file
from reviewbot.services import CONFIG_FILES

# What `uses:` of the workflows says.
ACTION = (
    "OWNER/reviewbot@v0"
    " # zizmor: ignore[unpinned-uses] v0 gets fixes; pin the SHA of a commit to choose them"
)
WORKFLOWS = {
    "review": ("reviewbot-review.yml",),
    "commands": ("reviewbot-commands.yml",),
    "audit": ("reviewbot-audit.yml",),
    "forks": ("reviewbot-collect.yml", "reviewbot-publish.yml"),
}
EXAMPLE = Path(__file__).with_name("reviewbot.yml")  # settings to choose from, all in comments


@click.command(cls=Command)
@click.option("--hooks", is_flag=True, help="Install the git hooks as well.")
@click.option(
    "--workflow",
    type=click.Choice([*WORKFLOWS]),
    multiple=True,
    help="Write a workflow for GitHub as well.",
)
async def command(hooks: bool, workflow: tuple[str, ...]) -> None:
    """Write a .reviewbot.yml with settings to choose from. No file is overwritten."""
    with open_repository() as repository:
        root = await repository.root()
    folder = root / ".github/workflows"
    if workflow and folder.resolve() != folder:
        raise UsageError(f"{folder} is a link to elsewhere", hint="remove the link")
    for file in [file for name in dict.fromkeys(workflow) for file in WORKFLOWS[name]]:
        text = Path(__file__).parents[1].joinpath("workflows", file).read_text(encoding="utf-8")
        _write(folder / file, text.replace("uses: REVIEWBOT", f"uses: {ACTION}").encode())
    if workflow:
        say("Put the owner of the Action in place of OWNER in the workflows.")
        say("They count once they are on the default branch: git add .github/workflows")
        say("To add language models, set the secret of a key: gh secret set ANTHROPIC_API_KEY")
    if "commands" in workflow and not (folder / WORKFLOWS["review"][0]).exists():
        say("Commands that review need that workflow too: reviewbot init --workflow review")
    yaml, toml = (root / name for name in CONFIG_FILES)
    is_new = not os.path.lexists(yaml)
    if is_new and toml.is_file() and read_toml(toml.read_bytes(), toml.name).value:
        say(f"reviewbot: {toml} has [tool.reviewbot], so no {yaml.name} is written")
    else:
        _write(yaml, EXAMPLE.read_bytes())
        if is_new:
            say(f"It counts once it is committed: git add {yaml.name}")
    if hooks:
        print_hooks(await install_hooks(Path.cwd(), os.environ))
    else:
        say("To review before each commit and push: reviewbot hook install")


def _write(path: Path, content: bytes) -> None:
    """Write a file that is not there yet. Raises ReviewbotError."""
    if os.path.lexists(path):
        say(f"reviewbot: {path} is there already and stays as it is")
        return
    write_file(path, content, 0o644)
    say(f"reviewbot: {path} is written")
