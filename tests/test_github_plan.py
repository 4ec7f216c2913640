"""What is planned for a pull request, and what is kept on it."""

from __future__ import annotations

import base64
import time
import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Any, get_args

from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.github import plan as actions
from reviewbot.github import pulls as gh
from reviewbot.github import pulls as state
from reviewbot.github.plan import Desired, plan
from reviewbot.github.pulls import SUMMARY, State, decode_state, encode_state
from reviewbot.reports.markdown import Annotation
from reviewbot.verdict.document import Memory, Remembered

BOT, ANN = "github-actions[bot]", gh.Author("ann")
HEAD, OLD = "a" * 40, "b" * 40
STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
COMMITS, FLAGS = st.sampled_from((HEAD, OLD)), st.booleans()
EVENTS = st.sampled_from(get_args(gh.ReviewEvent))
KEYS = st.sets(st.sampled_from(("k1", "k2", "k3"))).map(frozenset)
SHA = {"base_sha": "c" * 40, "head_sha": HEAD, "head_repository": "octo/app"}
PULL = gh.PullRequest(
    **{"number": 1, "title": "", "state": "OPEN", "author": ANN},
    **{"base_ref": "main", "head_ref": "topic", "is_draft": False, "is_locked": False},
    **SHA,  # type: ignore[arg-type]
)


def comment(id: int, body: str, own: bool = True, minimized: bool = False) -> gh.Comment:
    about: Any = {"node_id": f"N{id}", "id": id, "body": body, "url": f"https://github.com/c/{id}"}
    flags = {"is_own": own, "is_minimized": minimized}
    return gh.Comment(author=gh.Author(BOT) if own else ANN, created_at="", **flags, **about)


def thread(*comments: gh.Comment, by: str = "") -> gh.Thread:
    about: Any = {"is_resolved": bool(by), "resolved_by": by}
    return gh.Thread(node_id=f"T{comments[0].id}", comments=comments, **about)


def finding(key: str, commit: str = HEAD) -> str:
    marker = state.FINDING_MARKER.format(key=key, id=f"F{key[1:]}", commit=commit)
    return f"{marker}\nwords about {key}"


def review_mark(commit: str, event: str, keys: Iterable[str]) -> str:
    return state.REVIEW_MARKER.format(commit=commit, event=event, keys=",".join(keys))


def review(id: int, status: str, body: str, own: bool = True) -> gh.PostedReview:
    return gh.PostedReview(node_id=f"R{id}", id=id, is_own=own, state=status, body=body)


def snapshot(**parts: Any) -> gh.Snapshot:
    nothing: Any = dict.fromkeys(("comments", "threads", "reviews", "checks"), ())
    found = {"repository": "octo/app", "me": BOT, "pull": PULL, "hides_own": False}
    return gh.Snapshot(**(found | nothing | parts))


def done(action: actions.Action, at: gh.Snapshot, may_resolve: bool) -> gh.Snapshot:
    """What stands there after an action, as GitHub has it."""
    inner = (c.id for each in at.threads for c in each.comments)
    id = 1 + max((*(x.id for x in (*at.comments, *at.reviews, *at.checks)), *inner), default=0)
    match action:
        case actions.Delete("pending review", gone):
            return replace(at, reviews=tuple(r for r in at.reviews if r.id != gone))
        case actions.PostReview(_, event, body, comments):
            new = [thread(comment(id + n, c.body)) for n, c in enumerate(comments, start=1)]
            reviews = (*at.reviews, review(id, STATES[event], body))
            return replace(at, reviews=reviews, threads=(*at.threads, *new))
        case actions.DismissReview(there, _):
            assert any(r.id == there and r.state in STATES.values() for r in at.reviews)
            return edited(at, "reviews", there, state="DISMISSED")
        case actions.HideReview(node):
            return edited(at, "reviews", node, is_minimized=True)
        case actions.ResolveThread(found, words):
            node = found.node_id
            if may_resolve:
                return edited(at, "threads", node, is_resolved=True, resolved_by=BOT[:-5])
            return edited(at, "threads", node, comments=(*found.comments, comment(id, words)))
        case actions.ReopenThread(node):
            return edited(at, "threads", node, is_resolved=False, resolved_by="")
        case actions.Delete("thread", gone):
            return replace(at, threads=tuple(t for t in at.threads if t.comments[0].id != gone))
        case actions.PostCheckRun():
            about = {name: getattr(action, name) for name in ("conclusion", "title")}
            about |= {"external_id": action.head_sha, "app": BOT[:-5]}
            run = gh.CheckRun(id=action.id or id, **about)
            return replace(at, checks=(*(c for c in at.checks if c.id != action.id), run))
        case actions.AddLabels(labels):
            return replace(at, pull=replace(at.pull, labels=(*at.pull.labels, *labels)))
        case actions.RemoveLabel(label):
            left = tuple(each for each in at.pull.labels if each != label)
            return replace(at, pull=replace(at.pull, labels=left))
        case actions.WriteComment(body, 0):
            return replace(at, comments=(*at.comments, comment(id, body)))
        case actions.WriteComment(body, there):
            return edited(at, "comments", there, body=body)
        case actions.Delete("comment", gone):
            return replace(at, comments=tuple(c for c in at.comments if c.id != gone))
    raise AssertionError(action)


def edited(at: gh.Snapshot, name: str, there: object, **changes: Any) -> gh.Snapshot:
    is_it = [there in (x.node_id, getattr(x, "id", 0)) for x in getattr(at, name)]
    assert sum(is_it) == 1
    pairs = zip(getattr(at, name), is_it, strict=True)
    return replace(at, **{name: tuple(replace(x, **changes) if it else x for x, it in pairs)})


def settled(desired: Desired, at: gh.Snapshot, may_resolve: bool) -> gh.Snapshot:
    for _ in range(4):
        for action in plan(desired, at):
            at = done(action, at, may_resolve)
    assert plan(desired, at) == []
    return at


def portrait(at: gh.Snapshot) -> object:
    """All that stands there, without the numbers that things got."""
    return (
        sorted((t.resolved_by, [c.body for c in t.comments]) for t in at.threads),
        sorted((r.is_own, r.state, r.is_minimized, r.body) for r in at.reviews),
        sorted((c.is_own, c.is_minimized, c.body) for c in at.comments),
        sorted((c.app, c.external_id, c.conclusion, c.title) for c in at.checks),
        sorted(at.pull.labels),
    )


def others(at: gh.Snapshot) -> object:
    return (
        [t for t in at.threads if not t.comments[0].is_own],
        [c for t in at.threads for c in t.comments if not c.is_own],
        [x for x in (*at.reviews, *at.comments) if not x.is_own],
        [c for c in at.comments if c.body.split("\n")[0] != SUMMARY],
        [c for c in at.checks if c.app != BOT[:-5]],
        [label for label in at.pull.labels if label in ("bug", "reviewbot:other")],
    )


CHECK: Any = {"head_sha": HEAD, "summary": "", "title": "2: because"}
DESIRED = Desired(
    commit=HEAD,
    is_complete=True,
    event="REQUEST_CHANGES",
    body="words",
    comments=(),
    open_keys=frozenset(["k1"]),
    known_keys=frozenset(["k1"]),
    check=actions.PostCheckRun(conclusion="success", **CHECK),
    managed_labels=frozenset(["reviewbot:approved", "reviewbot:reviewed"]),
    summary=f"{SUMMARY}\n{encode_state(State(head=HEAD))}\n**Reviewed**",
)


def at_line(key: str) -> actions.InlineComment:
    about: Any = {"path": "a.py", "line": 1, "start_line": 1, "side": "RIGHT"}
    return actions.InlineComment(key=key, body=finding(key), **about)


@st.composite
def wanted(draw: st.DrawFn) -> Desired:
    keys, notes = (
        draw(KEYS),
        (Annotation("a.py", 1, 1, "notice", "t", "m"),) * draw(st.integers(0, 99)),
    )
    kept = State(head=HEAD, stopped_by=draw(st.sampled_from(("", "ann"))))
    links = ("https://github.com/c/1#discussion_r1",) if draw(FLAGS) else ()
    label = draw(st.sampled_from(sorted(DESIRED.managed_labels)))
    conclusion = draw(st.sampled_from(("success", "failure", "neutral")))
    return replace(
        DESIRED,
        is_complete=draw(FLAGS),
        event=draw(EVENTS),
        refused=draw(st.frozensets(st.sampled_from(("lines", "verdict")))),
        comments=tuple(map(at_line, sorted(keys & draw(KEYS)))),
        open_keys=keys,
        known_keys=keys | draw(KEYS),
        check=replace(DESIRED.check, conclusion=conclusion, annotations=notes),
        labels=frozenset([label]),
        summary=f"{SUMMARY}\n{encode_state(kept)}\n**{label}**\n{' '.join(links)}",
    )


@st.composite
def standing(draw: st.DrawFn) -> gh.Snapshot:
    def pick(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    threads, reviews, comments, checks = [], [], [], []
    for id in range(100, 100 + 10 * pick(*range(6)), 10):
        key, closed = pick("k1", "k2"), state.CLOSED_MARKER.format(key="k1")
        later = [(id + 1, closed), (id + 2, "No", False), (id + 3, closed, False)]
        more = [comment(*each) for each in later if pick(True, False, False, False)]
        first = comment(id, finding(key, draw(COMMITS)), pick(True, True, True, False))
        threads.append(thread(first, *more, by=pick("", "", BOT[:-5], "ann")))
    for id in range(200, 200 + pick(*range(5))):
        event = draw(EVENTS)
        body = review_mark(draw(COMMITS), event, sorted(draw(KEYS)))
        status = pick(STATES[event], STATES[event], "DISMISSED", "PENDING")
        reviews.append(review(id, status, body, pick(True, True, True, False)))
    for id in range(300, 300 + pick(*range(4))):
        line = pick(encode_state(State(head=OLD)), encode_state(State()), "no")
        body = pick(f"{SUMMARY}\n{line}\nwords", f"Hello\n{SUMMARY}\n{line}")
        comments.append(comment(id, body, draw(FLAGS), draw(FLAGS)))
    for id in range(400, 400 + pick(*range(4))):
        about = {"conclusion": pick("", "success")}
        about |= {"title": "", "app": pick(BOT[:-5], "other")}
        checks.append(gh.CheckRun(id=id, external_id=draw(COMMITS), **about))
    labels = draw(st.sets(st.sampled_from(("bug", "Reviewbot:Approved", "reviewbot:other"))))
    found = {"threads": threads, "reviews": reviews, "comments": comments, "checks": checks}
    pull = replace(PULL, labels=tuple(sorted(labels)))
    return snapshot(pull=pull, **{name: tuple(each) for name, each in found.items()})


@settings(max_examples=50, deadline=None)
@given(wanted(), standing(), FLAGS, st.data())
def test_whatever_part_of_a_plan_is_done_the_end_is_the_same(
    desired: Desired, at: gh.Snapshot, may_resolve: bool, data: st.DataObject
) -> None:
    whole, part = settled(desired, at, may_resolve), at
    for _ in range(data.draw(st.integers(1, 2))):
        todo = plan(desired, part)
        for action in todo[: data.draw(st.integers(0, len(todo)))]:
            part = done(action, part, may_resolve)
    assert portrait(settled(desired, part, may_resolve)) == portrait(whole)

    assert others(whole) == others(at)
    (summary,) = state.summaries_of(whole)
    assert state.state_in(summary.body) == state.state_in(desired.summary)
    threads, reviews = state.threads_of(whole), list(state.reviews_of(whole))
    for key in ("k1", "k2", "k3"):
        open_ = [own for own in threads if own.key == key and not own.is_closed]
        silent = [own for own in open_ if not own.is_answered]
        assert not silent or (len(open_) == 1 and not desired.is_gone(key))
    posted = {own.key for own in threads} | {key for own in reviews for key in own.keys}
    assert posted >= {c.key for c in desired.comments}
    runs = [run for run in whole.checks if run not in at.checks or run.external_id == HEAD]
    runs = [run for run in runs if run.app == BOT[:-5]]
    newest = max(runs, key=lambda run: run.id)
    assert len(runs) == 1 or set(run.id for run in runs) <= {run.id for run in at.checks}
    assert (newest.title, newest.conclusion) == (desired.check.title, desired.check.conclusion)
    approvals = [own for own in reviews if own.posted.state == "APPROVED"]
    assert all(own.commit == HEAD and desired.event == "APPROVE" for own in approvals)
    assert not any(r.is_own and r.state == "PENDING" for r in whole.reviews)
    shown = [own for own in reviews if own.posted.state != "DISMISSED"]
    shown = [own for own in shown if not own.posted.is_minimized]
    alike = Counter((own.commit, own.event, own.keys) for own in shown)
    for (commit, _, keys), count in alike.items():
        own_threads = Counter(own.key for own in threads if own.commit == commit)
        assert count <= max([1, *(own_threads[key] for key in keys)])


def kinds(desired: Desired, **parts: Any) -> list[str]:
    return [type(action).__name__ for action in plan(desired, snapshot(**parts))]


def summary(head: str, words: str = "**Reviewed**") -> tuple[gh.Comment, ...]:
    return (comment(1, f"{SUMMARY}\n{encode_state(State(head=head))}\n{words}\nmore"),)


@each("event", ["APPROVE", "REQUEST_CHANGES"])
def test_a_verdict_comes_back_with_its_commit_unless_a_person_dismissed_it(event: Any) -> None:
    desired = replace(DESIRED, event=event)
    marker = review_mark(HEAD, event, [])
    for status, head, is_due in [
        ("DISMISSED", OLD, True),
        ("DISMISSED", HEAD, False),
        (STATES[event], OLD, False),
    ]:
        there = {"comments": summary(head), "reviews": (review(2, status, marker),)}
        assert ("PostReview" in kinds(desired, **there)) == is_due
    older = review(2, STATES[event], review_mark(OLD, event, []))
    found = kinds(desired, reviews=(older,), comments=summary(OLD))
    assert ("PostReview" in found) == ("DismissReview" in found) == (event == "APPROVE")


@each(
    ("keys", "is_complete", "is_taken_back"),
    [
        ([], True, True),
        (["k1", "k2"], True, True),
        (["k1"], False, True),
        (["k1", "k2"], False, False),
        ([], False, False),
    ],
)
def test_a_request_for_changes_is_taken_back_once_all_of_it_was_looked_at(
    keys: list[str], is_complete: bool, is_taken_back: bool
) -> None:
    desired = replace(DESIRED, event="COMMENT", is_complete=is_complete, open_keys=frozenset())
    there = review(2, "CHANGES_REQUESTED", review_mark(OLD, "REQUEST_CHANGES", keys))
    assert ("DismissReview" in kinds(desired, reviews=(there,))) is is_taken_back


def test_a_folded_finding_that_comes_back_has_a_new_thread() -> None:
    desired = replace(DESIRED, event="COMMENT", comments=(at_line("k1"),))
    folded = thread(comment(2, finding("k1")), comment(3, state.CLOSED_MARKER.format(key="k1")))
    named = review(4, "COMMENTED", review_mark(HEAD, "COMMENT", ["k1"]))
    again = review(5, "COMMENTED", review_mark(HEAD, "COMMENT", ["k1"]))
    assert "PostReview" in kinds(desired, threads=(folded,), reviews=(named,))
    assert "PostReview" not in kinds(desired, threads=(folded,), reviews=(named, again))
    assert "PostReview" not in kinds(desired, reviews=(named,))
    both, new = (named, again), thread(comment(6, finding("k1")))
    assert "HideReview" not in kinds(desired, threads=(folded, new), reviews=both)
    assert "HideReview" in kinds(desired, threads=(new,), reviews=both)
    dismissed = (replace(named, state="DISMISSED"), again)
    assert "HideReview" not in kinds(desired, threads=(new,), reviews=dismissed)
    assert "Delete" not in kinds(desired, threads=(folded, thread(comment(6, finding("k1")))))
    gone = replace(desired, open_keys=frozenset(), comments=())
    twice = (thread(comment(2, finding("k1"))), thread(comment(6, finding("k1"))))
    assert kinds(gone, threads=twice)[:2] == ["Delete", "ResolveThread"]
    answered = thread(comment(2, finding("k1")), comment(3, "No", own=False))
    assert "ResolveThread" not in kinds(gone, threads=(answered,))


def test_a_summary_is_edited_for_another_verdict_and_not_for_nothing() -> None:
    assert "WriteComment" not in kinds(DESIRED, comments=summary(HEAD))
    assert "WriteComment" in kinds(DESIRED, comments=summary(HEAD, "**Incomplete**"))
    assert "WriteComment" in kinds(DESIRED, comments=summary(OLD))


def test_the_newest_check_run_of_a_commit_is_edited() -> None:
    about: Any = {"id": 9, "external_id": HEAD, "app": "github-actions"}
    there = gh.CheckRun(title="1: other", conclusion="success", **about)
    both = snapshot(checks=(there, replace(there, id=8, title="")))
    (found,) = [a for a in plan(DESIRED, both) if isinstance(a, actions.PostCheckRun)]
    assert found == replace(DESIRED.check, id=9)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
NUMBERED = {"id": st.just("F7"), "severity": st.just("low"), "status": st.just("agreed")}
WORDS = dict.fromkeys(("key", "title", "path", "text", "reason", "dismissed"), TEXT)
FINDINGS = st.lists(st.builds(Remembered, **NUMBERED, **WORDS), max_size=5).map(tuple)
NUMBERS = st.dictionaries(TEXT, st.integers(0, 9).map("F{}".format), max_size=5)
PARTS = st.dictionaries(TEXT, st.tuples(TEXT), max_size=5)
MEMORY = st.builds(Memory, parts=PARTS, findings=FINDINGS, numbers=NUMBERS)


def packed(content: bytes) -> str:
    return f"<!-- reviewbot:state {base64.b64encode(zlib.compress(content)).decode()} -->"


@settings(max_examples=50, deadline=None)
@given(st.builds(State, memory=MEMORY, head=TEXT, paused_by=TEXT, reviews=st.integers(0, 2**40)))
def test_a_state_comes_back(kept: State) -> None:
    line = encode_state(kept)
    assert decode_state(line) == kept == decode_state(f"{line}\r")
    assert (line.count("--"), line.count(">"), "\n" in line) == (2, 1, False)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=99) | st.binary(max_size=99).map(packed))
@example(packed(b'{"head": "\xff"}'))
@example(packed(b"[" * 100_000))
@example(packed(b'{"memory": {"parts": ' * 9_000))
@example(packed(b" " * 9_000_000 + b"{}"))
@example(packed(b'{"version": 2}'))
@example(packed(b'{"memory": {"numbers": {"k": "F\\u00b2"}}}'))
@example(packed(b'{"memory": {"numbers": {"k": "no number"}}}'))
@example(packed(b"{}")[:-8] + " -->")
@example("<!-- reviewbot:state AAAA -->")
@example(packed(b"{}") + "-->")
def test_any_other_line_is_no_state(line: str) -> None:
    assert decode_state(line) is None


def test_what_people_dismissed_outlives_two_thousand_findings() -> None:
    def known(number: int, **more: str) -> Remembered:
        salt = str(zlib.crc32(str(number).encode()) ** 5)
        title = f"{salt} \ud800 -->{salt}"
        about: Any = {"key": salt[:16], "title": title, "text": salt * 9, "status": "agreed"}
        severity: Any = "critical" if number < 10 else "low"
        return Remembered(id=f"F{number}", severity=severity, reason="r", **about | more)

    findings = [known(n) for n in range(1, 2_000)] + [known(n, dismissed="no") for n in (1, 2_000)]
    parts = {f"{n**5:x}": (f"F{n}",) for n in range(2_000)}
    numbers = {known.key: known.id for known in findings}
    memory = Memory(parts=parts, findings=tuple(findings), numbers=numbers)
    begun = time.monotonic()
    line = encode_state(State(memory=memory, stopped_by="ann"))
    kept = decode_state(line)

    assert time.monotonic() - begun < 5
    assert len(line) <= state.MAX_CHARACTERS
    assert kept
    assert {f.id for f in kept.memory.findings if f.dismissed} == {"F1", "F2000"}
    assert {f.id for f in kept.memory.findings} >= {f"F{n}" for n in range(1, 10)}
    assert (max(int(id[1:]) for id in kept.memory.numbers.values()), kept.stopped_by) == (
        2_000,
        "ann",
    )
    many = tuple(known(n, dismissed=str(n**99)) for n in range(1, 500))
    assert decode_state(encode_state(State(memory=Memory(findings=many))))
    alike = tuple(replace(known(1, title="x" * 200), key=f"k{n}") for n in range(3_000))
    cut = decode_state(encode_state(State(memory=Memory(findings=alike))))
    assert cut
    assert cut.memory.findings[0].title == "x" * 119 + "…"
    short, full = (f"{SUMMARY}\n{encode_state(State())}\n{'words ' * n}" for n in (1, 10_000))
    edited = state.with_state(short, State(head=HEAD))
    assert edited == f"{SUMMARY}\n{encode_state(State(head=HEAD))}\nwords "
    assert len(state.with_state(full, State(memory=memory)).encode()) <= 65_000
    # Half of a line could be live: the end of a code span is what keeps a name from being one.
    *words, last = state.with_state(full.replace("words ", "`@ann`\n"), State()).split("\n")[2:]
    assert (set(words), last) == ({"`@ann`"}, "…")


@each("body", ["Hi\n{}", " {}", "> {}", "```\n{}\n```", "\n{}", "{}"])
def test_a_marker_is_believed_on_the_first_line_of_an_own_comment(body: str) -> None:
    own, opening = body != "{}", finding("k1").split("\n")[0]
    line = encode_state(State(stopped_by="ann"))
    mark = review_mark(HEAD, "APPROVE", ["k1"])
    there = snapshot(
        comments=(comment(1, body.format(f"{SUMMARY}\n{line}"), own),),
        threads=(thread(comment(2, body.format(opening), own)),),
        reviews=(review(3, "APPROVED", body.format(mark), own),),
    )
    assert state.state_of(there) == State()
    ours = [*state.summaries_of(there), *state.threads_of(there), *state.reviews_of(there)]
    assert not ours
    right = comment(1, f"{SUMMARY}\r\n{line}\r\nwords")
    assert state.state_of(snapshot(comments=(right,))).stopped_by == "ann"
