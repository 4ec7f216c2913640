"""git: where changes come from. Nothing that a repository names is run, and nothing of it is changed.

``GitRepo`` is imported when it is first asked for (PEP 562): a hook that finds nothing asks git without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.adapters.git.repository import GitRepo

__all__ = ["GitRepo"]


def __getattr__(name: str) -> object:
    if name != "GitRepo":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reviewbot.adapters.git import repository

    return repository.GitRepo
