"""Negotiations and conversations from the command line, with models behind a server."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import Project
from each import each
from msgspec.structs import replace

import reviewbot
from reviewbot.cli.commands import reviewbot as reviewbot_command
from reviewbot.cli.negotiate import describe
from reviewbot.context.brief import names_of
from reviewbot.debate.panel import Panelist
from reviewbot.errors import UsageError
from reviewbot.talk.chat import members_of
from reviewbot.talk.negotiation import Idea, Negotiation, Proposal, Vote, put_on_table, standing_of
from tests import fake_openai
from tests.served import configuration, configure, live_in, run, wait_until
from tests.vendor_server import Received, Sent, VendorServer

Serve = Callable[..., VendorServer]
KEY = "ghp_" + "a1B2" * 9
FILES = {"prices.py": "PRICES = {'tea': 3}\n", "notes.txt": "Prices change at night.\n"}


@pytest.fixture
def shop(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        live_in(project, tmp_path_factory, patch)
        project.commit("A shop", FILES)
        yield project


@pytest.fixture
def serve(shop: Project) -> Iterator[Serve]:  # noqa: ARG001
    """Starts a server whose models answer with these documents, and configures a panel of it."""
    with ExitStack() as stack:

        def start(answer: Callable[[Received], Any]) -> VendorServer:
            def script(received: Received) -> Sent:
                said = answer(received)
                return said if isinstance(said, Sent) else fake_openai.answer(json.dumps(said))

            server = stack.enter_context(VendorServer(script).running())
            configure(configuration(server.url))
            return server

        yield start


def prompt_of(received: Received) -> str:
    return "\n".join(str(message["content"]) for message in received.body["messages"])


def proposal(title: str) -> dict[str, str]:
    more = {"benefit": "Fast.", "risk": f"Stale: {KEY}"}
    return {"title": title, "proposal": f"How: {title}.", **more}


def negotiator(received: Received) -> Any:
    """a wants a cache, b a database, c the cache under other words.

    b never wants the cache, c the database only in the end, and to a both are one.
    """
    model, prompt = received.body["model"], prompt_of(received)
    if "# Task: propose" in prompt:
        titles = {"a": ["Cache the prices"], "b": ["Use a database"], "c": ["Cache prices"]}
        return {"ideas": [proposal(title) for title in titles[model]]}
    is_second = "An argument" in prompt
    written = {"a": "{}", "b": "Idea {}: one of them", "c": "`{}`"}[model]  # as models write it
    ballots = []
    for id, title in (("I1", "the cache"), ("I2", "the database")):
        if f"## {id}" in prompt:
            against = {"the cache": is_second or model == "b", "the database": not is_second}
            choice = "reject" if against[title] and model != "a" else "adopt"
            vote = {"idea": written.format(id.lower()), "choice": choice}
            same = "I2" if (model, id) == ("a", "I1") else ""
            ballots.append({**vote, "reason": f"{model} on {title}", "same_as": same})
    return {"ballots": ballots}


def test_ideas_are_attacked_and_voted_on_twice_before_a_person_decides(
    serve: Serve, shop: Project
) -> None:
    server = serve(negotiator)
    shop.commit("A key", {"prices.py": f"KEY = '{KEY}'\n"})
    question = f"How do we look up prices? {KEY}"
    arguments = ("negotiate", question, "--decide", "I2", "--", "prices.py")
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    # c's cache is a's: its authors have no vote, and b alone cannot reject it.
    assert "Agreed\nI2  Use a database  (2 for, 0 against)" in done.stdout
    assert "Contested\nI1  Cache prices  (0 for, 1 against)" in done.stdout
    assert "reviewer objects: b on the cache" in done.stdout
    assert "Proposed by optimizer, critic." in done.stdout
    assert "Decided: I2." in done.stdout
    assert "    Risk: Stale: «secret:github-token»\n" in done.stdout
    prompts = [prompt_of(received) for received in server.received]
    assert all('## "prices.py"' in prompt and '"notes.txt"' in prompt for prompt in prompts)
    # Nobody sees a secret, what the others propose, or whose an idea is.
    first = [prompt for prompt in prompts if "propose" in prompt[-900:]]
    assert not any(KEY in prompt or "Cache the prices" in prompt for prompt in first)
    assert not any("critic" in prompt or "reviewer" in prompt for prompt in prompts)
    calls = len(server.received)
    found = json.loads(run("negotiate", "--format", "json", *arguments[1:]).stdout)
    assert len(server.received) == calls
    assert [idea["standing"] for idea in found["ideas"]] == ["contested", "agreed"]
    assert found["decision"] == ["I2"]
    assert run("negotiate", "--fresh", *arguments[1:]).stdout == done.stdout
    assert len(server.received) == 2 * calls
    assert "negotiation How do we look up prices?" in run("sessions").stdout


def same_idea(received: Received) -> Any:
    """a and b want one thing in other words, b's are better; c, who sees both, remarks on it."""
    model, prompt = received.body["model"], prompt_of(received)
    titles = {"a": ["Speed up lookups"], "b": ["Cache the prices"], "c": []}
    if "# Task: propose" in prompt:
        ideas = [proposal(title) for title in titles[model]]
        return {"ideas": ideas, "remark": "prices.py:1 has one price" if model == "c" else ""}
    ballot = {"reason": "Worth it.", "choice": "adopt"}
    ballots = [{"idea": "I1", **ballot, "same_as": "2" if model == "a" else ""}]
    ballots += [{"idea": "I2", "reason": "Said twice.", "choice": "reject", "same_as": "(I1)"}]
    return {"ballots": ballots}


def test_ideas_that_most_call_the_same_are_one(serve: Serve) -> None:
    server = serve(same_idea)
    found = json.loads(run("negotiate", "What first?", "--format", "json").stdout)
    (idea,) = found["ideas"]
    assert (idea["id"], idea["standing"]) == ("I1", "agreed")
    assert idea["proposal"]["title"] == "Cache the prices"
    assert [variant["title"] for variant in idea["variants"]] == ["Speed up lookups"]
    assert sorted(idea["authors"]) == ["critic", "reviewer"]
    ballots = [p for r in server.received if "# Task: attack" in (p := prompt_of(r))]
    assert len(ballots) == 3
    assert all('Somebody remarks on the question: "prices.py:1 has' in text for text in ballots)
    done = run("negotiate", "What first?")
    assert done.stdout.startswith("optimizer remarks: prices.py:1 has one price\n\nAgreed\nI1  ")
    assert "    In other words: Speed up lookups. How: Speed up lookups.\n" in done.stdout


def test_who_casts_no_vote_keeps_nothing_open(serve: Serve) -> None:
    refusal = Sent(status=400, chunks=(b"{}",))
    serve(lambda r: refusal if r.body["model"] == "c" else negotiator(r))
    done = run("negotiate", "What first?")
    assert "optimizer/vote_1 is missing: " in done.stdout
    assert "Agreed\nI2  Use a database  (1 for, 0 against)" in done.stdout
    assert "Rejected\nI1  Cache the prices  (0 for, 1 against)" in done.stdout
    # Nobody else votes on the idea of the only one who votes at all.
    serve(lambda r: negotiator(r) if r.body["model"] == "a" else refusal)
    assert "Contested\nI1  Cache the prices  (0 for, 0 against)" in run("negotiate", "Now?").stdout


def test_a_person_at_a_terminal_sees_the_table_once(serve: Serve) -> None:
    serve(negotiator)
    with on_a_terminal("negotiate", "How?") as type_after:
        assert "the change" not in type_after("to be done? (for example I1,I2, or none)", "I9\n")
        type_after("there is no idea I9", "I2\n")
        assert "Use a database" not in type_after("Decided: I2.", "")


def test_without_a_person_nothing_is_decided(serve: Serve) -> None:
    serve(negotiator)
    done = run("negotiate", "How?")
    assert done.exit_code == 0
    assert "Decided" not in done.stdout
    assert "nobody has decided" in done.stderr
    wrong = run("negotiate", "How?", "--decide", "I7")
    assert wrong.exit_code == 2
    assert "there is no idea I7\nsay I1, I2, or none\n" in wrong.stderr
    assert run("sessions").stdout.count("Negotiation done") == 2
    assert "no idea is named\nsay I1, I2, or none\n" in run("negotiate", "How?", "--decide=").stderr
    for ids, decided in (("I2,", "I2"), ("2", "I2"), ("i2.", "I2"), ("none", "none of it")):
        assert f"Decided: {decided}.\n" in run("negotiate", "How?", f"--decide={ids}").stdout
    for form in ("text", "json"):
        found = run("negotiate", "How?", "--format", form)
        assert run("negotiate", "How?", "--format", form, "-o", ".git/found").stdout == ""
        assert Path(".git/found").read_text() == found.stdout


def test_what_cannot_be_negotiated(serve: Serve) -> None:
    server = serve(negotiator)
    for arguments, words in (
        ((" ",), "the question is empty"),
        (("How?", "--", "gone.py"), "gone.py is no file"),
    ):
        done = run("negotiate", *arguments)
        assert done.exit_code == 2
        assert words in done.stderr
    assert not server.received
    serve(lambda _: {"no": 1})
    done = run("negotiate", "How?")
    assert done.exit_code == 3
    assert "nobody proposed anything (critic: " in done.stderr
    done = run("sessions", "replay", "1")
    assert done.exit_code == 2
    assert "1 is no review with recorded answers" in done.stderr


@pytest.mark.usefixtures("shop")
def test_without_models_nobody_negotiates_or_talks() -> None:
    for arguments, words in (
        (("negotiate", "How?"), "needs two panelists"),
        (("chat",), "nobody to talk to"),
    ):
        done = run(*arguments, text="Hello\n")
        assert done.exit_code == 2
        assert words in done.stderr


def idea(*votes: list[str], authors: tuple[str, ...] = ("a",)) -> Idea:
    made = Proposal(title="t", proposal="p", benefit="b", risk="r")
    cast: Any = [Vote(panelist=p, round=1, choice=c, reason="so") for p, c in votes]
    return Idea(id="I1", proposal=made, authors=authors, votes=tuple(cast))


@each(
    ("votes", "first", "last"),
    [
        ("b adopt, c adopt", "agreed", "agreed"),
        ("b reject, c reject, a adopt", "rejected", "rejected"),
        ("b adopt, c reject", "contested", "contested"),
        ("b adopt, c unsure", "contested", "contested"),
        ("b adopt, c adopt, d reject", "contested", "agreed"),
        ("b adopt, c reject, d reject", "contested", "rejected"),
        ("b reject, b adopt, c adopt", "agreed", "agreed"),
        ("a adopt", "contested", "contested"),
    ],
)
def test_what_votes_decide(votes: str, first: str, last: str) -> None:
    cast = [vote.split() for vote in votes.split(", ")]
    others = max(2, len({name for name, _ in cast} - {"a"}))
    assert standing_of(idea(*cast), others, is_last=False) == first
    assert standing_of(idea(*cast), others, is_last=True) == last


def test_an_idea_of_all_is_agreed_and_ideas_of_one_author_can_be_alike() -> None:
    assert standing_of(idea(authors=("a", "b")), 0, is_last=False) == "agreed"
    rejected = idea(["c", "reject"], authors=("a", "b"))
    assert standing_of(rejected, 1, is_last=True) == "contested"
    made = [Proposal(title="Cache it", proposal="p", benefit="b", risk="r")] * 2
    (joined,) = put_on_table([("a", made)])
    assert joined.authors == ("a",)


def test_what_is_said_against_an_agreed_idea_is_shown() -> None:
    agreed = replace(idea(["b", "reject"], ["c", "unsure"]), standing="agreed")
    found = Negotiation(question="How?", panelists=("a", "b", "c"), ideas=(agreed,))
    with click.Context(reviewbot_command):
        shown = [*describe(found)]
    assert shown[:3] == ["", "Agreed", "I1  t  (0 for, 1 against)"]
    assert shown[-2:] == ["    b objects: so", "    c is unsure: so"]


def test_models_are_called_after_their_provider_if_it_has_no_other() -> None:
    models = ("x:m", "y:a", "y:b", "x:m")
    panel = [Panelist(f"{n}", "", *model.split(":")) for n, model in enumerate(models)]
    assert [member.name for member in members_of(panel)] == ["x", "a", "b"]


def talker(received: Received) -> Any:
    """a reads a file, consults b and delegates to c; b and c answer, c after a search."""
    model, prompt = received.body["model"], prompt_of(received)
    results = [m for m in received.body["messages"] if m["role"] == "tool"]
    if model == "b":
        return {"answer": "b says three"}
    if model == "c":
        if results or "# Task: answer" in prompt:
            return {"answer": f"c found {str(results[-1]['content'])[:9]}" if results else "c here"}
        return fake_openai.answer(calls=[("search", {"text": "tea"})])
    if not results and "What does tea cost?" in prompt:
        consults = {"b": "What is tea?", "z": "?"}
        calls: list[tuple[str, Any]] = [("read_file", {"path": "prices.py"})]
        calls += [("consult", {"name": n, "question": text}) for n, text in consults.items()]
        return fake_openai.answer(calls=[*calls, ("delegate", {"name": "c", "task": "Find tea."})])
    return {"answer": f"a read {len(results)} results\nand history: {'c here' in prompt}"}


def test_a_model_reads_consults_and_delegates_and_all_of_it_is_shown(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(talker)
    said = f"What does tea cost? {KEY}\n/all Who is there?\nAnd now?\n/models\n/cost\n/quit\nno\n"
    done = run("chat", text=said)
    assert done.exit_code == 0, done.output
    for words in (
        "a read 4 results\nand history: False",
        *("b: b says three", "c: c here", "and history: True"),
        "a (gpu:a), b (gpu:b), c (gpu:c). a leads.",
        "17 calls",
    ):
        assert words in done.stdout
    assert "/ask NAME" not in done.stdout  # that would be /help
    for words in (
        '  a calls consult {"name": "b", "question": "What is tea?"}\n',
        *("  b: b says three", '  c calls search {"text": "tea"}', "  c: c found prices.py"),
    ):
        assert words in done.stderr
    asked = [prompt_of(received) for received in server.received]
    assert all('"notes.txt"' in prompt for prompt in asked)
    # Who is consulted sees nothing but the question, while another one works on its task.
    named = [received for received in server.received if "What is tea?" in prompt_of(received)]
    consulted = [received for received in named if "tea cost?" not in prompt_of(received)]
    assert consulted
    assert not any("tools" in received.body for received in consulted)
    assert any("nobody is called z; there is a, b, c" in prompt for prompt in asked)
    monkeypatch.setenv("FORCE_COLOR", "1")
    again = run("chat", text=said)
    said_by_b, said_by_c = (
        re.search(rf"\x1b\[(\d+)m  {words}", again.stderr) for words in ("b: b says", "c: c found")
    )
    assert said_by_b
    assert said_by_c
    assert said_by_b[1] != said_by_c[1]
    assert again.stdout.partition("0 calls")[0] == done.stdout.partition("17 calls")[0]
    assert len(server.received) == len(asked)
    first = json.loads(run("sessions", "show", "1").stdout)["chat"][0]
    assert first["text"].startswith("What does tea cost? «secret:")
    assert not any(KEY in prompt for prompt in asked)
    assert "consult_1" in run("sessions", "show", "1", "-v").output


def test_the_panel_of_a_conversation_sees_the_last_review(serve: Serve, shop: Project) -> None:
    server = serve(talker)
    (shop.folder / "key.txt").write_text(KEY)
    shop.git("add", "key.txt")
    assert run("hook", "run", "pre-commit").exit_code == 1
    run("chat", text="Hello?\n")
    prompt = prompt_of(server.received[-1])
    assert '## "The last review, of --staged"' in prompt
    assert "F1  critical  key.txt:1" in prompt
    assert KEY not in prompt
    run("chat", text=f"{'Long. ' * 11_000}\nHello?\n")
    first, second = map(prompt_of, server.received[-2:])
    assert "without its beginning" not in first
    assert "so far, without its beginning" in second
    assert 9_000 < second.count("Long. ") < 10_500


def test_a_leads_and_others_are_asked_by_name(serve: Serve) -> None:
    serve(talker)
    said = "Hello?\n\n/lead\n/ask c Hello?\n/ask z Hello?\n/lead c\nHi\n/?\n"
    done = run("chat", "--lead", "b", text=said)
    shown = "a (gpu:a), b (gpu:b), c (gpu:c). b leads.\n"
    assert done.stdout.startswith(f"b says three\n{shown}c: c here\n")
    assert "nobody is called z (there is a, b, c)" in done.stderr
    assert "c leads.\nc here\n" in done.stdout
    assert "/ask NAME TEXT" in done.stdout
    assert run("chat", "--lead", "z", text="").exit_code == 2


def test_who_does_not_answer_is_said_and_the_conversation_goes_on(serve: Serve) -> None:
    refusal = Sent(status=400, chunks=(b"{}",))
    key = f"-----BEGIN PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA' * 4}\n-----END PRIVATE KEY-----"
    said = {"answer": f"\x1b[31mred\n{key}"}
    serve(lambda r: said if "Second" in prompt_of(r) else refusal)
    done = run("chat", "-v", text="First\nSecond\n")
    assert done.exit_code == 0
    assert "reviewbot: " in done.stderr
    assert "red" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.output.count("«secret:private-key»") > 1  # as an answer, and where all is shown
    assert "MIIE" not in done.output


def test_a_conversation_ends_in_the_time_that_it_was_given(serve: Serve) -> None:
    def slow(_: Received) -> object:
        time.sleep(1.5)
        return {"answer": "too late"}

    serve(slow)
    done = run("chat", "--timeout", "1", text="Hello?\n")
    assert "the time was over (limits.seconds)" in done.stderr
    assert done.exit_code == 3
    assert "too late" not in done.stdout


def test_both_work_from_python(serve: Serve) -> None:
    serve(lambda r: talker(r) if "person says" in prompt_of(r) else negotiator(r))
    assert reviewbot.chat("Hello").startswith("a read 0 results")
    with pytest.raises(UsageError, match="the message is empty"):
        reviewbot.chat(" ")
    outcome = reviewbot.negotiate("How?", ["prices.py"])
    assert [idea.standing for idea in outcome.ideas] == ["contested", "agreed"]
    assert outcome.decision is None

    async def talk() -> dict[str, str]:
        async with reviewbot.open_chat() as chat:
            await chat.say("Who is there?", "c")
            return await chat.say("And now?", "a", "b")

    answers = {"a": "a read 0 results\nand history: True", "b": "b says three"}
    assert asyncio.run(talk()) == answers
    # Nobody has more than five ideas.
    many = [proposal(word) for word in ("red", "green", "blue", "black", "white", "brown")]
    serve(lambda r: {"ideas": many} if "propose" in prompt_of(r)[-900:] else negotiator(r))
    assert len(reviewbot.negotiate("Which?").ideas) == 5


def test_of_many_files_models_see_the_names_of_folders() -> None:
    many = [f"data/{number // 50}/{number}.txt" for number in range(300)]
    assert names_of(["a.py", *many])[:3] == ["a.py", "data/0/ (50 files)", "data/1/ (50 files)"]


@contextmanager
def on_a_terminal(*arguments: str, code: int = 0) -> Iterator[Callable[[str, str], str]]:
    """Runs a command; what it gives waits for words, then types, and returns what was shown."""
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, (sys.executable, "-m", "reviewbot", *arguments))
    seen = b""

    def type_after(words: str, keys: str) -> str:
        nonlocal seen
        ends_at = time.monotonic() + 30
        while words.encode() not in seen:
            assert time.monotonic() < ends_at, seen.decode()
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 65_536)
        text, seen = seen.decode(), b""
        # A signal that comes just before it reads would wait for the next key.
        while keys and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < ends_at, f"it has ended: {text}"
            time.sleep(0.02)
        os.write(terminal, keys.encode())
        return text

    try:
        yield type_after
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
    finally:
        os.close(terminal)


def test_ctrl_c_ends_an_answer_and_the_conversation_goes_on(serve: Serve) -> None:
    def answer(received: Received) -> Any:
        prompt = prompt_of(received)
        if "Why?" in prompt and "And now?" not in prompt:
            return replace(fake_openai.answer("late"), delay=20)
        return {"answer": f"history: {'first' in prompt}, {'Why?' in prompt}"}

    server = serve(answer)
    with on_a_terminal("chat") as type_after:
        type_after("> ", "Say first.\n")
        type_after("history: ", "Why?\n")
        wait_until(lambda: len(server.received) == 2)
        type_after("Why?", "\x03")
        type_after("interrupted", "And now?\n")
        type_after("history: True, True", "/quit\n")
    said = json.loads(run("sessions", "show", "1").stdout)["chat"]
    asked = [turn["text"] for turn in said if turn["who"] == "A person"]
    assert asked == ["Say first.", "Why?", "And now?"]


def test_ctrl_c_ends_a_prompt_at_once_and_what_was_said_before_is_kept(serve: Serve) -> None:
    serve(talker)
    command = (sys.executable, "-m", "reviewbot", "chat")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("Hello\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("a read 0 results")
        assert process.stdout.readline().startswith("and history")
        time.sleep(0.2)  # it waits for the next line
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
    assert "Chat done  chat" in run("sessions").stdout
