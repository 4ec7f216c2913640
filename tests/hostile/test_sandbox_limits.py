"""Jobs that hang, eat, multiply, hide, flood and call home, at every level that runs here: each ends, and nothing of it is left.

What they would take if nothing stopped them (700 MB in a process, 2 GB hidden, 600 processes) is far below what a machine has.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox import watch
from reviewbot.ports import Ended
from tests.sandboxes import a_mark, container_host, open_room, python, shell, wait_until_gone

pytestmark = [pytest.mark.ci, pytest.mark.serial, pytest.mark.matrix(parts=1)]
MIB = 1024 * 1024
TIGHT = sandbox.Limits(
    memory_bytes=500 * MIB,
    processes=60,
    threads=240,
    folder_bytes=40 * MIB,
    file_bytes=20 * MIB,
    output_bytes=4000,
    flood_bytes=2 * MIB,
)
WALLED = ("bubblewrap", "container")
EVERY = (*WALLED, "unconfined")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "exported"
    folder.mkdir()
    return folder


@pytest.fixture
def mark() -> str:
    return a_mark()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything temporary of this test lies."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(params=EVERY)
def room(request: pytest.FixtureRequest, tree: Path, place: Path, mark: str) -> Iterator[sandbox.ClosableSandbox]:
    """A room that must be clean when the job is over."""
    opened = open_room(request.param, tree, limits=TIGHT)
    yield opened
    opened.close()
    assert wait_until_gone(mark) == []
    assert list(place.iterdir()) == []
    if opened.level == "container":
        assert containers_left() == b""


def containers_left() -> bytes:
    """Containers of ours that the tests' engine still knows."""
    host = container_host()
    words = (host.container.engine, "ps", "--all", "--quiet", "--filter", "label=reviewbot")
    return subprocess.run(words, env=dict(host.engine_variables), capture_output=True, check=True).stdout


HANGS = {
    "deaf to every signal": "import signal, time\nfor n in range(1, 32):\n try: signal.signal(n, signal.SIG_IGN)\n except OSError: pass\nwhile True: time.sleep(1)",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "busy": "while True: pass",
    "reading what never comes": "import os\nr, w = os.pipe()\nos.read(r, 1)",
    "with all streams closed": "import os, time\nfor n in range(3): os.close(n)\ntime.sleep(600)",
}


@pytest.mark.smoke
@pytest.mark.parametrize("how", HANGS)
def test_what_hangs_is_ended(room: sandbox.ClosableSandbox, mark: str, how: str) -> None:
    assert python(room, f"{HANGS[how]}\n# {mark}", seconds=1).ended is Ended.TIMEOUT


EATERS = {
    "at once": "kept = b'x' * (700 * 1024 * 1024)\nimport time; time.sleep(60)",
    "by many small ones": "import os, time\nfor _ in range(40):\n if os.fork() == 0: kept = os.urandom(1) * (25 * 1024 * 1024); time.sleep(60)\ntime.sleep(60)",
    "shared by all": "import mmap, time\nkept = mmap.mmap(-1, 700 * 1024 * 1024)\nfor at in range(0, len(kept), 4096): kept[at] = 1\ntime.sleep(60)",
}


@pytest.mark.parametrize("how", EATERS)
def test_what_eats_memory_is_ended(room: sandbox.ClosableSandbox, mark: str, how: str) -> None:
    assert python(room, f"{EATERS[how]}\n# {mark}", seconds=30).ended is Ended.MEMORY


def test_pages_that_many_share_are_counted_once(room: sandbox.ClosableSandbox, mark: str) -> None:
    program = "import os, time\nkept = b'x' * (100 * 1024 * 1024)\nfor _ in range(20):\n if os.fork() == 0: time.sleep(2); os._exit(0)\ntime.sleep(2.5)"
    assert python(room, f"{program}\n# {mark}", seconds=30).exit_code == 0


HIDDEN = """
import os, time
for number in range(105):
    handle = os.memfd_create(str(number))
    for _ in range(19): os.write(handle, bytes(1024 * 1024))
time.sleep(60)
"""


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined"])
def test_memory_that_no_process_shows_is_missed_on_the_machine(tree: Path, mark: str, level: str) -> None:
    limits = sandbox.Limits(memory_bytes=300 * MIB, file_bytes=20 * MIB, reserve_bytes=1 << 50)
    room = open_room(level, tree, limits=limits)  # it hides 2 GB: neighbours on the machine that end give back less than that
    assert python(room, f"{HIDDEN}# {mark}", seconds=30).ended is Ended.MEMORY
    assert wait_until_gone(mark) == []


BOMBS = {
    "of forks": "import os, time\nfor _ in range(9):\n try: os.fork()\n except OSError: pass\ntime.sleep(60)",
    "of sleepers": "import os, time\nfor _ in range(600):\n if os.fork() == 0: time.sleep(60); os._exit(0)\ntime.sleep(60)",
    "of threads": "import threading, time\nthreading.stack_size(65536)\nfor _ in range(600): threading.Thread(target=time.sleep, args=(60,)).start()\ntime.sleep(60)",
    "of sessions": "import os, time\nfor _ in range(600):\n if os.fork() == 0:\n  os.setsid()\n  if os.fork(): os._exit(0)\n  time.sleep(60); os._exit(0)\ntime.sleep(60)",
}


@pytest.mark.parametrize("how", BOMBS)
def test_what_multiplies_is_ended(room: sandbox.ClosableSandbox, mark: str, how: str) -> None:
    assert python(room, f"{BOMBS[how]}\n# {mark}", seconds=30).ended is Ended.PROCESSES


DAEMON = """
import os, time
def away():
    if os.fork(): os._exit(0)
if os.fork() == 0:
    os.setsid()
    away()
    for n in range(3): os.close(n)
    os.chdir("/")
    os.execve("/bin/sh", ["sh", "-c", "sleep MARK & sleep MARK"], {ENVIRONMENT})
print("ended")
"""


@pytest.mark.parametrize("environment", ["", "'A': 'b'"])
def test_a_daemon_does_not_outlive_its_job(room: sandbox.ClosableSandbox, mark: str, environment: str) -> None:
    """Also one that has left session, parent, streams and environment behind before anybody looks."""
    outcome = python(room, DAEMON.replace("MARK", mark).replace("ENVIRONMENT", environment))
    assert outcome.stdout == b"ended\n"
    assert outcome.exit_code == 0


def test_a_daemon_that_holds_the_streams_does_not_keep_its_job_alive(room: sandbox.ClosableSandbox, mark: str) -> None:
    outcome = shell(room, f"(setsid sh -c 'sleep {mark}' &); (setsid sleep {mark} &); echo ended")
    assert outcome.stdout == b"ended\n"
    assert outcome.seconds < 10


@pytest.mark.parametrize("level", WALLED)
def test_a_job_that_kills_everybody_kills_itself_only(tree: Path, level: str) -> None:
    """Never to be tried without walls."""
    room = open_room(level, tree, limits=TIGHT)
    python(room, "import os, signal\nos.kill(-1, signal.SIGKILL)", seconds=10)
    assert shell(room, "echo still here").stdout == b"still here\n"


FILLERS = {
    "its tree": "head -c 19000000 /dev/zero > a; head -c 19000000 /dev/zero > b; head -c 19000000 /dev/zero > c; head -c 19000000 /dev/zero > d",
    "its home": "cd ~; for n in 1 2 3 4 5 6; do head -c 19000000 /dev/zero > $n; done",
    "one file": "head -c 190000000 /dev/zero > big",
    "a file to collect": "head -c 190000000 /dev/zero > {scratch}/report",
    "many small ones": "head -c 80000000 /dev/zero | split -b 40000 -a 4",
}


@pytest.mark.parametrize("what", FILLERS)
def test_what_fills_the_disk_is_stopped(room: sandbox.ClosableSandbox, place: Path, mark: str, what: str) -> None:
    before = watch.folder_bytes(place)
    outcome = shell(room, f"({FILLERS[what]}); du -xsk . ~; sleep 1 # {mark}", seconds=60, collect=("report",))
    written = [int(line) * 1024 for line in outcome.stdout.split() if line.isdigit()]
    if outcome.ended is Ended.OUTPUT:
        assert "bytes of files" in outcome.reason
    else:
        assert outcome.ended is Ended.EXITED
        assert all(size <= TIGHT.folder_bytes + MIB for size in written)
    assert len(outcome.file("report") or b"") <= TIGHT.output_bytes
    assert watch.folder_bytes(place) <= before + MIB


FLOODS = {
    "standard output": "yes",
    "standard error": "yes >&2",
    "both": "(yes & yes >&2)",
    "without a line": "tr '\\0' x </dev/zero",
}


@pytest.mark.parametrize("where", FLOODS)
def test_a_flood_of_output_is_ended(room: sandbox.ClosableSandbox, mark: str, where: str) -> None:
    outcome = shell(room, f"{FLOODS[where]} # {mark}", seconds=30)
    assert outcome.ended is Ended.OUTPUT
    assert len(outcome.stdout) + len(outcome.stderr) < 2 * TIGHT.output_bytes + 200


SEEKERS = """
import socket, struct, sys
def reached(what): print("REACHED", what)
for family, kind, where in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PORT)), (socket.AF_INET6, socket.SOCK_STREAM, ("::1", PORT)),
    (socket.AF_INET, socket.SOCK_STREAM, ("10.255.255.1", 80)), (socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80)),
    (socket.AF_UNIX, socket.SOCK_STREAM, "\\0ABSTRACT"), (socket.AF_UNIX, socket.SOCK_STREAM, "/run/docker.sock"),
    (socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/dbus/system_bus_socket"),
):
    try:
        link = socket.socket(family, kind); link.settimeout(1); link.connect(where); reached(where)
    except OSError as exc: print("no way", where, exc)
try:
    reached(socket.getaddrinfo("example.org", 80))
except OSError as exc: print("no name", exc)
try:
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if link.sendto(b"x", ("198.51.100.1", 53)): reached("udp")
except OSError as exc: print("no way", exc)
for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW)):
    try: socket.socket(family, kind); reached("raw")
    except OSError as exc: print("no power", exc)
"""


@pytest.mark.parametrize("level", WALLED)
def test_what_seeks_a_network_finds_none(tree: Path, mark: str, level: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as hidden:
        hidden.bind(f"\0{mark}")
        hidden.listen()
        program = SEEKERS.replace("PORT", str(listener.getsockname()[1])).replace("ABSTRACT", mark)
        outcome = python(open_room(level, tree, limits=TIGHT), program, seconds=30)
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert outcome.exit_code == 0, outcome
    assert b"no way" in outcome.stdout
    assert b"REACHED" not in outcome.stdout


def test_the_seeker_is_worth_its_name(tree: Path, mark: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as hidden:
        hidden.bind(f"\0{mark}")
        hidden.listen()
        program = SEEKERS.replace("PORT", str(listener.getsockname()[1])).replace("ABSTRACT", mark)
        outcome = python(open_room("unconfined", tree, limits=TIGHT), program, seconds=60)
    assert outcome.stdout.count(b"REACHED") >= 2


def test_a_container_that_is_ended_while_it_starts_leaves_nothing(tree: Path, mark: str) -> None:
    """An engine's client that is killed half-way through leaves parts of a container that the engine does not know of."""
    room = open_room("container", tree, limits=TIGHT)
    for step in range(8):
        shell(room, f"sleep {mark}", seconds=step * 0.08)
    assert containers_left() == b""
    storage = dict(container_host().engine_variables).get("CONTAINERS_STORAGE_CONF", mark)
    assert wait_until_gone(str(Path(storage).parent)) == []
