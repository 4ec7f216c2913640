"""What a user can configure. Defaults stand here; a test compares docs/configuration.md."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from reviewbot.severity import LOWEST, Severity, Threshold

SandboxKind = Literal["auto", "bubblewrap", "container", "none"]
Effort = Literal["auto", "low", "medium", "high"]
# The formats that the output of a custom check may have, see checks/readers.py.
OutputFormat = Literal["gnu", "sarif", "rdjson", "github", "junit", "tap"]
# Titles are what messages say. Other labels do not start a workflow.
Label = Annotated[str, Meta(pattern="^reviewbot:", title="a text that begins with reviewbot:")]
Model = Annotated[str, Meta(pattern="^$|^[^:]+:.", title="a text: `provider:model`")]
URL = "^[^@/]*(//[^@/]*)?(/[^/]|/?$)"  # a user in it would be shown with the settings
Address = Annotated[str, Meta(pattern=URL, title="a text: an address without a user name")]


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class PanelistSettings(Section, frozen=True):
    """A panelist. `model` is `provider:model`; `lens` is what it pays attention to.

    Attributes:
        fallback: the `provider:model` that answers where the first one cannot.
    """

    model: Annotated[Model, Meta(min_length=1)]
    lens: str = ""
    fallback: Model = ""


class PriceSettings(Section, frozen=True):
    """What a model costs, in US dollars for a million tokens."""

    model: str
    input: Annotated[float, Meta(ge=0, le=100_000)]
    output: Annotated[float, Meta(ge=0, le=100_000)]


class ProviderSettings(Section, frozen=True):
    """How a provider is asked. A name that is not built in is a server that speaks like OpenAI's.

    Attributes:
        base_url: where it answers; empty for the vendor's own address.
        key_variable: the variable that holds the key; empty for the vendor's own.
        allow_private: allow plain http to a private address, without a key.
        concurrency: calls at once; 0 for the provider's default.
        requests_per_minute, tokens_per_minute: 0 for any.
    """

    base_url: Address = ""
    key_variable: str = ""
    allow_private: bool = False
    concurrency: Annotated[int, Meta(ge=0, le=64)] = 0
    requests_per_minute: Annotated[int, Meta(ge=0, le=100_000)] = 0
    tokens_per_minute: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    prices: tuple[PriceSettings, ...] = ()


class ReviewSettings(Section, frozen=True):
    """What is reviewed and reported.

    Attributes:
        effort: how much is asked; see docs/debate.md.
        fail_on: findings of this severity or above make the command exit with 1.
        min_severity: findings below it are not reported.
        ignore: gitignore patterns of files that are not reviewed.
        instructions: files with rules for reviewers, read at base.
    """

    effort: Effort = "auto"
    fail_on: Threshold = "none"
    min_severity: Severity = LOWEST
    ignore: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ("AGENTS.md",)


class CheckSettings(Section, frozen=True):
    """A custom check, or with the name of a built-in one, what to change about it.

    Attributes:
        run: program and arguments; `{files}` stands for the changed files.
        parse: the format of its output.
        files: the check runs if the change touches a file that matches one of these globs.
        report: a file that the command writes, to be read instead of its output.
        seconds: time limit; 0 keeps that of the built-in check, or 120.
        off: do not run it.
    """

    name: str
    run: tuple[str, ...] = ()
    parse: OutputFormat = "gnu"
    files: tuple[str, ...] = ("*",)
    report: str = ""
    seconds: Annotated[int, Meta(ge=0, le=86_400)] = 0
    off: bool = False


class LimitSettings(Section, frozen=True):
    """The most that one review may cost in US dollars, and take in seconds."""

    cost_usd: Annotated[float, Meta(ge=0, le=10_000)] = 1.0
    seconds: Annotated[int, Meta(ge=1, le=86_400)] = 600


class HookSettings(Section, frozen=True):
    """Findings of which severity stop a commit and a push."""

    commit: Threshold = "critical"
    push: Threshold = "high"


class SandboxSettings(Section, frozen=True):
    """Where the change is executed. `image` is a local container image with git's tools."""

    kind: SandboxKind = "auto"
    image: str = ""


class StoreSettings(Section, frozen=True):
    """Where questions and answers are kept: `postgresql://…`, or a file in the state if empty."""

    url: str = ""


class ToolSettings(Section, frozen=True):
    """What panelists may use besides reading the repository.

    Attributes:
        commands: programs that may run in the sandbox, each with the first of its arguments.
        database: the address of a database that may be read, `sqlite:///…` or `postgresql://…`.
    """

    commands: tuple[str, ...] = ()
    database: str = ""


class GitHubSettings(Section, frozen=True):
    """Reviews of pull requests on GitHub.

    Attributes:
        drafts: review drafts as well.
        skip_label, review_label: labels that keep a pull request from being reviewed, and that
            have a draft reviewed. They begin with `reviewbot:`.
        bots: logins of bots whose pull requests are reviewed.
        max_comments: the most comments on lines of a pull request.
        labels: set a label that says what the verdict is.
        commands_per_hour: the most commands that are obeyed on a pull request, and of one
            person on an issue. A repository's own file does not count for it.
    """

    drafts: bool = False
    skip_label: Label = "reviewbot:skip"
    review_label: Label = "reviewbot:review"
    bots: tuple[str, ...] = ()
    max_comments: Annotated[int, Meta(ge=0, le=100)] = 10
    labels: bool = False
    commands_per_hour: Annotated[int, Meta(ge=1, le=1_000)] = 30


class Settings(Section, frozen=True):
    panel: dict[str, PanelistSettings] = {}
    moderator: PanelistSettings | None = None
    providers: dict[str, ProviderSettings] = {}
    review: ReviewSettings = ReviewSettings()
    checks: tuple[CheckSettings, ...] = ()
    limits: LimitSettings = LimitSettings()
    hooks: HookSettings = HookSettings()
    sandbox: SandboxSettings = SandboxSettings()
    store: StoreSettings = StoreSettings()
    tools: ToolSettings = ToolSettings()
    github: GitHubSettings = GitHubSettings()
