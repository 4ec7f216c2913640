"""Sessions of the ledger: as text for people, and as JSON lines for fine-tuning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import msgspec

from reviewbot.debate import prompts
from reviewbot.debate.case import Case, Position
from reviewbot.debate.reader import Judgement
from reviewbot.llm.provider import ModelReply, ModelRequest, ToolCall
from reviewbot.state import read_review
from reviewbot.store.sessions import Record, Turn
from reviewbot.text.plain import plain
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Finding


def read_turn(turn: Turn) -> tuple[ModelRequest, ModelReply | None]:
    """The question, and the answer unless the call failed."""
    # msgspec's decoder refuses lone surrogates, which models do write.
    reply = msgspec.convert(json.loads(turn.reply), ModelReply) if turn.reply else None
    return msgspec.convert(json.loads(turn.request), ModelRequest), reply


def transcript(record: Record) -> Iterator[str]:
    """Lines for a terminal. What several questions begin with is shown once."""
    shown: set[str] = set()
    for turn in record.turns:
        (request, reply), who = read_turn(turn), f"{turn.provider}:{turn.model}"
        if request.prefix not in shown:
            shown.add(request.prefix)
            yield from _block("What the questions below begin with", request.prefix)
        yield from _block(f"{turn.phase} asks {who}", request.news)
        if reply is None:
            yield from _block(f"{who} gives {turn.phase} no answer", turn.message)
            continue
        yield from _block(f"{who} answers {turn.phase}", reply.said)


def tried(record: Record) -> Iterator[str]:
    """Lines about what was tried for each task of a fix."""
    for trial in record.trials:
        yield from _block(f"{trial.task}: {trial.outcome} ({trial.author})", trial.reasons)
        if trial.diff:
            yield from _block(trial.title, trial.diff)


def _block(title: str, text: str) -> Iterator[str]:
    yield plain(f"── {redact(title)[0]}")
    for line in redact(text.rstrip("\n"))[0].split("\n"):
        yield plain(f"│ {line}")


def chat_lines(record: Record) -> Iterator[str]:
    """A conversation for each reply. Calls of tools are messages in OpenAI's form."""
    for request, reply in map(read_turn, record.turns):
        if reply is None:
            continue
        messages = [_message("user", f"{request.prefix}\n\n{request.question}")]
        for step in request.turns:
            messages.append(_message("assistant", "", step.calls))
            for call, result in zip(step.calls, step.results, strict=True):
                messages.append(_message("tool", result) | {"tool_call_id": call.id})
        messages.append(_message("assistant", reply.text, reply.calls))
        yield json.dumps({"messages": messages})


def _message(role: str, text: str, calls: tuple[ToolCall, ...] = ()) -> dict[str, Any]:
    named = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
        for call in calls
        for arguments in [redact(call.arguments)[0]]
    ]
    more = {"tool_calls": named} if named else {}
    return {"role": role, "content": redact(text)[0], **more}


def preference_lines(record: Record) -> Iterator[str]:
    """For each case that a proof or a ruling decided, right judgements against wrong ones.

    The prompt asks about one case, although panelists may have judged several at once.
    """
    review = read_review(record.session.review)
    for finding in review.findings if review else ():
        truth = _truth(finding)
        if truth not in ("real", "not_real") or not finding.claims:
            continue
        title = prompts.quoted(finding.claims[0].title)
        requests = [request for request, _ in map(read_turn, record.turns)]
        prefix = next((r.prefix for r in requests if title in r.question), "")
        case = Case(id="C1", claims=finding.claims, proof=finding.proof)
        question = prompts.render("cross_examination", cases=[case])
        prompt = redact(f"{prefix}\n\n{question}")[0]
        last = {p.panelist: p for p in sorted(finding.positions, key=lambda p: p.round)}
        right = [p for p in last.values() if p.stance == truth]
        wrong = [p for p in last.values() if p.stance not in (truth, "unsure")]
        for chosen, rejected in product(right, wrong):
            answers = {"chosen": _answer(chosen), "rejected": _answer(rejected)}
            yield json.dumps({"prompt": prompt, **answers})


def _truth(finding: Finding) -> str | None:
    """One test alone settles neither a serious claim nor a difference that is intended."""
    if finding.status == "question":
        return None
    results = {"proven": "real", "refuted": "not_real"}
    return results.get(finding.proof.result if finding.proof else "") or finding.ruling


def _answer(position: Position) -> str:
    values = {"case": "C1", **msgspec.to_builtins(position)}
    judgement = msgspec.convert(values, Judgement)
    return redact(msgspec.json.encode({"judgements": [judgement]}).decode())[0]


Export = Callable[["Record"], Iterator[str]]
EXPORTS: Mapping[str, Export] = {"chat": chat_lines, "preferences": preference_lines}
