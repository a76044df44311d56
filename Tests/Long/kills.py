"""kill -9 at random moments under a storing load: the store opens, nothing older than a second is lost, no body is wrong.

    KILLS=50 (default)  SEED=1
"""

import hashlib
import os
import random
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from Tools.checks import check, finish
from Tools.clients import Response
from Tools.larder import WORK, Larder
from Tools.origins import PythonOrigin, QuietHandler

KILLS = int(os.environ.get("KILLS", 50))
TAG = '"t"'
rng = random.Random(int(os.environ.get("SEED", 1)))


def body(number):
    size = [700, 5_000, 40_000, 400_000][number % 4]
    return (hashlib.sha256(str(number).encode()).digest() * (size // 32 + 1))[:size]


class Handler(QuietHandler):
    def do_GET(self):
        data = body(int(self.path.rsplit("/", 1)[1]))
        self.server.asked.add(self.path)
        place = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if place and self.headers.get("If-Range", TAG) == TAG:
            whole, first = len(data), int(place[1])
            data = data[first:int(place[2] or whole - 1) + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{first + len(data) - 1}/{whole}")
        else:
            self.send_response(200)
        self.send_header("ETag", TAG)
        self.send_header("Cache-Control", "max-age=36000")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


origin = PythonOrigin(Handler)
origin.asked = set()
# On a quick machine more is stored than the usual marks leave room for.
larder = Larder(WORK / "store" / "store.sqlite", "store.disk.high=16GiB", "store.disk.low=15GiB", loops=2)
stored = {}
lost = wrong = kept = 0
number = 0


def url(number):
    return origin.url(f"/{number}")


def fetch(number):
    try:
        response = Response(larder, url(number))
        total, got = response.digest()
        if total == response.length:
            return number, got == hashlib.sha256(body(number)).hexdigest(), time.time(), response
    except OSError:
        pass
    return number, None, 0, None


def fetch_part(number):
    """A range of a body that others are asked for too, or all of it: what comes is right, whatever was stored when."""
    data = body(number)
    first = rng.randrange(len(data))
    last = rng.randrange(first, len(data))
    is_part = rng.random() < 0.9
    try:
        response = Response(larder, url(number), f"Range: bytes={first}-{last}\r\n" if is_part else "")
        want = data[first:last + 1] if response.status == 206 else data
        total, got = response.digest()
        if total == response.length:
            return total == len(want) and got == hashlib.sha256(want).hexdigest()
    except OSError:
        pass
    return True


parts = 0
with ThreadPoolExecutor(8) as pool:
    for kill in range(KILLS):
        stop = time.time() + rng.uniform(1.2, 2.5)
        killer = threading.Timer(stop - time.time(), larder.kill)
        killer.start()
        while larder.process.poll() is None:
            for got, right, when, response in pool.map(fetch, range(number, number + 40)):
                if right is False:
                    wrong += 1
                # A store that cannot keep up says so, and promises nothing.
                if right and "stored" in response.fields.get("cache-status", ""):
                    stored[got] = when
            number += 40
            # Few bodies of 400,000 octets, far from the others: their parts meet.
            results = list(pool.map(fetch_part, [3 + 4 * (1 << 20) + 4 * (number // 40 % 50)] * 8))
            wrong += results.count(False)
            parts += len(results)
        killer.join()
        larder.start()
        # What was younger may be lost, then and for all kills to come.
        stored = {n: when for n, when in stored.items() if when < stop - 1}
        old = list(stored)
        kept += min(60, len(old))
        for n in rng.sample(old, min(60, len(old))):
            origin.asked.discard(f"/{n}")
            _, right, _, response = fetch(n)
            if right is False:
                wrong += 1
            if f"/{n}" in origin.asked:
                lost += 1
                if lost <= 5:
                    print(f"  lost after kill {kill}: {n}, stored {stop - stored[n]:.2f} s before", flush=True)
check(wrong == 0, f"{KILLS} kills, {number} requests: {parts} of parts: {wrong} with a wrong digest")
check(kept > KILLS * 20, f"{kept} that were stored before a kill were asked for again")
check(lost == 0, f"{lost} responses older than a second were lost")
larder.stop()
finish()
