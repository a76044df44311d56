"""A file of 200 MiB that the origin cuts ten times, one whose entity tag changes in the middle, and aria2 with sixteen ranges at once."""

import hashlib
import os
import re
import socket
import subprocess
import threading
import time

from Tools.checks import check, finish
from Tools.clients import Response
from Tools.larder import WORK, Larder

SIZE = int(os.environ.get("RANGED_BODY", 200 << 20))
CUTS = 10

block = os.urandom((1 << 20) + 7)
body = (block * (SIZE // len(block) + 1))[:SIZE]
want = hashlib.sha256(body).hexdigest()


class CuttingOrigin:
    """Heeds Range and If-Range, and sends at most `most(n)` octets of content with its n-th answer for a path."""

    def __init__(self):
        self.lock = threading.Lock()
        self.log = []
        self.sent = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        # What lies in the socket's buffer counts as sent: it is kept small, as between machines.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 128 << 10)
        data = b""
        try:
            while True:
                while b"\r\n\r\n" not in data:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    data += piece
                head, _, data = data.partition(b"\r\n\r\n")
                if not self.answer(connection, head.decode("latin-1")):
                    return
        except OSError:
            pass
        finally:
            connection.close()

    def answer(self, connection, head):
        method, path, _ = head.split("\r\n")[0].split(" ")
        fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in head.split("\r\n")[1:]}
        with self.lock:
            number = sum(entry[0] == path for entry in self.log) + 1
            self.log.append((path, fields.get("range"), fields.get("if-range")))
        tag = '"v2"' if path.startswith("/changing") and number > 5 else '"v1"'
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", fields.get("range", ""))
        first, end, status = 0, SIZE, "200 OK"
        if asked and fields.get("if-range", tag) == tag:
            first, end, status = int(asked[1]), int(asked[2] or SIZE - 1) + 1, "206 Partial Content"
        place = f"Content-Range: bytes {first}-{end - 1}/{SIZE}\r\n" if status.startswith("206") else ""
        cache = "no-store" if "pass" in path else "max-age=3600"
        connection.sendall(
            f"HTTP/1.1 {status}\r\nContent-Length: {end - first}\r\n{place}ETag: {tag}\r\nAccept-Ranges: bytes\r\n"
            f"Cache-Control: {cache}\r\n\r\n".encode())
        if method == "HEAD":
            return True
        is_cut = ("cut" in path or "changing" in path) and number <= CUTS
        stop = min(end, first + SIZE // (CUTS + 1)) if is_cut else end
        view = memoryview(body)
        place = first
        while place < stop:
            count = connection.send(view[place:min(place + (64 << 10), stop)])
            place += count
            with self.lock:
                self.sent[path] = self.sent.get(path, 0) + count
        return stop == end

    def asked(self, path):
        return [entry[1] for entry in self.log if entry[0] == path]


origin = CuttingOrigin()
larder = Larder(WORK / "store" / "store.sqlite", "store.disk.high=4GiB", "store.disk.low=3GiB", loops=2)
piece = SIZE // (CUTS + 1)
missing = [None] + [f"bytes={number * piece}-" for number in range(1, CUTS + 1)]

for path in ("/cut/keep", "/cut/pass"):
    total, got = Response(larder, origin.url(path)).digest()
    check((total, got) == (SIZE, want), f"{path}: {total} octets in {len(origin.asked(path))} pieces, the digest is the origin's")
    check(origin.asked(path) == missing and origin.sent[path] == SIZE, f"{path}: the origin was asked for the rest alone")

path = "/changing/keep"
try:
    response = Response(larder, origin.url(path))
    received = bytearray()
    for part in response.pieces():
        received += part
    ended = "whole" if len(received) == SIZE else "short"
except OSError:
    ended = "reset"
check(ended != "whole" and body.startswith(bytes(received)), f"{path}: broken after {len(received)} octets of one representation ({ended})")
for _ in range(30):
    total, got = Response(larder, origin.url(path)).digest()
    if total == SIZE:
        break
check((total, got) == (SIZE, want), f"{path}: a later request gets the whole of the other one")


def aria2(path, name):
    folder = WORK / name
    folder.mkdir()
    subprocess.run(
        ["aria2c", "-q", "-x16", "-s16", "-k1M", "--file-allocation=none", f"--all-proxy=http://127.0.0.1:{larder.port}", "-d", str(folder),
         "-o", "file", origin.url(path)], check=True, timeout=300)
    return hashlib.sha256((folder / "file").read_bytes()).hexdigest()


for path in ("/keep/aria2", "/pass/aria2"):
    began = time.time()
    got = aria2(path, path.strip("/").replace("/", "-"))
    ratio = origin.sent[path] / SIZE
    check(got == want, f"{path}: aria2 with sixteen ranges has the whole ({time.time() - began:.1f} s, {len(origin.asked(path))} requests)")
    check(ratio <= 1.05, f"{path}: the origin sent {ratio:.3f} times its size")

time.sleep(1)
before = origin.sent["/keep/aria2"]
check(aria2("/keep/aria2", "again") == want, "aria2 again: the whole")
print(f"        the origin sent {origin.sent['/keep/aria2'] - before} octets for that")
total, got = Response(larder, origin.url("/keep/aria2")).digest()
check((total, got) == (SIZE, want), "one request for what came in ranges: the whole")
before = origin.sent["/keep/aria2"]
time.sleep(1)
total, got = Response(larder, origin.url("/keep/aria2")).digest()
check((total, got) == (SIZE, want) and origin.sent["/keep/aria2"] == before, "and from then on from the store")

check(larder.stop() == 0, "ends on SIGTERM")
finish()
