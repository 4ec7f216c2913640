"""What a job sees, and where: the one list that every walled level puts up, each in the words of its own program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from reviewbot.adapters.sandbox import borrow, offline
from reviewbot.adapters.sandbox.borrow import Borrowed
from reviewbot.adapters.sandbox.host import Ground
from reviewbot.adapters.sandbox.laying import in_the_way
from reviewbot.adapters.sandbox.limits import MIB
from reviewbot.ports import Job

PROBES = Path(__file__).resolve().parents[2] / "probes"
INSIDE = "/run/reviewbot"
HOME = "/tmp"
"""The home of a job, and its folder for temporary files."""
SCRATCH = f"{INSIDE}/scratch"
EXPORTED = f"{INSIDE}/tree"
OVERLAY = f"{INSIDE}/overlay"
BESIDE = f"{INSIDE}/beside"
OUR_PROBES = f"{INSIDE}/probes"
SHARED_MEMORY_BYTES = 64 * MIB
_HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"
_TREE = f"{INSIDE}/work"
"""Where the tree stands when the repository's real path cannot be used."""
_OURS = frozenset(map(Path, ("/", "/usr", "/etc", "/tmp", "/proc", "/dev", "/run", INSIDE, "/sys")))


class Kind(Enum):
    """What a mount is."""

    READ = "read"
    WRITE = "write"
    MEMORY = "memory"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Mount:
    """``source`` is seen at ``target``; in memory there is none, and of a link it is where it points."""

    kind: Kind
    target: str
    source: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """A job's view: where its tree stands, what is borrowed for it, what is taken out of the copy of its tree, and every mount
    but those of its programs."""

    tree: str
    lent: tuple[Borrowed, ...]
    in_the_way: tuple[str, ...]
    mounts: tuple[Mount, ...]

    def words(self, *, has_beside: bool) -> dict[str, str]:
        """The words of a job that do not depend on programs."""
        return {"scratch": SCRATCH, "tree": self.tree, "probes": OUR_PROBES} | ({"beside": BESIDE} if has_beside else {})


def view(job: Job, ground: Ground, folder: Path, *, lent: tuple[Borrowed, ...]) -> View:
    """What this job sees; ``folder`` is its scratch folder on this side. Raises Unlayable."""
    tree, overlay = tree_path(ground.toplevel), tuple(name for name, _ in job.overlay)
    obstacles = in_the_way(ground.trees(job.tree), job.without, overlay) if job.tree else ()
    return View(tree, lent, obstacles, tuple(_mounts(job, ground, folder, tree=tree, lent=lent)))


def tree_path(toplevel: Path | None) -> str:
    """Where a tree stands: at the repository's own path, so that tools see the names that they know."""
    return str(toplevel) if toplevel and toplevel not in _OURS else _TREE


def in_order(mounts: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """Outer folders first, each target once."""
    first = {mount.target.rstrip("/"): mount for mount in reversed(mounts)}
    return tuple(sorted(first.values(), key=lambda mount: mount.target.rstrip("/").count("/")))


def read(source: Path, target: str = "") -> Mount:
    """Something to be read, at its own path or another."""
    return Mount(Kind.READ, target or str(source), str(source))


def made(place: Path, text: str, target: str) -> Mount:
    """A file of our own, made in a job's folder."""
    place.write_bytes(text.encode("utf-8", "surrogateescape"))
    return read(place, target)


def modules(programs: Mapping[str, str], ground: Ground) -> Iterator[Mount]:
    """Go's module cache for a job with these programs, without what it knows of passwords. One that was prepared comes first."""
    cache, layer = ground.host.go_modules, ground.host.layer
    if cache is None or "go" not in programs or not cache.is_dir() or (layer and offline.GO_MODULES in layer.home):
        return
    target = f"{HOME}/{offline.GO_MODULES}"
    yield read(cache, target)
    if (cache / offline.ASKED_PLACES).is_dir():
        yield Mount(Kind.MEMORY, f"{target}/{offline.ASKED_PLACES}", size=MIB)


def _mounts(job: Job, ground: Ground, folder: Path, *, tree: str, lent: tuple[Borrowed, ...]) -> Iterator[Mount]:
    size = ground.limits.folder_bytes
    yield Mount(Kind.MEMORY, HOME, size=size)
    yield made(folder / "hosts", _HOSTS, "/etc/hosts")
    if job.tree:
        yield Mount(Kind.MEMORY, tree, size=size)
        yield read(ground.trees(job.tree), EXPORTED)
        yield read(folder / "overlay", OVERLAY)
    if job.beside:
        yield read(ground.trees(job.beside), BESIDE)
    for one in lent:
        yield from _lend(one, tree)
    yield from _prepared_home(ground)
    yield read(PROBES, OUR_PROBES)
    yield read(folder / "files", SCRATCH)
    for name in job.collect:
        yield Mount(Kind.WRITE, f"{SCRATCH}/{name}", str(folder / "files" / name))


def _lend(one: Borrowed, tree: str) -> Iterator[Mount]:
    target = f"{tree}/{one.name}"
    yield _shown(one.source, target)
    if one.name.endswith(borrow.PACKAGES):
        kept = (name for name in borrow.SCRIBBLED if (one.source / name).is_dir() and not (one.source / name).is_symlink())
        yield from (Mount(Kind.MEMORY, f"{target}/{name}", size=SHARED_MEMORY_BYTES) for name in kept)


def _prepared_home(ground: Ground) -> Iterator[Mount]:
    layer = ground.host.layer
    if layer:
        yield from (_shown(layer.folder / "home" / name, f"{HOME}/{name}") for name in layer.home)


def _shown(source: Path, target: str) -> Mount:
    """A link stays a link: what it names is looked up inside."""
    return Mount(Kind.LINK, target, str(source.readlink())) if source.is_symlink() else read(source, target)
