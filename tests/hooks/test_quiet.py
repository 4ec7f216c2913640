"""What a hook calls quiet without a review has nothing new in a review: random changes, both ways, and what is left to the review."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace

import pytest

from reviewbot import pipeline
from reviewbot.adapters.hooks import linter
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.sandbox.interpreters import discover
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.cli import glance
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.target import Target, TargetKind
from reviewbot.pipeline import quiet
from reviewbot.pipeline.quiet import Blob
from reviewbot.ports import Ended, Job, Outcome
from reviewbot.wiring import hook_quiet
from reviewbot.wiring.hook_order import StagedOrder
from reviewbot.wiring.hook_quiet import Listed
from reviewbot.wiring.hooking import staged_options
from reviewbot.wiring.order import Silent, SystemClock
from reviewbot.wiring.rooms import open_sandbox
from reviewbot.wiring.scene import opened
from tests.hooks.lab import BROKEN, CLEAN, Lab
from tests.rings import part

RUN = ("hook", "run", "pre-commit")
KEY = "AKIA" + "Q3EGRZJ7XM2LPWTN"
"""Looks like a key and opens nothing."""

MANY = "".join(f"    if n == {number}:\n        return {number}\n" for number in range(14))
BLOCKS = (
    "import os\n",
    "def plain(a, b):\n    return a + b\n",
    "def shared(n, seen=[]):\n    seen.append(n)\n    return seen\n",
    "def same(a):\n    return a == a\n",
    f"KEY = '{KEY}'\n",
    "NAME = 'a\u200bb'\n",
    "TEXT = 'plain words'\n",
    "try:\n    pass\nexcept:\n    pass\n",
    "def ask(items):\n    found = []\n    for one in items:\n        found = found + [one]\n    return found\n",
    f"def tangled(n):\n{MANY}    return 99\n",
    "assert (1, 'always')\n",
    "breakpoint()\n",
    "<<<<<<< HEAD\n",
    "def broken(:\n",
    "print('%s %s' % (1,))\n",
    "# a comment\n",
    "\n",
)
"""Pieces of files: most have something to be said of them."""
NAMES = (
    "a.py",
    "b.py",
    "pkg/__init__.py",
    "pkg/c.py",
    "tests/test_d.py",
    "notes.md",
    "data.txt",
    "e.pyi",
    "sh/run.sh",
    "vendor/f.py",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("quiet"))


def text(chance: random.Random, *, sound: bool) -> str:
    blocks = [block for block in BLOCKS if not sound or block not in (BLOCKS[-4], BLOCKS[-5])]
    return "".join(chance.choice(blocks) for _ in range(chance.randint(1, 7)))


def altered(chance: random.Random, before: str) -> str:
    """Another version: lines come, go, and change places."""
    lines = before.splitlines(keepends=True)
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(lines))
        match chance.randint(0, 4):
            case 0:
                lines[at:at] = ["", "# another comment\n", "\n"][chance.randint(0, 2) :]
            case 1:
                del lines[at : at + 1]
            case 2:
                lines[at:at] = chance.choice(BLOCKS).splitlines(keepends=True)
            case 3:
                lines = lines[at:] + lines[:at]
            case _:
                lines[at : at + 1] = [f"{line.rstrip()}  # noqa\n" for line in lines[at : at + 1]]
    return "".join(lines)


def stage(lab: Lab, chance: random.Random) -> None:
    """A base, committed, and a change of it in the index."""
    lab.repo.git("rm", "-rfq", "--ignore-unmatch", ".")
    names = chance.sample(NAMES, chance.randint(2, 5))
    base = {name: text(chance, sound=chance.random() < 0.8) for name in names}
    for name, content in base.items():
        lab.repo.write(name, content)
    lab.repo.commit("base")
    for name in chance.sample(names, chance.randint(1, len(names))):
        match chance.randint(0, 6):
            case 0:
                lab.repo.remove(name)
            case 1:
                lab.repo.write(chance.choice(NAMES), base[name])
            case 2:
                lab.repo.remove(name)
                lab.repo.write(f"moved/{name.rpartition('/')[2]}", altered(chance, base[name]))
            case 3:
                lab.repo.write(name, base[name] + "\n# only a comment\n")
            case _:
                lab.repo.write(name, altered(chance, base[name]))
    lab.git("add", "-A")


def is_quiet(lab: Lab) -> bool:
    """What the hook decides, step by step as it does."""
    sight = glance.seen(RUN, lab.environment)
    assert sight is not None
    if not sight.listed:
        return True
    files = [Listed(*blobs) for blobs in sight.blobs()]
    glance.mark(sight, hook_quiet.told(files, lab.path, lab.environment).quiet)
    return glance.unmarked(sight) == ()


def evidence(lab: Lab) -> Ledger:
    """What the checks of a review say of the same index."""
    target = Target(TargetKind.STAGED)
    order = StagedOrder(target, lab.path, lab.environment, {}, execute=False, fresh=True, names=())
    with (
        opened(order) as scene,
        open_sandbox(scene.configuration, scene.git, scene.revisions, scratch=scene.scratch, order=order) as room,
        closing(ProcessWorker()) as worker,
    ):
        world = pipeline.World(scene.repo, scene.git, room, StaticPanel(), SystemClock(), Silent(), worker)
        return pipeline.gathered(scene.revisions, world, options=staged_options(scene.configuration))


@pytest.mark.parametrize("seeds", [range(8), pytest.param(part(range(8, 120)), marks=pytest.mark.ci)], ids=["few", "many"])
def test_what_is_quiet_has_nothing_new_in_a_review(lab: Lab, monkeypatch: pytest.MonkeyPatch, seeds: range):
    monkeypatch.chdir(lab.path)
    counted = {(said, new): 0 for said in (True, False) for new in (True, False)}
    for seed in seeds:
        stage(lab, random.Random(seed))
        said, ledger = is_quiet(lab), evidence(lab)
        new = [(item.result.rule, item.result.path, item.result.line) for item in ledger.new()]
        assert not (said and new), (seed, new)
        counted[said, bool(new)] += 1
    assert counted[True, False], "it would be easy to call nothing quiet"
    assert counted[False, True]
    assert counted[False, False] <= len(seeds) // 2, f"most of what is not new is quiet: {counted}"


def test_ruff_is_the_one_that_a_review_runs():
    assert linter.program() == str(discover(None).ruff)


@pytest.mark.parametrize(
    "data",
    [b"\0", b"a\xff", b"x" * (quiet.MOST_BYTES + 1), b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"],
    ids=["binary", "not UTF-8", "large", "git-lfs"],
)
def test_what_is_unusual_is_left_to_a_review(data: bytes):
    assert not quiet.is_plain(Blob("a.py", None, data))
    assert not quiet.is_plain(Blob("a.py", data, b"x = 1\n"))
    assert quiet.is_plain(Blob("a.py", b"", b"x = 1\n"))


def test_a_file_of_which_all_was_said_before_is_known_and_one_of_which_nothing_is_said_is_silent():
    blobs = (
        Blob("known.py", BROKEN.encode(), BROKEN.encode()),
        Blob("silent.py", BROKEN.encode(), CLEAN.encode()),
        Blob("loud.py", CLEAN.encode(), BROKEN.encode()),
        Blob("twice.py", BROKEN.encode(), (BROKEN + BROKEN).encode()),
        Blob("gone.py", BROKEN.encode(), None),
        Blob("tangled.py", b"def tangled(n):\n    return 99\n", f"def tangled(n):\n{MANY}    return 99\n".encode()),
    )
    known = (replace(blobs[0], head=b"# above\n" + BROKEN.encode()), *blobs[1:])
    assert quiet.quiet(known, linter.outcomes(quiet.jobs(known))) == {"known.py": False, "silent.py": True, "gone.py": True}


def test_without_a_report_of_the_linter_no_python_is_quiet():
    blobs = (Blob("a.py", None, CLEAN.encode()), Blob("a.md", None, b"words\n"))
    jobs = quiet.jobs(blobs)
    broken = {
        job.name: replace(outcome, stdout=b"no report") for job, outcome in zip(jobs, linter.outcomes(jobs).values(), strict=True)
    }
    assert quiet.quiet(blobs, broken) == {"a.md": True}
    assert quiet.quiet(blobs, {}) == {"a.md": True}


def test_what_is_known_of_one_file_says_nothing_where_another_may_be_its_copy(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(lab.path)
    lab.repo.write("k.py", BROKEN)
    lab.repo.commit("known")
    lab.stage("k.py", BROKEN + "\n\nX = 1\n")
    assert is_quiet(lab)
    lab.stage("copy.py", CLEAN)
    assert not is_quiet(lab)
    lab.git("rm", "-qf", "copy.py")
    lab.stage("k.py", CLEAN)
    lab.stage("copy.py", CLEAN)
    assert is_quiet(lab)


def test_a_review_does_not_run_the_linter_again_over_the_same_content():
    class Nowhere:
        level, notes = "none", ()

        def run(self, job: Job) -> Outcome:
            return Outcome(Ended.REFUSED, reason="asked")

    jobs = quiet.jobs((Blob("a.py", None, BROKEN.encode()),))
    outcomes = linter.outcomes(jobs)
    room = hook_quiet.RunBefore(Nowhere(), tuple((job, outcomes[job.name]) for job in jobs))
    assert room.run(replace(jobs[0], timeout_seconds=1.0)) == outcomes["ruff:head"]
    for other in ({"files": (("00000/module.py", b""),)}, {"argv": ("{ruff}",)}, {"executes": True}):
        assert room.run(replace(jobs[0], **other)).reason == "asked"
