"""What ``setup`` makes, how it is kept, and how later jobs see it. No network is needed here; that there is one is seen."""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox import layers, preparation
from reviewbot.domain.evidence import Side
from reviewbot.ports import Job
from tests.sandboxes import a_mark, open_room, shell, wait_until_gone

pytestmark = pytest.mark.usefixtures("bubblewrap")
VENV = (
    "python3 -m venv --without-pip .venv",
    """site=$(echo .venv/lib/python3*/site-packages); mkdir "$site/greet" "$site/pytest"
    echo "text = 'from the package'" > "$site/greet/__init__.py"; touch "$site/pytest/__init__.py"
    printf '#!%s/.venv/bin/python\\nimport greet; print("tool", greet.text)\\n' "$PWD" > .venv/bin/greeter; chmod +x .venv/bin/greeter""",
)
PACKAGES = ("mkdir -p node_modules/dep node_modules/.bin && echo 'a dependency' > node_modules/dep/data",)

Preparing = Callable[..., sandbox.Layer | str]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "code.py").write_text("of the base")
    (folder / "requirements.txt").write_text("greet==1\n")
    return folder


@pytest.fixture
def ground(base: Path, tmp_path: Path) -> sandbox.Ground:
    path = tuple(map(Path, os.environ["PATH"].split(":")))
    host = sandbox.Host(path=path, home=tmp_path / "home")
    return sandbox.Ground(lambda _: base, sandbox.discover(None), sandbox.Limits(), tmp_path / "top", host)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "setup"


@pytest.fixture
def prepare(ground: sandbox.Ground, state: Path) -> Preparing:
    def run(*commands: str, key: str = "key") -> sandbox.Layer | str:
        return sandbox.prepare(commands, key=key, state=state, ground=ground)

    return run


def made(found: sandbox.Layer | str) -> sandbox.Layer:
    assert isinstance(found, sandbox.Layer), found
    return found


def room_with(layer: sandbox.Layer, ground: sandbox.Ground, tree: Path) -> sandbox.ClosableSandbox:
    return open_room("bubblewrap", tree, toplevel=ground.toplevel, host=replace(ground.host, layer=layer))


def test_an_environment_that_was_made_runs_the_tests(prepare: Preparing, ground: sandbox.Ground, tmp_path: Path) -> None:
    head = tmp_path / "head"
    head.mkdir()
    layer = made(prepare(*VENV))
    assert layer.paths == (".venv",)
    room = room_with(layer, ground, head)
    program = "import greet, sys; print(greet.text, sys.prefix)"
    outcome = room.run(Job("x", ("{python}", "-c", program), 20, executes=True, tree=Side.HEAD))
    assert outcome.stdout.decode() == f"from the package {ground.toplevel}/.venv\n", outcome
    assert shell(room, "{tool:greeter}").stdout == b"tool from the package\n"
    own = room.run(Job("x", ("{own_python}", "-c", "import sys; print(sys.prefix)"), 20, executes=True, tree=Side.HEAD))
    assert own.stdout.decode().strip() == sys.prefix


def test_packages_that_were_made_are_in_every_later_tree(prepare: Preparing, ground: sandbox.Ground, base: Path) -> None:
    room = room_with(made(prepare(*PACKAGES)), ground, base)
    outcome = shell(
        room, "cat node_modules/dep/data src/code.py; echo bad > node_modules/dep/data; ls; echo > node_modules/.vite-temp/x"
    )
    assert outcome.exit_code == 0
    assert outcome.stdout.decode() == "a dependency\nof the basenode_modules\nrequirements.txt\nsrc\n"
    assert b"a dependency" in shell(room, "cat node_modules/dep/data").stdout


def test_caches_of_the_home_are_kept_and_downloads_are_not(prepare: Preparing, ground: sandbox.Ground, base: Path) -> None:
    layer = made(
        prepare(
            "mkdir -p ~/go/pkg/mod/x ~/.cache/pip ~/.npm; echo module > ~/go/pkg/mod/x/y; echo load > ~/.cache/pip/z; chmod -R a-w ~/go"
        )
    )
    assert layer.home == ("go/pkg/mod",)
    outcome = shell(room_with(layer, ground, base), "cat ~/go/pkg/mod/x/y; ls -A ~; touch ~/go/new && echo can write")
    assert outcome.stdout.startswith(b"module\n")
    assert outcome.stdout.endswith(b"can write\n")
    assert {b".cache", b".npm"}.isdisjoint(outcome.stdout.split())
    assert sorted(path.name for path in (layer.folder / "home").iterdir()) == ["go"]


def test_a_second_run_costs_nothing(prepare: Preparing, tmp_path: Path, ground: sandbox.Ground, state: Path) -> None:
    first = made(prepare("date +%N > vendored"))
    assert made(prepare("date +%N > vendored")) == first
    gone = replace(ground, trees=lambda _: tmp_path / "no-such-tree")
    assert sandbox.prepare(("false",), key="key", state=state, ground=gone) == first
    assert isinstance(prepare("false", key="another"), str)


def test_what_the_tree_has_is_not_kept(prepare: Preparing, base: Path) -> None:
    layer = made(
        prepare("echo changed > src/code.py; mkdir src/built src/__pycache__; echo new > src/new.py; rm requirements.txt")
    )
    assert layer.paths == ("src/built", "src/new.py")
    kept = sorted(str(path.relative_to(layer.folder)) for path in layer.folder.rglob("*") if path.is_file())
    assert kept == ["layer.json", "tree/src/new.py"]
    assert (base / "src" / "code.py").read_text() == "of the base"


def test_what_the_change_has_committed_itself_comes_before_what_was_made(
    prepare: Preparing, ground: sandbox.Ground, tmp_path: Path
) -> None:
    head = tmp_path / "head"
    (head / "node_modules" / "dep").mkdir(parents=True)
    (head / "node_modules" / "dep" / "data").write_text("committed")
    room = room_with(made(prepare(*PACKAGES)), ground, head)
    assert shell(room, "cat node_modules/dep/data").stdout == b"committed"


def test_a_command_that_fails_is_one_clear_reason_and_leaves_nothing(prepare: Preparing, state: Path) -> None:
    reason = prepare("touch before", "echo 'no such package: greet' >&2; exit 7", "touch after")
    assert reason == "setup failed: `echo 'no such package: greet' >&2; exit 7`: exit code 7: no such package: greet"
    assert list(state.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sleep MARK", "did not end"),
        ("(setsid sleep MARK &) ; sleep 0.3; exit 1", "exit code 1"),
        ("yes # MARK", "bytes of output"),
    ],
)
def test_a_command_that_does_not_behave_is_ended(
    prepare: Preparing, state: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.setattr(preparation, "SECONDS", 2.0)
    mark = a_mark()
    reason = prepare(command.replace("MARK", mark))
    assert isinstance(reason, str)
    assert said in reason
    assert wait_until_gone(mark) == []
    assert list(state.iterdir()) == []


def test_a_command_that_fills_the_disk_is_ended(prepare: Preparing, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "LIMITS", replace(preparation.LIMITS, folder_bytes=20_000_000))
    for command in ("head -c 100000000 /dev/zero > a; sleep 20", "for n in 1 2 3; do head -c 10000000 /dev/zero > $n; done"):
        reason = prepare(command)
        assert isinstance(reason, str)
        assert "20000000 bytes" in reason
    assert list(state.iterdir()) == []


def test_a_command_has_the_network_and_no_secret(
    prepare: Preparing, ground: sandbox.Ground, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "canary")
    for place in (tmp_path / "home" / ".netrc", tmp_path / "top" / ".git" / "config"):
        place.parent.mkdir(parents=True)
        place.write_text("canary")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        program = f'import socket; print(socket.create_connection(("127.0.0.1", {port}), 5).getpeername())'
        files = f"cat {tmp_path}/home/.netrc {tmp_path}/top/.git/config .git/config ~/.netrc /proc/1/environ"
        layer = made(
            prepare(
                f"python3 -c '{program}' > reached; env > told; {files} >> told 2>&1; cat /etc/resolv.conf > names; id -u >> told"
            )
        )
    assert str(port) in (layer.folder / "tree" / "reached").read_text()
    told = (layer.folder / "tree" / "told").read_text()
    assert "canary" not in told
    assert told.endswith("1000\n")
    assert (layer.folder / "tree" / "names").exists() == Path("/etc/resolv.conf").exists()


def test_a_command_writes_nowhere_else(prepare: Preparing, base: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    made(prepare(f"echo bad > {victim}; echo bad > {base}/requirements.txt; echo bad > /usr/bad; echo bad > /etc/bad; touch ok"))
    assert victim.read_text() == "mine"
    assert (base / "requirements.txt").read_text() == "greet==1\n"
    assert not Path("/usr/bad").exists()


def test_what_could_harm_is_disarmed(prepare: Preparing, ground: sandbox.Ground, base: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    layer = made(
        prepare(
            "mkdir made; cp /bin/cat made/powerful; chmod 6755 made/powerful; mkfifo made/pipe; "
            f"ln -s {secret} made/link; ln -s {secret} top-link; ln -s /etc/shadow .venv"
        )
    )
    powerful = layer.folder / "tree" / "made" / "powerful"
    assert stat.S_IMODE(powerful.stat().st_mode) == 0o755
    assert not (layer.folder / "tree" / "made" / "pipe").exists()
    outcome = shell(room_with(layer, ground, base), "cat made/link top-link .venv; true")
    assert b"canary" not in outcome.stdout
    assert b"root:" not in outcome.stdout
    assert stat.S_IMODE(layer.folder.parent.stat().st_mode) == 0o700


def test_what_is_scattered_all_over_the_tree_is_not_kept(prepare: Preparing, state: Path) -> None:
    reason = prepare("for n in $(seq 200); do echo > src/$n; done")
    assert isinstance(reason, str)
    assert "all over the tree" in reason
    assert list(state.iterdir()) == []


def test_two_at_the_same_time_get_the_same(prepare: Preparing, state: Path) -> None:
    found: list[sandbox.Layer | str] = []
    threads = [threading.Thread(target=lambda: found.append(prepare("date +%N > made; sleep 0.5"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({made(one) for one in found}) == 1
    assert [path.name for path in state.iterdir()] == ["key"]


def test_a_layer_that_is_damaged_is_made_anew_or_said_to_be_unusable(prepare: Preparing, state: Path) -> None:
    layer = made(prepare("echo 1 > made"))
    (layer.folder / "layer.json").write_text('{"paths": ["../../etc"], "home": []}')
    assert layers.find(state, "key") is None
    assert isinstance(prepare("echo 2 > made"), str)


def test_what_nobody_used_for_long_is_forgotten(prepare: Preparing, state: Path) -> None:
    for key in ("old", "new"):
        made(prepare("touch made", key=key))
    (state / "unfinished-x").mkdir()
    long_ago = time.time() - 40 * 86_400
    for name in ("old", "unfinished-x"):
        os.utime(state / name, (long_ago, long_ago))
    made(prepare("touch made", key="third"))
    assert sorted(path.name for path in state.iterdir()) == ["new", "third"]


def test_without_bubblewrap_the_reason_is_said(prepare: Preparing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.adapters.sandbox.bubblewrap.PLACES", (Path("/no/bwrap"),))
    reason = prepare("touch made")
    assert isinstance(reason, str)
    assert "bubblewrap is not installed" in reason


def test_a_state_folder_that_cannot_be_written_is_a_reason(ground: sandbox.Ground, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    reason = sandbox.prepare(("true",), key="key", state=tmp_path / "file" / "below", ground=ground)
    assert isinstance(reason, str)
    assert "setup cannot be used" in reason


FILES = (("src/a.py", "1"), ("requirements.txt", "2"), ("sub/package.json", "3"), ("scripts/setup.sh", "4"))


def key(
    files: tuple[tuple[str, str], ...] = FILES, commands: tuple[str, ...] = ("sh ./scripts/setup.sh",), tree: str = "t"
) -> str:
    return sandbox.key(commands, files, tree, toplevel=Path("/repository"))


def changed(name: str) -> tuple[tuple[str, str], ...]:
    return tuple((path, "other" if path == name else object_id) for path, object_id in FILES)


def test_manifests_and_the_files_that_commands_name_decide_what_is_made_again() -> None:
    assert key() == key(changed("src/a.py"))
    assert key() == key(tree="another")
    for name in ("requirements.txt", "sub/package.json", "scripts/setup.sh"):
        assert key() != key(changed(name))
    assert key() != key(commands=("sh ./scripts/setup.sh", "true"))
    assert key() != sandbox.key(("sh ./scripts/setup.sh",), FILES, "t", toplevel=Path("/elsewhere"))


def test_without_a_manifest_all_of_the_tree_decides() -> None:
    assert key(FILES[:1], ("cc x",)) != key(FILES[:1], ("cc x",), tree="another")


@given(st.lists(st.tuples(st.text(), st.text())), st.lists(st.text()), st.text())
def test_a_key_is_a_file_name_for_whatever_is_asked(files: list[tuple[str, str]], commands: list[str], tree: str) -> None:
    found = sandbox.key(tuple(commands), tuple(files), tree, toplevel=None)
    assert len(found) == 64
    assert found.isalnum()
