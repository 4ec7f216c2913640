"""Where a repository is, and a private one beside it.

The private repository lives in a scratch folder and sees the real objects as alternates. It has no configuration of the
reviewed repository, no hooks, no attributes, no filters and no work tree: what is asked of it can run nothing that the
reviewed repository names, and no ``.gitattributes`` can hide a file from a diff. Objects made on the way stay there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters.git.command import Answer, Git, clean_environment
from reviewbot.errors import RepositoryError

_QUESTIONS = (
    "--show-toplevel",
    "--show-object-format",
    "--is-shallow-repository",
    "--git-path=objects",
    "--git-path=index",
    "--git-path=info/exclude",
    "--absolute-git-dir",
)
_CONVERSIONS = (
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.excludesfile",
)
"""What of the user's configuration decides what the work tree contains. None of it can run anything."""

_DRIVERS = {
    "ada": "adb ads ada",
    "bash": "sh bash",
    "cpp": "c h cc cpp cxx hh hpp",
    "csharp": "cs",
    "css": "css",
    "elixir": "ex exs",
    "golang": "go",
    "html": "html htm",
    "java": "java",
    "kotlin": "kt kts",
    "markdown": "md",
    "php": "php",
    "python": "py pyi",
    "ruby": "rb",
    "rust": "rs",
}
"""git's own patterns for the headings of hunks (gitattributes(5)), by file extension."""

EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A repository with a work tree, and its private companion in ``private``.

    ``real`` asks the reviewed repository (names of revisions only), ``bare`` the private one, ``tree`` the private one
    with the reviewed work tree.
    """

    toplevel: Path
    git_dir: Path
    index: Path
    private: Path
    object_format: str
    shallow: bool
    real: Git
    bare: Git
    tree: Git

    @property
    def empty_tree(self) -> str:
        """The id of the tree without files."""
        return EMPTY_TREES[self.object_format]


def find(directory: Path, scratch: Path, environment: Mapping[str, str]) -> Place:
    """The repository around ``directory``. Raises RepositoryError."""
    if not directory.is_dir():
        raise RepositoryError(f"{directory} is not a folder", hint="name a folder inside a git repository")
    clean = clean_environment(environment)
    real = Git(directory, clean)
    toplevel, object_format, shallow, objects, index, exclude, git_dir = _answers(real)
    top = Path(toplevel)
    if not os.path.lexists(top / ".git"):
        raise RepositoryError(
            f"the work tree of this repository is configured to be {top}",
            hint="remove core.worktree from its configuration",
        )
    private = scratch / "git"
    _make_private(private, object_format, Path(objects))
    if Path(exclude).is_file():
        shutil.copyfile(exclude, private / "info" / "exclude")
    alone = clean | {"GIT_DIR": str(private), "GIT_CONFIG_GLOBAL": "/dev/null"}
    return Place(
        toplevel=top,
        git_dir=Path(git_dir),
        index=Path(index),
        private=private,
        object_format=object_format,
        shallow=shallow == "true",
        real=Git(top, clean),
        bare=Git(private, alone, {"core.bare": "true"}),
        tree=Git(top, alone | {"GIT_WORK_TREE": toplevel}, {"core.bare": "false", **_conversions(real)}),
    )


def _answers(git: Git) -> list[str]:
    """What git says to each of the questions, asked at once, or one by one where a path has a line feed."""
    questions = [tuple(question.split("=")) for question in _QUESTIONS]
    lines = _asked(git, *(word for question in questions for word in question)).split("\n")
    return lines if len(lines) == len(questions) else [_asked(git, *question) for question in questions]


def _asked(git: Git, *words: str) -> str:
    answer = git.ask("rev-parse", "--path-format=absolute", *words)
    if not answer.ok:
        raise _refusal(git.directory, answer)
    return answer.text


def _refusal(directory: Path, answer: Answer) -> RepositoryError:
    complaint = answer.stderr.decode("utf-8", "replace")
    if "dubious ownership" in complaint:
        return RepositoryError(
            f"the repository at {directory} belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory {directory}",
        )
    if "bare repository" in complaint or "must be run in a work tree" in complaint:
        return RepositoryError(f"{directory} is in a bare repository or in a .git folder", hint="go to a folder with a work tree")
    if "not a git repository" in complaint:
        hint = "go to one, or name one with -C; `reviewbot review --patch FILE` needs none"
        return RepositoryError(f"{directory} is not in a git repository", hint=hint)
    return RepositoryError(f"the repository at {directory} cannot be read: {answer.complaint}", hint="look at it with `git fsck`")


def _conversions(real: Git) -> dict[str, str]:
    answer = real.ask("config", "--null", "--get-regexp", "^core\\.")
    pairs = (record.partition("\n")[::2] for record in answer.text.split("\0") if record)
    return {key: value or "true" for key, value in pairs if key in _CONVERSIONS}


def _make_private(private: Path, object_format: str, objects: Path) -> None:
    for folder in ("refs", "info", "objects/info", "objects/pack"):
        (private / folder).mkdir(parents=True, exist_ok=True)
    version, extension = ("0", "") if object_format == "sha1" else ("1", f"[extensions]\n\tobjectFormat = {object_format}\n")
    (private / "config").write_text(f"[core]\n\trepositoryFormatVersion = {version}\n{extension}", encoding="utf-8")
    (private / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    headings = (f"*.{ending} diff={driver}\n" for driver, endings in _DRIVERS.items() for ending in endings.split())
    (private / "info" / "attributes").write_text("".join(headings), encoding="utf-8")
    (private / "objects" / "info" / "alternates").write_bytes(_quoted(os.fsencode(objects)) + b"\n")


def _quoted(path: bytes) -> bytes:
    """As a line of ``info/alternates``, where a path that begins with a quote is read as a C string."""
    if not path.startswith(b'"') and b"\n" not in path:
        return path
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
