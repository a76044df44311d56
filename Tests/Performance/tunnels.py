"""What a tunnel costs to set up and to end: system calls for each CONNECT that is closed again."""

import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from measure import Larder

TUNNELS = 2_000


def tunnels(options, origin, url):
    if not shutil.which("strace"):
        print("system calls per tunnel: strace is not installed")
        return True
    larder = Larder(options, settings=["tunnel.ports=any"])
    target = closing_origin()
    ask(larder.port, target, 50)
    out = f"{options.work}/strace"
    tracer = subprocess.Popen(["strace", "-q", "-c", "-f", "-o", out, "-p", str(larder.process.pid)])
    time.sleep(1)
    ask(larder.port, target, TUNNELS)
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    larder.stop()
    counts = {}
    with open(out) as file:
        for line in file:
            if match := re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line):
                counts[match.group(2)] = int(match.group(1))
    counts.pop("total", None)
    listed = ", ".join(f"{name} {count / TUNNELS:.2f}" for name, count in sorted(counts.items(), key=lambda x: -x[1])[:11])
    print(f"system calls per tunnel: {sum(counts.values()) / TUNNELS:.2f} ({listed})")
    return True


def closing_origin():
    """Takes connections and closes each when its peer has."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)

    def serve():
        while True:
            connection, _ = listener.accept()
            while connection.recv(4096):
                pass
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def ask(port, target, count):
    request = f"CONNECT 127.0.0.1:{target} HTTP/1.1\r\nHost: 127.0.0.1:{target}\r\n\r\n".encode()
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request)
            if b" 200" not in connection.recv(4096):
                raise SystemExit("the proxy opened no tunnel")
