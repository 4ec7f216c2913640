"""Configurations and orders to wire by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reviewbot.config import Configuration, Source, load
from reviewbot.domain.target import Target, TargetKind
from reviewbot.wiring.order import Order


def configured(repository: str = "", users: str = "", **flags: object) -> Configuration:
    """What holds where these files are there; ``debate__rounds=1`` is a flag."""
    return load(
        repository=(Source(".reviewbot.yml", repository.encode()),),
        user=Source("config.yml", users.encode()),
        flags={name.replace("__", "."): (value, f"--{name}") for name, value in flags.items()},
    )


def an_order(environment: Mapping[str, str], *, panel: str | None = None, models: tuple[str, ...] = ()) -> Order:
    return Order(Target(TargetKind.WORKTREE), Path(), environment, {}, panel=panel, models=models)
