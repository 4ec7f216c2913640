"""What reviewbot keeps of a repository: recorded results, past reviews, local dismissals."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from reviewbot.config.dismissals import Dismissal, read_dismissals
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal, write_file
from reviewbot.verdict.document import Review

MAX_REVIEWS = 200


class State:
    """A folder that only its owner reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reviews = folder / "reviews"
        self.dismissals = folder / "dismissed.yml"  # what this person dismissed

    def journal(self) -> Journal:
        self._make(self.folder)
        return Journal(self.folder / "journal")

    def save(self, review: Review) -> None:
        """Keep a review, the newest 199 before it, and what was recorded since the oldest of them.

        Raises ReviewbotError.
        """
        self._make(self.folder)
        self._make(self._reviews)
        name = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.json"
        write_file(self._reviews / name, msgspec.json.encode(review))
        ids = self.ids()
        old = [self._reviews / f"{id}.json" for id in ids[MAX_REVIEWS:]]
        if old:  # times of files say nothing about reviews: somebody may have copied the folder
            since = (self._reviews / f"{ids[MAX_REVIEWS - 1]}.json").stat().st_mtime
            recorded = (self.folder / "journal").glob("*.json")
            old += [path for path in recorded if path.stat().st_mtime < since]
        for path in old:
            path.unlink(missing_ok=True)

    def ids(self) -> list[str]:
        """Ids of the reviews, the newest first. Copies that somebody made have none."""
        return sorted(p.stem for p in self._reviews.glob("????????-??????-??????.json"))[::-1]

    def load(self, id: str) -> Review | None:
        """None for a review that is gone, or of another version."""
        with suppress(OSError):
            return read_review((self._reviews / f"{id}.json").read_bytes())
        return None

    def newest(self) -> Review:
        """Raises UsageError if there is none."""
        if review := next(filter(None, map(self.load, self.ids())), None):
            return review
        raise UsageError("there is no review yet", hint="reviewbot review")

    def prune(self) -> None:
        """Remove reviews and recorded results; dismissals stay. Raises ReviewbotError."""
        if self.folder.exists():
            self._make(self.folder)
        for folder in (self._reviews, self.folder / "journal"):
            shutil.rmtree(folder, ignore_errors=True)

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise OSError(None, "it is not writable")
        except OSError as error:
            message = f"{folder} cannot be used: {error.strerror}"
            raise ReviewbotError(message, hint="name another folder with --state") from error


async def find_state(
    repository: Repository | None, variables: Mapping[str, str], folder: Path | None = None
) -> State:
    """The state in a folder that was named, of a repository, or else of this user."""
    if folder:
        return State(folder.absolute())
    if repository:
        # One folder for all linked work trees.
        return State((await repository.place()).common_directory / "reviewbot")
    return State(user_folder(variables, "XDG_STATE_HOME", ".local/state"))


def user_folder(variables: Mapping[str, str], name: str, default: str) -> Path:
    """A folder of the XDG Base Directory Specification. Relative ones count as not set."""
    if (folder := variables.get(name, "")).startswith("/"):
        return Path(folder, "reviewbot")
    if not (home := variables.get("HOME", "")).startswith("/"):
        raise UsageError("HOME names no absolute path", hint=f"set HOME or {name}")
    return Path(home, default, "reviewbot")


def read_review(document: bytes | str) -> Review | None:
    """None if it is empty, damaged, or of another version."""
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(document, type=Review)
    return None


def load_dismissals(path: Path) -> dict[str, Dismissal]:
    """Raises ConfigError."""
    return read_dismissals(path.read_bytes(), str(path)) if path.exists() else {}
