#!/usr/bin/env python3
"""What one warm hit costs: heap allocations, instructions, system calls; and what a tunnel and a connection cost.

Start-up, the first fetch and the warming of buffers do not count: what is told is what comes after 1,000 warm requests, or the
difference between 1,000 and 11,000. The origin is a thread here; everything stays on loopback.
"""

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from Tools.clients import Client
from Tools.larder import Larder
from Tools.measuring import per_request, system_calls
from Tools.origins import PythonOrigin, QuietHandler

FEW, MANY = 1_000, 11_000
VARIANTS = 20
BODY = b"x" * 1024


class Handler(QuietHandler):
    def do_GET(self):
        varies = {"Vary": "Accept-Language"} if self.path == "/varied" else {}
        self.reply(BODY, Content_Type="text/plain", Cache_Control="max-age=86400", ETag='"one"', **varies)
        self.server.served += 1


def started(options, prefix=(), environment=None, settings=()):
    """The release binary under test, with an access log. measure.sh removes its folder."""
    folder = Path(tempfile.mkdtemp(dir=options.work))
    return Larder(
        folder / "store.sqlite", f"admin.socket={folder}/admin.sock", f"log.access.path={folder}/access.log", *settings,
        binary=options.larder, before=prefix, environment={**os.environ, **(environment or {})}, log=(folder / "output").open("wb"))


def warm(client, origin):
    """Fetches once, then proves that what follows comes from the store."""
    client.ask(50)
    served = origin.served
    head = client.get()
    if origin.served != served or not re.search(" 200| 304", head.splitlines()[0]):
        raise SystemExit("not a hit:\n" + head)


def allocations(options, origin, url):
    pin = "tls.hosts={pinned.example: {pins: {of: ['sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=']}}}"
    # Both are told, whatever comes of the first.
    return all([
        has_no_allocations("per warm hit", options, origin, url, []),
        has_no_allocations("the same where a host is pinned", options, origin, url, [pin])])


def has_no_allocations(name, options, origin, url, settings):
    """Exactly none: what the loop's thread allocates is counted, not what the store's threads do beside it."""
    count_file = os.path.join(options.work, f"allocations-{len(settings)}")
    larder = started(options, settings=settings, environment={
        "LD_PRELOAD": options.counter, "ALLOCATION_COUNT_FILE": count_file, "ALLOCATION_COUNT_THREADS": "loop-"})

    def read():
        with open(count_file, "rb") as file:
            return struct.unpack("=Q", file.read(8))[0]

    client = Client(larder.port, url)
    warm(client, origin)
    client.ask(FEW)
    before = read()
    client.ask(MANY)
    extra = read() - before
    larder.stop()
    print(f"allocations {name}: {extra / MANY:.4f} ({extra} in {MANY})")
    # The counter is alive: the first requests did allocate.
    return extra == 0 and before > 0


def stripped(options):
    """The same with a binary that Valgrind can read: it does not know the debug information of newer compilers."""
    binary = os.path.join(options.work, "larder-without-symbols")
    subprocess.run(["strip", "--strip-debug", "-o", binary, options.larder], check=True)
    return argparse.Namespace(**{**vars(options), "larder": binary})


def instructions(options, origin, url):
    if not shutil.which("valgrind"):
        print("instructions per warm hit: valgrind is not installed")
        return True
    options = stripped(options)
    varied = url.replace("/one", "/varied")
    languages = [f"Accept-Language: en-{number}, en;q=0.5" for number in range(VARIANTS)]
    for name, url, fields, others in [
        ("per warm hit", url, [], []),
        ("per 304 to the client", url, ['If-None-Match: "one"'], []),
        ("per warm hit of the only variant", varied, languages[:1], []),
        (f"per warm hit of the oldest of {VARIANTS} variants", varied, languages[:1], languages[1:]),
    ]:
        print(f"instructions {name}: {counted(options, origin, url, fields, others):.0f} (user)")
    return replays(options, origin, url)


def replays(options, origin, url):
    """The same hit from a recording, in the same run."""
    snapshot = os.path.join(options.work, "hit.larder")
    larder = started(options, settings=["mode=record", f"record.file={snapshot}"])
    Client(larder.port, url).ask(1)
    larder.stop()
    replaying = ["mode=replay", f"replay.layers=[{snapshot}]"]
    is_lean = has_no_allocations("per replayed hit", options, origin, url, replaying)
    if not shutil.which("valgrind"):
        print("instructions per replayed hit: valgrind is not installed")
        return is_lean
    options = stripped(options)
    hit = counted(options, origin, url, [], [])
    replayed = counted(options, origin, url, [], [], settings=replaying)
    print(f"instructions per replayed hit: {replayed:.0f} (user), {replayed / hit:.3f} of a hit from the store ({hit:.0f})")
    return is_lean and replayed <= 1.1 * hit


def counted(options, origin, url, fields, others, settings=()):
    """Instructions for each request with these fields, once the same was asked for with each of the others."""
    totals = []
    for count in (FEW, MANY):
        out = os.path.join(options.work, f"callgrind.{count}")
        larder = started(options, prefix=["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"], settings=settings)
        client = Client(larder.port, url, *fields)
        client.ask(1)
        time.sleep(1.1)  # Which variant is the oldest is told by the seconds of Date.
        for other in others:
            Client(larder.port, url, other).ask(1)
        warm(client, origin)
        client.ask(count)
        larder.stop()
        with open(out) as file:
            totals.append(int(re.search(r"(?m)^(?:totals|summary): (\d+)", file.read()).group(1)))
    return (totals[1] - totals[0]) / (MANY - FEW)


def syscalls(options, origin, url):
    if not shutil.which("strace"):
        print("system calls per warm hit: strace is not installed")
        return True
    larder = started(options)
    client = Client(larder.port, url)
    warm(client, origin)
    alone = system_calls(larder.process, options.work, lambda: client.ask(MANY))
    print(f"system calls per warm hit: {per_request(alone, MANY)}")
    clients = [Client(larder.port, url) for _ in range(50)]

    def together():
        for _ in range(MANY // 50):
            for one in clients:
                one.send()
            for one in clients:
                one.receive()

    together()
    print(f"the same on 50 connections at once: {per_request(system_calls(larder.process, options.work, together), MANY)}")
    larder.stop()
    return True


def main():
    # Here, since they are built on this file.
    from footprint import footprint
    from tunnels import tunnels

    measures = {
        "allocations": allocations, "instructions": instructions, "replays": replays, "syscalls": syscalls, "tunnels": tunnels,
        "memory": footprint,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--larder", required=True)
    parser.add_argument("--counter", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("what", choices=["all", *measures])
    options = parser.parse_args()

    origin = PythonOrigin(Handler)
    origin.served = 0
    url = origin.url("/one")
    # What instructions tells at its end needs no further run.
    every = [measure for name, measure in measures.items() if name != "replays"]
    chosen = every if options.what == "all" else [measures[options.what]]
    good = [measure(options, origin, url) for measure in chosen]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
