"""What each client of the matrix is given, and what is checked of what it fetched."""

import os
import tempfile
import threading
from pathlib import Path

from Tools.processes import Failure, output, wait_until, without_proxies

HOST = "origin.test"


def run(command, env=None, cwd=None):
    """What the program says. It sees no proxy but the one that `env` names."""
    return output(command, {**without_proxies(), **(env or {})}, cwd)


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
    # A server may write its log after the client has its response.
    wait_until(lambda: origin.asked(path) >= times, f"{path} is requested {times} times", seconds=10)
    if origin.asked(path) != times:
        raise Failure(f"{path} was asked for {origin.asked(path)} times, not {times}")
