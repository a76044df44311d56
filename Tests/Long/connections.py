"""10,000 idle and 1,000 active connections, a client that sends a byte a second and one that never reads: memory stays flat.
Claimed besides: the others' p99 is within twice the quiet one.

Larder has one loop, so that everything shares it, and a core of its own where there are two. The others are 50 connections that
load.c asks over; the active ones are another 1,000 that it asks over ten times a second each, in the same thread.
"""

import os
import resource
import socket
import subprocess
import threading

from Tools.checks import check, claim, finish
from Tools.larder import WORK, Larder
from Tools.measuring import go_first
from Tools.origins import FilesOrigin

IDLE, ACTIVE, SECONDS = int(os.environ.get("IDLE", 10_000)), int(os.environ.get("ACTIVE", 1_000)), 4
RUNS = 3
LOAD = os.environ["LOAD"]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(30_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, cores[-1:])
origin = FilesOrigin(WORK)
(origin.root / "small").write_bytes(b"x" * 1024)
(origin.root / "large").write_bytes(b"x" * (100 << 20))


larder = Larder(":memory:", "timeouts.client_idle=10m", "timeouts.client_head=10m")
for thread in os.listdir(f"/proc/{larder.process.pid}/task"):
    os.sched_setaffinity(int(thread), cores[:1])
    go_first(int(thread))


def connect():
    return socket.create_connection(("127.0.0.1", larder.port), 60)


def p99(*groups, seconds=SECONDS):
    """In milliseconds, of each group of (connections, requests a second for each)."""
    numbers = [str(number) for group in groups for number in group]
    arguments = [LOAD, str(larder.port), origin.url("/keep/small"), str(seconds), *numbers]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, preexec_fn=go_first)
    if run.returncode:
        raise SystemExit("the load could not be kept")
    return [float(line.split()[2]) / 1000 for line in run.stdout.splitlines()]


def best(*groups):
    """The best of some runs, as a machine that does something else besides is not what is measured."""
    return min(p99(*groups) for _ in range(RUNS))


OTHERS = (50, 40)


def drip(sock, data, ended):
    for byte in data:
        sock.send(bytes([byte]))
        if ended.wait(1):
            return


p99(OTHERS, seconds=1)
quiet = best(OTHERS)[0]
start = larder.resident
print(f"        quiet: p99 {quiet:.3f} ms, {start:.1f} MiB resident", flush=True)


def check_others(what, *beside):
    """Returns the p99 of the first group beside them."""
    took, *theirs = best(OTHERS, *beside)
    claim(took <= 2 * quiet, f"{what}: p99 {took:.3f} ms, {took / quiet:.2f} of the quiet one")
    return theirs[0] if theirs else None


idle = [connect() for _ in range(IDLE)]
check_others(f"beside {IDLE} idle connections")
each = (larder.resident - start) * 1024 / IDLE
check(each <= 1.5, f"{IDLE} idle connections: {each:.2f} KiB each")

before = larder.resident
never, slow, ended = connect(), connect(), threading.Event()
never.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
never.send(f"GET {origin.url('/pass/large')} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
dripping = threading.Thread(target=drip, args=(slow, f"GET {origin.url('/keep/small')} HTTP/1.1\r\nHost: a\r\n".encode(), ended))
dripping.start()
check_others("and one byte a second, and one that never reads 100 MiB")
check(larder.resident - before < 8, f"these two: {larder.resident - before:.1f} MiB more")

p99((ACTIVE, 10), seconds=1)
first = larder.resident
theirs = check_others(f"and {ACTIVE} active connections, {ACTIVE * 10} requests a second", (ACTIVE, 10))
second = larder.resident
check(second - first < 1, f"{ACTIVE} active connections: {second - first:+.2f} MiB in {RUNS * SECONDS} s, {(first - before) * 1024 / ACTIVE:.1f} KiB each")
print(f"        their own p99 {theirs:.3f} ms", flush=True)

ended.set()
dripping.join()
for sock in [never, slow, *idle]:
    sock.close()
check(larder.stop() == 0, "ends on SIGTERM")
origin.stop()
finish()
