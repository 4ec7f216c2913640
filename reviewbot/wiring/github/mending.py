"""The fixes of a review as they may be written here: each patch applied exactly to what stands there, and through the gate again,
whatever made it and wherever it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from reviewbot.adapters.git import GitRepo
from reviewbot.autofix import gate, listing, syntax
from reviewbot.autofix.gate import GateOptions
from reviewbot.changeset import diff
from reviewbot.changeset.globs import Globs
from reviewbot.config import Configuration
from reviewbot.domain.change import CoverageStatus, Revisions
from reviewbot.domain.repair import Edit, Repair, RepairOutcome
from reviewbot.domain.review import Finding, Review
from reviewbot.errors import GitError, PatchError
from reviewbot.ports import RawDiff
from reviewbot.publish import runs
from reviewbot.publish.fixes import Offer, Run
from reviewbot.publish.runs import Span
from reviewbot.wiring.options import options_of

UNPROVEN = "no check shows that it works"


@dataclass(frozen=True, slots=True)
class Ready:
    """A repair that may be written: the trees before and after it, and the files that it changes, all of them whole. ``beside``
    are repairs that it was proven together with and that are not in these trees."""

    repair: Repair
    before: str
    tree: str
    edits: tuple[Edit, ...]
    beside: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        """Something shows that it works."""
        return is_proven(self.repair)


@dataclass(frozen=True, slots=True)
class Chain:
    """Repairs, one upon the other, upon the tree ``start``, and why each of the others is not among them."""

    start: str
    ready: tuple[Ready, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def tree(self) -> str:
        """The tree with all of them in it."""
        return self.ready[-1].tree if self.ready else self.start


@dataclass(frozen=True, slots=True)
class Bench:
    """Where patches are applied and judged: the repository, and what the gate lets by."""

    git: GitRepo
    options: GateOptions

    def chain(
        self, repairs: Iterable[Repair], tree: str, *, wanted: frozenset[str], written: frozenset[str] = frozenset()
    ) -> Chain:
        """Those of the ``repairs`` that are ``wanted``, upon ``tree``, which has the ``written`` ones in it. One whose files are
        changed by an earlier one that is not there cannot stand without it."""
        start, ready, left = tree, list[Ready](), dict[str, str]()
        absent: dict[str, frozenset[str]] = {}
        for repair in repairs:
            if not repair.is_made or repair.id in written:
                continue
            paths = _paths(repair.patch)
            under = tuple(name for name, touched in absent.items() if touched & paths)
            if repair.id in wanted and not under:
                made = self._ready(repair, tree, tuple(absent))
                if isinstance(made, Ready):
                    ready.append(made)
                    tree = made.tree
                    continue
                left[repair.id] = made
            elif repair.id in wanted:
                left[repair.id] = f"it was made upon the fix of {', '.join(under)}: ask for both"
            absent[repair.id] = paths
        return Chain(start, tuple(ready), left)

    def patch(self, chain: Chain) -> bytes:
        """git's own diff of all of it."""
        return self.git.between(chain.start, chain.tree).patch if chain.ready else b""

    def offers(self, chain: Chain, findings: Iterable[Finding]) -> tuple[Offer, ...]:
        """What may be suggested of it, in lines of the tree that it starts from."""
        known = {finding.id: finding for finding in findings}
        spans: dict[str, list[Span]] = {}
        found = []
        for one in chain.ready:
            run = self._run(one, known.get(one.repair.id), head=chain.start, spans=spans)
            patch = one.repair.patch.decode("utf-8", "replace")
            found.append(Offer(one.repair.id, one.is_proven, told(one.repair), patch, run))
        return tuple(found)

    def edits(self, old: str, new: str) -> tuple[Edit, ...]:
        """What differs between two trees, as whole files."""
        return tuple(self._edits(self.git.between(old, new)))

    def _ready(self, repair: Repair, tree: str, absent: tuple[str, ...]) -> Ready | str:
        """The repair upon the tree, or why it may not be."""
        try:
            admitted = gate.admitted(repair.patch, tree, trees=self.git, objects=self.git, options=self.options)
        except GitError as exc:
            return exc.message
        if admitted.refusals or admitted.diff is None:
            return "; ".join(str(one) for one in admitted.refusals[:3])
        return Ready(repair, tree, admitted.tree, tuple(self._edits(admitted.diff)), absent)

    def _edits(self, made: RawDiff) -> Iterator[Edit]:
        """The changed files as they are then. The gate read the same list."""
        for entry in listing.read(made) or ():
            yield Edit(entry.path, None if entry.letter == "D" else self.git.blob(entry.new_id))

    def _run(self, one: Ready, finding: Finding | None, *, head: str, spans: dict[str, list[Span]]) -> Run | None:
        """The lines of the head that it replaces, where those are one run of one file."""
        texts = [(edit.path, self.git.file_at(one.before, edit.path), edit.content) for edit in one.edits]
        earlier = {path: list(spans.get(path, ())) for path, _, _ in texts}
        for path, before, after in texts:
            spans.setdefault(path, []).append(runs.span(before or b"", after or b""))
        path, before, after = texts[0]
        text = self.git.file_at(head, path)
        if len(texts) != 1 or finding is None or finding.path != path or before is None or after is None or text is None:
            return None
        around = (finding.start_line or finding.line, finding.line)
        return runs.run(path, text, after, made=spans[path][-1], earlier=earlier[path], around=around)


def bench(git: GitRepo, review: Review, revisions: Revisions, *, configuration: Configuration) -> Bench:
    """Where fixes of a review are applied: only files that it reviewed may be changed."""
    seen = {item.path for item in review.coverage if item.status is not CoverageStatus.SKIPPED}
    change = diff.read(git.diff(revisions), revisions)
    reviewed = frozenset(file.path for file in change.files if file.path in seen and file.head_path is not None)
    repair = options_of(configuration).repair
    parser = repair.parser or syntax.unknown
    return Bench(git, GateOptions(reviewed=reviewed, opened=Globs(repair.opened).match, parser=parser))


def is_proven(repair: Repair) -> bool:
    """A check failed before, and passes with it; or a result went away."""
    return repair.outcome is RepairOutcome.FIXED


def told(repair: Repair) -> str:
    """What shows that it works, or that nothing does."""
    proof = repair.proof
    if repair.outcome is not RepairOutcome.FIXED or proof is None:
        return repair.why or UNPROVEN
    return "; ".join((proof.told, *proof.beside))


def _paths(patch: bytes) -> frozenset[str]:
    """The names that the text of a patch names, for whom it may stand upon; the gate asks git."""
    try:
        change = diff.read(RawDiff(b"", b"", patch), Revisions("patch", "", "", None, None))
    except PatchError:
        return frozenset()
    return frozenset(name for file in change.files for name in (file.path, file.old_path) if name)
