"""What the tests of extension share: the example package, installed once, and a place where it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extension.gateway import Gateway
from tests.extension.stock import install
from tests.fakes import reviewer
from tests.models.stage import ROLES, Stage

KEY = "key-of-the-gateway-0001"


class Workplace(Stage):
    """A :class:`Stage` whose processes see further packages."""

    packages: tuple[Path, ...] = ()

    def environment(self, **more: str) -> dict[str, str]:
        found = super().environment(**more)
        path = os.pathsep.join([found["PYTHONPATH"], *map(str, self.packages)])
        return found | {"PYTHONPATH": path, "GATEWAY_API_KEY": KEY}


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``reviewbot-example`` is installed in."""
    return install(tmp_path_factory.mktemp("example") / "packages")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    """A repository with a change, and no package but reviewbot."""
    made = Workplace(tmp_path)
    yield made
    made.close()
    assert made.attempts == [], "beyond this machine"


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """The models behind the example's provider."""
    with Gateway(reviewer()) as made:
        yield made


def seated(gateway: Gateway, **other: Any) -> dict[str, Any]:
    """The example's provider on every seat."""
    return {
        "providers": {"gateway": {"base_url": gateway.url}},
        "panel": {role: {"model": "gateway"} for role in ROLES},
        "moderator": {"model": "gateway:house-2"},
        **other,
    }
