"""What a project says about itself: which tools it configures, which packages it declares."""

import posixpath
import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase, translate
from functools import cache
from itertools import chain, product, takewhile
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check, folders_above, is_below
from reviewbot.git.change import Change, ChangedFile, Side
from reviewbot.git.repository import Repository
from reviewbot.sandbox.environment import APPLICATION_FILES
from reviewbot.text.files import classify, language_of

# Files in which tools look, at the top or in any folder, beside those of `Check.configured_by`, and
# those that such a configuration mostly extends.
CONFIGS = ("pyproject.toml", "setup.cfg", "tox.ini", "*ruff*.toml", "tsconfig*.json", ".eslintrc*")
# Files that pin versions of linters, or say which packages are links.
PINS = (".pre-commit-config.yaml", "*requirements*.txt", "uv.lock", "poetry.lock", "pnpm-lock.yaml")
# Files that declare dependencies.
MANIFESTS = (
    *("pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "environment.yml", "tox.ini"),
    *("requirements*.txt", "requirements/*.txt", "*requirements.txt", "package.json", "Cargo.toml"),
)
# The top of a workspace of uv that is no package itself is no project.
NO_TOP = r"(?ms)\A(?!(?=.*^\[tool\.uv\.workspace\]).*^package\s*=\s*false).*?"
# Files that say how a project is installed, if they have such a line.
PACKAGING = {
    "setup.py": re.compile(""),
    "setup.cfg": re.compile(r"^\[metadata\]", re.MULTILINE),
    "pyproject.toml": re.compile(rf"{NO_TOP}^\[(project|build-system|tool\.(poetry|flit))\b"),
}
# Files that say how its tests are run, with such a line.
TESTING = {
    **{"pytest.ini": re.compile(""), "tox.ini": re.compile(r"^\[pytest\]", re.MULTILINE)},
    "setup.cfg": re.compile(r"^\[tool:pytest\]", re.MULTILINE),
    "pyproject.toml": re.compile(rf"{NO_TOP}^\[tool\.pytest\b"),
}
# Files that make a folder a project, by the kind of the project, with a line that they have.
PROJECTS: Mapping[str, Sequence[Mapping[str, re.Pattern[str]]]] = {
    "python": (PACKAGING, TESTING),
    # The top of a workspace is none.
    "node": ({"package.json": re.compile(r'\A(?!.*"workspaces")', re.DOTALL)},),
    "rust": ({"Cargo.toml": re.compile("")},),
}
# How a manifest names its project, and others in the repository: as members of a workspace (of npm
# or uv), or by their paths.
NAME = re.compile(r"""(?:^[ \t]*|[{,]\s*)"?name"?\s*[:=]\s*["']([^"']+)""", re.MULTILINE)
USES = re.compile(
    r"""(?m)"(@?[\w./-]+)"\s*:\s*"(?:workspace:|[*^~<>=v\d])"""
    r"""|^"?([\w.-]+)"?\s*=\s*\{\s*workspace\s*=\s*true|(?<![\w.])((?:\.\./)+[\w./@-]+)"""
)
# What says with which versions of a language a project works, how it is imported and tested.
VERSIONS = {
    "pyproject.toml": re.compile(r"^requires-python\s*=.*", re.MULTILINE),
    "setup.cfg": re.compile(r"^python_requires\s*=.*", re.MULTILINE),
    "setup.py": re.compile(r"python_requires\s*=\s*(['\"]).*?\1"),
    "go.mod": re.compile(r"^(?:module \S+|go \d.*)", re.MULTILINE),
    "package.json": re.compile(r'"(?:node|test)"\s*:\s*"(?:[^"\\]|\\.)*"|"type"\s*:\s*"module"'),
    "Cargo.toml": re.compile(r"(?m)^(name|edition|rust-version)\s*=.*|^\[features](?:\n(?!\[).*)*"),
}
MAX_VERSIONS, MAX_VERSION = 5, 200  # lines; characters of one
# Folders and files of a project that nobody imports.
NOT_IMPORTED = {"benchmarks", "conftest", "doc", "docs", "examples", "fuzz", "noxfile", "scripts"}
NOT_IMPORTED |= {"setup", "tools"}
# What a type checker reads and what not, as its configuration says: a list, or words and more
# lines. Of regular expressions, the paths in them count.
SCOPE, EXCLUDE = (
    re.compile(rf"""(?m)^[ \t]*["']?(?:{keys})["']?\s*[=:]\s*(\[[^]]*\]|.+(?:\n[ \t]+.+)*)""")
    for keys in ("files|packages|include", "exclude")
)
CHECKS_JS = re.compile(r'(?m)^(?!\s*/).*"checkJs"\s*:\s*true|^\s*//+\s*@ts-check\b')
TESTS = re.compile(r"test(?!ing)|(?<!\.)testing")  # not a module such as `shop.testing`
PATH = re.compile(r"[\w*.][\w*./-]*")
WORD = re.compile(r"(?:@[\w.-]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*")
DEFINITION = re.compile(r"^[ \t]*(?:async def|def|class)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
MAX_PATTERN = 100_000  # Linux takes no argument of more than 128 KiB
SHOWS_USE = "import"  # among documented names: documentation says how to import the package
# Modules whose package has another name.
PACKAGES = {
    **{"attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv_python", "dateutil": "dateutil"},
    **{"dotenv": "python_dotenv", "git": "gitpython", "github": "pygithub", "jwt": "pyjwt"},
    **{"OpenSSL": "pyopenssl", "PIL": "pillow", "sklearn": "scikit_learn", "yaml": "pyyaml"},
}


class Project(Struct, frozen=True, kw_only=True):
    """The files of both sides, and what some of them say.

    Attributes:
        base_texts, head_texts: texts of changed files on each side, by their paths there, and of
            those above. Binary files and those that git does not show are left out.
        installed: texts at base of changed Python files that are installed with the project there,
            so that others import them, by the paths at head where that finds them; else by theirs.
        documented: these modules, with dots, and names that they define, as far as documentation or
            the `__init__.py` of a package mentions them at base; and SHOWS_USE.
    """

    checks: tuple[Check, ...] = ()  # that may apply, in each folder in which they run
    base_files: frozenset[str] = frozenset()
    head_files: frozenset[str] = frozenset()
    configs: Mapping[str, str] = {}  # that tools use, by path: of the base, or of a whole tree
    manifests: Mapping[str, str] = {}  # MANIFESTS at head, by path
    base_texts: Mapping[str, str] = {}
    head_texts: Mapping[str, str] = {}
    installed: Mapping[str, str] = {}
    documented: frozenset[str] = frozenset()

    def texts(self, side: Side) -> Mapping[str, str]:
        return self.base_texts if side == "base" else self.head_texts

    @property
    def files(self) -> frozenset[str]:
        return self.base_files | self.head_files

    def versions_for(self, paths: Collection[str]) -> tuple[str, ...]:
        """Lines of VERSIONS at base above these files, each behind its path, top ones first."""
        rows = []
        for path in sorted(self.base_texts, key=lambda path: (path.count("/"), path)):
            folder, name = path[: path.rfind("/") + 1], path.rpartition("/")[2]
            line = VERSIONS.get(name) if classify(path) not in ("vendored", "fixture") else None
            if line and any(each.startswith(folder) for each in paths):
                found = ", ".join(match[0] for match in line.finditer(self.base_texts[path]))
                rows += [f"{path}: {' '.join(found.split())[:MAX_VERSION]}"] if found else []
        return tuple(rows[:MAX_VERSIONS])

    def config_of(self, check: Check) -> str | None:
        """The file in its folder that configures a tool, see `Check.configured_by`."""
        for wanted in check.configured_by:
            name, _, pattern = wanted.partition(" ")
            path = posixpath.join(check.folder, name)
            of_new = self.manifests.get(path) if check.kind == "test" else None
            text = self.configs.get(path, of_new)
            if text is not None and re.search(pattern, text, re.MULTILINE | re.DOTALL):
                return path
        return None

    def type_checks(self, path: str, check: Check) -> bool:
        """Whether the configuration of a type checker means a file, of tests if it names tests."""
        name = self.config_of(check) or ""
        tool = check.name.partition(" ")[0]
        if tool == "mypy" and f"{path}i" in self.files:  # it reads the stub alone
            return False
        if tool == "tsc":  # JavaScript where a configuration above it, or a comment in it, says so
            texts = {**self.configs, path: self.head_texts.get(path, self.base_texts.get(path, ""))}
            said = (t for name, t in texts.items() if is_below(path, posixpath.dirname(name)))
            return language_of(path) == "typescript" or any(map(CHECKS_JS.search, said))
        path = check.relative(path)
        sections = re.split(r"(?m)^(?=\[)", self.configs.get(name, ""))
        about = re.compile(rf"[^\n]*\b{tool}\b")
        own = [s for s in sections if name.endswith((".json", "ty.toml")) or about.match(s)]
        whole = "".join(s for s in own if not s.startswith("[["))  # no overrides of some files
        if _names(EXCLUDE.findall(whole), path, in_any_folder=True):
            return False
        scope = SCOPE.findall(whole)
        if any(PATH.search(value) for value in scope):
            return _names(scope, path)
        if classify(path) == "test":
            return any(map(TESTS.search, own))
        return path.partition("/")[0].removesuffix(".py") not in NOT_IMPORTED

    def declares(self, module: str) -> bool:
        """Whether a manifest names a package of npm, or that of a top-level module of Python."""
        text = "\n".join(self.manifests.values())
        words = {re.sub(r"[-.]+", "_", word.lower()) for word in WORD.findall(text)}
        return re.sub(r"[-.]+", "_", PACKAGES.get(module, module).lower()) in words


async def load_project(
    change: Change, repository: Repository, checks: Iterable[Check] = ()
) -> Project:
    """Read what checks need to know."""
    named = (wanted.partition(" ")[0] for check in checks for wanted in check.configured_by)
    configs = (*CONFIGS, *named)
    names = (*configs, *chain.from_iterable(chain(*PROJECTS.values())), *PINS, *VERSIONS)
    base_files, base_texts = await _read_side(change, "base", names, repository)
    own = (*MANIFESTS, *names) if change.is_whole else MANIFESTS
    head_files, head_texts = await _read_side(change, "head", own, repository)
    settled = head_texts if change.is_whole else base_texts
    before = sorted(base_files)
    # A folder that is new can take no test away from another project.
    new = [path for path in head_texts if not _has_below(before, path.rpartition("/")[0])]
    texts = base_texts | {path: head_texts[path] for path in new}
    folders = {kind: _find_folders(texts, head_files, kind) for kind in PROJECTS}
    project = Project(
        base_files=base_files,
        head_files=head_files,
        configs={path: settled[path] for path in settled if matches_any([path], configs)},
        manifests={path: head_texts[path] for path in head_texts if matches_any([path], MANIFESTS)},
        base_texts=base_texts,
        head_texts=head_texts,
    )
    entries = {*await repository.list_entries(change.head_tree)} if not change.is_whole else set()
    entries -= {*await repository.list_entries(change.base_tree)}
    brought = {e.path: head_texts.get(e.path, "") for e in entries if e.path not in base_files}
    lock = texts.get("pnpm-lock.yaml", "").partition("\npackages:")[0]  # most of it is behind
    uses = {kind: find_uses(folders[kind], project.manifests, lock) for kind in PROJECTS}
    placed = chain.from_iterable(
        _by_project(replace(c, without=c.configs_in(brought)), uses.get(c.by_project, {}), project)
        for c in checks
    )
    project = replace(project, checks=tuple(placed))
    if not any(check.kind == "scan" for check in checks):
        return project
    installed = {
        _place_at_head(file, project): base_texts[file.old_path]
        for file in change.files
        if file.old_path.endswith(".py") and classify(file.old_path) == "source"
        if file.old_path in base_texts and _is_installed(file.old_path, project)
    }
    documented = await _find_documented(change, installed, repository)
    return replace(project, installed=installed, documented=documented)


def folder_of(path: str, project_files: Iterable[str], files: Collection[str]) -> str:
    """The nearest folder above a file that has one of the files of a project; "" for the top."""
    for folder, name in product(reversed(folders_above(path)), project_files):
        if f"{folder}/{name}" in files:
            return folder
    return ""


def _find_folders(texts: Mapping[str, str], files: Collection[str], kind: str) -> list[str]:
    """The outermost folders that are projects of a kind, and "" if the top is one."""
    folders = {
        path.rpartition("/")[0]
        for path, text in texts.items()
        for table in PROJECTS[kind]
        if (line := table.get(path.rpartition("/")[2])) and line.search(text)
        if classify(path) not in ("fixture", "vendored")
    }
    if kind == "python" and not folders:
        own = {p.rpartition("/")[0] for p in files if p.rpartition("/")[2] in APPLICATION_FILES}
        folders = {folder for folder in own if classify(f"{folder}/a.py") == "source"}
    if kind == "node" and "pnpm-workspace.yaml" in files:
        folders.discard("")
    if kind == "python" and not re.match(NO_TOP, texts.get("pyproject.toml", "")):
        folders.discard("")  # whatever else says there how tests are run
    paths = sorted(files)
    outermost = (folder for folder in sorted(folders) if folders.isdisjoint(folders_above(folder)))
    return [folder for folder in outermost if _has_below(paths, folder)]


def find_uses(
    folders: Sequence[str], manifests: Mapping[str, str], lock: str = ""
) -> dict[str, set[str]]:
    """Other projects that each project names in its manifests, or links as a lock of pnpm says."""
    links = dict(re.findall(r"(?ms)^  (\S+):$(.*?)(?=^  \S|\Z)", lock))
    texts = dict.fromkeys(folders, "")
    for path, text in manifests.items():
        if (folder := path.rpartition("/")[0]) in texts:
            texts[folder] += f"\n{text}"
    names = {named[1]: folder for folder in folders if (named := NAME.search(texts[folder]))}
    uses = dict[str, set[str]]()
    for folder, text in texts.items():
        if folder in links:  # by a version, it names what may come from the registry
            text = links[folder] + re.sub(r'": *"[*^~<>=v\d]', "", text)
        places = (
            names.get(a or b) if a or b else posixpath.normpath(f"{folder}/{path}")
            for a, b, path in USES.findall(text)
        )
        used = {above for place in places if place for above in folders_above(f"{place}/")}
        uses[folder] = used & texts.keys() - {folder}
    return uses


def _by_project(check: Check, uses: Mapping[str, set[str]], project: Project) -> Iterator[Check]:
    """A check, and copies of it for the folders of projects that have what it is about.

    A tool runs where it is configured: in the folder, or else in the nearest above it; at the top
    alone if that is a project. `uses` has the folders, and those that each one uses.
    """
    is_for_top = "" in uses and (not check.configured_by or project.config_of(check))
    folders = [] if is_for_top else [folder for folder in uses if folder]
    wanted = sorted(p for p in project.files if folders and matches_any([p], check.markers))
    own = {folder for folder in folders if _has_below(wanted, folder)}
    if check.configured_by:
        above = (["", *folders_above(f"{folder}/")][::-1] for folder in own)
        placed = ([replace(check, folder=folder) for folder in folders] for folders in above)
        own = {next(filter(project.config_of, each), each[-1]).folder for each in placed}
    for folder in sorted(own | {""}):
        name = f"{check.name} {folder}".rstrip()
        below = frozenset(other for other in own - {folder} if is_below(other, folder))
        used = frozenset(uses.get(folder, ()))
        yield replace(check, name=name, folder=folder, without=below | check.without, uses=used)


def _has_below(paths: Sequence[str], folder: str) -> bool:
    """Whether one of the sorted paths is in a folder."""
    at = bisect(paths, f"{folder}/" if folder else "")
    return at < len(paths) and is_below(paths[at], folder)


def _is_installed(path: str, project: Project) -> bool:
    """Whether a file above says how the project is installed, and a module is in a package of it.

    What is in no package has to be named there: it may be a script. Nobody imports private modules.
    """
    file = PurePosixPath(path)
    names = path.removesuffix("/__init__.py").removesuffix(".py").split("/")
    if any(name.startswith("_") for name in names) or not NOT_IMPORTED.isdisjoint(names):
        return False
    is_in_package = str(file.parent / "__init__.py") in project.base_files
    named = re.compile(rf"\b{re.escape(file.stem)}\b")
    places = product(file.parents, PACKAGING.items())
    found = ((project.base_texts.get(str(folder / name)), line) for folder, (name, line) in places)
    texts = [text for text, line in found if text is not None and line.search(text)]
    return any(is_in_package or named.search(text) for text in texts)


def _place_at_head(file: ChangedFile, project: Project) -> str:
    """Where the module is at head that one at base is imported as; its old path if it is gone."""
    path, stem = file.old_path, file.old_path.removesuffix(".py").removesuffix("/__init__")
    places = (f"{stem}.py", f"{stem}/__init__.py", file.path)
    name = _imported_as(path, project.base_files)
    same = (p for p in places if _imported_as(p, project.head_files) == name)
    return next((p for p in (path, *same) if p in project.head_files), path)


def _imported_as(path: str, files: Collection[str]) -> list[str]:
    """The name of a module, and of the packages around it."""
    place = PurePosixPath(path.removesuffix("/__init__.py").removesuffix(".py"))
    packages = takewhile(lambda folder: str(folder / "__init__.py") in files, place.parents)
    return [place.name, *(folder.name for folder in packages)]


async def _find_documented(
    change: Change, installed: Mapping[str, str], repository: Repository
) -> frozenset[str]:
    names = {name for text in installed.values() for name in DEFINITION.findall(text)}
    modules = {
        path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in installed
    }
    imports = {f"(from|import) {module.partition('.')[0]}" for module in modules}
    pattern = rf"\b({'|'.join(sorted({*names, *map(re.escape, modules), *imports}))})\b"
    if not names or len(pattern) > MAX_PATTERN:  # then all names are compared
        return frozenset()
    globs = ("*.md", "*.rst", "*.txt", "*__init__.py")
    matches = await repository.search(change.base_tree, pattern, globs)
    found = [match for match in matches if match.path not in installed]
    text = "\n".join(match.text for match in found)
    prose = "\n".join(match.text for match in found if not match.path.endswith(".py"))
    shown = {SHOWS_USE for way in imports if re.search(way, prose)}
    mentioned = {module for module in modules if module in text}
    return frozenset(names & {*re.findall(r"\w+", text)} | mentioned | shown)


async def _read_side(
    change: Change, side: Side, names: Sequence[str], repository: Repository
) -> tuple[frozenset[str], dict[str, str]]:
    """All files of a side, and the texts of those that changed or have one of the names."""
    files = await repository.list_files(change.tree(side))
    changed = (file for file in change.files if file.is_regular(side) and not file.is_binary)
    wanted = {path for path in files if matches_any([path], names)}
    wanted |= {file.path_at(side) for file in changed}
    contents = await repository.read_files(change.tree(side), sorted(wanted))
    return files, {path: data.decode("utf-8", "replace") for path, data in contents.items()}


def _names(values: Iterable[str], path: str, *, in_any_folder: bool = False) -> bool:
    """Whether paths, globs or regular expressions name a file; in any folder, but for `^`."""
    plain = "\n".join(values).replace("\\", "").replace(".*", "*")
    words = set(re.findall(rf"\^?{PATH.pattern}", plain))
    if in_any_folder:
        words |= {f"*/{word}" for word in words if word[0] != "^"}
    words = {word.lstrip("^").removeprefix("./").replace("**/", "").rstrip("/") for word in words}
    words |= {word.replace(".", "/") for word in words}  # of packages
    globs = words | {f"{word}/*" for word in words}
    paths = (path, path.removeprefix("src/"))
    return bool(words & {"", "."}) or any(fnmatchcase(p, glob) for p in paths for glob in globs)


def matches_any(paths: Iterable[str], globs: Iterable[str]) -> bool:
    """Whether a glob matches one of the paths, or its last part."""
    matches = _pattern(tuple(globs)).match
    return any(matches(path) or matches(path.rpartition("/")[2]) for path in paths)


@cache
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)) or r"(?!)")
