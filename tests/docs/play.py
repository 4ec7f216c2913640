"""A page, followed from its first block to its last: what is run, and what is held against what it printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tests.docs import outside
from tests.docs.console import Command, Shell, commands
from tests.docs.pages import Block
from tests.docs.shown import missing


class Reader:
    """Somebody who does what a page says. ``instead``: commands by their text that are run as others (besides the table's);
    ``anyway``: patterns of those of the table that are run here."""

    PLAYED = ("console", "python", "text", "sh")

    def __init__(
        self, page: str, shell: Shell, *, instead: Mapping[str, str] | None = None, anyway: tuple[str, ...] = ()
    ) -> None:
        self._page = page
        self._shell = shell
        self._instead = instead or {}
        self._anyway = anyway
        self._said: str | None = None
        self.wrong: list[str] = []
        if page in outside.GIVEN:
            self._run(f"the beginning of {page}", outside.GIVEN[page], 0)

    def follow(self, blocks: Iterable[Block]) -> None:
        """Every block in order. What goes wrong is kept, and the reader reads on: one run tells everything."""
        for block in blocks:
            if block.file:
                self._write(block)
            elif block.language == "console":
                said = [self._do(block, command) for command in commands(block.text)]
                self._said = "".join(text for text in said if text is not None) if any(said) else None
            elif block.language == "python":
                self._said = self._run(str(block), f"python - <<'END_OF_BLOCK'\n{block.text}END_OF_BLOCK", 0)
            elif block.language == "sh":
                self._run(str(block), f"sh -n <<'END_OF_BLOCK'\n{block.text}END_OF_BLOCK", 0)
            elif block.language == "text":
                self._compare(block, block.text, self._said)

    def _do(self, block: Block, command: Command) -> str | None:
        """One command of a page, run or looked at; ``None`` where it was not run."""
        row = None if self._is_run(command) else outside.row_of(command.text)
        if row is not None:
            if row.check is not None and (found := row.check(command.text)):
                self.wrong.append(f"{block}: {command.text}: {found}")
            return None
        real = self._instead.get(command.text, outside.stood_in(command.text))
        said = self._run(f"{block}: {command.text}", real, outside.ENDS_WITH.get((self._page, command.text), 0))
        if command.output:
            self._compare(block, command.output, said)
        return said

    def _is_run(self, command: Command) -> bool:
        return command.text in self._instead or any(re.fullmatch(pattern, command.text) for pattern in self._anyway)

    def _run(self, where: str, command: str, code: int) -> str:
        done = self._shell.run(command)
        if done.code != code:
            self.wrong.append(f"{where}\nended with {done.code}, not {code}:\n{done.text[-4000:]}")
        return done.text

    def _compare(self, block: Block, shown: str, said: str | None) -> None:
        if said is None:
            self.wrong.append(f"{block}: it shows an output, and no command before it was run")
        elif piece := missing(shown, said):
            self.wrong.append(f"{block}: it shows\n{piece}\nwhich is not in what was said:\n{said}")

    def _write(self, block: Block) -> None:
        file = self._shell.folder / block.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text.split("\n", 1)[1], encoding="utf-8")
