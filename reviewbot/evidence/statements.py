"""Which changed statements the tests ran, and which they did not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.domain.change import FileChange
from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence import places
from reviewbot.evidence.parsers.pytest_report import TestReport
from reviewbot.evidence.view import View, is_library

_BLOCKS = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.Match,
)
_SILENT = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple statement, or the head of a compound one, as lines; ``function`` encloses it."""

    start: int
    end: int
    function: str


def parse(data: bytes | None) -> ast.Module | None:
    """The syntax tree of a source, ``None`` where there is none to be had."""
    try:
        return ast.parse(data) if data is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def executed_changes(view: View, report: TestReport) -> frozenset[tuple[str, int]]:
    """The changed lines that belong to a statement that ran."""
    found: set[tuple[str, int]] = set()
    for file in _measured(view):
        ran = _ran(report, file.path)
        added = places.added(file)
        for statement in statements(view.contents_of(file).head):
            span = range(statement.start, statement.end + 1)
            if not ran.isdisjoint(span):
                found.update((file.path, line) for line in added.intersection(span))
    return frozenset(found)


def untested(view: View, report: TestReport) -> Iterator[Result]:
    """One result per function with changed statements that no test ran, and per run of them outside of functions."""
    for file in _measured(view):
        head = view.contents_of(file).head
        texts = places.lines(head)
        ran, added = _ran(report, file.path), places.added(file)
        missed = [s for s in statements(head) if _is_missed(s, ran, added) and s.function]
        for function in dict.fromkeys(statement.function for statement in missed):
            of_it = [statement for statement in missed if statement.function == function]
            yield _result(file.path, function, of_it, texts=texts)


def statements(data: bytes | None) -> tuple[Statement, ...]:
    """Every statement of a source that does something, in order."""
    tree = parse(data)
    return tuple(sorted(_walk(tree), key=lambda statement: statement.start)) if tree else ()


def _walk(tree: ast.Module) -> Iterator[Statement]:
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, function = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = f"{function}.{node.name}" if function else node.name
        else:
            inner = function
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.stmt) and not isinstance(node, _SILENT) and not _is_text(node):
            in_function = function if not isinstance(node, ast.ClassDef) else ""
            yield Statement(node.lineno, _last_line(node), in_function)


def _last_line(node: ast.stmt) -> int:
    """The end of a simple statement; of a compound one, the line before its body."""
    if isinstance(node, _BLOCKS):
        body = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
        return max(node.lineno, body.lineno - 1)
    return node.end_lineno or node.lineno


def _is_text(node: ast.stmt) -> bool:
    """A docstring or an ellipsis: nothing runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_missed(statement: Statement, ran: frozenset[int], added: frozenset[int]) -> bool:
    span = range(statement.start, statement.end + 1)
    return ran.isdisjoint(span) and not added.isdisjoint(span)


def _measured(view: View) -> Iterator[FileChange]:
    return (file for file in view.python() if file.head_path and is_library(file.path) and file.path.endswith(".py"))


def _ran(report: TestReport, path: str) -> frozenset[int]:
    return frozenset(line for executed in report.executed.values() for line in executed.get(path, ()))


def _result(path: str, function: str, missed: list[Statement], *, texts: tuple[str, ...]) -> Result:
    first = missed[0]
    count = f"{len(missed)} changed statements" if len(missed) > 1 else "a changed statement"
    return Result(
        EvidenceKind.COVERAGE,
        "coverage",
        None,
        path,
        first.start,
        f"No test runs {count} of `{function}`",
        Category.TESTS,
        Severity.LOW,
        Precision.HEURISTIC,
        end_line=first.start,
        anchor=places.line_at(texts, first.start),
        trigger="the tests that concern this change run",
        consequence="a mistake in these lines goes unnoticed",
        excerpt="lines without a test: " + ", ".join(str(statement.start) for statement in missed[:40]),
        subject=function,
    )
