"""Checks as the configuration wants them: built-in ones with changes, and the project's own."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.readers import READERS
from reviewbot.config.settings import CheckSettings
from reviewbot.errors import ConfigError


def configured_checks(
    built_in: Iterable[Check], settings: Iterable[CheckSettings]
) -> tuple[Check, ...]:
    """Raises ConfigError for a name that is no built-in check and has nothing to run."""
    checks = {check.name: check for check in built_in}
    for entry in settings:
        if entry.off:
            checks.pop(entry.name, None)
        elif entry.run:
            checks[entry.name] = _custom(entry)
        elif entry.name not in checks:
            message = f"checks: {entry.name} is no built-in check, and has no command to run"
            raise ConfigError(message, hint="add run: [PROGRAM, ARGUMENT…]")
        elif entry.seconds:
            checks[entry.name] = replace(checks[entry.name], seconds=entry.seconds)
    return tuple(checks.values())


def _custom(entry: CheckSettings) -> Check:
    reader = READERS[entry.parse]
    return Check(
        name=entry.name,
        kind=reader.kind,
        globs=entry.files,
        command=entry.run,
        read=reader.read,
        executes=True,
        whole_tree=True,
        # Which codes say "with problems" is the tool's own business: the report decides.
        exit_codes=tuple(range(126)),
        report=entry.report or None,
        seconds=entry.seconds or 120,
        distant_rules=("*",),
        install_hint=f"install {entry.run[0]}",
    )
