"""Compares the public names of Python modules before and after, from their text alone.

Reads {path: old text} from /reviewbot/base.json, a list of documented names and modules from
documented.json, and from the folder in which it starts the new texts of the changed files, whose
paths are its arguments. What is not documented counts as internal (PEP 8): other names of a module
with documented ones, and all names of a module that is not mentioned where "import" says that the
package is. Prints a JSON list of `Diagnostic`, one a module: what breaks in it has mostly one
reason. The line is 0 for what is gone.
"""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import griffe

BASE = Path(__file__).with_name("base.json")
FILE = Path("module.py")
# A syntax error is reported by others.
UNREADABLE = (SyntaxError, ValueError, RecursionError, LookupError, AttributeError, OSError)
# Decorators that hand a function to a framework, which calls it: click, flask, fastapi, pytest.
FRAMEWORKS = {"command", "group", "route", "get", "post", "put", "delete", "patch", "fixture"}
# What callers have to change first comes first.
PARAMETERS = {
    "PARAMETER_REMOVED": "a parameter is removed",
    "PARAMETER_ADDED_REQUIRED": "callers must pass a parameter",
    "PARAMETER_CHANGED_REQUIRED": "callers must pass a parameter",
    "PARAMETER_CHANGED_KIND": "a parameter is passed in another way",
    "PARAMETER_MOVED": "parameters change places",
}
POSITIONAL = (griffe.ParameterKind.positional_only, griffe.ParameterKind.positional_or_keyword)


def main() -> None:
    base: dict[str, str] = json.loads(BASE.read_text("utf-8"))
    documented = set(json.loads(BASE.with_name("documented.json").read_text("utf-8")))
    found: list[dict[str, Any]] = []
    places: dict[str, str] = {}
    for path in sys.argv[1:]:
        with suppress(*UNREADABLE):
            names = definitions(visit("module", Path(path).read_text("utf-8")))
            names -= definitions(visit("module", base.get(path, "")))
            places |= dict.fromkeys(names, path)
    for path, old_text in base.items():
        with suppress(*UNREADABLE):
            module = path.removesuffix(".py").replace("/", ".")
            new = visit(module, Path(path).read_text("utf-8")) if Path(path).exists() else None
            if broken := list(compare(visit(module, old_text), new, places, documented)):
                found.append(diagnostic(path, broken))
    json.dump(found, sys.stdout)


def diagnostic(path: str, broken: list[dict[str, Any]]) -> dict[str, Any]:
    """What was removed comes first, and what was moved last."""
    first = min(broken, key=lambda i: (i["kind"] == "OBJECT_MOVED", i["kind"] != "OBJECT_REMOVED"))
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return {
        "rule": first["kind"].lower().replace("_", "-"),
        "message": f"Public API: {first['message']}{more}",
        "severity": "low" if first["kind"] == "OBJECT_MOVED" else "medium",
        "location": {"path": path, "line": first["line"], "end_line": first["line"]},
        "consequence": "Code that uses it fails.",
        "subjects": [item["subject"] for item in broken],
    }


def definitions(module: Any) -> set[str]:
    return {name for name, member in module.members.items() if not member.is_alias}


def compare(
    old: Any, new: Any, places: dict[str, str], documented: set[str]
) -> Iterator[dict[str, Any]]:
    """What breaks in a module; `new` is None if it is gone. `places`: which file defines a name."""
    module = old.path
    exports = {str(getattr(name, "name", name)) for name in old.exports or ()}
    is_mentioned = module.removeprefix("src.").removesuffix(".__init__") in documented
    is_internal = "import" in documented and not is_mentioned
    public = documented | exports if documented & definitions(old) or is_internal else None
    if new is None:
        names = {name for name in definitions(old) if not is_private(name)}
        names = names if public is None else names & public
        there = ", ".join(sorted({places.get(name, "") for name in names}))
        # As it is imported.
        said = f".{module}".rpartition(".src.")[2].removeprefix(".").removesuffix(".__init__")
        kind, message = "MODULE_REMOVED", f"module {said} is removed"
        if names <= places.keys():
            kind, message = "OBJECT_MOVED", f"module {said} moves to {there}"
        if names:
            yield {"line": 0, "kind": kind, "subject": [module], "message": message}
        return
    broken: dict[str, list[Any]] = {}
    for breakage in griffe.find_breaking_changes(old, new):
        broken.setdefault(breakage.obj.path[len(module) + 1 :], []).append(breakage)
    for name, breakages in broken.items():
        is_public = public is None or name.removesuffix(".__init__").rpartition(".")[2] in public
        # A variable is public only if the module says so. What an alias stands for is not known.
        changed = breakages[0].obj
        is_public &= changed.is_alias or not changed.is_attribute
        is_public |= name.partition(".")[0] in exports
        if is_private(name) or name.endswith("*") or not is_public:
            continue
        kind, parameters = breakages[0].kind.name, list[str]()
        before, after = find(old, name), find(new, name)
        is_variable = before and before.is_attribute and "property" not in before.labels
        decorators = [str(found.value) for found in getattr(before, "decorators", ())]
        calls = {text.partition("(")[0].rpartition(".")[2] for text in decorators}
        # Who uses what was deprecated was warned.
        if kind == "OBJECT_REMOVED" and before and "deprecat" in before.source.lower():
            continue
        if kind == "OBJECT_REMOVED" and not may_be_there(new, name):
            message = f"{name} is removed"
            if name in places:
                kind, message = "OBJECT_MOVED", f"{name} moves to {places[name]}"
        elif kind == "OBJECT_CHANGED_KIND" and before and not is_variable:
            message = f"{name} becomes something else"
        elif FRAMEWORKS.isdisjoint(calls) and (wrong := [*filter(is_of_parameter, breakages)]):
            kind = min((breakage.kind.name for breakage in wrong), key=[*PARAMETERS].index)
            of_kind = [breakage for breakage in wrong if breakage.kind.name == kind]
            parameters = [(item.new_value or item.old_value).name for item in of_kind]
            message = f"{name}: {PARAMETERS[kind]} ({', '.join(parameters)})"
        else:
            continue
        ends = [decorator.endlineno + 1 for decorator in getattr(after, "decorators", ())]
        yield {
            "line": max([after.lineno or 0, *ends]) if after else 0,
            "kind": kind,
            "subject": [name, *parameters],
            "message": message,
        }


def is_of_parameter(breakage: Any) -> bool:
    """Unless the function still takes the parameter, by another name: not one by its place."""
    if breakage.kind.name != "PARAMETER_REMOVED":
        return breakage.kind.name in PARAMETERS
    kind = breakage.old_value.kind
    taken = {parameter.kind for parameter in breakage.obj.parameters}
    if kind in POSITIONAL and not taken.isdisjoint(POSITIONAL):
        return True
    return (kind if "variadic" in kind.value else griffe.ParameterKind.var_keyword) not in taken


def visit(module: str, text: str) -> Any:
    """The module. Methods lack the first parameter, which callers do not pass."""
    lines = griffe.LinesCollection()
    lines[FILE] = text.split("\n")
    visited = griffe.visit(module, FILE, text, lines_collection=lines)
    owners: list[Any] = [visited]
    for owner in owners:
        for member in (each for each in owner.members.values() if not each.is_alias):
            if member.is_class:
                owners.append(member)
            elif member.is_function and owner.is_class and "staticmethod" not in member.labels:
                for first in (each for each in [*member.parameters][:1] if each.kind in POSITIONAL):
                    del member.parameters[first.name]
    return visited


def is_private(name: str) -> bool:
    return any(part.startswith("_") and part != "__init__" for part in name.split("."))


def may_be_there(module: Any, name: str) -> bool:
    """Whether a decorator, `__getattr__` or a class of another module may bring a name back."""
    owner, _, member = name.rpartition(".")
    if not owner:
        return "__getattr__" in module.members and f"'{name}'" in module.source.replace('"', "'")
    if member.startswith("__"):
        return True
    for base in getattr(find(module, owner), "bases", ()):
        known = str(base).partition("[")[0]
        there = find(module, known)
        if there is None and not hasattr(builtins, known):
            return True
        members = there.members if there else dir(getattr(builtins, known))
        if member in members or may_be_there(module, f"{known}.{member}"):
            return True
    return False


def find(module: Any, name: str) -> Any:
    """The object, unless it is an alias, which may lead to a module that is not here."""
    try:
        found = module[name]
    except (KeyError, griffe.AliasResolutionError):
        return None
    return None if found.is_alias else found


if __name__ == "__main__":
    main()
