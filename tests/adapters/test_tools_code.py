"""The tool that writes: only in memory, only what the task names, every write a version, nothing of it a surprise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.tools import arguments, code, workspace
from reviewbot.adapters.tools.code import Bench, Workshop
from reviewbot.domain.change import Revisions
from reviewbot.domain.repair import CodeVersion, Edit, Goal
from reviewbot.ports import CrossExamination, Drafting, FirstPass, Refinement, Shown, Task, ToolCall
from reviewbot.testing import a_dossier
from reviewbot.wiring.scene import Scene
from reviewbot.wiring.tools import workshop
from tests.panel.house import PACKET
from tests.repo import Repo
from tests.rings import examples
from tests.wiring.configured import configured

pytestmark = pytest.mark.matrix(parts=1)

KEY = "A" + "KIA" + "Q" * 16
APP = "def run():\n    return 2\n\n\ncalled = run()\n"
NAMED = frozenset(
    {
        "src/app.py",
        "secret.py",
        "windows.py",
        "link",
        "logo.png",
        "huge.py",
        "big.py",
        "to/come.py",
        "odd\u202e.py",
        "two⟨U+FEFF⟩.py",
    }
)


class Site:
    """A repository, and benches over its head."""

    def __init__(self, repo: Repo, opened: GitRepo) -> None:
        self.repo = repo
        repo.write("src/app.py", APP)
        repo.write("src/other.py", "import app\n")
        repo.write("secret.py", f"key = '{KEY}'\nplain = 1\n")
        repo.write("windows.py", "a = 1\r\nb = 2\r\n")
        repo.write("logo.png", b"\x89PNG\0\0")
        repo.write("huge.py", "x = 1\n" * 400_000)
        repo.write("big.py", "x = 1\n" * 200_000 + "last = 1\n")
        repo.write("odd\u202e.py", "y = 1\n")
        repo.write("two\ufeff.py", "y = 1\n")
        repo.write("two⟨U+FEFF⟩.py", "y = 1\n")
        repo.link("link", "/etc/passwd")
        repo.link("out", "../..")
        repo.commit()
        head = repo.git("rev-parse", "HEAD^{tree}")
        self.shop = Workshop(opened, Revisions("range", "b", "h", head, head), opened)

    def bench(self, *edits: Edit, may_add: bool = False) -> Bench:
        return self.at(Drafting(a_task(may_add=may_add), a_dossier(), (), "W1", files=edits))

    def at(self, question: Drafting | Refinement) -> Bench:
        made = self.shop.bench(question, "reviewer")
        assert made is not None
        return made


def a_task(*, may_add: bool = False) -> Task:
    return Task("F1", Goal.FIX, "mend it", PACKET, paths=NAMED, may_add=may_add)


@pytest.fixture
def site(git_repo: Repo, tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "scratch").mkdir()
    opened = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    yield Site(git_repo, opened)
    opened.close()


def told(bench: Bench, action: str, **given: object) -> dict[str, Any]:
    result = bench.use(ToolCall("c1", "code", json.dumps({"action": action, **given})))
    assert (result.call_id, result.is_error) == ("c1", False), result.text
    return dict(json.loads(result.text))


def refused(bench: Bench, action: str, **given: object) -> str:
    result = bench.use(ToolCall("c2", "code", json.dumps({"action": action, **given})))
    assert (result.call_id, result.is_error) == ("c2", True), result.text
    error = json.loads(result.text)["error"]
    assert error.keys() == {"kind", "message", "expected"}
    return str(error["message"])


def now(bench: Bench, path: str) -> bytes | None:
    """What the writes so far made of a file."""
    return next(one.content for one in reversed(bench.written) if one.path == path)


# Reading what was written


def test_a_file_is_updated_by_text_that_stands_once(site: Site) -> None:
    bench = site.bench()
    assert told(bench, "update", path="src/app.py", find="return 2", replace="return 3\n") == {
        "version": 1,
        "path": "src/app.py",
        "exists": True,
        "of": 6,
        "line": 2,
    }
    assert now(bench, "src/app.py") == APP.replace("return 2", "return 3\n").encode()
    assert told(bench, "read", path="src/app.py", start=2, end=2)["lines"] == ["     2 |     return 3"]
    assert bench.written == (CodeVersion(1, "src/app.py", now(bench, "src/app.py"), "reviewer"),)


def test_what_is_read_listed_and_searched_is_the_scratch_tree(site: Site) -> None:
    bench = site.bench(may_add=True)
    told(bench, "create", path="src/new.py", content="needle = 1\n")
    told(bench, "update", path="src/app.py", find="called", replace="needle")
    told(bench, "delete", path="windows.py")
    assert told(bench, "search", text="needle")["hits"] == ["src/app.py:5: needle = run()", "src/new.py:1: needle = 1"]
    assert told(bench, "search", text="called")["hits"] == []
    assert told(bench, "search", text="def run")["hits"] == ["src/app.py:1: def run():"]
    assert told(bench, "search", text="import app")["hits"] == ["src/other.py:1: import app"]
    assert told(bench, "list", path="src")["names"] == ["app.py  41 bytes", "new.py  11 bytes", "other.py  11 bytes"]
    assert "windows.py" not in "".join(told(bench, "list")["names"])
    assert refused(bench, "read", path="windows.py") == "there is no file windows.py at scratch"
    assert refused(bench, "read", path="src") == "src is a directory: list it"
    assert refused(bench, "list", path="src/app.py") == "src/app.py is a file: read it"


def test_nothing_is_written_to_the_repository(site: Site) -> None:
    before = site.repo.snapshot()
    bench = site.bench(may_add=True)
    told(bench, "create", path="a.py", content="x\n")
    told(bench, "update", path="src/app.py", content="x\n")
    told(bench, "delete", path="windows.py")
    assert site.repo.snapshot() == before


def test_every_bench_begins_at_the_head_with_what_it_is_given(site: Site) -> None:
    told(site.bench(), "update", path="src/app.py", content="gone\n")
    bench = site.bench(Edit("src/app.py", b"given = 1\n"), Edit("src/other.py", None), Edit("from/before.py", b"old = 1\n"))
    assert told(bench, "read", path="src/app.py")["lines"] == ["     1 | given = 1"]
    assert "other.py" not in "".join(told(bench, "list", path="src")["names"])
    assert told(bench, "search", text="old =")["hits"] == ["from/before.py:1: old = 1"]
    assert "may be read and not changed" in refused(bench, "update", path="from/before.py", content="x\n")
    told(bench, "update", path="src/app.py", find="given", replace="taken")
    assert bench.written == (CodeVersion(1, "src/app.py", b"taken = 1\n", "reviewer"),)


def test_a_refinement_begins_with_its_candidate(site: Site) -> None:
    shown = Shown("A", "the patch", "it passed")
    bench = site.at(Refinement(a_task(), a_dossier(), (), "W2", shown, files=(Edit("src/app.py", b"drafted = 1\n"),)))
    told(bench, "update", path="src/app.py", find="drafted", replace="refined")
    assert now(bench, "src/app.py") == b"refined = 1\n"


def test_only_asks_that_want_code_get_a_bench(site: Site) -> None:
    for question in (FirstPass(a_dossier()), CrossExamination(PACKET, a_dossier())):
        assert site.shop.bench(question, "critic") is None
    scene = Scene(site.repo, Revisions("patch", "b", "h", None, None), configured(), Path())  # type: ignore[arg-type]  # no GitRepo
    assert workshop(scene) is None


# Versions


def test_every_version_can_be_restored(site: Site) -> None:
    bench = site.bench(may_add=True)
    told(bench, "update", path="src/app.py", find="2", replace="3")
    told(bench, "update", path="src/app.py", find="3", replace="4")
    told(bench, "delete", path="src/app.py")
    assert told(bench, "restore", version=1) == {"version": 4, "path": "src/app.py", "exists": True, "of": 5}
    assert now(bench, "src/app.py") == APP.replace("2", "3").encode()
    told(bench, "restore", version=3)
    assert refused(bench, "update", path="src/app.py", find="2", replace="3") == "there is no file src/app.py"
    assert told(bench, "restore", version=0, path="src/app.py")["of"] == 5
    assert now(bench, "src/app.py") == APP.encode()
    told(bench, "create", path="new.py", content="x\n")
    assert told(bench, "restore", version=0, path="new.py")["exists"] is False
    assert [one.number for one in bench.written] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_what_was_never_written_cannot_be_restored(site: Site) -> None:
    bench = site.bench()
    assert refused(bench, "restore", version=1) == "there is no version 1: 0 were written"
    assert refused(bench, "restore", version=0, path="src/app.py") == "src/app.py is as it was"
    assert refused(bench, "restore", version=0) == "say which file"
    assert refused(bench, "restore") == "version is missing"
    assert bench.written == ()


# What may not be


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("update", {"path": "src/other.py", "find": "app", "replace": "x"}),
        ("update", {"path": "src/other.py", "content": "x"}),
        ("delete", {"path": "src/other.py"}),
        ("create", {"path": "src/another.py", "content": "x"}),
    ],
)
def test_what_the_task_does_not_name_stays(site: Site, action: str, given: dict[str, str]) -> None:
    bench = site.bench()
    assert "for this task" in refused(bench, action, **given)
    assert bench.written == ()
    assert told(bench, "read", path="src/other.py")["lines"] == ["     1 | import app"]


def test_a_file_that_the_task_names_may_come_and_others_only_where_it_says_so(site: Site) -> None:
    bench = site.bench()
    told(bench, "create", path="to/come.py", content="x = 1\n")
    told(bench, "update", path="to/come.py", find="x", replace="y")
    assert "may not be created for this task" in refused(bench, "create", path="new.py", content="x")
    free = site.bench(may_add=True)
    told(free, "create", path="new.py", content="x")
    told(free, "update", path="new.py", find="x", replace="y")
    told(free, "delete", path="new.py")
    assert "there is a file src/other.py already" in refused(free, "create", path="src/other.py", content="x")
    without = site.bench(Edit("src/other.py", None), may_add=True)
    assert "may not be created for this task" in refused(without, "create", path="src/other.py", content="x")


@pytest.mark.parametrize(
    "path",
    [
        "../out.py",
        "src/../../out.py",
        ".git/config",
        "src/.GIT/hooks/pre-commit",
        ".git./config",
        ".git /config",
        "GIT~1/config",
        "src\\..\\out.py",
        "c:evil.py",
        "a.py::$DATA",
        "new\u202e.py",
        "new\u200b.py",
        "ne\u0301w.py",
        "new\n.py",
        "out/new.py",
        "link/new.py",
        "src/app.py/new.py",
        "src",
        "n" * 300,
        "",
        ".",
        "/",
    ],
)
def test_nothing_gets_out_or_becomes_a_name_that_deceives(site: Site, path: str) -> None:
    bench = site.bench(may_add=True)
    assert refused(bench, "create", path=path, content="x = 1\n")
    assert bench.written == ()


def test_a_path_is_meant_from_the_top(site: Site) -> None:
    bench = site.bench(may_add=True)
    assert told(bench, "create", path="/etc/passwd", content="x\n")["path"] == "etc/passwd"
    assert told(bench, "update", path="./src//app.py", find="2", replace="3")["path"] == "src/app.py"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("link", "a link or a submodule"),
        ("logo.png", "no text in UTF-8"),
        ("huge.py", "too large to be edited"),
        ("odd⟨U+202E⟩.py", "may be read and not changed"),
        ("odd\u202e.py", "there is no file"),
        ("two⟨U+FEFF⟩.py", "may be read and not changed"),
    ],
)
def test_what_is_no_plain_text_file_is_not_edited(site: Site, path: str, reason: str) -> None:
    bench = site.bench()
    assert reason in refused(bench, "update", path=path, find="x", replace="y")
    assert reason in refused(bench, "update", path=path, content="y")
    assert bench.written == ()


def test_a_link_stays_one_whatever_lies_over_it(site: Site) -> None:
    bench = site.bench(Edit("link", b"a.py"))
    assert "a link or a submodule" in refused(bench, "update", path="link", find="a.py", replace="/etc/shadow")


def test_a_submodule_is_not_deleted(site: Site, tmp_path: Path) -> None:
    commit = site.repo.git("rev-parse", "HEAD")
    site.repo.git("update-index", "--force-remove", "src/app.py")
    site.repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},src/app.py")
    tree = site.repo.git("write-tree")
    (tmp_path / "more").mkdir()
    opened = GitRepo.open(site.repo.path, tmp_path / "more", environment=site.repo.environment)
    bench = Workshop(opened, Revisions("range", "b", "h", tree, tree), opened).bench(
        Drafting(a_task(), a_dossier(), (), "W"), "reviewer"
    )
    assert bench is not None
    assert "a link or a submodule" in refused(bench, "delete", path="src/app.py")
    opened.close()


# What is shown, and what is not


def test_a_secret_is_never_shown_and_stays_where_it_is(site: Site) -> None:
    bench = site.bench()
    read = told(bench, "read", path="secret.py")
    assert read["lines"] == ["     1 | key = '«secret:aws-access-key»'", "     2 | plain = 1"]
    told(bench, "update", path="secret.py", find="plain = 1", replace="plain = 2")
    assert now(bench, "secret.py") == f"key = '{KEY}'\nplain = 2\n".encode()
    assert refused(bench, "update", path="secret.py", find=KEY[:8], replace="x").endswith("as it is shown")
    assert told(bench, "search", text=KEY[:8])["found"] == 0
    told(bench, "update", path="secret.py", find="'«secret:aws-access-key»'", replace="environ['KEY']")
    assert now(bench, "secret.py") == b"key = environ['KEY']\nplain = 2\n"


@pytest.mark.parametrize("text", [f"token = '{KEY}'\n", "x = 'a\u202eb'\n", "x = 1\u200b\n", "a\rb\n"])
def test_neither_secrets_nor_hidden_characters_are_written(site: Site, text: str) -> None:
    bench = site.bench()
    for more in ({"content": text}, {"find": "2", "replace": text}):
        assert "a secret or a hidden character" in refused(bench, "update", path="src/app.py", **more)
    assert "a secret or a hidden character" in refused(bench, "create", path="to/come.py", content=text)
    assert bench.written == ()
    told(bench, "update", path="src/app.py", content="x = '👩\u200d💻'\r\n")


def test_a_secret_that_comes_with_a_candidate_is_not_shown(site: Site) -> None:
    bench = site.bench(Edit("src/app.py", f"token = '{KEY}'\n".encode()))
    assert told(bench, "read", path="src/app.py")["lines"] == ["     1 | token = '«secret:aws-access-key»'"]
    assert told(bench, "search", text=KEY[:6])["found"] == 0


@pytest.mark.parametrize("mark", ["«secret:aws-access-key»", "⟨U+202E⟩", "⟨12 more characters⟩"])
def test_placeholders_are_not_written(site: Site, mark: str) -> None:
    bench = site.bench(may_add=True)
    for text in ({"content": mark}, {"find": "2", "replace": mark}):
        assert "which stands for what is not shown" in refused(bench, "update", path="src/app.py", **text)
    assert "which stands for" in refused(bench, "create", path="new.py", content=mark)
    assert bench.written == ()


def test_line_ends_stay_as_they_are(site: Site) -> None:
    bench = site.bench()
    told(bench, "update", path="windows.py", find="a = 1\nb", replace="a = 1\nc = 3\nb")
    assert now(bench, "windows.py") == b"a = 1\r\nc = 3\r\nb = 2\r\n"


# Arguments and limits


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"action": "write"}, "action is none of read, list, search, create, update, delete, restore"),
        ({}, "action is missing"),
        ({"action": "update"}, "path is missing"),
        ({"action": "update", "path": "src/app.py"}, "find is missing, or content: a file without any is deleted"),
        ({"action": "update", "path": "src/app.py", "content": ""}, "find is missing, or content: a file without any is deleted"),
        ({"action": "update", "path": "src/app.py", "find": "2"}, "replace is missing"),
        (
            {"action": "update", "path": "src/app.py", "find": "2", "content": "x"},
            "give find and replace, or content, and not both",
        ),
        ({"action": "update", "path": "src/app.py", "find": "2", "replace": "2"}, "nothing of src/app.py would change"),
        ({"action": "update", "path": "src/app.py", "find": "run", "replace": "x"}, "more than once"),
        ({"action": "create", "path": "to/come.py"}, "content is missing"),
        ({"action": "search"}, "text is missing"),
        ({"action": "delete", "path": "no.py"}, "there is no file no.py"),
        ({"action": "read", "path": "src/app.py", "mode": "x"}, "there is no argument 'mode'"),
        ({"action": "restore", "version": -1}, "version is less than 0"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(site: Site, given: dict[str, Any], reason: str) -> None:
    bench = site.bench()
    result = bench.use(ToolCall("c", "code", json.dumps(given)))
    assert result.is_error
    assert reason in json.loads(result.text)["error"]["message"]
    assert bench.written == ()


def test_an_empty_file_may_come_and_a_text_may_go(site: Site) -> None:
    bench = site.bench()
    assert told(bench, "create", path="to/come.py", content="") == {"version": 1, "path": "to/come.py", "exists": True, "of": 0}
    told(bench, "update", path="src/app.py", find="called = run()\n", replace="")
    assert now(bench, "src/app.py") == APP.removesuffix("called = run()\n").encode()


def test_a_text_may_be_long_and_not_without_end(site: Site) -> None:
    bench = site.bench()
    long = "x = 1\n" * (code.LARGEST_TEXT // 6)
    assert len(long) > arguments.MOST_BYTES * 10
    told(bench, "update", path="src/app.py", content=long)
    assert "is longer than 64000 bytes" in refused(bench, "update", path="src/app.py", content=long + "é" * 20)
    assert "bytes are more than the 100000 that are read" in refused(bench, "update", path="src/app.py", content="\n" * 60_000)


def test_writes_have_an_end(site: Site) -> None:
    bench = site.bench(may_add=True)
    for number in range(workspace.MOST_FILES):
        told(bench, "create", path=f"new{number}.py", content="x\n")
    assert "too many writes" in refused(bench, "create", path="one_more.py", content="x\n")
    told(bench, "update", path="new0.py", content="y\n")
    for number in range(workspace.MOST_VERSIONS - len(bench.written)):
        told(bench, "update", path="new0.py", content=f"{number}\n")
    assert "too many writes" in refused(bench, "update", path="new0.py", content="z\n")
    assert len(bench.written) == workspace.MOST_VERSIONS


def test_what_is_written_has_a_size(site: Site) -> None:
    assert "it is too much" in refused(site.bench(), "update", path="big.py", find="last = 1", replace="last = 2")
    bench, chunk = site.bench(), "x" * 60_000
    told(bench, "update", path="src/app.py", content=f"0{chunk}")
    grow = json.dumps({"action": "update", "path": "src/app.py", "find": "0", "replace": f"0{chunk}"})
    results = [bench.use(ToolCall("c", "code", grow)) for _ in range(20)]
    assert "it is too much" in results[-1].text
    written = [len(version.content or b"") for version in bench.written]
    assert 10 < len(written) < 20
    assert max(written) <= workspace.LARGEST_WRITTEN
    assert sum(written) <= workspace.MOST_BYTES


TEXTS = st.one_of(st.text(max_size=30), st.sampled_from(["src/app.py", "2", "run", "..", ".git/x", "new.py", "x\n", KEY]))
CALLS = st.dictionaries(
    st.sampled_from(["path", "find", "replace", "content", "text", "start", "end", "version", "more"]),
    st.one_of(st.none(), TEXTS, st.integers(-2, 9), st.lists(TEXTS, max_size=2)),
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from((*code.ACTIONS, "")), CALLS), max_size=6), st.booleans())
def test_whatever_is_called_is_answered_and_only_what_may_be_is_written(
    site: Site, calls: list[tuple[str, dict[str, object]]], may_add: bool
) -> None:
    """And the same calls end with the same versions."""
    first, second = site.bench(may_add=may_add), site.bench(may_add=may_add)
    for action, more in calls:
        call = ToolCall("c", "code", json.dumps({**more, "action": action}))
        answers = [bench.use(call) for bench in (first, second)]
        assert answers[0] == answers[1]
        assert KEY not in answers[0].text
        json.loads(answers[0].text)
    assert first.written == second.written
    at_head = set(site.repo.git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0"))
    for version in first.written:
        parts = version.path.split("/")
        assert not {"", ".", "..", ".git"} & set(parts)
        assert version.path in NAMED or (may_add and version.path not in at_head)


@pytest.mark.parametrize(
    "raw", ["", "[]", "{", "null", '{"action": "read", "action": "delete"}', '{"path": "\\ud800"}', "x" * 200_000]
)
def test_arguments_that_are_none_are_refused(site: Site, raw: str) -> None:
    bench = site.bench()
    assert bench.use(ToolCall("c", "code", raw)).is_error
    assert bench.written == ()
