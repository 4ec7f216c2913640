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

_MARKS = (
    # Python
    r"#\s*(?:ruff\s*:\s*|flake8\s*[:=]\s*)?noqa\b|\bnoqa\s*:\s*[A-Z]|--\s*noqa\b",
    r"#\s*(?:type|pyright|ty|basedpyright|mypy|pyre|pytype|pyrefly)\s*:\s*"
    r"(?:ignore|basic|disable|disallow|allow|skip-file)",
    r"#\s*pyre-(?:ignore|fixme|unsafe)|@(?:typing\s*\.\s*)?no_type_check\b",
    r"#\s*(?:pylint|isort|yapf|autopep8|fmt|black)\s*:\s*(?:disable|skip|off|ignore)",
    r"#\s*pragma\s*:\s*no\b|#\s*nosec\b|#\s*nosemgrep\b|#\s*bandit\s*:\s*skip|#\s*skipcq\b",
    r"#\s*dlint\b|#\s*ruff\s*:\s*(?:disable|ignore|isort\s*:\s*skip)",
    # JavaScript, TypeScript, CSS
    r"(?:(?:[et]s|ox|style|deno-|markdown)lint|jshint|jscs)-?[\s:]{,9}(?:disable|ignore)",
    r"@ts-(?:ignore|expect-error|nocheck)|@flow-?(?:ignore|fixme)",
    r"\$Flow(?:Ignore|FixMe|ExpectedError)|(?:biome|prettier|rome|webhint|svelte|vue)-ignore",
    r"(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)",
    # Go, Rust, C
    r"//\s*Code generated\b.{0,200}\bDO NOT EDIT\b",
    r"//\s*lint:(?:ignore|file-ignore)|//\s*exhaustive:ignore",
    r"\bNOLINT(?:NEXTLINE|BEGIN)?\b|#!?\s*\[\s*(?:allow|expect|rustfmt\s*::\s*skip|coverage)\b",
    r"#!?\s*\[\s*cfg_attr\s*\([^\]\n]{0,200}\b(?:allow|expect|ignore)\b",
    r"//\s*(?:cppcheck-suppress|coverity\[|IWYU pragma|clang-format off|LCOV_EXCL)",
    r"#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored",
    # JVM, .NET
    r"@(?:file\s*:\s*)?Suppress(?:Warnings|Lint|FBWarnings)?\b|\bNOSONAR\b|\bNOPMD\b",
    r"CHECKSTYLE[:.]\s*(?:OFF|SUPPRESS)|\bnoinspection\b|@formatter:off|ktlint-disable",
    r"#\s*pragma\s+warning\s*(?:\(\s*)?disable|\bSuppressMessage\b|ReSharper\s+disable",
    # Ruby, PHP, Swift, shell, and the rest
    r"#\s*(?:rubocop|standard|reek|brakeman|sorbet)\s*:\s*(?:disable|todo|ignore)|:nocov:",
    r"#\s*steep:ignore|#\s*typed:\s*(?:false|ignore)|phpcs:(?:ignore|disable)",
    r"@?phpstan-ignore|@?psalm-suppress|@codeCoverageIgnore|@phan-suppress",
    r"@codingStandardsIgnore|(?:swiftlint|swiftformat|detekt|scalafix|scalastyle|credo|dialyzer"
    r"|luacheck|selene)\s*:\s*(?:disable|off|ignore)",
    r"#\s*(?:shellcheck|hadolint|yamllint|ansible-lint|zizmor|actionlint)\b[^\n]{0,20}?"
    r"(?:disable|ignore)",
    r"\b(?:gitleaks|trufflehog|detect-secrets|pragma)\s*:\s*(?:allow|ignore)",
    r"(?:codeql|lgtm)\s*\[|\bDevSkim\s*:\s*ignore|\b(?:tfsec|trivy|checkov|kics|semgrep|sonar|snyk"
    r"|codespell|cspell|spell-checker|reviewbot)\s*:\s*(?:ignore|skip|disable)",
)
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
