"""Do the functions that a candidate alters do what they did? Each is compared with its older self by a search for arguments.

A private function may well do something else now: then those public ones are compared that use it.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.evidence import proof
from reviewbot.evidence.statements import parse
from reviewbot.evidence.view import CheckOptions, View, is_library
from reviewbot.ports import Experiment, Job, Outcome, Verification

_End = TypeVar("_End")
_Procedure = Generator[tuple[Job, ...], tuple[Outcome, ...], _End]

MOST = 6
"""Functions that are compared: each takes the time of a search [design]."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the comparison shows. ``differs``: in words, by function. ``same``: no difference was found in a bounded search.
    ``unknown``: those that cannot be compared, with the reason."""

    differs: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What was compared, and what was not."""
        alike = (f"no input was found on which {', '.join(self.same)} does something else",) if self.same else ()
        return (*alike, *(f"not compared: {one}" for one in self.unknown))


def conduct(view: View, options: CheckOptions) -> _Procedure[Kept]:
    """Compare what a change alters, its base with its head."""
    found = tuple(altered(view))
    compared = yield from side_by_side([_comparison(name, view, options) for name in found[:MOST]])
    differs: list[str] = []
    same: list[str] = []
    unknown = [f"{name}: it was not compared, there are too many" for name in found[MOST:]]
    for name, shown in zip(found, compared, strict=False):
        match shown.check.outcome:
            case CheckOutcome.FAILS_AT_HEAD:
                differs.append(f"{name} does something else than before: {shown.excerpt}")
            case CheckOutcome.NONE_FOUND:
                same.append(name)
            case _:
                unknown.append(f"{name}: {shown.excerpt}")
    return Kept(tuple(differs), tuple(same), tuple(unknown))


def altered(view: View) -> Iterator[str]:
    """The functions to compare, as ``path:name``: those of both ends that differ, or use something private or bound that does."""
    for file in view.python():
        contents = view.contents_of(file)
        if file.base_path is None or file.head_path is None or not is_library(file.path):
            continue
        older, newer = (_functions(data) for data in (contents.base, contents.head))
        changed = {name for name, node in newer.items() if name in older and ast.dump(older[name]) != ast.dump(node)}
        changed |= {name for name in newer.keys() ^ older.keys() if _is_private(name)}
        was, now = _bound(contents.base), _bound(contents.head)
        users = {user for name in was.keys() | now.keys() if was.get(name) != now.get(name) for user in _users(name, newer)}
        both = newer.keys() & older.keys()
        yield from (f"{file.path}:{name}" for name in _public(changed | users, newer, older) if name in both)


def _comparison(name: str, view: View, options: CheckOptions) -> _Procedure[Verification]:
    path = name.rpartition(":")[0]
    check = Check((), subject=name, kind=CheckKind.BEHAVIOUR)
    return proof.conduct(Experiment(name, check, path), view, options)


def _functions(data: bytes | None) -> Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Those of a module and of its classes, by name, without their descriptions; none of what is in a function."""
    tree = parse(data)
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    waiting: list[tuple[ast.Module | ast.ClassDef, str]] = [(tree, "")] if tree else []
    while waiting:
        owner, prefix = waiting.pop()
        for node in owner.body:
            if isinstance(node, ast.ClassDef):
                waiting.append((node, f"{prefix}{node.name}."))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{prefix}{node.name}"] = _undescribed(node)
    return found


def _bound(data: bytes | None) -> Mapping[str, str]:
    """What a module's variables are given, by name."""
    tree = parse(data)
    return {
        target.id: ast.dump(node)
        for node in (tree.body if tree else ())
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def _undescribed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef:
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]
    return node


def _public(
    changed: set[str],
    newer: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef],
    older: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef],
) -> Iterator[str]:
    """The changed functions that others may call, and for each private one those that use it, by way of others too; a private one
    that nobody here uses stands for itself."""
    found: dict[str, None] = {}
    for name in sorted(changed):
        if not _is_private(name):
            found[name] = None
            continue
        users = _users(name, newer) | _users(name, older)
        found |= dict.fromkeys(sorted(user for user in users if not _is_private(user)) or [name])
    yield from found


def _users(name: str, functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> set[str]:
    mentioned = {other: _mentions(node) for other, node in functions.items()}
    found, waiting = {name}, [name]
    while waiting:
        last = waiting.pop().rpartition(".")[2]
        further = {other for other, words in mentioned.items() if last in words} - found
        found |= further
        waiting += further
    return found - {name}


def _mentions(node: ast.AST) -> frozenset[str]:
    names = (inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", "") for inner in ast.walk(node))
    return frozenset(names)


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def side_by_side(procedures: Sequence[_Procedure[_End]]) -> _Procedure[tuple[_End, ...]]:
    """Several procedures as one, whose jobs are run together. What they return, in their order."""
    ended: dict[int, _End] = {}
    waiting: dict[int, tuple[Job, ...]] = {}
    answers: dict[int, tuple[Outcome, ...] | None] = dict.fromkeys(range(len(procedures)))
    while answers or waiting:
        for index, answer in answers.items():
            try:
                waiting[index] = next(procedures[index]) if answer is None else procedures[index].send(answer)
            except StopIteration as end:
                ended[index] = end.value
        answers = {}
        if waiting:
            outcomes = iter((yield tuple(job for jobs in waiting.values() for job in jobs)))
            answers = {index: tuple(next(outcomes) for _ in jobs) for index, jobs in waiting.items()}
            waiting = {}
    return tuple(ended[index] for index in range(len(procedures)))
