"""Who we are to GitHub: a token that was given, or an app that gets itself one for this repository, again before it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from reviewbot.adapters.github import reading
from reviewbot.adapters.github.exchange import Answer, Call
from reviewbot.errors import ConfigError, NotPermittedError
from reviewbot.ports import Clock

EARLY_SECONDS = 300.0
"""How long before its end a token is replaced: longer than any one request takes. Installation tokens last an hour."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of whatever kind, used as it is."""

    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class App:
    """A GitHub App by its id (or client id) and the PEM of its private key. It must be installed on the repository."""

    id: str
    private_key: str = field(repr=False)


Credential = Token | App

Ask = Callable[[Call, str], Answer]
"""One call with that token, by the session's rules. Raises ForgeError."""


class Keys(Protocol):
    """Where the token of a request comes from."""

    def bearer(self, ask: Ask) -> str:
        """The token that is valid now. Raises ForgeError."""
        ...

    def renew(self) -> bool:
        """GitHub says the token is none: whether another one can be had."""
        ...


class GivenToken:
    """A token that nobody renews. Raises ConfigError for one that cannot stand in a header."""

    def __init__(self, token: Token) -> None:
        self._secret = checked(token.secret)

    def bearer(self, ask: Ask) -> str:
        """The token."""
        del ask
        return self._secret

    def renew(self) -> bool:
        """Never."""
        return False


class AppToken:
    """The token of an app's installation on one repository, and for no other repository. ``signed`` makes the app's own token
    from its id and key."""

    def __init__(self, app: App, repository: str, *, signed: Callable[[str, str], str], clock: Clock) -> None:
        self._app = app
        self._repository = repository
        self._signed = signed
        self._clock = clock
        self._secret = ""
        self._until = 0.0

    def bearer(self, ask: Ask) -> str:
        """The installation's token: asked for at first, and again before it ends. Raises ForgeError, ConfigError."""
        if not self._secret or self._clock.seconds() >= self._until:
            self._fetch(ask)
        return self._secret

    def renew(self) -> bool:
        """Another one is asked for the next time."""
        self._secret = ""
        return True

    def _fetch(self, ask: Ask) -> None:
        begun = self._clock.seconds()
        signed = self._signed(self._app.id, self._app.private_key)
        where = Call(
            "GET", f"/repos/{self._repository}/installation", "find the app's installation", is_read=True,
            missing=NotPermittedError,
        )  # fmt: skip
        installation = reading.number(_document(ask(where, signed)), "id")
        # Asked for twice, there are two tokens that both are valid: no harm.
        how = Call(
            "POST", f"/app/installations/{installation}/access_tokens", "make a token for the app's installation", is_read=True,
            body={"repositories": [self._repository.partition("/")[2]]}, missing=NotPermittedError,
        )  # fmt: skip
        answer = ask(how, signed)
        document = _document(answer)
        self._secret = checked(reading.text(document, "token"))
        self._until = begun + max(0.0, _lasts(answer, reading.text(document, "expires_at")) - EARLY_SECONDS)


def checked(secret: str) -> str:
    """A token that can stand in a header. Raises ConfigError for any other; libraries would quote it in their complaint."""
    if secret and secret.isascii() and secret.isprintable() and " " not in secret:
        return secret
    raise ConfigError(
        "the GitHub token is empty or holds a blank, a line end or a letter that no token has",
        hint="copy the token again, without anything around it",
    )


def _document(answer: Answer) -> dict[str, Any]:
    return reading.fields(reading.loads(answer.body), "an installation")


def _lasts(answer: Answer, expires_at: str) -> float:
    """Seconds, by GitHub's clock on both sides. Raises ForgeError."""
    now = reading.http_date(answer.headers.get("date", ""))
    try:
        until = datetime.fromisoformat(expires_at).timestamp()
    except ValueError:
        raise reading.odd("the end of a token") from None
    # Without a date it is asked for again soon, which is safe.
    return 2 * EARLY_SECONDS if now is None else until - now
