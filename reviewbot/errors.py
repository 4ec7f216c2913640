"""The exception tree. Every error says what happened and what to do next, and carries its exit code.

::

    ReviewbotError                 70
    ├── UsageError                  2   the caller can mend it
    │   ├── RepositoryError         2   not a repository, unsafe owner, unmerged index
    │   ├── RevisionError           2   a revision that does not exist, or is not there (shallow clone)
    │   ├── PatchError              2   a malformed unified diff
    │   ├── ConfigError             2   a key, value or file of the configuration
    │   ├── OutputError             2   a file that cannot be written
    │   └── WriteError              2   a fix that cannot be written, or taken back, as things are
    └── IncompleteError             3   the review could not run
        ├── GitError                3   git failed where it should not have
        ├── SandboxError            3   the sandbox was asked for and cannot start
        └── ForgeError              3   the forge did not do what it was asked
            ├── NotPermittedError   3   the token may not (403, or 404 as GitHub words it): another way may be open
            ├── NotAuthorizedError  3   the token is none (401)
            ├── InvalidError        3   what was sent was refused as it is (422, 413): sending it again changes nothing
            ├── StaleError          3   the head is no longer the one that was meant
            ├── GoneError           3   it was deleted, or conversation is locked
            ├── DeferredError       3   a rate limit holds for longer than this run can wait
            └── UnsureError         3   no answer that says whether it was done
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


class WriteError(UsageError):
    """A fix that cannot be written, or taken back, as things are. Nothing of the repository was changed."""


class IncompleteError(ReviewbotError):
    """The review could not run, or not to its end."""

    exit_code = 3


class GitError(IncompleteError):
    """git answered with a failure that the caller's words do not explain."""


class SandboxError(IncompleteError):
    """The sandbox that was asked for cannot start here."""


class ForgeError(IncompleteError):
    """The forge did not do what it was asked."""


class NotPermittedError(ForgeError):
    """The token may not do that."""


class NotAuthorizedError(ForgeError):
    """The token is not one that the forge knows."""


class InvalidError(ForgeError):
    """The forge refused what was sent. ``reasons`` are its words."""

    def __init__(self, message: str, *, hint: str = "", reasons: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.reasons = reasons


class StaleError(ForgeError):
    """The head moved meanwhile."""


class GoneError(ForgeError):
    """What was meant is not there any more, or closed to words."""


class DeferredError(ForgeError):
    """A rate limit holds for longer than can be waited. ``seconds`` until it ends, where it was told."""

    def __init__(self, message: str, *, hint: str = "", seconds: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.seconds = seconds


class UnsureError(ForgeError):
    """It is not known whether it was done."""
