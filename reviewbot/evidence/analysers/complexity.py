"""Functions that became hard to follow: cyclomatic complexity (McCabe 1976, https://doi.org/10.1109/TSE.1976.233837)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence.analysers.source import Source

MOST = 10
"""McCabe's own bound, and the default of ruff's C901."""
GROWTH = 3
"""Less is noise: one more guard in a function that was long before."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
"""Statements only, as C901 counts: a project that keeps to that rule hears nothing here."""
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_STATEMENTS: tuple[type[ast.AST], ...] = (ast.Module, *ast.stmt.__subclasses__(), ast.ExceptHandler, ast.match_case)
_PARTS = {kind: tuple(part for part in _BLOCKS if part in kind._fields) for kind in _STATEMENTS}
"""Where other statements stand below a statement, by its kind."""


def grown(older: Source | None, newer: Source | None) -> Iterator[Result]:
    """Functions at head above the bound that grew, or came, with the change."""
    if newer is None or newer.tree is None:
        return
    before = {name: complexity for name, _, complexity in functions(older.tree)} if older and older.tree else {}
    for name, node, complexity in functions(newer.tree):
        if complexity > MOST and complexity - before.get(name, 1) >= GROWTH:
            yield _result(newer, name, node, before=before.get(name), now=complexity)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Every function by qualified name, with its complexity; a nested one counts for itself."""
    found: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, list[ast.AST]]] = []
    waiting: list[tuple[ast.AST, str, list[ast.AST]]] = [(tree, "", [])]
    while waiting:
        node, prefix, branches = waiting.pop()
        for child in _blocks(node):
            name, inside = prefix, branches
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                name = f"{prefix}.{child.name}".lstrip(".")
            if isinstance(child, _FUNCTIONS):
                inside = []
                found.append((name, child, inside))
            elif isinstance(child, _BRANCHES):
                branches.append(child)
            if _PARTS[type(child)]:
                waiting.append((child, name, inside))
    return ((name, function, 1 + len(branches)) for name, function, branches in found)


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a statement. Expressions are passed by: they hold none, and are most of a tree."""
    for part in _PARTS[type(node)]:
        yield from getattr(node, part)


def _result(source: Source, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, *, before: int | None, now: int) -> Result:
    line = node.lineno
    grew = f"grew from {before} to {now}" if before else f"starts at {now}"
    return Result(
        EvidenceKind.COMPLEXITY,
        "complexity",
        "cyclomatic",
        source.path,
        line,
        f"The complexity of `{name}` {grew} (bound {MOST})",
        Category.MAINTAINABILITY,
        Severity.MEDIUM if now > 2 * MOST else Severity.LOW,
        Precision.HEURISTIC if before is None else Precision.LIKELY,
        end_line=node.end_lineno or line,
        anchor=source.anchor(line),
        trigger="somebody changes or tests the function",
        consequence=f"{now} paths lead through it: some are not thought of, nor tested",
        excerpt=source.anchor(line)[:400],
        subject=name,
    )
