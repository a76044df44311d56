"""A file of 2 GiB through Larder: stored and not, by a fast client and one at 25 MB/s; clients and origins that break off."""

import hashlib
import os
import socket
import threading
import time

from Tools.checks import check, finish
from Tools.clients import Response
from Tools.larder import WORK, Larder
from Tools.origins import FilesOrigin

SIZE = int(os.environ.get("LARGE_BODY", 2 << 30))
SLOW = 25_000_000

origin = FilesOrigin(WORK)
piece = os.urandom(1 << 20)
sha = hashlib.sha256()
with open(origin.root / "large", "wb") as file:
    for number in range(SIZE >> 20):
        block = number.to_bytes(8, "big") + piece[8:]
        file.write(block)
        sha.update(block)
want = sha.hexdigest()


def growth(larder, base, work):
    """Runs `work` and returns what it returned and by how many MiB the process grew at most."""
    peak, done = [0.0], threading.Event()

    def watch():
        while not done.wait(0.05):
            peak[0] = max(peak[0], larder.resident - base)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return work(), peak[0]
    finally:
        done.set()
        watcher.join()


larder = Larder(WORK / "store" / "store.sqlite", "store.disk.high=8GiB", "store.disk.low=6GiB")
base = larder.resident
# The window (4 MiB) and what waits for the writer (64 MiB), and some room for SQLite and the allocator.
LIMIT = 96

for kind, rate in (("pass", None), ("pass", SLOW), ("keep", SLOW), ("keep", None)):
    began = time.time()
    (total, got), grown = growth(larder, base, lambda: Response(larder, origin.url(f"/{kind}/large{'?slow' if rate else ''}")).digest(rate))
    speed = total / (time.time() - began) / 1e6
    check(got == want, f"{kind}, {'25 MB/s' if rate else 'fast'}: {total} octets, the digest is the origin's ({speed:.0f} MB/s)")
    check(grown < (16 if kind == "pass" else LIMIT), f"{kind}, {'25 MB/s' if rate else 'fast'}: grew by {grown:.1f} MiB")

deadline = time.time() + 30
while time.time() < deadline:
    response = Response(larder, origin.url("/keep/large"))
    if "hit" in response.fields.get("cache-status", ""):
        break
    response.close()
    time.sleep(0.5)
check("hit" in response.fields.get("cache-status", ""), f"kept whole: {response.fields.get('cache-status')}")
(total, got), grown = growth(larder, base, lambda: response.digest())
check(got == want and grown < LIMIT, f"from the store: the digest is the origin's, grew by {grown:.1f} MiB")
asked = origin.asked("/keep/large")
(total, got), grown = growth(larder, base, lambda: Response(larder, origin.url("/keep/large")).digest(SLOW * 4))
check(got == want and origin.asked("/keep/large") == asked, "from the store, slowly: the digest is the origin's, which was not asked")

# A client that leaves in the middle.
(origin.root / "other").write_bytes((origin.root / "large").open("rb").read(256 << 20))
small = hashlib.sha256((origin.root / "other").read_bytes()).hexdigest()
response = Response(larder, origin.url("/keep/other"))
for number, _ in enumerate(response.pieces(SLOW)):
    if number == 20:
        break
response.close()
time.sleep(1)
total, got = Response(larder, origin.url("/keep/other")).digest()
check((total, got) == (256 << 20, small), "a client left in the middle: the next one gets the whole")


# An origin that breaks off in the middle.
def broken_origin(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\nCache-Control: max-age=600\r\nETag: \"x\"\r\n\r\n" + b"y" * 3_000_000)
        connection.close()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=broken_origin, args=(listener,), daemon=True).start()
for _ in range(2):
    response = Response(larder, f"http://127.0.0.1:{listener.getsockname()[1]}/broken")
    try:
        total, _ = response.digest()
    except ConnectionError:
        total = -1
    check(response.status == 502 or total < 8_000_000, f"the origin broke off: the client saw that ({response.status}, {total} octets)")
    check("hit" not in response.fields.get("cache-status", ""), "and it was not served from the store")
    time.sleep(0.5)

check(larder.stop() == 0, "ends on SIGTERM")
origin.stop()
finish()
