"""50 MiB of JSON transformed, as they come and from the store, while others ask for what is in memory: what that costs them.

The others are load.c's, which go before everything else on the machine (SCHED_FIFO, where that is allowed): what is measured is the proxy, and
not who has the core. What the same client costs them with nginx alone, past Larder, is what such a machine makes of 50 MiB on their way in any
case; that is told beside what they wait for in quiet, and the larger of both is what is judged by.
"""

import json
import os
import subprocess
import threading
import time

from Tools.checks import check, claim, finish
from Tools.larder import WORK, Larder
from Tools.measuring import Others
from Tools.origins import FilesOrigin

SIZE = int(os.environ.get("TRANSFORMED_BODY", 50 << 20))
ROUNDS = int(os.environ.get("TRANSFORM_ROUNDS", 3))
SECONDS = 4
OTHERS = (10, 100)  # Connections, and how often each asks in a second.

(WORK / "larder.yaml").write_text("""
limits: {checked_bodies: 512MiB}
rules:
  - name: strip
    match: {path: "/keep/large*"}
    transform: {strip_nulls: true, content_type: "*/*", max_body: 256MiB, max_output: 256MiB, timeout: 2m}
""")


origin = FilesOrigin(WORK)
(origin.root / "small").write_bytes(b"x" * 1024)
record = {"id": 1234567, "name": "Anna", "mail": None, "tags": ["a", None, "b"], "score": 1.50, "note": "x" * 100}
one = json.dumps(record).encode()
count = SIZE // (len(one) + 1)
large = b"[" + b",".join([one] * count) + b"]"
(origin.root / "large").write_bytes(large)
stripped = {key: value for key, value in record.items() if value is not None} | {"tags": ["a", "b"]}
expected = (len(json.dumps(stripped, separators=(",", ":"))) + 1) * count + 1
larder = Larder(WORK / "store" / "store.sqlite", config=WORK / "larder.yaml")


def others(seconds=SECONDS):
    return Others(WORK / "load", larder.port, origin.url("/keep/small"), seconds, *OTHERS)


others(2).times()
base = larder.resident


def told(name, rounds):
    """Of some rounds the one in the middle, by p99: a single one is the machine's as much as ours."""
    times = sorted(rounds, key=lambda times: times[1])[len(rounds) // 2]
    print(f"        {name}: p50 {times[0]:.3f} ms, p99 {times[1]:.3f} ms, longest {times[2]:.1f} ms; p99 of each round "
          f"{', '.join(f'{one[1]:.3f}' for one in rounds)}", flush=True)
    return times[1]


quiet = told("quiet", [others().times() for _ in range(ROUNDS)])


class Reader:
    """Reads one large answer."""

    def __init__(self, url, *how):
        self.url, self.how, self.length, self.status = url, how or ("-x", f"http://127.0.0.1:{larder.port}"), 0, ""

    def __call__(self):
        result = subprocess.run(
            ["curl", "-sS", *self.how, "-o", "/dev/null",
             "-w", "%{http_code} %{size_download} %header{larder-transform} %header{cache-status}", self.url],
            capture_output=True, text=True)
        self.status, self.length = result.stdout, int(result.stdout.split()[1]) if result.stdout else -1


number = 0


def beside(reader, judge=None):
    """What the others see while one large answer is read after the other."""
    global number
    rounds = []
    for _ in range(ROUNDS):
        asking, count, began = others(), 0, time.time()
        while asking.are_asking:
            number, count = number + 1, count + 1
            one = reader(number)
            one()
            if judge and not judge(one):
                check(False, f"answered so: {one.status}")
        rounds.append(asking.times())
        print(f"        one in {(time.time() - began) / count:.3f} s", flush=True)
    return rounds


peak = [0.0]
stop = threading.Event()


def watch():
    while not stop.wait(0.02):
        peak[0] = max(peak[0], larder.resident)


watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
past = told("while 50 MiB are read past Larder", beside(lambda n: Reader(origin.url(f"/pass/large?{n}"), "--noproxy", "*")))
told("while 50 MiB pass as they came", beside(lambda n: Reader(origin.url(f"/pass/large?{n}"))))
first = told(
    "while 50 MiB are transformed as they come",
    beside(lambda n: Reader(origin.url(f"/keep/large?{n}")), lambda one: one.length == expected and "uri-miss" in one.status))
# Two stored responses in turn: what is kept of the one leaves no room for the other, so each is transformed anew.
for part in range(2):
    Reader(origin.url(f"/keep/large?stored{part}"))()
later = told(
    "while 50 MiB are transformed from the store",
    beside(lambda n: Reader(origin.url(f"/keep/large?stored{n % 2}")), lambda one: one.length == expected and "hit" in one.status))
stop.set()
watcher.join()
print(f"        resident: {base:.0f} MiB before, {peak[0]:.0f} MiB at most, {larder.resident:.0f} MiB behind it", flush=True)

for what, p99 in (("as they come", first), ("from the store", later)):
    claim(p99 <= 2 * max(quiet, past), f"{what}: p99 {p99 / quiet:.2f} times that of quiet, {p99 / past:.2f} times that beside the same past Larder")
check(larder.stop() == 0, "ends on SIGTERM")
origin.stop()
finish()
