"""What tools may look at, and what a tool is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reviewbot.adapters.tools.trees import Trees
from reviewbot.ports import Sandbox, Search, ToolSpec

SECONDS, ROWS = 5.0, 200
"""Of a query and of its result, where nobody configured them."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database that panelists may ask: ``postgresql://…`` or ``sqlite:////absolute/path``.

    ``queries``, where there are any, are the only ones that may be asked. ``seconds`` bound one query, ``rows`` its result.
    """

    name: str
    address: str = field(repr=False)
    queries: tuple[str, ...] = ()
    seconds: float = SECONDS
    rows: int = ROWS


@dataclass(frozen=True, slots=True)
class Grounds:
    """Everything that tools work on. ``commands`` are the beginnings of commands that may be run in ``room``: a tool whose part
    is empty is not offered."""

    trees: Trees
    search: Search
    databases: tuple[Database, ...] = ()
    commands: tuple[str, ...] = ()
    room: Sandbox | None = None


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """How it is shown to models."""
        ...

    def answer(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What it gives for checked arguments: values of JSON that fit on a page. Raises Declined, GitError."""
        ...
