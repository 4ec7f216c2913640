"""Checks that read text for known patterns and syntax errors. They run nothing."""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, chain, groupby, islice
from pathlib import Path

from msgspec.structs import replace

from reviewbot.checks.evidence import Category, CheckRun, Diagnostic, Report
from reviewbot.checks.project import Project
from reviewbot.git.change import Change, ChangedFile, Location, Side
from reviewbot.severity import RANK, Severity
from reviewbot.text.files import classify, language_of
from reviewbot.text.hidden import find_hidden, find_line_ends
from reviewbot.text.plain import listed
from reviewbot.text.secrets import find_secrets

SYNTAX = "syntax"
# How sure an error is in a file that could be read before.
SYNTAX_LANGUAGES: Mapping[str, Severity] = {
    **dict.fromkeys(("go", "java", "javascript", "jsx", "rust", "tsx", "typescript"), "critical"),
    **dict.fromkeys(("bash", "json", "php", "ruby", "yaml"), "high"),
    **dict.fromkeys(("csharp", "css", "kotlin", "scala", "swift"), "medium"),
}
# Languages that do not change. Other grammars may be older than a file, or lack its preprocessor.
SETTLED = ("json", "yaml")
# Files that programs read as JavaScript writes objects: with comments, and commas at the end.
LENIENT_JSON = re.compile(
    r"(?:^|/)(?:[^/]*\.(?:jsonc|json5)|[jt]sconfig[^/]*\.json|\.eslintrc\.json|devcontainer\.json"
    r"|\.vscode/[^/]*)\Z"
)
COMMENT = re.compile(r"^[ \t]*//", re.MULTILINE)  # a program that takes these takes commas as well
MISSING = re.compile(r"ERROR|\w*identifier|name|number|integer_value")  # kinds of nodes
TEMPLATE = re.compile(r"(?<!\$)\{\{-?\s*[\w.$#/]|\{%")  # of Helm or Jinja; `${{ a }}` is a value
MAX_PARSED, MAX_LINE = 400_000, 20_000  # characters; a longer line is generated
MAX_ERRORS, MAX_DEPTH, MAX_SIGNS = 20, 500, 10_000_000  # of a file; of brackets; a sum


def run_scans(change: Change, project: Project, off: Collection[str] = ()) -> tuple[CheckRun, ...]:
    """All scans that are not `off`, over the added lines at head, and the syntax of both sides."""
    files = [file for file in change.files if file.mode != "000000"]
    paths = tuple(file.path for file in files if not file.is_binary)
    found = {name: [f for file in files for f in scan(file)] for name, scan in SCANS.items()}
    found["file-names"] += find_twins(files, project.head_files)
    runs = [_scanned(name, "head", paths, found[name]) for name in SCANS]
    return tuple(run for run in (*runs, *check_syntax(change, project)) if run.check not in off)


def _scanned(name: str, side: Side, paths: tuple[str, ...], said: Iterable[Diagnostic]) -> CheckRun:
    report = Report(diagnostics=tuple(said))
    return CheckRun(check=name, kind="scan", side=side, outcome="ended", files=paths, report=report)


def scan_secrets(file: ChangedFile) -> Iterator[Diagnostic]:
    """Only the kind of a secret is reported, never its text."""
    for start, text in _added_blocks(file):
        for secret in find_secrets(text):
            line = start + text.count("\n", 0, secret.start)
            message = f"A secret is committed: {secret.name}"
            yield _found(f"secret-{secret.name}", message, file.path, line)
    for secret in find_secrets(file.path):
        message = f"The name of a file contains a secret: {secret.name}"
        yield _found(f"secret-{secret.name}", message)


def scan_hidden_characters(file: ChangedFile) -> Iterator[Diagnostic]:
    """Text that a reader does not see, or sees in another order (CVE-2021-42574)."""
    is_html = language_of(file.path) == "html"  # emails are padded so that their preview ends
    is_prose = is_html or classify(file.path) in ("documentation", "data", "fixture")
    for number, text in file.added.items():
        kinds: dict[str, list[str]] = {}
        for hidden in find_hidden(text.removesuffix("\r")):
            if hidden.kind != "control" or hidden.codepoint not in WHITE_SPACE:
                kinds.setdefault(hidden.kind, []).append(hidden.name)
        for kind, names in kinds.items():
            rule, message = f"hidden-{kind.replace('_', '-')}", f"Hidden text: {listed(names)}"
            found = _found(rule, message, file.path, number)
            is_padding = is_html and kind == "zero_width" and "VARIATION" not in " ".join(names)
            is_usual = kind in ("control", "filler") or all(n.endswith(" MARK") for n in names)
            yield replace(found, severity="low") if is_padding or (is_usual and is_prose) else found


def scan_line_ends(file: ChangedFile) -> Iterator[Diagnostic]:
    """Code on what git and a reviewer see as one line of a comment."""
    for start, text in _added_blocks(file):
        before = min(start - 1, 2)  # the first two lines may declare an encoding
        for line, message in find_line_ends(file.path, "\n" * before + text):
            yield _found("hidden-line-end", message, file.path, start + line - 1 - before)


def scan_conflict_markers(file: ChangedFile) -> Iterator[Diagnostic]:
    """Whole conflicts: a row of equal signs alone underlines a heading."""
    marks: list[tuple[int, str]] = []
    for number, text in file.added.items():
        if MARKER.match(text) and not (text[0] == "=" and marks and marks[-1][1] == "="):
            marks.append((number, text[0]))
            if "".join(mark for _, mark in marks[-3:]) == "<=>":
                message = "An unresolved merge conflict is in the file"
                yield _found("conflict-marker", message, file.path, marks[-3][0], number)


def scan_file_names(file: ChangedFile) -> Iterator[Diagnostic]:
    """A name that looks like another one, or like none."""
    if any(find_hidden(file.path)) or unicodedata.normalize("NFC", file.path) != file.path:
        message = "The name of a file contains hidden or decomposed characters"
        yield _found("hidden-file-name", message, file.path)
    # Of such a name, `decode_name` shows the bytes.
    if file.status in ("added", "renamed") and re.search(r"\\x[89a-f]", file.path):
        yield _found("file-name-encoding", "The name of a file is not UTF-8", file.path)


def find_twins(files: Sequence[ChangedFile], tree: Collection[str]) -> Iterator[Diagnostic]:
    """New names from which another name of the tree differs in its case alone."""
    new = {f.path.casefold(): f.path for f in files if f.status in ("added", "renamed")}
    for path in sorted({*tree, *(file.path for file in files)}) if new else ():
        if (twin := new.get(path.casefold(), path)) != path:
            message = f"The name of a file differs from {path} in its case alone"
            yield _found("file-name-twin", message, twin)


SCANS: Mapping[str, Callable[[ChangedFile], Iterator[Diagnostic]]] = {
    "secrets": scan_secrets,
    "hidden-characters": scan_hidden_characters,
    "line-ends": scan_line_ends,
    "conflict-markers": scan_conflict_markers,
    "file-names": scan_file_names,
}
MARKER = re.compile(r"(?:(?:<{7}|>{7})(?: .*)?|={7})\r?$")
CONSEQUENCES: Mapping[str, tuple[Severity, Category, str]] = {
    "secret": (
        *("critical", "security"),
        "Whoever reads the repository can use it. Revoke it: history keeps it.",
    ),
    "hidden": (
        *("high", "security"),
        "What is executed, or what a model reads, differs from what a reviewer sees.",
    ),
    "hidden-line-end": (
        *("high", "security"),
        "The language begins a new line there; git and most editors do not.",
    ),
    "conflict-marker": ("critical", "correctness", ""),
    "hidden-file-name": ("high", "security", "It can pass for another file."),
    "file-name-encoding": ("medium", "correctness", "Some systems and programs cannot read it."),
    "file-name-twin": ("medium", "correctness", "macOS and Windows keep one of the two files."),
}
# A form feed separates sections of Lisp, C and Python files; line ends have a scan of their own.
WHITE_SPACE = frozenset({0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029})


def _added_blocks(file: ChangedFile) -> Iterator[tuple[int, str]]:
    """Runs of added lines: a private key has several. The number is that of the first line."""
    # In a run of consecutive numbers, they grow like the count of lines.
    numbered = enumerate(file.added.items())
    for _, block in groupby(numbered, key=lambda entry: entry[1][0] - entry[0]):
        lines = [line for _, line in block]
        yield lines[0][0], "\n".join(text for _, text in lines)


def _found(rule: str, message: str, path: str = "", line: int = 0, end: int = 0) -> Diagnostic:
    """What is not in CONSEQUENCES is a `secret-…` or `hidden-…`."""
    why = rule if rule in CONSEQUENCES else rule.partition("-")[0]
    severity, category, consequence = CONSEQUENCES[why]
    return Diagnostic(
        rule=rule,
        message=message,
        severity=severity,
        location=Location(path, line, max(line, end)) if path else None,
        category=category,
        consequence=consequence,
    )


def check_syntax(change: Change, project: Project) -> tuple[CheckRun, ...]:
    """Parse both sides of each changed file whose language is known, but Python: ruff does."""
    base, head = _parse(change, "base", project), _parse(change, "head", project)
    wrong = base.report.paths
    old = {file.path: file.old_path for file in change.files if file.old_path in base.files}
    added = {file.path: file.added_lines for file in change.files}
    diagnostics = []
    for found in head.report.diagnostics:
        assert found.location
        path, line, end = found.location.path, found.location.line, found.location.end_line
        if path in old and old[path] not in wrong:
            # What cannot be read begins at, or above, what is wrong.
            line = min(added[path].intersection(range(line, end + 1)), default=line)
        elif grammar_of(path) not in SETTLED:
            # The grammar may be older than a file that it could not read before, or that is new.
            most: Severity = "medium" if path in old else "high"
            found = replace(found, severity=min(most, found.severity, key=RANK.__getitem__))
        diagnostics.append(replace(found, location=Location(path, line, line)))
    return base, replace(head, report=Report(diagnostics=tuple(diagnostics)))


def _parse(change: Change, side: Side, project: Project) -> CheckRun:
    texts = project.texts(side)
    paths = tuple(
        path
        for file in change.files
        if (path := file.path_at(side)) in texts
        if classify(path) != "fixture" and grammar_of(path)
        if len(texts[path]) <= MAX_PARSED and not is_slow_to_parse(texts[path])
        if all(len(line) <= MAX_LINE for line in texts[path].split("\n"))
    )
    errors = (islice(find_syntax_errors(path, texts[path]), MAX_ERRORS) for path in paths)
    return _scanned(SYNTAX, side, paths, chain.from_iterable(errors))


def is_slow_to_parse(text: str) -> bool:
    """Whether too much is open at once, or runs of signs are too long: their squares count."""
    steps = (1 if c in "([{" else -1 for c in re.findall(r"[()\[\]{}]", text))
    depths = accumulate(steps, lambda depth, step: max(depth + step, 0), initial=0)
    signs = sum(len(run) ** 2 for run in re.split(r"\w+", re.sub(r"\s+", "", text)))
    is_indented = re.search("(?m)^[-?: ]{200}", text) is not None  # YAML's grammar aborts at 260
    deepest = max(*depths, text.count("/*") - text.count("*/"))
    return is_indented or signs > MAX_SIGNS or deepest > MAX_DEPTH


def grammar_of(path: str) -> str | None:
    """What ast-grep calls the language of a file, if its grammar is reliable."""
    language = path[-3:] if path.endswith((".tsx", ".jsx")) else language_of(path)
    if language == "shell" and not path.endswith((".zsh", ".zshrc", ".ksh")):
        language = "bash"
    return language if language in SYNTAX_LANGUAGES else None


def find_syntax_errors(path: str, text: str) -> Iterator[Diagnostic]:
    """What the grammar cannot read, and tokens that it had to add, such as a closing bracket."""
    from ast_grep_py import SgRoot

    language = grammar_of(path) or ""
    if language == "json":
        with suppress(ValueError, RecursionError):
            json.loads(text)  # the grammar refuses numbers such as 1e+22
            return
    # The grammar of JavaScript refuses `<p class="x">`, which that of TypeScript reads.
    grammar = "tsx" if language == "jsx" or path.endswith(".js") else language
    readings: list[tuple[str, Callable[[str], str]]]
    readings = [(grammar, str), (grammar, partial(_in_older_syntax, grammar))]
    if language == "json" and (LENIENT_JSON.search(path) or COMMENT.search(text)):
        readings.append(("javascript", "({}\n)".format))
    wrong = []
    for name, read in readings:
        nodes = SgRoot(read(text), name).root().find_all(any=[{"kind": "ERROR"}, {"regex": "^$"}])
        # Some named nodes have no text where nothing is missing, such as an empty here document.
        errors = [n for n in nodes if not n.is_named() or MISSING.fullmatch(n.kind())]
        if not errors or (language in SETTLED and TEMPLATE.search(text)):
            return
        wrong.append(errors)
    last = text.rstrip("\n").count("\n") + 1  # what is missing is after it
    for node in min(wrong, key=len):
        line, end = (min(at.line + 1, last) for at in (node.range().start, node.range().end))
        wanted = "" if node.kind() == "ERROR" else f": {node.kind()} is missing"
        yield Diagnostic(
            rule="syntax-error",
            message=f"Syntax error{wanted}",
            severity=SYNTAX_LANGUAGES[language],
            location=Location(path, line, end),
            consequence="The file cannot be parsed.",
        )


def _in_older_syntax(grammar: str, text: str) -> str:
    """A text with what the grammar reads instead of what it does not know, on the same lines."""
    for line in Path(__file__).with_name("newer_syntax.txt").read_text("utf-8").splitlines():
        grammars, _, rule = line.partition(" ")
        pattern, _, older = rule.rpartition("=>")
        if grammar in grammars.split(","):
            text = re.sub(f"(?m){pattern.strip()}", partial(_replaced, older.strip()), text)
    return text


def _replaced(older: str, match: re.Match[str]) -> str:
    new = match.expand(older)
    return new + "\n" * (match[0].count("\n") - new.count("\n"))
