"""The gate, with real git, against patches that mean harm; and against some that do not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reviewbot.autofix.gate import RULES
from tests.autofix import harmless, hostile
from tests.autofix.ground import Ground, watched
from tests.autofix.harmless import Harmless
from tests.autofix.hostile import Hostile


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    laid = Ground.laid(tmp_path_factory.mktemp("ground"))
    yield laid
    laid.git.close()


def test_the_corpus_is_large_and_breaks_every_rule():
    assert len(hostile.ALL) >= 60
    assert len({case.name for case in hostile.ALL}) == len(hostile.ALL)
    assert {rule for case in hostile.ALL for rule in case.rules.split()} == set(RULES)


@pytest.mark.parametrize("case", hostile.ALL, ids=lambda case: case.name)
def test_a_hostile_patch_is_refused_and_nothing_is_changed(ground: Ground, case: Hostile):
    patch = case.patch(ground)
    before = watched(ground.repo.path)
    admitted = ground.ask(patch, case.options)
    assert not admitted.passed
    assert {refusal.rule for refusal in admitted.refusals} == set(case.rules.split()), admitted.refusals
    assert watched(ground.repo.path) == before


def test_there_is_enough_that_must_pass():
    assert len(harmless.ALL) >= 15


@pytest.mark.parametrize("case", harmless.ALL, ids=lambda case: case.name)
def test_a_harmless_patch_passes_and_its_tree_is_what_was_meant(ground: Ground, case: Harmless):
    patch = ground.patch(case.deed)
    before = watched(ground.repo.path)
    admitted = ground.ask(patch, case.options)
    assert admitted.refusals == ()
    assert admitted.diff is not None
    assert ground.git.between(ground.tree, admitted.tree) == admitted.diff
    assert watched(ground.repo.path) == before
    case.deed(ground.maker)
    ground.maker.git("add", "--all", "--force", "--", ".", ":(exclude)sub")
    assert ground.maker.git("write-tree") == admitted.tree
    ground.maker.git("reset", "-q", "--hard")
    ground.maker.git("clean", "-q", "-f", "-d", "-x")
