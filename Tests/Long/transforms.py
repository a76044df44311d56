"""50 MiB of JSON transformed, as they come and from the store, while others ask for what is in memory: what that costs them."""

import json
import os
import socket
import subprocess
import threading
import time

from common import Larder, Origin, Response, WORK, check, finish

SIZE = int(os.environ.get("TRANSFORMED_BODY", 50 << 20))
ROUNDS = int(os.environ.get("TRANSFORM_ROUNDS", 6))
# Requests each second, paced: what is measured is how long an answer takes, not how many there are.
RATE = 1000

(WORK / "larder.yaml").write_text("""
limits: {checked_bodies: 512MiB, transformed_bodies: 0B}
rules:
  - name: strip
    match: {path: "/keep/large*"}
    transform: {strip_nulls: true, content_type: "*/*", max_body: 256MiB, max_output: 256MiB, timeout: 2m}
""")


class RuledLarder(Larder):
    def start(self):
        self.arguments += ["--config", str(WORK / "larder.yaml")]
        super().start()


class Asker:
    """Asks for one small thing again and again on one connection, and notes how long each answer takes."""

    def __init__(self, larder, url):
        self.socket = socket.create_connection(("127.0.0.1", larder.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host = url.split("/")[2]
        self.request = f"GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()

    def ask(self):
        began = time.perf_counter()
        self.socket.sendall(self.request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(65536)
        head, body = data.split(b"\r\n\r\n", 1)
        length = int(next(line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")))
        while len(body) < length:
            body += self.socket.recv(65536)
        return time.perf_counter() - began

    def ask_until(self, ended):
        times, next_at = [], time.perf_counter()
        while not ended():
            times.append(self.ask())
            next_at += 1 / RATE
            pause = next_at - time.perf_counter()
            if pause > 0:
                time.sleep(pause)
            else:
                next_at = time.perf_counter()
        return times


def quantile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1e3


def told(name, times):
    print(f"        {name}: {len(times)} answers, p50 {quantile(times, 0.5):.3f} ms, p99 {quantile(times, 0.99):.3f} ms, "
          f"p99.9 {quantile(times, 0.999):.3f} ms, longest {max(times) * 1e3:.1f} ms", flush=True)


def during(asker, work):
    """What the asker sees while the work is done, and how long that took."""
    done, began = threading.Event(), time.time()

    def run():
        try:
            work()
        finally:
            done.set()
    thread = threading.Thread(target=run)
    thread.start()
    times = asker.ask_until(done.is_set)
    thread.join()
    return times, time.time() - began


origin = Origin()
(origin.root / "small").write_bytes(b"x" * 1024)
record = {"id": 1234567, "name": "Anna", "mail": None, "tags": ["a", None, "b"], "score": 1.50, "note": "x" * 100}
one = json.dumps(record).encode()
count = SIZE // (len(one) + 1)
large = b"[" + b",".join([one] * count) + b"]"
(origin.root / "large").write_bytes(large)
stripped = {key: value for key, value in record.items() if value is not None} | {"tags": ["a", "b"]}
expected = (len(json.dumps(stripped, separators=(",", ":"))) + 1) * count + 1
larder = RuledLarder(WORK / "store" / "store.sqlite", loops=1)
asker = Asker(larder, origin.url("/keep/small"))
for _ in range(2000):
    asker.ask()
base = larder.resident

end = time.time() + 10
quiet = asker.ask_until(lambda: time.time() > end)
told("quiet", quiet)


class Reader:
    """Reads one large answer, in a process of its own: a thread would hold up the asker."""

    def __init__(self, url):
        self.url, self.length, self.status = url, 0, ""

    def __call__(self):
        result = subprocess.run(
            ["curl", "-sS", "-x", f"http://127.0.0.1:{larder.port}", "-o", "/dev/null",
             "-w", "%{http_code} %{size_download} %header{larder-transform} %header{cache-status}", self.url],
            capture_output=True, text=True)
        self.status, self.length = result.stdout, int(result.stdout.split()[1]) if result.stdout else -1


plain, first, later = [], [], []
peak = [0.0]
stop = threading.Event()


def watch():
    while not stop.wait(0.02):
        peak[0] = max(peak[0], larder.resident)


watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
# What only passing so many octets costs the others, for comparison.
for number in range(ROUNDS):
    times, seconds = during(asker, Reader(origin.url(f"/pass/large?{number}")))
    plain += times
told("while 50 MiB pass as they came", plain)
for number in range(ROUNDS):
    reader = Reader(origin.url(f"/keep/large?{number}"))
    times, seconds = during(asker, reader)
    first += times
    check(reader.length == expected, f"as it comes, {seconds:.2f} s: {reader.status}")
told("while 50 MiB are transformed as they come", first)
for number in range(ROUNDS):
    reader = Reader(origin.url("/keep/large?0"))
    times, seconds = during(asker, reader)
    later += times
    check(reader.length == expected and "hit" in reader.status, f"from the store, {seconds:.2f} s: {reader.status}")
told("while 50 MiB are transformed from the store", later)
stop.set()
watcher.join()
print(f"        resident: {base:.0f} MiB before, {peak[0]:.0f} MiB at most, {larder.resident:.0f} MiB behind it", flush=True)

p99 = quantile(quiet, 0.99)
check(quantile(first, 0.99) <= 2 * p99, f"as they come: p99 {quantile(first, 0.99) / p99:.2f} times that of quiet")
check(quantile(later, 0.99) <= 2 * p99, f"from the store: p99 {quantile(later, 0.99) / p99:.2f} times that of quiet")
check(larder.stop() == 0, "ends on SIGTERM")
origin.stop()
finish()
