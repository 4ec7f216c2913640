"""Accounts, permissions, apps, rate limits and repositories over REST."""

from __future__ import annotations

import secrets
import time
from typing import Any

from tests.forge.hub import shown
from tests.forge.hub.call import Call, Made
from tests.forge.hub.problem import Problem, invalid, not_found
from tests.forge.hub.tokens import LEVELS, App, Token

HOUR = 3600
LIMIT = 5000


def me(call: Call) -> Any:
    return shown.user(call.hub, call.actor)


def account(call: Call) -> Any:
    known = next((user for user in call.hub.users.values() if user.login.lower() == call.variables["username"].lower()), None)
    if known is None:
        raise not_found()
    return shown.user(call.hub, known)


def permission(call: Call) -> Any:
    """G29: maintain is told as write and triage as read, ``role_name`` says which; who is no user is nowhere."""
    login = call.variables["username"]
    known = next((user for user in call.hub.users.values() if user.login.lower() == login.lower()), None)
    if known is None:
        raise Problem(404, f"{login} is not a user")
    role = call.repository.role(known.login)
    return {"permission": shown.SITE_ROLES.get(role, role), "role_name": role, "user": shown.user(call.hub, known)}


def repository(call: Call) -> Any:
    return shown.repository(call.repository)


def rate_limit(call: Call) -> Any:
    left = {
        "limit": LIMIT,
        "remaining": max(LIMIT - call.hub.calls(), 0),
        "reset": int(time.time()) + HOUR,
        "used": call.hub.calls(),
    }
    return {"rate": left, "resources": {"core": left, "search": left, "graphql": left}}


def app_of(call: Call) -> App:
    """Who asks with an app's own credential."""
    found = next(
        (
            app
            for app in call.hub.apps.values()
            if call.token and call.token.user.login == app.login and not call.token.permissions
        ),
        None,
    )
    if found is None:
        raise Problem(401, "A JSON web token could not be decoded")
    return found


def this_app(call: Call) -> Any:
    app = app_of(call)
    return {
        "id": app.id,
        "slug": app.slug,
        "name": app.slug,
        "owner": shown.user(call.hub, call.hub.user(app.login)),
        "permissions": app.permissions,
    }


def installation(call: Call) -> Any:
    app, home = app_of(call), call.repository
    if app.repositories and home.full_name not in app.repositories:
        raise not_found()
    return {
        "id": app.installation_id,
        "app_id": app.id,
        "app_slug": app.slug,
        "account": shown.user(call.hub, call.hub.user(home.owner)),
        "access_tokens_url": f"{call.hub.api_url}/app/installations/{app.installation_id}/access_tokens",
        "permissions": app.permissions,
        "target_type": "User",
        "repository_selection": "all",
    }


def access_token(call: Call) -> Any:
    """A token for an hour, for no more than the app may."""
    app = app_of(call)
    if call.variables["installation_id"] != app.installation_id:
        raise not_found()
    wanted = call.body.get("permissions") or app.permissions
    if any(LEVELS[level] > LEVELS[app.permissions.get(name, "none")] for name, level in wanted.items()):
        raise invalid("Installation", "permissions", "The permissions requested are not granted to this installation.")
    names = call.body.get("repositories")
    only = None if names is None else frozenset(full for full, known in call.hub.repositories.items() if known.name in names)
    text = f"ghs_{secrets.token_hex(18)}"
    call.hub.tokens[text] = Token(
        text, call.hub.user(app.login), {"metadata": "read", **wanted}, only, time.time() + HOUR, app.slug
    )
    told = {
        "token": text,
        "expires_at": call.hub.later(HOUR),
        "permissions": wanted,
        "repository_selection": "all" if only is None else "selected",
    }
    return Made(201, told)


OPERATIONS = {
    "users/get-authenticated": me,
    "users/get-by-username": account,
    "repos/get": repository,
    "repos/get-collaborator-permission-level": permission,
    "rate-limit/get": rate_limit,
    "apps/get-authenticated": this_app,
    "apps/get-repo-installation": installation,
    "apps/create-installation-access-token": access_token,
}
