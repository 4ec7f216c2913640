"""The code that was made for a review as rows: every task, every try, every write; and all of it read back.

Patches and files are bytes and texts are words: a byte that is no UTF-8 is kept as half a surrogate pair, and comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from reviewbot.adapters.store.tables import repair_tries, repair_versions, repairs
from reviewbot.adapters.store.texts import Reader, storable
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.domain.repair import CodeVersion, Goal, Proven, Repair, RepairOutcome, Tried
from reviewbot.domain.review import Review


def bodies(review: Review) -> tuple[str, ...]:
    """The long texts of all rows."""
    return tuple(_bodies(review))


def write(connection: Connection, session: str, review: Review, *, hashes: Mapping[str, str]) -> None:
    """Insert them all. ``hashes`` names every text of ``bodies``."""
    for place, repair in enumerate(review.repairs):
        connection.execute(insert(repairs).values(session_id=session, place=place, **_repair(repair, hashes)))
        for number, tried in enumerate(repair.tries):
            key = {"session_id": session, "repair": place, "place": number}
            connection.execute(insert(repair_tries).values(key | _tried(tried, hashes)))
            for order, version in enumerate(tried.versions):
                key = {"session_id": session, "repair": place, "tried": number, "place": order}
                connection.execute(insert(repair_versions).values(key | _version(version, hashes)))


def read(connection: Connection, reader: Reader, session: str) -> tuple[Repair, ...]:
    """What a session made, in order: with patches, tries and versions, without the whole files of the end."""
    rows = connection.execute(select(repairs).where(repairs.c.session_id == session).order_by(repairs.c.place)).all()
    return tuple(_read(reader, row, _tries(connection, reader, row)) for row in rows)


def _bodies(review: Review) -> Iterator[str]:
    for repair in review.repairs:
        yield from (_details(repair), _words(repair.patch))
        for tried in repair.tries:
            yield from (tried.reason, _words(tried.patch))
            yield from (_words(version.content) for version in tried.versions if version.content is not None)


def _words(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _data(words: str) -> bytes:
    return words.encode("utf-8", "surrogateescape")


def _details(repair: Repair) -> str:
    """What no query asks for, as JSON."""
    proof = repair.proof
    known = {
        "why": repair.why,
        "explanation": repair.explanation,
        "dissent": repair.dissent,
        "withheld": repair.withheld,
        "proof": {"told": proof.told, "beside": proof.beside, "check": _check(proof.check)} if proof else None,
    }
    return json.dumps(known, separators=(",", ":"))


def _check(check: Check | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "command": check.command,
        "source": check.source,
        "subject": check.subject,
        "outcome": check.outcome,
        "evidence": check.evidence,
        "output": check.output,
        "kind": check.kind,
        "author": check.author,
    }


def _repair(repair: Repair, hashes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": storable(repair.id),
        "title": storable(repair.title),
        "goal": repair.goal.value,
        "outcome": repair.outcome.value,
        "author": storable(repair.author),
        "patch": hashes[_words(repair.patch)],
        "details": hashes[_details(repair)],
    }


def _tried(tried: Tried, hashes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "author": storable(tried.author),
        "attempt": tried.attempt,
        "patch": hashes[_words(tried.patch)],
        "reason": hashes[tried.reason],
    }


def _version(version: CodeVersion, hashes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "number": version.number,
        "path": storable(version.path),
        "author": storable(version.by),
        "body": None if version.content is None else hashes[_words(version.content)],
    }


def _read(reader: Reader, row: Any, tries: tuple[Tried, ...]) -> Repair:
    more = json.loads(reader.text(row.details))
    return Repair(
        id=row.id,
        title=row.title,
        outcome=RepairOutcome(row.outcome),
        goal=Goal(row.goal),
        why=more["why"],
        author=row.author,
        explanation=more["explanation"],
        patch=_data(reader.text(row.patch)),
        proof=_read_proof(more["proof"]),
        tries=tries,
        dissent=more["dissent"],
        withheld=more["withheld"],
    )


def _tries(connection: Connection, reader: Reader, repair: Any) -> tuple[Tried, ...]:
    mine = (repair_tries.c.session_id == repair.session_id, repair_tries.c.repair == repair.place)
    rows = connection.execute(select(repair_tries).where(*mine).order_by(repair_tries.c.place)).all()
    return tuple(
        Tried(
            row.author,
            row.attempt,
            _data(reader.text(row.patch)),
            reader.text(row.reason),
            _versions(connection, reader, row),
        )
        for row in rows
    )


def _versions(connection: Connection, reader: Reader, tried: Any) -> tuple[CodeVersion, ...]:
    of = repair_versions.c
    mine = (of.session_id == tried.session_id, of.repair == tried.repair, of.tried == tried.place)
    rows = connection.execute(select(repair_versions).where(*mine).order_by(of.place)).all()
    return tuple(
        CodeVersion(row.number, row.path, None if row.body is None else _data(reader.text(row.body)), row.author) for row in rows
    )


def _read_proof(known: Mapping[str, Any] | None) -> Proven | None:
    if known is None:
        return None
    check = known["check"]
    return Proven(known["told"], _read_check(check) if check else None, tuple(known["beside"]))


def _read_check(known: Mapping[str, Any]) -> Check:
    return Check(
        command=tuple(known["command"]),
        source=known["source"],
        subject=known["subject"],
        outcome=CheckOutcome(known["outcome"]),
        evidence=tuple(known["evidence"]),
        output=known["output"],
        kind=CheckKind(known["kind"]),
        author=known["author"],
    )
