"""Marks that silence a tool. A fix mends; it does not silence, and it does not widen what is silent already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.autofix.content import Texts, quoted

_MARKS = (
    # Python
    r"#\s*(?:ruff\s*:\s*|flake8\s*[:=]\s*)?noqa\b",
    r"#\s*(?:type|pyright|ty|basedpyright|mypy|pyre|pytype|pyrefly)\s*:\s*(?:ignore|basic|disable|disallow|allow|ignore-errors|skip-file)",
    r"#\s*pyre-(?:ignore|fixme|unsafe)|@(?:typing\s*\.\s*)?no_type_check\b",
    r"#\s*(?:pylint|isort|yapf|autopep8|fmt|black)\s*:\s*(?:disable|skip|skip_file|off|ignore)|#\s*pragma\s*:\s*no\b",
    r"#\s*nosec\b|#\s*nosemgrep\b|#\s*bandit\s*:\s*skip|#\s*skipcq\b|#\s*dlint\b|#\s*ruff\s*:\s*(?:disable|ignore|isort\s*:\s*skip)",
    # JavaScript, TypeScript, CSS
    r"(?:eslint|tslint|oxlint|stylelint|jshint|jscs|deno-lint|markdownlint)-?\s*:?\s*(?:disable|ignore)",
    r"@ts-(?:ignore|expect-error|nocheck)|@flow-?(?:ignore|fixme)|\$Flow(?:Ignore|FixMe|ExpectedError)",
    r"(?:biome|prettier|rome|webhint|svelte|vue)-ignore|(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)",
    # Go, Rust, C
    r"//\s*nolint\b|//\s*lint:(?:ignore|file-ignore)|#nosec\b|//\s*exhaustive:ignore|\bNOLINT(?:NEXTLINE|BEGIN)?\b",
    r"#!?\s*\[\s*(?:allow|expect|rustfmt\s*::\s*skip|coverage)\b|#!?\s*\[\s*cfg_attr\s*\([^\]\n]{0,200}\b(?:allow|expect|ignore)\b",
    r"//\s*(?:cppcheck-suppress|coverity\[|IWYU pragma|clang-format off|LCOV_EXCL)",
    r"#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored",
    # JVM, .NET
    r"@(?:file\s*:\s*)?Suppress(?:Warnings|Lint|FBWarnings)?\b|\bNOSONAR\b|CHECKSTYLE[:.]\s*(?:OFF|SUPPRESS)|\bNOPMD\b",
    r"\bnoinspection\b|@formatter:off|ktlint-disable|#\s*pragma\s+warning\s*(?:\(\s*)?disable|\bSuppressMessage\b|ReSharper\s+disable",
    # Ruby, PHP, Swift, shell, and the rest
    r"#\s*(?:rubocop|standard|reek|brakeman|sorbet)\s*:\s*(?:disable|todo|ignore)|:nocov:|#\s*steep:ignore|#\s*typed:\s*(?:false|ignore)",
    r"phpcs:(?:ignore|disable)|@?phpstan-ignore|@?psalm-suppress|@codeCoverageIgnore|@phan-suppress|@codingStandardsIgnore",
    r"(?:swiftlint|swiftformat|detekt|scalafix|scalastyle|credo|dialyzer|luacheck|selene)\s*:\s*(?:disable|off|ignore)",
    r"#\s*(?:shellcheck|hadolint|yamllint|ansible-lint|zizmor|actionlint)\b[^\n]{0,20}?(?:disable|ignore)|\bnoqa\s*:\s*[A-Z]|--\s*noqa\b",
    r"\b(?:gitleaks|trufflehog|detect-secrets|pragma)\s*:\s*(?:allow|ignore|allowlist)|(?:codeql|lgtm)\s*\[|\bDevSkim\s*:\s*ignore",
    r"\b(?:tfsec|trivy|checkov|kics|semgrep|sonar|snyk|codespell|cspell|spell-checker|reviewbot)\s*:\s*(?:ignore|skip|disable)",
)
"""How comments and attributes tell a tool to look away, language by language."""
_SILENCING = re.compile("(?:" + "|".join(_MARKS) + r")[^\n]{0,200}", re.IGNORECASE)
"""With the rest of the line: what names one rule more silences more."""

_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc")
_SILENCING_PROSE = re.compile(
    r"<!--\s*(?:markdownlint|remark|lint|textlint|vale|alex|cspell|prettier)\b[^\n]{0,200}|^\.\.\s+(?:nocheck|vale)[^\n]{0,200}",
    re.IGNORECASE | re.MULTILINE,
)
"""What silences the linters of prose. Other marks are only talked about there."""


def faults(texts: Texts) -> Iterator[str]:
    """Marks that stand in the file after a patch and did not before."""
    for mark in sorted(texts.more(_SILENCING_PROSE if texts.path.endswith(_PROSE) else _SILENCING)):
        yield f"it silences a tool instead of mending what it says: {quoted(mark)!r}"
