"""Rounds run side by side, deadlines hold, and order is kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from reviewbot.debate.rounds import Answers, Conversation, Round
from reviewbot.domain.debate import Check, Table, Transcript
from reviewbot.drive import Bench, Deadline, Laboratory, converse
from reviewbot.ports import Ask, Ended, Experiment, FirstPass, Job, Outcome, Reply, ReplyStatus, Sandbox, Verification
from reviewbot.testing import FakeClock, FakeSandbox, ScriptedPanel, Watching, a_dossier, a_seat

FOREVER = 1e9
JOBS = tuple(Job(f"job {number}", ("true",), 10.0, executes=False) for number in range(5))


def asks(*names: str, timeout: float = 60.0) -> Round:
    return tuple(Ask(a_seat(name), FirstPass(a_dossier()), timeout_seconds=timeout) for name in names)


def one_round(wanted: Round, seen: list[Answers]) -> Conversation:
    seen.append((yield wanted))
    return Transcript()


def hold(wanted: Round, panel: object, *, now: float = 0, at: float = FOREVER) -> Answers:
    seen: list[Answers] = []

    def experiment(asked: Experiment) -> Verification:
        return Verification(replace(asked.check, outcome="fails_at_head"))

    converse(one_round(wanted, seen), panel, Laboratory(experiment), deadline=Deadline(FakeClock(now), at), observer=Watching())  # type: ignore[arg-type]
    return seen[0]


def test_answers_come_back_in_the_order_of_the_questions() -> None:
    class Slow:
        table = Table(())

        async def close(self) -> None:
            pass

        async def ask(self, ask: Ask) -> Reply:
            await asyncio.sleep(0.02 if ask.seat.name == "critic" else 0)
            return Reply(ReplyStatus.OK, ask.seat.name)

    answers = hold(asks("critic", "reviewer"), Slow())
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == ["critic", "reviewer"]


def test_the_agents_of_a_round_run_at_the_same_time() -> None:
    class Together:
        table = Table(())

        async def close(self) -> None:
            pass

        def __init__(self) -> None:
            self.here = 0
            self.all_here = asyncio.Event()

        async def ask(self, ask: Ask) -> Reply:
            self.here += 1
            if self.here == 3:
                self.all_here.set()
            await self.all_here.wait()
            return Reply(ReplyStatus.OK)

    answers = hold(asks("critic", "reviewer", "optimizer", timeout=5), Together())
    assert all(isinstance(answer, Reply) and answer.status is ReplyStatus.OK for answer in answers)


def test_who_outlives_the_review_abstains() -> None:
    class Hanging:
        table = Table(())

        async def close(self) -> None:
            pass

        async def ask(self, ask: Ask) -> Reply:
            assert ask.timeout_seconds == pytest.approx(0.02)
            await asyncio.Event().wait()
            raise AssertionError

    (answer,) = hold(asks("critic"), Hanging(), now=10, at=10.02)
    assert isinstance(answer, Reply)
    assert answer.status is ReplyStatus.CAPPED


def test_after_the_deadline_nobody_is_asked_and_nothing_is_tested() -> None:
    panel = ScriptedPanel({"critic": ["{}"]})
    wanted = (*asks("critic"), Experiment("F1", Check(("pytest",))))
    reply, verification = hold(wanted, panel, now=10, at=5)
    assert isinstance(reply, Reply)
    assert reply.status is ReplyStatus.CAPPED
    assert isinstance(verification, Verification)
    assert verification.check.outcome == "not_run"


@pytest.mark.parametrize(("left", "status"), [(1, ReplyStatus.CAPPED), (1_000, ReplyStatus.TIMEOUT)])
def test_a_panelist_that_misses_its_time_is_capped_where_the_end_of_the_review_cut_it(left: float, status: ReplyStatus) -> None:
    class Late:
        table = Table(())

        async def close(self) -> None:
            pass

        async def ask(self, ask: Ask) -> Reply:
            del ask
            return Reply(ReplyStatus.TIMEOUT, reason="it did not answer in time")

    (answer,) = hold(asks("critic", timeout=5), Late(), now=10, at=10 + left)
    assert isinstance(answer, Reply)
    assert answer.status is status


def bench(sandbox: Sandbox, *, now: float = 0, cores: int = 2) -> Bench:
    return Bench(sandbox, deadline=Deadline(FakeClock(now), 10), observer=Watching(), cores=cores)


def test_jobs_keep_their_order_and_get_no_more_time_than_is_left() -> None:
    sandbox = FakeSandbox({job.name: Outcome(Ended.EXITED, 0, job.name.encode()) for job in JOBS})
    outcomes = bench(sandbox, now=7).run(JOBS)
    assert [outcome.stdout.decode() for outcome in outcomes] == [job.name for job in JOBS]
    assert {job.timeout_seconds for job in sandbox.ran} == {3}


def test_jobs_beyond_the_deadline_are_refused_and_not_run() -> None:
    sandbox = FakeSandbox()
    outcomes = bench(sandbox, now=11).run(JOBS)
    assert {outcome.ended for outcome in outcomes} == {Ended.REFUSED}
    assert not sandbox.ran


def test_as_many_jobs_run_at_a_time_as_there_are_cores() -> None:
    both = threading.Barrier(2, timeout=5)

    class Pair(FakeSandbox):
        def run(self, job: Job) -> Outcome:
            both.wait()
            return Outcome(Ended.EXITED, 0)

    outcomes = bench(Pair()).run(JOBS[:2])
    assert {outcome.ended for outcome in outcomes} == {Ended.EXITED}


def test_a_job_that_measures_has_the_machine_to_itself_and_keeps_its_turn() -> None:
    log: list[str] = []

    class Logging(FakeSandbox):
        def run(self, job: Job) -> Outcome:
            log.append(f"begin {job.name}")
            running = sum(1 if line.startswith("begin") else -1 for line in log)
            assert running == 1 or not job.alone
            log.append(f"end {job.name}")
            return Outcome(Ended.EXITED, 0, job.name.encode())

    jobs = (replace(JOBS[0], name="base", alone=True), JOBS[1], replace(JOBS[2], name="head", alone=True))
    outcomes = bench(Logging()).run(jobs)
    assert [outcome.stdout.decode() for outcome in outcomes] == [job.name for job in jobs]
    assert log[-4:] == ["begin base", "end base", "begin head", "end head"]


def test_a_procedure_is_sent_the_outcomes_of_the_jobs_that_it_yields() -> None:
    def procedure() -> Generator[tuple[Job, ...], tuple[Outcome, ...], list[int]]:
        first = yield JOBS[:2]
        second = yield JOBS[2:]
        return [len(first), len(second)]

    assert bench(FakeSandbox()).conduct(procedure()) == [2, len(JOBS) - 2]


def test_a_bench_that_is_closed_begins_nothing_more() -> None:
    begun = threading.Event()
    go_on = threading.Event()

    class Slow(FakeSandbox):
        def run(self, job: Job) -> Outcome:
            self.ran.append(job)
            begun.set()
            go_on.wait(5)
            return Outcome(Ended.EXITED, 0)

    sandbox = Slow()
    busy = bench(sandbox, cores=1)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(busy.run, JOBS)
        begun.wait(5)
        busy.close()
        go_on.set()
        outcomes = running.result(5)
    assert len(sandbox.ran) == 1
    assert [outcome.ended for outcome in outcomes] == [Ended.EXITED, *[Ended.REFUSED] * (len(JOBS) - 1)]
