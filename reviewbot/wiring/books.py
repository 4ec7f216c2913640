"""What is remembered beyond a run: the ledger of a panel that is paid, and the last review of every repository."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.config import Configuration
from reviewbot.domain.review import Review
from reviewbot.errors import ConfigError, UsageError
from reviewbot.publish import document, load
from reviewbot.wiring.order import Order

if TYPE_CHECKING:
    from reviewbot.adapters.store.opening import Store

REVIEWS = "reviews"
LATEST = "latest.json"
MOST_BESIDE = 20
"""Reviews of one pull request that are kept."""


@contextmanager
def opened(order: Order, configuration: Configuration) -> Iterator[Store]:
    """The ledger. Raises LedgerError, and ConfigError where its library is not installed."""
    try:
        from reviewbot.adapters.store.opening import open_store
    except ModuleNotFoundError as exc:
        raise ConfigError(f"the ledger needs the package {exc.name!r}", hint="pip install 'reviewbot[models]'") from exc
    url = configuration.get("ledger", str)
    if not url and order.state is None:
        raise ConfigError("a panel of models needs a place for its ledger", hint="give --state DIR")
    with open_store(url or Path(order.state or ".")) as store:
        yield store


def keep(review: Review, order: Order, project: str) -> str:
    """Keep a review as the last one of its repository. Returns what to say where that is not possible."""
    if order.state is None:
        return ""
    folder = _folder(order.state, project)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = folder / f".{review.run_id}"
        made.write_text(document.packed(document.document(review)), encoding="utf-8")
        made.replace(folder / LATEST)
    except OSError as exc:
        return f"the review is not remembered: {folder}: {exc.strerror}"
    return ""


def latest(state: Path, project: str) -> Path:
    """The file with the last review of a repository, whether or not there is one."""
    return _folder(state, project) / LATEST


def keep_beside(review: Review, state: Path, project: str) -> None:
    """Keep a review beside earlier ones of the same pull request: a finding that is carried along was argued in one of those.
    What cannot be written is not kept: a comment then says less, and nothing is lost."""
    folder = _folder(state, project)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / f"{review.run_id}.json").write_text(document.packed(document.document(review)), encoding="utf-8")
        for old in sorted(folder.glob("*.json"), reverse=True)[MOST_BESIDE:]:
            old.unlink()


def beside(state: Path, project: str) -> Iterator[Review]:
    """The reviews of a pull request that are kept, the last one first. One that cannot be read is passed over."""
    for path in sorted(_folder(state, project).glob("*.json"), reverse=True):
        with suppress(OSError, ValueError, UsageError):
            yield load.load_review(path.read_bytes())


def last(order: Order, project: str) -> Review:
    """The last review of a repository. Raises UsageError."""
    try:
        if order.state is not None:
            return load.load_review((_folder(order.state, project) / LATEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, json.JSONDecodeError):
        pass
    raise UsageError("no review of this repository is remembered", hint="make one with 'reviewbot review'")


def _folder(state: Path, project: str) -> Path:
    return state / REVIEWS / hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:32]
