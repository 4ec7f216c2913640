"""A glance at the index: is this what was looked at before? Then the hook says again what it said, and nothing else is loaded.

Only what the interpreter loads anyway is imported here: this module is all that most runs of a hook need. It asks git three
things at most, in the way of ``adapters.git.command``: nothing that a repository names is run, and nothing of it is changed.

Two memories, both plain files in the state directory. A *record* holds what a hook said of exactly this: command line,
version, configuration, ``HEAD`` and index. A *mark* says of one changed file, by its content at both ends, that no check has
anything new to say of it: an empty file, whose name is all that it says. Where anything is in
doubt there is no answer, and the review is made.
"""
# ruff: noqa: PTH100, PTH109, PTH110, PTH114, PTH118, PTH119, PTH120, PTH208
# pathlib would be half of what this costs.

from __future__ import annotations

import os
import sys
import time

from reviewbot import __version__
from reviewbot.cli import glance_git as git
from reviewbot.cli import glance_memory as memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TextIO

COMMAND = ["hook", "run", "pre-commit"]
SKIP = "reviewbot"
"""The name in ``SKIP`` that leaves this hook out, as pre-commit's own configuration calls it."""

SILENT, KNOWN = "silent", "known"
"""Endings of marks: no check says anything at head; all that one says there, it said at base."""

MOST_FILES = 200
"""Changed files of which a glance knows anything."""

SPEAKS = {
    "--fail-on": ("none", "low", "medium", "high", "critical"),
    "--format": ("text", "json"),
    "--color": ("auto", "always", "never"),
    "--strict": (),
    "-q": (),
    "--quiet": (),
}
"""The options that a glance knows, with what may follow each. With any other it looks away."""

VARIABLES = ("PATH", "HOME", "NO_COLOR", "TERM", "CI", "VIRTUAL_ENV", "CONDA_PREFIX")
FAMILIES = ("REVIEWBOT", "XDG_", "PYTHON", "RUFF")
"""The variables that decide what is found or how it is told."""

COLUMNS = 80
"""How wide is what is told where nobody says it."""


_WHERE = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--revs-only", "HEAD^{tree}")
_WHAT = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none")
_INVISIBLE = "--ita-invisible-in-index"
_CONFIGURES = (".reviewbot.yml", "pyproject.toml")
_DISMISSED = ".reviewbot/dismissed.yml"
_BLOB_MODES = ("100644", "100755")
NONE = "000000"
"""The mode of what is not there."""


class Sight:
    """What is seen at a glance. ``key`` names the record; ``listed`` are git's ``(mode, mode, id, id, letter, path)`` of each
    changed file; ``names`` the files of the base that may configure it; ``marks`` the name of each file's mark, empty where one
    of them is not plain."""

    __slots__ = ("folder", "key", "listed", "marks", "names", "options", "ruled", "toplevel", "tree")

    def __init__(self, toplevel: str, tree: str, *, folder: str, options: dict[str, str]) -> None:
        self.toplevel, self.tree, self.folder, self.options = toplevel, tree, folder, options
        self.key = ""
        self.listed: tuple[tuple[str, ...], ...] = ()
        self.names: tuple[str, ...] = ()
        self.marks: tuple[str, ...] = ()
        self.ruled = b""

    def rules(self) -> Iterator[tuple[str, str]]:
        """The files of the base that configure: path and blob."""
        for record in self.ruled.decode("utf-8", "surrogateescape").split("\0"):
            about, _, path = record.partition("\t")
            words = about.split(" ")
            if len(words) == 3 and words[1] == "blob" and words[0] in _BLOB_MODES:
                yield path, words[2]

    def blobs(self) -> Iterator[tuple[str, str | None, str | None]]:
        """The changed files: path, and the blob at either end."""
        for old_mode, new_mode, old, new, _, path in self.listed:
            yield path, None if old_mode == NONE else old, None if new_mode == NONE else new


def answered(arguments: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """Say what is known and return the exit code; ``None`` where something is to be done."""
    if is_skipped(environ, SKIP):
        _say(f"reviewbot: skipped, because SKIP names {SKIP}\n")
        return 0
    sight = seen(arguments, environ)
    if sight is None:
        return None
    if not sight.listed and sight.options.get("--format", "text") == "text":
        return 0
    return _replayed(sight) if sight.key else None


def is_skipped(environ: Mapping[str, str], name: str) -> bool:
    """``SKIP`` is a list of names with commas between them, as pre-commit reads it."""
    return name in [word.strip() for word in environ.get("SKIP", "").split(",")]


def seen(arguments: Sequence[str], environ: Mapping[str, str]) -> Sight | None:
    """What lies before the hook; ``None`` where that is not for a glance."""
    said = options(arguments)
    folder = _state(environ)
    if said is None or folder is None:
        return None
    variables = git.variables(environ)
    lines = _lines(*git.asked((_WHERE,), variables))
    if len(lines) != 3 or _is_elsewhere(lines, environ) or _is_touched_by_reading(lines[1]):
        return None
    (what,) = git.asked(((*_WHAT, _INVISIBLE, lines[2], "--"),), variables)
    listed = _listed(what) if what is not None else None
    if listed is None or len(listed) > MOST_FILES:
        return None
    sight = Sight(lines[0], lines[2], folder=folder, options=said)
    sight.listed = listed
    sight.names = tuple(sorted({name for entry in listed for name in _above(entry[5])} | {*_CONFIGURES}))
    return _with_keys(sight, arguments, environ, variables=variables)


def elsewhere(environ: Mapping[str, str]) -> str:
    """The repository or work tree that git calls the hook for, where another one lies around this folder; empty where none does.

    Whatever reviews finds its repository from the folder alone."""
    return _is_elsewhere(_lines(*git.asked((_WHERE,), git.variables(environ))), environ)


def _is_touched_by_reading(git_dir: str) -> bool:
    """git changes something when it reads the index: the time of the shared part of a split one; where a checkout is sparse, it
    may write trees. A review reads a copy, in a place of its own."""
    try:
        names = os.listdir(git_dir)
    except OSError:
        return True
    split = any(name.startswith("sharedindex.") for name in names)
    return split or os.path.exists(os.path.join(git_dir, "info", "sparse-checkout"))


def _lines(answer: bytes | None) -> list[str]:
    return answer.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if answer else []


def _is_elsewhere(lines: list[str], environ: Mapping[str, str]) -> str:
    said = zip((environ.get("GIT_WORK_TREE"), environ.get("GIT_DIR")), lines, strict=False)
    return next((named for named, found in said if named and os.path.realpath(named) != os.path.realpath(found)), "")


def keep(sight: Sight, said: tuple[str, str], code: int, *, stamps: Iterable[str] = ()) -> None:
    """Remember what was said (standard output and error) of exactly this. ``stamps`` are files that must be as they are now."""
    parts = [f"{code}\n".encode(), *(word.encode("utf-8", "surrogateescape") for word in said)]
    parts.append("\n".join(memory.stamp(path) for path in stamps).encode("utf-8", "surrogateescape"))
    body = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    memory.write(
        os.path.join(sight.folder, "records"), sight.key, memory.digest(body).encode("ascii") + body, most=memory.MOST_RECORDS
    )


def mark(sight: Sight, silent: Mapping[str, bool]) -> None:
    """Remember of files, by path, that no check has anything new to say of them; or, where they are ``silent``, anything."""
    named = {entry[5]: name for entry, name in zip(sight.listed, sight.marks, strict=False)}
    for path, is_silent in silent.items():
        name = f"{named[path]}.{SILENT if is_silent else KNOWN}"
        memory.write(os.path.join(sight.folder, "marks"), name, b"", most=memory.MOST_MARKS)


def unmarked(sight: Sight) -> tuple[str, ...] | None:
    """The paths of which something new may be said; ``None`` where marks say nothing of this change."""
    if not sight.marks:
        return None
    folder = os.path.join(sight.folder, "marks")
    endings = (SILENT,) if _may_be_copied(sight) else (SILENT, KNOWN)
    named = zip(sight.listed, sight.marks, strict=True)
    return tuple(
        entry[5] for entry, name in named if not any(os.path.exists(os.path.join(folder, f"{name}.{end}")) for end in endings)
    )


def _may_be_copied(sight: Sight) -> bool:
    """A file came: git may say that it is another one, and what is known of one file is then held against two."""
    return any(entry[4] == "A" for entry in sight.listed)


def quiet(files: int) -> str:
    """As ``publish.terminal_hook.quiet`` says it."""
    return f"reviewbot: nothing found in this commit ({files} {'file' if files == 1 else 'files'})\n"


def _replayed(sight: Sight) -> int | None:
    known = memory.record(os.path.join(sight.folder, "records", sight.key))
    if known is not None:
        code, out, err = known
        _say(out, stream=sys.stdout)
        _say(err)
        return code
    if sight.options.get("--format", "text") != "text" or unmarked(sight) != ():
        return None
    if not {"-q", "--quiet"} & sight.options.keys():
        _say(quiet(len(sight.listed)))
    return 0


def options(arguments: Sequence[str]) -> dict[str, str] | None:
    """The options that were typed; ``None`` where one is not known here, or it is another command."""
    if list(arguments[: len(COMMAND)]) != COMMAND:
        return None
    found: dict[str, str] = {}
    words = iter(arguments[len(COMMAND) :])
    for word in words:
        name, equals, value = word.partition("=")
        choices = SPEAKS.get(name)
        if choices is None or (equals and not choices):
            return None
        if choices:
            value = value if equals else next(words, "")
            if value not in choices:
                return None
        found[name] = value
    return found


def _state(environ: Mapping[str, str]) -> str | None:
    """The folder of what hooks remember, as ``wiring.places`` says; ``None`` for somebody without a home."""
    named = environ.get("XDG_STATE_HOME", "")
    home = environ.get("HOME", "")
    root = named if named.startswith("/") else os.path.join(home, ".local/state") if home else ""
    return os.path.join(root, "reviewbot", "hooks") if root else None


def _listed(raw: bytes) -> tuple[tuple[str, ...], ...] | None:
    """git's list; ``None`` where it is not one."""
    fields = raw.split(b"\0")
    found = []
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        words = about.decode("utf-8", "surrogateescape")[1:].split(" ")
        if not about.startswith(b":") or len(words) != 5:
            return None
        found.append((*words, path.decode("utf-8", "surrogateescape")))
    return tuple(found) if len(fields) == 2 * len(found) + 1 and not fields[-1] else None


def _above(path: str) -> Iterator[str]:
    """The files that configure the folders around a path."""
    folder = path.rpartition("/")[0]
    while folder:
        yield f"{folder}/.reviewbot.yml"
        folder = folder.rpartition("/")[0]


def _with_keys(sight: Sight, arguments: Sequence[str], environ: Mapping[str, str], *, variables: dict[str, str]) -> Sight | None:
    held = [memory.content(path) for path in (_user_file(environ), os.path.join(sight.toplevel, _DISMISSED))]
    if None in held:
        return None
    if not sight.listed:
        return sight
    (rules,) = git.asked((("ls-tree", "-z", "--full-tree", sight.tree, "--", *sight.names),), variables)
    if rules is None:
        return None
    sight.ruled = rules
    matters = (_build(), rules, held[0], _programs(), _named(environ, ("REVIEWBOT",)))
    seen_by = (list(arguments), os.getcwd(), _named(environ, (*FAMILIES, *VARIABLES)), _terminals(), columns(environ))
    before = (sight.toplevel, sight.tree, sight.listed, held[1], _is_led_away(sight.toplevel), _today() if held[1] else 0)
    sight.key = memory.digest((matters, seen_by, before))
    sight.marks = tuple(memory.digest((matters, entry)) for entry in sight.listed) if all(map(_is_plain, sight.listed)) else ()
    return sight


def _is_led_away(toplevel: str) -> bool:
    """The file of dismissals is not where it seems to be."""
    path = os.path.join(toplevel, _DISMISSED)
    return os.path.islink(path) or os.path.islink(os.path.dirname(path))


def _is_plain(entry: tuple[str, ...]) -> bool:
    """A regular file that came, was changed or went."""
    old_mode, new_mode, _, _, letter, _ = entry
    known = {"A": (NONE, new_mode), "M": (old_mode, new_mode), "D": (old_mode, NONE)}.get(letter)
    return known == (old_mode, new_mode) and all(mode in (*_BLOB_MODES, NONE) for mode in known)


def _named(environ: Mapping[str, str], names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The variables that are called so, or begin so where that is a family."""
    families = tuple(name for name in names if name in FAMILIES)
    return sorted((name, said) for name, said in environ.items() if name in names or name.startswith(families))


def _terminals() -> list[bool]:
    return [stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr)]


def columns(environ: Mapping[str, str]) -> int:
    """Of the terminal that standard error is, or as ``COLUMNS`` says; 80 where there is neither."""
    said = environ.get("COLUMNS", "")
    if said.isdecimal() and said.isascii() and int(said[:6]) > 0:
        return int(said[:6])
    try:
        return os.get_terminal_size(2).columns or COLUMNS
    except OSError:
        return COLUMNS


def _today() -> int:
    """What is dismissed may be so until some day."""
    return int(time.time()) // 86_400


def _user_file(environ: Mapping[str, str]) -> str:
    named = environ.get("XDG_CONFIG_HOME", "")
    root = named if named.startswith("/") else os.path.join(environ.get("HOME") or "/nonexistent", ".config")
    return os.path.join(root, "reviewbot", "config.yml")


def _programs() -> list[str]:
    """Every ruff that could be the one that is run, as ``adapters.sandbox.interpreters`` looks for it."""
    places = (os.path.join(sys.prefix, "bin"), os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin")
    return [memory.stamp(os.path.join(place, "ruff")) for place in places]


def _build() -> tuple[str, ...]:
    """Which reviewbot this is, and whether packages came or went beside it. One that is not installed as a package may be edited:
    then its files tell."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    packages = f"{sys.prefix}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    own = (__version__, sys.version, sys.executable, memory.stamp(os.path.join(top, "__init__.py")), memory.stamp(packages))
    installed = os.path.basename(os.path.dirname(top)) in ("site-packages", "dist-packages")
    return own if installed else (*own, *sorted(_sources(top)))


def _sources(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _sources(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


def _say(words: str, stream: TextIO | None = None) -> None:
    """As it was said, byte for byte."""
    target = sys.stderr if stream is None else stream
    if words and target is not None:
        target.buffer.write(words.encode("utf-8", "surrogateescape"))
        target.flush()
