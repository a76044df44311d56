"""2,000 clients that make a handshake in a tunnel at once, and 1,100 that stop in the midst of it: how long others wait for plain hits.

Larder has one loop, so that everything shares it. Where there are two cores it has the first one to itself; the clients of the handshakes
share the other one with those who ask for plain hits, and are the last there (nice 19), the others the first (SCHED_FIFO, where that is
allowed). Prints ratios and judges none of them: how long a handshake takes is the machine's. Fails when a client is not served, or when those
that have stopped are not sent away. Claimed besides: one that comes after them waits no longer than they are given.
"""

import math
import os
import resource
import subprocess
import time

from Tools.certificates import Authority
from Tools.checks import check, claim, finish
from Tools.larder import WORK, Interceptor
from Tools.measuring import Others
from Tools.origins import FilesOrigin, SecureOrigin

CLIENTS, STOPPED, LIMIT = int(os.environ.get("CLIENTS", 2_000)), 1_100, 1_024
PATIENT, DEADLINE = 600, 10  # Seconds for a handshake: for those who all make one, however slow the machine, and for those who stop.
OTHERS = (50, 40)  # Connections, and how often each asks in a second.
RUNS = 3
HOST = "origin.test"
resource.setrlimit(resource.RLIMIT_NOFILE, (min(30_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
cores = sorted(os.sched_getaffinity(0))


def clients(count, *how, port=None):
    return subprocess.Popen(
        [WORK / "handshakes", str(port or larder.port), f"{HOST}:{secure.port}", "/small", larder.root, str(count), *how], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if port else None, text=True, preexec_fn=lambda: os.nice(19))


def others(seconds):
    return Others(WORK / "load", larder.port, plain.url("/keep/small"), seconds, *OTHERS)


def served(process, count, what):
    """Seconds until a client has its answer: the median, p99, and the last."""
    said, _ = process.communicate("begin\n", timeout=600)
    if not said:
        raise SystemExit(f"{what}: nobody was served")
    done, failed, *times = map(float, said.split())
    check(done == count and process.returncode == 0, f"{what}: {done:.0f} of {count} have their answer, {failed:.0f} failed")
    return [one / 1e6 for one in times]


def show(what, times, quiet):
    ratios = ", ".join(f"{one / of:.1f}" for one, of in zip(times, quiet))
    print(f"        {what}: plain hits p50 {times[0]:.3f} ms, p99 {times[1]:.3f} ms, longest {times[2]:.3f} ms; of the quiet ones {ratios}",
          flush=True)


os.sched_setaffinity(0, cores[-1:])
authority = Authority(WORK)
secure = SecureOrigin(authority.certify(HOST), b"x" * 1024)
plain = FilesOrigin(WORK)
(plain.root / "small").write_bytes(b"x" * 1024)


def start_larder(deadline):
    larder = Interceptor(":memory:", authority, f"resolve={{{HOST}: 127.0.0.1}}", f"timeouts.client_handshake={deadline}s")
    for thread in os.listdir(f"/proc/{larder.process.pid}/task"):
        os.sched_setaffinity(int(thread), cores[:1])
    return larder


larder = start_larder(PATIENT)
print(f"        Larder, one loop, on core {cores[0]}; clients on core {cores[-1]}", flush=True)
served(clients(1), 1, "the first one")
asked = secure.asked

others(1).times()
quiet = min((others(2).times() for _ in range(RUNS)), key=lambda times: times[1])
show("quiet", quiet, quiet)


def tunnels_first():
    """Clients whose tunnels are there, and who wait for a word to begin."""
    waiting = clients(CLIENTS, "wait")
    check(waiting.stdout.readline() == f"open {CLIENTS}\n", f"{CLIENTS} tunnels are there")
    return waiting


def all_served(process):
    p50, p99, last = served(process, CLIENTS, f"{CLIENTS} at once")
    print(f"        an answer after {p50:.2f} s (p50), {p99:.2f} s (p99), {last:.2f} s (the last): {CLIENTS / last:.0f} a second", flush=True)
    return last


took = all_served(clients(CLIENTS))
# What the clients themselves take from those who ask: nginx has them, and refuses them.
asking = others(1)
time.sleep(0.2)
refused = clients(CLIENTS, port=plain.port)
show(f"while {CLIENTS} connect to another server", asking.times(), quiet)
refused.communicate(timeout=600)
for _ in range(RUNS):
    asking = others(1)
    time.sleep(0.2)
    waiting = tunnels_first()
    show(f"in the second in which {CLIENTS} connect and open tunnels", asking.times(), quiet)
    waiting.kill()
    waiting.wait()
# Those who are asked beside them are asked no longer than that, so that all that is counted is beside them.
for _ in range(RUNS):
    waiting, asking = tunnels_first(), others(max(1, math.floor(took)))
    all_served(waiting)
    show(f"while {CLIENTS} shake hands", asking.times(), quiet)
for _ in range(RUNS):
    beginning, asking = clients(CLIENTS), others(max(1, math.floor(took)))
    all_served(beginning)
    show(f"while {CLIENTS} do all of it", asking.times(), quiet)
check(secure.asked == asked, f"all of it came from the store: the origin was asked {secure.asked - asked} times more")
check(larder.stop() == 0, "Larder ended well")
larder = start_larder(DEADLINE)
served(clients(1), 1, "the first one")
others(1).times()


def newcomer(what):
    began = time.time()
    served(clients(1), 1, what)
    return time.time() - began


alone = newcomer("a newcomer, nobody else there")
for count in (LIMIT - 24, STOPPED):
    stopped = clients(count, "stop")
    said = stopped.stdout.readline()
    check(said == f"held {count}\n", f"{count} are to stop in the midst of their handshake: {said.strip()}")
    asking = others(2)
    took = newcomer(f"a newcomer beside {count} that have stopped")
    print(f"        after {took:.3f} s; {alone:.3f} s when nobody else is there", flush=True)
    show(f"beside {count} that have stopped", asking.times(), quiet)
    if count < LIMIT:
        stopped.kill()
        stopped.wait()
        continue
    claim(took <= DEADLINE + 2, f"in the {DEADLINE} s that they are given")
    said = stopped.communicate(timeout=600)[0].split()
    check(said[:2] == ["ended", str(count)], f"all {count} are sent away: {' '.join(said[:2]) or 'none was'}")
    if len(said) == 4:
        print(f"        from {float(said[2]) / 1e6:.1f} to {float(said[3]) / 1e6:.1f} s after they came", flush=True)
newcomer("a newcomer when they have gone")
check(larder.stop() == 0, "Larder ended well")
finish()
