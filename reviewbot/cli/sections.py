"""A command with many options lists them by what they are about."""

from __future__ import annotations

import click

#: A heading, and the options below it by their longest name. What is in none stands first, under ``Options``.
SECTIONS = (
    ("Which change", ("--staged", "--worktree", "--base", "--patch", "--all")),
    (
        "Who reviews, and for how much",
        ("--panel", "--model", "--effort", "--rounds", "--max-cost-usd", "--timeout", "--resume", "--dry-run"),
    ),
    ("What is run", ("--sandbox", "--no-exec")),
    ("What is told", ("--format", "--output", "--fail-on", "--log-format", "--quiet", "--verbose", "--color")),
    ("Where", ("--repo", "--config", "--env-file", "--state", "--out")),
    ("Help", ("--help",)),
)


class Sectioned(click.Command):
    """Such a command."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, with one column for all of them."""
        options = (parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option))
        left = {option.opts[-1]: record for option in options if (record := option.get_help_record(ctx))}
        listed = [(heading, [left.pop(name) for name in names if name in left]) for heading, names in SECTIONS]
        for heading, records in (("Options", list(left.values())), *listed):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
