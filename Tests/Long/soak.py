"""Half an hour of small responses that are stored, reused, passed on, intercepted and replayed: what Larder occupies stays within its bounds."""

import json
import os
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.clients import open_tunnel
from Tools.larder import WORK, Interceptor, Larder
from Tools.measuring import memory
from Tools.origins import SecureOrigin
from Tools.processes import free_port, start, wait_for_port

MIB = 1 << 20
SECONDS = int(os.environ.get("SOAK_SECONDS", 1800))
SOAK = os.environ["SOAK"]
CONNECTIONS = 64
TIER = 100 * MIB
# What Larder may occupy beside the responses in memory and their index.
REST = 64 * MIB
LOG = 256 * MIB
INDEX_PER_RESPONSE = 150


def facts(larder):
    """What the kernel and `larder status` say of a process."""
    process = Path(f"/proc/{larder.process.pid}")
    told = larder.status()
    return {
        "resident": memory(larder.process) << 10, "threads": memory(larder.process, "Threads"),
        "descriptors": len(list((process / "fd").iterdir())), "tier": told["memory"]["bytes"], "index": told["memory"]["index_bytes"],
        "allocated": told["memory"]["allocated"], "held": told["memory"]["held"], "stored": told["store"]["entries"],
        "inMemory": told["memory"]["entries"],
        "wal": told["store"]["log_bytes"], "requests": told["requests"]["total"],
    }


def rests(rows):
    """For each row, what is resident beside the index and as much as the tier has ever held: an evicted response's memory is used again."""
    greatest, found = 0, []
    for now in rows:
        greatest = max(greatest, now["tier"])
        found.append(now["resident"] - greatest - now["index"])
    return found


class Told:
    """Larder with an admin socket, which is asked as `larder status` asks it."""

    def status(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.admin))
            s.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: s.recv(65536), b""))
        return json.loads(answer.partition(b"\r\n\r\n")[2])


    def settled(self):
        """The same, once nothing waits to be written."""
        for _ in range(600):
            status = self.status()
            if status["store"]["queued_operations"] == 0:
                break
            time.sleep(0.1)
        return status


class Live(Told, Interceptor):
    def __init__(self, authority):
        self.admin = WORK / "live.sock"
        # The disk's limit is reached within minutes, so that responses are evicted from there too.
        super().__init__(WORK / "live" / "store.sqlite", authority, f"admin.socket={self.admin}", "store.disk.high=384MiB",
                         "store.disk.low=320MiB", "egress.addresses.deny=[]", loops=2)


class Serving(Told, Larder):
    def __init__(self, name, *settings):
        self.admin = WORK / f"{name}.sock"
        super().__init__(WORK / name / "store.sqlite", f"admin.socket={self.admin}", *settings)


def ask(larder, origin, seconds, new, passed, named=0):
    return start([SOAK, "ask", larder.port, origin, seconds, CONNECTIONS, new, passed, named],
                 stdout=subprocess.PIPE, text=True)


def record(origin):
    """A recording of some thousand responses, and how many of them a replay surely has."""
    file = WORK / "soak.larder"
    larder = Serving("recording", "mode=record", f"record.file={file}")
    named = int(ask(larder, origin, 3, 1000, 0).communicate(timeout=120)[0].split()[1])
    larder.stop()
    return file, named - CONNECTIONS


class Intercepted(threading.Thread):
    """Tunnels to a host that is intercepted: in each one some requests, of which the first is a miss now and then."""

    def __init__(self, larder, origin, until):
        super().__init__(daemon=True)
        self.larder, self.origin, self.until, self.answered, self.failed = larder, origin, until, 0, 0
        self.context = ssl.create_default_context(cafile=larder.root)
        self.start()

    def run(self):
        number = 0
        while time.monotonic() < self.until:
            number += 1
            try:
                self.tunnel(number)
            except (OSError, AssertionError):
                self.failed += 1

    def tunnel(self, number):
        host = f"127.0.0.1:{self.origin.port}"
        with open_tunnel(self.larder.port, host) as plain:
            with self.context.wrap_socket(plain, server_hostname="127.0.0.1") as tls:
                for path in [f"/{number // 4}"] * 8:
                    tls.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    answer = b""
                    while not answer.endswith(b"hello\n"):
                        piece = tls.recv(65536)
                        assert piece
                        answer += piece
                    assert answer.startswith(b"HTTP/1.1 200")
                    self.answered += 1


COLUMNS = ["resident", "tier", "index", "allocated", "held", "wal", "descriptors", "threads", "stored", "requests"]


def row(seconds, name, now):
    cells = [f"{now[column] / MIB:9.1f}" if now[column] >= MIB or column in COLUMNS[:6] else f"{now[column]:9}" for column in COLUMNS[:6]]
    cells += [f"{now[column]:11}" for column in COLUMNS[6:]]
    print(f"{seconds:5} {name:7}" + "".join(cells), flush=True)


def median(values):
    return sorted(values)[len(values) // 2]


def judge(name, rows):
    """The first fifth is warming up. What is growing is larger in the last third than in the one before."""
    warm = rows[len(rows) // 5:]
    check(all(now["resident"] <= TIER + now["index"] + REST for now in warm),
          f"{name}: resident at most tier + index + 64 MiB (most: {max(now['resident'] for now in warm) / MIB:.0f} MiB)")
    check(max(now["wal"] for now in rows) <= LOG, f"{name}: WAL at most 256 MiB (most: {max(now['wal'] for now in rows) / MIB:.0f} MiB)")
    check(all(now["index"] <= MIB + INDEX_PER_RESPONSE * (now["stored"] + now["inMemory"]) for now in rows),
          f"{name}: at most {INDEX_PER_RESPONSE} bytes of index for each response on the disk and in memory")
    third = len(warm) // 3
    for what, values, slack in (("memory beside tier and index", rests(rows), 16 * MIB),
                                ("descriptors", [now["descriptors"] for now in rows], 16), ("threads", [now["threads"] for now in rows], 1)):
        values = values[len(rows) // 5:]
        first, second = median(values[third:2 * third]), median(values[2 * third:])
        check(second <= first + slack, f"{name}: no growth of {what} ({first} in the second third, {second} in the last)")


authority = Authority(WORK)
secure = SecureOrigin(authority.certify("127.0.0.1"))
origin = free_port()
start([SOAK, "origin", origin])
wait_for_port(origin)
recording, recorded = record(origin)
check(recorded > 100, f"{recorded} responses are recorded")
live = Live(authority)
replaying = Serving("replaying", "mode=replay", f"replay.layers=[{recording}]")

plain = ask(live, origin, SECONDS, 100, 50)
replayed = ask(replaying, origin, SECONDS, 0, 0, recorded)
intercepted = Intercepted(live, secure, time.monotonic() + SECONDS)
tables = {"live": [], "replay": []}
print("    s         " + "".join(f"{column:>9}" for column in COLUMNS[:6]) + "".join(f"{column:>11}" for column in COLUMNS[6:]))
began, step = time.monotonic(), max(2, SECONDS // 120)
while plain.poll() is None or replayed.poll() is None:
    time.sleep(step)
    for name, larder in (("live", live), ("replay", replaying)):
        tables[name].append(facts(larder))
        if len(tables[name]) % 4 == 0:
            row(int(time.monotonic() - began), name, tables[name][-1])

intercepted.join(60)
for name, client in (("plain", plain), ("replayed", replayed)):
    requests, new, failed = map(int, client.communicate()[0].split())
    check(failed == 0 and requests > 0, f"{name}: {requests} requests, {new} of them for new URLs, {failed} failed")
    if client is plain:
        # What each connection was sent last may have gone with it.
        store = live.settled()["store"]
        unstored = sum(store["unstored"].values())
        check(store["stored"] + unstored >= new - CONNECTIONS,
              f"of {new} new responses {store['stored']} were stored, and {unstored} not, each with a reason: {store['unstored']}")
check(intercepted.failed == 0 and intercepted.answered > 0, f"intercepted: {intercepted.answered} requests, {intercepted.failed} failed")
for name, rows in tables.items():
    judge(name, rows)
live.stop()
replaying.stop()
finish()
