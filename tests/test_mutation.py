"""The script that plants mutants: each is another program, and afterwards the files are as they were."""

from __future__ import annotations

import ast
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


def test_two_mutants_of_one_place_overlap():
    negated, compared = (
        next(one for one in mutation.mutants(FILE) if one.old == old) for old in ("not transcript.quorum", "not ")
    )
    assert negated.overlaps(compared)
    assert compared.overlaps(negated)
    assert not any(one.overlaps(negated) for one in mutation.mutants(FILE) if one.line > negated.line)
