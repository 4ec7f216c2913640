"""What the gate compares files with: names, marks and words, to be read and argued with."""

from __future__ import annotations

import re

from reviewbot.checks.languages import LANGUAGES


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


_CHECKS = [check for language in LANGUAGES for check in language.checks]

# Files that decide what runs, with which permissions, and who may say so. Names are compared as
# `gate.folded` writes them. Whatever begins with a dot is protected as well.
PROTECTED_NAMES = _words(
    """
    action.yaml action.yml agent.md agents.md agents.override.md alembic.ini angular.json
    appveyor.yml azure-pipelines.yaml azure-pipelines.yml bandit.yaml biome.json biome.jsonc
    bitbucket-pipelines.yml bitrise.yml book.toml bower.json brewfile bsdmakefile build
    build.gradle build.gradle.kts build.rs build.sbt build.sc build.xml build.zig buildout.cfg
    buildspec.yaml buildspec.yml bun.lockb bunfig.toml cabal.project cabal.project.freeze
    capfile cargo.toml cartfile cartfile.resolved cdk.json checkstyle.xml circle.yml
    claude.local.md claude.md clippy.toml cloudbuild.yaml cloudbuild.yml cmakelists.txt
    cmakepresets.json codecov.yml codefresh.yml codemagic.yaml codeowners composer.json
    conanfile.py conanfile.txt conda-lock.yml config.ru configure configure.ac conftest.py
    conventions.md copilot-instructions.md cpanfile.snapshot crush.md dangerfile dangerfile.js
    dangerfile.ts default.nix deno.json deno.jsonc deny.toml dependabot.yml deps.edn description
    detekt.yml devbox.json dodo.py drone.yml dune-project earthfile environment.yaml
    environment.yml fabfile.py fastfile firebase.json flake.nix fly.toml gemfile gemini.md
    gems.locked gems.rb gitlab-ci.yml glide.yaml global.json gnumakefile go.mod go.sum go.work
    go.work.sum gopkg.toml gradle-wrapper.properties gradle.lockfile gradle.properties gradlew
    guardfile hatch.toml hatch_build.py import_map.json ivy.xml jenkinsfile jsr.json jules.md
    justfile lefthook.yml lerna.json llms-full.txt llms.txt magefile.go maintainers makefile
    manifest.in manifest.toml mcp.json meson.build meson.options meson_options.txt mise.toml
    mix.exs mkdocs.yaml mkdocs.yml mvnw netlify.toml noxfile.py npm-shrinkwrap.json
    nuget.config nx.json opencode.json opencode.jsonc owners owners_aliases package-lock.json
    package.json package.resolved package.swift package.yaml packages.config packages.lock.json
    pdm.toml phpcs.xml phpstan.neon phpstan.neon.dist phpunit.xml phpunit.xml.dist pipfile
    pixi.toml pnpm-lock.yaml pnpm-workspace.yaml podfile poetry.toml pom.xml procfile
    project.assets.json project.clj project.json project.toml psalm.xml pubspec.yaml pylintrc
    pylintrc.toml pylock.toml pyproject.toml pyrefly.toml pytest.ini
    pytest.toml qwen.md rails_helper.rb rakefile readthedocs.yml rebar.config renovate.json
    renovate.json5 renv.lock review.md rush.json rust-toolchain rust-toolchain.toml
    rustfmt.toml sconscript sconstruct screwdriver.yaml serverless.yaml serverless.yml
    settings.gradle.kts setup.cfg setup.py setuptests.js setuptests.ts setuptests.tsx shell.nix
    sitecustomize.py skaffold.yaml skill.md sonar-project.properties spec_helper.rb stack.yaml
    taskfile.yaml taskfile.yml test_helper.rb tiltfile tox.ini tox.toml toxfile.py tsconfig.json
    tslint.json turbo.json ty.toml usercustomize.py uv.toml vagrantfile vcpkg.json vercel.json
    wallaby.js warp.md wercker.yml workspace workspace.json wrangler.jsonc wrangler.toml wscript
    yarn.lock zuul.yaml
    """
) | {wanted.partition(" ")[0] for check in _CHECKS for wanted in check.configured_by}

PROTECTED_FOLDERS = _words(
    """
    __pycache__ _vendor bower_components dist-packages node_modules site-packages third-party
    third_party vendor venv
    """
)

PROTECTED_STARTS = tuple(
    _words(
        """
    azure-pipelines codeowners. compose.override compose.y containerfile dangerfile docker-bake
    docker-compose dockerfile gruntfile. gulpfile. jenkinsfile. jest-setup jest.setup jest_setup
    jsconfig karma. lefthook makefile. reviewbot. taskfile. tsconfig vitest.setup
    vitest.workspace webpack.
    """
    )
)

PROTECTED_ENDS = tuple(
    _words(
        """
    .agent.md .bash .bat .bazel .bzl .cabal .chatmode.md .cmake .cmd .conf.cjs .conf.js
    .conf.mjs .conf.ts .containerfile .csh .csproj .dockerfile .egg-link .fish .fsproj .gemspec
    .gradle .gradle.kts .instructions.md .jenkinsfile .just .ksh .lock .lock.hcl .lock.json
    .lockb .mak .mdc .mk .nimble .nix .nuspec .opam .podspec .prompt.md .props .ps1 .psm1 .pth
    .pyc .rockspec .sh .sln .slnx .targets .vbproj .vcxproj .versions.toml .zsh
    """
    )
)

# `vite.config.ts` and its like are programs that tools run.
PROTECTED_PARTS = (".config.", ".workspace.")
REQUIREMENTS = re.compile(r".*(?:requirement|constraints).*\.(?:txt|in|pip)", re.DOTALL)
# Files with such an end anywhere below a folder of that name.
PROTECTED_IN = {
    **{"requirements": (".txt", ".in"), "constraints": (".txt", ".in")},
    **{"docs": ("conf.py",), "doc": ("conf.py",)},
}
SHELL_SCRIPT = re.compile(
    rb"#!.*?[/ ](?:sh|bash|zsh|dash|ksh|fish|csh|tcsh|ash|busybox|pwsh)(?:\s|$)"
)
# A module of these names in the tree could speak for what runs or supports the tests.
RUNNERS = _words("pytest _pytest pluggy iniconfig coverage hypothesis ruff packaging") | {
    check.command[2] for check in _CHECKS if check.command[1:2] == ("-m",)
}

# The letter that is meant, and those of other scripts that look like it (Unicode TR 39).
LETTERS = """
    aаɑα bƅЬь cсϲ dԁժ eеҽ gɡց hһհ iіıι jјϳ kкκ lӏ mм nոп oоοօ pрρ qԛ rг sѕ tтτ uυս vѵν wԝѡ xхχ
    yуүγʏ AАΑ BВΒ CСϹ EЕΕ HНΗ IІΙӀ JЈ KКΚ MМΜ NΝ OОΟ PРΡ SЅ TТΤ XХΧ YҮΥ ZΖ /∕⁄⧸ .․ -‐‑‒–—− ~∼
"""  # noqa: RUF001
LOOKALIKES = {ord(other): row[0] for row in LETTERS.split() for other in row[1:]}
# What file systems and readers leave out when they compare names: HFS+, and UAX #44.
IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# NTFS answers to GIT~1 for `.git`, and in the same way for every longer name.
SHORT_NAME = re.compile(r"[^.]{1,8}~\d+(?:\..{0,3})?", re.DOTALL)
DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL
)

CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?=[ \t\r\n]|\Z)", re.MULTILINE)
# It stands for what was not shown: in a file it would replace what is there.
PLACEHOLDER = re.compile(r"«secret:|⟨U\+|⟨\d+ more characters⟩")

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
    r"(?:eslint|tslint|oxlint|stylelint|jshint|jscs|deno-lint|markdownlint)-?\s*:?\s*"
    r"(?:disable|ignore)",
    r"@ts-(?:ignore|expect-error|nocheck)|@flow-?(?:ignore|fixme)",
    r"\$Flow(?:Ignore|FixMe|ExpectedError)|(?:biome|prettier|rome|webhint|svelte|vue)-ignore",
    r"(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)",
    # Go, Rust, C
    r"//\s*nolint\b|//\s*lint:(?:ignore|file-ignore)|//\s*exhaustive:ignore",
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
    r"\b(?:gitleaks|trufflehog|detect-secrets|pragma)\s*:\s*(?:allow|ignore|allowlist)",
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
# The same for other languages, anywhere in an added line.
SKIP_WORDS = re.compile(
    r"\b(?:it|test|describe|context|suite|specify|bench)(?:\.\w{1,40}){0,4}?\s*\.\s*"
    r"(?:skip|only|todo|fixme|failing|fails|fail|skipIf|runIf|if)\b"
    r"|(?:^|[^\w.])[xf](?:it|test|describe|context|specify|example|scenario|feature)\b"
    r"|\.\s*[Ss]kip(?:f|Now|If|IfNot|When|Unless)?\s*\(|\btesting\.Short\b|\bTestMain\b"
    r"|\bos\.Exit\b|\bruntime\.Goexit\b|\b(?:skip|only|todo|focus|pending)\s*:\s*(?:true\b|[\"'`])"
    r"|\[\s*[\"'](?:skip|only|todo)[\"']\s*\]|\b(?:process|System)\s*(?:\.|::)\s*(?:exit|abort)\b"
    r"|\b(?:pending|omit\w*|at_exit|exitProcess|isSkipping|startSkipping)\b"
    r"|#!?\s*\[\s*ignore\b|#!?\s*\[\s*cfg(?:_attr)?\s*\((?!\s*test\s*\))"
    r"|#\s*\[\s*(?:should_panic|bench|no_test)\b|@(?:\w+\.)*(?:Disabled|Ignore|EnabledIf|EnabledOn"
    r"|DisabledIf|PendingFeature|Requires)\w*|\bassum(?:e|ing)\w*\s*[({]|\bAssum(?:e|ptions)\b"
    r"|\benabled\s*=\s*false|\bSkipException\b|\bSkip\s*=|\[\s*(?:Ignore|Explicit|Inconclusive)\b"
    r"|\bEnvironment\s*\.\s*(?:Exit|FailFast)\b|\bmarkTest(?:Skipped|Incomplete)\b|\bDISABLED_"
    r"|->\s*(?:skip|todo|only)\s*\(|\b(?:GTEST_SKIP|XCTSkip\w*|TEST_IGNORE\w*)\b"
    r"|\b(?:exit|_exit|abort|quick_exit|die)\s*\(|^[ \t]*#[ \t]*if|:(?:focus|skip|pending)\b"
    r"|^\s*(?:skip|exit|trap|return|next)\b[\s;\d]*$|\|\|\s*(?:true\b|:)|\bset\s+\+e\b"
    r"|\b(?:if|while)\s*\(?\s*(?:false|0)\b|\b(?:return|skip)[ \t]*(?:;|$)|^__END__$",
    re.MULTILINE,
)
# What can make a test fail, in languages other than Python. A constant asserts nothing.
ASSERTION = re.compile(
    r"\b(?:expect|assert|verify|refute|require|should|EXPECT|ASSERT|CHECK|REQUIRE|XCT|is_expected)"
    r"\w*!?(?!\s*\(\s*(?:true|True|TRUE|1)\s*[,)])(?:\.\w+)?\s*[({]"
    r"|\.should\b|\bAssert\.\w+\s*[(<]|\.\s*(?:Errorf?|Fatalf?|Fail|FailNow)\s*\("
)
# Where the tests of a Rust file begin.
RUST_TESTS = re.compile(
    r"(?:^[ \t]*#\[[^\n]{0,400}\n){0,8}^[ \t]*#\[\s*"
    r"(?:cfg\s*\([^\]\n]{0,200}\btest\b|(?:\w+\s*::\s*)*(?:test|rstest)\b)",
    re.MULTILINE,
)
