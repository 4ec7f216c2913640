"""Who is on the panel, what that costs, and how models are named, tested and watched."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Project
from each import each

from reviewbot.config.settings import PanelistSettings, ProviderSettings, Settings
from reviewbot.debate.panel import choose_members
from reviewbot.errors import ConfigError
from reviewbot.llm.providers import connections_to
from tests import fake_openai, served
from tests.served import live_in, run
from tests.vendor_server import Received, Sent, VendorServer

SMALL = {
    "cart.py": "def total(prices):\n    return sum(prices)\n",
    "test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
}
SILENT = '{"claims": []}'
PRIVATE_KEY = f"-----BEGIN PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA' * 4}\n-----END PRIVATE KEY-----"


@pytest.fixture
def cart(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Project:
    live_in(project, tmp_path_factory, monkeypatch)
    project.commit("A cart", SMALL)
    project.commit("Round", {"cart.py": SMALL["cart.py"].replace("sum(prices)", "sum(prices) + 0")})
    return project


@pytest.fixture
def server(cart: Project) -> Iterator[VendorServer]:  # noqa: ARG001
    """A compatible server that one panelist asks, as the user file says."""

    def script(received: Received) -> Sent:
        said = f"{PRIVATE_KEY}\n{SILENT}"
        text = said if "find defects" in json.dumps(received.body) else '{"word": "ready"}'
        return fake_openai.answer(text, input_tokens=len(str(received.body)) // 4)

    with VendorServer(script).running() as running:
        configure(running.url)
        yield running


def configure(url: str, price: str = "[{model: big, input: 2, output: 10}]") -> None:
    served.configure(
        f"providers:\n  gpu:\n    base_url: {url}/v1\n    prices: {price}\n"
        "panel:\n  critic: {model: 'gpu:big'}\n"
    )


def members(settings: Settings, named: dict[str, str] | None = None, **variables: str) -> list[str]:
    found, _ = choose_members(settings, variables, named or {})
    return [f"{member.name}={member.provider}:{member.model}" for member in found]


def test_one_key_is_enough_for_a_panel() -> None:
    assert members(Settings()) == []
    roles = ("critic", "reviewer", "optimizer")
    named = [f"{role}=anthropic:claude-sonnet-5-5" for role in roles]
    assert members(Settings(), ANTHROPIC_API_KEY="k") == named
    for name in ("OLLAMA_HOST", "OLLAMA_BASE_URL"):
        variables = {name: "http://127.0.0.1:99"}
        assert members(Settings(), **variables)[0] == "critic=ollama:qwen3-coder:30b"
        connections = connections_to(["ollama:x"], {}, variables)
        assert connections["ollama"].open.args[1].base_url == "http://127.0.0.1:99"
    # Several are several vendors, and the moderator is none of the panelists.
    vendors = ("anthropic", "openai", "gemini", "openrouter")
    keys = {f"{vendor.upper()}_API_KEY": "k" for vendor in vendors}
    found = [member.partition(":")[0] for member in members(Settings(), **keys)]
    assert found == [f"{r}={v}" for r, v in zip((*roles, "moderator"), vendors, strict=True)]


def test_a_model_that_is_named_wins_and_one_without_a_key_is_left_out_with_a_reason() -> None:
    settings = Settings(
        panel={"critic": PanelistSettings(model="openai:a", lens="Licences")},
        moderator=PanelistSettings(model="gemini:c"),
    )
    keys = {"ANTHROPIC_API_KEY": "k"}
    found, notes = choose_members(settings, keys, {"critic": "anthropic:b"})
    assert [(member.model, member.lens) for member in found] == [("b", "Licences")]
    assert notes == ["moderator is not asked: GEMINI_API_KEY is not set."]
    assert members(Settings(), ANTHROPIC_API_KEY="k", DEFAULT_MODEL="ollama:x")[0] == (
        "critic=ollama:x"
    )


def test_a_named_model_that_cannot_be_asked_is_an_error() -> None:
    for model, message in (
        ("openai:a", "openai:a cannot be asked: OPENAI_API_KEY is not set"),
        ("nobody:a", "no provider is called nobody"),
    ):
        with pytest.raises(ConfigError, match=message):
            members(Settings(), {"critic": model})
    with pytest.raises(ConfigError, match=r"^DEFAULT_MODEL: gpt-5 names no provider and model"):
        members(Settings(), OPENAI_API_KEY="k", DEFAULT_MODEL="gpt-5")


def test_a_key_may_stand_in_a_variable_of_another_name() -> None:
    providers = {"anthropic": ProviderSettings(key_variable="TEAM_KEY")}
    assert members(Settings(providers=providers), ANTHROPIC_API_KEY="k") == []
    assert len(members(Settings(providers=providers), TEAM_KEY="k")) == 3
    own = ProviderSettings(base_url="http://127.0.0.1:9/v1", key_variable="GPU_KEY")
    panel = {"critic": PanelistSettings(model="gpu:a")}
    assert members(Settings(providers={"gpu": own}, panel=panel)) == []
    assert len(members(Settings(providers={"gpu": own}, panel=panel), GPU_KEY="k")) == 1


@pytest.mark.usefixtures("cart")
def test_models_say_why_a_panelist_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with VendorServer([fake_openai.FAULTS["denied: denied"]]).running() as running:
        configure(running.url)
        assert "API key provided. (check the key of gpu)" in run("models", "test").stdout
    monkeypatch.setenv("REVIEWBOT_PANEL__CRITIC__MODEL", "openai:a")
    reason = "critic is not asked: OPENAI_API_KEY is not set."
    assert reason in run("models").stdout
    assert reason in run("models", "test").stderr


def test_a_fallback_without_a_key_is_left_out_with_a_reason() -> None:
    panel = {"critic": PanelistSettings(model="ollama:a", fallback="anthropic:b")}
    (member,), notes = choose_members(Settings(panel=panel), {}, {})
    assert member.fallback == ""
    assert notes == ["anthropic:b is no fallback of critic: ANTHROPIC_API_KEY is not set."]
    (member,), notes = choose_members(Settings(panel=panel), {"ANTHROPIC_API_KEY": "k"}, {})
    assert (member.fallback, notes) == ("anthropic:b", [])


LOCAL = ("127.0.0.1", "localhost", "[::1]")


@each(
    ("name", "address", "is_local"),
    [
        *(("my-box", f"http://{host}:8000/v1", True) for host in LOCAL),
        ("my-box", "https://models.example.org/v1", False),
        ("openai", "http://127.0.0.1:8000/v1", False),  # a proxy in front of the vendor
        ("ollama", "https://models.example.org", True),
    ],
)
def test_only_a_server_of_ones_own_costs_nothing(name: str, address: str, is_local: bool) -> None:
    providers, keys = {name: ProviderSettings(base_url=address)}, {"MY_BOX_API_KEY": "k"}
    (connection,) = connections_to([f"{name}:any"], providers, keys).values()
    assert connection.is_local == is_local
    assert connection.open.args[1].key == ("k" if name == "my-box" else "")


@pytest.mark.usefixtures("cart")
def test_models_lists_the_panel_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access  # root may write anywhere
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
        assert "only executed checks decide" in run("models").stdout
    shown = run("models", "list").stdout
    assert "OPENAI_API_KEY is not set" in shown
    assert "ollama     is asked where a panelist names it" in shown
    with monkeypatch.context() as patch:
        for name in ("httpx2", "pip"):  # as in an environment that uv made
            patch.setitem(sys.modules, name, None)
        needed = f"uv pip install --python {sys.executable} '.[models]' in the clone of reviewbot"
        assert f"openai     a package is not installed: {needed}" in run("models", "list").stdout
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-key")
    shown = run("models", "list").stdout
    assert "anthropic:claude-sonnet-5-5  $2 in, $10 out a million tokens" in shown
    assert "✓ critic: anthropic:claude-sonnet-5-5" in run("doctor").stdout
    assert "canary" not in shown
    monkeypatch.setenv("REVIEWBOT_PANEL__CRITIC__MODEL", "openai:unpriced")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    unpriced = "! critic is not asked: nobody knows what openai:unpriced costs"
    assert unpriced in run("doctor").stdout
    # With which no model can be asked.
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key\n")
    result = run("doctor")
    assert result.exit_code == 3
    assert "✗ the key of openai has a character that no key has" in result.stdout
    assert "Next: copy the key again, without spaces and line ends" in result.stdout
    assert "canary" not in result.stdout


def test_a_model_is_tested_with_one_word(
    server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("models", "test")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("✓ gpu:big answered after")
    assert len(server.received) == 1
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("REVIEWBOT_PANEL__CRITIC__FALLBACK", "openai:bug")
    assert "\n  fallback   openai:bug  no known price, so it is not asked" in run("models").stdout
    result = run("models", "test")
    assert result.exit_code == 3
    assert "✓ gpu:big answered after" in result.stdout
    assert "✗ openai:bug: nobody knows what openai:bug costs" in result.stdout
    assert "(check its name, or set providers.openai.prices: see docs/models.md)" in result.stdout
    configure("http://127.0.0.1:9")
    result = run("models", "test")
    assert result.exit_code == 3
    assert "✗ gpu:big: gpu cannot be reached" in result.stdout


def test_a_review_asks_once_says_what_it_cost_and_shows_what_was_said(server: VendorServer) -> None:
    result = run("review", "HEAD", "-v", "--no-exec")
    assert result.exit_code == 0, result.output
    assert "── critic: first_pass asks gpu:big" in result.stderr
    hidden = "-----BEGIN PRIVATE KEY-----«secret:private-key»"
    assert f"── gpu:big answers critic: first_pass\n│ {hidden}\n" in result.stderr
    assert f"│ {SILENT}" in result.stderr
    assert "MIIE" not in result.stderr
    assert "Panel: critic (big). 1 call, " in result.stdout
    assert "$0.00" in result.stdout
    result = run("review", "HEAD", "--no-exec")
    assert "0 calls and 1 recorded" in result.stdout
    assert "of it paid before" in " ".join(result.stdout.split())
    assert len(server.received) == 1
    assert "1 call, " in run("review", "HEAD", "--no-exec", "--fresh").stdout
    assert len(server.received) == 2


def test_a_model_for_which_a_prompt_is_too_long_reads_a_part_of_the_change(cart: Project) -> None:
    def script(received: Received) -> Sent:
        shown = str(received.body).partition("files that are not shown")[0]
        too_long = fake_openai.FAULTS["L7 too long: too_long"]
        return too_long if "c.lua" in shown else fake_openai.answer(SILENT)

    cart.commit("Three", {name: f"return {name[0]}\n" for name in ("a.lua", "b.lua", "c.lua")})
    with VendorServer(script).running() as server:
        configure(server.url)
        for _ in range(2):  # the second time, both outcomes are recorded
            result = run("review", "HEAD", "--no-exec", "--effort", "low")
            shown = " ".join(result.stdout.split())
            assert "b.lua, c.lua were only scanned" in shown
            assert "critic/first_pass: asked with less of the change" in shown
            assert len(server.received) == 2


def test_a_dry_run_asks_nobody_and_says_what_it_would_cost(server: VendorServer) -> None:
    assert "No language model would be asked" in run("review", "HEAD..HEAD", "--dry-run").stdout
    shown = run("review", "HEAD", "--dry-run").stdout
    assert "Effort auto: one panelist (nothing about the change is risky" in shown
    assert "critic/first_pass  gpu:big  about" in shown
    assert "costs at most $1.00 (limits.cost_usd)" in shown
    arguments = ("--dry-run", "--max-cost-usd", "0.5", "--effort", "low")
    shown = run("review", "HEAD", *arguments).stdout
    assert "costs at most $0.50" in shown
    assert "Effort low: one panelist (--effort or review.effort says low)." in shown
    shown = run("review", "HEAD", "--dry-run", "--model", "second=gpu:other").stdout
    assert "second/first_pass" not in shown
    configure("https://gpu.example.org", "[]")
    assert "would not be asked: nobody knows what gpu:big costs" in (
        run("review", "HEAD", "--dry-run").stdout
    )
    assert not server.received


RISKY = {
    "security": {"auth.py": "def login(password):\n    return password\n"},
    "concurrency": {"cart.py": "import threading\n\nLOCK = threading.Lock()\n"},
    "migration": {"migrations/1.sql": "DROP TABLE carts;\n"},
    "public API": {"cart.py": "def sums(prices):\n    return sum(prices)\n"},
    "no tests": {"shop.py": "A = 1\n"},
    "size": {"cart.py": "".join(f"A{n} = {n}\n" for n in range(130))},
}
OTHERS = ("--model", "reviewer=gpu:big", "--model", "optimizer=gpu:big")


@pytest.mark.usefixtures("server")
def test_a_risky_change_gets_the_panel(cart: Project) -> None:
    """Each risk alone is why."""
    for risk, files in RISKY.items():
        cart.git("checkout", "--quiet", "main")
        cart.git("checkout", "--quiet", "-b", risk.replace(" ", "-"))
        cart.commit("Change", files)
        shown = run("review", "HEAD", "--dry-run", *OTHERS).stdout
        assert shown.startswith("Effort auto: the panel (")
        assert f"{risk}: " in shown
        assert shown.count("/first_pass") == 3
    for words in ("Login and password.", "Threads, and who may log in."):
        text = '""" """\n\n# A lock: '
        cart.commit("Explain", {"auth.py": f"{text}{words}\n"})
    assert "one panelist" in run("review", "HEAD", "--dry-run", *OTHERS).stdout
    cart.commit("Define", {"tests/lock.c": "", "lock.c": "#define THREADS 1\n"})
    cart.commit("Define more", {"lock.c": "#define THREADS 2\n"})
    assert "concurrency: lock.c" in run("review", "HEAD", "--dry-run", *OTHERS).stdout


def test_effort_decides_how_many_read_a_calm_change(server: VendorServer) -> None:
    for effort, asked in (("auto", 1), ("low", 1), ("medium", 3), ("high", 3)):
        before = len(server.received)
        result = run("review", "HEAD", "--no-exec", "--fresh", "--effort", effort, *OTHERS)
        assert result.exit_code == 0, result.output
        assert len(server.received) - before == asked, effort


@pytest.mark.usefixtures("cart")
def test_effort_decides_what_is_judged_and_ruled_on() -> None:
    """Of a calm change in which the critic finds a serious defect and a milder one."""
    lines = {"high": "    return sum(prices) + 0", "medium": "def total(prices):"}
    said = dict.fromkeys(("trigger", "consequence", "refuted_if"), "any cart")
    claims = [
        {"path": "cart.py", "line": 2, "quote": line, "category": "correctness", **said}
        | {"severity": severity, "title": f"A {severity} defect"}
        for severity, line in lines.items()
    ]
    asked: list[str] = []

    def script(received: Received) -> Sent:
        text, model = str(received.body["messages"][0]["content"]), received.body["model"]
        (task,) = re.findall(r"# Task: (find|judge|rule)", text)
        cases = re.findall(r"^## Case (\w+)", text, re.MULTILINE)
        asked.append(f"{model} {task} {len(cases)}")
        about = {"citations": ["cart.py:2"], "stance": "real" if model == "b" else "not_real"}
        judgements = [{"case": case, "reason": "It is.", **about} for case in cases]
        found = claims if model == "a" and task == "find" else []
        return fake_openai.answer(json.dumps({"claims": found, "judgements": judgements}))

    with VendorServer(script).running() as running:
        serious = ["b judge 1", "c judge 1", "c rule 2", "c rule 2"]
        for effort, readers, later in (
            ("low", "a", []),
            ("auto", "a", serious),
            ("medium", "abc", serious),
            ("high", "abc", [f"{model} judge 2" for model in "abbcc"]),
        ):
            asked.clear()
            served.configure(served.configuration(running.url, effort=effort))
            result = run("review", "HEAD", "--no-exec", "--fresh")
            assert result.exit_code == 0, result.output
            assert sorted(asked) == sorted([*(f"{model} find 0" for model in readers), *later])


def test_keys_in_a_file_git_ignores_count(
    cart: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cart.folder / ".env").write_text("ANTHROPIC_API_KEY=k\nPATH=/nowhere\nnonsense\n")
    assert "only executed checks decide" in run("models").stdout
    with monkeypatch.context() as user:
        user.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
        (tmp_path / "home/git").mkdir(parents=True)
        (tmp_path / "home/git/ignore").write_text(".env\n")
        assert "critic     anthropic:claude-sonnet-5-5" in run("models").stdout
    cart.git("add", "--force", ".env")
    cart.commit("Ignore", {".gitignore": ".env\n"})
    assert "anthropic:claude-sonnet-5-5" not in run("models").stdout  # it is tracked
    cart.git("rm", "--quiet", "--cached", ".env")
    cart.git("commit", "--quiet", "--message=Remove")
    assert "critic     anthropic:claude-sonnet-5-5" in run("models").stdout
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert "reviewer   openai:" in run("models").stdout
    # As those of servers of one's own do, which the user file names.
    (cart.folder / ".env").write_text("GPU_KEY=k\nBOX_API_KEY=k\n")
    for name, more in {"gpu": "key_variable: GPU_KEY", "box": ""}.items():
        server = f"{name}: {{base_url: 'https://gpu.example.org/v1', {more}}}"
        served.configure(f"providers: {{{server}}}\npanel: {{critic: {{model: '{name}:a'}}}}")
        assert "critic is not asked" not in run("models").stdout


ACME = f"""
from reviewbot.llm.provider import ModelReply, Usage
from reviewbot.llm.providers import Vendor
ACME = Vendor(module='acme', key_names=('ACME_KEY',), model='one', is_local=True)
class Acme:
    async def complete(self, request, on_text=None):
        return ModelReply(text={SILENT!r}, usage=Usage(output_tokens=9))
    async def close(self):
        pass
def connect(account):
    return Acme()
"""


@pytest.mark.usefixtures("cart")
def test_other_packages_add_providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "packages"
    information = package / "acme-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Name: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[reviewbot.providers]\nacme = acme:ACME\n")
    (package / "acme.py").write_text(ACME)
    monkeypatch.syspath_prepend(str(package))
    assert "acme       ACME_KEY is not set" in run("models", "list").stdout
    monkeypatch.setenv("ACME_KEY", "k")
    assert "critic     acme:one  free" in run("models", "list").stdout
    assert "✓ critic: acme:one" in run("doctor").stdout
    Path("own.yml").write_text("panel: {critic: {model: 'acme:one'}}\n")
    assert "valid" in run("config", "check", "own.yml").stdout
    for wrong in ("model: 'acne:one'", "model: 'acme:one', fallback: 'acne:one'"):
        Path("own.yml").write_text(f"panel: {{critic: {{{wrong}}}}}\n")
        result = run("config", "check", "own.yml")
        assert result.exit_code == 2
        assert "no provider is called acne\nuse one of anthropic, " in result.stderr
    assert "acme" in result.stderr
    assert "Panel: critic (one). 1 call, " in run("review", "HEAD", "--no-exec").stdout
