"""How tests look in languages that are not parsed here: one row each, to be read and argued with.

Every expression is looked for in text without comments. Repetitions are bounded or possessive, so that no text costs its square.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

C_LIKE = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?|`(?:\\.|[^`\\])*+`?)|//[^\n]*+|/\*(?:.*?\*/|.*\Z)""", re.DOTALL
)
LIKE_RUST = re.compile(r"""(?P<text>"(?:\\.|[^"\\])*+"?|'(?:\\.|[^'\\\n])')|//[^\n]*+|/\*(?:.*?\*/|.*\Z)""", re.DOTALL)
"""A quote alone begins a lifetime."""
HASH = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?)|(?:^|(?<=\s))#[^\n]*+|^=begin\b(?:.*?^=end\b|.*\Z)""",
    re.DOTALL | re.MULTILINE,
)
"""Comments, and ``text``: what may hold a comment's beginning and is none."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """``test`` finds where a test begins, and its name: the last group that matched. ``keeping`` finds what keeps tests from
    being run, ``asserting`` what can make one fail. ``among`` finds where tests begin in a file with what they test; without it,
    only files that are tests by their name are looked at."""

    endings: tuple[str, ...]
    comment: re.Pattern[str]
    test: re.Pattern[str]
    keeping: re.Pattern[str]
    asserting: re.Pattern[str]
    among: re.Pattern[str] | None = None


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.MULTILINE)


_UNLESS_TRUE = (
    r"(?!\s*\(\s*(?:(?:true|True|TRUE|1|!0)\s*(?:\)|,\s*[\"'])|\"[^\"\n]{0,80}\"\s*\)|(?:1\s*,\s*1|true\s*,\s*true)\s*\)))"
)
"""What asserts a constant asserts nothing."""
_DEAD = (r"\bif\s*+\(?\s*+(?:false|0)\b", r"\breturn\b[ \t]*+;?[ \t\r]*+(?=[\n}])")
"""A branch that is never taken, and leaving without a result: both keep what follows from being run."""
_CALLED = r"""\s*\(\s*(?:"([^"\n]{0,200})"|'([^'\n]{0,200})'|`([^`\n]{0,200})`)"""
_BLOCK = r"(?:it|test|describe|context|suite|specify|bench)"
_EXAMPLE = r"(?:it|specify|test|describe|context|scenario|feature|example|should)"

_GO = Dialect(
    (".go",),
    C_LIKE,
    test=_any(r"^func\s+(?:\([^)\n]{0,200}\)\s*)?((?:Test|Benchmark|Fuzz|Example)\w*)\s*\("),
    keeping=_any(
        r"\.\s*Skip(?:f|Now)?\s*\(", r"\btesting\.Short\b", r"\bos\.Exit\b", r"\bruntime\.Goexit\b", r"\bTestMain\b", *_DEAD
    ),
    asserting=_any(
        r"\.\s*(?:Errorf?|Fatalf?|Fail|FailNow)\s*\(", rf"\b(?:assert|require|qt)\.\w+{_UNLESS_TRUE}\s*\(", r"\bcmp\.Diff\b"
    ),
)
_JAVASCRIPT = Dialect(
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    C_LIKE,
    test=_any(rf"\b{_BLOCK}(?:\.\w{{1,40}}){{0,4}}(?:\.each\s*\([^)]{{0,400}}\))?{_CALLED}"),
    keeping=_any(
        rf"\b{_BLOCK}(?:\.\w{{1,40}}){{0,4}}?\s*\.\s*(?:skip|only|todo|fixme|failing|fails|fail|skipIf|runIf|if)\b",
        rf"\b[xf]{_BLOCK}\s*[.(]",
        r"\.\s*skip\s*\(\s*[)\"'`]",
        r"\b(?:t|this|ctx|context|task)\s*\.\s*(?:skip|todo)\s*\(",
        r"\b(?:skip|only|todo)\s*:\s*(?:true\b|[\"'`])",
        r"\[\s*[\"'](?:skip|only|todo)[\"']\s*\]",
        r"\bpending\s*\(",
        r"\bprocess\s*\.\s*(?:exit|abort)\b",
        *_DEAD,
    ),
    asserting=_any(
        rf"\b(?:expect|assert|should)\b{_UNLESS_TRUE}\s*\(",
        rf"\b(?:expect|assert)\s*\.\s*\w+{_UNLESS_TRUE}\s*\(",
        r"\.should\b",
        rf"\bassert[A-Z]\w*{_UNLESS_TRUE}\s*\(",
        rf"\bt\s*\.\s*(?:is|not|deepEqual|truthy|falsy|true|false|throws\w*|equal|same|ok|match|regex|fail){_UNLESS_TRUE}\s*\(",
    ),
)
_RUST = Dialect(
    (".rs",),
    LIKE_RUST,
    test=_any(
        r"#\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case|quickcheck|proptest)\b[^\]\n]{0,200}\](?:\s*#\[[^\]\n]{0,200}\]){0,6}"
        r"\s*(?:pub\s*(?:\([^)\n]{0,40}\)\s*)?)?(?:async\s+)?(?:unsafe\s+)?fn\s+(\w+)"
    ),
    keeping=_any(
        r"#!?\s*\[\s*ignore\b",
        r"#!?\s*\[\s*cfg(?:_attr)?\s*\((?!\s*test\s*\))",
        r"#\s*\[\s*(?:should_panic|bench|no_test)\b",
        r"\bprocess\s*::\s*(?:exit|abort)\b",
        *_DEAD,
    ),
    asserting=_any(rf"\b(?:debug_|prop_)?assert(?:_\w+)?!{_UNLESS_TRUE}", r"\b(?:panic|unreachable)!"),
    among=_any(
        r"(?:^[ \t]*#\[[^\n]{0,400}\n){0,8}^[ \t]*#\[\s*(?:cfg\s*\([^\]\n]{0,200}\btest\b|(?:\w+\s*::\s*)*(?:test|rstest)\b)"
    ),
)
_JAVA = Dialect(
    (".java", ".kt", ".kts", ".scala", ".groovy"),
    C_LIKE,
    test=_any(
        r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b"
        r"(?:\s*\([^()]{0,200}\))?(?:\s*@[\w.]{1,80}(?:\s*\([^()]{0,200}\))?){0,5}"
        r"[\w<>\[\]?,\s]{0,120}?\b(\w{1,120}|`[^`\n]{1,120}`)\s*\([^()]{0,200}\)\s*(?:throws[^{;]{0,200})?[{:=]",
        r"\b(?:void|fun|def)\s+(test\w*)\s*\(",
        r"\bdef\s+[\"']([^\"'\n]{1,200})[\"']\s*\(",
        r"\b(?:it|test|should)\s*\(\s*\"([^\"\n]{1,200})\"",
    ),
    keeping=_any(
        r"@(?:\w+\.)*(?:Disabled\w*|Ignore\w*|EnabledIf\w*|EnabledOn\w*|PendingFeature|Requires)\b",
        r"\bassum(?:e|ing)\w*\s*[({]",
        r"\bAssum(?:e|ptions)\b",
        r"\bSystem\s*\.\s*exit\b",
        r"\bexitProcess\b",
        r"\benabled\s*=\s*false",
        r"\bSkipException\b",
        r"\b(?:ignore\s*\(|pending\b)",
        r"\bexpected\s*=\s*\w*(?:Throwable|Exception|Error)\.class",
        *_DEAD,
    ),
    asserting=_any(
        rf"\b(?:assert\w*|verify\w*|expect\w*|check|fail|should\w*){_UNLESS_TRUE}\s*[({{]", r"\bassert\s+\w", r"\.\s*should\w*\b"
    ),
)
_RUBY = Dialect(
    (".rb",),
    HASH,
    test=_any(rf"^[ \t]*{_EXAMPLE}\s*\(?\s*+(?:\"([^\"\n]{{0,200}})\"|'([^'\n]{{0,200}})')", r"^[ \t]*def\s+(test_\w+[?!]?)"),
    keeping=_any(
        rf"^[ \t]*[xf]{_EXAMPLE}\b",
        r"\b(?:skip|pending|omit\w*)\b",
        r":(?:focus|skip|pending)\b",
        r"\b(?:focus|if|unless):",
        r"^[ \t]*focus\b",
        r"\b(?:exit!?|abort|at_exit)(?:\s|\(|$)",
        r"\b(?:return|next)[ \t]*$",
        r"\bif\s+false\b",
        r"^__END__$",
    ),
    asserting=_any(
        rf"\b(?:expect|assert\w*|refute\w*|flunk|is_expected)\b{_UNLESS_TRUE}", r"\.should(?:_\w+)?\b", r"\.(?:must|wont)_\w+"
    ),
)
_SHELL = Dialect(
    (".sh", ".bash", ".bats", ".zsh"),
    HASH,
    test=_any(r"^[ \t]*@test\s+(?:\"([^\"\n]{0,200})\"|'([^'\n]{0,200})'|(\w+))", r"^[ \t]*(?:function\s+)?(test\w*)\s*\(\s*\)"),
    keeping=_any(
        r"(?:^|[;&|]|\bthen\b)[ \t]*(?:skip|startSkipping|exit|return|trap|set\s+\+e)\b",
        r"\|\|\s*(?:true\b|:)",
        r"\bisSkipping\b",
        r"\bif\s+false\b",
    ),
    asserting=_any(r"\b(?:assert\w*|refute\w*|fail)\b", r"\[\[?\s", r"\btest\s+[-\"$!]", r"\bgrep\s+-\w*q", r"\b(?:diff|cmp)\b"),
)
_CSHARP = Dialect(
    (".cs", ".fs", ".vb"),
    C_LIKE,
    test=_any(
        r"\[\s*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|Property)\b[^\]\n]{0,200}\](?:\s*\[[^\]\n]{0,200}\]){0,6}"
        r"\s*(?:[\w.]{1,80}(?:<[\w<>, ]{1,80}>)?\s+){1,5}(\w+)\s*\("
    ),
    keeping=_any(
        r"\bSkip\s*=",
        r"\[\s*(?:Ignore|Explicit|Inconclusive|Platform|Category)\b",
        r"\bAssert\s*\.\s*(?:Ignore|Inconclusive|Pass|Skip)\b",
        r"\bSkip\s*\.\s*(?:If|IfNot|When|Unless)\b",
        r"\bEnvironment\s*\.\s*(?:Exit|FailFast)\b",
        r"^[ \t]*#[ \t]*if\b",
        *_DEAD,
    ),
    asserting=_any(rf"\bAssert\s*\.\s*\w+{_UNLESS_TRUE}\s*[(<]", r"\.\s*Should\w*\b", r"\bVerify\w*\s*\("),
)
_PHP = Dialect(
    (".php",),
    C_LIKE,
    test=_any(
        r"\bfunction\s+(test\w*)\s*\(",
        r"#\[Test\][^{;]{0,300}?\bfunction\s+(\w+)\s*\(",
        rf"\b(?:it|test|describe){_CALLED}",
    ),
    keeping=_any(
        r"\bmarkTest(?:Skipped|Incomplete)\b",
        r"#\[\s*(?:Requires\w*|DoesNotPerformAssertions)\b",
        r"->\s*(?:skip|todo|only)\s*\(",
        r"\b(?:exit|die|expectNotToPerformAssertions)\b",
        *_DEAD,
    ),
    asserting=_any(rf"\b(?:assert\w*|expect\w*){_UNLESS_TRUE}\s*\(", r"->\s*should\w*\s*\(", r"\bfail\s*\("),
)
_C = Dialect(
    (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m", ".mm", ".swift"),
    C_LIKE,
    test=_any(
        r"\b(?:TYPED_)?TEST(?:_F|_P|_CASE(?:_METHOD)?)?\s*\(\s*([^)\n]{1,200})\)",
        r"\bBOOST_\w{0,40}TEST_CASE\s*\(\s*(\w+)",
        r"\bSCENARIO\s*\(\s*\"([^\"\n]{1,200})",
        r"\bfunc\s+(test\w*)\s*\(",
        r"@Test\b[^{}]{0,200}?\bfunc\s+(\w+)",
        r"^[ \t]*(?:static\s+)?(?:void|int)\s+(test_?\w*)\s*\(",
    ),
    keeping=_any(
        r"\bDISABLED_",
        r"\b(?:GTEST_SKIP|XCTSkip\w*|TEST_IGNORE\w*|SUCCEED)\b",
        r"\b(?:exit|_exit|abort|quick_exit|SKIP)\s*\(",
        r"^[ \t]*#[ \t]*if(?:n?def)?\b",
        r"\[\s*!?(?:\.|hide|mayfail|shouldfail)",
        r"\.disabled\b",
        *_DEAD,
    ),
    asserting=_any(
        rf"\b(?:ASSERT|EXPECT|CHECK|REQUIRE|BOOST|TEST_ASSERT|TEST_FAIL|FAIL|XCT|ADD_FAILURE)\w*{_UNLESS_TRUE}\s*\(",
        rf"\bassert{_UNLESS_TRUE}\s*\(",
        r"#(?:expect|require)\b",
    ),
)
_PYTHON = Dialect(
    (".py", ".pyi"),
    HASH,
    test=_any(r"^[ \t]*(?:async\s+)?def\s+(test\w*)\s*\("),
    keeping=_any(
        r"\b(?:skip\w*|xfail|expectedFailure|importorskip|SkipTest|_?exit|__test__|pytestmark|collect_ignore\w*)\b",
        r"\breturn[ \t]*$",
    ),
    asserting=_any(r"\bassert\w*\b(?!\s*(?:True|1)\b)", r"\.raises\b", r"\.fail\b"),
)
"""For what this interpreter cannot parse."""

BY_ENDING = {
    ending: dialect
    for dialect in (_GO, _JAVASCRIPT, _RUST, _JAVA, _RUBY, _SHELL, _CSHARP, _PHP, _C, _PYTHON)
    for ending in dialect.endings
}
