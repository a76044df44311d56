"""`larder cache ls` that nobody reads for a minute, under a load that stores: nothing is refused, and the log stays short.

PAUSE=N pauses for so long instead.
"""

import os
import subprocess
import threading
import time

from Tools.checks import check, finish
from Tools.clients import Response
from Tools.larder import LARDER, WORK, Larder
from Tools.origins import FilesOrigin

PAUSE = int(os.environ.get("PAUSE", 60))
FIRST = 20_000
origin = FilesOrigin(WORK)
for name, length in (("small", 1_000), ("large", 200_000)):
    (origin.root / name).write_bytes(os.urandom(length))
store = WORK / "store.sqlite"
socket = WORK / "admin.sock"
larder = Larder(store, f"admin.socket={socket}", "store.disk.high=8GiB", "store.disk.low=7GiB")

refused, asked = [], 0


def ask(numbers):
    global asked
    for number in numbers:
        response = Response(larder, origin.url(f"/keep/{'large' if number % 50 == 0 else 'small'}?{number}"))
        for _ in response.pieces():
            pass
        response.close()
        asked += 1
        status = response.fields.get("cache-status", "")
        if response.status != 200 or "stored" not in status:
            refused.append((number, response.status, status))


for part in [threading.Thread(target=ask, args=(range(start, FIRST, 4),)) for start in range(4)]:
    part.start()
for part in threading.enumerate():
    if part is not threading.main_thread():
        part.join()
check(not refused, f"{FIRST} responses stored before the listing; refused: {refused[:3]}")

listing = subprocess.Popen(
    [LARDER, "cache", "ls", "-o", "ndjson", "--set", f"admin.socket={socket}", "--set", f"store.path={store}"],
    stdout=subprocess.PIPE)
first = listing.stdout.readline()
over = threading.Event()


def go_on(start):
    number = start
    while not over.is_set():
        ask([number])
        number += 4


threads = [threading.Thread(target=go_on, args=(FIRST + start,)) for start in range(4)]
for part in threads:
    part.start()
longest, before = 0, asked
resident = larder.resident
for _ in range(PAUSE * 5):
    time.sleep(0.2)
    longest = max(longest, (WORK / "store.sqlite-wal").stat().st_size)
grown = larder.resident - resident
stored = asked - before
over.set()
for part in threads:
    part.join()
lines = 1 + sum(1 for _ in listing.stdout)
check(not refused, f"{stored} responses stored while the listing was paused for {PAUSE} s; refused: {refused[:3]}")
check(longest <= 96 << 20, f"the log was {longest / (1 << 20):.0f} MiB at most")
check(listing.wait() == 0 and lines >= FIRST, f"the listing came to its end: {lines} lines of {FIRST} or more")
print(f"        resident {resident:.0f} MiB at its beginning, {grown:+.1f} MiB at its end")
check(larder.stop() == 0, "ends on SIGTERM")
origin.stop()
finish()
