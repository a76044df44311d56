"""`ok` and `FAILED` lines, and the exit code that follows from them."""

import sys


def check(condition, what):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        check.failed = True


check.failed = False


def finish():
    sys.exit(1 if check.failed else 0)
