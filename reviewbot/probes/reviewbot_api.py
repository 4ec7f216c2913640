"""Compares the public names of Python modules before and after, from their text alone: nothing is imported or run.

Reads JSON from standard input: ``{"modules": [{"path": "a/b.py", "name": "a.b", "old": source, "new": source}]}``; writes
``{"breakages": [{"path", "name", "kind", "old_line", "new_line", "explanation", "exported"}], "failed": [path…]}``.
``new_line`` is 0 for what is gone; ``exported`` says that the module's ``__all__`` names it. Plain variables count only then.
A name that is gone and stands as a string in a module with a ``__getattr__`` of its own is left out: the module answers for it.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

LOUD = {
    "OBJECT_REMOVED",
    "PARAMETER_REMOVED",
    "PARAMETER_ADDED_REQUIRED",
    "PARAMETER_CHANGED_REQUIRED",
    "PARAMETER_CHANGED_KIND",
    "PARAMETER_MOVED",
    "OBJECT_CHANGED_KIND",
    "CLASS_REMOVED_BASE",
}


def main() -> None:
    answer: dict[str, list[Any]] = {"breakages": [], "failed": []}
    for module in json.load(sys.stdin)["modules"]:
        try:
            answer["breakages"] += list(compare(module))
        except (SyntaxError, ValueError, RecursionError, KeyError, AttributeError, griffe.GriffeError):
            answer["failed"].append(module["path"])
    json.dump(answer, sys.stdout)


def compare(module: dict[str, str]) -> Iterator[dict[str, Any]]:
    old, new = visit(module["name"], module["old"]), visit(module["name"], module["new"])
    for breakage in griffe.find_breaking_changes(old, new):
        if breakage.kind.name in LOUD and not is_answered(breakage, new, module["new"]):
            answer = told(module, breakage, old=old, new=new)
            if answer["exported"] or not breakage.obj.is_attribute:
                yield answer


def visit(name: str, source: str) -> Any:
    """The module as its text says; a folder of no use stands for its file."""
    return griffe.visit(name, Path(tempfile.gettempdir()) / "module.py", source)


def is_answered(breakage: Any, new: Any, source: str) -> bool:
    """Whether an import of what is gone comes to a ``__getattr__`` of the module, which has the name in a table or a branch."""
    gone = breakage.obj
    if breakage.kind.name != "OBJECT_REMOVED" or not gone.parent.is_module or "__getattr__" not in new.members:
        return False
    return any(isinstance(node, ast.Constant) and node.value == gone.name for node in ast.walk(ast.parse(source)))


def told(module: dict[str, str], breakage: Any, *, old: Any, new: Any) -> dict[str, Any]:
    path = breakage.obj.path
    name = path[len(module["name"]) + 1 :]
    here, there = find(old, name), find(new, name)
    exports = {str(getattr(item, "name", item)) for item in (old.exports or ())}
    return {
        "path": module["path"],
        "name": name,
        "kind": breakage.kind.name,
        "old_line": (here.lineno or 0) if here else 0,
        "new_line": definition(module["new"], there) if there else 0,
        "explanation": explained(breakage),
        "exported": name.partition(".")[0] in exports,
    }


def find(module: Any, name: str) -> Any:
    """The object, unless it is an alias that leads nowhere."""
    try:
        found = module[name] if name else module
    except KeyError:
        return None
    return None if found.is_alias else found


def definition(source: str, found: Any) -> int:
    """The line of ``def`` or ``class`` below the decorators."""
    lines = source.split("\n")
    start: int = found.lineno or 0
    for number in range(start, min(found.endlineno or start, len(lines)) + 1):
        if lines[number - 1].lstrip().startswith(("def ", "async def ", "class ")):
            return number
    return start


def explained(breakage: Any) -> str:
    old = getattr(breakage.old_value, "name", breakage.old_value)
    new = getattr(breakage.new_value, "name", breakage.new_value)
    return str(breakage.kind.value) + ": " + " -> ".join(str(value) for value in (old, new) if value is not None)


if __name__ == "__main__":
    main()
