"""Review a change and fix what is found: the steps of `reviewbot fix`."""

from __future__ import annotations

import time
from collections.abc import Collection

from msgspec.structs import replace

from reviewbot.checks.collect import collect
from reviewbot.git.change import Change
from reviewbot.pipeline import briefs_of, prepare, review_change, summary_of
from reviewbot.services import Host, open_services
from reviewbot.tasks.fix import TaskResult, fix_findings
from reviewbot.tasks.trial import Trials
from reviewbot.verdict.document import Review


async def fix(
    change: Change, host: Host, ids: Collection[str] = ()
) -> tuple[Review, list[TaskResult]]:
    """Review a change and fix what is reported, or the findings with some ids.

    Nothing is written. Raises ReviewbotError.
    """
    started = time.monotonic()
    async with open_services(change, host) as services:
        result = await review_change(change, services)
        wanted = [f for f in result.reported if not ids or f.id in ids]
        whole, project, _ = await prepare(change, services)
        assert services.repository
        off = [entry.name for entry in services.settings.checks if entry.off]
        checks, executor = services.checks, services.executor
        trials = Trials(
            change=whole,
            evidence=await collect(whole, project, checks, off, executor),
            repository=services.repository,
            executor=executor,
            checks=checks,
            languages=services.languages,
            off=off,
        )
        briefs = await briefs_of(whole, project, (), services.panel, services)
        results = await fix_findings(wanted, trials, project, checks, services.panel, briefs)
        seconds = round(time.monotonic() - started, 2)
        result = replace(result, usage=services.client.totals, seconds=seconds)
        for session in services.sessions:
            await session.finish(*summary_of(result))
    return result, results
