"""The formatters that are known: what each reads, how it is called, and what configures it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from reviewbot.evidence.lint import CONFIGURATIONS
from reviewbot.evidence.view import View

_EDITION = re.compile(rb'(?m)^[ \t]*edition[ \t]*=[ \t]*"([0-9]{4})"')
_SCRIPTS = ("*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts", "*.tsx", "*.json", "*.css")


@dataclass(frozen=True, slots=True)
class Formatter:
    """A program that formats what it reads. ``command`` is the shell's: ``$tool`` is the ``program``, ``$path`` the name of the
    file, ``$extra`` what ``extra`` finds out of the project. ``configuration`` names files whose base version holds. ``parses``:
    it reads no configuration, so that it needs no wall."""

    name: str
    program: str
    command: str
    files: tuple[str, ...]
    configuration: tuple[str, ...] = ()
    parses: bool = False
    wanted: Callable[[View], bool] = lambda _: True
    extra: Callable[[View], str] = lambda _: ""


def _has_python_settings(view: View) -> bool:
    return any(path.rpartition("/")[2] in CONFIGURATIONS for path in view.names)


def _uses_black(view: View) -> bool:
    return view.says("pyproject.toml", b"[tool.black]")


def _uses_biome(view: View) -> bool:
    return not {"biome.json", "biome.jsonc"}.isdisjoint(view.names)


def edition(view: View) -> str:
    """The edition of Rust that the project is written in."""
    found = _EDITION.search(view.settings.get("Cargo.toml", b""))
    return found[1].decode("ascii") if found else "2021"


_BLACK_COMMAND = '"$tool" -q --stdin-filename "$path" -'
_PYTHON = ("*.py", "*.pyi")
BLACK = Formatter("black", "{tool:black}", _BLACK_COMMAND, _PYTHON, ("pyproject.toml",), wanted=_uses_black)
RUFF = Formatter(
    "ruff format",
    "{ruff}",
    '"$tool" format --no-cache --quiet --force-exclude --stdin-filename "$path" -',
    _PYTHON,
    CONFIGURATIONS,
    wanted=_has_python_settings,
)
PLAIN_RUFF = Formatter(
    "ruff format",
    "{ruff}",
    '"$tool" format --isolated --no-cache --quiet --stdin-filename "$path" -',
    _PYTHON,
    parses=True,
    wanted=lambda view: not _has_python_settings(view),
)
OTHER_BLACK = Formatter(
    "black", "{tool:black}", _BLACK_COMMAND, _PYTHON, ("pyproject.toml",), wanted=lambda view: not _uses_black(view)
)
GOFMT = Formatter("gofmt", "{tool:gofmt}", '"$tool"', ("*.go",), parses=True)
SHFMT = Formatter("shfmt", "{tool:shfmt}", '"$tool" -filename "$path"', ("*.sh", "*.bash"), (".editorconfig",))
RUSTFMT = Formatter(
    "rustfmt",
    "{tool:rustfmt}",
    'cd "$(dirname -- "$path")" && "$tool" --quiet --edition "$extra"',
    ("*.rs",),
    ("rustfmt.toml", ".rustfmt.toml", "Cargo.toml"),
    extra=edition,
)
BIOME = Formatter(
    "biome",
    "{tool:biome}",
    '"$tool" format --stdin-file-path="$path"',
    _SCRIPTS,
    ("biome.json", "biome.jsonc", ".editorconfig"),
    wanted=_uses_biome,
)
PRETTIER = Formatter(
    "prettier",
    "{tool:prettier}",
    '"$tool" --stdin-filepath "$path"',
    (*_SCRIPTS, "*.scss", "*.less", "*.vue", "*.html", "*.md", "*.yml", "*.yaml"),
    (".prettierrc", ".prettierrc.*", "prettier.config.*", ".prettierignore", ".editorconfig", "package.json"),
)

FORMATTERS = (BLACK, RUFF, PLAIN_RUFF, OTHER_BLACK, GOFMT, SHFMT, RUSTFMT, BIOME, PRETTIER)
"""Of two that leave a file of the head as it is, the first is taken for the project's."""
