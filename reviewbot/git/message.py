"""What the author says about a change."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CHARACTERS = 10_000


def describe(messages: Sequence[str]) -> tuple[str, str]:
    """Title and description of a change, from the messages of its commits, oldest first.

    The title is the subject of the last one. The description is its body, or all messages if there
    are several, at most 10,000 characters.
    """
    messages = [message.strip() for message in messages]
    if not messages:
        return "", ""
    title, _, body = messages[-1].partition("\n")
    description = body.strip() if len(messages) == 1 else "\n\n".join(messages)
    return title, description[:MAX_CHARACTERS]
