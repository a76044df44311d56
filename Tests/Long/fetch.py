"""`larder fetch` and nginx: what is killed goes on, what changes is begun anew, parts, lists; and beside curl and aria2, where these are.

With `compare` as its argument it measures alone.
"""

import hashlib
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

from Tools.checks import check, claim, finish
from Tools.larder import LARDER, WORK
from Tools.origins import FilesOrigin
from Tools.processes import wait_until

SIZE = int(os.environ.get("FETCH_SIZE", 1 << 30))
ROUNDS = int(os.environ.get("FETCH_ROUNDS", 3))
# A line of 1 Gbit/s carries about as much.
LINE = "limit_rate 117m"

origin = FilesOrigin(WORK, f"""
    location /line/ {{ alias ROOT/; {LINE}; add_header Cache-Control no-store; }}
    location /kept-line/ {{ alias ROOT/; {LINE}; add_header Cache-Control max-age=3600; }}
    location /slow/ {{ alias ROOT/; limit_rate {SIZE >> 15}k; add_header Cache-Control no-store; }}""")
files = WORK / "files"
files.mkdir()
environment = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "XDG_RUNTIME_DIR": str(WORK / "run"), "LANG": "C"}


def prepare(name, size, seed):
    """Writes a file beside the one with this name, for `publish`. Its digest."""
    piece = random.Random(seed).randbytes(1 << 20)
    sha = hashlib.sha256()
    with open(origin.root / (name + ".new"), "wb") as file:
        for number in range(0, size, 1 << 20):
            block = (number.to_bytes(8, "big") + piece[8:])[:size - number]
            file.write(block)
            sha.update(block)
    return sha.hexdigest()


def publish(name):
    os.rename(origin.root / (name + ".new"), origin.root / name)


def write(name, size, seed):
    sha = prepare(name, size, seed)
    publish(name)
    return sha


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def arguments(*words):
    return [LARDER, "fetch", "-d", str(files), "--overwrite", *words]


def fetch(*words):
    return subprocess.run(arguments(*words), env=environment, capture_output=True, text=True)


def story():
    want = write("large", SIZE, 1)
    outcome = fetch("--digest", "sha256:" + want, origin.url("/pass/large"))
    check(outcome.returncode == 0, f"whole: {outcome.stderr.strip()}")

    # Killed at random moments, with one connection and with several.
    for parts in (1, 4):
        (files / "large").unlink()
        chance, kills = random.Random(parts), 0
        while True:
            process = subprocess.Popen(arguments("-q", "--parts", str(parts), origin.url("/slow/large")), env=environment)
            try:
                process.wait(1 + 2 * chance.random() if kills < 8 else None)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
                process.wait()
                kills += 1
        check(process.returncode == 0 and digest(files / "large") == want, f"{parts} at once, ended {kills} times: the digest is the origin's")
        check(os.listdir(files) == ["large"], "nothing is left beside it")

    # Another file under the same URL while it is fetched: one of the two, whole.
    (files / "large").unlink()
    other = prepare("large", SIZE // 2, 2)
    process = subprocess.Popen(arguments("--parts", "4", origin.url("/slow/large")), env=environment, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(file.stat().st_blocks for file in files.iterdir()), "the fetch begins to write", process)
    publish("large")
    said = process.communicate()[1]
    check(process.returncode == 0 and digest(files / "large") == other, "changed in the middle: the new one, whole")
    check("starting again" in said, "and the output says so")

    # A list.
    lines = []
    for number in range(300):
        lines.append(f"{origin.url('/keep/')}{number} sha256:{write(str(number), 20_000 + number, number)}")
    (WORK / "list").write_text("\n".join(lines))
    for at_once in (1, 16):
        outcome = fetch("-i", str(WORK / "list"), "--at-once", str(at_once))
        check(outcome.returncode == 0, f"300 files, {at_once} at once")
        for number in range(300):
            (files / str(number)).unlink()
    check(origin.asked("/keep/7") == 1, "the second time they come from the store")
    outcome = fetch("-i", str(WORK / "list"), "--offline")
    check(outcome.returncode == 0, "and offline")


class Measured:
    """A program that fetches a file: seconds, and seconds of CPU, its children's included."""

    def __init__(self, words):
        began = time.monotonic()
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read()
        status, usage = os.wait4(process.pid, 0)[1:]
        self.seconds = time.monotonic() - began
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss / 1024
        if status != 0:
            raise SystemExit(f"{words}: {status}: {said.decode()}")


def compare():
    write("one", SIZE, 3)

    def peers(path):
        url, at = origin.url(path), str(files / "got")
        larder = [LARDER, "fetch", "-q", "-o", at, url]
        curl = ["curl", "-sS", "-o", at, url]
        aria2 = ["aria2c", "-q", "--file-allocation=none", "-d", str(files), "-o", "got", url]
        return {
            "curl": curl,
            "curl, then sync": ["sh", "-c", '"$@" && sync "$0"', at, *curl],
            "larder fetch": larder,
            "larder fetch --parts 4": larder + ["--parts", "4"],
            "aria2": aria2,
            "aria2 -x 4 -s 4": aria2 + ["-x", "4", "-s", "4"],
        }

    def table(title, path, names, before=lambda: None, rounds=ROUNDS):
        print(title)
        results = {name: [] for name in names}
        for _ in range(rounds):
            for name in names:
                if not shutil.which(peers(path)[name][0]):
                    continue
                for left in files.iterdir():
                    left.unlink()
                before()
                os.sync()
                results[name].append(Measured(peers(path)[name]))
        base = statistics.median(r.seconds for r in results["curl"])
        cpu = statistics.median(r.cpu for r in results["curl"])
        for name, measured in results.items():
            if not measured:
                continue
            seconds = statistics.median(r.seconds for r in measured)
            used = statistics.median(r.cpu for r in measured)
            print(f"  {name:24} {seconds:6.2f} s  {seconds / base:5.2f}   CPU {used:5.2f} s  {used / cpu:5.2f}   {max(r.memory for r in measured):4.0f} MiB")
        return statistics.median(r.seconds for r in results["larder fetch"]) / base

    everybody = ["curl", "curl, then sync", "larder fetch", "larder fetch --parts 4", "aria2", "aria2 -x 4 -s 4"]

    def forget():
        shutil.rmtree(WORK / "home", ignore_errors=True)

    loopback = table("loopback, not to be stored", "/pass/one", everybody)
    line = table("1 Gbit/s for each connection, not to be stored", "/line/one", ["curl", "larder fetch", "aria2"], rounds=1)
    table("1 Gbit/s, into the store", "/kept-line/one", ["curl", "larder fetch"], forget, rounds=1)
    table("loopback, into the store", "/keep/one", ["curl", "larder fetch"], forget)
    table("loopback, from the store", "/keep/one", ["curl", "larder fetch"])
    claim(line < 1.1, f"over a line of 1 Gbit/s it takes {line:.2f} of curl's time")
    # On a busy machine four threads wait for a core where curl's one does.
    claim(loopback < 2, f"over loopback {loopback:.2f}")


if sys.argv[1:] == ["compare"]:
    compare()
else:
    story()
    compare()
finish()
