"""What the store costs end to end: a body of 1 GiB stored while it passes, and hits that come from the disk with cold pages.

    LARDER=BINARY WORK=EMPTY_FOLDER PYTHONPATH=Tests python3 Tests/Performance/store.py [stream] [cold]     needs nginx, wrk and curl

`cold` runs Larder on CPU 0 and wrk on CPU 1, with the file's pages dropped twice a second. FLOOR=COMMAND with {port} in it is run in the
same way, to compare rates: a server that answers any request with 1 KiB.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from Tools.clients import Response
from Tools.larder import WORK, Larder
from Tools.measuring import processor_seconds
from Tools.origins import Nginx
from Tools.processes import free_port, start, wait_for_port

MEBIBYTE = 1 << 20
LENGTH = 1024 * MEBIBYTE
ENTRIES = int(os.environ.get("ENTRIES", 200_000))


def origin():
    """nginx: /large of 1 GiB, and 1 KiB under any other name, all fresh for ten hours."""
    with open(WORK / "large", "wb") as file:
        piece = os.urandom(MEBIBYTE)
        for _ in range(LENGTH // MEBIBYTE):
            file.write(piece)
    port = free_port()
    Nginx(WORK, [port], f"""
        access_log off; sendfile on; keepalive_requests 10000000; default_type application/octet-stream;
        server {{ listen 127.0.0.1:{port} backlog=4096; add_header Cache-Control max-age=36000;
          location / {{ return 200 "{'x' * 1024}"; }}
          location = /large {{ alias {WORK}/large; }} }}""")
    return port


def stream(port):
    larder = Larder(WORK / "stream" / "store.sqlite", "store.disk.high=8GiB", "store.disk.low=6GiB")
    url = f"http://127.0.0.1:{port}/large"
    subprocess.run(["curl", "-s", "-o", "/dev/null", url], check=True)  # The origin's pages are warm.
    began = time.monotonic()
    subprocess.run(["curl", "-s", "-o", "/dev/null", "-x", f"http://127.0.0.1:{larder.port}", url], check=True)
    delivered = time.monotonic() - began
    used = processor_seconds(larder.process)
    while True:
        response = Response(larder, url)
        status = response.fields.get("cache-status", "")
        response.close()
        if "hit" in status:
            break
        if time.monotonic() - began > 60:
            raise SystemExit("not stored")
        time.sleep(0.01)
    stored = time.monotonic() - began
    print(f"1 GiB, cold, stored whole: delivered at {LENGTH / delivered / 1e6:.0f} MB/s, found as a hit after "
          f"{stored:.2f} s ({LENGTH / stored / 1e6:.0f} MB/s), {used:.2f} s of CPU, resident {larder.resident:.0f} MiB", flush=True)
    larder.stop()


LOAD = """
local count = 0
function init(arguments) math.randomseed({seed}) end
request = function()
  count = count + 1
  return wrk.format("GET", "http://127.0.0.1:{origin}/entry/" .. {number})
end
"""


def load(port, origin_port, number, seconds, seed=1):
    """Requests a second that wrk gets answered over 50 connections."""
    script = WORK / "load.lua"
    script.write_text(LOAD.replace("{seed}", str(seed)).replace("{origin}", str(origin_port)).replace("{number}", number))
    run = subprocess.run(
        ["taskset", "-c", "1", "wrk", "-t1", "-c50", f"-d{seconds}s", "-s", str(script), f"http://127.0.0.1:{port}"],
        capture_output=True, text=True, check=True)
    return float(next(line for line in run.stdout.splitlines() if "Requests/sec" in line).split()[1])


def drop_pages(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fdatasync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def cold(port):
    store = WORK / "cold" / "store.sqlite"
    small = ["store.memory.high=1MiB", "store.memory.low=512KiB"]
    larder = Larder(store, *small)
    began = time.monotonic()
    while time.monotonic() - began < 60:
        rate = load(larder.port, port, f"(count % {ENTRIES})", 10)
        print(f"storing: {rate:.0f}/s", flush=True)
        if rate * (time.monotonic() - began) > ENTRIES * 1.05:
            break
    larder.stop()
    print(f"{ENTRIES} asked for, the file has {store.stat().st_size // MEBIBYTE} MiB", flush=True)
    larder.start()
    os.sched_setaffinity(larder.process.pid, {0})
    for task in Path(f"/proc/{larder.process.pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {0})
    time.sleep(1)
    stop = threading.Event()

    def keep_cold():
        while not stop.is_set():
            drop_pages(store)
            stop.wait(0.5)
    dropper = threading.Thread(target=keep_cold)
    dropper.start()
    used = processor_seconds(larder.process)
    rate = load(larder.port, port, f"math.random(0, {ENTRIES - 1})", 8, seed=7)
    used = processor_seconds(larder.process) - used
    stop.set()
    dropper.join()
    warm = load(larder.port, port, f"math.random(0, {ENTRIES - 1})", 5, seed=8)
    larder.stop()
    print(f"hits from the disk: {rate:.0f}/s with cold pages ({used / rate / 8 * 1e6:.0f} µs of CPU each), {warm:.0f}/s with warm ones")
    if "FLOOR" in os.environ:
        floor_port = free_port()
        floor = start(["taskset", "-c", "0", *os.environ["FLOOR"].replace("{port}", str(floor_port)).split()])
        wait_for_port(floor_port)
        floor_rate = load(floor_port, port, f"math.random(0, {ENTRIES - 1})", 5)
        floor.kill()
        print(f"the floor: {floor_rate:.0f}/s; cold hits are {rate / floor_rate:.3f} of that")


port = origin()
for name in sys.argv[1:] or ["stream", "cold"]:
    {"stream": stream, "cold": cold}[name](port)
