"""A query asked from a process of its own: what it reads has a limit, and it ends in time, whatever the driver does.

A value of a gigabyte, or a function that looks at nobody's clock, is then no harm to the review. The process knows the
address and nothing else: no environment, no open files. Its words go nowhere, because drivers tell addresses in theirs.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from reviewbot.adapters.tools import query_postgresql, query_sqlite
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.query import Question

MEMORY_BYTES = 512 * 1024 * 1024
"""Of address space. Python with a driver and its libraries takes a fifth of it."""
START_SECONDS = 5.0
"""Beyond the query's own time: for the interpreter, the driver, the connection and the way back."""
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from reviewbot.adapters.tools.query_apart import serve; serve()"


def ask(question: Question) -> dict[str, Any]:
    """``{"columns": […], "rows": [[…]], "truncated": …}`` with values of JSON. Raises Declined."""
    path = [entry for entry in sys.path if entry]
    command = [sys.executable, "-I", *(("-B",) if sys.dont_write_bytecode else ()), "-c", _PROGRAM, *path]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(asdict(question)).encode("ascii"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            timeout=question.seconds + START_SECONDS,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Declined(Why.TIMEOUT, f"the query took longer than {question.seconds:g} s") from None
    except OSError as error:
        raise Declined(Why.FAILED, f"the query could not be asked: {error.strerror}") from error
    if done.returncode:
        raise Declined(Why.FAILED, "the query was too much for the process that asked it: ask for less at once")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "why" in answer:
        raise Declined(Why(answer["why"]), answer["message"])
    return answer


def serve() -> None:
    """The other side: one question from standard input, its answer to standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    document = json.load(sys.stdin)
    question = Question(**{**document, "parameters": tuple(document["parameters"])})
    signal.alarm(int(question.seconds + START_SECONDS) + 1)  # also where nobody is left to end it
    engine = query_sqlite if question.address.startswith("sqlite:") else query_postgresql
    try:
        answer = engine.found(question).document()
    except Declined as declined:
        answer = {"why": declined.why.value, "message": declined.message}
    json.dump(answer, sys.stdout)
