"""Start the command by forking a process that has already imported it.

Importing the program costs more than most tests of it. With :func:`forking`, ``subprocess.Popen`` of the command (in one of the
forms that ``_arguments`` knows) becomes a fork of one warm process instead of a new interpreter. The fork is a child of the test's
process with its own arguments, environment, folder, streams, session and process group, so ``wait``, signals and ``killpg`` work
as on any other child. Every other program is executed as usual, and so is the command where a fork would differ: see
``_needs_interpreter``. A test whose command must be a new interpreter has the marker ``cold``; the nightly ring forks nothing.

Linux only (``PR_SET_CHILD_SUBREAPER``); elsewhere nothing is forked.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import pkgutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

TOP = str(Path(__file__).parents[1])
SCRIPT = str(Path(sys.executable).with_name("reviewbot"))
MODULE = ["-m", "reviewbot.cli"]
PROGRAM = ["-c", "from reviewbot.cli import program; program()"]
STARTUP_VARIABLES = (
    "PYTHONDEVMODE",
    "PYTHONHASHSEED",
    "PYTHONHOME",
    "PYTHONIOENCODING",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONTRACEMALLOC",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
)
"""What an interpreter reads before its first line of Python. PYTHONPATH and PYTHONUNBUFFERED are applied in the fork."""
UTF8_LOCALES = ("", "C", "POSIX", "C.UTF-8")
NOT_PRELOADED = ("reviewbot.probes", "reviewbot.adapters.panel.", "reviewbot.cli.__main__")
"""Modules that run in the sandbox only, that import an optional SDK, or that run the program when they are imported."""
TEST_MODULES = ("tests", "sitecustomize", "usercustomize", "encodings", "__mp_main__")
"""Top names of what a fork imported from the path of its test: the server does not preload them."""
PR_SET_CHILD_SUBREAPER = 36
_LENGTH = struct.Struct("!I")


# In the process of the tests.


class ForkServer:
    """The warm process, started at the first fork and ended by :meth:`close`. While ``is_on`` is false nothing is forked."""

    def __init__(self) -> None:
        self.is_on = True
        self.coverage: dict[str, Any] | None = None
        """Options of ``coverage.Coverage`` that forks are measured with."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._home = tempfile.TemporaryDirectory(prefix="reviewbot-forks-")

    def fork(self, request: Mapping[str, Any], streams: tuple[int, int, int]) -> int:
        """The process id of a new child of this process with these standard streams."""
        with self._lock:
            connection = self._socket or self._start()
            # The fork's own parent ends at once; this process adopts the orphan.
            _adopt_orphans(yes=True)
            try:
                message = json.dumps(request).encode("utf-8", "surrogateescape")
                socket.send_fds(connection, [_LENGTH.pack(len(message))], list(streams))
                connection.sendall(message)
                answer = connection.recv(_LENGTH.size)
            finally:
                _adopt_orphans(yes=False)
        if len(answer) < _LENGTH.size:
            raise RuntimeError("the fork server died")
        return int(_LENGTH.unpack(answer)[0])

    def _start(self) -> socket.socket:
        self._socket, theirs = socket.socketpair()
        environment = {"PATH": os.environ["PATH"], "HOME": self._home.name, "LC_ALL": "C.UTF-8"}
        program = f"import sys; sys.path.insert(0, {TOP!r}); from tests.forkserver import serve; serve()"
        with theirs:
            command = [sys.executable, "-c", program, str(theirs.fileno())]
            self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], cwd="/")
        return self._socket

    def close(self) -> None:
        """End the warm process; forks that still run go on."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()
            self._socket = None
        self._home.cleanup()


@contextlib.contextmanager
def forking(server: ForkServer) -> Iterator[None]:
    """Within this context the command is forked by the server."""
    # CPython has no public hook for how a child is made; the parameters of this method are the same in 3.11 to 3.14.
    execute = subprocess.Popen._execute_child  # type: ignore[attr-defined]
    names = execute.__code__.co_varnames[1 : execute.__code__.co_argcount]

    def fork_or_execute(self: Any, *values: Any) -> None:
        given = dict(zip(names, values, strict=True))
        environment = {
            os.fsdecode(k): os.fsdecode(v)
            for k, v in (given["env"] or os.environ if given["env"] is None else given["env"]).items()
        }
        command = _arguments(given["args"])
        folder = str(Path.cwd()) if given["cwd"] is None else os.fsdecode(given["cwd"])
        if not server.is_on or command is None or _needs_interpreter(given, environment) or not Path(folder).is_dir():
            execute(self, *values)
            return
        sys.audit("subprocess.Popen", given["args"][0], given["args"], given["cwd"], given["env"])
        request = {
            "start": command[0],
            "arguments": command[1],
            "environment": environment,
            "folder": folder,
            "session": bool(given["start_new_session"]),
            "group": given["process_group"],
            "umask": _umask() if given["umask"] < 0 else given["umask"],
            "coverage": server.coverage,
        }
        streams = (given["p2cread"], given["c2pwrite"], given["errwrite"])
        stdin, stdout, stderr = (number if fd < 0 else fd for number, fd in enumerate(streams))
        self.pid = server.fork(request, (stdin, stdout, stderr))
        self._child_created = True
        self._close_pipe_fds(*(given[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")))

    subprocess.Popen._execute_child = fork_or_execute  # type: ignore[attr-defined]
    try:
        yield
    finally:
        subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]


def _arguments(args: Any) -> tuple[list[str], list[str]] | None:
    """How the command is started and the arguments after that; ``None`` for every other program."""
    if isinstance(args, str | bytes | os.PathLike):
        return None
    words = [os.fsdecode(word) for word in args]
    if words[:1] == [SCRIPT]:
        return [SCRIPT], words[1:]
    if words[:1] == [sys.executable] and words[1:3] in (MODULE, PROGRAM):
        return words[1:3], words[3:]
    return None


def _needs_interpreter(given: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether a fork would not be what this call starts."""
    return bool(
        sys.platform != "linux"
        or any(given[name] for name in ("preexec_fn", "pass_fds", "shell", "executable"))
        or any(name in environment for name in STARTUP_VARIABLES)
        or environment.get("LC_ALL", environment.get("LANG", "C")) not in UTF8_LOCALES
    )


def _umask() -> int:
    """The mask of this process. ``os.umask`` would change it for a moment, and other threads make files meanwhile."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(status.partition("Umask:")[2].split()[0], 8)


def _adopt_orphans(*, yes: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(yes), 0, 0, 0)


# In the warm process.


def serve() -> NoReturn:
    """Import the program, then fork once for each request, until the tests' process closes the socket (``sys.argv[1]``)."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    installed = [entry for entry in sys.path if entry not in ("", TOP)]
    _preload()
    imports, report_imports = os.pipe()
    os.set_blocking(imports, False)
    gc.collect()
    gc.freeze()
    while True:
        if _preload_more(imports):
            gc.collect()
            gc.freeze()
        header, streams, _, _ = socket.recv_fds(connection, _LENGTH.size, 3)
        if not header:
            os._exit(0)
        request = json.loads(_receive(connection, _LENGTH.unpack(header)[0]).decode("utf-8", "surrogateescape"))
        pid_out, pid_in = os.pipe()
        orphaned, alive = os.pipe()
        between = os.fork()
        if between == 0:
            if os.fork():
                os._exit(0)
            os.close(alive)
            os.read(orphaned, 1)  # ends when the server has seen the process between end: then the tests' process is the parent
            for fd in (orphaned, pid_out, imports, connection.detach()):
                os.close(fd)
            _become(request, streams, installed, report_imports, pid_in)
        for fd in (*streams, pid_in, orphaned):
            os.close(fd)
        os.waitpid(between, 0)
        os.close(alive)
        answer = os.read(pid_out, _LENGTH.size)
        os.close(pid_out)
        connection.sendall(answer)


def _receive(connection: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length:
        received += connection.recv(length - len(received))
    return received


def _preload() -> None:
    import reviewbot

    for module in pkgutil.walk_packages(reviewbot.__path__, "reviewbot."):
        if not module.name.startswith(NOT_PRELOADED) and ".migrations" not in module.name:
            importlib.import_module(module.name)


def _preload_more(imports: int) -> bool:
    """Import what earlier forks had to import themselves; whether there was anything."""
    try:
        names = os.read(imports, 1 << 16).decode().split()
    except BlockingIOError:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in dict.fromkeys(names):
            # What cannot be imported here (a name cut off at the end of the pipe, a part of a package) the next fork imports.
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    return True


def _become(request: dict[str, Any], streams: list[int], installed: list[str], report_imports: int, pid_in: int) -> NoReturn:
    """Do what ``exec`` and the start of an interpreter would have done, then run the command."""
    code = 1  # as of an interpreter that is interrupted before it is ready
    try:
        if request["session"]:
            os.setsid()
        elif request["group"] is not None and request["group"] >= 0:
            os.setpgid(0, request["group"])
        os.umask(request["umask"])
        os.chdir(request["folder"])
        os.write(pid_in, _LENGTH.pack(os.getpid()))
        os.close(pid_in)
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        for fd in set(streams) - {0, 1, 2}:
            os.close(fd)
        _start_interpreter(request, installed)
        before = set(sys.modules)
        with _measured(request["coverage"]):
            from reviewbot.cli import main

            code = main()
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
        if new := [name for name in sys.modules if name not in before and _is_installed(name, installed)]:
            os.write(report_imports, " ".join([*new, ""]).encode()[:60_000])
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


@contextlib.contextmanager
def _measured(options: dict[str, Any] | None) -> Iterator[None]:
    if options is None:
        yield
        return
    from coverage import Coverage

    coverage = Coverage(**options, config_file=False)
    # The warning would go to the standard error of the command, which tests compare.
    coverage.set_option("run:disable_warnings", ["no-data-collected"])
    coverage.start()
    try:
        yield
    finally:
        coverage.stop()
        coverage.save()


def _start_interpreter(request: dict[str, Any], installed: list[str]) -> None:
    """The environment, streams, path and arguments of a new interpreter, and its ``sitecustomize`` if PYTHONPATH has one."""
    environment: dict[str, str] = request["environment"]
    if environment.get("LC_ALL", environment.get("LANG", "C")) in ("", "C", "POSIX") and "LC_CTYPE" not in environment:
        environment = {**environment, "LC_CTYPE": "C.UTF-8"}  # PEP 538
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    unbuffered = bool(environment.get("PYTHONUNBUFFERED"))
    sys.stdin = _stream(0, "r", unbuffered=unbuffered)  # type: ignore[assignment]
    sys.stdout = _stream(1, "w", unbuffered=unbuffered)  # type: ignore[assignment]
    sys.stderr = _stream(2, "w", unbuffered=unbuffered, errors="backslashreplace")  # type: ignore[assignment]
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    start, arguments = request["start"], request["arguments"]
    first_entry = {"-m": request["folder"], "-c": ""}.get(start[0], str(Path(start[0]).parent))
    python_path = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [first_entry, *python_path, *installed]
    main_file = Path(TOP, "reviewbot", "cli", "__main__.py")
    sys.argv[:] = [{"-m": str(main_file)}.get(start[0], start[0]), *arguments]
    sys.orig_argv[:] = [sys.executable, *start, *arguments]
    for entry in python_path:
        if (custom := Path(entry, "sitecustomize.py")).is_file():
            exec(compile(custom.read_bytes(), str(custom), "exec"), {"__name__": "sitecustomize", "__file__": str(custom)})
            break


def _is_installed(name: str, installed: list[str]) -> bool:
    """Whether a module came from an installed package, not from the folder of a test."""
    file = getattr(sys.modules[name], "__file__", None)
    inside = file is None or file.startswith(tuple(f"{entry}{os.sep}" for entry in (*installed, f"{TOP}{os.sep}reviewbot")))
    return inside and name.partition(".")[0] not in TEST_MODULES


def _stream(number: int, mode: str, *, unbuffered: bool, errors: str = "surrogateescape") -> io.TextIOWrapper | None:
    try:
        os.fstat(number)
    except OSError:
        return None
    raw = open(number, f"{mode}b", buffering=0 if unbuffered and mode == "w" else -1, closefd=False)  # noqa: SIM115 - lives as long as the process
    text = io.TextIOWrapper(
        raw, encoding="utf-8", errors=errors, line_buffering=raw.isatty() or number == 2, write_through=unbuffered
    )  # type: ignore[type-var]
    text.mode = mode
    return text
