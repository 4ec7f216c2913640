"""Which checks there are: those of languages and of the project, as the configuration says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from reviewbot.checks.check import Check, Language
from reviewbot.checks.readers import READERS
from reviewbot.checks.scans import SCANS, SYNTAX
from reviewbot.config.settings import CheckSettings
from reviewbot.errors import ConfigError

FILE_NAME = re.compile(r"(\w[\w.-]*)?")


def configured_checks(
    languages: Iterable[Language], settings: Iterable[CheckSettings]
) -> tuple[Check, ...]:
    """Checks of languages with the changes of the configuration, and the project's own.

    Raises ConfigError for an unknown name without a command, and a report that is no file name.
    """
    settings = list(settings)
    checks = {check.name: check for language in languages for check in language.checks}
    known = {*checks, *SCANS, SYNTAX, *(entry.name for entry in settings if entry.run)}
    for entry in settings:
        if not FILE_NAME.fullmatch(entry.report):
            message = f"checks: the report of {entry.name} is {entry.report[:40]!r}"
            raise ConfigError(message, hint="give the name of a file, without a folder")
        if entry.off and entry.name in known:
            checks.pop(entry.name, None)
        elif entry.run:
            reader = READERS[entry.parse]
            checks[entry.name] = Check(
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
        elif entry.name not in checks:
            message = f"checks: {entry.name} is no linter or test suite, and has no command to run"
            raise ConfigError(message, hint="add run: [PROGRAM, ARGUMENT…]")
        elif entry.seconds:
            checks[entry.name] = replace(checks[entry.name], seconds=entry.seconds)
    return tuple(checks.values())
