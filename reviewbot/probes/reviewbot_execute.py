"""Becomes the command that a panelist asked for, word for word.

Usage: ``python -I reviewbot_execute.py CALL [PROGRAM]``. CALL is a file of JSON: ``{"argv": [word…], "directory": path}``, seen
from the working directory. PROGRAM is what was found for the first word; without it that word is a path. Ends as a shell would
where it cannot be started: with 126 or 127. Python 3.8 and later.
"""

from __future__ import annotations

import json
import os
import signal
import sys


def main(call_path: str, program: str = "") -> int:
    with open(call_path, encoding="ascii") as file:
        call = json.load(file)
    argv = call["argv"]
    # Python ignores these, and who is started by it would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(call["directory"] or ".")
        os.execv(program or argv[0], argv)
    except (OSError, ValueError) as error:
        print(f"{argv[0]} cannot be started: {getattr(error, 'strerror', '') or error}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
