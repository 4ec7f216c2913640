"""The tools that a configuration asks for: absent unless an operator names a database or a command."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.patch import PatchOnly
from reviewbot.config import Configuration
from reviewbot.domain.change import Revisions
from reviewbot.errors import ConfigError
from reviewbot.ports import ToolCall
from reviewbot.wiring.scene import Scene
from reviewbot.wiring.tools import databases, toolbox
from tests.repo import Repo
from tests.sandboxes import open_room
from tests.wiring.configured import an_order, configured

LOOKING = ["read_file", "search", "list_directory"]
ADDRESS = "postgresql://reader:geheim-0815@db.example/shop"


@pytest.fixture
def opened(git_repo: Repo, tmp_path: Path) -> Iterator[GitRepo]:
    git_repo.write("a.py", "x = 1\n")
    git_repo.commit()
    (tmp_path / "scratch").mkdir()
    opened = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    yield opened
    opened.close()


def offered(opened: GitRepo | PatchOnly, configuration: Configuration, *, level: str = "unconfined") -> list[str] | None:
    """The names of the tools that there would be."""
    room = open_room(level, Path())
    try:
        scene = Scene(opened, Revisions("range", "b", "h", None, None), configuration, Path())
        found = toolbox(scene, an_order({}), room)
        return [spec.name for spec in found.specs] if found is not None else None
    finally:
        room.close()


def test_by_default_panelists_only_look_at_the_trees(opened: GitRepo) -> None:
    assert offered(opened, configured()) == LOOKING
    assert offered(PatchOnly(), configured()) is None


def test_an_operator_adds_databases_and_commands(opened: GitRepo) -> None:
    both = "tools: {commands: [pytest]}\ndatabases: {shop: {url: 'sqlite:////nowhere/shop.db'}}"
    assert offered(opened, configured(users=both)) == [*LOOKING, "query_database", "execute_command"]
    assert offered(opened, configured(users=both), level="none") == [*LOOKING, "query_database"]


def test_a_repository_adds_neither() -> None:
    for file in ("tools: {commands: ['*']}", f"databases: {{shop: {{url: '{ADDRESS}'}}}}"):
        with pytest.raises(ConfigError, match="is an operator key"):
            configured(file)


def test_what_is_configured_of_a_database_holds() -> None:
    said = f"databases: {{shop: {{url: '{ADDRESS}', queries: [SELECT 1], seconds: 0.5, rows: 7}}, log: {{url_env: LOG_URL}}}}"
    shop, log = databases(configured(users=said), {"LOG_URL": "sqlite:////var/log.db", "UNUSED": "x"})
    assert (shop.name, shop.address, shop.queries, shop.seconds, shop.rows) == ("shop", ADDRESS, ("SELECT 1",), 0.5, 7)
    assert (log.name, log.address, log.queries, log.seconds, log.rows) == ("log", "sqlite:////var/log.db", (), 5.0, 200)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("{url_env: SHOP_URL}", "the variable SHOP_URL is not set"),
        ("{url_env: EMPTY}", "the variable EMPTY is not set"),
        ("{rows: 3}", "no address is given"),
        ("{url_env: MYSQL}", "the address is of no known kind"),
        ("{url: 'sqlite:///shop.db'}", "needs its whole path"),
    ],
)
def test_a_database_that_cannot_be_asked_is_an_error_of_the_configuration(said: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        databases(configured(users=f"databases: {{shop: {said}}}"), {"EMPTY": "", "MYSQL": "mysql://u:geheim-0815@h/d"})
    assert str(raised.value).startswith("databases.shop: ")
    assert raised.value.hint
    assert "geheim" not in str(raised.value)


def test_a_configured_database_answers(opened: GitRepo, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "shop.db").close()
    room = open_room("none", Path())
    scene = Scene(
        opened, Revisions("range", "b", "h", None, None), configured(users="databases: {shop: {url_env: SHOP}}"), Path()
    )
    tools = toolbox(scene, an_order({"SHOP": f"sqlite:///{tmp_path}/shop.db"}), room)
    assert tools is not None
    call = ToolCall("1", "query_database", '{"database": "shop", "query": "SELECT 6 * 7 AS answer"}')
    assert json.loads(tools.use(call).text) == {"columns": ["answer"], "rows": [[42]], "truncated": False}
    room.close()
