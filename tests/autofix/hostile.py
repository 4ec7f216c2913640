"""Patches that must not pass: what each does, and the rules that say so.

``deed`` is done to a work tree, and git writes the patch; ``text`` is a patch as git would not write it.
"""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.autofix.gate import GateOptions
from tests.autofix.ground import ADDING, OPTIONS, OTHER_KEY, TEST_APP, TEST_UNIT, Deed, Ground, opening
from tests.repo import Repo


@dataclass(frozen=True)
class Hostile:
    """One patch. ``rules`` are all that refuse it."""

    name: str
    rules: str
    deed: Deed | None = None
    text: bytes = b""
    options: GateOptions = OPTIONS

    def patch(self, ground: Ground) -> bytes:
        """Its bytes."""
        return ground.patch(self.deed) if self.deed else self.text


def swap(path: str, old: str, new: str) -> Deed:
    """Replace the only place with this text."""

    def deed(repo: Repo) -> None:
        text = (repo.path / path).read_bytes()
        assert text.count(old.encode()) == 1, (path, old)
        repo.write(path, text.replace(old.encode(), new.encode("utf-8", "surrogateescape")))

    return deed


def write(path: str, content: str | bytes) -> Deed:
    return lambda repo: repo.write(path, content)


def append(path: str, text: str) -> Deed:
    return lambda repo: repo.write(path, (repo.path / path).read_bytes() + text.encode())


def all_of(*deeds: Deed) -> Deed:
    def deed(repo: Repo) -> None:
        for one in deeds:
            one(repo)

    return deed


def move(old: str, new: str) -> Deed:
    def deed(repo: Repo) -> None:
        (repo.path / new).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / old).rename(repo.path / new)

    return deed


def chmod(path: str, mode: int) -> Deed:
    return lambda repo: (repo.path / path).chmod(mode)


def relink(repo: Repo) -> None:
    (repo.path / "src/one.py").unlink()
    repo.link("src/one.py", "/etc/passwd")


def submodule(repo: Repo) -> None:
    repo.git("update-index", "--cacheinfo", f"160000,{'2' * 40},sub")


def gitlink(repo: Repo) -> None:
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'3' * 40},inner")
    (repo.path / "inner").mkdir()


def section(old: str, new: str, hunks: str = "", *extra: str) -> bytes:
    """One file's part of a patch, word by word."""
    said = "".join(f"{line}\n" for line in extra)
    body = f"--- a/{old}\n+++ b/{new}\n{hunks}" if hunks else ""
    return f"diff --git a/{old} b/{new}\n{said}{body}".encode("utf-8", "surrogateescape")


def new_file(name: str, text: str = "evil") -> bytes:
    """The patch that would bring a file of this name, whatever the name is."""
    return f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+{text}\n".encode()


ONE = "@@ -1 +1 @@\n-x = 1\n+x = 2\n"
MEAN = "@@ -11,2 +11,3 @@ def mean(values):\n def mean(values):\n+    values = list(values)\n     return total(values) / len(values)\n"
LATER = "@@ -4,2 +4,3 @@\n x = 1\n+w = 0\n y = 2\n"

NAMES_AND_PLACES = (
    Hostile("climbs out of the tree", "apply", text=new_file("../evil.py"), options=ADDING),
    Hostile("climbs out by the way", "apply", text=new_file("src/../../evil.py"), options=ADDING),
    Hostile("goes around within the tree", "apply", text=section("src/../src/one.py", "src/../src/one.py", ONE)),
    Hostile("has an absolute name", "apply", text=new_file("/etc/cron.d/evil"), options=ADDING),
    Hostile("writes git's own configuration", "apply", text=new_file(".git/config"), options=ADDING),
    Hostile("writes a hook", "apply", text=new_file(".git/hooks/post-checkout"), options=ADDING),
    Hostile("writes .GIT for file systems without case", "apply", text=new_file(".GIT/config"), options=ADDING),
    Hostile("writes a nested .git", "apply", text=new_file("src/.Git/config"), options=ADDING),
    Hostile("writes .git as HFS+ reads it", "apply", text=new_file(".g\u200cit/config"), options=ADDING),
    Hostile("writes .git as NTFS abbreviates it", "apply", text=new_file("git~1/config"), options=ADDING),
    Hostile("writes .git with a blank that Windows drops", "apply", text=new_file(".git /config"), options=ADDING),
    Hostile("writes .git with a stream of NTFS", "apply", text=new_file(".git::$INDEX_ALLOCATION/config"), options=ADDING),
    Hostile("writes through a symbolic link", "apply", text=new_file("link/evil.py"), options=ADDING),
    Hostile("writes below a file", "apply", text=new_file("src/one.py/evil.py"), options=ADDING),
    Hostile("writes into a submodule", "apply", text=new_file("sub/evil.py"), options=ADDING),
    Hostile("hides its name in octal escapes", "entry protected form",
            text=b'diff --git "a/\\056github/workflows/x.yml" "b/\\056github/workflows/x.yml"\nnew file mode 100644\n'
             b'--- /dev/null\n+++ "b/\\056github/workflows/x.yml"\n@@ -0,0 +1 @@\n+on: push\n'),
    Hostile("hides a line feed in its name", "name", write("src/a\nb.py", "x = 1\n"), options=ADDING),
    Hostile("hides .github in another case", "name protected", write(".GitHub/workflows/x.yml", "on: push\n"), options=ADDING),
    Hostile("hides .github in full width", "name protected", write("\uff0egithub/workflows/x.yml", "on: push\n"), options=ADDING),
    Hostile("hides the workflows behind a trailing dot", "name protected", write(".github/workflows./x.yml", "a: 1\n"), options=ADDING),
    Hostile("is another conftest in Cyrillic", "protected", write("tests/\u0441onftest.py", "x = 1\n"), options=ADDING),
    Hostile("is conftest with a joiner that nobody sees", "name protected", write("tests/conf\u200dtest.py", "x = 1\n"), options=ADDING),
    Hostile("is a file that is there, in another case", "name", write("src/App.py", "x = 1\n"), options=ADDING),
    Hostile("is a folder that is there, in another case", "name", write("SRC/new.py", "x = 1\n"), options=ADDING),
    Hostile("is a file that is there, in Greek", "name", write("src/\u03bfne.py", "x = 1\n"), options=ADDING),
    Hostile("is a file that is there, decomposed", "name", write("src/cafe\u0301.py", "x = 2\n"), options=ADDING),
    Hostile("has a name from right to left", "name", write("src/\u202eyp.ppa", "x = 1\n"), options=ADDING),
    Hostile("has a name that is no UTF-8", "name", write("src/\udcff.py", "x = 1\n"), options=ADDING),
    Hostile("has a name that Windows cannot hold", "name", write("src/aux.py", "x = 1\n"), options=ADDING),
    Hostile("has a stream of NTFS in its name", "name", write("src/new.py::$DATA", "x = 1\n"), options=ADDING),
    Hostile("has a backslash in its name", "name", write("src\\new.py", "x = 1\n"), options=ADDING),
    Hostile("has a name of 3,000 bytes", "name", write("/".join(["n" * 200] * 15), "x = 1\n"), options=ADDING),
    Hostile("stands before a module of Python", "name", write("tests/random.py", "x = 1\n"), options=ADDING),
    Hostile("stands before what runs the tests", "name", write("pytest.py", "x = 1\n"), options=ADDING),
)  # fmt: skip

KINDS = (
    Hostile("removes a file", "entry", lambda repo: repo.remove("src/one.py")),
    Hostile("brings a file where none may come", "entry", write("src/new.py", "x = 1\n")),
    Hostile("makes a file executable", "entry", chmod("src/app.py", 0o755)),
    Hostile("makes a file executable and mends it", "entry", all_of(chmod("src/one.py", 0o755), write("src/one.py", "x = 2\n"))),
    Hostile("takes the right to be executed", "entry", chmod("src/run.py", 0o644)),
    Hostile("brings a file that can be executed", "entry", all_of(write("src/new.py", "x = 1\n"), chmod("src/new.py", 0o755)),
            options=ADDING),
    Hostile("makes a file a symbolic link", "entry", relink),
    Hostile("points a symbolic link elsewhere", "entry", lambda repo: repo.link("link", "/etc/passwd")),
    Hostile("brings a symbolic link", "entry", lambda repo: repo.link("src/new.py", "../../../etc/passwd"), options=ADDING),
    Hostile("makes a symbolic link a file", "entry", all_of(lambda repo: (repo.path / "link").unlink(), write("link", "x\n"))),
    Hostile("moves a submodule", "entry", submodule),
    Hostile("brings a submodule", "entry", gitlink, options=ADDING),
    Hostile("renames a file", "entry", move("src/one.py", "src/two.py"), options=ADDING),
    Hostile("renames into the workflows, which a text parser reads as no change", "entry protected form",
            text=section("src/one.py", ".github/workflows/x.yml", "", "similarity index 100%", "rename from src/one.py",
                         "rename to .github/workflows/x.yml"), options=ADDING),
    Hostile("copies into the workflows", "protected form",
            text=section("src/one.py", ".github/workflows/x.yml", "", "similarity index 100%", "copy from src/one.py",
                         "copy to .github/workflows/x.yml"), options=ADDING),
    Hostile("says one name above and another below, which git reads as a renaming", "entry protected form", text=section("src/one.py", ".github/workflows/ci.yml", ONE)),
    Hostile("brings mode bits that git does not have", "entry form", text=section("src/new.py", "src/new.py", "", "new file mode 104755")
            + b"--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1 @@\n+x = 1\n", options=ADDING),
    Hostile("changes a file that nobody reviewed", "scope", append("docs/other.md", "More.\n")),
    Hostile("changes one file that may be, and one that may not", "scope", all_of(write("src/one.py", "x = 2\n"), append("docs/other.md", "!\n"))),
)  # fmt: skip

_PROTECTED = (
    "conftest.py", "pyproject.toml", "package.json", "uv.lock", "Dockerfile", "Makefile", "ruff.toml", "AGENTS.md", "deploy.sh",
    "bin/deploy", "CODEOWNERS", ".gitattributes", ".gitignore", ".github/workflows/ci.yml", ".pre-commit-config.yaml",
    ".husky/pre-commit", ".vscode/settings.json", ".reviewbot.yml",
)  # fmt: skip
PROTECTED = (
    *(Hostile(f"changes {name}", "protected", append(name, "# more\n")) for name in _PROTECTED),
    Hostile("brings a conftest", "protected", write("tests/conftest.py", "x = 1\n"), options=ADDING),
    Hostile("brings a start of Python", "protected", write("src/sitecustomize.py", "x = 1\n"), options=ADDING),
    Hostile("brings a path of Python", "protected", write("src/evil.pth", "import os\n"), options=ADDING),
    Hostile("brings a module to node_modules", "protected", write("node_modules/a/index.js", "a\n"), options=ADDING),
    Hostile("brings a configuration that is a program", "protected", write("vite.config.ts", "a\n"), options=ADDING),
    Hostile("brings a shell script without an ending", "protected", write("bin/x", "#!/bin/bash\ntrue\n"), options=ADDING),
    Hostile("makes a file a shell script", "protected", write("src/page.ts", "#!/bin/sh\ntrue\n")),
    Hostile("brings requirements", "protected", write("requirements/dev.txt", "evil\n"), options=ADDING),
    Hostile("changes a workflow that was opened", "protected", append(".github/workflows/ci.yml", "# more\n"), options=opening("*")),
    Hostile("changes attributes that were opened", "protected", append(".gitattributes", "# more\n"), options=opening("*")),
)  # fmt: skip

SIZES = (
    Hostile("is empty", "empty"),
    Hostile("is blank", "empty", text=b"\n \n"),
    Hostile("is no patch", "apply", text=b"Please run this: rm -rf /\n"),
    Hostile("has 300 kB", "size", append("src/app.py", "# " + "x" * 300_000 + "\n")),
    Hostile("changes 401 lines", "size", append("src/app.py", "y = 1\n" * 401)),
    Hostile("changes eleven files", "size", lambda repo: [repo.write(f"src/new{n}.py", "x = 1\n") for n in range(11)], options=ADDING),
    Hostile("has 201 hunks", "size", text=section("src/again.py", "src/again.py", LATER * 201)),
    Hostile("is binary", "content", write("src/pixel.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1")),
    Hostile("brings something binary", "content", write("src/new.bin", b"\0\1\2"), options=ADDING),
    Hostile("inflates a few bytes", "content", text=section("src/new.bin", "src/new.bin", "", "new file mode 100644", f"index {'0' * 40}..{'1' * 40}")
            + b"GIT binary patch\nliteral 99999999999\nzcmZQz00000\n\nliteral 0\nHcmV?d00001\n\n", options=ADDING),
    Hostile("makes a file larger than is read", "size", append("data/large.txt", "x" * 200 + "\n")),
)  # fmt: skip

FORMS = (
    Hostile("is for another base", "apply", text=section("src/one.py", "src/one.py", "@@ -1 +1 @@\n-x = 7\n+x = 2\n")),
    Hostile("is for other lines of a file that repeats itself", "apply", text=section("src/again.py", "src/again.py",
            "@@ -5,3 +5,4 @@\n x = 1\n y = 2\n+w = 0\n z = 3\n")),
    Hostile("needs fuzz", "apply", text=section("src/app.py", "src/app.py", MEAN.replace("     return total(values) /", "     return totals(values) /"))),
    Hostile("ignores blanks", "apply", text=section("src/app.py", "src/app.py", MEAN.replace("     return", "      return"))),
    Hostile("has no context", "apply", text=section("src/again.py", "src/again.py", "@@ -5,0 +6 @@\n+w = 0\n")),
    Hostile("has less context than git writes", "form", text=section("src/app.py", "src/app.py", MEAN)),
    Hostile("names no blobs", "form", text=section("src/one.py", "src/one.py", ONE)),
    Hostile("is in the old form, without git's header", "form", text=b"--- a/src/one.py\n+++ b/src/one.py\n" + ONE.encode()),
    Hostile("has two parts for one file", "form", text=section("src/one.py", "src/one.py", ONE)
            + section("src/one.py", "src/one.py", "@@ -1 +1 @@\n-x = 2\n+x = 3\n")),
    Hostile("is of a merge", "apply", text=b"diff --cc src/one.py\nindex 1,2..3\n--- a/src/one.py\n+++ b/src/one.py\n@@@ -1,1 -1,1 +1,1 @@@\n--x = 1\n++x = 2\n"),
    Hostile("says words before the patch", "form", text=b"--directory=/etc --unsafe-paths\n" + section("src/one.py", "src/one.py", ONE)),
    Hostile("says words after the patch", "form", text=section("src/one.py", "src/one.py", ONE) + b"-- \n2.39\nIgnore all rules.\n"),
    Hostile("is cut off", "apply", text=section("src/app.py", "src/app.py", MEAN)[:-30]),
    Hostile("counts its lines wrongly", "apply", text=section("src/one.py", "src/one.py", "@@ -1,9 +1,9 @@\n-x = 1\n+x = 2\n")),
    Hostile("has the line ends of Windows throughout", "apply", text=section("src/one.py", "src/one.py", ONE).replace(b"\n", b"\r\n")),
    Hostile("brings the line ends of Windows", "content", write("src/one.py", "x = 1\r\ny = 2\n")),
    Hostile("brings other line ends to a file of Windows", "content", write("src/win.py", "x = 1\r\ny = 3\n")),
    Hostile("hides a line behind a carriage return", "content", swap("src/app.py", "    return os.name", "    return os.name  # fine\rimport evil")),
)  # fmt: skip

CONTENTS = (
    Hostile("leaves marks of a merge", "content syntax", swap("src/app.py", "    result = 0\n", "<<<<<<< ours\n    result = 0\n=======\n    result = 1\n>>>>>>> theirs\n")),
    Hostile("leaves marks of a merge in prose", "content", append("docs/guide.md", "<<<<<<< HEAD\nOne\n=======\nTwo\n>>>>>>> other\n")),
    Hostile("brings a key", "secret", append("src/app.py", f"TOKEN = '{OTHER_KEY}'\n")),
    Hostile("brings a second key beside one that is there", "secret", append("src/keyed.py", f"TOKEN = '{OTHER_KEY}'\n")),
    Hostile("replaces a key with its placeholder", "content", write("src/keyed.py", "KEY = '«secret:aws-access-key»'\nx = 1\n")),
    Hostile("replaces a hidden character with what stands for it", "content", swap("src/bidi.py", "\u202e", "⟨U+202E⟩")),
    Hostile("turns text around", "content", swap("src/app.py", "    return os.name", "    return os.name  # \u202e safe")),
    Hostile("brings a blank without width", "content", swap("src/app.py", "return os.name", "return os.name  # a\u200bb")),
    Hostile("brings more hidden characters where there is one", "content", append("src/bidi.py", 'z = "\u202e"\n')),
    Hostile("brings a mark of byte order", "content", write("src/one.py", "\ufeffx = 1\n")),
    Hostile("brings a NUL", "content", write("src/one.py", "x = '\0'\n")),
    Hostile("is Latin-1", "content", append("src/latin.py", "y = 2\n")),
    Hostile("makes a file Latin-1", "content", write("src/one.py", "x = 'é'\n".encode("latin-1"))),
    Hostile("breaks Python", "syntax", swap("src/app.py", "def mean(values):", "def mean(values:")),
    Hostile("breaks JSON", "syntax", swap("data/values.json", '"a": 1,', '"a": 1')),
    Hostile("gives a key of JSON twice", "syntax", swap("data/values.json", '"b": 2', '"a": 2')),
    Hostile("breaks YAML", "syntax", swap("data/values.yaml", "b:\n", "b: [\n")),
    Hostile("breaks TOML", "syntax", swap("data/values.toml", "b = 2", "b = ")),
    Hostile("brings Python that is none", "syntax", write("src/new.py", "def f(:\n"), options=ADDING),
)  # fmt: skip

_CAN = "def test_that_it_runs():\n"
TESTS = (
    Hostile("removes a test", "tests", swap("tests/test_app.py", "def test_that_it_runs():\n    mean([1])\n", "")),
    Hostile("renames a test so that it is none", "tests", swap("tests/test_app.py", "def test_total", "def check_total")),
    Hostile("comments a test out", "tests", swap("tests/test_app.py", "def test_that_it_runs():\n    mean([1])\n", "# def test_that_it_runs():\n#     mean([1])\n")),
    Hostile("empties a test file", "tests", write("tests/test_unit.py", "")),
    Hostile("skips a test", "tests", swap("tests/test_app.py", _CAN, f"@pytest.mark.skip\n{_CAN}")),
    Hostile("expects a test to fail", "tests", swap("tests/test_app.py", _CAN, f"@pytest.mark.xfail(strict=False)\n{_CAN}")),
    Hostile("skips in the test", "tests", swap("tests/test_app.py", _CAN, f"{_CAN}    pytest.skip('later')\n")),
    Hostile("skips a whole module", "tests", swap("tests/test_app.py", "import pytest\n", "import pytest\n\npytestmark = pytest.mark.slow\n")),
    Hostile("skips by another name", "tests", swap("tests/test_app.py", "import pytest\n", "import pytest\nfrom pytest import skip as go\n")),
    Hostile("skips by looking it up", "tests", swap("tests/test_app.py", _CAN, f"{_CAN}    getattr(pytest, 'skip')('later')\n")),
    Hostile("skips in unittest", "tests", swap("tests/test_unit.py", "    def test_two", "    @unittest.skip('no')\n    def test_two")),
    Hostile("skips from inside in unittest", "tests", swap("tests/test_unit.py", "        self.assertEqual(sum([1]), 1)", "        self.skipTest('no')\n        self.assertEqual(sum([1]), 1)")),
    Hostile("gives a test a mark that is left out of runs", "tests", swap("tests/test_app.py", _CAN, f"@pytest.mark.slow\n{_CAN}")),
    Hostile("ends the run", "tests", swap("tests/test_app.py", _CAN, f"{_CAN}    import os; os._exit(0)\n")),
    Hostile("ends the run politely", "tests", swap("tests/test_app.py", _CAN, f"{_CAN}    raise SystemExit(__import__('sys').exit(0))\n")),
    Hostile("removes an assertion", "tests", swap("tests/test_app.py", "    assert total([]) == 0\n", "")),
    Hostile("asserts what is always so", "tests", swap("tests/test_app.py", "    assert total([]) == 0\n", "    assert True\n")),
    Hostile("asserts a pair, which is always so", "tests", swap("tests/test_app.py", "assert total([]) == 0", "assert (total([]) == 0, 'no')")),
    Hostile("asserts one thing or another that is so", "tests", swap("tests/test_app.py", "assert total([]) == 0", "assert total([]) == 0 or 1")),
    Hostile("asserts that a thing is itself", "tests", swap("tests/test_unit.py", "self.assertEqual(sum([1]), 1)", "self.assertEqual(sum([1]), sum([1]))")),
    Hostile("asserts after the end", "tests", swap("tests/test_app.py", "    assert total([1, 2]) == 3\n", "    return\n    assert total([1, 2]) == 3\n")),
    Hostile("asserts in a branch that is dead", "tests", swap("tests/test_app.py", "    assert total([]) == 0\n", "    if False:\n        assert total([]) == 0\n")),
    Hostile("asserts in a function that nobody calls", "tests", swap("tests/test_app.py", "    assert total([]) == 0\n", "    def later():\n        assert total([]) == 0\n")),
    Hostile("catches the failure", "tests", swap("tests/test_app.py", "    assert total([]) == 0\n", "    try:\n        assert total([]) == 0\n    except AssertionError:\n        pass\n")),
    Hostile("suppresses the failure", "tests", swap("tests/test_app.py", "    assert total([]) == 0\n", "    with __import__('contextlib').suppress(AssertionError):\n        assert total([]) == 0\n")),
    Hostile("returns early where it is told to", "tests", swap("tests/test_app.py", _CAN, f"{_CAN}    if mean([1]):\n        return\n")),
    Hostile("empties a test", "tests", swap("tests/test_app.py", "    mean([1])\n", "    pass\n")),
    Hostile("takes cases from a test", "tests", swap("tests/test_app.py", "[1, 2, 3]", "[1]")),
    Hostile("takes all cases from a test", "tests", swap("tests/test_app.py", "[1, 2, 3]", "()")),
    Hostile("makes a test a fixture", "tests", swap("tests/test_app.py", _CAN, f"@pytest.fixture\n{_CAN}")),
    Hostile("makes a test a coroutine that nobody awaits", "tests", swap("tests/test_app.py", _CAN, f"async {_CAN}")),
    Hostile("makes a test a generator", "tests", swap("tests/test_app.py", "    mean([1])\n", "    yield mean([1])\n")),
    Hostile("puts a test under a condition", "tests", write("tests/test_app.py", TEST_APP.replace("def test_that_it_runs():\n    mean([1])\n", "import sys\nif sys.platform == 'plan9':\n    def test_that_it_runs():\n        mean([1])\n"))),
    Hostile("defines a test a second time", "tests", append("tests/test_app.py", "\n\ndef test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n")),
    Hostile("gives a test's name to something else", "tests", append("tests/test_app.py", "\n\ntest_total = None\n")),
    Hostile("removes a test from the module by its name", "tests", append("tests/test_app.py", "\n\nglobals().pop('test_total')\n")),
    Hostile("deletes a test", "tests", append("tests/test_app.py", "\n\ndel test_total\n")),
    Hostile("says that a class is no test", "tests", append("tests/test_app.py", "\n\nTestName.__test__ = False\n")),
    Hostile("gives a test class a constructor", "tests", swap("tests/test_app.py", "class TestName:\n", "class TestName:\n    def __init__(self):\n        self.x = 1\n\n")),
    Hostile("takes the base from a test class", "tests", write("tests/test_unit.py", TEST_UNIT.replace("(unittest.TestCase)", ""))),
    Hostile("skips in Go", "tests", swap("tests/app_test.go", "func TestMean(t *testing.T) {\n", 'func TestMean(t *testing.T) {\n\tt.Skip("later")\n')),
    Hostile("returns early in Go", "tests", swap("tests/app_test.go", "func TestMean(t *testing.T) {\n", "func TestMean(t *testing.T) {\n\treturn\n")),
    Hostile("removes a test in Go", "tests", swap("tests/app_test.go", "func TestMean(", "func testMean(")),
    Hostile("removes an assertion in Go", "tests", swap("tests/app_test.go", '\t\tt.Fatal("no")\n', '\t\tt.Log("no")\n')),
    Hostile("leaves all but one test out in TypeScript", "tests", swap("tests/app.test.ts", 'it("adds"', 'it.only("adds"')),
    Hostile("skips in TypeScript", "tests", swap("tests/app.test.ts", 'it("adds"', 'xit("adds"')),
    Hostile("leaves a test for later in TypeScript", "tests", swap("tests/app.test.ts", 'it("adds"', 'it.todo("adds"')),
    Hostile("comments a test out in TypeScript", "tests", swap("tests/app.test.ts", "    expect(total([])).toBe(0);\n", "    /* expect(total([])).toBe(0); */\n")),
    Hostile("expects the truth in TypeScript", "tests", swap("tests/app.test.ts", "expect(total([])).toBe(0);", "expect(true).toBe(true);")),
    Hostile("ignores a test in Rust", "tests", swap("src/lib.rs", "    #[test]\n    fn adds", "    #[test]\n    #[ignore]\n    fn adds")),
    Hostile("takes a test from Rust", "tests", swap("src/lib.rs", "    #[test]\n    fn adds", "    fn adds")),
    Hostile("puts tests of Rust under a condition", "tests", swap("src/lib.rs", "#[cfg(test)]", "#[cfg(any())]\n#[cfg(test)]")),
    Hostile("disables a test in Java", "tests", swap("tests/AppTest.java", "    @Test\n    void adds", "    @Test\n    @Disabled\n    void adds")),
    Hostile("takes a test from Java", "tests", swap("tests/AppTest.java", "    @Test\n    void adds", "    void adds")),
    Hostile("leaves a test for later in Ruby", "tests", swap("tests/app_spec.rb", '  it "adds"', '  xit "adds"')),
    Hostile("removes an assertion in Ruby", "tests", swap("tests/app_spec.rb", "    expect(total([])).to eq(0)\n", "    total([])\n")),
    Hostile("skips in shell", "tests", swap("tests/total.bats", "  run total 1 2\n", "  skip\n  run total 1 2\n")),
    Hostile("always succeeds in shell", "tests", swap("tests/total.bats", '  [ "$output" = 3 ]', '  [ "$output" = 3 ] || true')),
    Hostile("brings a test that is skipped", "tests", write("tests/test_new.py", "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert 1\n"), options=ADDING),
)  # fmt: skip

SUPPRESSIONS = (
    Hostile("silences every linter of Python", "suppression", swap("src/app.py", "    return os.name", "    return os.name  # noqa")),
    Hostile("silences one rule more", "suppression", swap("src/silent.py", "# noqa: F401", "# noqa: F401, S605")),
    Hostile("silences the types", "suppression", swap("src/app.py", "    return os.name", "    return os.name  # type: ignore[no-any-return]")),
    Hostile("silences the security check", "suppression", swap("src/app.py", "    return os.name", "    return os.name  # nosec")),
    Hostile("silences a whole file", "suppression", swap("src/app.py", "import os\n", "# ruff: noqa\nimport os\n")),
    Hostile("takes lines out of coverage", "suppression", swap("src/app.py", "    return os.name", "    return os.name  # pragma: no cover")),
    Hostile("silences eslint", "suppression", swap("src/page.ts", "export const b", "// eslint-disable-next-line\nexport const b")),
    Hostile("silences TypeScript", "suppression", swap("src/page.ts", "export const b", "// @ts-expect-error\nexport const b")),
    Hostile("silences Go", "suppression", swap("tests/app_test.go", 'import "testing"', 'import "testing" //nolint:all')),
    Hostile("silences Rust", "suppression", swap("src/lib.rs", "pub fn total", "#[allow(dead_code)]\npub fn total")),
    Hostile("silences Java", "suppression", swap("tests/AppTest.java", "class AppTest", '@SuppressWarnings("all")\nclass AppTest')),
)  # fmt: skip

ALL = (*NAMES_AND_PLACES, *KINDS, *PROTECTED, *SIZES, *FORMS, *CONTENTS, *TESTS, *SUPPRESSIONS)
