"""Compares the public names of Python modules before and after, from their text alone.

Reads {path: old text} from /reviewbot/base.json, a list of documented names and modules from
documented.json, and from the folder in which it starts the new texts of the changed files, whose
paths are its arguments. What is not documented counts as internal (PEP 8): other names of a module
with documented ones, and all names of a module that is not mentioned where "import" says that the
package is. Prints a JSON list of {path, line, kind, name, message, parameters}. `line` is 0 for
what is gone.
"""

from __future__ import annotations

import ast
import importlib
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
    "PARAMETER_ADDED_BEFORE": "{name}: a parameter is added before others",
    "PARAMETER_RENAMED": "{name}: a parameter is renamed",
    "OBJECT_CHANGED_KIND": "{name} becomes something else",
    "CLASS_REMOVED_BASE": "{name}: a base class is removed",
}
# Modules of Python that do something when they are imported.
NOISY = frozenset({"antigravity", "idlelib", "test", "this", "turtledemo"})
# Decorators that hand a function to a framework, which calls it: click, flask, fastapi, pytest.
FRAMEWORKS = frozenset(
    {"command", "group", "route", "get", "post", "put", "delete", "patch", "fixture"}
)


def main() -> None:
    base: dict[str, str] = json.loads(BASE.read_text("utf-8"))
    documented = set(json.loads(BASE.with_name("documented.json").read_text("utf-8")))
    found: list[dict[str, Any]] = []
    places: dict[str, str] = {}
    for path in sys.argv[1:]:
        with suppress(*UNREADABLE):
            names = definitions(visit("module", Path(path).read_text("utf-8")))
            places |= dict.fromkeys(names, path)
    for name, old in base.items():
        with suppress(*UNREADABLE):
            found += compare(name, old, places, documented)
    json.dump(found, sys.stdout)


def definitions(module: Any) -> list[str]:
    return [name for name, member in module.members.items() if not member.is_alias]


def compare(
    path: str, old_text: str, places: dict[str, str], documented: set[str]
) -> Iterator[dict[str, Any]]:
    """What breaks in a module. `places` says where the changed files define a name."""
    module = path.removesuffix(".py").replace("/", ".")
    old = visit(module, old_text)
    exports = {str(getattr(name, "name", name)) for name in old.exports or ()}
    is_mentioned = module.removeprefix("src.").removesuffix(".__init__") in documented
    is_internal = "import" in documented and not is_mentioned
    if documented & {*definitions(old)} or is_internal:
        public: set[str] | None = documented | exports
    else:
        public = None
    if not Path(path).exists():
        names = {name for name in definitions(old) if not is_private(name)}
        names = names if public is None else names & public
        kind, message = "MODULE_REMOVED", f"module {module} is removed"
        if names <= places.keys():
            there = ", ".join(sorted({places[name] for name in names}))
            kind, message = "OBJECT_MOVED", f"module {module} moves to {there}"
        if names and not (kind == "OBJECT_MOVED" and names <= exported_beside(path)):
            yield {"path": path, "line": 0, "kind": kind, "name": module, "message": message}
        return
    new_text = Path(path).read_text("utf-8")
    new = visit(module, new_text)
    said: set[str] = set()
    deleted = deleted_names(old_text)
    for breakage in griffe.find_breaking_changes(old, new):
        name = breakage.obj.path[len(module) + 1 :]
        top = name.partition(".")[0]
        if breakage.kind.name not in BREAKING or is_private(name) or name.endswith("*"):
            continue
        if top in deleted:
            continue
        own = name.removesuffix(".__init__").rpartition(".")[2]
        if public is not None and own not in public and top not in exports:
            continue
        # A variable is public only if the module says so. What an alias stands for is not known.
        if not breakage.obj.is_alias and breakage.obj.is_attribute and top not in exports:
            continue
        if is_harmless(breakage, old, new, new_text, name):
            continue
        if breakage.kind.name == "OBJECT_REMOVED" and "deprecat" in source_of(old, old_text, name):
            continue  # who uses it was warned
        if has_only_a_place(breakage, old, new, name):
            continue
        there = find(new, name)
        kind, parameters = breakage.kind.name, ""
        if kind.startswith("PARAMETER"):
            kind, parameters = parameter_change(breakage, find(old, name), there)
        if not kind:
            continue
        message = BREAKING[kind].format(name=name) + (parameters and f" ({parameters})")
        if kind == "OBJECT_REMOVED" and name in places:
            kind, message = "OBJECT_MOVED", f"{name} moves to {places[name]}"
        if message in said:
            continue
        said.add(message)
        yield {
            "path": path,
            "line": definition(new_text, there) if there else 0,
            "kind": kind,
            "name": name,
            "message": message,
            "parameters": parameters.replace(" to ", ", ").split(", "),
        }


def source_of(module: Any, text: str, name: str) -> str:
    """What defines a name, with its decorators, in lower case."""
    found = find(module, name)
    if found is None or found.lineno is None:
        return ""
    return "\n".join(text.split("\n")[found.lineno - 1 : found.endlineno]).lower()


def deleted_names(text: str) -> set[str]:
    """Names that a module itself deletes at the end."""
    deletions = (node for node in ast.parse(text).body if isinstance(node, ast.Delete))
    targets = (target for node in deletions for target in node.targets)
    return {target.id for target in targets if isinstance(target, ast.Name)}


def exported_beside(path: str) -> set[str]:
    """Names that the package of a module imports, if it changes as well: callers use those."""
    package = Path(path).with_name("__init__.py")
    if not package.exists():
        return set()
    members = visit("package", package.read_text("utf-8")).members
    return {name for name, member in members.items() if member.is_alias}


def visit(module: str, text: str) -> Any:
    """The module. Methods lack the first parameter, which callers do not pass."""
    visited = griffe.visit(module, Path("module.py"), text)
    owners: list[Any] = [visited]
    for owner in owners:
        for member in owner.members.values():
            if member.is_alias:
                continue
            if member.is_class:
                owners.append(member)
            elif member.is_function and owner.is_class and "staticmethod" not in member.labels:
                for first in positional(member)[:1]:
                    del member.parameters[first]
    return visited


def is_private(name: str) -> bool:
    return any(part.startswith("_") and part != "__init__" for part in name.split("."))


def is_harmless(breakage: Any, old: Any, new: Any, new_text: str, name: str) -> bool:
    kind = breakage.kind.name
    if kind == "OBJECT_REMOVED" and name.rpartition(".")[2].startswith("__"):
        return True  # a decorator or a base class may bring the method
    if kind == "OBJECT_REMOVED":
        # A module that answers for names itself has them in a table or a branch.
        owner, _, member = name.rpartition(".")
        if owner and any(may_have(base, member) for base in ancestors(new, find(new, owner))):
            return True
        words = {n.value for n in ast.walk(ast.parse(new_text)) if isinstance(n, ast.Constant)}
        return "__getattr__" in new.members and name in words
    if kind == "CLASS_REMOVED_BASE":
        old_bases, new_bases = base_names(breakage.old_value), base_names(breakage.new_value)
        bases = list(ancestors(new, find(new, name)))
        if None in bases and new_bases - old_bases:
            return True  # one that came may be derived from the one that is gone
        there = {b.__name__ if isinstance(b, type) else b.name if b else "" for b in bases}
        return old_bases - new_bases <= there | {"object", "Generic", "Protocol"}
    before, after = find(old, name), find(new, name)
    if kind == "OBJECT_CHANGED_KIND":
        # A variable that holds a function, as far as can be seen, becomes a function.
        return before is not None and before.is_attribute and not is_literal(str(before.value))
    if kind.startswith("PARAMETER") and is_called_by_framework(before):
        return True
    if kind != "PARAMETER_REMOVED":
        return False
    gone = kind_of(breakage.old_value)
    if gone.startswith("variadic"):
        return gone in map(kind_of, parameters_of(after))  # it has another name
    # A parameter that is still accepted by its name is not removed, unless others take its place.
    return has_any_keyword(after) and not set(positional(before)) & set(positional(after))


def is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def is_called_by_framework(function: Any) -> bool:
    decorators = getattr(function, "decorators", ())
    calls = (str(decorator.value).partition("(")[0] for decorator in decorators)
    return any(call.rpartition(".")[2] in FRAMEWORKS for call in calls)


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
    """Nobody passes `__x` by its name, which was positional-only before Python 3.8."""
    names: list[str] = []
    for parameter in parameters_of(function):
        is_hidden = parameter.name.startswith("__") and not parameter.name.endswith("__")
        if not (is_hidden or kind_of(parameter) == "positional-only"):
            break
        names.append(parameter.name)
    return names


def ancestors(module: Any, found: Any) -> Iterator[Any]:
    """Base classes of a class: of this module, of Python's own library, and None for each other."""
    for base in getattr(found, "bases", ()):
        path = getattr(base, "canonical_path", str(base))
        own = find(module, path.removeprefix(f"{module.path}."))
        if own is not None:
            yield own
            yield from ancestors(module, own)
        else:
            yield from getattr(of_python(path), "__mro__", [None])


def of_python(path: str) -> Any:
    """What a path such as `dict` or `threading.Thread` stands for in Python's own library."""
    module, _, name = path.rpartition(".")
    if module and module.partition(".")[0] not in sys.stdlib_module_names - NOISY:
        return None
    with suppress(ImportError):
        return getattr(importlib.import_module(module or "builtins"), name, None)
    return None


def may_have(base: Any, member: str) -> bool:
    """Whether a base class has a member; one that cannot be looked into may have any."""
    if isinstance(base, type):
        return hasattr(base, member)
    return base is None or member in base.members


def base_names(bases: Any) -> set[str]:
    """Without parameters, which are types: they mean nothing when the code runs."""
    return {str(base).partition("[")[0].rpartition(".")[2] for base in bases or ()}


def parameter_change(breakage: Any, old: Any, new: Any) -> tuple[str, str]:
    """A key of BREAKING and parameters; an empty key if another breakage says it."""
    kind = breakage.kind.name
    name = (breakage.new_value if breakage.old_value is None else breakage.old_value).name
    before, after = positional(old), positional(new)
    stay = [n for n in before if n in after]
    pairs = zip(parameters_of(old), parameters_of(new), strict=False)
    renamed = {
        a.name: b.name
        for a, b in pairs
        if kind_of(a) == kind_of(b)
        and a.name not in new.parameters
        and b.name not in old.parameters
    }
    if len(renamed) > 1 or has_any_keyword(new):
        renamed = {}  # other parameters, or the old name is still accepted
    if kind == "PARAMETER_REMOVED" and name in renamed:
        return "PARAMETER_RENAMED", f"{name} to {renamed[name]}"
    if kind == "PARAMETER_ADDED_REQUIRED" and name in renamed.values():
        return "", ""
    last = max((after.index(n) for n in stay if after.index(n) > before.index(n)), default=0)
    added = [n for n in after[:last] if n not in stay and n not in renamed.values()]
    if name in added or (kind == "PARAMETER_MOVED" and added):
        return "PARAMETER_ADDED_BEFORE", ", ".join(added)
    if kind == "PARAMETER_MOVED":
        in_order = sorted(stay, key=after.index)
        swapped = [a for a, b in zip(stay, in_order, strict=True) if a != b]
        return (kind, ", ".join(swapped)) if swapped else ("", "")
    return kind, name


def positional(function: Any) -> list[str]:
    """Names of parameters that callers can pass by their place."""
    kinds = ("positional-only", "positional or keyword")
    return [p.name for p in parameters_of(function) if kind_of(p) in kinds]


def has_any_keyword(function: Any) -> bool:
    return "variadic keyword" in map(kind_of, parameters_of(function))


def parameters_of(function: Any) -> list[Any]:
    return list(getattr(function, "parameters", ()))


def kind_of(parameter: Any) -> str:
    return str(getattr(parameter.kind, "value", parameter.kind))


def find(module: Any, name: str) -> Any:
    """The object, unless it is an alias, which may lead to a module that is not here."""
    try:
        found = module[name]
    except (KeyError, griffe.AliasResolutionError):
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
