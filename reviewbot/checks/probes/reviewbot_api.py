"""Compares the public names of Python modules before and after, from their text alone.

Reads {path: old text} from /reviewbot/base.json and the new texts from the folder in which it
starts. Prints a JSON list of {path, line, kind, name, message}. `line` is 0 for what is gone.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import griffe

BASE = Path(__file__).with_name("base.json")
# A syntax error is reported by others.
UNREADABLE = (SyntaxError, ValueError, RecursionError, LookupError, AttributeError, OSError)
BREAKING = {
    "OBJECT_REMOVED": "{name} is removed",
    "PARAMETER_REMOVED": "{name}: a parameter is removed",
    "PARAMETER_ADDED_REQUIRED": "{name}: a parameter is added that callers must pass",
    "PARAMETER_CHANGED_REQUIRED": "{name}: a parameter must now be passed",
    "PARAMETER_CHANGED_KIND": "{name}: a parameter is passed in another way",
    "PARAMETER_MOVED": "{name}: parameters change places",
    "OBJECT_CHANGED_KIND": "{name} becomes something else",
    "CLASS_REMOVED_BASE": "{name}: a base class is removed",
}


def main() -> None:
    base: dict[str, str] = json.loads(BASE.read_text("utf-8"))
    found: list[dict[str, Any]] = []
    places: dict[str, str] = {}
    for path in Path().rglob("*.py"):  # only changed files are here
        with suppress(*UNREADABLE):
            places |= dict.fromkeys(
                definitions(visit("module", path.read_text("utf-8"))), str(path)
            )
    for name, old in base.items():
        with suppress(*UNREADABLE):
            found += compare(name, old, places)
    json.dump(found, sys.stdout)


def definitions(module: Any) -> list[str]:
    return [name for name, member in module.members.items() if not member.is_alias]


def compare(path: str, old_text: str, places: dict[str, str]) -> Iterator[dict[str, Any]]:
    """What breaks in a module. `places` says where the changed files define a name."""
    module = path.removesuffix(".py").replace("/", ".")
    old = visit(module, old_text)
    if not Path(path).exists():
        if not all(map(is_private, definitions(old))):
            kind, message = "MODULE_REMOVED", f"module {module} is removed"
            yield {"path": path, "line": 0, "kind": kind, "name": module, "message": message}
        return
    new_text = Path(path).read_text("utf-8")
    new = visit(module, new_text)
    exports = {str(getattr(name, "name", name)) for name in old.exports or ()}
    for breakage in griffe.find_breaking_changes(old, new):
        name = breakage.obj.path[len(module) + 1 :]
        top = name.partition(".")[0]
        if breakage.kind.name not in BREAKING or is_private(name):
            continue
        if breakage.obj.is_attribute and top not in exports:
            continue  # a variable is public only if the module says so
        if is_harmless(breakage, new, new_text, name) or has_only_a_place(breakage, old, new, name):
            continue
        there = find(new, name)
        kind = breakage.kind.name
        message = BREAKING[kind].format(name=name) + detail(breakage)
        if kind == "OBJECT_REMOVED" and name in places:
            kind, message = "OBJECT_MOVED", f"{name} moves to {places[name]}"
        yield {
            "path": path,
            "line": definition(new_text, there) if there else 0,
            "kind": kind,
            "name": name,
            "message": message,
        }


def visit(module: str, text: str) -> Any:
    return griffe.visit(module, Path("module.py"), text)


def is_private(name: str) -> bool:
    return any(part.startswith("_") and part != "__init__" for part in name.split("."))


def is_harmless(breakage: Any, new: Any, new_text: str, name: str) -> bool:
    kind = breakage.kind.name
    if kind == "OBJECT_REMOVED" and name.rpartition(".")[2].startswith("__"):
        return True  # a decorator or a base class may bring the method
    if kind == "OBJECT_REMOVED":
        # A module that answers for names itself has them in a table or a branch.
        owner, _, member = name.rpartition(".")
        if owner and inherits(new, find(new, owner), member):
            return True
        words = {n.value for n in ast.walk(ast.parse(new_text)) if isinstance(n, ast.Constant)}
        return "__getattr__" in new.members and name in words
    if kind == "CLASS_REMOVED_BASE":
        return gone_bases(breakage) <= {"object", "Generic", "Protocol"}
    function = find(new, name)
    kinds = {str(getattr(p.kind, "value", p.kind)) for p in getattr(function, "parameters", ())}
    # A parameter that is still accepted by its name is not removed.
    return kind == "PARAMETER_REMOVED" and "variadic keyword" in kinds


def has_only_a_place(breakage: Any, old: Any, new: Any, name: str) -> bool:
    """Whether it is about a parameter that callers pass by its place, before and after.

    Its name does not matter then. One more or less does.
    """
    if not breakage.kind.name.startswith("PARAMETER"):
        return False
    before, after = names_by_place(find(old, name)), names_by_place(find(new, name))
    named = {getattr(value, "name", "") for value in (breakage.old_value, breakage.new_value)}
    return len(before) == len(after) and bool(named & {*before, *after})


def names_by_place(function: Any) -> list[str]:
    """Nobody passes `self` by its name, nor `__x`, which was positional-only before Python 3.8."""
    names: list[str] = []
    for parameter in getattr(function, "parameters", ()):
        is_self = not names and function.parent.is_class and "staticmethod" not in function.labels
        is_hidden = parameter.name.startswith("__") and not parameter.name.endswith("__")
        kind = str(getattr(parameter.kind, "value", parameter.kind))
        if not (is_self or is_hidden or kind == "positional-only"):
            break
        names.append(parameter.name)
    return names


def inherits(module: Any, found: Any, member: str) -> bool:
    """Whether a class of the module has a member from another class of the module."""
    bases = [find(module, str(base).partition("[")[0]) for base in getattr(found, "bases", ())]
    return any(
        base is not None and (member in base.members or inherits(module, base, member))
        for base in bases
    )


def gone_bases(breakage: Any) -> set[str]:
    """Names of base classes; their parameters are types, which mean nothing when the code runs."""
    old, new = (
        {str(base).partition("[")[0].rpartition(".")[2] for base in bases or ()}
        for bases in (breakage.old_value, breakage.new_value)
    )
    return old - new


def detail(breakage: Any) -> str:
    if not breakage.kind.name.startswith("PARAMETER"):
        return ""
    value = breakage.old_value if breakage.old_value is not None else breakage.new_value
    parameter = getattr(value, "name", None) or getattr(breakage.new_value, "name", None)
    return f" ({parameter})" if parameter else ""


def find(module: Any, name: str) -> Any:
    """The object, unless it is an alias that leads nowhere."""
    try:
        found = module[name]
    except KeyError:
        return None
    return None if found.is_alias else found


def definition(text: str, found: Any) -> int:
    """The line of `def` or `class` below the decorators."""
    lines = text.split("\n")
    start: int = found.lineno or 0
    for number in range(start, min(found.endlineno or start, len(lines)) + 1):
        if lines[number - 1].lstrip().startswith(("def ", "async def ", "class ")):
            return number
    return start


if __name__ == "__main__":
    main()
