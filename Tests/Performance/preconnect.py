"""How long the first request to an intercepted host takes, over connections with a delay: `preconnect.py [LARDER...]`, by default $LARDER.

Every byte between the client and Larder, and between Larder and the origin, arrives DELAY later. A host that is asked for the first time
costs the client's handshake with Larder and Larder's with the origin. Larder begins its own beside the client's where every request to the
host may be sent; where a rule can deny one, it begins when the request has come."""

import os
import queue
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HOSTS, DELAY = 15, 0.02
work = tempfile.TemporaryDirectory()
WORK = Path(work.name)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=WORK)


NAMES = [f"{side}{number}.test" for side in ("allowed", "ruled") for number in range(HOSTS)]
CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
openssl("req", "-x509", *CURVE, "-keyout", "root.key", "-out", "root.pem", "-days", "3", "-subj", "/CN=Root")
(WORK / "extensions").write_text("subjectAltName=" + ",".join(f"DNS:{name}" for name in NAMES))
openssl("req", *CURVE, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=leaf")
openssl("x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-days", "2", "-extfile", "extensions", "-out", "leaf.pem")


def started(body, *arguments):
    threading.Thread(target=body, args=arguments, daemon=True).start()


def origin():
    """Answers one request on each connection over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(WORK / "leaf.pem", WORK / "leaf.key")
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
    client = socket.create_connection(("127.0.0.1", proxy))
    client.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    assert b" 200" in client.recv(4096)
    with context.wrap_socket(client, server_hostname=host) as session:
        session.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = session.recv(4096)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        return (time.monotonic() - began) * 1000


def measure(larder, far):
    home = Path(tempfile.mkdtemp(dir=WORK))
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    subprocess.run([larder, "ca", "init"], env=environment, check=True, capture_output=True)
    root = subprocess.run([larder, "ca", "export"], env=environment, check=True, capture_output=True).stdout
    (home / "ours.pem").write_bytes(root)
    rules = [f"  - {{name: r{n}, match: {{host: ruled{n}.test, method: DELETE}}, deny: {{reason: no}}}}" for n in range(HOSTS)]
    (home / "larder.yaml").write_text("\n".join([
        "tunnel: {ports: any}", f"tls: {{default: {{anchors: {{bundle: {WORK}/root.pem}}, connect: intercept}}}}",
        "resolve: {" + ", ".join(f"{name}: 127.0.0.1" for name in NAMES) + "}", "rules:", *rules, ""]))
    process = subprocess.Popen(
        [larder, "serve", "--quiet", "-c", str(home / "larder.yaml"), "--listen", "127.0.0.1:0", "--store", ":memory:", "--port-file",
         str(home / "port"), "--set", "log.access.format=off", "--set", "admin.socket=off"], env=environment)
    try:
        while not (home / "port").exists() or not (home / "port").read_text().strip():
            assert process.poll() is None, "larder has ended"
            time.sleep(0.01)
        proxy = delayed(int((home / "port").read_text().split()[0]))
        context = ssl.create_default_context(cafile=home / "ours.pem")
        for side, said in ("allowed", "every request may be sent"), ("ruled", "a rule denies DELETE"):
            taken = sorted(first_request(proxy, f"{side}{number}.test", far, context) for number in range(HOSTS))
            print(f"{statistics.median(taken):7.1f} ms  {larder}: {said} ({taken[0]:.1f} to {taken[-1]:.1f})", flush=True)
    finally:
        process.terminate()
        process.wait()


port = delayed(origin())
for larder in sys.argv[1:] or [os.environ["LARDER"]]:
    measure(larder, port)
