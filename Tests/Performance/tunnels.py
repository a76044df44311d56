"""What a tunnel costs to set up and to end: system calls for each CONNECT that is closed again."""

import shutil
import socket
import threading

from Tools.clients import open_tunnel
from Tools.measuring import per_request, system_calls
from measure import started

TUNNELS = 2_000


def tunnels(options, origin, url):
    if not shutil.which("strace"):
        print("system calls per tunnel: strace is not installed")
        return True
    larder = started(options, settings=["tunnel.ports=any"])
    target = closing_origin()
    ask(larder.port, target, 50)
    counts = system_calls(larder.process, options.work, lambda: ask(larder.port, target, TUNNELS))
    larder.stop()
    print(f"system calls per tunnel: {per_request(counts, TUNNELS, most=11)}")
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
    for _ in range(count):
        open_tunnel(port, f"127.0.0.1:{target}").close()
