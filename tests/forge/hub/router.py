"""Which operation a method and a path are. A variable holds ``/`` only where ``x-multi-segment`` says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """One operation: its id as ``pulls/get``, the schemas of its query and body, its answers by status."""

    id: str
    method: str
    pattern: re.Pattern[str]
    numbers: frozenset[str]
    query: dict[str, Any]
    body: Any
    needs_body: bool
    answers: dict[str, Any]
    fixed: int

    @property
    def is_write(self) -> bool:
        return self.method != "GET"

    @property
    def success(self) -> int:
        """The first good status that is described."""
        return next(int(status) for status in self.answers if status[0] in "23")


class Router:
    """All operations of a description, the most literal path first."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.operations = sorted(
            (
                self.read(document, path, method, told)
                for path, methods in document["paths"].items()
                for method, told in methods.items()
            ),
            key=lambda operation: -operation.fixed,
        )

    @staticmethod
    def read(document: dict[str, Any], path: str, method: str, told: dict[str, Any]) -> Operation:
        def resolved(node: dict[str, Any]) -> dict[str, Any]:
            return document["components"]["parameters"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node

        parameters = [resolved(node) for node in told.get("parameters", ())]
        inside = {p["name"]: p for p in parameters if p["in"] == "path"}

        def piece(match: re.Match[str]) -> str:
            name = match[1]
            many = inside.get(name, {}).get("x-multi-segment") or name in ("path", "basehead")
            return f"(?P<{name}>{'.+' if many else '[^/]+'})"

        body = told.get("requestBody", {})
        return Operation(
            id=told["operationId"],
            method=method.upper(),
            pattern=re.compile(VARIABLE.sub(piece, path)),
            numbers=frozenset(name for name, p in inside.items() if p.get("schema", {}).get("type") == "integer"),
            query={p["name"]: p["schema"] for p in parameters if p["in"] == "query"},
            body=body.get("content", {}).get("application/json", {}).get("schema"),
            needs_body=body.get("required", False),
            answers=told["responses"],
            fixed=len(VARIABLE.sub("", path)),
        )

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, Any]] | None:
        """The operation and the variables of its path, numbers as numbers."""
        for operation in self.operations:
            match = operation.pattern.fullmatch(path) if operation.method == method else None
            if match is None:
                continue
            words = {name: unquote(text) for name, text in match.groupdict().items()}
            if all(words[name].isdecimal() for name in operation.numbers):
                return operation, {name: int(text) if name in operation.numbers else text for name, text in words.items()}
        return None
