"""Which test files are worth running for a change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.evidence.view import View, is_library, is_python_test

FEW = 12
"""So many test files are simply all run."""
_SOURCE_ROOTS = ("src", "lib", "python")
_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
_FROM = re.compile(rb"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)", re.MULTILINE)
_WORD = re.compile(rb"[\w.]+")


def tests(view: View, most: int) -> tuple[str, ...]:
    """Head paths, the most telling first: changed tests, tests of changed modules, tests of their packages, all where few."""
    changed = [file.path for file in view.files if file.head_path and is_python_test(file.path)]
    modules = {name for file in view.files if is_library(file.path) for name in _module_names(file.base_path or file.path)}
    packages = {module.rpartition(".")[0] for module in modules} - {""}
    near: list[str] = []
    far: list[str] = []
    for path, source in sorted(view.tests.items()):
        imported = set(_imported(source))
        if imported & modules or _subject(path) in {module.rpartition(".")[2] for module in modules}:
            near.append(path)
        elif imported & packages:
            far.append(path)
    rest = sorted(view.tests) if len(view.tests) <= FEW else []
    return tuple(path for path in dict.fromkeys((*changed, *near, *far, *rest)) if path.isprintable())[:most]


def every(view: View, most: int) -> tuple[str, ...]:
    """All test files of the head's tree, in order."""
    return tuple(path for path in sorted(view.paths) if is_python_test(path) and path.isprintable())[:most]


def _module_names(path: str) -> Iterator[str]:
    """What a file may be imported as: its path below a source root, or below the top."""
    parts = path.rsplit(".", 1)[0].split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    if parts:
        yield ".".join(parts)
    if len(parts) > 1 and parts[0] in _SOURCE_ROOTS:
        yield ".".join(parts[1:])


def _imported(source: bytes) -> Iterator[str]:
    """Every module that a test file's text seems to import, and ``module.name`` for what it takes from one."""
    for match in _IMPORT.finditer(source):
        for part in match[1].split(b","):
            yield part.split()[0].decode("ascii", "replace") if part.split() else ""
    for match in _FROM.finditer(source):
        module = match[1].decode("ascii", "replace")
        yield module
        for name in _WORD.findall(match[2]):
            yield f"{module}.{name.decode('ascii', 'replace')}"


def _subject(path: str) -> str:
    """``calc`` for ``tests/test_calc.py``."""
    stem = path.rsplit("/", 1)[-1].removesuffix(".py")
    return stem.removeprefix("test_").removesuffix("_test")
