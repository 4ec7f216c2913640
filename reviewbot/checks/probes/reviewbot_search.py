"""Calls Python functions with many arguments, and reports what happens.

Reads `search.json` beside it:

    functions   ["module:function"], to be called with arguments that are made up
    calls       {"module:function": [arguments]}, to be made again
    contract    the source of functions `spec_*`: arguments are wanted on which one of them fails
    examples    how many arguments of a function are tried

Writes {function: {"calls": [[arguments, outcome, value]], "problem": why there are no more}} to
/out/search.json. `arguments` is a tuple as Python text. `value` is the text of what was returned if
it is a literal, "" if not, so that a test can be written. Of a contract, the last call is one that
fails. Arguments come from hypothesis, for contracts also from CrossHair where it is installed.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import inspect
import json
import os
import shutil
import signal
import sys
import traceback
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

REPORT = "/out/search.json"
CONTRACT = "reviewbot_contract"
SECONDS = 2.0  # of one call
# With CrossHair, an example is a path through the code, and takes about a second.
CROSSHAIR_EXAMPLES = 20
MAX_TEXT, MAX_ITEMS, MAX_DEPTH = 400, 200, 5


class TooSlow(BaseException):
    """A call that takes longer than SECONDS. No `except Exception` of the project catches it."""


def main() -> None:
    wanted = json.loads(Path(__file__).with_name("search.json").read_text("utf-8"))
    tree = os.getcwd()
    sys.path[:0] = [folder for folder in (tree, os.path.join(tree, "src")) if os.path.isdir(folder)]
    # Behind what this interpreter has: hypothesis, and what the project installed.
    python = Path(shutil.which("python3") or sys.executable)
    installed = map(str, python.parent.parent.glob("lib/python3*/site-packages"))
    sys.path += [os.environ.get("REVIEWBOT_PACKAGES", ""), *installed]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGALRM, stop)
    found = {name: answer(made_up, name, wanted["examples"]) for name in wanted["functions"]}
    found |= {name: answer(repeated, name, calls) for name, calls in wanted["calls"].items()}
    if wanted["contract"]:
        found |= contracts(wanted["contract"], wanted["examples"])
    with open(REPORT, "w", encoding="utf-8") as file:
        json.dump(found, file)


def stop(*_: object) -> None:
    raise TooSlow


def answer(work: Callable[..., list[list[str]]], *arguments: Any) -> dict[str, Any]:
    try:
        return {"calls": work(*arguments), "problem": ""}
    except (Exception, SystemExit) as error:
        return {"calls": [], "problem": f"{type(error).__name__}: {error}"[:MAX_TEXT]}


def load(name: str) -> Any:
    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(module), function)
    if inspect.iscoroutinefunction(found) or not inspect.isfunction(inspect.unwrap(found)):
        raise TypeError("it is no plain function")
    return found


def strategies(function: Callable[..., Any], *, needs_types: bool) -> Any:
    """A strategy for all positional arguments. Raises TypeError if some cannot be made up."""
    from hypothesis import strategies as st

    words, numbers = st.lists(any_text()), st.lists(st.from_type(int))
    scalars = st.none() | st.booleans() | st.from_type(int) | st.floats(allow_nan=False)
    texts = st.from_type(str) | words | st.dictionaries(any_text(), st.integers())
    anything = scalars | texts | numbers
    hints = typing.get_type_hints(function)
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind == parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise TypeError(f"{parameter.name} can only be passed by name")
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if needs_types and parameter.name not in hints:
                raise TypeError(f"{parameter.name} has no type")
            is_typed = parameter.name in hints
            parts.append(st.from_type(hints[parameter.name]) if is_typed else anything)
    return st.tuples(*parts)


def any_text() -> Any:
    """What `st.text()` is. That one asks a codec about every character, which takes a second."""
    from hypothesis import strategies as st

    return st.text(st.characters(blacklist_categories=["Cs"]))


def prefer_limits(function: Callable[..., Any]) -> None:
    """Every other number is small, or near one of the code, and texts are those of the code."""
    from hypothesis import strategies as st

    numbers, texts = {0, 1, -1, 2, 3}, set[str]()
    with suppress(OSError, TypeError, SyntaxError):
        for part in ast.parse(inspect.getsource(sys.modules[function.__module__])).body:
            is_near = isinstance(part, ast.Assign) or getattr(part, "name", "") == function.__name__
            for node in ast.walk(part) if is_near else ():
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    numbers |= {node.value - 1, node.value, node.value + 1}
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts |= {node.value}
    st.register_type_strategy(int, st.sampled_from(sorted(numbers, key=abs)) | st.integers())
    known = st.sampled_from(sorted(texts)) if texts else any_text()
    st.register_type_strategy(str, known | any_text())


def run(function: Any, strategy: Any, **options: Any) -> None:
    """Call a function with arguments from a strategy."""
    from hypothesis import HealthCheck, given, settings

    checks = list(HealthCheck)
    always = settings(derandomize=True, database=None, deadline=None, suppress_health_check=checks)
    search: Any = given(strategy)
    settings(always, **options)(search(function))()


def made_up(name: str, examples: int) -> list[list[str]]:
    """Calls with different arguments, all of them literals."""
    from hypothesis import Phase

    function = load(name)
    prefer_limits(function)
    texts: dict[str, None] = {}

    def collect(arguments: tuple[Any, ...]) -> None:
        texts[literal(arguments)] = None

    strategy = strategies(function, needs_types=False)
    run(collect, strategy, max_examples=examples, phases=[Phase.generate])
    return repeated(name, list(filter(None, texts)))


def repeated(name: str, calls: list[str]) -> list[list[str]]:
    function = load(name)
    return [[text, *outcome_of(function, text)] for text in calls]


def outcome_of(function: Callable[..., Any], text: str) -> tuple[str, str]:
    """What a call does, and what it returns if that is a literal."""
    arguments = ast.literal_eval(text)
    value = ""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        returned = function(*arguments)
        outcome = f"returns {describe(returned)}"
        value = literal(returned)
    except TooSlow:
        outcome = f"does not return within {SECONDS:g} s"
    except SystemExit as error:
        outcome = f"exits with {error.code!r}"
    except Exception as error:
        outcome = f"raises {type(error).__name__}"
        value = type(error).__name__ if hasattr(builtins, type(error).__name__) else ""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if (after := describe(arguments)) != describe(ast.literal_eval(text)):
        outcome += f", and changes its arguments to {after}"
        value = ""
    return outcome[:MAX_TEXT], value


def contracts(source: str, examples: int) -> dict[str, Any]:
    """Arguments on which a function `spec_*` of a source fails."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"{CONTRACT}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    sys.path.insert(0, os.path.dirname(path))
    try:
        module = importlib.import_module(CONTRACT)
    except (Exception, SystemExit) as error:
        return {CONTRACT: {"calls": [], "problem": f"{type(error).__name__}: {error}"}}
    backends = {"hypothesis": examples}
    if importlib.util.find_spec("hypothesis_crosshair_provider"):
        backends["crosshair"] = CROSSHAIR_EXAMPLES
    found: dict[str, Any] = {}
    for name, function in dict(vars(module)).items():
        for backend, count in backends.items() if name.startswith("spec_") else ():
            found[name] = answer(failing, function, path, count, backend)
            if found[name]["calls"] or found[name]["problem"]:
                break
    return found


def failing(function: Callable[..., Any], path: str, count: int, backend: str) -> list[list[str]]:
    """The simplest call that fails. What the contract itself raises, but for asserting, is none."""
    from hypothesis import strategies as st
    from hypothesis.errors import Unsatisfiable

    st.register_type_strategy(str, any_text())
    last: list[tuple[Any, ...]] = []

    def search(arguments: tuple[Any, ...]) -> None:
        try:
            function(*arguments)
        except Exception as error:
            is_raised_here = traceback.extract_tb(error.__traceback__)[-1].filename == path
            if isinstance(error, AssertionError) or not is_raised_here:
                last.append(arguments)
            raise

    strategy = strategies(function, needs_types=True)
    try:
        run(search, strategy, max_examples=count, backend=backend, report_multiple_bugs=False)
    except Unsatisfiable:
        raise ValueError("no arguments fulfil what it assumes") from None
    except Exception:
        if not last:
            raise
        text = literal(last[-1])
        return [[text, *outcome_of(function, text)]] if text else []
    return []


def literal(value: Any) -> str:
    """A text that makes an equal value; "" if it is no literal."""
    with suppress(Exception):
        text = repr(value)
        again = ast.literal_eval(text)
        if len(text) <= MAX_TEXT and again == value and repr(again) == text:
            return text
    return ""


def describe(value: Any, depth: int = 0) -> str:
    """A value in words that are equal for equal values. No code of the project runs for it."""
    kind, inner = type(value), partial(describe, depth=depth + 1)
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)[:MAX_TEXT]
    if kind is float:
        return f"{value:.12g}"
    if depth == MAX_DEPTH:
        return "…"
    if kind is dict:
        words: Iterator[str] = (f"{inner(key)}: {inner(item)}" for key, item in value.items())
    elif kind in (set, frozenset):
        words = iter(sorted(map(inner, value)))
    elif kind in (list, tuple, map, filter, zip, range) or inspect.isgenerator(value):
        words = (inner(item) for item in value)
    else:
        fields = sorted(getattr(value, "__dict__", {}).items())
        words = (f"{key}={inner(item)}" for key, item in fields if not key.startswith("_"))
    return f"{kind.__name__}({', '.join(islice(words, MAX_ITEMS))})"


if __name__ == "__main__":
    main()
