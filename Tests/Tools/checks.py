"""`ok` and `FAILED` lines, and the exit code that follows from them.

A claim is about time or CPU, which depend on the machine and on what else it does: `met` or `MISSED`, and no failure unless
CLAIMS=1, as Tests/Performance/claims.sh sets it.
"""

import os
import sys


def check(condition, what):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        check.failed = True


check.failed = False


def claim(condition, what):
    print(("met     " if condition else "MISSED  ") + what, flush=True)
    if not condition and os.environ.get("CLAIMS") == "1":
        check.failed = True


def finish():
    sys.exit(1 if check.failed else 0)
