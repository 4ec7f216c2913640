"""How fast local models are, kept over runs."""

from __future__ import annotations

import json
from dataclasses import asdict

from sqlalchemy import select

from reviewbot.adapters.store.database import upsert
from reviewbot.adapters.store.ledger import Ledger
from reviewbot.adapters.store.tables import profiles
from reviewbot.adapters.store.texts import storable
from reviewbot.ports import Profile


class LedgerProfiles:
    """See the port. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def profile(self, host: str, model: str) -> Profile | None:
        """What is known. Raises LedgerError."""
        return next((known for known in self.all() if (known.host, known.model) == (storable(host), storable(model))), None)

    def all(self) -> tuple[Profile, ...]:
        """Every model that was ever measured, by host and name. Raises LedgerError."""
        with self._ledger.database.read() as connection:
            rows = connection.execute(select(profiles).order_by(profiles.c.host, profiles.c.model)).mappings().all()
        return tuple(
            Profile(**{**row, "predictions": tuple((said, real) for said, real in json.loads(row["predictions"] or "[]"))})
            for row in rows
        )

    def learn(self, profile: Profile) -> None:
        """Keep it in place of what was known. Raises LedgerError."""
        row = asdict(profile) | {
            "host": storable(profile.host),
            "model": storable(profile.model),
            "predictions": json.dumps(profile.predictions),
        }
        self._ledger.database.write(lambda connection: upsert(connection, profiles, row))
