"""The way in: what a request is, the fault that waits for it, who asks, which part answers, and the journal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.forge.hub import graph, rest, transport
from tests.forge.hub.answers import Answer, Asked, Dropped, Known
from tests.forge.hub.faults import Fault
from tests.forge.hub.journal import Entry
from tests.forge.hub.problem import Problem
from tests.forge.hub.tokens import Token, check_jwt, sent

if TYPE_CHECKING:
    from tests.forge.hub.hub import Hub

LIMIT = 5000
HOUR = 3600


class Front:
    """Everything that is asked of a hub passes here. Parts are asked one at a time, as under a lock of the whole site."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def done(self, asked: Asked) -> Answer:
        """What came of a request. Raises Dropped where no answer is to go out."""
        if asked.path.startswith("/api/"):
            return self.api(asked)
        if asked.path.startswith("/_download/"):
            return self.noted(asked, Known("download", is_write=False), transport.download(self.hub, asked))
        known = Known("git", is_write=asked.path.endswith("/git-receive-pack"))
        with self.hub.lock:
            fault = self.hub.faults.take("git", is_write=known.is_write)
        answer = self.through(fault, asked, known) or transport.served(self.hub, asked)
        return self.afterwards(fault, self.noted(asked, known, answer))

    def api(self, asked: Asked) -> Answer:
        """One request to the API, with the fault that waits for it."""
        part = graph if asked.path == "/api/graphql" else rest
        known = part.known(asked)
        with self.hub.lock:
            fault = self.hub.faults.take(known.operation, is_write=known.is_write, words=known.words)
        early = self.through(fault, asked, known)
        if early is not None:
            return self.noted(asked, known, early)
        with self.hub.lock:
            try:
                answer = part.answered(self.hub, asked, self.token(asked))
            except Problem as problem:
                answer = Answer.json(problem.status, problem.body)
        noted = self.noted(asked, known, answer)
        return self.afterwards(fault, noted)

    @staticmethod
    def afterwards(fault: Fault | None, answer: Answer) -> Answer:
        """What a fault makes of a request that is done."""
        if fault is None or not fault.after:
            return answer
        if fault.then:
            fault.then()
        return lost(fault) if fault.is_answer else answer

    def through(self, fault: Fault | None, asked: Asked, known: Known) -> Answer | None:
        """What a fault answers before anything is done."""
        if fault is None:
            return None
        if fault.delay:
            time.sleep(fault.delay)
        if fault.after:
            return None
        if fault.then:
            fault.then()
        if not fault.is_answer:
            return None
        if fault.drop:
            self.noted(asked, known, Answer(0, b""))
        return lost(fault)

    def noted(self, asked: Asked, known: Known, answer: Answer) -> Answer:
        with self.hub.lock:
            token = self.hub.tokens.get(sent(asked.headers.get("authorization", "")) or "")
            login = token.user.login if token else None
            self.hub.journal.append(Entry(asked.method, asked.path, known.operation, answer.status, known.is_write, login))
            left = max(LIMIT - self.hub.calls(), 0)
        limits = {
            "x-ratelimit-limit": LIMIT,
            "x-ratelimit-remaining": left,
            "x-ratelimit-used": LIMIT - left,
            "x-ratelimit-reset": int(time.time()) + HOUR,
        }
        more = {name: str(value) for name, value in limits.items()} | {
            "x-ratelimit-resource": "core",
            "x-github-request-id": "FAKE:1",
        }
        return Answer(answer.status, answer.content, answer.media, {**more, **answer.headers})

    def token(self, asked: Asked) -> Token | None:
        """Who asks. G17: an unknown or expired token is refused, none at all is anonymous."""
        header = asked.headers.get("authorization")
        if header is None:
            return None
        text = sent(header) or ""
        if text.count(".") == 2:
            app = check_jwt(text, self.hub.apps)
            return Token(text, self.hub.user(app.login), {}, frozenset(), None, app.slug)
        known = self.hub.tokens.get(text)
        if known is None or (known.expires is not None and known.expires < time.time()):
            raise Problem(401, "Bad credentials")
        return known


def lost(fault: Fault) -> Answer:
    if fault.drop:
        raise Dropped
    return Answer(fault.status, fault.body.encode(), fault.media, dict(fault.headers))
