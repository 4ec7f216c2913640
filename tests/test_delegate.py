"""What models on the user's own hardware read, and how long they take."""

import json
import re
from collections.abc import Iterator

import pytest
from conftest import Project
from msgspec.structs import replace

from reviewbot.journal import Journal
from reviewbot.llm.prices import Pace, load_pace, save_paces
from reviewbot.llm.provider import Usage
from tests import fake_ollama, fake_responses
from tests.served import configure, live_in, run
from tests.test_providers import REQUEST
from tests.vendor_server import Received, Sent, VendorServer

SILENT = '{"claims": []}'
NAMES = [f"part_{letter}.py" for letter in "abcdef"]


def prompt(received: Received) -> str:
    body = received.body
    return str((body.get("messages") or body["input"])[0]["content"])


def local(_: Received) -> Sent:
    """100 tokens read and 200 written a second."""
    return fake_ollama.answer(
        SILENT, input_tokens=4_000, input_seconds=40, output_tokens=200, output_seconds=1
    )


def strong(received: Received) -> Sent:
    if "choose what a slower model reads" in prompt(received):
        files = [{"path": "part_d.py", "reason": "It divides."}, {"path": "nothing.py"}]
        return fake_responses.answer(json.dumps({"files": files}), input_tokens=300)
    return fake_responses.answer(SILENT, input_tokens=len(prompt(received)) // 4)


@pytest.fixture
def servers(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[VendorServer, VendorServer]]:
    """A strong and a local model. The change has six files of about 900 tokens each."""
    live_in(project, tmp_path_factory, monkeypatch)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for factor in (1, 2):
        text = "".join(f"VALUE_{n} = {n} * {factor}\n" for n in range(45))
        project.commit(f"Factor {factor}", dict.fromkeys(NAMES, text))
    with VendorServer(strong).running() as remote, VendorServer(local).running() as own:
        monkeypatch.setenv("OLLAMA_HOST", own.url)
        panel = {
            "critic": {"model": "openai:gpt-6.1-terra"},
            "optimizer": {"model": "ollama:small"},
        }
        openai = {"openai": {"base_url": f"{remote.url}/v1"}}
        limits = {"review": {"effort": "high"}, "limits": {"seconds": 100}}
        configure(json.dumps({"providers": openai, "panel": panel, **limits}))
        yield remote, own


def report() -> str:
    result = run("review", "HEAD", "--no-exec")
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_a_slow_model_reads_what_a_strong_one_chose_and_what_fits_in_time(
    servers: tuple[VendorServer, VendorServer], project: Project
) -> None:
    remote, own = servers
    report()  # its speed is not known yet
    assert all(name in prompt(own.received[0]) for name in NAMES)
    project.commit(
        "Third", {name: f"unknown_{name[5]}()\n" + f"VALUE = {name!r}\n" * 45 for name in NAMES}
    )
    shown = report()
    choice = next(prompt(r) for r in remote.received if "slower model" in prompt(r))
    assert "It reads 100 tokens and writes 200 tokens a second" in choice
    assert all(f'"{name}" ' in choice for name in NAMES)
    read = [name for name in NAMES if f'"{name}"' in prompt(own.received[1])]
    assert "part_d.py" in read
    assert 1 <= len(read) < 6
    results = re.findall("Undefined name .unknown_(.)", prompt(own.received[1]))
    assert [f"part_{letter}.py" for letter in results] == read
    assert (
        f"optimizer (ollama:small) reads 100 tokens a second, so it was given {len(read)}" in shown
    )
    assert "s were expected, and it took 42 s." in shown
    assert "% local" in shown
    calls = len(own.received), len(remote.received)
    assert "0 calls and 3 recorded" in report()
    assert calls == (len(own.received), len(remote.received))
    project.commit("Fourth", {"part_a.py": "VALUE = 3\n"})  # that can be read in time
    assert "reads 100 tokens a second, so it was given 1 of 1 files (" in report()


def test_what_a_slow_model_alone_has_no_time_to_read_is_not_reviewed(
    servers: tuple[VendorServer, VendorServer], project: Project
) -> None:
    panel = {"critic": {"model": "ollama:small"}}
    configure(json.dumps({"panel": panel, "limits": {"seconds": 50}}))
    report()
    project.commit("Third", {"part_a.py": "VALUE = 3\n"})
    shown = report()
    assert "no panelist read part_a.py" in shown
    assert "s were expected, and it is not asked: it has 40% of limits.seconds." in shown
    assert "to add a panel" not in shown
    assert not servers[1].received[1:]


def used(read: int, reading: float, said: int, saying: float, cached: int = 0) -> Usage:
    """Tokens and seconds of reading and of writing."""
    counted = Usage(input_tokens=read, input_seconds=reading, cached_input_tokens=cached)
    return replace(counted, output_tokens=said, output_seconds=saying)


def paced(journal: Journal, *calls: Usage) -> Pace | None:
    """The pace after these calls."""
    save_paces(journal, ((REQUEST, usage) for usage in calls))
    return load_pace(journal, REQUEST.provider, REQUEST.model)


def test_a_prompt_that_the_server_had_in_memory_does_not_make_a_model_look_fast() -> None:
    journal = Journal()
    assert paced(journal, used(9, 0, 0, 0), used(0, 1, 50, 1)) is None
    # As measured with Ollama 0.17: a prompt, the same again, and with a few words more.
    cached = used(4_653, 0.012, 10, 0.1), used(4_667, 0.216, 100, 1.0)
    pace = paced(journal, used(4_653, 13.303, 90, 0.9), *cached)
    assert pace
    assert pace.read == pytest.approx(350, 0.01)
    assert pace.written == pytest.approx(100)
    assert pace.readable(10) == 0
    assert pace.readable(100) == pytest.approx(350 * (100 - 15) - 1_300, 0.01)
    faster = paced(journal, *cached)
    assert faster
    assert faster.read == pytest.approx(525, 0.01)
    # A server that says what was cached is believed.
    assert paced(Journal(), used(1_000, 0.5, 20, 2, cached=900)) == Pace(read=200, written=10)


def test_models_test_asks_what_is_not_in_memory(servers: tuple[VendorServer, VendorServer]) -> None:
    _, own = servers
    for _ in range(2):
        shown = run("models", "test").stdout
        assert "ollama:small answered" in shown
        assert "$0.0000, reads 100 and writes 200 tokens a second" in shown
    first, second = map(prompt, own.received)
    assert len(first) > 2_000
    assert first[:9] != second[:9]
