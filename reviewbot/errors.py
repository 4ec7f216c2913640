"""The exception tree. Every error says what happened and what to do next, and carries its exit code.

::

    ReviewbotError                 70
    ├── UsageError                  2   the caller can mend it
    │   ├── RepositoryError         2   not a repository, unsafe owner, unmerged index
    │   ├── RevisionError           2   a revision that does not exist, or is not there (shallow clone)
    │   ├── PatchError              2   a malformed unified diff
    │   ├── ConfigError             2   a key, value or file of the configuration
    │   └── OutputError             2   a file that cannot be written
    └── IncompleteError             3   the review could not run
        ├── GitError                3   git failed where it should not have
        └── SandboxError            3   the sandbox was asked for and cannot start
"""

from __future__ import annotations


class ReviewbotError(Exception):
    """What went wrong, in one line, and the next step for the person who reads it.

    ``hint`` is an imperative sentence; ``str()`` joins both.
    """

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(ReviewbotError):
    """Something the caller said cannot be done as said."""

    exit_code = 2


class RepositoryError(UsageError):
    """There is no repository here that can be read."""


class RevisionError(UsageError):
    """A revision that git does not know."""


class PatchError(UsageError):
    """A text that is not a unified diff."""


class ConfigError(UsageError):
    """A configuration that cannot be understood."""


class OutputError(UsageError):
    """A report that cannot be written where it was asked for."""


class IncompleteError(ReviewbotError):
    """The review could not run, or not to its end."""

    exit_code = 3


class GitError(IncompleteError):
    """git answered with a failure that the caller's words do not explain."""


class SandboxError(IncompleteError):
    """The sandbox that was asked for cannot start here."""
