"""What builds and ships: SQL files, GitHub workflows, Dockerfiles."""

from __future__ import annotations

from reviewbot.evidence.parsers import actionlint, hadolint, sqlfluff, zizmor
from reviewbot.evidence.parsers.remark import Grade
from reviewbot.evidence.tools import BREAKS, DANGER, DEFECT, FILES, HAZARD, SMELL, STYLE, Tool
from reviewbot.evidence.view import View

_WORKFLOWS = (".github/workflows/*.yml", ".github/workflows/*.yaml")
_ACTIONS = ("action.yml", "action.yaml")


def _uses_sqlfluff(view: View) -> bool:
    return (
        ".sqlfluff" in view.names
        or view.says("pyproject.toml", b"[tool.sqlfluff")
        or view.says("setup.cfg", b"[sqlfluff")
        or view.says("tox.ini", b"[sqlfluff")
    )


SQLFLUFF = Tool(
    "sqlfluff",
    ("{tool:sqlfluff}", "lint", "--format", "json", "--disable-progress-bar", FILES),
    sqlfluff.read,
    ("*.sql",),
    configuration=(".sqlfluff", "pyproject.toml", "setup.cfg", "tox.ini"),
    wanted=_uses_sqlfluff,
    beliefs={"PRS": BREAKS},
    grades={Grade.NOTE: STYLE, Grade.WARNING: STYLE, Grade.ERROR: STYLE},
)
ZIZMOR = Tool(
    "zizmor",
    ("{tool:zizmor}", "--offline", "--no-progress", "--format", "json", FILES),
    zizmor.read,
    (*_WORKFLOWS, *_ACTIONS),
    configuration=("zizmor.yml", "zizmor.yaml"),
    codes=(0, 10, 11, 12, 13, 14),
    grades={Grade.NOTE: STYLE, Grade.WARNING: DANGER, Grade.ERROR: HAZARD},
)
ACTIONLINT = Tool(
    "actionlint",
    ("{tool:actionlint}", "-format", "{{json .}}", FILES),
    actionlint.read,
    _WORKFLOWS,
    configuration=(".github/actionlint.yaml", ".github/actionlint.yml"),
    beliefs={"syntax-check": BREAKS, "expression": DEFECT, "shellcheck": SMELL, "pyflakes": SMELL},
    grades={Grade.NOTE: STYLE, Grade.WARNING: SMELL, Grade.ERROR: DEFECT},
)
HADOLINT = Tool(
    "hadolint",
    ("{tool:hadolint}", "--format", "json", FILES),
    hadolint.read,
    ("Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile"),
    configuration=(".hadolint.yaml", ".hadolint.yml"),
    grades={Grade.NOTE: STYLE, Grade.WARNING: STYLE, Grade.ERROR: DEFECT},
)
