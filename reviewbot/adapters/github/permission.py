"""What somebody may do in the repository. Whoever is not surely known may do nothing."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from reviewbot.adapters.github import reading
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.session import Session
from reviewbot.domain.forge import (
    Permission,
)
from reviewbot.errors import ForgeError, NotAuthorizedError

#: ``role_name``. Organisations may add roles of their own, which stand for nothing here.
_ROLES: Mapping[str, Permission] = {
    "admin": Permission.ADMIN,
    "maintain": Permission.MAINTAIN,
    "write": Permission.WRITE,
    "triage": Permission.TRIAGE,
    "read": Permission.READ,
    "none": Permission.NONE,
}

#: ``permission`` is coarser: the least and the most that each word stands for.
_COARSE: Mapping[str, tuple[Permission, Permission]] = {
    "admin": (Permission.ADMIN, Permission.ADMIN),
    "write": (Permission.WRITE, Permission.MAINTAIN),
    "read": (Permission.READ, Permission.TRIAGE),
    "none": (Permission.NONE, Permission.NONE),
}


def permission(session: Session, repository: str, login: str) -> Permission:
    """What ``login`` may do. Raises NotAuthorizedError: then nobody can be asked for."""
    call = Call(
        "GET", f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission", "tell what somebody may do", is_read=True
    )
    try:
        told = reading.fields(session.json(call), "a permission")
        return granted(reading.text(told, "permission"), reading.text(told, "role_name", optional=True))
    except NotAuthorizedError:
        raise
    except ForgeError:
        # 404 is somebody whom GitHub does not know; anything else says nothing, which is no permission either.
        return Permission.NONE


def granted(coarse: str, role: str) -> Permission:
    """The role, but never more than the coarse word allows, and the least of that for a role of somebody's own."""
    least, most = _COARSE.get(coarse, (Permission.NONE, Permission.NONE))
    return min(_ROLES[role], most) if role in _ROLES else least
