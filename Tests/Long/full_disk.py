"""A disk of 64 MiB (tmpfs) that fills: service goes on, and eviction works again. Needs root for the mount; says so where it cannot."""

import os
import subprocess
import time

from Tools.checks import check, finish
from Tools.clients import Response
from Tools.larder import WORK, Larder
from Tools.origins import FilesOrigin

disk = WORK / "disk"
disk.mkdir()
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], stderr=subprocess.DEVNULL).returncode != 0:
    print("skipped: cannot mount a tmpfs here")
    raise SystemExit(0)
try:
    origin = FilesOrigin(WORK)
    for number in range(400):
        (origin.root / f"f{number}").write_bytes(os.urandom(300_000))
    larder = Larder(disk / "store.sqlite", "store.disk.high=1GiB", "store.disk.low=512MiB", "store.memory.high=1MiB", "store.memory.low=512KiB")
    wrong = 0
    for number in range(400):
        response = Response(larder, origin.url(f"/keep/f{number}"))
        body = b"".join(response.pieces())
        wrong += body != (origin.root / f"f{number}").read_bytes()
    check(wrong == 0, f"400 responses of 300 KB over a disk of 64 MiB: {wrong} wrong")
    check(larder.process.poll() is None, "still serving")
    time.sleep(2)
    hits = 0
    for _ in range(3):
        for number in range(395, 400):
            response = Response(larder, origin.url(f"/keep/f{number}"))
            hits += "hit" in response.fields.get("cache-status", "")
            b"".join(response.pieces())
        time.sleep(1)
    check(hits > 0, f"what is asked again is stored again ({hits} of 15 were hits)")
    check(larder.stop() == 0, "ends on SIGTERM")
    origin.stop()
finally:
    subprocess.run(["umount", "-l", str(disk)])
finish()
