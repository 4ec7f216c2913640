"""What a run of the Action asks of the wiring: the order of a review, with nothing of the forge's token in it."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.domain.change import Revisions
from reviewbot.domain.forge import (
    Standing,
)
from reviewbot.domain.history import History, PullMemory
from reviewbot.events import background
from reviewbot.publish.document import dumps
from reviewbot.publish.document_request import request_document
from reviewbot.publish.wanted import CHECK_NAME
from reviewbot.wiring import course
from reviewbot.wiring.github.ground import Ground
from reviewbot.wiring.github.job import Job
from reviewbot.wiring.order import Order

NOT_HERE = "a run of this kind runs nothing of the change"


def order_of(job: Job, ground: Ground, standing: Standing, *, memory: PullMemory, execute: bool) -> Order:
    """The order of a review of what stands there. ``execute`` false: code of the change is not run; what only parses it is."""
    flags = job.inputs.flags()
    if not execute:
        flags["sandbox"] = ("none", NOT_HERE)
    return Order(
        target=ground.target,
        directory=ground.directory,
        environment=job.environment,
        flags=flags,
        config_path=job.inputs.text("config_file") or None,
        title=standing.pull.title,
        background=background.told(standing, own_checks=(CHECK_NAME,)),
        history=memory.history,
        pull_request=standing.pull.number,
        models=job.inputs.items("models"),
        spared=tuple(sorted(one.id for one in memory.mended if one.is_spent)),
        state=job.state,
    )


def request_of(order: Order, about: Revisions) -> str:
    """What the job that holds the debate is told besides the change and the evidence: the request document, as JSON text."""
    told = course.told(order)
    return dumps(request_document(told, about))


def whole(order: Order, focus: str = "") -> Order:
    """The same order with everything looked at again: numbers and dismissals are kept, what was seen is not."""
    return replace(order, focus=focus, history=order.history.unseen())


def blank(order: Order) -> Order:
    """The same order without a past, as for a question."""
    return replace(order, history=History())
