"""What a file is by its name: a lock file, vendored, documentation, a test. Tables, to be read and argued with."""

from __future__ import annotations

from reviewbot.changeset.globs import Globs
from reviewbot.domain.change import is_test_path


def _globs(patterns: str) -> Globs:
    return Globs(tuple(patterns.split()))


_LOCK_FILES = _globs("""
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    poetry.lock uv.lock Pipfile.lock pdm.lock pixi.lock conda-lock.yml pylock.toml pylock.*.toml
    Cargo.lock go.sum go.work.sum composer.lock Gemfile.lock gems.locked mix.lock rebar.lock pubspec.lock
    Podfile.lock Package.resolved Cartfile.resolved packages.lock.json paket.lock project.assets.json
    gradle.lockfile buildscript-gradle.lockfile flake.lock .terraform.lock.hcl Chart.lock MODULE.bazel.lock
    cabal.project.freeze stack.yaml.lock conan.lock buf.lock Manifest.toml renv.lock cpanfile.snapshot
    """)
_VENDORED = _globs("""
    vendor/ _vendor/ third_party/ third-party/ node_modules/ bower_components/ jspm_packages/ Pods/
    Carthage/Build/ site-packages/ .venv/ .yarn/releases/ .yarn/plugins/ .yarn/cache/
    """)
_MINIFIED = _globs("*.min.js *.min.mjs *.min.css *-min.js *.js.map *.mjs.map *.css.map *.bundle.js")
_GENERATED = _globs("""
    *_pb2.py *_pb2.pyi *_pb2_grpc.py *.pb.go *.pb.gw.go *.pb.cc *.pb.h *_pb.js *_pb.d.ts *_grpc_pb.js
    *.g.dart *.freezed.dart *.designer.cs *.Designer.cs *.generated.cs __snapshots__/ *.snap
    """)
_DOCUMENTATION = _globs("""
    *.md *.mdx *.rst *.adoc *.asciidoc *.txt *.org *.tex LICENSE* LICENCE* COPYING* NOTICE* AUTHORS* CONTRIBUTORS*
    CHANGELOG* CHANGES* HISTORY* README* !requirements*.txt !constraints*.txt !CMakeLists.txt !robots.txt
    """)
_SENSITIVE = _globs("""
    *auth* *login* *session* *token* *password* *secret* *crypt* *permission* *acl* *sanitiz* *sanitis* *payment*
    *billing* *admin* *security* *oauth* *jwt* *csrf* *cors* .github/workflows/ .gitlab-ci.yml Jenkinsfile
    Dockerfile* *.tf conftest.py setup.py package.json Makefile
    """)
_SOURCE = _globs("""
    *.py *.pyi *.pyx *.ipynb *.js *.jsx *.mjs *.cjs *.ts *.tsx *.mts *.cts *.vue *.svelte *.go *.rs *.java *.kt *.kts
    *.scala *.groovy *.c *.h *.cc *.cpp *.cxx *.hh *.hpp *.m *.mm *.cs *.fs *.vb *.swift *.dart *.rb *.php *.pl *.pm *.lua
    *.r *.jl *.ex *.exs *.erl *.hs *.ml *.clj *.sh *.bash *.zsh *.fish *.ps1 *.bat *.sql *.proto *.graphql *.sol *.zig
    *.nim *.html *.htm *.css *.scss *.sass *.less *.xml *.xsl *.jinja *.j2 *.tf *.hcl
""")
_CONFIGURATION_TIER, _TEST_TIER, _DOCUMENTATION_TIER = 2, 3, 4


def is_documentation(path: str) -> bool:
    """Prose: nothing in it is run."""
    return _DOCUMENTATION.match(path)


def is_lock_file(path: str) -> bool:
    """Written by a package manager."""
    return _LOCK_FILES.match(path)


def is_source(path: str) -> bool:
    """Has a name that programs have."""
    return _SOURCE.match(path)


def tier(path: str) -> int:
    """Where a file stands in the order of risk: 0 sensitive, 1 source, 2 configuration and data, 3 tests, 4 prose."""
    if is_documentation(path):
        return _DOCUMENTATION_TIER
    if is_test_path(path) and path.rsplit("/", 1)[-1] != "conftest.py":
        return _TEST_TIER
    if _SENSITIVE.match(path.lower()) or _SENSITIVE.match(path):
        return 0
    return 1 if is_source(path) else _CONFIGURATION_TIER


def out_of_scope(path: str) -> str | None:
    """Why a file with this name is not worth a reviewer, ``None`` where it is."""
    reasons = (
        (_LOCK_FILES, "lock file"),
        (_VENDORED, "vendored"),
        (_MINIFIED, "minified"),
        (_GENERATED, "generated"),
    )
    return next((reason for globs, reason in reasons if globs.match(path)), None)
