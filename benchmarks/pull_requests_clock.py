"""Runs a command and tells what it took, on a last line of JSON: seconds, CPU seconds, peak resident memory in kB, exit code.

CPU seconds are the command's and its children's, the peak is that of the largest of them. A process of its own, and a small one:
on Linux a child's peak counts the memory of whoever started it, up to its ``exec``.
"""

import json
import os
import sys
import time

began = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - began
print("\n" + json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status)]))
