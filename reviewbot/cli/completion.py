from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from reviewbot.cli.terminal import common, deliver

# Files that a shell reads at its start, and what to write there.
WHERE = {
    "bash": ("~/.bashrc", 'eval "$(reviewbot completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(reviewbot completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "reviewbot completion fish | source"),
}


@click.command
@click.argument("shell", type=click.Choice(list(WHERE)))
@common
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    completion = get_completion_class(shell)
    assert completion, shell  # click has all of them
    file, line = WHERE[shell]
    script = completion(ctx.find_root().command, {}, "reviewbot", "_REVIEWBOT_COMPLETE").source()
    deliver(f"# For every new shell, write this into {file}: {line}\n{script}")
