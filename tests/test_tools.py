"""Tools of panelists: what they read is what git has, and they can do nothing else."""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from msgspec.structs import replace

from reviewbot.config.load import flag_layer
from reviewbot.config.settings import ToolSettings
from reviewbot.errors import ConfigError
from reviewbot.events import Event
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.llm.provider import ToolCall, ToolTurn
from reviewbot.llm.tools import MAX_CHARACTERS, STEPS, ToolBox
from reviewbot.llm.tools.files import Context
from reviewbot.pipeline import review
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.executor import LocalExecutor
from reviewbot.services import Host
from tests.conftest import Project, why_no_sandbox
from tests.fake_openai import answer
from tests.postgres import postgres as postgres
from tests.vendor_server import Received, Sent, VendorServer

TOKEN = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + ("MIIEowIBAAKCAQEA" * 4 + "\n") * 3
KEY += "-----END RSA PRIVATE KEY-----\n"
FILES: Mapping[str, str | bytes | None] = {
    "shop/work.py": "LIMIT = 1\n",
    "shop/windows.py": b"FIRST = 1\r\nSECOND = 2\r\n",
    "shop/long.py": "".join(f"VALUE_{number} = {number}\n" for number in range(1, 601)),
    "shop/wide.js": "x" * 9_000 + "needle" + "y" * 9_000 + "\n",
    "shop/wide.txt": ("w" * 900 + "\n") * 100,
    "shop/keys.py": f"NAME = 1\nTOKEN = '{TOKEN}'\n{KEY}END = 1\n",
    "shop/hidden.py": "a = [1]  # \u202e reversed\n",
    "shop/latin.txt": "caf\xe9\n".encode("latin-1"),
    "shop/empty.py": "",
    "image.png": b"\x89PNG\r\n\x00LIMIT",
    "large.txt": b"large\n" * 200_000,
    "-c": "dash = 1\n",
    "--open-files-in-pager": "dash = 2\n",
    "a b/\u202e.py": "odd = 1\n",
    ".gitattributes": "*.py binary\n",
}
TARGET = "HEAD"


class Shop(NamedTuple):
    """A repository with three commits, of which the last is the change."""

    folder: Path
    repository: Repository
    change: Change


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    project = Project(tmp_path_factory.mktemp("shop"))
    project.commit("Add a shop", FILES)
    (project.folder / "link.py").symlink_to("/etc/passwd")
    (project.folder / "folder").symlink_to("shop")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    project.git("add", "link.py", "folder")
    project.git("commit", "--quiet", "--message=Add links")
    project.git("mv", "shop/empty.py", "shop/none.py")
    (project.folder / "shop/work.py").write_text("LIMIT = 2\n")
    project.git("commit", "--quiet", "--message=Raise the limit", "shop/")
    (project.folder / "shop/work.py").write_text("LIMIT = 'only in the work tree'\n")
    (project.folder / "untracked.py").write_text("LIMIT = 'untracked'\n")
    with Repository(project.folder) as repository:
        change = asyncio.run(repository.load_change(TARGET))
        yield Shop(project.folder, repository, change)


def use(
    shop: Shop,
    *calls: tuple[str, Any],
    earlier: Sequence[ToolTurn] = (),
    journal: Journal | None = None,
    **settings: Any,
) -> list[str]:
    """What tools answer to calls in one answer. Arguments that are text are sent as they are."""
    texts = [given if isinstance(given, str) else json.dumps(given) for _, given in calls]
    names = (name for name, _ in calls)
    wanted = [ToolCall(id="", name=n, arguments=t) for n, t in zip(names, texts, strict=True)]
    journal = journal or Journal()
    sandbox = Bubblewrap(find_environment(shop.folder, {}))
    with LocalExecutor(shop.repository, sandbox, journal) as executor:
        around: Any = {"change": shop.change, "repository": shop.repository, "journal": journal}
        context = Context(**around, settings=ToolSettings(**settings), executor=executor)
        box = ToolBox(context)
        return list(asyncio.run(box.run(wanted, earlier)))


READ = "read_file cannot read its arguments: "
NO_TEXT = (
    *("", "shop", "link.py", "folder/work.py", "vendor/lib", "image.png", "large.txt"),
    *("../../etc/passwd", "shop/../-c", ".git/config", "untracked.py"),
)
LONG = "7 to 8 of 600:\n    7 VALUE_7 = 7\n    8 VALUE_8"


def test_a_file_is_read(shop: Shop) -> None:
    for path, more, expected in (
        ("shop/work.py", {}, "shop/work.py at head, lines 1 to 1 of 1:\n    1 LIMIT = 2"),
        ("/shop/./work.py", {"side": "base"}, "    1 LIMIT = 1"),
        ("shop/windows.py", {"side": None}, "    1 FIRST = 1\n    2 SECOND = 2"),
        ("shop/long.py", {"start": "7", "end": 8}, LONG),
        ("shop/long.py", {"start": -1}, "1 to 300 of 600 (300 at once):\n    1 VALUE_1 = 1"),
        ("shop/long.py", {"start": 599, "end": 999}, "lines 599 to 600 of 600:\n  599 VALUE"),
        ("shop/wide.js", {}, "x … (17506 more characters)"),
        ("shop/hidden.py", {}, "a = [1]  # ⟨U+202E⟩ reversed"),
        ("shop/latin.txt", {}, "    1 caf\ufffd"),
        ("shop/none.py", {}, "shop/none.py at head, lines 1 to 0 of 0:"),
        ("a b/\u202e.py", {}, "    1 odd = 1"),
        ("-c", {}, "    1 dash = 1"),
        *((path, {}, f"there is no text file {path} at head") for path in NO_TEXT),
        ("shop/none.py", {"side": "base"}, "there is no text file shop/none.py at base of up to"),
        ("a\0b", {}, "there is no text file a⟨U+0000⟩b at head"),
        ("x", {"side": "HEAD; ls"}, f"{READ}Invalid enum value 'HEAD; ls' - at `$.side`"),
        (5, {}, f"{READ}Expected `str`, got `int` - at `$.path`"),
    ):
        (result,) = use(shop, ("read_file", {"path": path, **more}))
        assert expected in result, path
        assert "work tree" not in result
        assert "root:" not in result


ONE_LINE = "text must be 1 to 200 characters of one line"


def test_a_text_is_found(shop: Shop) -> None:
    for text, more, expected in (
        ("LIMIT = ", {}, "shop/work.py:1: LIMIT = 2"),
        ("dash =", {}, "--open-files-in-pager:1: dash = 2\n-c:1: dash = 1"),
        ("dash =", {"path": "-c"}, "-c:1: dash = 1"),
        ("SECOND", {"path": "shop/"}, "shop/windows.py:2: SECOND = 2"),
        ("SECOND", {"path": "a b"}, "no line contains 'SECOND' at head in a b"),
        ("SECOND", {"path": "shop/w"}, "there is no file or folder shop/w at head; list_directory"),
        ("= [1]", {}, "shop/hidden.py:1: a = [1]  # ⟨U+202E⟩ reversed"),
        *((t, {}, f"no line contains '{t}' at head") for t in ("-Otouch x", "VALUE_.*", "root:")),
        ("needle", {}, f"shop/wide.js:1: … {'x' * 250}needle{'y' * 244} …"),
        *((text, {}, ONE_LINE) for text in ("a\nb", "a\0b", "")),
    ):
        (result,) = use(shop, ("search", {"text": text, **more}))
        assert result.startswith(expected), text
        assert result.count("\n") == expected.count("\n")


def test_what_a_model_writes_breaks_nothing(shop: Shop) -> None:
    calls = ("{broken", '{"path":' + "[" * 100_000, "", "[]", '{"path": "\\ud800"}')
    results = use(shop, *(("read_file", call) for call in calls))
    assert all(result.startswith(READ) for result in results)
    (unknown,) = use(shop, ("read_file", {"path": "shop/work.py", "first": 7, "last": 8}))
    assert unknown.startswith(READ)
    assert unknown.endswith("; it takes path, side, start, end")
    known = "there is no tool rm; there are read_file, search, list_directory"
    assert use(shop, ("rm", {})) == [known]


def test_a_folder_is_listed(shop: Shop) -> None:
    no_folder = {path: f"there is no folder {path} at head" for path in ("shop/work.py", "..")}
    expected = {
        "a b/": "a b at head, 1 names:\n⟨U+202E⟩.py",
        "vendor": "vendor at head, 1 names:\nlib (submodule)",
        "folder/x": "there is no folder folder/x at head",
        **no_folder,
    }
    calls = [("list_directory", {"path": path}) for path in expected]
    assert use(shop, *calls) == [*expected.values()]
    (result,) = use(shop, ("list_directory", {}))
    assert result.split("\n") == [
        "the top at head, 10 names:",
        *("--open-files-in-pager", "-c", ".gitattributes", "a b/", "folder (symbolic link)"),
        *("image.png", "large.txt", "link.py (symbolic link)", "shop/", "vendor/"),
    ]


def test_secrets_are_not_shown_and_cannot_be_guessed(shop: Shop) -> None:
    whole, part, token, *guesses = use(
        shop,
        ("read_file", {"path": "shop/keys.py"}),
        ("read_file", {"path": "shop/keys.py", "start": 4, "end": 5}),
        *(("search", {"text": text}) for text in ("TOKEN =", TOKEN[:20], "MIIEow")),
        ("read_file", {"path": TOKEN}),
    )
    assert "    2 TOKEN = '«secret:github-token»'" in whole
    assert token == "shop/keys.py:2: TOKEN = '«secret:github-token»'"
    assert all(guess.startswith("no line contains") for guess in guesses[:2])
    for result in (whole, part, token, *guesses):
        assert not [secret for secret in ("MIIEowIB", TOKEN) if secret in result]


def test_hits_and_results_are_cut_and_it_is_said(shop: Shop) -> None:
    (hits,) = use(shop, ("search", {"text": "VALUE_"}))
    assert hits.count("shop/long.py") == 50
    assert hits.endswith("More lines contain it; search for a longer text, or in a path.")
    wide = ("read_file", {"path": "shop/wide.txt", "end": 38})
    results = use(shop, *[wide] * 4)
    note = "(Cut: a question has room for 48000 characters of results.)"
    assert results[2].endswith(f"\n{note}")
    assert results[3] == note
    assert sum(map(len, results[:3])) == MAX_CHARACTERS + len(note) + 1
    turn = ToolTurn(calls=(), results=("x" * MAX_CHARACTERS,))
    assert use(shop, wide, earlier=(turn,))[0].startswith("(Cut: a question has room")
    last = use(shop, wide, earlier=(turn,) * 4)
    assert last == ["no more calls for this question: answer now"]
    many = use(shop, *[("search", {"text": "SECOND"})] * 17)[15:]
    assert many == ["shop/windows.py:2: SECOND = 2", "too many calls at once: make fewer"]


@pytest.mark.parametrize(
    ("allowed", "command", "expected"),
    [
        (["sh  -c"], ["sh", "-c", "echo out; echo err >&2; exit 3"], "exit code 3\nout\nerr"),
        (["cat"], ["cat", "shop/work.py", "$HOME", "; id"], "exit code 1\nLIMIT = 2\ncat: '$HOME'"),
        (["sh -c"], ["sh", "-c", "cat shop/keys.py"], "TOKEN = '«secret:github-token»'"),
        (["sh -c"], ["sh", "-c", "pwd; echo $PWD/shop/x"], "exit code 0\n.\nshop/x"),
        (["sh -c"], ["sh", "-c", "cat shop/long.py"], "\n(3383 characters are left out)\n"),
        (["true"], ["true"], "exit code 0\n(it printed nothing)"),
        (["sh -c"], ["sh", "-c", "kill -9 $$"], "the command was stopped: was killed"),
        (["no-such-program"], ["no-such-program"], "no-such-program is not installed"),
        (["sh -c"], ["sh", "-e"], "only commands that begin with one of these may run: sh -c"),
        (["go test", "cat"], ["go", "vet"], "these may run: go test, cat"),
        (["sh"], ["/bin/sh"], "only commands"),
        (["sh", "", " "], ["id"], "only commands"),
        (["sh"], [], "only commands"),
        (["sh"], ["sh", "a\0b"], "a word of the command contains a null character"),
        ([], ["sh"], "there is no tool execute_command"),
    ],
)
def test_commands_of_the_operator(
    shop: Shop, allowed: list[str], command: Any, expected: str
) -> None:
    if reason := why_no_sandbox():
        pytest.skip(f"not run: no sandbox ({reason})")
    call = ("execute_command", {"command": command})
    (result,) = use(shop, call, commands=tuple(allowed))
    assert expected in result
    assert len(result) < 6_200


SQL = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO item VALUES (1, 'one', 1.5), (2, NULL, -0.5), (3, 'three', 9);
"""
PASSWORD = "geheim-0815"


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    file = tmp_path / "the shop%20#.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(SQL)
    connection.close()
    return f"sqlite:///{file}"


@pytest.fixture(scope="module")
def postgresql(postgres: str) -> str:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE number; CREATE ROLE reader LOGIN")
        connection.execute(SQL + "GRANT ALL ON item, number TO reader")
        connection.execute("GRANT ALL ON SCHEMA public TO reader; ANALYZE item")
    return postgres.replace("owner@", f"reader:{PASSWORD}@")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue(request.param)
    return address


def ask(
    shop: Shop, database: str, *statements: str, parameters: Any = (), journal: Any = None
) -> list[str]:
    calls = [("query_database", {"sql": sql, "parameters": parameters}) for sql in statements]
    results = use(shop, *calls, database=database, journal=journal)
    assert not any(PASSWORD in result or "host=" in result for result in results)
    return results


def test_rows_are_json_objects(shop: Shop, database: str) -> None:
    one = "?" if database.startswith("sqlite") else "$1"
    select = f"SELECT id, price FROM item WHERE name = {one} ; "
    assert ask(shop, database, select, parameters=["one"]) == ['{"id":1,"price":1.5}']
    select = f"SELECT id, name FROM item WHERE id >= {one} ORDER BY id -- x"
    expected = '{"id":2,"name":null}\n{"id":3,"name":"three"}'
    assert ask(shop, database, select, parameters=[2]) == [expected]
    attack = "'; DELETE FROM item; --"
    (row,) = ask(shop, database, f"SELECT cast({one} AS text) AS a", parameters=[attack])
    assert json.loads(row) == {"a": attack}
    count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT"
    wide = "replace(hex(zeroblob(20000)), '00', 'x')" if one == "?" else "repeat('x', 20000)"
    explain = "EXPLAIN QUERY PLAN" if one == "?" else "EXPLAIN"
    none, all, more, long, secret, plan = ask(
        shop,
        database,
        "SELECT 1 AS a FROM item WHERE id > 9",
        *(f"{count} 100", f"{count} 101", f"SELECT {wide} AS a", f"SELECT '{TOKEN}' AS a"),
        f"{explain} SELECT * FROM item",
    )
    assert none == "no rows"
    assert more == f"{all}\n(There is more; at most 100 rows are shown.)"
    assert long[9_900:].startswith("x")
    assert len(long) < 10_100
    assert secret == '{"a":"«secret:github-token»"}'
    assert "scan" in plan.lower()


WRITES = (
    *("DELETE FROM item", "UPDATE item SET price = 0", "DROP TABLE item", "CREATE TABLE x (a int)"),
    *("SELECT 1; DELETE FROM item", "SELECT 1; SELECT 2", "COMMIT", "BEGIN", "VACUUM", "SELECT \0"),
    *("WITH a AS (SELECT 1) DELETE FROM item", "CREATE TEMP TABLE x (a int)", "ANALYZE"),
    *("SELECT * FROM nowhere", "SELECT ("),
)
REFUSED = {
    "sqlite": (
        *WRITES,
        *("ATTACH '/tmp/reviewbot.db' AS other", "VACUUM INTO '/tmp/reviewbot.db'"),
        *("PRAGMA query_only = OFF", "PRAGMA user_version = 3", "EXPLAIN PRAGMA user_version = 3"),
        *("SELECT * FROM pragma_journal_mode('wal')", "SELECT zeroblob(900000000)"),
        *("SELECT load_extension('x')", "SELECT 1 REGEXP '(a+)+$'", "SELECT 1 AS a, 2 AS a"),
    ),
    "postgresql": (
        *WRITES,
        "SELECT 1) AS reviewbot_row; COMMIT; DELETE FROM item; SELECT * FROM (SELECT 1",
        "EXPLAIN SELECT 1; COMMIT; DELETE FROM item",
        *("EXPLAIN ANALYZE DELETE FROM item", "EXPLAIN ANALYZE SELECT nextval('number')"),
        "WITH a AS (DELETE FROM item RETURNING id) SELECT * FROM a",
        *("SELECT nextval('number')", "SELECT * INTO more FROM item", "TABLE item FOR UPDATE"),
        *("COPY item TO STDOUT", "COPY item TO PROGRAM 'id'", "SELECT pg_read_file('PG_VERSION')"),
        *("SELECT lo_import('/etc/passwd')", "SELECT pg_reload_conf()", "LOCK item", ""),
        *("DO $$ BEGIN DELETE FROM item; END $$", "SET default_transaction_read_only = off"),
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT query_to_xml('DELETE FROM item', true, true, '')",
    ),
}  # fmt: skip


def test_the_database_refuses_what_does_more_than_read(shop: Shop, database: str) -> None:
    before = state(database)
    statements = REFUSED[database.partition(":")[0]]
    for part in (statements[:16], statements[16:32], statements[32:]):
        for sql, result in zip(part, ask(shop, database, *part), strict=True):
            assert result.startswith(("the database says: ", "the statement contains")), sql
    wrong: list[Any] = [10**30, "a\0b", {}]
    for parameter in wrong:
        (result,) = ask(shop, database, "SELECT 1", parameters=[parameter])
        assert result.startswith(("the database says: ", "query_database cannot read"))
    assert state(database) == before
    assert not Path("/tmp/reviewbot.db").exists()


def state(database: str) -> Any:
    """All that a statement could have changed."""
    if database.startswith("sqlite"):
        file = Path(database.removeprefix("sqlite:///"))
        names = [path.name for path in file.parent.iterdir()]
        return hashlib.sha256(file.read_bytes()).digest(), names
    with psycopg.connect(database) as connection:
        return connection.execute(
            "SELECT (SELECT sum(price) FROM item), (SELECT (last_value, is_called) FROM number),"
            " (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace),"
            " (SELECT count(*) FROM pg_largeobject_metadata)"
        ).fetchone()


def test_a_query_ends_and_is_recorded(
    shop: Shop, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    journal = Journal()
    with monkeypatch.context() as patch:
        for seconds in (0.2, 0.1):  # what was not answered is asked again
            patch.setattr("reviewbot.llm.tools.database.SECONDS", seconds)
            answers = ask(shop, database, endless, journal=journal)
            assert answers == [f"the query took longer than {seconds} s"]
    now = "clock_timestamp()" if database.startswith("postgresql") else "julianday('now')"
    clock = f"SELECT {now} AS a, random() AS b"
    first, second = ask(shop, database, clock, clock, journal=journal)
    assert first == second
    assert ask(shop, database, clock, journal=journal) == [first]
    assert ask(shop, database, clock) != [first]


def test_what_reading_allows_leaves_nothing_behind(
    shop: Shop, postgres: str, postgresql: str
) -> None:
    before = state(postgresql)
    with psycopg.connect(postgres, autocommit=True) as listener:
        listener.execute("LISTEN channel")
        allowed = ("SELECT pg_notify('channel', 'x')", "SELECT lo_create(4711)")
        ask(shop, postgresql, *allowed, "SELECT pg_advisory_lock(1)")
        assert not list(listener.notifies(timeout=0.1))
        locks = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"
        assert listener.execute(locks).fetchall() == []
    assert state(postgresql) == before


def test_an_unfit_database_is_not_asked(shop: Shop, postgres: str, sqlite: str) -> None:
    (result,) = ask(shop, postgres, "SELECT 1 AS a")
    assert result.startswith("the database is not asked, because its user has the rights of owner")
    nobody = postgres.replace("owner@", f"nobody:{PASSWORD}@")
    for address in (nobody, f"postgresql://x:{PASSWORD}@127.0.0.1:1/x?bogus=1"):
        assert ask(shop, address, "SELECT 1 AS a") == ["the database cannot be reached"]
    with pytest.raises(ConfigError, match=r"tools\.database is no address"):
        ask(shop, f"mysql://x:{PASSWORD}@host/x", "SELECT 1")
    with pytest.raises(ConfigError, match=r"tools\.database: there is no file .*-none\.db"):
        ask(shop, sqlite.replace(".db", "-none.db"), "SELECT 1")


def host_with(server: VendorServer, repository: Repository, **options: Any) -> Host:
    """A panel of one model of a server with chat completions."""
    price = {"model": "m", "input": 1, "output": 1}
    provider = {"base_url": f"{server.url}/v1", "prices": [price]}
    layers = (flag_layer({"providers.fake": provider, "review.effort": "low"}),)
    panel = {"critic": "fake:m"}
    return Host(
        repository=repository,
        journal=Journal(),
        layers=layers,
        panelists=panel,
        may_execute=False,
        **options,
    )


def test_who_gave_no_usable_answer_is_asked_again_without_tools(shop: Shop) -> None:
    """The server holds it to the schema then."""
    for words in (["I see no defect."], ["", ""]):
        server = VendorServer([*map(answer, words), answer('{"claims": []}')])
        with server.running(), Repository(shop.folder) as repository:
            result = asyncio.run(review(TARGET, host_with(server, repository)))
        assert [member.answered for member in result.panel] == [True]
        bodies = [received.body for received in server.received]
        assert [body.get("tool_choice") for body in bodies] == [*[None] * len(words), "none"]
        assert ["response_format" in body for body in bodies] == [*[False] * len(words), True]


def test_the_schema_has_the_kinds_of_reproductions_of_the_languages(tmp_path: Path) -> None:
    for name, kinds in (("a.py", ("test", "benchmark")), ("a.go", ("test",))):
        (tmp_path / name).mkdir()
        project = Project(tmp_path / name)
        project.commit("Before", {name: "1\n"})
        project.commit("After", {name: "2\n"})
        server = VendorServer([answer("Nothing."), answer('{"claims": []}')])
        with server.running(), Repository(project.folder) as repository:
            asyncio.run(review(TARGET, host_with(server, repository)))
        schema = server.received[-1].body["response_format"]["json_schema"]["schema"]
        said = json.dumps(schema["$defs"]["Reproduction"])
        assert [kind for kind in ("test", "benchmark") if kind in said] == [*kinds]


@pytest.mark.parametrize("stops", [True, False])
def test_a_panelist_looks_something_up_before_it_answers(shop: Shop, stops: bool) -> None:
    seen: list[str] = []
    events: list[Event] = []
    calls = [("read_file", {"path": "shop/work.py"}), ("search", {"text": "SECOND"})]

    def script(received: Received) -> Sent:
        """Looks up again and again, even when told to answer, until it has heard so."""
        results = [m["content"] for m in received.body["messages"] if m["role"] == "tool"]
        if stops and any("answer now" in result for result in results):
            seen.extend(results)
            return answer('{"claims": []}')
        return answer(calls=calls)

    with VendorServer(script).running() as server, Repository(shop.folder) as repository:
        host = host_with(server, repository, emit=events.append)
        result = asyncio.run(review(TARGET, host))
        assert [member.answered for member in result.panel] == [stops]
        requests = len(server.received)
        if not stops:  # warned once, then asked again without tools
            assert requests == STEPS + 2 + 1
            assert "critic did not answer: it goes on calling tools" in result.gaps
            return
        again = asyncio.run(review(TARGET, host))
    assert (len(server.received), again.usage.calls) == (requests, 0)
    found = "shop/windows.py:2: SECOND = 2\n(Steps left: 3.)"
    assert seen[:2] == ["shop/work.py at head, lines 1 to 1 of 1:\n    1 LIMIT = 2", found]
    assert len(seen) == 10
    question, wish, results = [event.text for event in events if event.text][:3]
    assert question.startswith("# Task: find defects")
    search = 'search {"text": "SECOND"}'
    assert wish == f'calls read_file {{"path": "shop/work.py"}}\ncalls {search}'
    assert results.endswith(f"{search} returns\n{found}")
    first = server.received[0].body
    assert "read_file, search, list_directory" in str(first["messages"])
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert names == ["read_file", "search", "list_directory"]


def test_a_line_that_was_looked_up_or_printed_may_be_cited(shop: Shop) -> None:
    claim = {
        **{"path": "shop/work.py", "line": 1, "quote": "LIMIT = 2", "title": "The limit is wrong"},
        **{"category": "correctness", "severity": "medium", "trigger": "any", "reproduction": None},
        **{"consequence": "too many", "refuted_if": "nobody reads it"},
    }
    judgement = {
        **{"case": "C1", "reason": "Another limit holds.", "citations": ["shop/long.py:7"]},
        **{"stance": "not_real", "same_as": None},
    }

    def script(received: Received) -> Sent:
        text, has_looked = str(received.body["messages"]), "'tool'" in str(received.body)
        if "find defects" in text:
            return answer(json.dumps({"claims": [claim] if received.number == 1 else []}))
        if not has_looked:
            return answer(calls=[("read_file", {"path": "shop/long.py", "start": 5, "end": 9})])
        return answer(json.dumps({"judgements": [judgement]}))

    with VendorServer(script).running() as server, Repository(shop.folder) as repository:
        host = host_with(server, repository)
        layers = (*host.layers, flag_layer({"review.effort": "medium"}))
        roles = dict.fromkeys(("critic", "reviewer", "optimizer"), "fake:m")
        result = asyncio.run(review(TARGET, replace(host, layers=layers, panelists=roles)))
    (finding,) = result.findings
    assert (finding.ruling, finding.status) == ("not_real", "recorded")
