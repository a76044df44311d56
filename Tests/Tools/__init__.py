"""What the Python harnesses below Tests share. Their scripts set PYTHONPATH to Tests, so that `from Tools.…` finds it.

    processes      programs that end with the harness, the output of programs, ports
    larder         a larder process, plain or intercepting
    certificates   openssl, and a CA for the origins of a test
    origins        nginx, and HTTP servers of Python, plain and with TLS
    clients        raw HTTP clients, tunnels, and a reader of messages
    measuring      memory, CPU, system calls, and load beside what is tested
    checks         `ok` and `FAILED` lines, and the exit code that follows from them
"""

import os

# For the harness alone: programs under test may be Python's.
os.environ.pop("PYTHONPATH", None)
