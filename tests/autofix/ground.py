"""A repository with one file of every kind, a second one in which patches are made, and the gate between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.git import GitRepo
from reviewbot.autofix import gate
from reviewbot.autofix.gate import Admitted, GateOptions
from reviewbot.changeset.globs import Globs
from tests.repo import Repo

#: Put together here, so that no scanner finds a key in this file.
KEY = "AKIA" + "IOSFODNN7EXAMPLE"
OTHER_KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2

APP = """\
import os


def total(values):
    result = 0
    for value in values:
        result += value
    return result


def mean(values):
    return total(values) / len(values)


def name():
    return os.name
"""
TEST_APP = """\
import pytest

from src.app import mean, total


def test_total():
    assert total([1, 2]) == 3
    assert total([]) == 0


@pytest.mark.parametrize("value", [1, 2, 3])
def test_mean(value):
    assert mean([value]) == value


def test_that_it_runs():
    mean([1])


class TestName:
    def test_name(self):
        assert total([1]) == 1
"""
TEST_UNIT = """\
import unittest


class Total(unittest.TestCase):
    def test_one(self):
        self.assertEqual(sum([1]), 1)

    def test_two(self):
        self.assertEqual(sum([1, 1]), 2)
"""
GO = """\
package app

import "testing"

func TestTotal(t *testing.T) {
\tif Total(1, 2) != 3 {
\t\tt.Errorf("no")
\t}
}

func TestMean(t *testing.T) {
\tif Mean(1, 2) != 1 {
\t\tt.Fatal("no")
\t}
}
"""
TYPESCRIPT = """\
import { total } from "../src/app";

describe("total", () => {
  it("adds", () => {
    expect(total([1, 2])).toBe(3);
  });

  it("has a beginning", () => {
    expect(total([])).toBe(0);
  });
});
"""
RUST = """\
pub fn total(values: &[i32]) -> i32 {
    values.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(total(&[1, 2]), 3);
    }

    #[test]
    fn begins() {
        assert_eq!(total(&[]), 0);
    }
}
"""
JAVA = """\
class AppTest {
    @Test
    void adds() {
        assertEquals(3, App.total(1, 2));
    }

    @Test
    void begins() {
        assertEquals(0, App.total());
    }
}
"""
RUBY = """\
describe "total" do
  it "adds" do
    expect(total([1, 2])).to eq(3)
  end

  it "begins" do
    expect(total([])).to eq(0)
  end
end
"""
BATS = """\
@test "adds" {
  run total 1 2
  [ "$output" = 3 ]
}

@test "begins" {
  run total
  [ "$output" = 0 ]
}
"""

FILES: dict[str, str | bytes] = {
    "src/app.py": APP,
    "src/again.py": "x = 1\ny = 2\nz = 3\n" * 30,
    "src/one.py": "x = 1\n",
    "src/end.py": "x = 1\ny = 2",
    "src/lib.rs": RUST,
    "src/page.ts": "export const a = 1;\nexport const b = 2;\n",
    "src/broken.py": "print 'of an older time'\n",
    "src/keyed.py": f"KEY = '{KEY}'\nx = 1\n",
    "src/silent.py": "import os  # noqa: F401\n\nx = 1\n",
    "src/bidi.py": 'x = "\u202eabc"\ny = 1\n',
    "src/caf\u00e9.py": "x = 1\n",
    "src/win.py": "x = 1\r\ny = 2\r\n",
    "src/latin.py": "# caf\u00e9\nx = 1\n".encode("latin-1"),
    "src/run.py": "#!/usr/bin/env python3\nx = 1\n",
    "src/pixel.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "src/__init__.py": "",
    "docs/guide.md": "Guide\n=======\n\nText.\n",
    "docs/other.md": "Nobody reviewed this.\n",
    "data/large.txt": ("x" * 99 + "\n") * 4_999,
    "data/values.json": '{\n  "a": 1,\n  "b": 2\n}\n',
    "data/values.yaml": "a: 1\nb:\n  - 1\n  - 2\n",
    "data/values.toml": "a = 1\nb = 2\n",
    "tests/test_app.py": TEST_APP,
    "tests/test_unit.py": TEST_UNIT,
    "tests/app_test.go": GO,
    "tests/app.test.ts": TYPESCRIPT,
    "tests/AppTest.java": JAVA,
    "tests/app_spec.rb": RUBY,
    "tests/total.bats": BATS,
    "conftest.py": "import pytest\n",
    "pyproject.toml": "[project]\nname = 'x'\n",
    "package.json": '{"name": "x"}\n',
    "uv.lock": "version = 1\n",
    "Dockerfile": "FROM scratch\n",
    "Makefile": "all:\n\ttrue\n",
    "ruff.toml": "line-length = 100\n",
    "AGENTS.md": "Be good.\n",
    "deploy.sh": "#!/bin/sh\ntrue\n",
    "bin/deploy": "#!/usr/bin/env bash\ntrue\n",
    "CODEOWNERS": "* @ada\n",
    ".gitattributes": "*.png binary\n",
    ".gitignore": "*.tmp\n",
    ".github/workflows/ci.yml": "on: push\n",
    ".github/ISSUE_TEMPLATE/bug.md": "What happened?\n",
    ".pre-commit-config.yaml": "repos: []\n",
    ".husky/pre-commit": "true\n",
    ".vscode/settings.json": "{}\n",
    ".reviewbot.yml": "version: 1\n",
}
NOT_REVIEWED = "docs/other.md"
OPTIONS = GateOptions(frozenset(FILES) - {NOT_REVIEWED} | {"link", "sub"})
ADDING = replace(OPTIONS, may_add=True)

_DIFF = ("diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")


def opening(*globs: str) -> GateOptions:
    """As where an operator says ``fix.open``."""
    return replace(OPTIONS, opened=Globs(globs).match)


def watched(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything below a folder: modes, and bytes or where a link leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        held = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, held)
    return found


Deed = Callable[[Repo], object]
"""Something done to a work tree."""


def filled(repo: Repo) -> Repo:
    """With all files, one that may be executed, a symbolic link and a submodule, in one commit."""
    for name, text in FILES.items():
        repo.write(name, text)
    (repo.path / "src/run.py").chmod(0o755)
    repo.link("link", "src/app.py")
    repo.git("add", "--all", "--force")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("commit", "-q", "--no-verify", "-m", "All of it")
    (repo.path / "sub").mkdir()
    return repo


@dataclass
class Ground:
    """The repository that is watched, and the one in which patches are made."""

    repo: Repo
    maker: Repo
    git: GitRepo

    @classmethod
    def laid(cls, folder: Path) -> Ground:
        repo, maker = filled(Repo(folder)), filled(Repo(folder, name="maker"))
        (folder / "scratch").mkdir()
        return cls(repo, maker, GitRepo.open(repo.path, folder / "scratch", environment=repo.environment))

    @property
    def tree(self) -> str:
        """The tree that patches are for."""
        return self.repo.git("rev-parse", "HEAD^{tree}")

    def patch(self, deed: Deed) -> bytes:
        """git's own patch of what is done."""
        deed(self.maker)
        self.maker.git("add", "--all", "--force", "--", ".", ":(exclude)sub")
        patch = self.maker.run(*_DIFF)
        self.maker.git("reset", "-q", "--hard")
        self.maker.git("clean", "-q", "-f", "-d", "-x")
        return patch

    def ask(self, patch: bytes, options: GateOptions = OPTIONS) -> Admitted:
        """The whole gate, with real git."""
        return gate.admitted(patch, self.tree, trees=self.git, objects=self.git, options=options)
