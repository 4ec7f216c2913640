"""What a file is by its path."""

import re
from typing import Literal

FileClass = Literal["source", "test", "fixture", "documentation", "data", "generated", "vendored"]

# Language: what starts a comment, and extensions or (without a dot) whole names in lower case.
LANGUAGES = {
    "python": ("#", ".py .pyi .pyw .pyx .pxd"),
    "javascript": ("// /*", ".js .jsx .mjs .cjs"),
    "typescript": ("// /*", ".ts .tsx .mts .cts"),
    "vue": ("// /* <!--", ".vue"),
    "svelte": ("// /* <!--", ".svelte"),
    "go": ("// /*", ".go"),
    "rust": ("// /*", ".rs"),
    "java": ("// /*", ".java"),
    "kotlin": ("// /*", ".kt .kts"),
    "scala": ("// /*", ".scala .sc"),
    "groovy": ("// /*", ".groovy .gradle jenkinsfile"),
    "c": ("// /*", ".c .h"),
    "cpp": ("// /*", ".cc .cpp .cxx .hh .hpp .hxx"),
    "objective-c": ("// /*", ".m .mm"),
    "csharp": ("// /*", ".cs"),
    "swift": ("// /*", ".swift"),
    "dart": ("// /*", ".dart"),
    "ruby": ("#", ".rb .rake .gemspec gemfile rakefile podfile fastfile vagrantfile"),
    "php": ("// # /*", ".php .phtml"),
    "perl": ("#", ".pl .pm .t"),
    "lua": ("--", ".lua"),
    "r": ("#", ".r"),
    "elixir": ("#", ".ex .exs"),
    "shell": ("#", ".sh .bash .zsh .ksh .bats .envrc .bashrc .bash_profile .profile .zshrc"),
    "powershell": ("#", ".ps1 .psm1 .psd1"),
    "sql": ("-- /*", ".sql"),
    "terraform": ("# // /*", ".tf .hcl"),
    "dockerfile": ("#", ".dockerfile dockerfile containerfile"),
    "makefile": ("#", ".mk makefile gnumakefile justfile"),
    "cmake": ("#", ".cmake cmakelists.txt"),
    "html": ("<!--", ".html .htm"),
    "css": ("/*", ".css"),
    "scss": ("// /*", ".scss .sass .less"),
    "markdown": ("<!--", ".md .mdx .markdown"),
    "yaml": ("#", ".yml .yaml"),
    "toml": ("#", ".toml"),
    "ini": ("# ;", ".ini .cfg .conf .properties"),
    "json": ("", ".json .jsonc .json5"),
    "xml": ("<!--", ".xml .xsd .svg"),
}
LANGUAGE_OF = {name: key for key, (_, names) in LANGUAGES.items() for name in names.split()}


def _globs(globs: str) -> re.Pattern[str]:
    """As in a .gitignore, in lower case: names, and folders with a slash at the end."""
    patterns = (re.escape(glob).replace(r"\*", "[^/]*") for glob in globs.split())
    ends = (pattern if pattern.endswith("/") else rf"{pattern}\Z" for pattern in patterns)
    return re.compile(f"(?:^|/)(?:{'|'.join(ends)})")


# The first that matches counts. Lock files of the form of JSON, YAML and TOML are data as well.
CLASSES: dict[FileClass, re.Pattern[str]] = {
    "vendored": _globs("""
        vendor/ _vendor/ third_party/ third-party/ node_modules/ bower_components/ jspm_packages/
        pods/ site-packages/ .venv/ .yarn/
    """),
    "data": _globs("""
        *.lock *.lockb *.lockfile *.locked *.lock.hcl *.resolved *.sum cabal.project.freeze
        cpanfile.snapshot
    """),
    "generated": _globs("""
        *_pb2.py *_pb2.pyi *_pb2_grpc.py *.pb.go *.pb.gw.go *.pb.cc *.pb.h *_pb.js *_pb.d.ts
        *_grpc_pb.js *.g.dart *.freezed.dart *.designer.cs *.generated.* *.min.js *.min.mjs
        *.min.css *-min.js *.js.map *.mjs.map *.css.map *.bundle.js
    """),
    # Names with a tag are those of templates (cookiecutter, copier).
    "fixture": _globs("""
        testdata/ test-data/ test_data/ __snapshots__/ __fixtures__/ *{{*/ *{{* *{%*/ *{%*
        *.snap *.golden *.approved.txt *.received.txt
    """),
}
# Fixtures only below a folder of tests: elsewhere they are part of the program.
FIXTURE_OF_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e)/(?:.*/)?"
    r"(?:data|fixtures?|snapshots|goldens?|cassettes|resources|samples)/",
    re.DOTALL,
)
# These say what runs, on a build server or in containers, so somebody has to look at them.
YAML_CODE = _globs("""
    .github/workflows/*.yml .github/workflows/*.yaml action.yml action.yaml .gitlab-ci.yml
    .circleci/config.yml azure-pipelines.yml azure-pipelines.yaml
    compose.yml compose.yaml compose.*.yml compose.*.yaml docker-compose*.yml docker-compose*.yaml
""")
WITHOUT_LANGUAGE: dict[FileClass, re.Pattern[str]] = {
    "data": _globs("""
        .* requirements*.txt requirements*.in constraints*.txt manifest.in pipfile robots.txt
        codeowners py.typed version go.mod *.jsonl *.ndjson *.csv *.tsv *.po *.pot *.xlf *.arb
        *.strings *.srt *.plist *.log *.diff *.patch *.pem *.crt *.sarif
    """),
    "documentation": _globs("""
        *.rst *.adoc *.asciidoc *.txt *.org *.tex *.bib license* licence* copying* notice* authors*
        contributors* changelog changes history readme .changelog/ newsfragments/
    """),
}
LICENSE = re.compile(r"(?:^|/)licenses/(?:[^.]|\.\d)*\Z")  # with an extension, it may be code
TEST = _globs("""
    test/ tests/ spec/ specs/ __tests__/ e2e/
    test.* tests.* test_* conftest.py *_test.* *.test.* *.spec.* *_spec.* *.cy.*
""")
# `FooTest.java` is a test, `latest.java` is not: case counts.
TEST_CLASS = re.compile(r"[a-z0-9](?:Test|Tests|Spec|IT)\.(?:java|kt|scala|groovy|cs|swift|php)\Z")


def classify(path: str) -> FileClass:
    """A path that no table knows is `source`, so that nobody takes it for reviewed.

    Fixtures may hold faults on purpose. Git tells which files are binary, not their names.
    """
    name = path.lower()
    language = language_of(path)
    for kind, pattern in (*CLASSES.items(), ("fixture", FIXTURE_OF_TESTS), ("source", YAML_CODE)):
        if pattern.search(name):
            return kind
    if language in ("json", "yaml", "toml", "ini", "xml"):
        return "data"
    if language == "markdown":
        return "documentation"
    for kind, pattern in (*WITHOUT_LANGUAGE.items(), ("documentation", LICENSE)):
        if language is None and pattern.search(name):
            return kind
    return "test" if TEST.search(name) or TEST_CLASS.search(path) else "source"


def language_of(path: str) -> str | None:
    """The language of a file, for example "python" or "shell", by its name or extension."""
    name = path.rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    return LANGUAGE_OF.get(name) or LANGUAGE_OF.get(dot + extension) or LANGUAGE_OF.get(stem)
