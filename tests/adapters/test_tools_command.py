"""``execute_command`` in a real sandbox: the words as they are, only allowed programs, nothing raw and nothing without a bound."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.adapters import sandbox
from reviewbot.adapters.tools import execute_command, page
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.adapters.tools.toolbox import Tools
from reviewbot.adapters.tools.trees import Trees
from reviewbot.domain.change import Revisions
from reviewbot.domain.evidence import Side
from reviewbot.ports import Ended, Hit, Job, Outcome, Sandbox, ToolCall, TreeEntry
from tests.sandboxes import open_room

pytestmark = pytest.mark.matrix(parts=1)

KEY = "A" + "KIA" + "Q" * 16
SHOW = "#!/bin/sh\npwd | sed 's,.*/,,'\nfor word; do printf '%s\\n' \"<$word>\"; done\n"
WORDS = [
    "a b",
    "$HOME",
    "`id`",
    "; touch owned",
    "*",
    "{python}",
    "{tree}",
    "{tool:sh}",
    "{x}",
    "'\"\\",
    "-c",
    "",
    "\u00e9\n\u202e",
]


class Files:
    """The tree's files as git would name them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def blob(self, object_id: str) -> bytes:
        return (self._folder / object_id).read_bytes()

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        names = sorted(path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file())
        return tuple(TreeEntry(name, 0o100644, name, 1) for name in names)

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        raise NotImplementedError

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        return ()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "exported"
    (folder / "inner").mkdir(parents=True)
    for name in ("show", "inner/show"):
        (folder / name).write_text(SHOW)
        (folder / name).chmod(0o755)
    (folder / "test_it.py").write_text("def test_it():\n    assert 1 == 2\n")
    return folder


@pytest.fixture(params=["bubblewrap", "unconfined"])
def room(request: pytest.FixtureRequest, tree: Path) -> Iterator[sandbox.ClosableSandbox]:
    opened = open_room(request.param, tree)
    yield opened
    opened.close()


Run = Callable[..., dict[str, Any]]


def box(tree: Path, room: Sandbox | None, *commands: str) -> Tools:
    files = Files(tree)
    return Tools(Grounds(Trees(files, Revisions("range", "b", "h", "base", "head")), files, (), commands, room))


def run(tools: Tools, *argv: str, **more: Any) -> dict[str, Any]:
    result = tools.use(ToolCall("1", "execute_command", json.dumps({"argv": argv, **more})))
    document: dict[str, Any] = json.loads(result.text)
    assert ("error" in document) == result.is_error
    assert len(result.text.encode()) <= page.MOST_BYTES
    return document


def refused(tools: Tools, *argv: str, **more: Any) -> tuple[str, str]:
    error = run(tools, *argv, **more)["error"]
    return error["kind"], error["message"]


def test_a_program_gets_its_words_as_they_are(tree: Path, room: sandbox.ClosableSandbox) -> None:
    found = run(box(tree, room, "./show"), "./show", *WORDS)
    assert (found["exit_code"], found["ended"], found["stderr"]) == (0, "exited", "")
    said = found["stdout"].split("\n", 1)[1]
    assert said == "".join(f"<{word}>\n" for word in WORDS).replace("\u202e", "⟨U+202E⟩")
    assert sorted(path.name for path in tree.iterdir()) == ["inner", "show", "test_it.py"]


def test_a_program_is_found_by_its_name(tree: Path, room: sandbox.ClosableSandbox) -> None:
    found = run(box(tree, room, "sh -c", "python3"), "sh", "-c", "echo out; echo err >&2; exit 3")
    assert found == {"exit_code": 3, "ended": "exited", "stdout": "out\n", "stderr": "err\n"}
    failing = run(box(tree, room, "pytest"), "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert (failing["exit_code"], failing["ended"]) == (1, "exited")
    assert "assert 1 == 2" in failing["stdout"]
    assert refused(box(tree, room, "*"), "no-such-program-0815") == (
        "not_found",
        "there is no program no-such-program-0815 in the sandbox",
    )


def test_it_runs_in_the_folder_that_is_asked_for(tree: Path, room: sandbox.ClosableSandbox) -> None:
    tools = box(tree, room, "*")
    assert run(tools, "./show", directory="inner/")["stdout"] == "inner\n"
    assert run(tools, "../show", "x", directory="./inner")["stdout"] == "inner\n<x>\n"
    assert refused(tools, "./show", directory="nowhere") == ("not_found", "there is no folder nowhere at head")
    for path in ("..", "inner/../..", "/etc/../.."):
        assert refused(tools, "./show", directory=path)[0] == "invalid_arguments"
    assert refused(tools, "./show", directory="/etc")[0] == "not_found"
    assert run(tools, "./nothing")["exit_code"] == 127
    assert run(tools, "./test_it.py")["stderr"] == "./test_it.py cannot be started: Permission denied\n"


@pytest.mark.parametrize(
    ("allowed", "argv", "may"),
    [
        (("sh",), ["sh", "-c", "true"], True),
        (("sh  -c",), ["sh", "-c", "true"], True),
        (("sh -c",), ["sh", "-e"], False),
        (("sh -c",), ["sh"], False),
        (("sh",), ["/bin/sh"], False),
        (("sh",), ["./sh"], False),
        (("sh",), ["sh -c"], False),
        (("sh",), ["shx"], False),
        (("go test", "git log"), ["go", "vet"], False),
        (("go test", "*"), ["/bin/sh"], True),
        (("* sh",), ["sh"], False),
        (("", " "), ["sh"], False),
    ],
)
def test_only_commands_with_allowed_first_words_are_run(tree: Path, allowed: tuple[str, ...], argv: list[str], may: bool) -> None:
    room = Recorded()
    document = run(box(tree, room, *allowed), *argv)
    assert (len(room.jobs) == 1) == may
    if not may:
        assert document["error"]["kind"] == "refused"
        assert document["error"]["expected"] == [" ".join(one.split()) for one in allowed]


@pytest.mark.parametrize(
    "arguments",
    [
        *("{}", '{"argv": []}', '{"argv": [""]}', '{"argv": "ls"}', '{"argv": [1]}', '{"argv": [null]}', '{"argv": [["ls"]]}'),
        *(
            '{"argv": ["ls"], "shell": true}',
            '{"argv": ["ls"], "timeout_seconds": 0}',
            '{"argv": ["ls"], "timeout_seconds": 1.5}',
        ),
        *('{"argv": ["ls"], "timeout_seconds": true}', '{"argv": ["a\\u0000b"]}', '{"argv": ["ls"], "directory": ["x"]}'),
        '{"argv": ["' + "x" * 5_000 + '"]}',
    ],
)
def test_what_is_no_command_is_told_the_schema(tree: Path, arguments: str) -> None:
    room = Recorded()
    tools = box(tree, room, "*")
    error = json.loads(tools.use(ToolCall("1", "execute_command", arguments)).text)["error"]
    assert (error["kind"], room.jobs) == ("invalid_arguments", [])
    assert error["expected"]["properties"].keys() == {"argv", "directory", "timeout_seconds"}


def test_there_is_no_such_tool_without_commands_or_without_a_sandbox(tree: Path) -> None:
    absent = open_room("none", tree)
    for tools in (box(tree, Recorded()), box(tree, None, "*"), box(tree, absent, "*")):
        assert "execute_command" not in [spec.name for spec in tools.specs]
        assert refused(tools, "ls")[0] == "unknown_tool"
    absent.close()
    spec = box(tree, Recorded(), "pytest", "go test").specs[-1]
    assert "`pytest`, `go test`" in spec.description


class Recorded:
    """A room that keeps what it is asked to run, and ends it as it is told."""

    level = "bubblewrap"
    notes: tuple[str, ...] = ()

    def __init__(self, outcome: Outcome | None = None) -> None:
        self.jobs: list[Job] = []
        self._outcome = outcome or Outcome(Ended.EXITED, 0)

    def run(self, job: Job) -> Outcome:
        self.jobs.append(job)
        return self._outcome


def test_a_command_is_a_job_that_executes_the_head_in_a_bounded_time(tree: Path) -> None:
    room = Recorded()
    tools = box(tree, room, "*")
    run(tools, "{python}", "{tree}")
    run(tools, "pytest", timeout_seconds=5)
    run(tools, "pytest", timeout_seconds=86_400)
    assert [(job.executes, job.tree, job.environment, job.overlay) for job in room.jobs] == [(True, Side.HEAD, (), ())] * 3
    assert [job.timeout_seconds for job in room.jobs] == [execute_command.SECONDS, 5, execute_command.MOST_SECONDS]
    assert "{tree}" not in " ".join(room.jobs[0].argv)
    assert room.jobs[0].argv[-1] == "{scratch}/call.json", "a name with braces is a path, not a word of the sandbox"
    assert room.jobs[1].argv[-1] == "{tool:pytest}"


def test_equal_commands_are_run_once(tree: Path) -> None:
    room = Recorded()
    tools = box(tree, room, "*")
    assert run(tools, "ls") == run(tools, "ls", directory=None)
    run(tools, "ls", "-l")
    assert len(room.jobs) == 2


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [(Outcome(Ended.REFUSED, reason="the review was interrupted"), "refused"), (Outcome(Ended.MISSING, reason="x"), "not_found")],
)
def test_what_was_not_run_is_an_error(tree: Path, outcome: Outcome, kind: str) -> None:
    assert refused(box(tree, Recorded(outcome), "*"), "ls")[0] == kind


def test_a_command_that_hangs_is_ended_and_what_it_wrote_is_told(tree: Path, room: sandbox.ClosableSandbox) -> None:
    found = run(box(tree, room, "*"), "/bin/sh", "-c", "echo begun; sleep 60", timeout_seconds=1)
    assert found == {"exit_code": None, "ended": "timeout", "stdout": "begun\n", "stderr": ""}


def test_long_output_shows_its_ends_and_no_secret(tree: Path, room: sandbox.ClosableSandbox) -> None:
    script = (
        f'echo key {KEY[:8]}{KEY[8:]}; i=0; while [ $i -lt 3000 ]; do echo "line $i \\""; i=$((i+1)); done; printf \'\\033[1m\''
    )
    found = run(box(tree, room, "*"), "/bin/sh", "-c", script)
    assert found["stdout"].startswith("key «secret:aws-access-key»\nline 0")
    assert found["stdout"].endswith('line 2999 "\n⟨U+001B⟩[1m')
    assert "characters are left out⟩" in found["stdout"]
    assert page.size(found["stdout"]) <= execute_command.MOST_OUTPUT


def test_output_larger_than_is_looked_at_keeps_both_ends(tree: Path) -> None:
    flood = Outcome(Ended.OUTPUT, stdout=b"first\n" + b"\xff\0 noise\n" * 900_000 + b"last\n", stderr=b"e" * 900_000)
    found = run(box(tree, Recorded(flood), "*"), "ls")
    assert (found["ended"], found["exit_code"]) == ("output", None)
    assert found["stdout"].startswith("first\n")
    assert found["stdout"].endswith("last\n")


def test_behind_the_wall_nothing_of_this_machine_is_seen(tree: Path, tmp_path: Path) -> None:
    room = open_room("bubblewrap", tree)
    try:
        (tmp_path / "canary").write_text("canary-4711")
        tools = box(tree, room, "*")
        look = f"cat {tmp_path}/canary ~/.ssh/* /proc/1/environ /etc/shadow; env; ls {tmp_path}; exit 0"
        found = run(tools, "/bin/sh", "-c", look)
        assert found["exit_code"] == 0
        assert "canary" not in found["stdout"]
        assert run(tools, "/bin/sh", "-c", "echo x > new && ls")["stdout"] == "inner\nnew\nshow\ntest_it.py\n"
        assert run(tools, "/bin/sh", "-c", "ls")["stdout"] == "inner\nshow\ntest_it.py\n", "each works on a copy of its own"
    finally:
        room.close()


def test_a_signal_that_python_ignores_is_not_ignored_by_the_command(tree: Path, room: sandbox.ClosableSandbox) -> None:
    assert run(box(tree, room, "*"), "/bin/sh", "-c", "(yes; echo $? >&2) | head -n 1")["stderr"] == "141\n"


def test_at_most_two_commands_are_run_at_a_time(tree: Path) -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()

    class Crowded(Recorded):
        def run(self, job: Job) -> Outcome:
            entered.release()
            assert go_on.wait(20)
            return super().run(job)

    room = Crowded()
    tools = box(tree, room, "*")
    threads = [threading.Thread(target=run, args=(tools, "ls", str(n))) for n in range(4)]
    for thread in threads:
        thread.start()
    assert all(entered.acquire(timeout=20) for _ in range(2))
    assert not entered.acquire(timeout=0.3)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert len(room.jobs) == 4
