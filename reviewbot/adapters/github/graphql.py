"""Asking GraphQL through the same session. It answers 200 to almost everything: what went wrong stands in ``errors``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.adapters.github import faults, reading
from reviewbot.adapters.github.exchange import Answer, Call
from reviewbot.adapters.github.faults import GraphqlFault
from reviewbot.adapters.github.session import ATTEMPTS, Session
from reviewbot.errors import ForgeError, UnsureError


@dataclass(frozen=True, slots=True)
class Told:
    """What GraphQL told: ``data``, empty where there was none at all, and what is missing in it."""

    data: dict[str, Any]
    faults: tuple[GraphqlFault, ...] = ()


def query(session: Session, text: str, variables: Mapping[str, Any], *, doing: str) -> Told:
    """The answer to a query, with holes where something may not be read. Raises ForgeError where GitHub did not answer."""
    return _asked(session, Call("POST", session.graphql_url, doing, body=_body(text, variables), is_read=True))


def mutation(session: Session, name: str, variables: Mapping[str, Any], *, selection: str, doing: str) -> dict[str, Any]:
    """Do one thing by the mutation ``name``, whose result is read by ``selection``. Raises ForgeError."""
    kind = name[:1].upper() + name[1:] + "Input!"
    text = f"mutation Do($input: {kind}) {{ {name}(input: $input) {{ {selection} }} }}"
    call = Call("POST", session.graphql_url, doing, body=_body(text, {"input": dict(variables)}))
    told = _asked(session, call)
    if told.faults or not isinstance(told.data.get(name), dict):
        raise _failure(told.faults, call, name)
    return reading.fields(told.data[name], name)


def read(document: Any) -> tuple[dict[str, Any] | None, tuple[GraphqlFault, ...]]:
    """``data`` and ``errors`` of an answer. Raises ForgeError for anything that is no answer of GraphQL."""
    found = reading.fields(document, "a GraphQL answer")
    data = found.get("data")
    wrong = found.get("errors") or []
    if data is None and not wrong:
        raise reading.odd("a GraphQL answer")
    return None if data is None else reading.fields(data, "data"), tuple(_fault(item) for item in reading.items(wrong, "errors"))


def _asked(session: Session, call: Call) -> Told:
    for attempt in range(1, ATTEMPTS + 1):
        answer = session.answer(call)
        data, wrong = read(_document(session.document(answer, call), call))
        if any(fault.is_limit for fault in wrong):
            _wait(session, call, answer, attempt=attempt)
        elif data or not (call.is_read and any(fault.is_passing for fault in wrong) and session.breathe(attempt)):
            return Told(data or {}, wrong)
    raise faults.deferred(call, faults.SECONDARY_SECONDS)


def _document(found: Any, call: Call) -> Any:
    """Raises UnsureError for an answer to a mutation that is none of GraphQL."""
    if isinstance(found, dict) or call.is_read:
        return found
    raise UnsureError(reading.odd("a GraphQL answer").message, hint="look at the pull request before doing it again")


def _failure(wrong: tuple[GraphqlFault, ...], call: Call, name: str) -> ForgeError:
    """GitHub's own trouble leaves open what became of a mutation, and so does a fault below its result: it was done."""
    error = faults.graphql_refusal(wrong, call)
    unsure = any(fault.is_passing or (fault.path[:1] == (name,) and len(fault.path) > 1) for fault in wrong)
    return UnsureError(error.message, hint="look at the pull request before doing it again") if unsure else error


def _wait(session: Session, call: Call, answer: Answer, *, attempt: int) -> None:
    """A limit in the body: nothing was done, so anything may be asked again."""
    seconds = faults.holds(answer, attempt)
    if attempt == ATTEMPTS:
        raise faults.deferred(call, seconds)
    session.pause(call, seconds)


def _body(text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    return {"query": text, "variables": dict(variables)}


def _fault(item: Any) -> GraphqlFault:
    node = reading.fields(item, "errors")
    path = node.get("path")
    steps = tuple(str(step) for step in path) if isinstance(path, list) else ()
    return GraphqlFault(reading.text(node, "type", optional=True), reading.text(node, "message", optional=True), steps)
