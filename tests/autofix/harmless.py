"""Patches that must pass: a gate that refuses everything keeps nobody safe, for nobody would use it."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.autofix.gate import GateOptions
from tests.autofix.ground import ADDING, OPTIONS, Deed, opening
from tests.autofix.hostile import all_of, append, swap, write


@dataclass(frozen=True)
class Harmless:
    """One patch that somebody may want."""

    name: str
    deed: Deed
    options: GateOptions = OPTIONS


MENDED = "def mean(values):\n    if not values:\n        return 0\n    return total(values) / len(values)\n"
NEW_TEST = "import pytest\n\nfrom src.app import mean\n\n\ndef test_nothing():\n    with pytest.raises(ZeroDivisionError):\n        mean([])\n"
ALL = (
    Harmless("changes a line", swap("src/app.py", "    result = 0\n", "    result = 0.0\n")),
    Harmless("mends a function", swap("src/app.py", "def mean(values):\n    return total(values) / len(values)\n", MENDED)),
    Harmless("adds a function at the end", append("src/app.py", "\n\ndef least(values):\n    return min(values)\n")),
    Harmless("removes a function", swap("src/app.py", "\n\ndef name():\n    return os.name\n", "")),
    Harmless("changes a file of one line", write("src/one.py", "x = 2\n")),
    Harmless("ends the last line", append("src/end.py", "\n")),
    Harmless("changes a place in a file that repeats itself", write("src/again.py", "x = 1\ny = 2\nz = 3\n" * 14 + "x = 4\ny = 2\nz = 3\n" + "x = 1\ny = 2\nz = 3\n" * 15)),
    Harmless("empties a file", write("src/one.py", "")),
    Harmless("fills an empty file", write("src/__init__.py", '"""The package."""\n')),
    Harmless("changes exactly 400 lines", append("src/app.py", "y = 1\n" * 400)),
    Harmless("keeps the line ends of Windows", write("src/win.py", "x = 1\r\ny = 3\r\n")),
    Harmless("keeps the right to be executed", write("src/run.py", "#!/usr/bin/env python3\nx = 2\n")),
    Harmless("changes a file with an accent in its name", write("src/caf\u00e9.py", "x = 2\n")),
    Harmless("writes words of other scripts", append("docs/guide.md", "Καλημέρα, привет, שלום, 你好, \U0001f469\u200d\U0001f4bb\n")),
    Harmless("underlines a heading as in a conflict", append("docs/guide.md", "\nPart\n=======\n")),
    Harmless("changes JSON", swap("data/values.json", '"a": 1', '"a": 10')),
    Harmless("changes YAML", swap("data/values.yaml", "  - 2\n", "  - 2\n  - 3\n")),
    Harmless("changes TOML", swap("data/values.toml", "a = 1", "a = [1, 2]")),
    Harmless("changes TypeScript", swap("src/page.ts", "b = 2", "b = 3")),
    Harmless("changes Rust beside its tests", swap("src/lib.rs", "values.iter().sum()", "values.iter().copied().sum()")),
    Harmless("makes Rust conditional that is no test", swap("src/lib.rs", "pub fn total", "#[cfg(unix)]\npub fn total")),
    Harmless("mends what could not be parsed", write("src/broken.py", "print('of an older time')\n")),
    Harmless("changes what cannot be parsed still", append("src/broken.py", "print 'more'\n")),
    Harmless("takes a secret out", write("src/keyed.py", "import os\n\nKEY = os.environ['KEY']\nx = 1\n")),
    Harmless("changes a line beside a secret", write("src/keyed.py", "KEY = 'AKIA" + "IOSFODNN7EXAMPLE'\nx = 2\n")),
    Harmless("takes a suppression away", write("src/silent.py", "x = 1\n")),
    Harmless("moves a line that is silenced", write("src/silent.py", "x = 1\nimport os  # noqa: F401\n")),
    Harmless("takes a hidden character away", swap("src/bidi.py", "\u202e", "")),
    Harmless("changes a line beside a hidden character", swap("src/bidi.py", "y = 1", "y = 2")),
    Harmless("leaves a program from the source", append("src/app.py", "\n\ndef leave():\n    import sys\n\n    sys.exit(1)\n")),
    Harmless("changes several files", all_of(write("src/one.py", "x = 2\n"), append("docs/guide.md", "More.\n"), swap("src/page.ts", "1", "2"))),
    Harmless("adds a test to a file", append("tests/test_app.py", "\n\ndef test_zero():\n    assert total([0]) == 0\n")),
    Harmless("adds an assertion", swap("tests/test_app.py", "    assert total([]) == 0\n", "    assert total([]) == 0\n    assert total([1]) == 1\n")),
    Harmless("corrects what a test expects", swap("tests/test_unit.py", "sum([1, 1]), 2)", "sum([1, 1, 0]), 2)")),
    Harmless("adds cases", swap("tests/test_app.py", "[1, 2, 3]", "[0, 1, 2, 3]")),
    Harmless("gives a test parameters", swap("tests/test_app.py", "def test_that_it_runs():\n    mean([1])", '@pytest.mark.parametrize("one", [1, 2])\ndef test_that_it_runs(one):\n    mean([one])')),
    Harmless("adds a test of Go", append("tests/app_test.go", '\nfunc TestZero(t *testing.T) {\n\tif Total() != 0 {\n\t\tt.Error("no")\n\t}\n}\n')),
    Harmless("adds a test of TypeScript", append("tests/app.test.ts", '\nit("is new", () => {\n  expect(total([0])).toBe(0);\n});\n')),
    Harmless("adds a test of Rust", swap("src/lib.rs", "    #[test]\n    fn begins", "    #[test]\n    fn zero() {\n        assert_eq!(total(&[0]), 0);\n    }\n\n    #[test]\n    fn begins")),
    Harmless("brings a test file", write("tests/test_new.py", NEW_TEST), options=ADDING),
    Harmless("brings a module", write("src/more.py", "x = 1\n"), options=ADDING),
    Harmless("brings a module of a package that is called like one of Python's", write("src/types.py", "x = 1\n"), options=ADDING),
    Harmless("brings a folder", write("src/deep/er/more.py", "x = 1\n"), options=ADDING),
    Harmless("changes a protected file that was opened", append("Dockerfile", "USER nobody\n"), options=opening("Dockerfile")),
    Harmless("changes a shell script that was opened", append("deploy.sh", "echo done\n"), options=opening("*.sh")),
    Harmless("changes a script without an ending that was opened", append("bin/deploy", "echo done\n"), options=opening("bin/")),
    Harmless("changes a template of the forge that was opened", append(".github/ISSUE_TEMPLATE/bug.md", "More.\n"), options=opening(".github/")),
)  # fmt: skip
