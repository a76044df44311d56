"""What the process holds of memory: at its start, for an idle connection, and while one client reads slowly."""

import os
import resource
import socket
import threading
import time

from Tools.clients import Client
from Tools.measuring import memory
from measure import started, warm

LARGE = 100 << 20


def footprint(options, origin, url):
    start_and_idle(options, origin, url)
    slow_client(options)
    return True


def start_and_idle(options, origin, url):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    connections = min(10_000, hard - 200)
    larder = started(options)
    time.sleep(1)
    own = memory(larder.process, "RssAnon") / 1024
    print(f"resident at start: {memory(larder.process, 'VmRSS') / 1024:.1f} MiB, of which {own:.1f} MiB anonymous")
    client = Client(larder.port, url)
    warm(client, origin)
    before = memory(larder.process, "RssAnon")
    idle = []
    for _ in range(connections):
        one = Client(larder.port, url)
        one.get()
        idle.append(one)
    time.sleep(1)
    after = memory(larder.process, "RssAnon")
    print(f"resident per idle connection: {(after - before) * 1024 / connections:.0f} B ({connections} connections)")
    for one in idle:
        one.socket.close()
    larder.stop()


def slow_client(options):
    """Growth of anonymous memory from before the download to its height, of one client at 25 MB/s after one at full speed."""
    larder = started(options)
    url = f"http://127.0.0.1:{large_origin()}/large"
    download(larder.port, url, pace=None, watch=lambda: None)
    before = memory(larder.process, "RssAnon")
    highest = [before]

    def watch():
        highest[0] = max(highest[0], memory(larder.process, "RssAnon"))

    download(larder.port, url, pace=25e6, watch=watch)
    print(f"growth while one client takes {LARGE >> 20} MiB at 25 MB/s: {highest[0] - before} KiB")
    larder.stop()


def large_origin():
    """Answers each request with a large body that may not be stored, as fast as it is taken."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        piece = os.urandom(1 << 20)
        while True:
            connection, _ = listener.accept()
            while connection.recv(65536):
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n" % LARGE)
                for _ in range(LARGE // len(piece)):
                    connection.sendall(piece)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def download(port, url, pace, watch):
    """Reads one response to its end, in octets a second where there is a pace."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"GET {url} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\nConnection: close\r\n\r\n".encode())
    started, taken, step = time.monotonic(), 0, 0
    while data := connection.recv(262_144):
        taken += len(data)
        if taken >> 20 > step:
            step = taken >> 20
            watch()
        if pace and (ahead := taken / pace - (time.monotonic() - started)) > 0:
            time.sleep(ahead)
    if taken < LARGE:
        raise SystemExit(f"the proxy sent {taken} of {LARGE} octets")
    connection.close()
