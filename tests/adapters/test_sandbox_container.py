"""Which engine runs containers, with which words, and what becomes of a container; the engine is real where one runs, else recorded."""

from __future__ import annotations

import json
import stat
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError
from reviewbot.ports import Ended, Job
from tests.sandboxes import a_mark, container_host, open_room, python, shell, wait_until_gone

pytestmark = pytest.mark.ci

#: An engine that records its words and runs the first process of a container beside itself, where it sees all that we see.
RECORDED = """#!{python}
import json, os, subprocess, sys
words = sys.argv[1:]
with open("{folder}/words.jsonl", "a") as file:
    file.write(json.dumps([words, dict(os.environ)]) + "\\n")
if words[:2] == ["image", "inspect"]:
    if words[-1] != "{image}":
        sys.exit("Error: no such image")
    print(json.dumps({{"Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "SECRET=of the image"], "Volumes": {{"/data": {{}}}}}}))
elif "create" in words:
    name = words[words.index("--name") + 1]
    mounts = [dict(part.split("=", 1) for part in word.split(",") if "=" in part) for word in words if word.startswith("type=bind")]
    with open("{folder}/" + name, "w") as file:
        json.dump([words, mounts], file)
elif words[0] == "start":
    created, mounts = json.load(open("{folder}/" + words[-1]))
    self_test = [m["source"] for m in mounts if m["target"].endswith("/order.json")]
    order = json.load(open(self_test[0]))
    if "/self-test" in "".join(order["argv"]) or "getuid" in "".join(order["argv"]):
        print(json.dumps(["python3", "cat", "only-in-the-image"]))
    else:
        print("started", *order["argv"])
elif words[0] == "rm":
    os.unlink("{folder}/" + words[-1])
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "exported"
    folder.mkdir()
    (folder / "file").write_text("of the tree")
    return folder


class Recorded:
    """An engine of a name, and what it was told."""

    def __init__(self, folder: Path, name: str, image: str) -> None:
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(RECORDED.format(python=sys.executable, folder=self.folder, image=image))
        program.chmod(0o755)

    @property
    def told(self) -> list[list[str]]:
        """All words so far, a command each."""
        path = self.folder / "words.jsonl"
        return [json.loads(line)[0] for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def created(self) -> list[str]:
        """The words of the last container."""
        return [words for words in self.told if "create" in words][-1]


def host(tmp_path: Path, **options: str) -> sandbox.Host:
    return sandbox.Host(path=(tmp_path / "bin",), container=sandbox.ContainerOptions(**options))


def choose(tree: Path, machine: sandbox.Host, level: str = "container") -> sandbox.ClosableSandbox:
    return sandbox.choose(level, trees=lambda _: tree, interpreters=sandbox.discover(None), host=machine)


def test_the_words_of_a_container(tmp_path: Path, tree: Path) -> None:
    engine = Recorded(tmp_path, "docker", "project:1")
    room = choose(tree, host(tmp_path, engine="docker", image="project:1", runtime="runsc"))
    assert shell(room, "echo hello").stdout == b"started /bin/sh -c echo hello\n"
    words = engine.created
    for pair in (
        "--network none",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--user 1000:1000",
        "--pids-limit 1024",
        f"--memory {2048 * 1024 * 1024}",
        f"--memory-swap {2048 * 1024 * 1024}",
        "--log-driver none",
        "--runtime runsc",
        "--tmpfs /data:rw,exec,nosuid,nodev,mode=1777,size=1048576",
        "--entrypoint env project:1 -i PATH=/usr/local/bin:/usr/bin:/bin python3 -I",
    ):
        assert pair in " ".join(words), pair
    assert "--read-only" in words
    assert "SECRET" not in " ".join(words)
    assert not {"--privileged", "--volume", "--env", "--pull", "pull", "run"} & {word for told in engine.told for word in told}


def test_every_container_that_was_made_is_removed(tmp_path: Path, tree: Path) -> None:
    engine = Recorded(tmp_path, "podman", "project:1")
    room = choose(tree, host(tmp_path, image="project:1"))
    shell(room, "echo hello")
    room.close()
    names = [words[words.index("--name") + 1] for words in engine.told if "create" in words]
    removed = [words[-1] for words in engine.told if words[0] == "rm"]
    assert names == removed
    assert len(names) == 2
    assert all("--force" in words for words in engine.told if words[0] == "rm")


def test_podman_is_told_what_docker_does_by_itself(tmp_path: Path, tree: Path) -> None:
    engine = Recorded(tmp_path, "podman", "project:1")
    shell(choose(tree, host(tmp_path, image="project:1", runtime="runsc")), "true")
    assert engine.created[:3] == ["--runtime", "runsc", "create"]
    assert {"--http-proxy=false", "--read-only-tmpfs=false", "--systemd=false"} <= set(engine.created)


def test_the_engine_that_has_the_image_is_taken(tmp_path: Path, tree: Path) -> None:
    Recorded(tmp_path, "docker", "another:1")
    Recorded(tmp_path, "podman", "project:1")
    room = choose(tree, host(tmp_path, image="project:1"))
    assert "podman" in room.notes[0]
    with pytest.raises(SandboxError, match="docker: Error: no such image") as caught:
        choose(tree, host(tmp_path, engine="docker", image="project:1"))
    assert "never pulls" in caught.value.hint


def test_without_an_image_or_an_engine_the_reason_is_said(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.sandbox.engine.PLACES", ())
    with pytest.raises(SandboxError, match="no image") as caught:
        choose(tree, host(tmp_path))
    assert "container.image" in caught.value.hint
    with pytest.raises(SandboxError, match="docker or podman is not installed"):
        choose(tree, host(tmp_path, image="project:1"))


def test_auto_takes_a_container_where_bubblewrap_cannot_start(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.adapters.sandbox.bubblewrap.PLACES", (Path("/no/bwrap"),))
    Recorded(tmp_path, "docker", "project:1")
    room = choose(tree, host(tmp_path, image="project:1"), "auto")
    assert room.level == "container"
    assert any("bubblewrap is not installed" in note for note in room.notes)
    room = choose(tree, host(tmp_path, image="gone:1"), "auto")
    assert room.level == "none"
    assert "bubblewrap is not installed" in room.notes[0]
    assert "no image gone:1" in room.notes[0]


def test_the_tools_are_those_of_the_image(tmp_path: Path, tree: Path) -> None:
    Recorded(tmp_path, "docker", "project:1")
    room = choose(tree, host(tmp_path, image="project:1"))
    assert b"started only-in-the-image" in room.run(Job("x", ("{tool:only-in-the-image}",), 5, executes=True)).stdout
    assert room.run(Job("x", ("{tool:sed}",), 5, executes=True)).ended is Ended.MISSING


def test_what_executes_nothing_of_the_change_needs_no_container(tmp_path: Path, tree: Path) -> None:
    engine = Recorded(tmp_path, "docker", "project:1")
    room = choose(tree, host(tmp_path, image="project:1"))
    before = len(engine.told)
    assert room.run(Job("parse", ("{own_python}", "-c", "print(1)"), 10, executes=False)).stdout == b"1\n"
    assert len(engine.told) == before


def test_an_engine_that_breaks_down_is_a_refusal(tmp_path: Path, tree: Path) -> None:
    engine = Recorded(tmp_path, "docker", "project:1")
    room = choose(tree, host(tmp_path, image="project:1"))
    program = tmp_path / "bin" / "docker"
    program.write_text("#!/bin/sh\necho 'Cannot connect to the daemon' >&2; exit 1\n")
    outcome = shell(room, "true")
    assert outcome.ended is Ended.REFUSED
    assert "Cannot connect to the daemon" in outcome.reason
    assert engine.folder.is_dir()


@pytest.mark.parametrize("name", ["a,b", 'a"b', "a=b", "a b"])
def test_a_tree_with_an_odd_name_is_mounted(tmp_path: Path, name: str) -> None:
    tree = tmp_path / name
    tree.mkdir()
    (tree / "file").write_text("of the tree")
    outcome = shell(open_room("container", tree, toplevel=tmp_path / f"top {name}"), "pwd; cat file")
    assert outcome.stdout.decode() == f"{tmp_path}/top {name}\nof the tree", outcome


def test_a_container_sees_the_image_and_its_own_copy(tree: Path) -> None:
    outcome = shell(
        open_room("container", tree), "ls /; id -u; touch /x /usr/x /run/x 2>&1; echo new > file; cat file; echo $HOME"
    )
    assert outcome.stdout.decode().split()[-2:] == ["new", "/tmp"]
    assert b"\n1000\n" in outcome.stdout
    assert outcome.stdout.count(b"Read-only") == 3
    assert (tree / "file").read_text() == "of the tree"


def test_pytest_runs_in_the_image(tree: Path) -> None:
    (tree / "test_it.py").write_text("def test_ok(): pass\n\ndef test_bad(): assert 1 == 2\n")
    spec = json.dumps({"tests": ["test_it.py"], "measure": []}).encode()
    argv = ("{python}", "-I", "{probes}/reviewbot_tests.py", "{scratch}/tests.json", "{scratch}/report.jsonl")
    job = Job("tests", argv, 60, executes=True, tree=Side.HEAD, files=(("tests.json", spec),), collect=("report.jsonl",))
    outcome = open_room("container", tree).run(job)
    if b"No module named" in outcome.stderr:
        pytest.skip(f"the image has no pytest: {outcome.stderr[-300:]!r}")
    report = [json.loads(line) for line in (outcome.file("report.jsonl") or b"").splitlines()]
    assert report[-1]["type"] == "finish", outcome


def test_a_container_whose_client_is_killed_is_ended(tree: Path) -> None:
    """An interrupt, from another thread."""
    mark = a_mark()
    room = open_room("container", tree)
    timer = threading.Timer(2.0, room.close)
    timer.start()
    outcome = shell(room, f"sleep {mark}", seconds=60)
    timer.join()
    assert outcome.exit_code != 0
    assert wait_until_gone(mark) == []


def test_a_container_ends_itself_where_nobody_is_left_to_end_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process keeps the time, too; here it alone does."""
    monkeypatch.setattr("reviewbot.adapters.sandbox.container._LATER_SECONDS", -58.0)
    mark = a_mark()
    outcome = shell(open_room("container", tree), f"(setsid sleep {mark} &) ; sleep {mark}", seconds=60)
    assert outcome.ended is Ended.TIMEOUT
    assert outcome.seconds < 30
    assert wait_until_gone(mark) == []


def test_a_report_of_a_container_is_read_as_a_plain_file(tree: Path) -> None:
    outcome = shell(open_room("container", tree), "echo x > {scratch}/a; ls -l {scratch}/a", collect=("a",))
    assert outcome.file("a") == b"x\n"
    assert stat.filemode(0o100666).encode() in outcome.stdout


def test_an_image_without_python_is_no_sandbox(tree: Path) -> None:
    machine = container_host()
    room = replace(machine, container=replace(machine.container, image="localhost/no-such-image:9"))
    with pytest.raises(SandboxError, match="no image localhost/no-such-image:9"):
        choose(tree, room)


def test_memory_of_a_container_is_bounded_by_the_kernel(tree: Path) -> None:
    limits = sandbox.Limits(memory_bytes=200 * 1024 * 1024)
    outcome = python(open_room("container", tree, limits=limits), "kept = b'x' * 500_000_000", seconds=30)
    assert outcome.ended is Ended.MEMORY
