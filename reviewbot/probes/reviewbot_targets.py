"""What a check is about, loaded from a tree: a function, a function of a specification, a function's contract, a formula.

A target is JSON: ``{"kind": "function" | "contract", "tree", "path", "function"}`` or
``{"kind": "spec" | "proof", "tree", "spec", "condition"}``. ``path`` is relative to ``tree``, ``function`` dotted
(``Cart.total``), ``spec`` a source text, ``condition`` a name in it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import linecache
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from reviewbot_shapes import Unsupported, hints, shape
from reviewbot_values import ascii_text, source

SPECIFICATION = "<specification>"
MARK = "__reviewbot_reached__"
MAX_CONSTANTS = 24
"""Of each type: constants of a module are good guesses for its arguments."""
_INSIDE = {property: "fget", functools.cached_property: "func"}


class Unloadable(Exception):
    """There is nothing to check, with a code and the reason in words."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Loaded:
    """``call`` takes the arguments. With ``judges`` its answer says whether a condition holds, else it is the function's own."""

    call: Callable[..., Any]
    signature: inspect.Signature
    names: dict[str, Any]
    own: Any = None
    judges: bool = False

    def parameters(self) -> list[dict[str, Any]]:
        """Name, kind (``positional`` or ``keyword``), optional, shape (``None`` with the reason ``why``). Raises Unloadable."""
        try:
            found = hints(inspect.unwrap(self.call))
        except Unsupported as exc:
            found, reason = {}, str(exc)
        else:
            reason = "it has no annotation"
        told = []
        for place, parameter in enumerate(self.signature.parameters.values()):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise Unloadable("parameters", f"it takes *{parameter.name}, for which no arguments are made")
            hint = self.own if self.own and place == 0 else found.get(parameter.name, parameter.annotation)
            told.append(self._parameter(parameter, hint, reason))
        return told

    def _parameter(self, parameter: inspect.Parameter, hint: Any, reason: str) -> dict[str, Any]:
        made, why = None, ""
        try:
            if hint is parameter.empty or isinstance(hint, str):
                raise Unsupported(reason)
            made = shape(hint, self.names)
        except Unsupported as exc:
            why = ascii_text(exc)
        optional = parameter.default is not parameter.empty
        kind = "keyword" if parameter.kind is parameter.KEYWORD_ONLY else "positional"
        if parameter.kind is parameter.POSITIONAL_ONLY:
            kind = "only positional"
        return {"name": parameter.name, "kind": kind, "optional": optional, "shape": made, "why": why}


def load(target: dict[str, Any]) -> Loaded:
    """The target, imported. Raises Unloadable, for a module that cannot be imported too."""
    tree = os.path.realpath(target["tree"])
    folders = [folder for folder in (os.path.join(tree, "src"), tree) if os.path.isdir(folder)]
    sys.path[:0] = folders
    if target["kind"] in ("spec", "proof"):
        return _specified(target)
    module = _module(tree, target["path"])
    owner, found, static = _walk(module, target["function"])
    if target["kind"] == "contract":
        return _contract(module, owner, target["function"])
    return _function(module, owner, found, static=static)


def _module(tree: str, path: str) -> types.ModuleType:
    file = os.path.realpath(os.path.join(tree, path))
    if not file.startswith(tree + os.sep) or not os.path.isfile(file):
        raise Unloadable("import", f"{path} is not in the tree")
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    parts = parts[1:] if parts[0] == "src" and len(parts) > 1 else parts
    try:
        if all(part.isidentifier() for part in parts):
            module = importlib.import_module(".".join(parts))
            if os.path.realpath(getattr(module, "__file__", None) or "") == file:
                return module
        return _from_file("_".join("".join(letter if letter.isalnum() else "_" for letter in part) for part in parts), file)
    except BaseException as exc:
        raise Unloadable("import", f"{path} cannot be imported: {type(exc).__name__}: {ascii_text(exc)}") from exc


def _from_file(name: str, file: str) -> types.ModuleType:
    """A module whose name is taken, or none."""
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _walk(module: types.ModuleType, name: str) -> tuple[type | None, Any, Any]:
    """The class that holds a function, the function, and what stands in the class for it."""
    owner, found, static = None, cast(Any, module), None
    for part in name.split("."):
        if not hasattr(found, part):
            raise Unloadable("missing", f"{name} is not defined there")
        owner = found if isinstance(found, type) else None
        static = inspect.getattr_static(found, part)
        found = getattr(found, part)
    return owner, found, static


def _function(module: types.ModuleType, owner: type | None, found: Any, *, static: Any) -> Loaded:
    own = None
    if owner is not None and not isinstance(static, (staticmethod, classmethod)) and not isinstance(found, type):
        own = owner
        found = getattr(static, _INSIDE.get(type(static), ""), static)
    if not callable(found):
        raise Unloadable("missing", "it is not a function")
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        raise Unloadable("asynchronous", "it is asynchronous")
    return Loaded(found, _signature(found), vars(module), own)


def _signature(found: Any) -> inspect.Signature:
    try:
        return inspect.signature(found)
    except (ValueError, TypeError) as exc:
        raise Unloadable("parameters", "its parameters are not known") from exc


def _specified(target: dict[str, Any]) -> Loaded:
    """A function of a specification, which is a module of its own."""
    text = target["spec"]
    module = types.ModuleType("specification")
    module.__file__ = SPECIFICATION
    linecache.cache[SPECIFICATION] = (len(text), None, text.splitlines(keepends=True), SPECIFICATION)
    sys.modules["specification"] = module
    mark = Mark()
    vars(module)[MARK] = mark
    try:
        exec(compile(_marked(text), SPECIFICATION, "exec"), vars(module))
    except BaseException as exc:
        what, code = ("the specification", "specification") if _is_own(exc) else ("what it imports", "import")
        raise Unloadable(code, f"{what} cannot be run: {type(exc).__name__}: {ascii_text(exc)}") from exc
    found = getattr(module, target["condition"], None)
    if not callable(found):
        raise Unloadable("specification", f"the specification defines no {target['condition']}")
    call = _proof(found) if target["kind"] == "proof" else _asserted(found, mark)
    return Loaded(call, _signature(found), vars(module), judges=True)


class Mark:
    """Whether an assertion was reached: a call that returns before has shown nothing."""

    def __init__(self) -> None:
        self.reached = False

    def __call__(self) -> None:
        self.reached = True


class _Marking(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        call = ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), [], []))
        return [ast.copy_location(call, node), node]


def _marked(text: str) -> ast.Module:
    return ast.fix_missing_locations(_Marking().visit(ast.parse(text)))  # type: ignore[no-any-return]


def _is_own(exc: BaseException) -> bool:
    """Whether an exception comes from the text of the specification itself."""
    if isinstance(exc, SyntaxError):
        return exc.filename == SPECIFICATION
    frames = traceback.extract_tb(exc.__traceback__)
    return bool(frames) and frames[-1].filename == SPECIFICATION


def _asserted(function: Callable[..., Any], mark: Mark) -> Callable[..., dict[str, Any]]:
    def asserted(*args: Any, **keywords: Any) -> dict[str, Any]:
        mark.reached = False
        try:
            function(*args, **keywords)
        except Exception as exc:  # the code under test may raise anything: that is what is told
            return failed(exc)
        return {"holds": True, "skipped": not mark.reached}

    asserted.__wrapped__ = function  # type: ignore[attr-defined]
    return asserted


def failed(exc: Exception) -> dict[str, Any]:
    """What an exception says of a condition: an assertion of the specification or an error below it that it does not hold, an
    error of the specification's own nothing."""
    frames = traceback.extract_tb(exc.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == SPECIFICATION]
    own = _is_own(exc)
    holds = None if own and not isinstance(exc, AssertionError) else False
    told = {"raises": type(exc).__qualname__, "message": ascii_text(exc), "line": lines[-1] if lines else 0}
    return {"holds": holds, "asserted": own, **told}


def _proof(function: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    def proven() -> dict[str, Any]:
        return importlib.import_module("reviewbot_formula").decide(function())  # type: ignore[no-any-return]

    return proven


def _contract(module: types.ModuleType, owner: type | None, name: str) -> Loaded:
    """The contract as CrossHair reads it. It is needed for this."""
    try:
        reader = importlib.import_module("reviewbot_contracts")
    except ImportError as exc:
        raise Unloadable("missing", f"contracts are read by CrossHair, which is not installed ({exc.name})") from exc
    call, signature = reader.read(module, owner, name.rpartition(".")[2])
    if call is None:
        raise Unloadable("missing", f"{name} has no contract")
    return Loaded(call, signature, vars(module), owner, judges=True)


def constants(target: dict[str, Any]) -> dict[str, list[str]]:
    """Texts of the constants in the module under test or the specification, by type."""
    found: dict[str, list[str]] = {"int": [], "float": [], "str": [], "bytes": []}
    for value in _constants(target):
        texts = found.get(type(value).__name__)
        text = source(value)
        if texts is not None and text not in texts and len(texts) < MAX_CONSTANTS and len(text) < 100:
            texts.append(text)
    return found


def _constants(target: dict[str, Any]) -> Iterator[Any]:
    text = target.get("spec") or ""
    if not text:
        with open(os.path.join(target["tree"], target["path"]), "rb") as file:
            text = file.read()
    try:
        root = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    documents = {id(node.value) for node in ast.walk(root) if isinstance(node, ast.Expr)}
    for node in ast.walk(root):
        if isinstance(node, ast.Constant) and id(node) not in documents and node.value is not Ellipsis:
            yield node.value
