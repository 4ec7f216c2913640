"""An environment for projects under test, with pytest and nothing that pytest loads by itself.

The plug-ins of the development environment take longer to import than most tests there to run.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
import venv
from compileall import compile_dir
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging")
# Modules of Pygments that pytest imports, and needs for colours only.
PYGMENTS = ("__init__", "lexer", "formatters/__init__", "formatters/terminal")
PYGMENTS += ("lexers/__init__", "lexers/diff", "lexers/python")
UNUSED = "class Lexer: ...\nDiffLexer = PythonLexer = TerminalFormatter = Lexer\n"
# What Python runs when it starts. To search for garbage, also when pytest and Python end, took a
# fifth of the time of a small suite.
NO_GARBAGE = (
    "import atexit, gc; gc.set_threshold(1_000_000); atexit.register(gc.freeze);"
    " gc.collect = lambda *_: 0\n"
)


@cache
def lean_environment() -> str:
    """The folder. It is made once, whoever asks for it at the same time."""
    folder = Path(sys.prefix, f"lean-{pytest.__version__}-5")
    if not folder.exists():
        new = Path(tempfile.mkdtemp(dir=sys.prefix, prefix="lean-"))
        new.chmod(0o755)  # the sandbox runs as another user
        venv.create(new, symlinks=True)
        packages = Path(sysconfig.get_path("purelib"))
        there = new / packages.relative_to(sys.prefix)
        shutil.copy(packages / "py.py", there)  # a part of pytest
        for name in (*PACKAGES, f"pytest-{pytest.__version__}.dist-info"):
            shutil.copytree(packages / name, there / name)
        for name in PYGMENTS:
            (there / "pygments" / name).parent.mkdir(exist_ok=True)
            (there / "pygments" / f"{name}.py").write_text(UNUSED)
        (there / "only_here.py").touch()  # a package that the development environment lacks
        (there / "lean.pth").write_text(NO_GARBAGE)
        compile_dir(there, quiet=2)  # no job can write there
        with suppress(OSError):  # another process was faster
            new.rename(folder)
        shutil.rmtree(new, ignore_errors=True)
    return str(folder)
