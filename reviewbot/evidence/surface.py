"""The public names of a tree's files with what callers see of them, and whether two versions offer the same. Nothing is imported.

Of Python: functions with their parameters, classes with their bases and members, variables, ``__all__``. A name that a module
takes from another changed module is looked up there. Of other languages: the lines that declare what others may use.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.evidence.statements import parse
from reviewbot.evidence.view import is_library

Files = Mapping[str, bytes | None]
"""Contents by path, ``None`` where there is no such file."""

_INIT = "/__init__.py"
_SPECIAL = re.compile(r"__\w+__")
_DECLARING: Mapping[tuple[str, ...], re.Pattern[bytes]] = {
    (".go",): re.compile(rb"^(?:func (?:\([^)]*\) )?[A-Z]|type [A-Z]|(?:var|const) [A-Z]|\t[A-Z]\w* )[^\n{]*", re.MULTILINE),
    (".rs",): re.compile(rb"^[ \t]*pub (?!\()[^\n{;=]*", re.MULTILINE),
    (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"): re.compile(rb"^export\b[^\n{=]*", re.MULTILINE),
    (".cjs",): re.compile(rb"^(?:module\.)?exports\b[^\n=]*", re.MULTILINE),
    (".java", ".kt", ".cs"): re.compile(rb"^[ \t]*(?:public|protected)\b[^\n{;=]*", re.MULTILINE),
}
"""How lines begin that offer something, by the end of a file's name."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs, in words, and the files of which nothing can be said."""

    differences: tuple[str, ...]
    unknown: tuple[str, ...]


def compared(old: Files, new: Files) -> Compared:
    """Whether the files offer the same before and after."""
    differences: list[str] = []
    unknown: list[str] = []
    for path in sorted(old.keys() | new.keys()):
        before, after = offered(path, old), offered(path, new)
        if before is None or after is None:
            unknown.append(path)
            continue
        differences += _differences(path, before, after)
    return Compared(tuple(differences), tuple(unknown))


def offered(path: str, files: Files) -> Mapping[str, str] | None:
    """Every public name of a file with what is to be known to use it; ``None`` where the language is not known, or it cannot be
    parsed."""
    data = files.get(path)
    if path.endswith(".py"):
        return _of_python(path, data, files) if is_library(path) and not _is_private(path) else {}
    declares = next((pattern for endings, pattern in _DECLARING.items() if path.endswith(endings)), None)
    if declares is None:
        return None
    found = (b" ".join(match[0].split()).decode("utf-8", "replace") for match in declares.finditer(data or b""))
    return dict.fromkeys(found, "")


def _differences(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in before.keys() | after.keys():
        was, now = before.get(name), after.get(name)
        if was is None:
            yield f"{path}: `{name}` is new"
        elif now is None:
            yield f"{path}: `{name}` is gone"
        elif was != now:
            yield f"{path}: `{name}` was `{was}` and is `{now}`"


def _is_private(path: str) -> bool:
    parts = path.removesuffix(".py").split("/")
    return any(part.startswith("_") and not _SPECIAL.fullmatch(part) for part in parts)


def _of_python(path: str, data: bytes | None, files: Files) -> Mapping[str, str] | None:
    if data is None:
        return {}
    tree = parse(data)
    if tree is None:
        return None
    exported = _exported(tree)
    found: dict[str, str] = {}
    for name, members in _module(path, tree, files):
        if name in exported if exported is not None else not name.startswith("_"):
            found |= members
    return found


def _exported(tree: ast.Module) -> frozenset[str] | None:
    """What ``__all__`` names, ``None`` where there is no such list of plain texts."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            items = getattr(getattr(node, "value", None), "elts", None)
            if items is not None and all(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in items):
                return frozenset(item.value for item in items)
    return None


def _module(path: str, tree: ast.Module, files: Files) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each name that a module binds, with its own description and those of its members."""
    for node in _statements(tree.body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, {node.name: _signature(node)}
            case ast.ClassDef():
                yield node.name, dict(_class(node, node.name))
            case ast.Assign() | ast.AnnAssign():
                yield from ((name, {name: "a variable"}) for name in _targets(node))
            case ast.ImportFrom():
                yield from _taken(path, node, files)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module, branches of it included: an ``if TYPE_CHECKING`` or a ``try`` around an import."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            handlers = [inner for handler in getattr(node, "handlers", []) for inner in handler.body]
            yield from _statements([*node.body, *handlers, *node.orelse, *getattr(node, "finalbody", [])])


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        yield from (inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store))


def _taken(path: str, node: ast.ImportFrom, files: Files) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Names that come from another of the files: as that describes them. Other imports are nobody's offer, unless they are
    given their own name again (``from x import a as a``) or stand in a package's own file."""
    source = _source(path, node, files)
    tree = parse(files[source]) if source is not None and source != path else None
    known = {name: told for one in (tree,) if one and source for name, told in _module(source, one, {})}
    for alias in node.names:
        name = alias.asname or alias.name
        if alias.name in known:
            told = known[alias.name].items()
            yield name, {_renamed(member, alias.name, name): words for member, words in told}
        elif alias.asname == alias.name or path.endswith(_INIT):
            yield name, {name: f"of {'.' * node.level}{node.module or ''}"}


def _renamed(member: str, old: str, new: str) -> str:
    return new + member.removeprefix(old)


def _source(path: str, node: ast.ImportFrom, files: Files) -> str | None:
    """The file that an import names, where it is one of those."""
    module = (node.module or "").replace(".", "/")
    folders = path.split("/")[: -node.level] if node.level else []
    stem = "/".join((*folders, *([module] if module else [])))
    for name in (f"{stem}.py", f"{stem}{_INIT}"):
        found = [known for known in files if known == name or (not node.level and known.endswith(f"/{name}"))]
        if len(found) == 1 and files[found[0]] is not None:
            return found[0]
    return None


def _class(node: ast.ClassDef, name: str) -> Iterator[tuple[str, str]]:
    """A class, and its members that are no business of its own alone."""
    bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
    yield name, f"{_decorated(node)}class({bases})"
    for member in _statements(node.body):
        match member:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_public(member.name):
                yield f"{name}.{member.name}", _signature(member)
            case ast.ClassDef() if _is_public(member.name):
                yield from _class(member, f"{name}.{member.name}")
            case ast.AnnAssign():
                told = f"a field: {ast.unparse(member.annotation)}{' with a default' if member.value else ''}"
                yield from ((f"{name}.{one}", told) for one in _targets(member) if _is_public(one))
            case ast.Assign():
                yield from ((f"{name}.{one}", "a variable") for one in _targets(member) if _is_public(one))


def _is_public(name: str) -> bool:
    return not name.startswith("_") or bool(_SPECIAL.fullmatch(name))


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{_decorated(node)}{kind}({ast.unparse(node.args)}){returns}"


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    return "".join(f"@{ast.unparse(one)} " for one in node.decorator_list)
