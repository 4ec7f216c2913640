"""Scripts: functions from what was asked to what is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.fakes.faults import Fault, Trouble
from tests.fakes.instance import smallest
from tests.fakes.seen import Answer, Seen, Wish

Script = Callable[[Seen], "Answer | Fault | str"]
Item = Answer | Fault | str | Script


def perform(item: Item, seen: Seen) -> Answer | Fault:
    """What an item of a script means for this call."""
    if isinstance(item, str):
        return Answer(item)
    if isinstance(item, Answer | Fault):
        return item
    return perform(item(seen), seen)


def said(text: str, **more: Any) -> Script:
    """Always this."""
    return lambda seen: Answer(text, **more)


def queue(items: Iterable[Item], then: Item | None = None) -> Script:
    """One item after the other, in order of arrival; after the last one ``then``, or the last one for ever."""
    waiting = list(items)

    def script(seen: Seen) -> Answer | Fault:
        if len(waiting) > 1 or (waiting and then is not None):
            return perform(waiting.pop(0), seen)
        return perform(waiting[0] if then is None else then, seen)

    return script


def fitting() -> Script:
    """The smallest instance of the wanted schema; ``ok`` where none was wanted."""
    return lambda seen: Answer("ok" if seen.schema is None else json.dumps(smallest(seen.schema)))


def uses(steps: Sequence[Sequence[Wish]], then: Item) -> Script:
    """Wishes tools, a step at a time, as long as the request offers any; then answers by ``then``."""

    def script(seen: Seen) -> Answer | Fault:
        done = len(seen.exchanges)
        return Answer(tool_calls=tuple(steps[done])) if seen.tools and done < len(steps) else perform(then, seen)

    return script


def rejects(field: str, value: Any = None, *, then: Item, message: str = "", kind: str = "bad_request") -> Script:
    """400 (or another ``kind`` of trouble) where the body has ``field`` (dots go deeper) with ``value`` (``None``: any)."""

    def script(seen: Seen) -> Answer | Fault:
        found: Any = seen.body
        for name in field.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is None or (value is not None and found != value):
            return perform(then, seen)
        return Trouble(f"rejects {field}", kind, message or f"Unsupported value: '{field}' is not supported with this model.")

    return script


def by_model(scripts: Mapping[str, Item]) -> Script:
    """One script for each model; ``*`` for the others."""
    return lambda seen: perform(scripts.get(seen.model) or scripts["*"], seen)
