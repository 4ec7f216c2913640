"""Code of a change that hunts for what it must not have. The canary is in the parent's environment, files and network."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import EvidenceStatus
from tests.containers import OF_IMAGE
from tests.evidence.lab import Lab, study
from tests.sandboxes import container_host, open_room, python, shell

pytestmark = pytest.mark.serial

WALLED = ("bubblewrap", "container")
CANARY = "canary-7f3a9c-do-not-leak"
HUNT = """
import glob, os, pathlib, socket, subprocess, sys

def tell(*words):
    print(*words)
    print(*words, file=sys.stderr)

tell(dict(os.environ))
for path in ["/proc/1/environ", "/proc/self/environ", *glob.glob("/proc/*/environ"), *glob.glob("/proc/*/cmdline"), "/proc/mounts"]:
    try:
        tell(path, pathlib.Path(path).read_bytes())
    except OSError as exc:
        tell(path, exc)
for folder in (HOMES):
    for place, _, names in os.walk(folder):
        for name in names[:200]:
            try:
                tell(pathlib.Path(place, name).read_bytes()[:2000])
            except OSError:
                pass
for family, where in ((socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_INET, ("10.255.255.1", 80)), (socket.AF_UNIX, "/run/docker.sock")):
    try:
        link = socket.socket(family); link.settimeout(2); link.connect(where); link.sendall(b"reached"); tell("REACHED", where)
    except OSError as exc:
        tell("no way to", where, exc)
for words in (["git", "config", "--list", "--show-origin"], ["ps", "auxe"], ["env"], ["mount"]):
    try:
        tell(subprocess.run(words, capture_output=True).stdout)
    except OSError as exc:
        tell(exc)
"""


class Listener:
    """A server on loopback that knows whether anybody came."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.visits: list[str] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                link, peer = self.socket.accept()
            except OSError:
                return
            self.visits.append(str(peer))
            link.sendall(CANARY.encode())
            link.close()


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a key in it, and an environment with a token."""
    folder = tmp_path / "home-of-user"
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh" / "id_ed25519").write_text(CANARY)
    monkeypatch.setenv("GITHUB_TOKEN", CANARY)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def hunt(home: Path, listener: Listener) -> str:
    homes = f'["{home}", "{Path.cwd()}/.git", "/etc", "/home", "/var", "/root/.ssh"]'
    return HUNT.replace("HOMES", homes).replace("PORT", str(listener.port))


def everything(lab: Lab) -> bytes:
    """Every byte that came out of a review's checks."""
    parts = [repr(lab.ledger).encode()]
    for outcome in lab.outcomes.values():
        parts += [outcome.stdout, outcome.stderr, outcome.reason.encode(), *(data for _, data in outcome.collected)]
    return b"".join(parts)


@pytest.mark.parametrize("level", WALLED)
def test_a_program_finds_no_secret_of_its_parent(tmp_path: Path, home: Path, listener: Listener, level: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    outcome = python(open_room(level, tree), hunt(home, listener))
    assert outcome.exit_code == 0, outcome.stderr[-2000:]
    assert b"/proc/1/environ" in outcome.stdout
    assert CANARY.encode() not in outcome.stdout + outcome.stderr
    assert b"REACHED (" not in outcome.stdout
    assert listener.visits == []


def a_repository(top: Path) -> None:
    """A work tree with secrets in it, and with what a job may borrow: none of that holds one."""
    (top / ".git").mkdir(parents=True)
    for name in (".git/config", ".env", "untracked.txt"):
        (top / name).write_text(CANARY)
    (top / "node_modules" / "dep").mkdir(parents=True)
    (top / "node_modules" / "dep" / "index.js").write_text("a dependency")
    (top / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (top / ".venv" / "bin").mkdir()
    (top / ".venv" / "pyvenv.cfg").write_text(f"home = {top}\n")


def a_user(home: Path) -> sandbox.Host:
    """Tools, a toolchain and a module cache of a user, each beside secrets."""
    for name in (".local/bin/tool", ".local/bin/other", "sdk/go/bin/go", "sdk/node/bin/node", "bin/python-tool"):
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"#!{home}/sdk/python3\n" if "python" in name else "#!/bin/sh\n")
        place.chmod(0o755)
    (home / "sdk" / "go" / "src").mkdir()
    (home / "go" / "pkg" / "mod" / "cache" / "vcs" / "x").mkdir(parents=True)
    for name in (
        *(
            ".local/secret",
            ".local/bin/.secret",
            "sdk/secret",
            "sdk/node/secret",
            "go/secret",
            "go/pkg/secret",
            ".netrc",
            ".npmrc",
        ),
        *("go/pkg/mod/cache/vcs/x/config", ".config", ".git-credentials"),
    ):
        (home / name).write_text(CANARY)
    folders = tuple(home / name for name in (".local/bin", "sdk/go/bin", "sdk/node/bin", "bin"))
    return sandbox.Host(path=folders, home=home, go_modules=home / "go" / "pkg" / "mod")


@pytest.mark.parametrize("level", WALLED)
def test_what_a_job_borrows_shows_nothing_beside_it(tmp_path: Path, home: Path, listener: Listener, level: str) -> None:
    """Packages, environments, tools, toolchains and caches are visible; what lies beside them is not."""
    tree, top = tmp_path / "tree", tmp_path / "repository"
    tree.mkdir()
    a_repository(top)
    room = open_room(level, tree, toplevel=top, host=a_user(home))
    words = "{tool:tool} {tool:go} {tool:node} {tool:python-tool}" if level == "bubblewrap" else "{tool:cat}"
    program = (
        hunt(home, listener).replace("/root/.ssh", f'{top}", "/tmp/go')
        + f"\ntell(pathlib.Path('node_modules/dep/index.js').read_text())  # {words}"
    )
    outcome = python(room, program)
    assert outcome.exit_code == 0, outcome.stderr[-2000:]
    assert b"a dependency" in outcome.stdout
    assert CANARY.encode() not in outcome.stdout + outcome.stderr
    assert listener.visits == []


@pytest.mark.ci
def test_what_a_preparation_made_shows_nothing_beside_it(tmp_path: Path, home: Path, listener: Listener) -> None:
    tree, kept = tmp_path / "tree", tmp_path / "state" / "layer"
    tree.mkdir()
    for name in ("tree/vendor/code", "home/.local/lib/code", "a-secret", "tree/a-secret", "home/a-secret"):
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        (kept / name).write_text(CANARY if name.endswith("secret") else "prepared")
    (kept / "tree" / "link").symlink_to(home / ".ssh")
    (kept / "home" / "link").symlink_to(home / ".ssh" / "id_ed25519")
    layer = sandbox.Layer(kept, ("vendor", "link"), (".local", "link"))
    room = open_room("bubblewrap", tree, toplevel=tmp_path / "repository", host=sandbox.Host(layer=layer))
    script = "cat vendor/code ~/.local/lib/code; cat link/id_ed25519 ~/link; cat ../a-secret a-secret ~/a-secret; find / -name a-secret 2>/dev/null; true"
    outcome = shell(room, script)
    assert outcome.stdout == b"preparedprepared"
    assert CANARY.encode() not in python(room, hunt(tmp_path, listener)).stdout


def test_without_walls_the_environment_is_empty_all_the_same(tmp_path: Path, home: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    host = sandbox.Host(engine_variables=(("DOCKER_HOST", CANARY),))
    script = "env; cat /proc/self/environ /proc/$PPID/environ; cat {scratch}/../order.json"
    outcome = shell(open_room("unconfined", tree, host=host), script)
    assert b"REVIEWBOT_JOB" in outcome.stdout
    assert CANARY.encode() not in outcome.stdout + outcome.stderr


def test_what_an_engine_or_an_image_would_bring_into_a_container_is_not_there(tmp_path: Path, home: Path) -> None:
    """Variables of the client, of its configuration and of the image; the list of the host's names."""
    tree = tmp_path / "tree"
    tree.mkdir()
    engine = container_host()
    proxies = tuple((name, CANARY) for name in ("http_proxy", "HTTPS_PROXY", "GITHUB_TOKEN"))
    host = replace(engine, engine_variables=(*engine.engine_variables, *proxies))
    room = sandbox.choose("container", trees=lambda _: tree, interpreters=sandbox.discover(None), host=host)
    outcome = shell(room, "env; cat /proc/1/environ /proc/self/environ /etc/hosts; ls -la / /run /root /home /var /mnt; true")
    assert CANARY.encode() not in outcome.stdout + outcome.stderr
    assert OF_IMAGE.encode() not in outcome.stdout + outcome.stderr
    assert b"127.0.0.1 localhost sandbox\n::1 localhost\n" in outcome.stdout


def test_the_hunt_finds_everything_without_a_sandbox(tmp_path: Path, home: Path, listener: Listener) -> None:
    """The hunter is worth its name."""
    tree = tmp_path / "tree"
    tree.mkdir()
    program = hunt(home, listener).replace('"/etc", "/home", "/var", "/root/.ssh"', "")
    outcome = python(open_room("unconfined", tree), program)
    assert CANARY.encode() in outcome.stdout
    assert b"REACHED (" in outcome.stdout


@pytest.mark.usefixtures("bubblewrap")
def test_a_conftest_that_hunts_finds_nothing_and_the_change_is_checked(tmp_path: Path, home: Path, listener: Listener) -> None:
    base = {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_calc.py": TEST_ADD}
    head = base | {"calc.py": "def add(a, b):\n    return a - b\n", "conftest.py": hunt(home, listener)}
    lab = study(tmp_path / "lab", base, head)
    assert lab.ledger.sandbox == "bubblewrap"
    assert CANARY.encode() not in everything(lab)
    assert listener.visits == []
    assert ("calc.py", 2, None) in lab.places("test")


TEST_ADD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


@pytest.mark.usefixtures("bubblewrap")
def test_a_linter_configuration_that_reads_the_environment_reads_nothing(tmp_path: Path, home: Path) -> None:
    base = {"a.py": "x = 1\n", "ruff.toml": 'extend = "/proc/self/environ"\n'}
    head = base | {"a.py": "x = 2\nassert (x, 'y')\n", "ruff.toml": 'extend = "/proc/1/environ"\n'}
    lab = study(tmp_path / "lab", base, head)
    assert CANARY.encode() not in everything(lab)
    assert ("a.py", 2, "F631") in lab.places("lint")


def test_without_a_sandbox_no_configuration_is_read_and_nothing_runs(tmp_path: Path, home: Path) -> None:
    mark = tmp_path / "was-here"
    base = {"a.py": "x = 1\n", "tests/test_a.py": "def test_a(): pass\n"}
    head = base | {
        "a.py": "x = eval('1')\n",
        "conftest.py": f"open({str(mark)!r}, 'w')\n",
        "ruff.toml": 'extend = "/etc/passwd"\n',
    }
    lab = study(tmp_path / "lab", base, head, level="none")
    assert not mark.exists()
    assert ("a.py", 1, "S307") in lab.places("lint")
    assert [run.name for run in lab.ledger.checks if not run.ran] == ["pytest"]
    assert "ruff-project:head" not in lab.outcomes
    assert any("nothing of the change was executed" in note for note in lab.ledger.notes)


@pytest.mark.parametrize("link", ["/etc/passwd", "/proc/self/environ", "../../../../etc/passwd"])
@pytest.mark.parametrize("level", WALLED)
def test_a_symlink_of_the_tree_leads_nowhere(tmp_path: Path, home: Path, link: str, level: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link.py").symlink_to(link)
    outcome = shell(open_room(level, tree), "cat link.py; echo over > link.py", overlay=(("other", b""),))
    assert CANARY.encode() not in outcome.stdout
    assert b"nobody:" not in outcome.stdout


@pytest.mark.parametrize("level", WALLED)
def test_writes_outside_of_the_tree_reach_nothing(tmp_path: Path, level: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    script = f"echo bad > {victim}; mkdir -p {tmp_path}; echo bad > /usr/bad; echo bad > /etc/bad; echo bad > {tree}/bad; true"
    shell(open_room(level, tree), script)
    assert victim.read_text() == "mine"
    assert list(tree.iterdir()) == []
    assert not Path("/usr/bad").exists()
    assert not Path("/etc/bad").exists()


@pytest.mark.parametrize("level", WALLED)
def test_there_are_no_powers_inside(tmp_path: Path, level: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    room = open_room(level, tree)
    outcome = shell(
        room,
        "grep -E 'CapEff|NoNewPrivs' /proc/self/status; unshare -U true && echo nested; mount -t tmpfs x /mnt && echo mounted",
    )
    assert b"CapEff:\t0000000000000000" in outcome.stdout
    assert b"NoNewPrivs:\t1" in outcome.stdout
    assert b"nested" not in outcome.stdout or level == "container"  # podman allows it: powers over nothing that is outside
    assert b"mounted" not in outcome.stdout


@pytest.mark.parametrize("level", WALLED)
def test_memory_cannot_be_filled_through_any_writable_place(tmp_path: Path, level: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    limits = sandbox.Limits(folder_bytes=8_000_000)
    script = "for f in /x /run/x /dev/x /dev/shm/x /tmp/x ./x {scratch}/x; do head -c 100000000 /dev/zero > $f; done 2>/dev/null; du -cb /x /run/x /dev/x /dev/shm/x /tmp/x ./x {scratch}/x 2>/dev/null | tail -1"
    outcome = shell(open_room(level, tree, limits=limits), script)
    assert int(outcome.stdout.split()[0]) <= 64 * 1024 * 1024 + 2 * 8_100_000


FAKES = {
    "deletes the report": "import glob, os\nfor f in glob.glob('/run/reviewbot/scratch/*'):\n    open(f, 'w').close()\n",
    "writes a finish of its own": (
        "import glob, json\n"
        "for f in glob.glob('/run/reviewbot/scratch/*.jsonl'):\n"
        "    open(f, 'a').write(json.dumps({'type': 'finish', 'n': 4}) + '\\n')\n"
    ),
    "ends the run as if all were well": "import os\nos._exit(0)\n",
}


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("trick", FAKES)
def test_a_test_that_tampers_with_its_report_proves_nothing(tmp_path: Path, trick: str) -> None:
    base = {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_calc.py": TEST_ADD}
    evil = "from calc import add\n\n\ndef test_a():\n" + "".join(f"    {line}\n" for line in FAKES[trick].splitlines())
    lab = study(
        tmp_path, base, base | {"calc.py": "def add(a, b):\n    return b + a\n", "tests/test_calc.py": evil + TEST_ADD[20:]}
    )
    assert lab.ledger.sandbox == "bubblewrap"
    run = next(run for run in lab.ledger.checks if run.name == "pytest")
    assert run.reason
    assert not lab.ledger.tests.green or not run.ran or "before its time" in run.reason
    assert lab.new("test") == []


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
def test_what_a_test_prints_cannot_command_a_terminal_or_a_workflow(tmp_path: Path) -> None:
    loud = "from calc import add\n\n\ndef test_add():\n    print('\\033[2J::set-output name=x::y')\n    assert add(1, 2) == 3, '\\033]0;title\\007\\u202eevil'\n"
    base = {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_calc.py": loud}
    lab = study(tmp_path, base, base | {"calc.py": "def add(a, b):\n    return a - b\n"})
    assert lab.ledger.sandbox == "bubblewrap"
    told = [item for item in lab.ledger.items if item.status is EvidenceStatus.NEW and item.result.kind.value == "test"]
    assert told
    for item in told:
        text = item.result.message + item.result.excerpt
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n" not in item.result.message


def test_the_parent_s_environment_is_untouched(home: Path) -> None:
    assert os.environ["GITHUB_TOKEN"] == CANARY
