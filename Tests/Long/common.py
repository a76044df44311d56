"""What the long tests share: an nginx origin, a larder process, and a raw client."""

import atexit
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

LARDER = os.environ["LARDER"]
WORK = Path(os.environ["WORK"])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def check(condition, what):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        check.failed = True


check.failed = False


def finish():
    sys.exit(1 if check.failed else 0)


def run(arguments, **options):
    """Starts what ends with the test at the latest, however that ends."""
    process = subprocess.Popen(arguments, **options)
    atexit.register(end, process)
    return process


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Origin:
    """nginx over a folder, each file fresh for an hour under /keep/ and not to be stored under /pass/."""

    def __init__(self, locations=""):
        self.root = WORK / "root"
        self.root.mkdir()
        WORK.chmod(0o755)
        self.port = free_port()
        self.log = WORK / "origin.log"
        (WORK / "nginx.conf").write_text(f"""
            daemon off; user root; worker_processes 1; pid {WORK}/nginx.pid; error_log {WORK}/nginx.err; worker_rlimit_nofile 30000;
            events {{ worker_connections 16384; }}
            http {{ access_log {self.log} combined; sendfile on; keepalive_requests 1000000;
              client_body_temp_path {WORK}/b; proxy_temp_path {WORK}/p; fastcgi_temp_path {WORK}/f; uwsgi_temp_path {WORK}/u; scgi_temp_path {WORK}/s;
              server {{ listen 127.0.0.1:{self.port} backlog=4096;
                location /keep/ {{ alias {self.root}/; add_header Cache-Control max-age=3600; }}
                location /pass/ {{ alias {self.root}/; add_header Cache-Control no-store; }}
                {locations.replace("ROOT", str(self.root))} }} }}""")
        self.process = run(["nginx", "-c", str(WORK / "nginx.conf"), "-e", str(WORK / "nginx.err")])
        wait_for_port(self.port)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def asked(self, path):
        return sum(f" {path} " in line for line in self.log.read_text().splitlines())

    def stop(self):
        end(self.process)


class Larder:
    def __init__(self, store, *settings, loops=1):
        self.arguments = [
            LARDER, "serve", "--quiet", "--store", str(store), "--set", "log.access.format=off", "--set", "admin.socket=off",
            "--set", f"loops={loops}",
        ]
        for setting in settings:
            self.arguments += ["--set", setting]
        self.port = free_port()
        self.start()

    def start(self):
        self.process = run(self.arguments + ["--listen", f"127.0.0.1:{self.port}"])
        wait_for_port(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    @property
    def resident(self):
        """In MiB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024


def wait_for_port(port, seconds=30):
    deadline = time.time() + seconds
    while time.time() < deadline:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on {port}")


class Response:
    """One request on a connection of its own; the body is read on demand."""

    def __init__(self, larder, url, fields=""):
        host = url.split("/")[2]
        self.socket, target = self.reach(larder, url, host)
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.socket.recv(65536)
            if not piece:
                raise ConnectionError("closed in the head")
            data += piece
        head, _, self.rest = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields[name.lower()] = value.strip()
        self.length = int(self.fields.get("content-length", -1))

    def reach(self, larder, url, host):
        """A connection, and how the URL is asked for on it."""
        return socket.create_connection(("127.0.0.1", larder.port), 60), url

    def pieces(self, rate=None):
        """Pieces of the body, at `rate` octets a second where one is given; ends early when the peer does."""
        left, began, taken = self.length, time.time(), 0
        while left > 0:
            piece = self.rest or self.socket.recv(1 << 18)
            self.rest = b""
            if not piece:
                return
            left -= len(piece)
            taken += len(piece)
            yield piece
            if rate:
                ahead = taken / rate - (time.time() - began)
                if ahead > 0:
                    time.sleep(ahead)

    def digest(self, rate=None):
        total, sha = 0, hashlib.sha256()
        for piece in self.pieces(rate):
            total += len(piece)
            sha.update(piece)
        return total, sha.hexdigest()

    def close(self):
        self.socket.close()


class Others:
    """load.c's clients: they ask for one URL on so many connections, each so many times a second, however long the answers take.

    They go before everything else on the machine (SCHED_FIFO, where that is allowed): what is measured is the proxy, and not who has the core.
    """

    def __init__(self, port, url, seconds, connections, rate):
        self.process = run(
            [WORK / "load", *map(str, (port, url, seconds, connections, rate))], stdout=subprocess.PIPE, text=True, preexec_fn=go_first)

    @property
    def are_asking(self):
        return self.process.poll() is None

    def times(self):
        """The median, p99 and the longest, in milliseconds."""
        said, _ = self.process.communicate(timeout=60)
        if self.process.returncode:
            raise SystemExit("the load could not be kept")
        return [one / 1000 for one in map(float, said.split()[1:])]


def go_first():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pass
