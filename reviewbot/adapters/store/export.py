"""Lines for the fine-tuning of open models, from the calls of the ledger. Streams: one call is held at a time.

Two kinds, both JSON Lines:

- ``chat``: ``{"messages": [system, user, …, assistant], "metadata": {…}}`` for each call that was answered to its end, or with
  a wish for tools. Tool steps are messages in OpenAI's form. Refused and cut answers are left out. Where code was made,
  ``metadata.repair`` says what became of the task.
- ``preference``: ``{"prompt": [system, user], "chosen": …, "rejected": …, "metadata": {…}}``. Both are answers to the same
  first-pass question: same repository, portion, system words and prefix (the change as it was shown, byte for byte). Only the
  lens at the prompt's end may differ; the prompt is that of the chosen one, and ``same_prompt`` says whether it was the
  other's too. *Chosen*: a claim of it became a finding that an executed check proved, and no claim of it one that a check
  contradicted. *Rejected*: the other way round. A claim is a finding's where its seat raised the finding, and path and
  lines (or the quote) agree. Untested claims make no pair.

Secrets are redacted. A repository is either in ``train`` or in ``validation`` (one in ten), by the hash of its name, whenever
and however often it is exported; its name is given as a hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice, product
from typing import Any, Literal

from sqlalchemy import Connection, Select, select

from reviewbot.adapters.store.ledger import Ledger
from reviewbot.adapters.store.tables import calls, findings, projects, repairs, sessions, tasks, turns
from reviewbot.adapters.store.texts import Reader, storable
from reviewbot.ports import CallState, Stop
from reviewbot.screen.secrets import redact

_VALIDATION_IN = 10
_PAIRS_OF_A_QUESTION = 16
_ROWS_AT_A_TIME = 50
_MAKING = "make"
_WHOLE = (Stop.END.value, Stop.TOOLS.value)

Kind = Literal["chat", "preference"]


@dataclass(frozen=True, slots=True)
class Example:
    """A line (without its line feed), and the file it belongs to: ``split`` is ``train`` or ``validation``."""

    kind: Kind
    split: str
    line: str


def split_of(project: str) -> str:
    """Where a repository's examples go. Stable over machines and versions."""
    number = int.from_bytes(hashlib.sha256(b"split:" + storable(project).encode()).digest()[:8], "big")
    return "validation" if number % _VALIDATION_IN == 0 else "train"


def examples(ledger: Ledger, project: str | None = None) -> Iterator[Example]:
    """Every example, of one repository or all: chats first. Raises LedgerError."""
    with ledger.database.read() as connection:
        yield from _chats(connection, project)
        yield from _preferences(connection, project)


def _chats(connection: Connection, project: str | None) -> Iterator[Example]:
    reader = Reader(connection)
    for row in _stream(connection, _answered(project).order_by(calls.c.id)):
        document = _completion(reader.text(row.document))
        steps = _steps(reader.text(row.exchanges))
        if document is None or steps is None:
            continue
        messages = [*_prompt(reader, row), *steps, _assistant(document)]
        yield _example("chat", row, {"messages": messages, "metadata": _metadata(row) | _repaired(connection, row)})


def _repaired(connection: Connection, row: Any) -> dict[str, str]:
    """Of an answer with code, or about some: what became of the task in the session that paid for it."""
    if row.phase != _MAKING:
        return {}
    of_it = (repairs.c.session_id == row.session_id, repairs.c.id == row.subject)
    outcome = connection.scalar(select(repairs.c.outcome).where(*of_it).limit(1))
    return {"repair": outcome} if outcome else {}


def _preferences(connection: Connection, project: str | None) -> Iterator[Example]:
    same = (projects.c.name, calls.c.system, calls.c.prefix, calls.c.subject)
    query = _answered(project).order_by(*same, calls.c.id)
    rows = _stream(connection, query)
    for _, group in groupby(rows, key=lambda row: (row.project, row.system, row.prefix, row.subject)):
        yield from islice(_pairs(connection, list(group)), _PAIRS_OF_A_QUESTION)


def _pairs(connection: Connection, group: list[Any]) -> Iterator[Example]:
    """Of the answers to one question, each proven one with each contradicted one. The rows hold hashes, not texts."""
    if len(group) < 2:
        return
    reader = Reader(connection)
    labels = [_label(connection, reader, row) for row in group]
    proven = [row for row, label in zip(group, labels, strict=True) if label == "proven"]
    contradicted = [row for row, label in zip(group, labels, strict=True) if label == "contradicted"]
    for chosen, rejected in product(proven, contradicted):
        metadata = _metadata(chosen) | {
            "rejected_seat": rejected.seat,
            "rejected_model": rejected.model,
            "same_prompt": chosen.suffix == rejected.suffix,
        }
        answers = {
            "chosen": _text_of(_completion(reader.text(chosen.document))),
            "rejected": _text_of(_completion(reader.text(rejected.document))),
        }
        yield _example("preference", chosen, {"prompt": _prompt(reader, chosen), **answers, "metadata": metadata})


def _label(connection: Connection, reader: Reader, row: Any) -> str | None:
    """``proven`` or ``contradicted`` where every executed check of this answer's claims says the same."""
    claims = _claims(_text_of(_completion(reader.text(row.document))))
    if not claims:
        return None
    using = select(turns.c.session_id).where(turns.c.call_id == row.id)
    tested = select(findings).where(findings.c.session_id.in_(using), findings.c.proof.in_(("proven", "contradicted")))
    labels = {
        str(finding.proof)
        for finding in connection.execute(tested)
        if row.seat in json.loads(finding.raised_by)
        and any(_is_of(claim, finding, reader) for claim in claims if claim.get("path") == finding.path)
    }
    return labels.pop() if len(labels) == 1 else None


def _is_of(claim: Mapping[str, Any], finding: Any, reader: Reader) -> bool:
    first, last = claim.get("start_line"), claim.get("line")
    if isinstance(first, int) and isinstance(last, int) and first <= finding.line and last >= finding.start_line:
        return True
    quote = json.loads(reader.text(finding.details))["quote"].strip()
    return bool(quote) and str(claim.get("quote", "")).strip() == quote


def _answered(project: str | None) -> Select[Any]:
    joined = (
        calls.join(sessions, sessions.c.id == calls.c.session_id)
        .join(tasks, tasks.c.id == sessions.c.task_id)
        .join(projects, projects.c.id == tasks.c.project_id)
    )
    query = select(calls, projects.c.name.label("project")).select_from(joined)
    query = query.where(calls.c.state == CallState.ANSWERED.value)
    return query if project is None else query.where(projects.c.name == storable(project))


def _stream(connection: Connection, query: Select[Any]) -> Iterator[Any]:
    with connection.execute(query, execution_options={"yield_per": _ROWS_AT_A_TIME}) as result:
        yield from result


def _object(words: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _completion(document: str) -> Mapping[str, Any] | None:
    """A whole answer; ``None`` for a refused or cut one, and for what is no completion."""
    value = _object(document)
    return value if value is not None and value.get("stop") in _WHOLE else None


def _text_of(completion: Mapping[str, Any] | None) -> str:
    if completion is None or completion["stop"] != Stop.END.value:
        return ""
    return str(completion.get("text", ""))


def _claims(reply: str) -> list[Mapping[str, Any]]:
    """The claims of a first-pass answer; none where it is an answer to something else."""
    claims = (_object(reply) or {}).get("claims")
    return [claim for claim in claims if isinstance(claim, dict)] if isinstance(claims, list) else []


def _prompt(reader: Reader, row: Any) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": reader.text(row.system)},
        {"role": "user", "content": reader.text(row.prefix) + reader.text(row.suffix)},
    ]


def _steps(exchanges: str) -> list[dict[str, Any]] | None:
    """The tool steps before the answer. ``None`` where the record cannot be read: then the answer has no sense without."""
    try:
        messages: list[dict[str, Any]] = []
        for exchange in json.loads(exchanges or "[]"):
            messages.append(_assistant({"tool_calls": exchange["calls"]}))
            for result in exchange["results"]:
                messages.append({"role": "tool", "tool_call_id": result["call_id"], "content": result["text"]})
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return messages


def _assistant(completion: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": str(completion.get("text") or "")}
    wishes = [
        {"id": wish["id"], "type": "function", "function": {"name": wish["name"], "arguments": wish["arguments"]}}
        for wish in completion.get("tool_calls") or ()
        if wish.keys() >= {"id", "name", "arguments"}
    ]
    return message | {"tool_calls": wishes} if wishes else message


def _metadata(row: Any) -> dict[str, Any]:
    return {
        "repository": hashlib.sha256(str(row.project).encode()).hexdigest()[:16],
        "session": row.session_id,
        "call": row.id,
        "seat": row.seat,
        "model": row.model,
        "phase": row.phase,
        "subject": row.subject,
        "round": row.round,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_usd": row.cost_usd,
    }


def _example(kind: Kind, row: Any, content: Mapping[str, Any]) -> Example:
    return Example(kind, split_of(row.project), json.dumps(_redacted(content), separators=(",", ":")))


def _redacted(value: Any) -> Any:
    """The value with every text in it redacted, before JSON's escapes could hide a secret's form."""
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, Mapping):
        return {key: _redacted(inner) for key, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list | tuple) else value
