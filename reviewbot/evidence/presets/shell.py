"""Shell scripts: does bash read them, and what does shellcheck say?"""

from __future__ import annotations

from reviewbot.evidence.parsers import pattern, shellcheck
from reviewbot.evidence.parsers.remark import Grade
from reviewbot.evidence.tools import BREAKS, DEFECT, FILES, SMELL, STYLE, Tool

_SOURCES = ("*.sh", "*.bash")
_EACH = 'failed=0; for file; do bash -n -- "$file" || failed=1; done; exit "$failed"'
"""``bash -n`` reads one file at a time."""

SYNTAX = Tool(
    "bash",
    ("/bin/sh", "-c", _EACH, "sh", FILES),
    pattern.reader(r"(?P<path>[^:]+): line (?P<line>[0-9]+): (?P<message>[^`].*)"),
    _SOURCES,
    on_stderr=True,
    grades={Grade.NOTE: BREAKS, Grade.WARNING: BREAKS, Grade.ERROR: BREAKS},
)
SHELLCHECK = Tool(
    "shellcheck",
    ("{tool:shellcheck}", "--format", "json1", FILES),
    shellcheck.read,
    _SOURCES,
    configuration=(".shellcheckrc", "shellcheckrc"),
    beliefs={"SC2086": SMELL, "SC2115": DEFECT, "SC2154": DEFECT, "SC2164": DEFECT, "SC2155": SMELL},
    grades={Grade.NOTE: STYLE, Grade.WARNING: SMELL, Grade.ERROR: DEFECT},
)
