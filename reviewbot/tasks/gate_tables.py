"""What the gate compares files with: names, marks and words, to be read and argued with."""

import re
from itertools import pairwise
from pathlib import Path

from reviewbot.checks.languages import LANGUAGES


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


_CHECKS = [check for language in LANGUAGES for check in language.checks]

# Languages of code that builds or configures. Data is protected as well, and so is what has no
# language, unless it is documentation.
PROTECTED_LANGUAGES = _words("cmake dockerfile groovy makefile powershell shell terraform yaml")

# Code and documentation that controls what runs, with which permissions, and what agents do. Names
# are compared without case and width. Whatever begins with a dot is protected as well.
PROTECTED_NAMES = _words(Path(__file__).with_name("protected_names.txt").read_text("utf-8"))
# The same for paths, after a slash.
PROTECTED_PATHS = _words("*/requirements/*.txt */constraints/*.txt */docs/*conf.py */doc/*conf.py")
# A module of these names in the tree could speak for what runs or supports the tests.
RUNNERS = _words("pytest _pytest pluggy iniconfig coverage hypothesis ruff packaging") | {
    name for check in _CHECKS for option, name in pairwise(check.command) if option == "-m"
}

# The letter that is meant, and those of other scripts that look like it (Unicode TR 39).
LETTERS = """
    aаɑα bƅЬь cсϲ dԁժ eеҽ gɡց hһհ iіıι jјϳ kкκ lӏ mм nոп oоοօ pрρ qԛ rг sѕ tтτ uυս vѵν wԝѡ xхχ
    yуүγʏ AАΑ BВΒ CСϹ EЕΕ HНΗ IІΙӀ JЈ KКΚ MМΜ NΝ OОΟ PРΡ SЅ TТΤ XХΧ YҮΥ ZΖ /∕⁄⧸ .․ -‐‑‒–—− ~∼
"""  # noqa: RUF001
LOOKALIKES = {ord(other): row[0] for row in LETTERS.split() for other in row[1:]}
# A name that all systems take as it is: in ASCII, not hidden, and none of Windows' devices.
PLAIN_NAME = re.compile(
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z))[\w(\[+@.](?:[\w ()\[\]+@.-]{0,98}[\w)\]+-])?",
    re.ASCII | re.IGNORECASE,
)

CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?=[ \t\r\n]|\Z)", re.MULTILINE)

# Patterns of comments and attributes that tell a tool to look away.
_MARKS = [
    line
    for line in Path(__file__).with_name("suppressions.txt").read_text("utf-8").splitlines()
    if line and not line.startswith(";")
]
# With the rest of the line: what names one rule more silences more.
SUPPRESSION = re.compile("(?:" + "|".join(_MARKS) + r")[^\n]{0,200}", re.IGNORECASE)
# What silences the linters of prose. Other marks are only talked about there.
PROSE_SUPPRESSION = re.compile(
    r"<!--\s*(?:markdownlint|remark|lint|textlint|vale|alex|cspell|prettier)\b[^\n]{0,200}"
    r"|^\.\.\s+(?:nocheck|vale)[^\n]{0,200}",
    re.IGNORECASE | re.MULTILINE,
)

# The name of a test file without its extension, where `text.files` does not know it.
TEST_NAME = re.compile(
    r"(?:^|[._-])(?:tests?|specs?|unittests?)$|(?:Tests?|Specs?|TestCase|IT)$|^Tests?(?=[A-Z_]|$)"
)
# Python names that keep tests from running or failing, or the run from coming to its end.
SKIP_NAMES = _words(
    """
    skip skipif skipIf skipUnless skip_if skip_unless skipTest SkipTest Skipped xfail XFailed
    expectedFailure importorskip nottest exit _exit quit abort __test__ pytestmark collect_ignore
    collect_ignore_glob pytest_ignore_collect load_tests pytest_generate_tests only SystemExit
    pytest_collection_modifyitems pytest_collect_file suppress _Exit kill
    """
)
# The tests of a Rust file that also contains what they test, to its end.
RUST_TESTS = re.compile(
    r"(?:^[ \t]*#\[[^\n]{0,400}\n){0,8}^[ \t]*#\[\s*(?:cfg\s*\([^\]\n]{0,200}\btest\b[^\]\n]*\]"
    r"(?:\s*#\[[^\n]{0,400}\n){0,8}\s*(?:pub(?:\([^)\n]*\))?\s+)?mod\s+\w+\s*\{"
    r"|(?:\w+\s*::\s*)*(?:test|rstest)\b)(?s:.*)",
    re.MULTILINE,
)
