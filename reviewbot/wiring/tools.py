"""The tools of a panel: what it may look up, which databases it may ask, which commands it may run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from reviewbot.adapters.installed import Extension
from reviewbot.adapters.tools import outside
from reviewbot.adapters.tools.code import Workshop
from reviewbot.adapters.tools.grounds import ROWS, SECONDS, Database, Grounds
from reviewbot.adapters.tools.toolbox import TOOLS, Tools
from reviewbot.adapters.tools.trees import Trees
from reviewbot.config import Configuration
from reviewbot.errors import ConfigError
from reviewbot.ports import Sandbox, Toolbox
from reviewbot.wiring.order import Order
from reviewbot.wiring.scene import Scene

_SQLITE = "sqlite:///"
_ADDRESSES = ("postgresql://", "postgres://", _SQLITE)


def toolbox(scene: Scene, order: Order, room: Sandbox) -> Toolbox | None:
    """Everything that can be looked up here; ``None`` for a patch without a repository. Raises ConfigError."""
    if scene.git is None:
        return None
    grounds = Grounds(
        Trees(scene.git, scene.revisions),
        scene.git,
        databases(scene.configuration, order.environment),
        scene.configuration.texts("tools.commands"),
        room,
    )
    return Tools(grounds, (*TOOLS, *(partial(outside.offered, one) for one in extra(scene.configuration))))


def extra(configuration: Configuration) -> tuple[Extension, ...]:
    """The tools of other packages that the operator wants, each once. Raises ConfigError for one that nobody adds."""
    return tuple(outside.named(name) for name in dict.fromkeys(configuration.texts("tools.extra")))


def workshop(scene: Scene) -> Workshop | None:
    """Where models write code, in memory; ``None`` for a patch without a repository."""
    return Workshop(scene.git, scene.revisions, scene.git) if scene.git is not None else None


def databases(configuration: Configuration, environ: Mapping[str, str]) -> tuple[Database, ...]:
    """The databases that panelists may ask. Raises ConfigError for one without an address that can be used."""
    return tuple(_database(name, configuration, environ) for name in configuration.names("databases"))


def _database(name: str, configuration: Configuration, environ: Mapping[str, str]) -> Database:
    queries = configuration.value(f"databases.{name}.queries")
    seconds = configuration.value(f"databases.{name}.seconds")
    rows = configuration.value(f"databases.{name}.rows")
    return Database(
        name,
        _address(name, configuration, environ),
        queries=tuple(str(query) for query in queries) if isinstance(queries, tuple) else (),
        seconds=float(seconds) if isinstance(seconds, int | float) else SECONDS,
        rows=rows if isinstance(rows, int) else ROWS,
    )


def _address(name: str, configuration: Configuration, environ: Mapping[str, str]) -> str:
    url = configuration.value(f"databases.{name}.url")
    variable = configuration.value(f"databases.{name}.url_env")
    address = str(url or (environ.get(str(variable), "") if variable else ""))
    if not address:
        what = f"the variable {variable} is not set" if variable else "no address is given"
        raise ConfigError(f"databases.{name}: {what}", hint=f"set {variable}" if variable else "set its url or url_env")
    if not address.startswith(_ADDRESSES):
        raise ConfigError(f"databases.{name}: the address is of no known kind", hint=f"begin it with {' or '.join(_ADDRESSES)}")
    if address.startswith(_SQLITE) and not address.startswith(f"{_SQLITE}/"):
        # A path inside a work tree could be a link that the change itself brought along.
        raise ConfigError(f"databases.{name}: a SQLite file needs its whole path", hint="write sqlite:////path/to/file")
    return address
