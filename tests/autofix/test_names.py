"""Names: what they look like, what they are taken for, and which are protected."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.autofix import names, protected
from reviewbot.publish.protected import is_protected

ORDINARY = """
    a.py src/app.py docs/Guide.md src/caf\u00e9.py src/\u0434\u043e\u043a.py \u6587\u4ef6.txt a/b/c/d.rs my-file_2.test.ts Some.Thing.cs
    app/[id]/page.tsx a+b.c file(1).txt \U0001f600.md constants.py nullable.go auxiliary.py console.ts
"""
ODD = (
    *(
        "e\u0301.py",
        "a\u200bb.py",
        "a\u202eb.py",
        "\ufeffa.py",
        "a\tb.py",
        "a\nb.py",
        "a\x7f.py",
        "a\u00adb.py",
        "a\u3164.py",
        "a\ufe0f.py",
    ),
    *(
        "\udcff.py",
        "\ue000.py",
        "a\u2028b",
        "a\u00a0b.py",
        "a\u115fb",
        "\U000e0041.py",
        "",
        "/a",
        "a//b",
        "a/",
        "./a",
        "../a",
        "a/../b",
    ),
    *("a\\b", "a:b", "a.py::$DATA", "a. /b", "a.", "a ", "a./b", "GIT~1", "a/progra~1", "github~1/x", "x~2.py", "con", "NUL.txt"),
    *("src/aux.py", "COM1", "lpt9.c", "com\u00b9", "n" * 256, "a/" * 600 + "b"),
)


@pytest.mark.parametrize("path", ORDINARY.split())
def test_an_ordinary_name_is_what_it_looks_like(path: str):
    assert list(names.faults(path)) == []


@pytest.mark.parametrize("path", ODD)
def test_an_odd_name_is_not(path: str):
    assert list(names.faults(path))


@given(st.text())
def test_any_name_can_be_looked_at(path: str):
    found = list(names.faults(path))
    assert all(found)
    folded = names.folded(path)
    assert names.folded(path.upper().lower()) == names.folded(path.lower()) or not path.isascii()
    assert all("/" not in part and "\\" not in part for part in folded)
    protected.protection(path)
    protected.is_sealed(path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("README.md", "readme.md"),
        ("src/x.py", "SRC/x.py"),
        ("src/x.py", "Src/y.py"),
        ("stra\u00dfe.py", "strasse.py"),
        ("\u212a.py", "k.py"),
        ("\ufb01le.py", "file.py"),
        ("\uff41.py", "a.py"),
        ("p\u0430ge.py", "page.py"),
        ("a\u200d.py", "a.py"),
        ("a.py ", "a.py"),
        ("e\u0301.py", "\u00e9.py"),
        ("src", "SRC/x.py"),
        ("A/b/c.py", "a/b"),
    ],
)
def test_one_name_is_taken_for_the_other(one: str, other: str):
    assert names.lookalike(one, (other,))
    assert names.lookalike(other, (one,))


@pytest.mark.parametrize(
    ("one", "other"), [("a.py", "a.py"), ("src/x.py", "src/y.py"), ("a/b", "b/a"), ("\u00e9.py", "e.py"), ("a", "a/b")]
)
def test_one_name_is_not_taken_for_the_other(one: str, other: str):
    assert names.lookalike(one, (other,)) is None


def test_a_module_that_python_would_find_first_is_known():
    assert names.shadowed("random.py", ()) == "random"
    assert names.shadowed("tests/json.py", ("tests/test_a.py",)) == "json"
    assert names.shadowed("logging/__init__.py", ()) == "logging"
    assert names.shadowed("pytest.py", ()) == "pytest"
    assert names.shadowed("a/pytest/__init__.py", ()) == "pytest"
    assert names.shadowed("pkg/types.py", ("pkg/__init__.py",)) is None
    assert names.shadowed("pkg/logging/__init__.py", ("pkg/__init__.py",)) is None
    assert names.shadowed("random.txt", ()) is None
    assert names.shadowed("app.py", ()) is None
    assert "random" in sys.stdlib_module_names


# --- protected ------------------------------------------------------------------------------------------------------

GUARDED = """
    .gitattributes .gitmodules src/.gitignore .github/workflows/ci.yml .github/dependabot.yml .GitHub/workflows/x.yml .gitlab-ci.yml
    .circleci/config.yml .travis.yml azure-pipelines.yml azure-pipelines-nightly.yml bitbucket-pipelines.yml Jenkinsfile Jenkinsfile.prod
    .drone.yml .woodpecker/a.yml appveyor.yml .appveyor.yml cloudbuild.yaml buildspec.yml action.yml .buildkite/pipeline.yml
    Dockerfile dockerfile Dockerfile.dev web.dockerfile Containerfile docker-compose.yml compose.yaml docker/Dockerfile .dockerignore
    package-lock.json yarn.lock pnpm-lock.yaml bun.lockb poetry.lock uv.lock Pipfile.lock Cargo.lock go.sum composer.lock Gemfile.lock
    flake.lock .terraform.lock.hcl pylock.toml packages.lock.json gradle.lockfile
    package.json pyproject.toml setup.py setup.cfg Pipfile requirements.txt requirements-dev.txt dev-requirements.txt requirements/a.txt
    constraints.txt go.mod go.work Cargo.toml Gemfile x.gemspec composer.json pom.xml build.gradle build.gradle.kts a.csproj
    Directory.Build.props environment.yml Package.swift mix.exs pubspec.yaml
    conftest.py tests/conftest.py CONFTEST.PY sitecustomize.py a.pth tox.ini pytest.ini mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc
    .eslintrc.json .prettierrc eslint.config.js jest.config.ts vite.config.mts vitest.workspace.ts tsconfig.json tsconfig.build.json
    babel.config.js webpack.prod.js .golangci.yml .rubocop.yml clippy.toml phpunit.xml .editorconfig .clang-tidy karma.conf.js noxfile.py
    docs/conf.py docs/source/conf.py .pre-commit-config.yaml .pre-commit-hooks.yaml .husky/pre-commit lefthook.yml .vscode/tasks.json
    .idea/x.xml .devcontainer/devcontainer.json CODEOWNERS docs/CODEOWNERS OWNERS .reviewbot.yml .reviewbot/dismissed.yml
    AGENTS.md src/AGENTS.md CLAUDE.md GEMINI.md .cursorrules .cursor/rules/a.mdc .windsurfrules .clinerules SKILL.md a.prompt.md
    copilot-instructions.md .mcp.json mcp.json llms.txt
    deploy.sh a.bash x.zsh run.ps1 a.bat a.cmd Makefile GNUmakefile a.mk CMakeLists.txt a.cmake justfile Taskfile.yml Rakefile build.rs
    tox.toml pytest.toml pylintrc.toml gradle/libs.versions.toml gradle/wrapper/gradle-wrapper.properties a.gradle.kts mise.toml
    Dangerfile dangerfile.ts gulpfile.mjs lefthook.yaml Taskfile.dist.yml compose.override.yml ci/gitlab-ci.yml opencode.json
    BUILD BUILD.bazel WORKSPACE MODULE.bazel x.bzl meson.build Vagrantfile .env .env.local .envrc .npmrc .yarnrc.yml
    node_modules/a/index.js vendor/a/b.go site-packages/a.py venv/bin/x.py
    \uff0egithub/workflows/x.yml \u0441onftest.py con\u200dftest.py package.json. tests/\uff23ONFTEST.py Makefile::$DATA
"""
FREE = """
    src/app.py src/requirements.py src/setup_tools.py app/conf.py docs/guide.md src/dockerfile_reader/x.py tests/test_conftest.py a.config
    src/build/main.go src/locks.py package.py src/agents.py README.md CHANGELOG.md src/git/x.py github/x.py main.tf src/shell.py a.yaml
    data/a.json src/ci.py src/env.py src/locking.ts src/Build.cs src/configuration.py src/compose.py
"""


@pytest.mark.parametrize("path", GUARDED.split())
def test_what_decides_what_runs_is_protected(path: str):
    assert protected.protection(path)


@pytest.mark.parametrize("path", FREE.split())
def test_what_is_ordinary_is_not(path: str):
    assert protected.protection(path) is None


@pytest.mark.parametrize("path", GUARDED.split())
def test_what_no_button_may_change_no_fix_may_either(path: str):
    assert not is_protected(path) or protected.protection(path)


@pytest.mark.parametrize(
    ("path", "sealed"),
    [
        (".git/config", True),
        ("a/.GIT/x", True),
        (".gitattributes", True),
        (".gitlab-ci.yml", True),
        (".github", True),
        (".github/workflows", True),
        (".github/workflows/ci.yml", True),
        (".GitHub/Workflows./ci.yml", True),
        (".github/actions/x/action.yml", True),
        (".github/ISSUE_TEMPLATE/bug.md", False),
        ("a/.github/workflows/x.yml", True),
        (".github/x/.gitignore", True),
        ("Dockerfile", False),
        (".reviewbot.yml", False),
    ],
)
def test_some_of_it_nobody_can_open(path: str, sealed: bool):
    assert protected.is_sealed(path) is sealed


@pytest.mark.parametrize(
    ("content", "is_script"),
    [
        (b"#!/bin/sh\n", True),
        (b"#!/usr/bin/env bash\nx", True),
        (b"#! /usr/local/bin/zsh -e\n", True),
        (b"#!/usr/bin/env -S bash -e\n", True),
        (b"#!/usr/bin/env python3\n", False),
        (b"# bash\n", False),
        (b"", False),
        (b"#!", False),
        (b"\n#!/bin/sh\n", False),
    ],
)
def test_a_shell_script_is_known_by_its_first_line(content: bytes, is_script: bool):
    assert protected.is_shell_script(content) is is_script
