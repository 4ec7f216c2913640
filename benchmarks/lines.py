"""Whether a broken test is reported at the line that breaks it, among others that are harmless.

    ./dev bench lines FOLDER [COUNT]

FOLDER is a clone with the environment of its tests in `.venv`; its files and branches stay as they
are. On top of HEAD, COUNT changes (20 by default) are made of lines of Python code that is no test:
one gets a defect, and up to 24 others, half of them near it and none beside it, are written in
another way. Prints a line a change, with tabs between its fields: whether broken tests are reported
at the defect (`exact`), there and elsewhere (`among others`), only elsewhere (`elsewhere`), or not
at all (`unnoticed`); the defect; and the places. Then to standard error the sums.
"""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import BIN, environment
from reviewbot.text.files import classify

COUNT, OTHERS = 20, 24
NEAR = 60  # lines
OPPOSITE: dict[type[ast.AST], str] = {
    **{ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">", ast.Eq: "!=", ast.NotEq: "=="},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
    **{ast.Add: "-", ast.Sub: "+"},
}


class Edit(NamedTuple):
    path: str
    line: int
    text: str  # of the line afterwards


def main(folder: Path, count: int = COUNT) -> int:
    listed = git(folder, "ls-files", "*.py").splitlines()
    sources = [path for path in listed if classify(path) == "source"]
    texts = {path: git(folder, "show", f"HEAD:{path}") for path in sources}
    defects = [edit for path in sources for edit in edits(path, texts[path], are_defects=True)]
    harmless = [edit for path in sources for edit in edits(path, texts[path], are_defects=False)]
    choice, sums = random.Random(folder.resolve().name), Counter[str]()
    with tempfile.TemporaryDirectory() as state:
        for _ in range(count if defects else 0):
            defect = choice.choice(defects)
            apart = [e for e in harmless if abs(e.line - defect.line) > 1 or e.path != defect.path]
            near = [e for e in apart if e.path == defect.path and abs(e.line - defect.line) < NEAR]
            others = [
                edit
                for pool in (near, apart)
                for edit in choice.choices(pool or apart, k=OTHERS // 2)
            ]
            commit = commit_of(folder, texts, [*others, defect])
            command = (BIN / "reviewbot", "review", commit, "--format", "json", "--state", state)
            printed = subprocess.run(command, cwd=folder, capture_output=True, env=environment())
            found = list(places(json.loads(printed.stdout))) if printed.stdout else []
            place = f"{defect.path}:{defect.line}"
            word = "among others" if found[1:] else "exact"
            word = word if place in found else "elsewhere" if found else "unnoticed"
            sums[word] += 1
            print(word, place, defect.text.strip(), *found, sep="\t", flush=True)
    print(", ".join(f"{number} {word}" for word, number in sums.most_common()), file=sys.stderr)
    return 0


def edits(path: str, text: str, *, are_defects: bool) -> Iterator[Edit]:
    """What can be changed within one line of a function, by its syntax tree."""
    lines = text.split("\n")
    functions = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef))
    nodes = {node for function in functions for node in ast.walk(function)}
    for node in sorted(nodes, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0))):
        for start, end, new in replacements(node) if are_defects else rewritings(node):
            if start[0] == end[0]:
                raw = lines[start[0] - 1].encode()
                shown = new.replace("…", raw[start[1] : end[1]].decode())
                changed = raw[: start[1]] + shown.encode() + raw[end[1] :]
                yield Edit(path, start[0], changed.decode())


Span = tuple[tuple[int, int], tuple[int, int], str]  # from and to a line and a byte, and what for


def replacements(node: ast.AST) -> Iterator[Span]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        yield (*between(node.left, node.comparators[0]), f" {OPPOSITE[type(node.ops[0])]} ")
    if isinstance(node, ast.BinOp) and type(node.op) in OPPOSITE:
        yield (*between(node.left, node.right), f" {OPPOSITE[type(node.op)]} ")
    if isinstance(node, ast.If):
        yield (*span(node.test), "not (…)")
    if isinstance(node, ast.Return) and node.value:
        yield (*span(node.value), "None")


def rewritings(node: ast.AST) -> Iterator[Span]:
    if isinstance(node, ast.If):
        yield (*span(node.test), "bool(…)")
    if isinstance(node, ast.Return | ast.Assign) and node.value:
        yield (*span(node.value), "(…)")


def span(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def between(left: ast.expr, right: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return span(left)[1], span(right)[0]


def commit_of(folder: Path, texts: dict[str, str], made: Sequence[Edit]) -> str:
    """A commit on HEAD, made in an index of its own."""
    with tempfile.TemporaryDirectory() as index:
        git(folder, "read-tree", "HEAD", index=index)
        for path in {edit.path for edit in made}:
            lines = texts[path].split("\n")
            for edit in made:  # of two of a line, the last
                if edit.path == path:
                    lines[edit.line - 1] = edit.text
            blob = git(folder, "hash-object", "-w", "--stdin", index=index, text="\n".join(lines))
            entry = f"100644,{blob.strip()},{path}"
            git(folder, "update-index", "--cacheinfo", entry, index=index)
        tree = git(folder, "write-tree", index=index).strip()
    return git(folder, "commit-tree", tree, "-p", "HEAD", "-m", "Change lines").strip()


def git(folder: Path, *arguments: str, index: str = "", text: str = "") -> str:
    variables = os.environ | {"GIT_INDEX_FILE": f"{index}/index"} if index else os.environ
    command = ("git", "-c", "user.name=Bench", "-c", "user.email=bench@example.org", *arguments)
    options = {"capture_output": True, "check": True, "text": True}
    return subprocess.run(command, cwd=folder, env=variables, input=text, **options).stdout


def places(review: dict[str, list[dict[str, dict[str, object]]]]) -> Iterator[str]:
    for finding in review["findings"]:
        if finding["result"] and finding["result"]["kind"] == "broken_test" and finding["location"]:
            yield f"{finding['location']['path']}:{finding['location']['line']}"
