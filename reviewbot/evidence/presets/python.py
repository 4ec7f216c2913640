"""Python beyond ruff and pytest, which have modules of their own: type checkers, where the project configures them."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase

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
        any(name in view.names for name in ("mypy.ini", ".mypy.ini"))
        or view.says("pyproject.toml", b"[tool.mypy]")
        or view.says("setup.cfg", b"[mypy]")
    )


def _uses_pyright(view: View) -> bool:
    return "pyrightconfig.json" in view.names or view.says("pyproject.toml", b"[tool.pyright]")


def _covers(view: View, path: str, *, table: str, key: str) -> bool:
    """Whether the base's pyproject.toml has the checker look at a path; everything, where it names nothing."""
    try:
        document = tomllib.loads(view.settings.get("pyproject.toml", b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return True
    tools = document.get("tool")
    said = tools.get(table, {}).get(key) if isinstance(tools, dict) and isinstance(tools.get(table, {}), dict) else None
    listed = said.split(",") if isinstance(said, str) else said if isinstance(said, list) else []
    meant = [str(one).strip().removeprefix("./").rstrip("/") for one in listed]
    return not meant or any(
        one in ("", ".") or path == one or fnmatchcase(path, f"{one}/*") or fnmatchcase(path, one) for one in meant
    )


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
    covers=lambda view, path: _covers(view, path, table="mypy", key="files"),
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
    covers=lambda view, path: _covers(view, path, table="pyright", key="include"),
    grades=_GRADES,
    silent=lambda remark: remark.rule in _ABOUT_THE_MACHINE or remark.grade is Grade.NOTE,
)
