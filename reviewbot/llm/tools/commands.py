"""Run a command that the operator allows, in the sandbox, on a copy of the head."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from reviewbot.llm.tools.context import Context, shown
from reviewbot.sandbox.job import COMMAND_NOT_FOUND, Job

SECONDS = 60
MAX_CHARACTERS = 6_000
# Bytes of a stream that are searched for secrets, so that none is cut where it is shown.
MAX_SEARCHED = 200_000


Words = Annotated[
    tuple[str, ...], Meta(description="the program and its arguments, a word each; no shell")
]


async def execute_command(context: Context, command: Words) -> str:
    allowed = context.settings.commands
    begins = (entry.split() for entry in allowed)
    if not any(words and list(command[: len(words)]) == words for words in begins):
        return f"only commands that begin with one of these may run: {', '.join(allowed)}"
    if any("\0" in word for word in command):
        return "a word of the command contains a null character"
    job = Job(tree=context.change.head_tree, command=command, executes=True, seconds=SECONDS)
    completed = await context.executor.execute(job)
    if completed.outcome == "not_run":
        if completed.exit_code == COMMAND_NOT_FOUND:
            return f"{command[0]} is not installed in the sandbox, or it ended with exit code 127"
        return f"the command did not run: {completed.reason}"
    streams = (completed.stdout, completed.stderr)
    texts = [stream[-MAX_SEARCHED:].decode(errors="replace").rstrip() for stream in streams]
    # Where the work tree is on this machine does not matter, and must not change the question.
    output = "\n".join(filter(None, texts)).replace(f"{completed.project}/", "")
    output = shown(output.replace(completed.project, "."))
    ended = f"exit code {completed.exit_code}"
    if completed.outcome == "stopped":
        ended = f"the command was stopped: {completed.reason}"
    if (missing := len(output) - MAX_CHARACTERS) > 0:
        output = f"({missing} characters are left out)\n{output[missing:]}"
    return f"{ended}\n{output or '(it printed nothing)'}"
