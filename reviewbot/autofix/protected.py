"""Files that no fix changes: what decides what runs, with which powers, and who may say so (``security.md`` 6).

Tables, to be read and argued with. Names are compared as :func:`~reviewbot.autofix.names.folded` writes them.
"""

from __future__ import annotations

import re

from reviewbot.autofix.names import folded

_FOLDER_TABLE = """
    node_modules bower_components site-packages dist-packages venv __pycache__ vendor _vendor third_party third-party
"""
"""Below these lies what others wrote, and what is run without being looked at. Of folders whose name begins with a dot, all."""

_BY_PURPOSE = {
    "CI": """
        azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml appveyor.yml jenkinsfile codefresh.yml wercker.yml
        cloudbuild.yaml cloudbuild.yml buildspec.yml buildspec.yaml circle.yml screwdriver.yaml zuul.yaml action.yml action.yaml
        dependabot.yml renovate.json renovate.json5 codecov.yml sonar-project.properties vercel.json netlify.toml
        firebase.json wrangler.toml wrangler.jsonc serverless.yml serverless.yaml skaffold.yaml tiltfile procfile
        fly.toml cdk.json bitrise.yml codemagic.yaml gitlab-ci.yml drone.yml
    """,
    "review": "codeowners owners owners_aliases maintainers",
    "build": """
        makefile gnumakefile bsdmakefile justfile taskfile.yml taskfile.yaml earthfile vagrantfile build workspace
        cmakelists.txt cmakepresets.json meson.build meson_options.txt meson.options configure configure.ac conanfile.py
        conanfile.txt vcpkg.json sconstruct sconscript wscript fabfile.py dodo.py noxfile.py toxfile.py magefile.go build.rs
        rakefile guardfile capfile config.ru build.gradle.kts settings.gradle.kts
        gradle.properties gradlew mvnw build.xml build.sbt build.sc build.zig flake.nix shell.nix default.nix dune-project
        fastfile brewfile mise.toml devbox.json book.toml gradle-wrapper.properties
    """,
    "packages": """
        pyproject.toml setup.py setup.cfg pipfile manifest.in environment.yml environment.yaml pixi.toml uv.toml poetry.toml
        pdm.toml hatch.toml hatch_build.py buildout.cfg package.json deno.json deno.jsonc jsr.json bower.json bunfig.toml
        import_map.json go.mod go.work gopkg.toml glide.yaml cargo.toml rust-toolchain rust-toolchain.toml gemfile gems.rb
        composer.json pom.xml ivy.xml nuget.config packages.config global.json pubspec.yaml mix.exs rebar.config project.clj
        deps.edn stack.yaml package.yaml cabal.project package.swift podfile cartfile project.toml description renv.lock
    """,
    "locked packages": """
        package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml bun.lockb go.sum go.work.sum gems.locked
        pylock.toml conda-lock.yml package.resolved cartfile.resolved packages.lock.json project.assets.json gradle.lockfile
        manifest.toml cpanfile.snapshot cabal.project.freeze
    """,
    "tools and tests": """
        conftest.py sitecustomize.py usercustomize.py pytest.ini pytest.toml tox.ini tox.toml mypy.ini ruff.toml ty.toml
        pyrefly.toml pylintrc pylintrc.toml pyrightconfig.json mkdocs.yaml
        alembic.ini bandit.yaml readthedocs.yml mkdocs.yml turbo.json nx.json lerna.json rush.json angular.json project.json
        workspace.json biome.json biome.jsonc tslint.json wallaby.js setuptests.js setuptests.ts setuptests.tsx
        rustfmt.toml clippy.toml deny.toml spec_helper.rb rails_helper.rb test_helper.rb phpunit.xml phpunit.xml.dist
        phpstan.neon phpstan.neon.dist psalm.xml phpcs.xml checkstyle.xml detekt.yml
    """,
    "agents": """
        agents.md agent.md claude.md claude.local.md gemini.md review.md skill.md conventions.md warp.md crush.md jules.md
        copilot-instructions.md mcp.json opencode.json opencode.jsonc agents.override.md qwen.md llms.txt llms-full.txt
    """,
}
_START_TABLE = (
    "dockerfile containerfile docker-compose docker-bake compose.y jenkinsfile. azure-pipelines tsconfig jsconfig makefile."
    " compose.override lefthook taskfile. dangerfile gulpfile. gruntfile."
    " webpack. karma. jest.setup jest-setup jest_setup vitest.setup vitest.workspace codeowners. reviewbot."
)
_END_TABLE = """
    .lock .lockb .lock.json .lock.hcl .sh .bash .zsh .fish .ksh .csh .ps1 .psm1 .bat .cmd .dockerfile .containerfile .pth .mk
    .mak .cmake .gradle .bzl .bazel .gemspec .cabal .csproj .fsproj .vbproj .vcxproj .sln .slnx .props .targets .nuspec .podspec
    .just .gradle.kts .versions.toml .jenkinsfile .nimble .opam .rockspec .nix .pyc .egg-link
    .conf.js .conf.ts .conf.cjs .conf.mjs .prompt.md .instructions.md .mdc .chatmode.md .agent.md
"""
_PARTS = (".config.", ".workspace.")
"""Of a file's name: ``vite.config.ts`` and its like are programs that tools run."""

_REQUIREMENTS = re.compile(r".*(?:requirements|constraints).*\.(?:txt|in|pip)", re.DOTALL)
_FOLDERS = frozenset(_FOLDER_TABLE.split())
_NAMES = {name: purpose for purpose, names in _BY_PURPOSE.items() for name in names.split()}
_STARTS, _ENDS = tuple(_START_TABLE.split()), tuple(_END_TABLE.split())
_IN_FOLDERS = (("requirements", (".txt", ".in")), ("constraints", (".txt", ".in")), ("docs", ("conf.py",)), ("doc", ("conf.py",)))
"""Files with such an end anywhere below a folder of that name."""

_GIT, _OPEN_BELOW, _SEALED_BELOW = ".git", ".github", ("workflows", "actions")
_SHELLS = (b"sh", b"bash", b"zsh", b"dash", b"ksh", b"fish", b"csh", b"tcsh", b"ash", b"busybox", b"pwsh")


def protection(path: str) -> str | None:
    """Why a file of this name is protected, ``None`` where it is not."""
    parts = folded(path)
    name = parts[-1]
    if dotted := next((part for part in parts if part.startswith(".")), None):
        return f"{dotted!r} is read by a tool, as most names that begin with a dot"
    if folder := next((part for part in parts[:-1] if part in _FOLDERS), None):
        return f"what lies below {folder!r} is not the project's own"
    if purpose := _NAMES.get(name):
        return f"it belongs to what decides what runs ({purpose})"
    if name.startswith(_STARTS) or name.endswith(_ENDS) or any(part in name for part in _PARTS) or _REQUIREMENTS.fullmatch(name):
        return "it belongs to what decides what runs, by its name"
    if any(folder in parts[:-1] and name.endswith(ends) for folder, ends in _IN_FOLDERS):
        return "it belongs to what decides what runs, by its folder"
    return None


def is_sealed(path: str) -> bool:
    """Nobody may open this file to fixes: git's own names, and what GitHub runs with a token."""
    parts = folded(path)
    for at, part in enumerate(parts):
        below = parts[at + 1 : at + 2]
        if part == _OPEN_BELOW and below and below[0] not in _SEALED_BELOW:
            continue
        if part.startswith(_GIT):
            return True
    return False


def is_shell_script(content: bytes) -> bool:
    """Its first line gives it to a shell."""
    line = content[:200].split(b"\n", 1)[0]
    words = line[2:].replace(b"/", b" ").split() if line.startswith(b"#!") else []
    return any(word in _SHELLS for word in words)
