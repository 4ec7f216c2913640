"""bubblewrap: a job sees the system's programs, its own copy of the tree, and nothing else of this machine.

``bwrap`` itself is started with an empty environment, because its first process inside keeps the environment it was
started with, for everyone to read in ``/proc/1/environ``. The tree is copied into memory inside: what a job writes is gone
with it. Files to collect are mounted one by one, so a job can fill them but neither remove them nor turn them into links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from reviewbot.adapters.sandbox import borrow, mounts, offline, self_test, tools, words
from reviewbot.adapters.sandbox.host import Ground
from reviewbot.adapters.sandbox.interpreters import links, needs
from reviewbot.adapters.sandbox.laying import Unlayable
from reviewbot.adapters.sandbox.limits import MIB
from reviewbot.adapters.sandbox.mounts import HOME, Kind, Mount
from reviewbot.adapters.sandbox.process import Command, Supervisor
from reviewbot.adapters.sandbox.scratch import collected, scratch
from reviewbot.adapters.sandbox.system import system
from reviewbot.adapters.sandbox.tools import Kit
from reviewbot.errors import SandboxError
from reviewbot.ports import Ended, Job, Outcome

PLACES = (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap"), Path("/bin/bwrap"))
_WALLS = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
)
_COPY = "cp -a --no-preserve=ownership"
_IN_THE_WAY = f"{mounts.INSIDE}/in-the-way"
_LAY_OUT = (
    f'{_COPY} {mounts.EXPORTED}/. "$0" && cd "$0" && '
    f"if [ -f {_IN_THE_WAY} ]; then xargs -0 rm -rf -- <{_IN_THE_WAY}; fi && "
    f"{_COPY} --remove-destination {mounts.OVERLAY}/. . "
    '|| { echo "the tree cannot be laid out" >&2; exit 125; }; exec "$@"'
)
_IN_WORDS: Mapping[Kind, Callable[[Mount], tuple[str, ...]]] = {
    Kind.READ: lambda mount: ("--ro-bind", mount.source, mount.target),
    Kind.WRITE: lambda mount: ("--bind", mount.source, mount.target),
    Kind.MEMORY: lambda mount: ("--size", str(mount.size), "--tmpfs", mount.target),
    Kind.LINK: lambda mount: ("--symlink", mount.source, mount.target),
}
_CLOSED = ("--remount-ro", "/dev", "--remount-ro", "/run", "--remount-ro", "/")


class Bubblewrap:
    """The sandbox. Raises SandboxError where it cannot start here."""

    level = "bubblewrap"

    def __init__(self, ground: Ground) -> None:
        self.notes: tuple[str, ...] = ()
        self._ground = ground
        self._supervisor = Supervisor(ground.limits)
        self._program = program()
        self._test()

    def run(self, job: Job) -> Outcome:
        """One job behind the wall."""
        try:
            with scratch(job) as folder:
                command = self._command(job, folder)
                if isinstance(command, Outcome):
                    return command
                outcome = self._supervisor.run(command)
                return replace(outcome, collected=collected(folder, job.collect, self._ground.limits.output_bytes))
        except Unlayable as exc:
            return Outcome(Ended.REFUSED, reason=str(exc))

    def close(self) -> None:
        """End what runs."""
        self._supervisor.close()

    def _test(self) -> None:
        """Start the sandbox once, as it will be."""
        outcome = self.run(self_test.JOB)
        if problem := self_test.problem(outcome):
            raise SandboxError(f"bubblewrap cannot start here ({problem})", hint=_remedy())

    def _command(self, job: Job, folder: Path) -> Command | Outcome:
        """How to start the job, or why it cannot be."""
        ground = self._ground
        view = mounts.view(job, ground, folder, lent=borrow.borrowed(job, ground))
        shelves = (*borrow.shelves(view.lent, view.tree), *tools.own_shelves(ground.host.path, ground.toplevel))
        kit = tools.gather(words.tools(job), shelves, ground.hides)
        if kit.missing:
            return tools.missing(kit)
        pythons, known = self._pythons(job, view)
        known |= view.words(has_beside=job.beside is not None) | kit.words
        variables = offline.variables(kit.programs, home=HOME)
        seen = (
            *(*system(folder), *view.mounts, *mounts.modules(kit.programs, ground)),
            *(*_listing(view, folder), *self._programs(pythons, kit)),
        )
        launcher = ("/bin/sh", "-c", _LAY_OUT, view.tree) if job.tree else ()
        argv = (
            *walled(self._program, seen, folder=mounts.SCRATCH),
            *in_environment(words.environment(job, known, folders=kit.folders, home=HOME, variables=variables)),
            "--",
            *ground.limits.prlimit(own_users=True),
            *launcher,
            *words.argv(job, known),
        )
        return Command(argv, {}, folder, job.stdin, job.timeout_seconds)

    def _pythons(self, job: Job, view: mounts.View) -> tuple[tuple[Path, ...], dict[str, str]]:
        """The interpreters on this side, and the words for them inside."""
        own = self._ground.interpreters
        python, lent = borrow.tests_python(job, view.lent, self._ground)
        inside = f"{view.tree}/{lent.name}/bin/python" if lent else str(python)
        return (python, own.own), {"python": inside, "own_python": str(own.own), "ruff": str(own.ruff)}

    def _programs(self, pythons: tuple[Path, ...], kit: Kit) -> Iterator[Mount]:
        """The interpreters and the tools, each at its own path."""
        seen = tuple(place for python in pythons for place in needs(python, self._ground.hides))
        layer = (self._ground.host.layer.folder,) if self._ground.host.layer else ()
        shows = (place for place in seen if not any(place.is_relative_to(folder) for folder in layer))
        ways = tuple(pair for python in pythons for pair in links(python, (*seen, *layer)))
        yield from (mounts.read(place) for place in dict.fromkeys((*shows, *kit.shows)))
        yield from (Mount(Kind.LINK, str(link), str(goal)) for link, goal in dict.fromkeys((*ways, *kit.links)))
        if self._ground.interpreters.ruff.is_absolute():
            yield mounts.read(self._ground.interpreters.ruff)


def _listing(view: mounts.View, folder: Path) -> Iterator[Mount]:
    """What the launcher takes out of the copy of the tree."""
    if view.in_the_way:
        yield mounts.made(folder / "in-the-way", "".join(f"{name}\0" for name in view.in_the_way), _IN_THE_WAY)


def program() -> str:
    """Where ``bwrap`` is. Raises SandboxError."""
    found = next((str(place) for place in PLACES if place.is_file()), "")
    if not found:
        raise SandboxError("bubblewrap is not installed", hint="install it (Debian, Ubuntu: sudo apt-get install bubblewrap)")
    return found


def walled(program: str, seen: Iterable[Mount], *, folder: str, network: bool = False) -> tuple[str, ...]:
    """The words that put up the walls around what is seen, up to the variables and the command."""
    own = (
        Mount(Kind.MEMORY, "/dev/shm", size=mounts.SHARED_MEMORY_BYTES),
        Mount(Kind.MEMORY, "/run", size=MIB),
    )
    ordered = mounts.in_order((*own, *seen))
    return (
        *(program, *_WALLS, *(("--share-net",) if network else ())),
        *("--proc", "/proc", "--dev", "/dev"),
        *(word for mount in ordered for word in _IN_WORDS[mount.kind](mount)),
        *(*_CLOSED, "--chdir", folder),
    )


def in_environment(variables: Mapping[str, str]) -> tuple[str, ...]:
    """The words that set variables inside; bwrap itself has none."""
    return tuple(word for name, value in variables.items() for word in ("--setenv", name, value))


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
            return f"allow user namespaces: sudo sysctl -w {switch.replace('/', '.')}={wanted}"
    return "bubblewrap 0.8 or newer and user namespaces are needed"
