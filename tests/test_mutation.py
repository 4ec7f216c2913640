"""The script that plants mutants: each is another program, and afterwards the files are as they were."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests import mutation

FILE = "reviewbot/consensus/policy.py"


def test_every_mutant_is_another_program():
    text = (mutation.TOP / FILE).read_bytes()
    found = list(mutation.mutants(FILE))
    assert len({(mutant.start, mutant.end, mutant.new) for mutant in found}) == len(found) > 50
    for mutant in found:
        changed = text[: mutant.start] + mutant.new.encode() + text[mutant.end :]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), mutant.name


def test_mutants_are_planted_together_and_taken_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mutation, "TOP", tmp_path)
    (tmp_path / "a.py").write_text("if a < b:\n    return a == c\n")
    (tmp_path / "b.py").write_text("x = not y\n")
    negated, compared = (next(one for one in mutation.mutants("a.py") if one.old == old) for old in ("a < b", "=="))
    with mutation.planted([negated, compared, *mutation.mutants("b.py")]):
        assert (tmp_path / "a.py").read_text() == "if not (a < b):\n    return a != c\n"
        assert (tmp_path / "b.py").read_text() == "x = y\n"
    assert (tmp_path / "a.py").read_text() == "if a < b:\n    return a == c\n"
    assert (tmp_path / "b.py").read_text() == "x = not y\n"


def test_the_mutant_with_which_alone_a_test_fails_is_found(monkeypatch: pytest.MonkeyPatch):
    some = [one for one in mutation.mutants(FILE) if one.new == "None"]
    test = mutation.Test("test_x", 1.0, is_default=True, is_property=False)
    there: list[mutation.Mutant] = []
    guilty: set[mutation.Mutant] = set()

    @contextlib.contextmanager
    def planted(planting: Sequence[mutation.Mutant]) -> Iterator[None]:
        there[:] = planting
        yield

    monkeypatch.setattr(mutation, "planted", planted)
    monkeypatch.setattr(mutation, "failures", lambda *_: ["test_x"] if guilty and guilty <= set(there) else [])
    assert len(some) > 5
    for mutant in some:
        guilty = {mutant}
        assert mutation.culprit(test, some, "default") == mutant
    guilty = {some[0], some[-1]}
    assert mutation.culprit(test, some, "default") is None, "it takes two"
    monkeypatch.setattr(mutation, "failures", lambda *_: ["test_x"])
    assert mutation.culprit(test, some, "default") is None, "it fails without a mutant"


def test_a_failure_that_names_no_test_is_not_taken_for_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (mutant, *_) = mutation.mutants(FILE)
    lines = {mutant.path: {str(mutant.line): [0]}}
    (tmp_path / "trace").write_text(json.dumps({"tests": [["test_x", 1.0, True, False]], "lines": lines}))
    monkeypatch.setattr(mutation, "planted", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(mutation, "failures", lambda *_, **__: ["hangs"])
    with pytest.raises(RuntimeError, match="hangs"):
        list(mutation.attributed([mutant], mutation.Trace(tmp_path / "trace"), "default"))


def test_a_catch_is_not_taken_back_by_another_file_of_results(tmp_path: Path):
    (mutant, *_) = mutation.mutants(FILE)
    (tmp_path / "1").write_text(mutation.result(mutant, "default", "test_x"))
    (tmp_path / "2").write_text(mutation.result(mutant, None, None) + mutation.result(mutant, "nightly", "test_y"))
    assert mutation.results([tmp_path / "1", tmp_path / "2"]) == {mutant: ("default", "test_x")}


def test_two_mutants_of_one_place_overlap():
    negated, compared = (
        next(one for one in mutation.mutants(FILE) if one.old == old) for old in ("not transcript.quorum", "not ")
    )
    assert negated.overlaps(compared)
    assert compared.overlaps(negated)
    assert not any(one.overlaps(negated) for one in mutation.mutants(FILE) if one.line > negated.line)
