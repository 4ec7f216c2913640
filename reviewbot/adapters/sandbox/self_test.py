"""The first job behind a new wall: does it start, and does it hold?"""

from __future__ import annotations

from reviewbot.ports import Ended, Job, Outcome

_SECONDS = 20.0
_MOST_LETTERS = 400
_SCRIPT = """
fail() { echo "$1" >&2; exit 1; }
[ "$(id -u)" = 1000 ] || fail 'it does not take the powers of its user away'
while read -r key value; do
    [ "$key" = CapEff: ] && [ "$value" != 0000000000000000 ] && fail "it leaves powers: $value"
done </proc/self/status
for place in /usr /etc /; do
    (echo >"$place/.reviewbot-self-test") 2>/dev/null && fail "$place can be written"
done
[ "$(wc -l </proc/net/route)" -le 1 ] || fail 'it has a network'
"""
JOB = Job("self-test", ("/bin/sh", "-c", _SCRIPT), _SECONDS, executes=False)


def problem(outcome: Outcome) -> str:
    """What is wrong, in the words of whoever failed; empty where nothing is."""
    if outcome.ended is Ended.EXITED and outcome.exit_code == 0:
        return ""
    said = outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return (said or outcome.reason or f"exit code {outcome.exit_code}")[:_MOST_LETTERS]
