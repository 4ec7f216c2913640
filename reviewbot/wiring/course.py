"""What decides a review besides the change and what is known of it: where that is another one, an earlier review says nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace

from reviewbot import __version__, pipeline
from reviewbot.config import Configuration
from reviewbot.config.seats import Seating, SeatPlan
from reviewbot.domain.event import ReviewRequest
from reviewbot.publish.document_dismissed import dismissal_fields
from reviewbot.publish.document_request import history_fields
from reviewbot.publish.load_request import Request
from reviewbot.wiring.order import Order

_MARK_BYTES = 9


def course(seating: Seating, configuration: Configuration, options: pipeline.Options) -> str:
    """Who looks, a point, and all else, each as a mark. Rules are no part of it: they come from the base commit, as code does.
    Nor is what is made afterwards."""
    who = (seating.is_static, everyone(seating), configuration.get("debate.effort", str))
    return f"{_mark(who)}.{_mark((__version__, replace(options, rules=(), repair=pipeline.RepairOptions())))}"


def everyone(seating: Seating) -> tuple[SeatPlan, ...]:
    """All seats, the moderator's last."""
    return (*seating.seats, *((seating.moderator,) if seating.moderator else ()))


def request(order: Order, configuration: Configuration) -> ReviewRequest:
    """What is asked for. Where every review is to be a whole one, nothing counts as seen."""
    history = order.history if configuration.get("github.incremental", bool) else order.history.unseen()
    asked = ReviewRequest(order.target, order.title, order.focus, order.background, history, order.pull_request)
    return replace(asked, dismissals=order.dismissals)


def told(order: Order) -> Request:
    """The same as it is written down."""
    return Request(order.title, order.focus, order.background, order.history, order.pull_request, order.dismissals)


def known(order: Order) -> tuple[object, ...]:
    """What is known of a change besides the change, as part of a session's key: equal in every process. What others say of it is
    no part: that changes while a run is cut off, and the debate remembers it by itself."""
    spared = (json.dumps([dismissal_fields(one) for one in order.dismissals.held]),) if order.dismissals.held else ()
    if not (order.history.head or order.pull_request is not None):
        return spared
    return (order.pull_request, json.dumps(history_fields(order.history), sort_keys=True), *spared)


def _mark(value: object) -> str:
    digest = hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest[:_MARK_BYTES]).decode("ascii")
