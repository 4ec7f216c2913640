"""Tools for panelists: real trees, strict arguments, nothing raw, nothing without a bound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.tools import page, read_file, search
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.adapters.tools.history import condensed
from reviewbot.adapters.tools.toolbox import Tools
from reviewbot.adapters.tools.trees import Trees
from reviewbot.domain.change import Revisions
from reviewbot.ports import Exchange, Hit, ToolCall, ToolResult, TreeEntry
from tests.repo import Repo
from tests.rings import examples

KEY = "A" + "KIA" + "Q" * 16
PEM_BODY = [f"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm{n:02}" for n in range(10)]
PEM = "\n".join(["-----BEGIN PRIVATE " + "KEY-----", *PEM_BODY, "-----END PRIVATE " + "KEY-----", ""])


NOTHING = {"found": 0, "complete": True, "hits": [], "more": None}


class Shop:
    """A repository with a base and a head, and the tools over it."""

    def __init__(self, repo: Repo, opened: GitRepo) -> None:
        self.repo, self.opened = repo, opened
        repo.write("src/app.py", "def run():\n    return 1\n")
        repo.write("src/old.py", "gone = True\n")
        base = repo.commit()
        repo.remove("src/old.py")
        repo.write("src/app.py", "def run():\n    return 2\n\n\ncalled = run()\n")
        repo.write("src/deep/er.py", "import app\n")
        repo.write("docs/README.md", "how to run it\n")
        repo.write("secret.txt", f"aws = '{KEY}'\nx\u202ey\n")
        repo.write("key.pem", PEM)
        repo.write("logo.png", b"\x89PNG\0\0")
        repo.write("empty.txt", "")
        repo.write("long.txt", "".join(f"line {n}\n" for n in range(1, 1001)))
        repo.write("wide.txt", "w" * 3000 + "\n")
        repo.write("bad\udcff\u202e.txt", "odd\n")
        repo.link("link", "../../etc/passwd")
        repo.commit()
        repo.write("src/app.py", "the work tree\n")
        trees = [repo.git("rev-parse", f"{name}^{{tree}}") for name in (base, "HEAD")]
        self.tools = over(opened, Revisions("range", "b", "h", trees[0], trees[1]))

    def use(self, name: str, **arguments: object) -> dict[str, Any]:
        result = self.tools.use(ToolCall("c1", name, json.dumps(arguments)))
        assert (result.call_id, result.is_error) == ("c1", False), result.text
        return an_object(result)

    def fail(self, name: str, **arguments: object) -> str:
        result = self.tools.use(ToolCall("c2", name, json.dumps(arguments)))
        assert (result.call_id, result.is_error) == ("c2", True), result.text
        return an_error(result)["message"]


def over(opened: GitRepo, revisions: Revisions) -> Tools:
    return Tools(Grounds(Trees(opened, revisions), opened))


def over_a(world: Counting) -> Tools:
    return Tools(Grounds(Trees(world, Revisions("range", "b", "h", "base", "head")), world))


def an_object(result: ToolResult) -> dict[str, Any]:
    document = json.loads(result.text)
    assert isinstance(document, dict)
    assert ("error" in document) == result.is_error
    return document


def an_error(result: ToolResult) -> dict[str, Any]:
    document = an_object(result)
    assert document.keys() == {"error"}
    assert document["error"].keys() == {"kind", "message", "expected"}
    return document["error"]


@pytest.fixture
def shop(git_repo: Repo, tmp_path: Path) -> Iterator[Shop]:
    (tmp_path / "scratch").mkdir()
    opened = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    yield Shop(git_repo, opened)
    opened.close()


def test_files_are_read_at_either_revision_and_never_from_the_work_tree(shop: Shop) -> None:
    assert shop.use("read_file", path="src/app.py", start=2, end=2) == {
        "path": "src/app.py",
        "revision": "head",
        "start": 2,
        "end": 2,
        "of": 5,
        "lines": ["     2 |     return 2"],
        "more": None,
    }
    base = shop.use("read_file", path="./src/app.py", revision="base", start=None)
    assert (base["path"], base["revision"], base["lines"][-1]) == ("src/app.py", "base", "     2 |     return 1")
    assert shop.use("read_file", path="src/old.py", revision="base")["lines"] == ["     1 | gone = True"]
    assert shop.fail("read_file", path="src/old.py") == "there is no file src/old.py at head"


def test_a_long_file_comes_in_pages(shop: Shop) -> None:
    first = shop.use("read_file", path="long.txt")
    assert first["more"] == "lines 401 to 1000 are not shown: ask again with start 401"
    assert (first["end"], first["of"], len(first["lines"])) == (400, 1000, read_file.MOST_LINES)
    last = shop.use("read_file", path="long.txt", start=999, end=5000)
    assert last["lines"] == ["   999 | line 999", "  1000 | line 1000"]
    assert (last["end"], last["more"]) == (1000, None)
    assert "has 1000 lines" in shop.fail("read_file", path="long.txt", start=1001)
    assert "none from 5 to 4" in shop.fail("read_file", path="long.txt", start=5, end=4)
    assert "⟨2600 more characters⟩" in shop.use("read_file", path="wide.txt")["lines"][0]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("logo.png", {"is": "a binary file of 6 bytes"}),
        ("link", {"is": "a symbolic link to ../../etc/passwd"}),
        ("empty.txt", {"start": 0, "end": 0, "of": 0, "lines": [], "more": None}),
    ],
)
def test_what_is_no_text_is_said(shop: Shop, path: str, said: dict[str, Any]) -> None:
    assert shop.use("read_file", path=path) == {"path": path, "revision": "head"} | said


def test_a_submodule_is_said(shop: Shop, tmp_path: Path) -> None:
    commit = shop.repo.git("rev-parse", "HEAD")
    shop.repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    tree = shop.repo.git("write-tree")
    tools = over(shop.opened, Revisions("range", "b", "h", None, tree))
    lib = an_object(tools.use(ToolCall("1", "read_file", '{"path": "vendor/lib"}')))
    assert lib["is"] == f"a submodule at commit {commit}: its files are not here"
    assert an_object(tools.use(ToolCall("1", "list_directory", '{"path": "vendor"}')))["names"] == ["lib  submodule"]
    refused = an_error(tools.use(ToolCall("1", "read_file", '{"path": "a", "revision": "base"}')))
    assert (refused["kind"], refused["message"]) == ("not_found", "the files at base are not known: only a patch was given")


@pytest.mark.parametrize(
    "path", ["../home", "src/../../x", "/etc/passwd", ".git/config", "link/passwd", "src/app.py/..", "C:\\x"]
)
def test_no_path_leaves_the_tree(shop: Shop, path: str) -> None:
    for tool in ("read_file", "list_directory"):
        assert ("without '..'" in shop.fail(tool, path=path)) == (".." in path)


def test_secrets_and_hidden_characters_are_never_shown(shop: Shop) -> None:
    lines = ["     1 | aws = '«secret:aws-access-key»'", "     2 | x⟨U+202E⟩y"]
    assert shop.use("read_file", path="secret.txt")["lines"] == lines
    assert "QUJD" not in str(shop.use("read_file", path="key.pem"))
    assert "QUJD" not in str(shop.use("read_file", path="key.pem", start=5, end=6))
    assert "REVG" not in str(shop.use("search", text="QUJD"))
    assert KEY not in str(shop.use("search", text="aws ="))
    assert KEY not in shop.fail("read_file", path=KEY)


@pytest.mark.parametrize("guess", [KEY[:6], KEY, "QQQ", "QUJD", PEM_BODY[3][:20]])
def test_a_search_does_not_tell_whether_a_guess_at_a_secret_is_right(shop: Shop, guess: str) -> None:
    assert shop.use("search", text=guess) == shop.use("search", text="no such text") == NOTHING


def test_a_name_that_nobody_can_type_is_read_as_it_is_shown(shop: Shop) -> None:
    name = "bad⟨U+DCFF⟩⟨U+202E⟩.txt"
    assert f"{name}  4 bytes" in shop.use("list_directory", path="")["names"]
    assert shop.use("read_file", path=name)["lines"] == ["     1 | odd"]
    assert f"{name}:1: odd" in shop.use("search", text="odd")["hits"]


def test_a_search_is_for_a_text_in_the_head_tree(shop: Shop) -> None:
    assert shop.use("search", text="run()") == {
        "found": 2,
        "complete": True,
        "hits": ["src/app.py:1: def run():", "src/app.py:5: called = run()"],
        "more": None,
    }
    below = shop.use("search", text="run", path="docs/")
    assert (below["found"], below["hits"]) == (1, ["docs/README.md:1: how to run it"])
    assert shop.use("search", text="return 1") == NOTHING
    assert shop.use("search", text="r.n") == NOTHING
    assert "2 to 200 characters" in shop.fail("search", text="x")
    assert "of one line" in shop.fail("search", text="a\nb")


def test_a_search_that_finds_too_much_says_so(shop: Shop) -> None:
    found = shop.use("search", text="line ")
    assert (found["found"], len(found["hits"])) == (1000, search.MOST_SHOWN)
    assert found["more"] == "900 or more are not shown: give a path or a longer text"


def test_a_folder_is_listed_with_its_folders_first(shop: Shop) -> None:
    assert shop.use("list_directory", path="src") == {
        "path": "src",
        "revision": "head",
        "found": 2,
        "names": ["deep/  1 files", "app.py  41 bytes"],
        "more": None,
    }
    assert "old.py  12 bytes" in shop.use("list_directory", path="/src/", revision="base")["names"]
    top = shop.use("list_directory", path="")["names"]
    assert "link  symbolic link" in top
    assert not any(".git" in name for name in top)
    assert "is a file: use read_file" in shop.fail("list_directory", path="src/app.py")
    assert "is a directory: use list_directory" in shop.fail("read_file", path="src")
    assert "there is no folder nowhere at head" in shop.fail("list_directory", path="nowhere")
    missing = an_error(shop.tools.use(ToolCall("1", "read_file", '{"path": "er.py"}')))
    assert (missing["kind"], missing["expected"]) == ("not_found", ["src/deep/er.py"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "path is missing"),
        ("{", "not valid JSON"),
        ("[]", "not an object"),
        ('{"path": "a", "path": "b"}', "a key is given twice"),
        ('{"path": 3}', "path is no string"),
        ('{"path": true}', "path is no string"),
        ('{"path": null}', "path is missing"),
        ('{"path": "a", "start": true}', "start is no integer"),
        ('{"path": "a", "start": 0}', "start is less than 1"),
        ('{"path": "a", "start": 1.5}', "start is no integer"),
        ('{"path": "a", "revision": "HEAD~1"}', "revision is none of head, base"),
        ('{"path": "a", "paht": "b"}', "there is no argument 'paht'"),
        ('{"path": "\\ud800"}', "half a surrogate pair"),
        ('{"path": "' + "a" * 5000 + '"}', "more than the 4000"),
        ("[" * 3000, "nested too deeply"),
    ],
)
def test_invalid_arguments_are_told_what_is_wanted(shop: Shop, arguments: str, said: str) -> None:
    result = shop.tools.use(ToolCall("1", "read_file", arguments))
    error = an_error(result)
    assert error["kind"] == "invalid_arguments"
    assert said in error["message"]
    assert error["expected"] == read_file.ReadFile.spec.parameters


def test_an_unknown_tool_is_told_which_there_are(shop: Shop) -> None:
    error = an_error(shop.tools.use(ToolCall("1", "rm", "{}")))
    assert (error["kind"], error["message"]) == ("unknown_tool", "there is no such tool")
    assert error["expected"] == ["read_file", "search", "list_directory"]
    assert [spec.name for spec in shop.tools.specs] == ["read_file", "search", "list_directory"]


class Counting:
    """Objects and a search of nothing that count what they are asked."""

    def __init__(self, *entries: TreeEntry, content: bytes = b"x\n" * 10_000, hits: tuple[Hit, ...] = ()) -> None:
        self.asked: list[str] = []
        self._entries, self._content, self._hits = entries, content, hits

    def blob(self, object_id: str) -> bytes:
        self.asked.append(object_id)
        return self._content

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        self.asked.append(tree)
        return self._entries

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        raise NotImplementedError

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        self.asked.append(words[0])
        return self._hits[:most]


def test_equal_calls_are_answered_from_memory(shop: Shop) -> None:
    world = Counting(TreeEntry("a", 0o100644, "blob", 4))
    tools = over_a(world)
    one = tools.use(ToolCall("1", "read_file", '{"path": "a", "start": 2}'))
    two = tools.use(ToolCall("2", "read_file", '{"start": 2, "path": "a", "end": null}'))
    assert (one.text, one.call_id, two.call_id) == (two.text, "1", "2")
    tools.use(ToolCall("3", "search", '{"text": "xy"}'))
    tools.use(ToolCall("4", "search", '{"text": "xy", "path": null}'))
    assert world.asked == ["head", "blob", "xy"]


def test_no_answer_is_larger_than_a_page() -> None:
    entries = [TreeEntry(f"dir/{'n' * 90}{n}", 0o100644, f"o{n}", 40) for n in range(3000)]
    hits = tuple(Hit(entry.path, 1, b"x") for entry in entries)
    tools = over_a(Counting(*entries, content=b"y" * 5000 + b"\n" + b"z" * 390 + b"\n", hits=hits))
    for name, arguments in (
        ("list_directory", {"path": "dir"}),
        ("search", {"text": "yy"}),
        ("read_file", {"path": entries[0].path}),
    ):
        result = tools.use(ToolCall("1", name, json.dumps(arguments)))
        assert not result.is_error
        assert len(result.text.encode()) <= page.MOST_BYTES
    assert "more are not shown" in an_object(tools.use(ToolCall("1", "list_directory", '{"path": "dir"}')))["more"]
    found = an_object(tools.use(ToolCall("1", "search", '{"text": "yy"}')))
    assert (found["found"], found["complete"]) == (2000, False)


def test_a_file_that_is_too_large_is_not_read() -> None:
    world = Counting(TreeEntry("big", 0o100644, "blob", 3_000_000), hits=(Hit("big", 7, b"x" * 9),))
    big = an_object(over_a(world).use(ToolCall("1", "read_file", '{"path": "big"}')))
    assert big["is"] == "a file of 3000000 bytes: too large to be read"
    assert "big:7: ⟨the file is too large" in over_a(world).use(ToolCall("1", "search", '{"text": "xx"}')).text
    assert "blob" not in world.asked


def test_a_git_that_fails_is_an_answer(shop: Shop) -> None:
    tools = over(shop.opened, Revisions("range", "b", "h", "f" * 40, "f" * 40))
    for name, arguments in (("read_file", '{"path": "a"}'), ("search", '{"text": "ab"}'), ("list_directory", '{"path": ""}')):
        result = tools.use(ToolCall("1", name, arguments))
        error = an_error(result)
        assert error["kind"] == "failed"
        assert error["message"].startswith("git could not answer")


def an_exchange(number: int, size: int, *, opaque: str = "") -> Exchange:
    call = ToolCall(f"c{number}", "read_file", f'{{"path": "f{number}.py"}}')
    return Exchange((call,), (ToolResult(call.id, f"f{number}.py at head, lines 1 to 9:\n" + "x" * size),), opaque)


def tokens(exchanges: tuple[Exchange, ...]) -> float:
    return sum(len(r.text) for e in exchanges for r in e.results) / 3.2


def test_the_oldest_results_become_a_line_each_and_the_newest_stays_whole() -> None:
    history = [an_exchange(number, 3000) for number in range(6)]
    short = condensed(history, 4000)
    assert short[-1] == history[-1]
    assert short[0].results[0].text == (
        "[shortened to save room; call again to see it] read_file "
        '{"path": "f0.py"} gave 2 lines, 3029 characters, beginning: f0.py at head, lines 1 to 9:'
    )
    assert [one.calls for one in short] == [one.calls for one in history]
    assert tokens(short) <= 4000
    assert condensed(history, 100_000) == tuple(history)
    assert condensed([], 10) == ()


def test_what_was_said_before_stays_the_same_for_some_steps() -> None:
    history = [an_exchange(number, 3000) for number in range(12)]
    steps = [condensed(history[:count], 5000) for count in range(1, 13)]
    changes = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(steps))
    assert 1 <= changes <= 5


@given(st.lists(st.integers(0, 2000), max_size=8), st.integers(1, 3000))
@settings(max_examples=examples(60), derandomize=True)
def test_a_history_keeps_its_shape_and_shrinks_as_far_as_it_can(sizes: list[int], most: int) -> None:
    history = [an_exchange(number, size, opaque="{}" if size % 2 else "") for number, size in enumerate(sizes)]
    short = condensed(history, most)
    assert short == condensed(history, most)
    assert len(short) == len(history)
    assert [(e.calls, e.opaque, [r.call_id for r in e.results]) for e in short] == [
        (e.calls, e.opaque, [r.call_id for r in e.results]) for e in history
    ]
    assert all(
        len(r.text) <= len(o.text) for e, f in zip(short, history, strict=True) for r, o in zip(e.results, f.results, strict=True)
    )
    if history:
        assert short[-1] == history[-1]
    if tokens(short) > most:
        assert all(e.results[0].text.startswith("[shortened") or len(e.results[0].text) < 200 for e in short[:-1])
