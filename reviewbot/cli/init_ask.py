"""The questions of ``reviewbot init`` at a terminal: few, each with an answer that Enter gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click

from reviewbot.cli import init_workflows as workflows
from reviewbot.cli.init_plan import CONFIGURATION, HOOKS, PRE_COMMIT, Ground, Piece, Wishes
from reviewbot.cli.init_workflows import Action
from reviewbot.errors import UsageError


@dataclass(frozen=True, slots=True)
class Said:
    """What flags have said already. ``None``: nothing, so that it is asked."""

    configuration: bool | None = None
    hooks: str | None = None
    workflows: tuple[str, ...] | None = None
    uses: Action | None = None
    secrets: tuple[str, ...] | None = None

    @property
    def anything(self) -> bool:
        """Did they choose something to write, or to leave?"""
        return self.configuration is not None or self.hooks is not None or self.workflows is not None

    def wishes(self) -> Wishes:
        """What flags alone mean: what they do not name is not written, and where they name nothing the configuration is."""
        alone = not self.anything
        return Wishes(alone or bool(self.configuration), self.hooks or "none", self.workflows or (), self.uses, self.secrets)


def ground(top: Path, environ: Mapping[str, str]) -> Ground:
    """Look around. Nothing is run."""
    return Ground(
        has_configuration=(top / CONFIGURATION).exists(),
        has_table="[tool.reviewbot" in _text(top / "pyproject.toml"),
        has_pre_commit=(top / PRE_COMMIT).exists(),
        has_entry="reviewbot" in _text(top / PRE_COMMIT),
        is_repository=(top / ".git").exists(),
        is_on_github=(top / ".github").is_dir() or "github" in _text(top / ".git" / "config"),
        keys=tuple(word for word, name in workflows.SECRETS.items() if environ.get(name)),
    )


def asked(said: Said, place: Ground, *, origin: Callable[[], Action | None], force: bool) -> Wishes:
    """Ask for what flags left open."""
    wishes = replace(said.wishes(), configuration=_configuration(said, place, force=force), hooks=_hooks(said, place))
    chosen = said.workflows if said.workflows is not None else _workflows(place)
    if not chosen:
        known = origin() if wishes.hooks == "pre-commit" and said.uses is None else said.uses
        return replace(wishes, workflows=(), uses=known)
    uses = said.uses or _uses(origin())
    handing = set(chosen) != {"autofix"}
    secrets = said.secrets if said.secrets is not None or not handing else _secrets(place)
    return replace(wishes, workflows=chosen, uses=uses, secrets=secrets)


def agreed(pieces: tuple[Piece, ...], deeds: tuple[str, ...], show: Callable[[Piece], None]) -> bool:
    """Name what would be done, show it where that is wanted, and ask."""
    click.echo("\nTo do:", err=True)
    for piece in pieces:
        click.echo(f"  write {piece.path} ({piece.lines} lines)", err=True)
    for deed in deeds:
        click.echo(f"  {deed}", err=True)
    while True:
        match _word("Do it? yes, no, or show the files", ("yes", "no", "show"), "yes"):
            case "show":
                for piece in pieces:
                    show(piece)
            case answer:
                return answer == "yes"


def _configuration(said: Said, place: Ground, *, force: bool) -> bool:
    if said.configuration is not None:
        return said.configuration
    if place.has_configuration and not force:
        click.echo(f"{CONFIGURATION} is there already and stays as it is.", err=True)
        return False
    if place.has_table and not force:
        click.echo("pyproject.toml has [tool.reviewbot] and stays as it is.", err=True)
        return False
    return click.confirm(f"Write {CONFIGURATION}, every default a commented line?", default=True, err=True)


def _hooks(said: Said, place: Ground) -> str:
    if said.hooks is not None:
        return said.hooks
    if not place.is_repository:
        click.echo("This is no git repository: no hooks.", err=True)
        return "none"
    default = "pre-commit" if place.has_pre_commit else "native"
    click.echo("Git hooks review before a commit and before a push; by default they warn and let it pass.", err=True)
    return _word(f"Which hooks? {', '.join(HOOKS)}", HOOKS, default)


def _workflows(place: Ground) -> tuple[str, ...]:
    if not click.confirm("Review pull requests on GitHub?", default=place.is_on_github, err=True):
        return ()
    click.echo(
        "  review    pull requests from branches of the repository\n"
        "  forks     pull requests from forks, in two stages\n"
        "  commands  obey /debate comments of people who may write\n"
        "  autofix   /debate fix and /debate undo, in a job that may write\n"
        "  audit     the whole tree once a week",
        err=True,
    )
    return _words("Which workflows?", tuple(workflows.SETS), ("review",))


def _uses(known: Action | None) -> Action | None:
    """Whose reviewbot runs there; nothing where that is not known yet."""
    click.echo("Which reviewbot runs there, as OWNER/REPO@COMMIT? With - the files keep a placeholder.", err=True)
    while True:
        answer = str(click.prompt("Action", default=str(known) if known else "-", err=True)).strip()
        if answer == "-":
            return None
        try:
            return known if known and answer == str(known) else workflows.action(answer)
        except UsageError as wrong:
            click.echo(str(wrong), err=True)


def _secrets(place: Ground) -> tuple[str, ...]:
    question = "Whose keys are secrets of the repository? With none the static panel reviews."
    return _words(question, (*workflows.SECRETS, "none"), place.keys or ("none",), but="none")


def _words(question: str, known: tuple[str, ...], default: tuple[str, ...], *, but: str = "") -> tuple[str, ...]:
    """Several of the known words, in their order; ``but`` stands for none of them."""
    while True:
        answer = click.prompt(f"{question} ({', '.join(known)})", default=", ".join(default), err=True)
        words = str(answer).replace(",", " ").split()
        wrong = [word for word in words if word not in known]
        if words and not wrong:
            return tuple(word for word in known if word in words and word != but)
        click.echo(f"{wrong[0] if wrong else 'nothing'} is not one of {', '.join(known)}.", err=True)


def _word(question: str, known: tuple[str, ...], default: str) -> str:
    """One of the known words, or how it begins where that is clear."""
    while True:
        answer = str(click.prompt(question, default=default, err=True)).strip().lower()
        meant = [word for word in known if word.startswith(answer)]
        if len(meant) == 1 or answer in known:
            return answer if answer in known else meant[0]
        click.echo(f"{answer} is not one of {', '.join(known)}.", err=True)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
