"""A process beside us, with an empty environment and limits, but without a wall."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reviewbot.adapters.sandbox import borrow, offline, tools, words
from reviewbot.adapters.sandbox.borrow import Borrowed
from reviewbot.adapters.sandbox.host import Ground
from reviewbot.adapters.sandbox.laying import Unlayable, in_the_way, lay, remove
from reviewbot.adapters.sandbox.mounts import PROBES
from reviewbot.adapters.sandbox.process import Command, Supervisor
from reviewbot.adapters.sandbox.scratch import collected, scratch
from reviewbot.ports import Ended, Job, Outcome

_FOREVER_SECONDS = 86_400.0
"""Time is kept by the supervisor."""


class Plain:
    """Runs jobs as plain processes. Whoever calls decides which."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._supervisor = Supervisor(ground.limits)

    def run(self, job: Job) -> Outcome:
        """One job; it works on a copy of its tree."""
        try:
            with scratch(job) as folder:
                return self._run(job, folder)
        except Unlayable as exc:
            return Outcome(Ended.REFUSED, reason=str(exc))

    def close(self) -> None:
        """End what runs."""
        self._supervisor.close()

    def _run(self, job: Job, folder: Path) -> Outcome:
        ground = self._ground
        lent = borrow.borrowed(job, ground)
        place = folder / "tree" if job.tree else folder / "files"
        shelves = (*borrow.shelves(lent, str(place)), *tools.own_shelves(ground.host.path, ground.toplevel))
        kit = tools.gather(words.tools(job), shelves, ground.hides)
        if kit.missing:
            return tools.missing(kit)
        home = folder / "home"
        home.mkdir()
        self._lay_out(job, folder, lent)
        command = self._command(job, folder, known=self._words(job, folder, lent=lent) | kit.words, kit=kit)
        outcome = self._supervisor.run(command)
        return replace(outcome, collected=collected(folder, job.collect, ground.limits.output_bytes))

    def _command(self, job: Job, folder: Path, *, known: dict[str, str], kit: tools.Kit) -> Command:
        home = str(folder / "home")
        limits = self._ground.limits.prlimit(own_users=False)
        modules = self._ground.host.go_modules
        variables = offline.variables(kit.programs, home=home)
        if modules and modules.is_dir() and "GOMODCACHE" in variables:
            variables["GOMODCACHE"] = str(modules)
        environment = words.environment(job, known, folders=kit.folders, home=home, variables=variables)
        environment |= {"REVIEWBOT_JOB": folder.name}
        argv = words.argv(job, known)
        if job.executes:
            argv = self._attended(argv, environment, folder=folder, place=known["tree"])
        return Command(
            (*(limits if Path(limits[0]).exists() else ()), *argv),
            environment,
            Path(known["tree"]),
            job.stdin,
            job.timeout_seconds,
            mark=f"REVIEWBOT_JOB={folder.name}",
            writes=folder,
        )

    def _attended(self, argv: tuple[str, ...], environment: dict[str, str], *, folder: Path, place: str) -> tuple[str, ...]:
        """The job behind a process of ours, to which whoever runs away is bound."""
        order = folder / "order.json"
        told = {"argv": argv, "environment": environment, "folder": place, "ended": str(folder / "ended")}
        order.write_text(json.dumps(told | {"seconds": _FOREVER_SECONDS}), "ascii")
        return (str(self._ground.interpreters.own), "-I", str(PROBES / "reviewbot_enter.py"), str(order))

    def _words(self, job: Job, folder: Path, *, lent: tuple[Borrowed, ...]) -> dict[str, str]:
        own = self._ground.interpreters
        python, _ = borrow.tests_python(job, lent, self._ground)
        return {
            "python": str(python),
            "own_python": str(own.own),
            "ruff": str(own.ruff),
            "scratch": str(folder / "files"),
            "tree": str(folder / "tree" if job.tree else folder / "files"),
            "probes": str(PROBES),
        } | ({"beside": str(folder / "beside")} if job.beside else {})

    def _lay_out(self, job: Job, folder: Path, lent: tuple[Borrowed, ...]) -> None:
        """The copies of the trees, with what is borrowed for the first."""
        if job.beside:
            shutil.copytree(self._ground.trees(job.beside), folder / "beside", symlinks=True)
        if not job.tree:
            return
        tree = folder / "tree"
        shutil.copytree(self._ground.trees(job.tree), tree, symlinks=True)
        remove(tree, in_the_way(tree, job.without, tuple(name for name, _ in job.overlay)))
        for name, data in job.overlay:
            (tree / name).unlink(missing_ok=True)
            lay(tree, name, data)
        for one in lent:
            if one.name.endswith(borrow.PACKAGES):
                _link_packages(one.source, tree / one.name)
            else:
                (tree / one.name).symlink_to(one.source)


def _link_packages(source: Path, target: Path) -> None:
    """A folder of links to each package. A package that is a part of the repository leads to the copy's own."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in _entries(source):
        place = target / entry.name
        if entry.is_symlink():
            place.symlink_to(entry.readlink())
        elif entry.name.startswith("@"):
            _link_packages(entry, place)
        else:
            place.symlink_to(entry)


def _entries(folder: Path) -> Iterator[Path]:
    yield from sorted(entry for entry in folder.iterdir() if entry.name not in borrow.SCRIBBLED)
