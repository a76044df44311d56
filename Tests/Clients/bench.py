"""What the matrix of clients stands on: running a program, a port, larder itself, and what each client is given."""

import os
import subprocess
import socket
import tempfile
import threading
import time
from pathlib import Path

HOST = "origin.test"


class Failure(Exception):
    pass


def run(command, env=None, cwd=None, timeout=120):
    """What the program says; a `Failure` where it ends with anything but 0. It sees no proxy but the one that `env` names."""
    merged = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    merged.update(env or {})
    done = subprocess.run(command, env=merged, cwd=cwd, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failure(f"{command[0]} ended with {done.returncode}: {done.stdout.decode(errors='replace')[-1500:]}")
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(port):
    deadline = time.time() + 15
    while time.time() < deadline:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise Failure(f"nothing listens on {port}")


class Larder:
    def __init__(self, binary, work, settings, before=()):
        """`settings` are arguments; what it writes goes into a folder; `before` is a command that begins it."""
        port_file, self.log = work / "port", work / "access.log"
        self.process = subprocess.Popen(
            [*before, binary, "serve", "--quiet", "--listen", "127.0.0.1:0", "--store", str(work / "store" / "store.sqlite"),
             "--port-file", str(port_file), "--set", f"admin.socket={work}/admin.sock", "--set", f"log.access.path={self.log}",
             *settings])
        deadline = time.time() + 30
        while not port_file.exists():
            if time.time() > deadline or self.process.poll() is not None:
                raise Failure("larder did not start")
            time.sleep(0.02)
        self.port = int(port_file.read_text().split()[0])
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.terminate()
        self.process.wait(40)

    def access_log(self):
        """All of it, which is there when it has ended."""
        self.stop()
        return self.log.read_text()


class Bench:
    """What each client is given: the proxy, files that all origins serve, and folders of its own."""

    def __init__(self, larder, site, work):
        self.larder, self.site, self.work = larder, site, work
        self.lock, self.count = threading.Lock(), 0
        u = larder.url
        self.env = {"http_proxy": u, "https_proxy": u, "HTTP_PROXY": u, "HTTPS_PROXY": u, "all_proxy": u, "no_proxy": "", "NO_PROXY": "",
                    "SSL_CERT_FILE": str(site.ca), "REQUESTS_CA_BUNDLE": str(site.ca), "HOME": str(work)}

    def file(self, size):
        """A new file's path and content."""
        with self.lock:
            self.count += 1
            name = f"f{self.count}.bin"
        data = os.urandom(size)
        (self.site.root / name).write_bytes(data)
        self.site.age(self.site.root / name)
        return "/" + name, data

    def folder(self):
        return Path(tempfile.mkdtemp(dir=self.work))

    def output(self):
        return self.folder() / "out"


def check_same(what, got, data):
    if got != data:
        raise Failure(f"{what}: {len(got)} bytes that are not the origin's {len(data)}")


def check_asked(origin, path, times):
    # A server may write its log behind the answer that its client has already.
    deadline = time.time() + 2
    while origin.asked(path) < times and time.time() < deadline:
        time.sleep(0.02)
    if origin.asked(path) != times:
        raise Failure(f"{path} was asked for {origin.asked(path)} times, not {times}")
