"""How long the first request to an intercepted host takes, over connections with a delay: `preconnect.py [LARDER...]`, by default $LARDER,
with PYTHONPATH=Tests.

Every byte between the client and Larder, and between Larder and the origin, arrives DELAY later. A host that is asked for the first time
costs the client's handshake with Larder and Larder's with the origin. Larder begins its own beside the client's where every request to the
host may be sent; where a rule can deny one, it begins when the request has come."""

import os
import queue
import socket
import ssl
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from Tools.certificates import Authority
from Tools.clients import open_tunnel
from Tools.larder import Larder
from Tools.origins import server_context
from Tools.processes import output

HOSTS, DELAY = 15, 0.02
work = tempfile.TemporaryDirectory()
WORK = Path(work.name)


NAMES = [f"{side}{number}.test" for side in ("allowed", "ruled") for number in range(HOSTS)]
authority = Authority(WORK)
CERTIFICATE, PRIVATE = authority.certify(*NAMES)


def started(body, *arguments):
    threading.Thread(target=body, args=arguments, daemon=True).start()


def origin():
    """Answers one request on each connection over TLS."""
    context = server_context(CERTIFICATE, PRIVATE)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def answer(connection):
        try:
            with context.wrap_socket(connection, server_side=True) as session:
                while session.recv(65536):
                    session.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
        except OSError:
            pass

    def serve():
        while True:
            started(answer, listener.accept()[0])

    started(serve)
    return listener.getsockname()[1]


def delayed(port):
    """A port that leads there, a delay away: what is sent arrives DELAY later, and a connection is open after two of them."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def carry(source, sink):
        waiting = queue.Queue()

        def deliver():
            while (entry := waiting.get()) is not None:
                time.sleep(max(0, entry[0] - time.monotonic()))
                try:
                    sink.sendall(entry[1])
                except OSError:
                    return
            try:
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        started(deliver)
        try:
            while piece := source.recv(65536):
                waiting.put((time.monotonic() + DELAY, piece))
        except OSError:
            pass
        waiting.put(None)

    def connect(near):
        # The first bytes wait for the handshake of TCP that the kernel made at once.
        time.sleep(2 * DELAY)
        far = socket.create_connection(("127.0.0.1", port))
        for end in near, far:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        started(carry, near, far)
        started(carry, far, near)

    def serve():
        while True:
            started(connect, listener.accept()[0])

    started(serve)
    return listener.getsockname()[1]


def first_request(proxy, host, port, context):
    began = time.monotonic()
    client = open_tunnel(proxy, f"{host}:{port}")
    with context.wrap_socket(client, server_hostname=host) as session:
        session.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = session.recv(4096)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        return (time.monotonic() - began) * 1000


def measure(larder, far):
    home = Path(tempfile.mkdtemp(dir=WORK))
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    output([larder, "ca", "init"], environment)
    (home / "ours.pem").write_bytes(output([larder, "ca", "export"], environment))
    rules = [f"  - {{name: r{n}, match: {{host: ruled{n}.test, method: DELETE}}, deny: {{reason: no}}}}" for n in range(HOSTS)]
    (home / "larder.yaml").write_text("\n".join([
        "tunnel: {ports: any}", f"tls: {{default: {{anchors: {{bundle: {authority.certificate}}}, connect: intercept}}}}",
        "resolve: {" + ", ".join(f"{name}: 127.0.0.1" for name in NAMES) + "}", "rules:", *rules, ""]))
    process = Larder(":memory:", config=home / "larder.yaml", loops=None, binary=larder, environment=environment)
    try:
        proxy = delayed(process.port)
        context = ssl.create_default_context(cafile=home / "ours.pem")
        for side, said in ("allowed", "every request may be sent"), ("ruled", "a rule denies DELETE"):
            taken = sorted(first_request(proxy, f"{side}{number}.test", far, context) for number in range(HOSTS))
            print(f"{statistics.median(taken):7.1f} ms  {larder}: {said} ({taken[0]:.1f} to {taken[-1]:.1f})", flush=True)
    finally:
        process.stop()


port = delayed(origin())
for larder in sys.argv[1:] or [os.environ["LARDER"]]:
    measure(larder, port)
