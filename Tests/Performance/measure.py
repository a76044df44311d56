#!/usr/bin/env python3
"""What one warm hit costs: heap allocations, instructions, system calls; and what a tunnel and a connection cost.

Start-up, the first fetch and the warming of buffers do not count: what is told is what comes after 1,000 warm requests, or the
difference between 1,000 and 11,000. The origin is a thread here; everything stays on loopback.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FEW, MANY = 1_000, 11_000
VARIANTS = 20
BODY = b"x" * 1024


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Cache-Control", "max-age=86400")
        self.send_header("ETag", '"one"')
        if self.path == "/varied":
            self.send_header("Vary", "Accept-Language")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)
        self.server.served += 1

    def log_message(self, *arguments):
        pass


class Larder:
    """A release binary under test, on a port of its own choice, with a store that goes away."""

    def __init__(self, options, prefix=(), environment=None, settings=()):
        self.folder = os.path.join(options.work, f"run-{time.monotonic_ns()}")
        os.makedirs(self.folder)
        port_file = os.path.join(self.folder, "port")
        command = [
            *prefix, options.larder, "serve", "--quiet", "--listen", "127.0.0.1:0", "--port-file", port_file,
            "--store", os.path.join(self.folder, "store.sqlite"), "--set", "loops=1",
            "--set", f"admin.socket={os.path.join(self.folder, 'admin.sock')}",
            "--set", f"log.access.path={os.path.join(self.folder, 'access.log')}",
            *(word for setting in settings for word in ("--set", setting)),
        ]
        self.output = open(os.path.join(self.folder, "output"), "wb")
        self.process = subprocess.Popen(
            command, env={**os.environ, **(environment or {})}, stdout=self.output, stderr=self.output)
        deadline = time.monotonic() + 60
        while not (os.path.exists(port_file) and os.path.getsize(port_file)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("larder did not start:\n" + self.said())
            time.sleep(0.02)
        with open(port_file) as file:
            self.port = int(file.readline())

    def said(self):
        with open(self.output.name, errors="replace") as file:
            return file.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True) if self.process.returncode == 0 else None


class Client:
    """One connection that asks for one URL again and again."""

    def __init__(self, port, url, *fields):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host = url.split("/")[2]
        lines = [f"GET {url} HTTP/1.1", f"Host: {host}", "User-Agent: measure", "Accept: */*", *fields]
        self.request = "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
        self.rest = b""

    def get(self):
        self.send()
        return self.receive()

    def send(self):
        self.socket.sendall(self.request)

    def receive(self):
        data = self.rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        head = data[:end].decode("latin-1")
        length = 0 if " 304 " in head else int(re.search(r"(?im)^content-length: *(\d+)", head).group(1))
        while len(data) < end + 4 + length:
            data += self.more()
        self.rest = data[end + 4 + length:]
        return head

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise SystemExit("the proxy closed the connection")
        return data

    def ask(self, count):
        for _ in range(count):
            self.get()

    def warm(self, origin):
        """Fetches once, then proves that what follows comes from the store."""
        self.ask(50)
        served = origin.served
        head = self.get()
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
    larder = Larder(
        options, settings=settings, environment={
            "LD_PRELOAD": options.counter, "ALLOCATION_COUNT_FILE": count_file, "ALLOCATION_COUNT_THREADS": "loop-"})

    def read():
        with open(count_file, "rb") as file:
            return struct.unpack("=Q", file.read(8))[0]

    client = Client(larder.port, url)
    client.warm(origin)
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
    larder = Larder(options, settings=["mode=record", f"record.file={snapshot}"])
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
        larder = Larder(
            options, prefix=["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"], settings=settings)
        client = Client(larder.port, url, *fields)
        client.ask(1)
        time.sleep(1.1)  # Which variant is the oldest is told by the seconds of Date.
        for other in others:
            Client(larder.port, url, other).ask(1)
        client.warm(origin)
        client.ask(count)
        larder.stop()
        with open(out) as file:
            totals.append(int(re.search(r"(?m)^(?:totals|summary): (\d+)", file.read()).group(1)))
    return (totals[1] - totals[0]) / (MANY - FEW)


def syscalls(options, origin, url):
    if not shutil.which("strace"):
        print("system calls per warm hit: strace is not installed")
        return True
    larder = Larder(options)
    client = Client(larder.port, url)
    client.warm(origin)
    alone = traced(options, larder, lambda: client.ask(MANY))
    print(f"system calls per warm hit: {told(alone, MANY)}")
    clients = [Client(larder.port, url) for _ in range(50)]

    def together():
        for _ in range(MANY // 50):
            for one in clients:
                one.send()
            for one in clients:
                one.receive()

    together()
    print(f"the same on 50 connections at once: {told(traced(options, larder, together), MANY)}")
    larder.stop()
    return True


def traced(options, larder, work):
    """How often each system call was made, by whichever thread, while `work` was done."""
    out = os.path.join(options.work, "strace")
    tracer = subprocess.Popen(["strace", "-q", "-c", "-f", "-o", out, "-p", str(larder.process.pid)])
    time.sleep(1)
    work()
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    counts = {}
    with open(out) as file:
        for line in file:
            if match := re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line):
                counts[match.group(2)] = int(match.group(1))
    counts.pop("total", None)
    return counts


def told(counts, requests):
    most = sorted(counts.items(), key=lambda x: -x[1])[:4]
    listed = ", ".join(f"{name} {count / requests:.2f}" for name, count in most)
    return f"{sum(counts.values()) / requests:.2f} ({listed})"


def main():
    # Here, since they are built on this file.
    from footprint import memory
    from tunnels import tunnels

    measures = {
        "allocations": allocations, "instructions": instructions, "replays": replays, "syscalls": syscalls, "tunnels": tunnels,
        "memory": memory,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--larder", required=True)
    parser.add_argument("--counter", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("what", choices=["all", *measures])
    options = parser.parse_args()

    origin = ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    origin.served = 0
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{origin.server_port}/one"
    # What instructions tells at its end needs no further run.
    every = [measure for name, measure in measures.items() if name != "replays"]
    chosen = every if options.what == "all" else [measures[options.what]]
    good = [measure(options, origin, url) for measure in chosen]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
