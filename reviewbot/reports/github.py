"""Workflow commands, which GitHub Actions shows as annotations at lines of the change.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from reviewbot.reports import words
from reviewbot.reports.markdown import MAX_MESSAGE, Annotation, annotation
from reviewbot.reports.style import Style
from reviewbot.text.plain import plain
from reviewbot.verdict.document import Review

# GitHub shows ten of each level for one step, and drops the others without a word. One notice says
# how many there are, and one what the panel cost.
ROOMS = {"failure": 10, "warning": 10, "notice": 9}
COMMANDS = {"failure": "error", "warning": "warning", "notice": "notice"}
# As in toCommandValue of https://github.com/actions/toolkit (packages/core/src/command.ts).
DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(review: Review, _: Style) -> str:
    """A line a finding, one for what was not reviewed, and one for what a panel cost."""
    found = [annotation(finding) for finding in review.reported]
    if review.gaps:
        gaps = words.shortened("\n".join(map(plain, review.gaps)), MAX_MESSAGE)
        found.insert(0, Annotation("", 0, 0, "warning", "Not complete", gaps))
    shown: list[Annotation] = []
    for level, room in ROOMS.items():
        room -= level == "notice" and bool(review.panel)
        shown += [note for note in found if note.annotation_level == level][:room]
    if more := len(found) - len(shown):
        text = f"{more} more are not shown here."
        shown.append(Annotation("", 0, 0, "notice", "reviewbot", text))
    if review.panel:
        shown.append(Annotation("", 0, 0, "notice", "reviewbot", plain(words.panel_line(review))))
    return "\n".join(map(_command, shown))


def _command(note: Annotation) -> str:
    path = plain(note.path)
    place = {"file": path} if path else {}
    if path and note.start_line:
        place |= {"line": str(note.start_line), "endLine": str(note.end_line)}
    place["title"] = note.title
    said = ",".join(f"{name}={value.translate(PROPERTY)}" for name, value in place.items())
    return f"::{COMMANDS[note.annotation_level]} {said}::{note.message.translate(DATA)}"
