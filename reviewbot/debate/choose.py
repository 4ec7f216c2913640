"""Who is on the panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewbot.config.settings import PanelistSettings, Settings
from reviewbot.debate.panel import LENSES, MODERATOR, Panelist
from reviewbot.errors import ConfigError
from reviewbot.llm.connect import wanted_vendors, why_not_asked
from reviewbot.llm.providers import find_vendor


def choose_members(
    settings: Settings, variables: Mapping[str, str], named: Mapping[str, str]
) -> tuple[list[Panelist], Panelist | None, list[str]]:
    """The panelists and the moderator who can be asked, and why others cannot, a sentence each.

    Raises ConfigError, also for one of the roles in `named` that cannot be asked.
    """
    notes, defaults = [], []
    for name in wanted_vendors(settings.providers, variables):
        if reason := why_not_asked(name, settings.providers, variables):
            notes.append(f"{name} is not asked: {reason}.")
        else:
            defaults.append(f"{name}:{find_vendor(name).model}")
    if model := variables.get("DEFAULT_MODEL"):
        defaults = [model]
    members, moderator = choose_panel(settings.panel, settings.moderator, defaults, named)
    asked = []
    for member in (*members, *([moderator] if moderator else [])):
        if reason := why_not_asked(member.provider, settings.providers, variables):
            if member.name in named:
                message = f"{member.provider}:{member.model} cannot be asked: {reason}"
                raise ConfigError(message, hint="reviewbot models lists who can be asked")
            notes.append(f"{member.name} is not asked: {reason}.")
        else:
            asked.append(member)
    return (
        [member for member in members if member in asked],
        moderator if moderator in asked else None,
        list(dict.fromkeys(notes)),
    )


def choose_panel(
    configured: Mapping[str, PanelistSettings],
    moderator: PanelistSettings | None,
    defaults: Sequence[str],
    named: Mapping[str, str],
) -> tuple[list[Panelist], Panelist | None]:
    """The panelists, and the moderator.

    Args:
        configured: the panel of the settings. Without one, the three standard roles are shared
            out among `defaults`, and the moderator is from a vendor that none of them is from.
        defaults: a "provider:model" of each vendor that can be asked, best first.
        named: the model of a role, such as {"critic": "openai:gpt-5.6"}, which wins.
    """
    members = dict(configured)
    if not members and defaults:
        members = {
            role: PanelistSettings(model=defaults[number % len(defaults)])
            for number, role in enumerate(LENSES)
        }
        if moderator is None and len(defaults) > len(LENSES):
            moderator = PanelistSettings(model=defaults[len(LENSES)])
    for role, model in named.items():
        if role == MODERATOR:
            moderator = PanelistSettings(model=model)
        else:
            lens = members[role].lens if role in members else ""
            members[role] = PanelistSettings(model=model, lens=lens)
    return (
        [make_panelist(name, settings) for name, settings in members.items()],
        make_panelist(MODERATOR, moderator) if moderator else None,
    )


def make_panelist(name: str, settings: PanelistSettings) -> Panelist:
    """Raises ConfigError for a model without its provider."""
    for text in filter(None, (settings.model, settings.fallback)):
        if not all(text.partition(":")):
            raise ConfigError(f"{text} names no provider and model", hint="write provider:model")
    provider, _, model = settings.model.partition(":")
    lens = settings.lens or LENSES.get(name, name)
    return Panelist(name, lens, provider, model, settings.fallback)
