"""One place in a forge's payload: lenient about what is not there, strict about what is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.errors import UsageError

HINT = "GITHUB_EVENT_PATH must name the payload as GitHub wrote it"

_LARGEST = 2**63 - 1
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NAME = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9_.-]{1,100}"
_REPOSITORY = re.compile(f"{_NAME}/{_NAME}")
_LOGIN = re.compile(rf"{_NAME}(?:\[bot\])?")


@dataclass(frozen=True, slots=True)
class Field:
    """A value of the payload and its JSON path. ``None`` is both null and absent: each reader makes its empty value of it."""

    value: Any
    path: str
    name: str

    def wrong(self, wanted: str) -> UsageError:
        """The error for this place."""
        return UsageError(f"the payload of {self.name} is wrong at {self.path}: {wanted}", hint=HINT)

    def at(self, *names: str) -> Field:
        """What lies under these keys, one below the other."""
        found = self
        for name in names:
            found = Field(found.object().get(name), f"{found.path}.{name}", self.name)
        return found

    def object(self) -> Mapping[str, Any]:
        """An object; an empty one where there is none."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong("an object is expected")
        return self.value

    def items(self) -> tuple[Field, ...]:
        """A list's items."""
        if self.value is None:
            return ()
        if not isinstance(self.value, list):
            raise self.wrong("a list is expected")
        return tuple(Field(item, f"{self.path}[{index}]", self.name) for index, item in enumerate(self.value))

    def text(self) -> str:
        """A string."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.wrong("a string is expected")
        return self.value

    def truth(self) -> bool:
        """True or false; false where nothing is said."""
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.wrong("true or false is expected")
        return self.value

    def count(self) -> int:
        """A whole number of zero or more that fits 64 bits; 0 where there is none."""
        if self.value is None:
            return 0
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not 0 <= self.value <= _LARGEST:
            raise self.wrong("a whole number is expected")
        return self.value

    def number(self) -> int | None:
        """The number of a pull request, an issue or a comment: 1 or more."""
        if self.value is None:
            return None
        if not self.count():
            raise self.wrong("a number of one or more is expected")
        return self.count()

    def sha(self) -> str:
        """An object id of git in full. Nothing else may get near git's arguments."""
        return self._matching(_SHA, "a full commit id is expected")

    def repository(self) -> str:
        """``owner/name``."""
        return self._matching(_REPOSITORY, "a repository as owner/name is expected")

    def login(self) -> str:
        """An account's name. It becomes a part of addresses."""
        return self._matching(_LOGIN, "an account's login is expected")

    def _matching(self, form: re.Pattern[str], wanted: str) -> str:
        found = self.text()
        if found and not form.fullmatch(found):
            raise self.wrong(wanted)
        return found
