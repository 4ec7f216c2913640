"""bubblewrap: a job sees the system's programs, its own copy of the tree, and nothing else of this machine.

``bwrap`` itself is started with an empty environment, because its first process inside keeps the environment it was
started with, for everyone to read in ``/proc/1/environ``. The tree is copied into memory inside: what a job writes is gone
with it. Files to collect are mounted one by one, so a job can fill them but neither remove them nor turn them into links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.sandbox import words
from reviewbot.adapters.sandbox.interpreters import ENVIRONMENT_NAMES, Interpreters, links, needs
from reviewbot.adapters.sandbox.limits import MIB, Limits
from reviewbot.adapters.sandbox.plain import PROBES
from reviewbot.adapters.sandbox.process import Command, Supervisor
from reviewbot.adapters.sandbox.scratch import Unlayable, collected, scratch
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError
from reviewbot.ports import Ended, Job, Outcome

PLACES = (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap"), Path("/bin/bwrap"))
_INSIDE = "/run/reviewbot"
_TREE = f"{_INSIDE}/work"
"""Where the tree stands when the repository's real path cannot be used."""
_OURS = frozenset(map(Path, ("/", "/usr", "/etc", "/tmp", "/proc", "/dev", "/run", _INSIDE, "/sys")))
_WALLS = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
)
_LAY_OUT = (
    f'cp -a --no-preserve=ownership {_INSIDE}/tree/. "$0" && cp -a --no-preserve=ownership --remove-destination '
    f'{_INSIDE}/overlay/. "$0" && cd "$0" || {{ echo "the tree cannot be laid out" >&2; exit 125; }}; exec "$@"'
)
_PASSWD = "user:x:1000:1000::/tmp:/bin/sh\nroot:x:0:0::/root:/bin/sh\n"
_HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"
_SELF_TEST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Mount:
    """Words for ``bwrap`` that make ``target``. Outer folders come before inner ones."""

    target: str
    words: tuple[str, ...]


class Bubblewrap:
    """The sandbox. Raises SandboxError where it cannot start here."""

    level = "bubblewrap"
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        trees: Callable[[Side], Path],
        interpreters: Interpreters,
        limits: Limits,
        toplevel: Path | None,
    ) -> None:
        self._trees = trees
        self._interpreters = interpreters
        self._limits = limits
        self._tree = str(toplevel) if toplevel and toplevel not in _OURS else _TREE
        self._supervisor = Supervisor(limits)
        self._program = next((str(place) for place in PLACES if place.is_file()), "")
        self._test()

    def run(self, job: Job) -> Outcome:
        """One job behind the wall."""
        try:
            with scratch(job) as folder:
                outcome = self._supervisor.run(self._command(job, folder))
                return replace(outcome, collected=collected(folder, job.collect, self._limits.output_bytes))
        except Unlayable as exc:
            return Outcome(Ended.REFUSED, reason=str(exc))

    def close(self) -> None:
        """End what runs."""
        self._supervisor.close()

    def _test(self) -> None:
        """Start the sandbox once, as it will be."""
        if not self._program:
            raise SandboxError("bubblewrap is not installed", hint="install it (Debian, Ubuntu: apt-get install bubblewrap)")
        outcome = self.run(Job("self-test", ("/bin/true",), _SELF_TEST_SECONDS, executes=False))
        if outcome.exit_code != 0:
            said = outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2] or outcome.reason
            raise SandboxError(f"bubblewrap cannot start here ({said[:200]})", hint=_remedy())

    def _command(self, job: Job, folder: Path) -> Command:
        tree = self._trees(job.tree) if job.tree else None
        interpreters = self._seen_from(tree)
        known = {
            "python": str(interpreters.for_tests),
            "own_python": str(interpreters.own),
            "ruff": str(interpreters.ruff),
            "scratch": f"{_INSIDE}/scratch",
            "tree": self._tree,
            "probes": f"{_INSIDE}/probes",
        }
        mounts = sorted(
            self._mounts(job, folder, tree=tree, interpreters=interpreters), key=lambda mount: mount.target.rstrip("/").count("/")
        )
        variables = words.environment(job, known, home="/tmp")
        launcher = ("/bin/sh", "-c", _LAY_OUT, self._tree) if tree else ()
        argv = (
            self._program,
            *_WALLS,
            *(word for mount in mounts for word in mount.words),
            *("--remount-ro", "/dev", "--remount-ro", "/run", "--remount-ro", "/", "--chdir", known["scratch"]),
            *(word for name, value in variables.items() for word in ("--setenv", name, value)),
            "--",
            *self._limits.prlimit(),
            *launcher,
            *words.argv(job, known),
        )
        return Command(argv, {}, folder, job.stdin, job.timeout_seconds)

    def _seen_from(self, tree: Path | None) -> Interpreters:
        """An environment that was committed is part of the change, not the project's own."""
        project = self._interpreters.project
        committed = tree is not None and any((tree / name).exists() for name in ENVIRONMENT_NAMES)
        return replace(self._interpreters, project=None) if project and committed else self._interpreters

    def _mounts(self, job: Job, folder: Path, *, tree: Path | None, interpreters: Interpreters) -> Iterator[_Mount]:
        yield from _system(folder)
        size = str(self._limits.folder_bytes)
        yield _Mount("/tmp", ("--size", size, "--tmpfs", "/tmp"))
        yield _Mount("/dev/shm", ("--size", str(64 * MIB), "--tmpfs", "/dev/shm"))
        yield _Mount("/run", ("--size", str(MIB), "--tmpfs", "/run"))
        if tree:
            yield _Mount(self._tree, ("--size", size, "--tmpfs", self._tree))
            yield _read_only(tree, f"{_INSIDE}/tree")
            yield _read_only(folder / "overlay", f"{_INSIDE}/overlay")
        pythons = (interpreters.for_tests, interpreters.own)
        for place in dict.fromkeys(place for python in pythons for place in needs(python)):
            yield _read_only(place, str(place))
        for link, goal in dict.fromkeys(pair for python in pythons for pair in links(python)):
            yield _Mount(str(link), ("--symlink", str(goal), str(link)))
        if interpreters.ruff.is_absolute():
            yield _read_only(interpreters.ruff, str(interpreters.ruff))
        yield _read_only(PROBES, f"{_INSIDE}/probes")
        yield _read_only(folder / "files", f"{_INSIDE}/scratch")
        for name in job.collect:
            target = f"{_INSIDE}/scratch/{name}"
            yield _Mount(target, ("--bind", str(folder / "files" / name), target))


def _system(folder: Path) -> Iterator[_Mount]:
    """The system's programs and libraries, as little of ``/etc`` as they need, and people nobody has met."""
    yield _read_only(Path("/usr"), "/usr")
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        place = Path(name)
        if place.is_symlink():
            yield _Mount(name, ("--symlink", str(place.readlink()), name))
        elif place.is_dir():
            yield _read_only(place, name)
    for name in ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"):
        if Path(name).exists():
            yield _read_only(Path(name), name)
    for name, text in (("passwd", _PASSWD), ("hosts", _HOSTS)):
        (folder / name).write_text(text, "utf-8")
        yield _read_only(folder / name, f"/etc/{name}")
    yield _Mount("/proc", ("--proc", "/proc"))
    yield _Mount("/dev", ("--dev", "/dev"))


def _read_only(place: Path, target: str) -> _Mount:
    return _Mount(target, ("--ro-bind", str(place), target))


def _remedy() -> str:
    """The switch that most likely is in the way."""
    for switch, blocking in (
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("kernel/unprivileged_userns_clone", "0"),
        ("user/max_user_namespaces", "0"),
    ):
        path = Path("/proc/sys") / switch
        if path.is_file() and path.read_text("utf-8").strip() == blocking:
            wanted = {"0": "1", "1": "0"}[blocking] if switch.startswith("kernel") else "15000"
            return f"allow user namespaces: sysctl -w {switch.replace('/', '.')}={wanted}"
    return "bubblewrap 0.8 or newer and user namespaces are needed"
