#!/bin/bash
# The terminal belongs to the command of `larder run`: it is one for it, Ctrl-C and Ctrl-\ reach it once, its end is Larder's.
set -euo pipefail
if ! command -v python3 > /dev/null; then
    echo "left out: it needs python3"
    exit 0
fi
exec python3 - << 'EOF'
import os, pty, select, sys, time

LARDER = os.environ["LARDER"]
failed = False


def behind(script, keys):
    """What a command behind Larder says on a terminal where these keys are struck once it is ready, and its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(LARDER, [LARDER, "run", "--store", ":memory:", "--", "sh", "-c", script])
    said, deadline = b"", time.time() + 30
    while time.time() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            said += piece
        if b"ready" in said and keys:
            time.sleep(0.2)
            os.write(terminal, keys)
            keys = b""
    return said.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def check(what, condition, *facts):
    global failed
    failed = failed or not condition
    print("ok     " if condition else "FAILED ", what, *([] if condition else facts), flush=True)


trap = 'trap "echo caught; exit 5" %s; echo ready; n=0; while [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done'
said, code = behind("tty -s && stty size > /dev/null && echo a terminal; exit 3", b"")
check("it is a terminal for the command", "a terminal" in said and code == 3, said, code)
said, code = behind(trap % "INT", b"\x03")
check("Ctrl-C reaches the command, once", said.count("caught") == 1 and code == 5, said, code)
said, code = behind(trap % "QUIT", b"\x1c")
check("so does Ctrl-\\", said.count("caught") == 1 and code == 5, said, code)
said, code = behind("echo ready; sleep 20", b"\x03")
check("a command that it ends is 130", code == 130, said, code)
said, code = behind('echo ready; read line; echo "read $line"', b"a line\n")
check("the command reads what is typed", "read a line" in said and code == 0, said, code)
sys.exit(failed)
EOF
