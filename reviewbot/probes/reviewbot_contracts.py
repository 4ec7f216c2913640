"""Contracts in the code under test (PEP 316 docstrings, icontract, deal) as CrossHair reads them, judged by plain calls."""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

from reviewbot_targets import failed

KINDS = ("PEP316", "icontract", "deal")
Judge = Callable[..., dict[str, Any]]


def read(module: types.ModuleType, owner: type | None, name: str) -> tuple[Judge | None, inspect.Signature]:
    """What judges one call by the contract, ``None`` where there is none. Raises ImportError without CrossHair."""
    conditions = _conditions(module, owner, name)
    if conditions is None or not conditions.post:
        return None, inspect.Signature()
    judge = _judge(conditions)
    judge.__wrapped__ = conditions.src_fn  # type: ignore[attr-defined]
    return judge, conditions.sig


def _conditions(module: types.ModuleType, owner: type | None, name: str) -> Any:
    import_module("crosshair.core_and_libs")
    parsers, functions = import_module("crosshair.condition_parser"), import_module("crosshair.fnutil")
    kinds = import_module("crosshair.options").AnalysisKind
    with parsers.condition_parser([kinds[kind] for kind in KINDS]) as parser:
        if owner is not None:
            return parser.get_class_conditions(owner).methods.get(name)
        return parser.get_fn_conditions(functions.FunctionInfo.from_module(module, name))


def _judge(conditions: Any) -> Judge:
    holder = import_module("crosshair.util").AttributeHolder
    before = [condition for condition in conditions.pre if condition.evaluate]
    after = [condition for condition in conditions.post if condition.evaluate]

    def judge(*args: Any, **keywords: Any) -> dict[str, Any]:
        bound = conditions.sig.bind(*args, **keywords)
        bound.apply_defaults()
        given = dict(bound.arguments)
        try:
            if not all(condition.evaluate({"__old__": holder(given), **given}) for condition in before):
                return {"holds": True, "skipped": True}
            old = holder(copy.deepcopy(given))
        except Exception:  # a pre-condition that cannot be evaluated does not speak of these arguments
            return {"holds": True, "skipped": True}
        try:
            answer = conditions.fn(*bound.args, **bound.kwargs)
            known = {**given, "__return__": answer, "_": answer, "__old__": old, conditions.fn.__name__: conditions.fn}
            broken = [condition for condition in after if not condition.evaluate(known)]
        except tuple(conditions.raises):
            return {"holds": True, "skipped": False}
        except Exception as exc:  # the code under test may raise anything: that is what is told
            told: dict[str, Any] = failed(exc)
            return told
        if not broken:
            return {"holds": True, "skipped": False}
        return {"holds": False, "asserted": True, "message": str(broken[0].expr_source)[:300], "line": broken[0].line}

    return judge
