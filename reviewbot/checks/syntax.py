"""Syntax errors in the languages that tree-sitter reads. Python's are ruff's business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from reviewbot.checks.evidence import CheckRun
from reviewbot.checks.project import Project
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.git.change import Change, Location, Side
from reviewbot.severity import Severity
from reviewbot.text.files import classify, language_of

NAME = "syntax"
# A grammar may not know the newest syntax or a preprocessor's: there an error is only likely.
LANGUAGES: Mapping[str, Severity] = {
    **{"javascript": "critical", "jsx": "critical", "json": "high", "typescript": "critical"},
    **{"go": "critical", "java": "critical", "rust": "critical", "tsx": "critical"},
    **{"bash": "high", "css": "medium", "php": "high", "ruby": "high", "yaml": "high"},
    **{"csharp": "medium", "kotlin": "medium", "scala": "medium", "swift": "medium"},
}
# text/files.py and ast-grep call some languages differently.
GRAMMARS = {"shell": "bash", "c#": "csharp"}
MAX_LENGTH = 400_000
MAX_LINE = 20_000  # generated
MAX_ERRORS = 20


def check_syntax(change: Change, project: Project) -> tuple[CheckRun, ...]:
    """Parse both sides of each changed file whose language is known."""
    return (_run(change, "base", project), _run(change, "head", project))


def _run(change: Change, side: Side, project: Project) -> CheckRun:
    texts = project.texts(side)
    paths = [
        path
        for file in change.files
        if (path := file.old_path if side == "base" else file.path) in texts
        if classify(path) != "fixture" and grammar_of(path) and _is_readable(texts[path])
    ]
    found = (
        error
        for path in paths
        for error in islice(find_syntax_errors(path, texts[path]), MAX_ERRORS)
    )
    return CheckRun(
        check=NAME,
        kind="scan",
        side=side,
        outcome="ended",
        files=tuple(paths),
        report=Report(diagnostics=tuple(found)),
    )


def _is_readable(text: str) -> bool:
    return len(text) <= MAX_LENGTH and all(len(line) <= MAX_LINE for line in text.split("\n"))


def grammar_of(path: str) -> str | None:
    language = language_of(path)
    if path.endswith((".tsx", ".jsx")):
        language = path[-3:]
    language = GRAMMARS.get(language or "", language)
    return language if language in LANGUAGES else None


def find_syntax_errors(path: str, text: str) -> Iterator[Diagnostic]:
    """What the grammar cannot read, and tokens that it had to add, such as a closing bracket."""
    from ast_grep_py import SgRoot

    language = grammar_of(path) or ""
    root = SgRoot(text, "tsx" if language == "jsx" else language).root()
    for node in root.find_all(any=[{"kind": "ERROR"}, {"regex": "^$"}]):
        if node.kind() != "ERROR" and node.is_named():
            continue  # an empty text that is one, such as that of a here document
        line = node.range().start.line + 1
        wanted = "" if node.kind() == "ERROR" else f": {node.kind()} is missing"
        yield Diagnostic(
            rule="syntax-error",
            message=f"Syntax error{wanted}",
            severity=LANGUAGES[language],
            location=Location(path, line, line),
            consequence="The file cannot be parsed.",
        )
