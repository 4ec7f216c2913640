"""Files that no button may change: what decides what runs, with which powers, and who may say so (``security.md`` 6)."""

from __future__ import annotations

import unicodedata

_FOLDER_TABLE = "node_modules site-packages vendor"
"""And of those whose name begins with a dot, all."""
_NAME_TABLE = """
    conftest.py codeowners makefile justfile jenkinsfile .gitlab-ci.yml .travis.yml azure-pipelines.yml bitbucket-pipelines.yml
    appveyor.yml .drone.yml .pre-commit-config.yaml .pre-commit-hooks.yaml action.yml action.yaml
    agents.md claude.md gemini.md review.md copilot-instructions.md .cursorrules .windsurfrules
    pyproject.toml setup.py setup.cfg tox.ini pytest.ini noxfile.py pipfile .coveragerc .flake8 mypy.ini ruff.toml .ruff.toml
    .pylintrc sitecustomize.py usercustomize.py manifest.in environment.yml
    package.json .npmrc .yarnrc .yarnrc.yml tsconfig.json turbo.json deno.json
    go.mod go.sum go.work cargo.toml build.rs gemfile rakefile composer.json build.gradle build.gradle.kts pom.xml
    gnumakefile taskfile.yml taskfile.yaml cmakelists.txt meson.build workspace build gradlew mvnw gradle.properties
    gradle-wrapper.properties lefthook.yml tox.toml pytest.toml mise.toml dangerfile dangerfile.js dangerfile.ts procfile
    renovate.json vercel.json netlify.toml mcp.json skill.md rust-toolchain rust-toolchain.toml pyrightconfig.json
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lockb
"""
_FOLDERS, _NAMES = frozenset(_FOLDER_TABLE.split()), frozenset(_NAME_TABLE.split())
_START_TABLE = "dockerfile containerfile docker-compose compose.y requirement"
_STARTS = tuple(_START_TABLE.split())
_END_TABLE = """
    .lock .sh .bash .zsh .ps1 .bat .cmd .dockerfile .pth .mk .cmake .gradle .gradle.kts .versions.toml .csproj .props .targets
    .nix .bzl .bazel
"""
_ENDS = tuple(_END_TABLE.split())
_PARTS = (".config.", ".workspace.")
"""Of a file's name: ``vite.config.ts`` and its like are programs that tools run."""


def is_protected(path: str) -> bool:
    """No suggestion may be offered on this file as one that a button commits. Names are compared without case, as some file
    systems do; a name that is not what it looks like is protected."""
    if unicodedata.normalize("NFC", path) != path or any(not character.isprintable() for character in path):
        return True
    parts = path.casefold().split("/")
    name = parts[-1]
    if _FOLDERS.intersection(parts[:-1]) or any(part.startswith(".") for part in parts):
        return True
    return name in _NAMES or name.startswith(_STARTS) or name.endswith(_ENDS) or any(part in name for part in _PARTS)
