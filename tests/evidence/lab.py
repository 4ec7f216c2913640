"""A laboratory: two versions of a project go in, the ledger of the change between them comes out. Everything in it is real."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import diff
from reviewbot.domain.change import Contents
from reviewbot.domain.debate import Check
from reviewbot.domain.evidence import Evidence, EvidenceStatus, Ledger, Side
from reviewbot.domain.repair import Edit
from reviewbot.domain.target import Target, TargetKind
from reviewbot.drive import Bench, Deadline
from reviewbot.evidence import collect, plan, proof, sources
from reviewbot.evidence.migrations import is_migration
from reviewbot.evidence.view import SETTINGS, CheckOptions, View, is_python_test
from reviewbot.ports import Draft, Experiment, Outcome, Verification
from reviewbot.testing import FakeClock, Watching
from tests.repo import Repo

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Lab:
    """A change, its sandbox, and what the checks said."""

    view: View
    room: sandbox.ClosableSandbox
    ledger: Ledger
    outcomes: Mapping[str, Outcome]

    def new(self, kind: str = "") -> list[Evidence]:
        """What the change brought, of one kind if it is named."""
        return self.of(EvidenceStatus.NEW, kind)

    def of(self, status: EvidenceStatus, kind: str = "") -> list[Evidence]:
        """Items with a status."""
        return [item for item in self.ledger.items if item.status is status and kind in ("", item.result.kind.value)]

    def places(self, kind: str = "") -> list[tuple[str, int, str | None]]:
        """Path, line and rule of what is new."""
        return [(item.result.path, item.result.line, item.result.rule) for item in self.new(kind)]

    def prove(
        self,
        check: Check,
        *,
        path: str = "",
        lines: tuple[int, int] = (0, 0),
        fix: Draft | tuple[Edit, ...] | None = None,
        options: CheckOptions | None = None,
    ) -> Verification:
        """What a check shows when it is run, at the place of its claim."""
        experiment = Experiment("C1", check, path, *lines, fix)
        bench = Bench(self.room, deadline=Deadline(FakeClock(), 600), observer=Watching(), cores=2)
        return bench.conduct(proof.conduct(experiment, self.view, options or CheckOptions()))


def study(
    folder: Path,
    base: Files,
    head: Files,
    *,
    options: CheckOptions | None = None,
    level: str = "auto",
    limits: sandbox.Limits | None = None,
) -> Lab:
    """Commit both versions, run every check that the change between them deserves, and collect."""
    options = options or CheckOptions()
    view, room = opened(folder, base, head, level=level, limits=limits)
    planned = plan.plan(view, options)
    bench = Bench(room, deadline=Deadline(FakeClock(), 600), observer=Watching(), cores=2)
    outcomes = bench.run(planned.jobs)
    ledger = collect.collect(view, planned, outcomes, read=sources.hear(sources.ends(view)), options=options)
    return Lab(view, room, ledger, {job.name: outcome for job, outcome in zip(planned.jobs, outcomes, strict=True)})


def laid_out(folder: Path, base: Files, head: Files, *, level: str = "auto") -> Lab:
    """Both versions committed, and nothing run of them yet."""
    view, room = opened(folder, base, head, level=level)
    return Lab(view, room, Ledger(), {})


def opened(
    folder: Path, base: Files, head: Files, *, level: str = "auto", limits: sandbox.Limits | None = None
) -> tuple[View, sandbox.ClosableSandbox]:
    """The change between two versions, and a sandbox for it."""
    repo = Repo(folder)
    for files in (base, head):
        for name in repo.git("ls-files", "-z").split("\0")[:-1]:
            repo.remove(name)
        for name, text in files.items():
            repo.write(name, text)
        repo.commit()
    (folder / "scratch").mkdir()
    git = GitRepo.open(repo.path, folder / "scratch", environment=repo.environment)
    revisions = git.resolve(Target(TargetKind.RANGE, base="HEAD~1", head="HEAD"))
    change = diff.read(git.diff(revisions), revisions)
    contents = {
        file.path: Contents(git.blob(file.old_id) if file.old_id else None, git.blob(file.new_id) if file.new_id else None)
        for file in change.files
    }
    trees = {Side.BASE: folder / "tree-base", Side.HEAD: folder / "tree-head"}
    for side, tree in ((Side.BASE, revisions.base_tree), (Side.HEAD, revisions.head_tree)):
        trees[side].mkdir()
        git.export(tree or "", trees[side])
    room = sandbox.choose(
        level,
        trees=trees.__getitem__,
        interpreters=sandbox.discover(repo.path),
        limits=limits or sandbox.Limits(),
        toplevel=git.toplevel,
    )
    entries = git.entries(revisions.head_tree or "")
    view = View(
        change,
        change.files,
        contents,
        paths=tuple(entry.path for entry in entries),
        tests={entry.path: git.blob(entry.object_id) for entry in entries if is_python_test(entry.path)},
        settings={
            entry.path: git.blob(entry.object_id)
            for entry in git.entries(revisions.base_tree or "")
            if entry.path in SETTINGS or is_migration(entry.path)
        },
        sandbox=room.level,
        sandbox_notes=room.notes,
    )
    git.close()
    return view, room
