"""What ``reviewbot init`` would write, and what is left to do by hand: decided here, done elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.cli import init_workflows as workflows
from reviewbot.cli.init_workflows import Action
from reviewbot.config.describe import commented_file
from reviewbot.events.hook_text import FRAMEWORK

CONFIGURATION = ".reviewbot.yml"
PRE_COMMIT = ".pre-commit-config.yaml"
HOOKS = ("native", "pre-commit", "none")

FROM_REPOSITORY = """\
  - repo: {url}
    rev: "{commit}"
    hooks:
      - id: reviewbot
      - id: reviewbot-push
"""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for. ``workflows`` are words of :data:`reviewbot.cli.init_workflows.SETS`; ``secrets`` providers, ``None``
    for what is shipped; ``uses`` ``None`` where nobody knows which reviewbot GitHub could fetch."""

    configuration: bool = False
    hooks: str = "none"
    workflows: tuple[str, ...] = ()
    uses: Action | None = None
    secrets: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of the place. ``has_table``: ``pyproject.toml`` configures reviewbot; ``has_pre_commit``: there is a
    pre-commit configuration; ``has_entry``: it names reviewbot. ``keys`` are the providers whose keys are in the environment."""

    has_configuration: bool = False
    has_table: bool = False
    has_pre_commit: bool = False
    has_entry: bool = False
    is_repository: bool = False
    is_on_github: bool = False
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A file to write: its path below the top, with slashes, and its whole text."""

    path: str
    text: str

    @property
    def lines(self) -> int:
        """How long it is."""
        return self.text.count("\n")


def pieces(wishes: Wishes, *, has_pre_commit: bool) -> tuple[Piece, ...]:
    """The files. A pre-commit configuration that is there is nobody's to rewrite: see :func:`steps`."""
    made = [Piece(CONFIGURATION, commented_file())] if wishes.configuration else []
    if wishes.hooks == "pre-commit" and not has_pre_commit:
        made.append(Piece(PRE_COMMIT, f"default_install_hook_types: [pre-commit, pre-push]\nrepos:\n{snippet(wishes.uses)}"))
    fixes = "autofix" in wishes.workflows
    for name in workflows.names(wishes.workflows):
        prepares = fixes and name == "review.yml"
        text = workflows.filled(workflows.shipped(name), wishes.uses, wishes.secrets, prepares_fixes=prepares)
        made.append(Piece(f"{workflows.PLACE}/{name}", text))
    return tuple(made)


def snippet(uses: Action | None) -> str:
    """An entry of ``repos`` of a pre-commit configuration."""
    return FROM_REPOSITORY.format(url=uses.url, commit=uses.commit) if uses else FRAMEWORK


def steps(wishes: Wishes, written: tuple[Piece, ...], *, place: Ground, git: str = "git") -> str:
    """What comes next, a line each; what must be done by hand first. ``git`` is how git is called at the top."""
    said = [*_by_hand(wishes, place), "Next:"]
    rows: list[tuple[str, str]] = []
    if wishes.configuration:
        rows.append(("reviewbot config validate", "check the file after editing it"))
        rows.append(("reviewbot models list", "who could sit on the panel, by the keys that are here"))
    if wishes.hooks == "native":
        rows.append(("reviewbot hook status", "which hooks run here"))
    if wishes.hooks == "pre-commit":
        rows.append(("pre-commit install -t pre-commit -t pre-push", "install its hooks"))
    if wishes.workflows:
        rows += _at_github(wishes)
    if written:
        rows.append((f"{git} add {' '.join(_added(written))}", "it counts once it is committed"))
    rows += [
        ("reviewbot review", "review what is uncommitted, or the last commit"),
        ("reviewbot doctor", "what is still missing"),
    ]
    width = max(len(command) for command, _ in rows if len(command) <= 48)
    return "\n".join([*said, *(f"  {command:<{width}}  {why}" for command, why in rows)])


def _added(written: tuple[Piece, ...]) -> tuple[str, ...]:
    """The paths, workflows by their folder."""
    return tuple(dict.fromkeys(workflows.PLACE if piece.path.startswith(workflows.PLACE) else piece.path for piece in written))


def _by_hand(wishes: Wishes, place: Ground) -> list[str]:
    said = []
    if wishes.hooks == "pre-commit" and place.has_pre_commit and not place.has_entry:
        said.append(f"{PRE_COMMIT} is yours and stays as it is. Put this under its 'repos:':\n\n{snippet(wishes.uses)}")
    if "autofix" in wishes.workflows and "review" not in wishes.workflows:
        said.append(
            "autofix.yml commits what a review made: review.yml must say 'autofix: suggest' among the inputs of its step.\n"
        )
    if wishes.workflows and wishes.uses is None:
        said.append(
            f"GitHub refuses these workflows until you put the address and the commit of a reviewbot that it can fetch in place\n"
            f"of {workflows.PLACEHOLDER}, or write them again with --force --action-ref OWNER/REPO@COMMIT.\n"
        )
    return said


def _at_github(wishes: Wishes) -> list[tuple[str, str]]:
    """Secrets and variables, with GitHub's own program. Without a secret the static panel reviews."""
    handed = () if wishes.secrets is None else wishes.secrets
    rows = [(f"gh secret set {workflows.SECRETS[one]}", "the key that the workflows hand over") for one in handed]
    if wishes.secrets is None and set(wishes.workflows) - {"autofix"}:
        rows.append(("gh secret set ANTHROPIC_API_KEY", "or another provider's; without a key the static panel reviews"))
    if "autofix" in wishes.workflows:
        rows.append(("gh variable set REVIEWBOT_AUTOFIX --body true", "without it autofix.yml obeys nobody"))
    return rows
