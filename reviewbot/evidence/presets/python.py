"""Python beyond ruff and pytest, which have modules of their own: type checkers, where the project configures them."""

from __future__ import annotations

from reviewbot.evidence.parsers import mypy, pyright
from reviewbot.evidence.parsers.remark import Grade
from reviewbot.evidence.tools import DEFECT, FILES, STYLE, Tool
from reviewbot.evidence.view import View

_SOURCES = ("*.py", "*.pyi")
_GRADES = {Grade.NOTE: STYLE, Grade.WARNING: STYLE, Grade.ERROR: DEFECT}
_ABOUT_THE_MACHINE = frozenset(
    {"import-not-found", "import-untyped", "import", "reportMissingImports", "reportMissingModuleSource"}
)
"""What is not installed here says nothing of the change."""


def _uses_mypy(view: View) -> bool:
    return (
        any(name in view.paths for name in ("mypy.ini", ".mypy.ini"))
        or view.says("pyproject.toml", b"[tool.mypy]")
        or view.says("setup.cfg", b"[mypy]")
    )


def _uses_pyright(view: View) -> bool:
    return "pyrightconfig.json" in view.paths or view.says("pyproject.toml", b"[tool.pyright]")


MYPY = Tool(
    "mypy",
    (
        *("{tool:mypy}", "--output", "json", "--no-error-summary", "--cache-dir", "/dev/null"),
        *("--python-executable", "{python}", FILES),
    ),
    mypy.read,
    _SOURCES,
    configuration=("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    wanted=_uses_mypy,
    grades=_GRADES,
    silent=lambda remark: remark.rule in _ABOUT_THE_MACHINE or remark.grade is Grade.NOTE,
)
PYRIGHT = Tool(
    "pyright",
    ("{tool:pyright}", "--outputjson", "--pythonpath", "{python}", FILES),
    pyright.read,
    _SOURCES,
    configuration=("pyrightconfig.json", "pyproject.toml"),
    wanted=_uses_pyright,
    grades=_GRADES,
    silent=lambda remark: remark.rule in _ABOUT_THE_MACHINE or remark.grade is Grade.NOTE,
)
