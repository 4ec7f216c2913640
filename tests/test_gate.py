"""The gate: what no fix may do, and what one may."""

import difflib
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.git.change import Change, ChangedFile, FileStatus, Hunk, Line
from reviewbot.tasks.gate import refusals_of

APP = "import os\n\n\ndef total(values):\n    return sum(values)\n"
TEST = """\
import pytest

from app import mean, total


def check(value):
    assert value > 0


def test_total():
    assert total([1, 2]) == 3
    assert total([]) == 0


@pytest.mark.parametrize("n", [1, 2])
def test_runs(n):
    x = mean([n])
    check(x)


class TestName:
    def test_a(self):
        assert mean([1]) == 1
"""
GO = 'package a\n\nfunc TestMean(t *testing.T) {\n\tif mean() != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n'
TS = 'it("adds", () => {\n  expect(total([1])).toBe(1);\n});\n'
RUST = """\
pub fn total(v: &[i32]) -> i32 {
    v.iter().sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::total(&[1]), 1);
    }
}
"""
JAVA = "class AppTest {\n    @Test\n    void adds() {\n        assertEquals(1, f());\n    }\n}\n"
RUBY = 'describe "App" do\n  it "adds" do\n    expect(total([])).to eq(0)\n  end\nend\n'
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
FILES: dict[str, str | bytes] = {
    "src/app.py": APP,
    "src/silent.py": "import os  # noqa: F401\nx = 1\n",
    "src/win.py": "x = 1\r\ny = 2\r\n",
    "src/bidi.py": 'x = "\u202e"\ny = 1\n',
    "src/keyed.py": f"KEY = '{KEY}'\nx = 1\n",
    "src/broken.py": "print 'old'\n",
    "src/latin.py": b"x = '\xe9'\n",
    "src/accent.py": "na\u00efve = 1\n",
    "src/greek.py": "v\u0430lues = []\nx = 1\n",
    "src/bare.py": "x = 1",
    "src/app.pyi": "def total(values): ...\n",
    "src/VectorTest.cpp": "TEST(Vector, Adds) {\n  EXPECT_EQ(1, f());\n}\n",
    "src/page.ts": "export const a = 1;\nexport const b = 2;\n",
    "src/lib.rs": RUST,
    **dict.fromkeys(("__init__.py", "src/__init__.py"), ""),
    "src/d\u00e9j\u00e0/app.py": "",
    "data/values.json": '{"a": 1,\n "b": 2}\n',
    "docs/guide.md": "# Guide\n",
    "tests/test_app.py": TEST,
    "tests/test_old.py": "print 'old'\nx = 1\n",
    "tests/test_skipped.py": "import pytest\n\npytest.skip()\nx = 1\n",
    "tests/app_test.go": GO,
    "tests/app.test.ts": TS,
    "tests/AppTest.java": JAVA,
    "tests/app_spec.rb": RUBY,
    "tests/data/expected.txt": "3\n",
    "bin/deploy": "#!/bin/sh\ntrue\n",
    "queue.py": "x = 1\n",
}


def step_of(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Change:
    files = []
    for path in after:
        old, new = (side.get(path, b"").decode("utf-8", "replace") for side in (before, after))
        lines = difflib.ndiff(old.split("\n"), new.split("\n"))
        changed = [line for line in lines if line[0] in "+-"]
        hunk = Hunk("", tuple(Line(c[2:], None, 1) for c in changed))
        is_new = path not in before
        status, old_mode = ("added", "000000") if is_new else ("modified", "100644")
        files.append(changed_file(path, status, old_mode, "100644", (hunk,)))
    return Change(base_tree="1", head_tree="2", files=tuple(files))


def changed_file(
    path: str, status: FileStatus, old_mode: str, mode: str, hunks: tuple[Hunk, ...] = ()
) -> ChangedFile:
    return ChangedFile(
        path=path, old_path=path, status=status, old_mode=old_mode, mode=mode, hunks=hunks
    )


def refuse(path: str, content: str | bytes, is_tool: bool = False) -> list[str]:
    """The refusals of a new content of a file, beside the files above."""
    old = {name: text.encode() if isinstance(text, str) else text for name, text in FILES.items()}
    new = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    before = {path: old[path]} if path in old else {}
    step = step_of(before, {path: new})
    return refusals_of(step, before, {path: new}, list(old), is_tool)


def swapped(path: str, old: str, new: str) -> str:
    text = FILES[path]
    assert isinstance(text, str)
    assert text.count(old) == 1, (path, old)
    return text.replace(old, new)


NAMES = [
    ("src/a\nb.py", "control characters"),
    (".GitHub/workflows/x.yml", "protected"),
    ("../evil.py", "protected"),
    ("\uff0egithub/workflows/x.yml", "protected"),
    *((f"src/conf{hidden}test.py", "hidden or control") for hidden in "\u200d\u3164"),
    ("src/App.py", "looks like `src/app.py`"),
    ("SRC/new.py", "looks like `src`"),
    ("src/\u202eyp.ppa", "hidden or control"),
    *(
        (name, "not every system")
        for name in (
            *("tests/\u0441onftest.py", "src/cafe\u0301.py", "src/aux.py", "git~1/config"),
            *("src/new.py::$DATA", "src\\new.py", "src/new. /a.py", "n" * 256),
        )
    ),
    ("tests/random.py", "imported in place of the module random"),
    *(
        (f"{name}.py", f"imported in place of the module {name}")
        for name in ("pyright", "mypy", "pytest", "pluggy", "coverage", "hypothesis", "packaging")
    ),
    *(
        (f"{name}/__init__.py", f"of the module {name}")
        for name in ("_pytest", "iniconfig", "ruff")
    ),
]
PROTECTED = """
    build.rs Gemfile Rakefile noxfile.py toxfile.py hatch_build.py fabfile.py mix.exs Package.swift
    CLAUDE.md GEMINI.md copilot-instructions.md SKILL.md a.instructions.md a.agent.md magefile.go
    spec_helper.rb test_helper.rb setupTests.ts jest.setup.js vitest.setup.ts karma.conf.js
    gulpfile.js Gruntfile.js Dangerfile docker-bake.hcl src/usercustomize.py
    requirements-dev.txt constraints/dev.txt src/requirements.in
    conftest.py pyproject.toml package.json uv.lock Dockerfile Makefile ruff.toml AGENTS.md
    pyrightconfig.json deploy.sh CODEOWNERS .gitattributes .github/workflows/ci.yml
    .pre-commit-config.yaml .husky/pre-commit .vscode/settings.json .reviewbot.yml
    sitecustomize.py src/evil.pth
    node_modules/a/index.js vite.config.ts requirements/dev.txt Jenkinsfile docs/conf.py go.sum
    webpack.js src/app.gemspec docs/tone.prompt.md build.gradle.kts a.chatmode.md a.conf.cjs
    a.conf.js a.conf.mjs a.conf.ts a.workspace.ts constraints.txt my-constraints.in agent.md
    agents.override.md build.sc claude.local.md codeowners.md conanfile.py conanfile.txt
    conventions.md crush.md dangerfile.ts dodo.py fastfile gems.rb jest-setup.ts jest_setup.js
    jules.md karma.ts llms-full.txt llms.txt meson_options.txt podfile qwen.md rails_helper.rb
    review.md setup.py setuptests.js setuptests.tsx vagrantfile vitest.workspace.ts wallaby.js
    warp.md constraints/a.in doc/conf.py requirements/a.in requirements.pip docker-bake.ts a.cmake
    my-requirements.txt my-constraints.txt a.ps1 a.tf a.groovy a.mk compose.yml b.dockerfile
    requirements/licenses.in license-constraints.pip
"""


def test_a_name_must_be_what_it_looks_like() -> None:
    for path, words in NAMES:
        found = refuse(path, "x = 1\n")
        assert any(words in text for text in found), (path, found)


# One for each way in which a comment, an attribute or an annotation keeps a tool quiet.
MARKS = """
    flake8: noqa|NOQA: E501|-- noqa|pyright: basic|mypy: disable-error-code|pyre-fixme|
    @no_type_check|pylint: disable=all|fmt: off|isort: skip|pragma: no branch|nosec|nosemgrep|
    bandit: skip|skipcq|dlint|ruff: disable|eslint-disable-line|tslint:disable|
    markdownlint-disable|@ts-expect-error|@ts-nocheck|$FlowFixMe|biome-ignore|prettier-ignore|
    istanbul ignore next|c8 ignore next|// nolint|// lint:ignore|NOLINTNEXTLINE|#![expect(a)]|
    #[cfg_attr(a, allow(b))]|// cppcheck-suppress|// LCOV_EXCL|pragma GCC diagnostic ignored|
    @SuppressWarnings|NOSONAR|NOPMD|CHECKSTYLE:OFF|noinspection|@formatter:off|ktlint-disable|
    pragma warning disable|SuppressMessage|ReSharper disable|rubocop:disable|:nocov:|
    typed: false|phpcs:ignore|@phpstan-ignore|@psalm-suppress|@codeCoverageIgnore|
    swiftlint:disable|detekt:off|shellcheck disable|hadolint ignore|zizmor: a; ignore|
    gitleaks:allow|pragma: allowlist|codeql [a]|DevSkim: ignore|tfsec:ignore|cspell:disable|
    ruff: noqa|a noqa: E501|ty: ignore|basedpyright: ignore|pyre: ignore|pytype: skip-file|
    pyrefly: ignore|mypy: disallow-any-expr|mypy: allow-untyped-defs|pyre-ignore|pyre-unsafe|
    yapf: disable|autopep8: off|black: ignore|ruff: ignore|ruff: isort: skip|oxlint-disable|
    stylelint-disable|deno-lint-ignore|@flow-ignore|@flowfixme|$FlowIgnore|$FlowExpectedError|
    rome-ignore|webhint-ignore|svelte-ignore|vue-ignore|v8 ignore next|node:coverage disable|
    // Code generated by a. DO NOT EDIT|// lint:file-ignore|// exhaustive:ignore|NOLINTBEGIN|
    #[rustfmt::skip]|#[coverage(off)]|#[cfg_attr(a, expect(b))]|#[cfg_attr(a, ignore)]|
    // coverity[a]|// IWYU pragma|// clang-format off|pragma clang diagnostic ignored|
    @SuppressLint|@SuppressFBWarnings|CHECKSTYLE:SUPPRESS|standard:disable|reek:todo|
    brakeman:ignore|sorbet:disable|steep:ignore|typed: ignore|phpcs:disable|@phan-suppress|
    @codingStandardsIgnore|swiftformat:disable|scalafix:off|scalastyle:off|credo:disable|
    dialyzer:disable|luacheck: ignore|selene: disable|yamllint disable|ansible-lint ignore|
    actionlint ignore|trufflehog:ignore|detect-secrets: allow|lgtm [a]|trivy:ignore|
    checkov:skip|kics: ignore|semgrep: ignore|sonar: ignore|snyk: ignore|codespell:ignore|
    spell-checker:disable
"""


def test_what_decides_what_runs_is_protected() -> None:
    for path in PROTECTED.split():
        (refusal,) = refuse(path, "x\n")
        assert refusal.startswith(f"`{path}` is protected: ")


APP_END = "    return sum(values)\n"
RUNS = "    x = mean([n])\n"
ZERO = "    assert total([]) == 0\n"
ONLY = "fixes may only add to tests"
SKIPS = "keeps tests from running or failing"
SILENCES = "silences a tool"
SWAPS = [
    ("src/app.py", APP_END, "<<<<<<< a\n    x\n=======\n    y\n>>>>>>> b\n", "conflict markers"),
    ("src/app.py", "import os\n", f"import os\nTOKEN = '{KEY}'\n", "new secret (github-token)"),
    ("src/bidi.py", "\u202e", "⟨U+202E⟩", "stands for text"),
    ("src/app.py", "import os", "import os  # «secret:jwt»", "stands for text"),
    ("src/app.py", "import os", "import os  # ⟨9 more characters⟩", "stands for text"),
    ("src/app.py", "import os", "import os  # \u202e safe", "hidden character (U+202E)"),
    ("src/app.py", "import os", "import os  # a\rimport evil", "is code"),
    ("src/app.py", "import os", "\ufeffimport os", "byte order mark"),
    ("src/app.py", "import os", "import os  # \0", "NUL"),
    ("src/app.py", "total(values)", "total(values", "parsed: '(' was never closed (line 4)"),
    ("src/app.pyi", "(values)", "(values", "parsed: '(' was never closed (line "),
    ("src/page.ts", "export const b", "export const b = (", "parsed: Syntax error (src/page.ts:"),
    ("src/app.py", "import os", f"import os  # noqa {'x' * 100}", "xx…."),
    ("src/silent.py", "# noqa: F401", "# noqa", SILENCES),
    ("src/silent.py", "# noqa: F401", "# noqa: F401, S605", SILENCES),
    *(
        ("src/app.py", "import os", f"import os  # {words}", SILENCES)
        for words in ("noqa", "type: ignore", "pragma: no cover", "reviewbot: ignore")
    ),
    ("src/page.ts", "export const b", "// @ts-ignore\nexport const b", SILENCES),
    ("src/lib.rs", "pub fn", "#[allow(dead_code)]\npub fn", SILENCES),
    ("src/app.py", APP_END, f"    v\u0430lues = []\n{APP_END}", "looks like values"),
    ("src/page.ts", "const b", "const \u0430", "looks like a"),
    ("src/accent.py", "na\u00efve", "na\u00efv\u0435", "looks like na\u00efve"),
    ("tests/test_app.py", ZERO, "", ONLY),
    ("tests/test_app.py", ZERO, f"{ZERO}    assert total([1]) == 1\n", ONLY),
    ("tests/app_test.go", '\t\tt.Fatal("no")\n', "", ONLY),
    ("tests/app.test.ts", "it(", "it.only(", ONLY),
    ("src/lib.rs", "    #[test]\n", "    #[test]\n    #[ignore]\n", ONLY),
    ("src/VectorTest.cpp", "  EXPECT_EQ(1, f());\n", "", ONLY),
    ("tests/app_spec.rb", '  it "adds"', '  xit "adds"', ONLY),
    ("tests/data/expected.txt", "3", "4", "protected"),
    ("src/win.py", "y = 2\r\n", "y = 2\n", "line ends"),
    ("bin/deploy", "true", "false", "protected"),
    ("data/values.json", "1", "2", "protected"),
]


MIXED = (
    "fn f() {}\n#[test]\nfn a() {}\n",
    "fn f() {}\n#[cfg(test)] mod tests {\n    #[test]\n    fn a() {}\n}\n",
    "fn f() {}\n#[cfg(all(test, unix))]\n#[rustfmt::skip]\npub(crate) mod tests {\n"
    "    #[tokio::test]\n    fn a() {}\n}\n",
)


def test_models_may_not_ignore_a_test_among_code(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in MIXED:
        monkeypatch.setitem(FILES, "src/mixed.rs", text)
        before, mark, after = text.rpartition("#[t")
        found = refuse("src/mixed.rs", f"{before}#[ignore]\n{mark}{after}")
        assert found == [f"`src/mixed.rs` changes its tests: {ONLY}, as new files."]
        assert refuse("src/mixed.rs", text.replace("fn f() {}", "fn f() { g() }")) == []


def test_models_may_not() -> None:
    for path, old, new, words in SWAPS:
        found = refuse(path, swapped(path, old, new))
        is_named = any(words in text and text.startswith(f"`{path}` ") for text in found)
        assert is_named, (path, new, found)


def test_no_mark_that_keeps_a_tool_quiet_comes_in() -> None:
    for mark in " ".join(MARKS.split()).replace("| ", "|").split("|"):
        found = refuse("src/app.py", swapped("src/app.py", "import os", f"import os  # {mark}"))
        assert any(SILENCES in text for text in found), (mark, found)


def test_new_tests_keep_no_test_from_running() -> None:
    skips = ("pytest.skip()", "getattr(pytest, 'skip')()", "vars(pytest).pop('skip')()")
    more = "exit quit abort SystemExit xfail importorskip pytestmark collect_ignore SkipTest"
    more += " skipIf skipUnless skipTest expectedFailure load_tests __test__ _Exit kill suppress"
    more += " Skipped XFailed collect_ignore_glob nottest pytest_collect_file skip_if skip_unless"
    more += " pytest_collection_modifyitems pytest_generate_tests pytest_ignore_collect skipif"
    for code in (*skips, "import os; os._exit(0)", "f(only=1)", *more.split()):
        found = refuse("tests/test_new.py", f"import pytest\n\n{code}\n")
        assert any(SKIPS in text for text in found), (code, found)
    ends = "def test_it():\n    with pytest.raises(SystemExit):\n        f()\n"
    for text in ("def f():\n    run(['skip'])\n", ends):
        assert refuse("tests/test_new.py", text) == []


def test_tools_may_rewrite_tests_but_not_take_from_them() -> None:
    for old, new, words in (
        ("== 3", "== 4", ""),
        (ZERO, "", "loses an assertion or a test"),
        (ZERO, "    assert (total([]) == 0, 'no')\n", "loses an assertion"),
        (ZERO, "    assert True\n", "loses an assertion"),
        (ZERO, "    case.assertTrue(True)\n", "loses an assertion"),
        (ZERO, "    case.assert_zero()\n", ""),
        ("    assert value > 0\n", "    pass\n", "loses an assertion or a test"),
        ("def test_runs", "def runs", "loses an assertion or a test"),
        (RUNS, f"    pytest.skip()\n{RUNS}", SKIPS),
    ):
        found = refuse("tests/test_app.py", swapped("tests/test_app.py", old, new), is_tool=True)
        assert any(words in text for text in found) if words else not found, (new, found)
    unread = [f"`tests/test_old.py` is a test that cannot be read: {ONLY}."]
    for path, refusals in (("tests/test_old.py", unread), ("tests/test_skipped.py", [])):
        assert refuse(path, swapped(path, "x = 1", "x = 2"), is_tool=True) == refusals


HARMLESS = [
    ("src/app.py", APP_END, "    if not values:\n        return 0\n    return sum(values)\n"),
    ("src/app.py", "import os\n", "import os\nimport sys\n\nsys.exit(1)\n"),
    ("src/app.py", APP_END, APP_END + "    # \u0441 \u0430\n"),
    ("src/app.py", "import os\n", 'import os\n\nNAME = "\u0441"\n'),
    ("src/app.py", APP_END, f'    """Sum.\n\n    \u0441 \u0430\n    """\n{APP_END}'),
    ("src/app.py", "import os\n", 'import os\n\nDIGIT = "\\d"\n'),
    ("src/app.py", "import os\n", "import os\n\n\u0433\u043e\u0434 = 1\n"),
    *((f"src/{name}.py", "x = 1", "x = 2") for name in ("greek", "silent", "keyed")),
    ("queue.py", "x = 1", "x = 2"),
    ("src/silent.py", "  # noqa: F401", ""),
    ("src/silent.py", "import os  # noqa: F401\nx = 1\n", "x = 1\nimport os  # noqa: F401\n"),
    ("src/bidi.py", "y = 1", "y = 2"),
    ("src/bidi.py", "\u202e", ""),
    ("src/keyed.py", f"'{KEY}'", "input()"),
    ("src/broken.py", "print 'old'\n", "print 'old'\nprint 'more'\n"),
    ("docs/guide.md", "# Guide\n", "# Guide\n\nPart\n=======\n"),
    ("docs/guide.md", "# Guide\n", "# Guide\n\n`# noqa`\n"),
    ("docs/guide.md", "# Guide\n", "Καλημέρα, привет, שלום, \U0001f469\u200d\U0001f4bb\n"),
]
NEW = """
    src/more.py src/types.py src/deep/er/more.py docs/Guide-2.md src/d\u00e9j\u00e0/more.py
    src/[id]/(group)/page.ts tests/test_new.py src/requirements.py app/conf.py
    src/console.ts src/shell.py tests/new.test.ts
"""


def test_models_may() -> None:
    for path, old, new in HARMLESS:
        assert refuse(path, swapped(path, old, new)) == [], (path, new)
    for path in NEW.split():
        assert refuse(path, "" if path.endswith((".ts", ".md")) else "x = 1\n") == [], path
    for path in ("src/more.rs", "tests/more.rs"):
        assert refuse(path, RUST) == [], path


MODES: list[tuple[FileStatus, str, str, str]] = [
    ("deleted", "100644", "000000", "is deleted"),
    ("renamed", "100644", "100644", "is renamed"),
    ("type_changed", "100644", "120000", "is type changed"),
    ("added", "000000", "120000", "is no regular file"),
    ("modified", "120000", "120000", "is no regular file"),
    ("modified", "160000", "160000", "is no regular file"),
    ("added", "000000", "100755", "no file executable"),
    ("modified", "100644", "100755", "no file executable"),
]


def test_only_lines_of_regular_files_change() -> None:
    for status, old_mode, mode, words in MODES:
        file = changed_file("a.py", status, old_mode, mode)
        step = Change(base_tree="1", head_tree="2", files=(file,))
        (refusal,) = refusals_of(step, {"a.py": b""}, {"a.py": b""}, ["a.py"], True)
        assert words in refusal


def test_a_fix_is_small() -> None:
    for is_tool, lines, files in ((False, 400, 10), (True, 2_000, 50)):
        for extra in (0, 1):
            long = refuse("src/new.py", "x = 1\n" * (lines + extra), is_tool)
            after = {f"src/new{n}.py": b"x = 1\n" for n in range(files + extra)}
            many = refusals_of(step_of({}, after), {}, after, [], is_tool)
            assert [bool(long), bool(many)] == [bool(extra)] * 2


def test_what_is_not_utf_8_or_not_read_is_refused() -> None:
    assert "is not UTF-8" in refuse("src/latin.py", b"x = '\xe9'\ny = 1\n")[0]
    text = {"src/big.py": b"x"}
    of_git = replace(step_of(text, text).files[0], is_binary=True)  # by its .gitattributes
    for step, before, after in (
        (step_of({}, text), {}, {}),
        (step_of(text, text), {}, text),
        (Change(base_tree="1", head_tree="2", files=(of_git,)), text, text),
    ):
        assert "too large to be read" in refusals_of(step, before, after, [], False)[0]


TEXT = st.text("ab=1:()\n\t#'\"/*{}[]é\u202e\r\0 defclasstest_assert", max_size=60) | st.text()
PATHS = st.sampled_from(["a.py", "test_a.py", "a.rs", "a_test.go", "a.json", "a.md"]) | st.text()


@settings(max_examples=50, deadline=None)
@given(PATHS, TEXT, TEXT, st.booleans())
@example(path="a.py", old="", new="\r\x80", is_tool=False)
def test_any_pair_of_files_gives_a_list(path: str, old: str, new: str, is_tool: bool) -> None:
    before = {path: old.encode("utf-8", "surrogatepass")}
    after = {path: new.encode("utf-8", "surrogatepass")}
    step = step_of(before, after)
    assert isinstance(refusals_of(step, before, after, [path], is_tool), list)
