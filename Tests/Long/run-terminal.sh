#!/bin/bash
# The terminal belongs to the command of `larder run`: it is one for it, Ctrl-C and Ctrl-\ reach it once, Ctrl-Z stops both and
# fg has both go on, its end is Larder's.
set -euo pipefail
if ! command -v python3 > /dev/null; then
    echo "left out: it needs python3"
    exit 0
fi
exec python3 - << 'EOF'
import os, pty, select, signal, sys, time

LARDER = os.environ["LARDER"]
failed = False


def execute(script):
    os.execv(LARDER, [LARDER, "run", "--store", ":memory:", "--", "sh", "-c", script])


def execute_as_job(script):
    """As a shell has it: when it has stopped, that is said, and it goes on in the foreground."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        execute(script)
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status))
        states = set()
        while states != {"T"}:
            states = set()
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    row = open(f"/proc/{name}/stat").read().rsplit(") ", 1)[1].split()
                except (FileNotFoundError, ProcessLookupError):
                    continue  # it has ended meanwhile
                if int(row[2]) == job:
                    states.add(row[0])
        os.write(1, b"stopped ready\n")
        os.killpg(job, signal.SIGCONT)


def behind(script, *keys, start=execute):
    """What a command behind Larder says on a terminal where keys are struck each time that it is ready, and its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        start(script)
    keys = list(keys)
    said, struck, deadline = b"", 0, time.time() + 30
    while time.time() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            said += piece
        if keys and said.count(b"ready") > struck:
            os.write(terminal, keys.pop(0))
            struck += 1
    return said.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def check(what, condition, *facts):
    global failed
    failed = failed or not condition
    print("ok     " if condition else "FAILED ", what, *([] if condition else facts), flush=True)


trap = 'trap "echo caught; exit 5" %s; echo ready; n=0; while [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done'
said, code = behind("tty -s && stty size > /dev/null && echo a terminal; exit 3")
check("it is a terminal for the command", "a terminal" in said and code == 3, said, code)
said, code = behind(trap % "INT", b"\x03")
check("Ctrl-C reaches the command, once", said.count("caught") == 1 and code == 5, said, code)
said, code = behind(trap % "QUIT", b"\x1c")
check("so does Ctrl-\\", said.count("caught") == 1 and code == 5, said, code)
said, code = behind("echo ready; sleep 20", b"\x03")
check("a command that it ends is 130", code == 130, said, code)
said, code = behind('echo ready; read line; echo "read $line"', b"a line\n")
check("the command reads what is typed", "read a line" in said and code == 0, said, code)
said, code = behind('echo ready; read line; echo "read $line"; exit 6', b"\x1a", b"a line\n", start=execute_as_job)
check("Ctrl-Z stops both, and both go on", "stopped" in said and "read a line" in said and code == 6, said, code)
sys.exit(failed)
EOF
