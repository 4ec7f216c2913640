"""git, asked with the interpreter's own means, in the way of ``adapters.git.command``: nothing that a repository names is run."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GIT_MILLISECONDS = 10_000
MOST_LISTED = 4_000_000
"""Bytes of git's answer."""
KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USERPROFILE", "SYSTEMROOT")
GIT_VARIABLES = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
}
HARDENING = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.sshCommand": "false",
    "core.pager": "cat",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    "core.untrackedCache": "false",
}
"""What ``adapters.git.command`` says, which cannot be imported in this time; a test holds them together."""


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """What git is run with: little of ours, and the index of the commit that is being made."""
    kept = {name: environ[name] for name in KEPT if name in environ}
    own = {"GIT_INDEX_FILE": environ["GIT_INDEX_FILE"]} if environ.get("GIT_INDEX_FILE") else {}
    return kept | GIT_VARIABLES | own


def asked(questions: Iterable[tuple[str, ...]], variables: dict[str, str]) -> list[bytes | None]:
    """What git answers to each, asked at once; ``None`` where it fails, says too much or takes too long."""
    options = [word for name, value in HARDENING.items() for word in ("-c", f"{name}={value}")]
    running = [_started(["git", "--no-pager", *options, *words], variables) for words in questions]
    return [_heard(*one) if one else None for one in running]


def _started(argv: list[str], variables: dict[str, str]) -> tuple[int, int] | None:
    """A process, and the pipe that it writes to."""
    reader, writer = os.pipe()
    nowhere = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nowhere, 0), (os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
    try:
        return os.posix_spawnp("git", argv, variables, file_actions=actions), reader
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
        os.close(nowhere)


def _heard(process: int, reader: int) -> bytes | None:
    import select

    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    said = b""
    late = False
    while not late:
        late = not poll.poll(GIT_MILLISECONDS) or len(said) > MOST_LISTED
        part = b"" if late else os.read(reader, 1 << 16)
        said += part
        if not part:
            break
    os.close(reader)
    if late:
        os.kill(process, 9)
    status = os.waitpid(process, 0)[1]
    return said if status == 0 and not late else None
