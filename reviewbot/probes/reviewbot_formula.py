"""Decides a z3 formula: a value of type ``z3.BoolRef`` that is said to hold for all values of its constants.

The effort is counted in z3's own units, not in seconds, so that two runs agree.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reviewbot_values import ascii_text, source

EFFORT = 50_000_000
"""z3's ``rlimit``: some ten seconds."""


def decide(formula: Any) -> dict[str, Any]:
    """``{"proven": true}``, ``{"model": {name: source text}}``, or ``{"unknown": reason}``."""
    z3 = import_module("z3")
    if isinstance(formula, bool):
        formula = z3.BoolVal(formula)
    if not isinstance(formula, z3.BoolRef):
        return {"unknown": f"the function returned a {type(formula).__name__}, not a z3.BoolRef"}
    solver = z3.Solver()
    solver.set("rlimit", EFFORT)
    solver.set("random_seed", 0)
    solver.add(z3.Not(formula))
    answer = solver.check()
    if answer == z3.unsat:
        return {"proven": True}
    if answer != z3.sat:
        return {"unknown": f"z3 could not decide it: {ascii_text(solver.reason_unknown())}"}
    return _model(z3, solver.model())


def _model(z3: Any, model: Any) -> dict[str, Any]:
    """The values for which the formula is false."""
    found = {}
    for constant in model.decls():
        value = _value(z3, model[constant])
        if value is None:
            return {"unknown": f"z3 found a counter-example whose {ascii_text(constant.name())} has no Python value"}
        found[str(constant.name())] = value
    return {"model": dict(sorted(found.items()))}


def _value(z3: Any, value: Any) -> str | None:
    if z3.is_int_value(value) or z3.is_bv_value(value):
        return str(source(value.as_long()))
    if z3.is_rational_value(value):
        return f"fractions.Fraction({value.numerator_as_long()}, {value.denominator_as_long()})"
    if z3.is_true(value) or z3.is_false(value):
        return str(source(bool(z3.is_true(value))))
    if z3.is_string_value(value):
        return str(source(value.as_string()))
    return None
