"""CPU of a request in HTTP/2, in microseconds, beside peers: `http2.py hit miss idle`, or some of these. Medians of several rounds, the
sides taking turns. A peer that is not installed is left out."""

import os
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
from pathlib import Path

from Tools.certificates import Authority
from Tools.larder import WORK, Larder
from Tools.measuring import memory
from Tools.origins import Nginx
from Tools.processes import end, free_port, start, wait_for_port

ROUNDS, REQUESTS, IDLE = 5, 40_000, 500
# All of it on one processor, as in tls.py.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

authority = Authority(WORK)
CERTIFICATE, PRIVATE = authority.certify("one.test", "127.0.0.1")
PAIR = WORK / "pair.pem"
PAIR.write_text(Path(CERTIFICATE).read_text() + Path(PRIVATE).read_text())


class Origin(Nginx):
    """nginx with a file of 1 KiB: over TLS with HTTP/2, and in plain text; /keep/ is fresh for an hour, /pass/ is not stored."""

    def __init__(self):
        self.secure, self.plain, self.cache = free_port(), free_port(), free_port()
        (WORK / "one").write_bytes(b"x" * 1024)
        tls = f"ssl_certificate {CERTIFICATE}; ssl_certificate_key {PRIVATE}; ssl_protocols TLSv1.3;"
        places = f"""location /keep/ {{ alias {WORK}/; add_header Cache-Control max-age=3600; }}
            location /pass/ {{ alias {WORK}/; add_header Cache-Control no-store; }}"""
        folder = WORK / "origin"
        folder.mkdir()
        super().__init__(folder, [self.plain], f"""
            access_log off; keepalive_requests 100000000;
            server {{ listen 127.0.0.1:{self.plain}; listen 127.0.0.1:{self.secure} ssl http2; {tls} {places} }}""")


class Cache(Nginx):
    """nginx that answers from its cache, over TLS with HTTP/2."""

    def __init__(self, origin):
        self.port = free_port()
        folder = WORK / "nginx"
        folder.mkdir()
        super().__init__(folder, [self.port], f"""
            access_log off; keepalive_requests 100000000;
            proxy_cache_path {folder}/cache keys_zone=k:10m;
            server {{ listen 127.0.0.1:{self.port} ssl http2; ssl_certificate {CERTIFICATE}; ssl_certificate_key {PRIVATE};
              ssl_protocols TLSv1.3;
              location / {{ proxy_pass http://127.0.0.1:{origin.plain}; proxy_cache k; proxy_cache_valid 200 1h; }} }}""")

    @property
    def pids(self):
        """Its worker does the work."""
        return children(self.process.pid)


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class HAProxy:
    """HAProxy that answers from its cache, over TLS with HTTP/2."""

    def __init__(self, origin):
        self.port = free_port()
        (WORK / "haproxy.cfg").write_text(f"""
global
    nbthread 1
    maxconn 4000
    tune.ssl.default-dh-param 2048
defaults
    mode http
    timeout client 60s
    timeout server 60s
    timeout connect 5s
cache k
    total-max-size 64
    max-age 3600
frontend f
    bind 127.0.0.1:{self.port} ssl crt {PAIR} alpn h2 ssl-min-ver TLSv1.3
    http-request cache-use k
    http-response cache-store k
    default_backend b
backend b
    server o 127.0.0.1:{origin.plain}
""")
        self.process = start(["haproxy", "-f", WORK / "haproxy.cfg", "-db"])
        wait_for_port(self.port, self.process)
        self.pids = [self.process.pid]


class NGHTTPX:
    """nghttpx between a client and the origin, both over TLS with HTTP/2."""

    def __init__(self, origin):
        self.port = free_port()
        self.process = start(["nghttpx", f"--frontend=127.0.0.1,{self.port}", f"--backend=127.0.0.1,{origin.secure};;proto=h2;tls",
                              "--insecure", "--workers=1", "--single-process", "--accesslog-file=/dev/null",
                              f"--errorlog-file={WORK}/nghttpx.err", "--conf=/dev/null", PRIVATE, CERTIFICATE])
        wait_for_port(self.port, self.process)
        self.pids = [self.process.pid]


class Listening(Larder):
    """Larder with a listener that speaks TLS."""

    def __init__(self):
        self.secure = free_port()
        config = WORK / "larder.yaml"
        config.write_text(f"""
listen: ["127.0.0.1:{free_port()}", {{address: "127.0.0.1:{self.secure}", tls: {{certificate: {CERTIFICATE}, key: {PRIVATE}}}}}]
tls: {{default: {{anchors: {{bundle: {authority.certificate}}}}}}}
resolve: {{one.test: 127.0.0.1}}
""")
        super().__init__(":memory:", config=config)
        self.pids = [self.process.pid]

    def start(self):
        self.process = start([*self.arguments], env=self.environment, stdout=self.log, stderr=self.log)
        wait_for_port(self.secure, self.process)


def cpu(pids):
    """Of all threads that there are, in microseconds."""
    tasks = [task for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1000


def asked(server, port, url):
    """CPU for each request on one client's connection."""
    before = cpu(server.pids)
    run = subprocess.run(["h2load", "-m100", "-c1", f"-n{REQUESTS}", f"--connect-to=127.0.0.1:{port}", url], capture_output=True, text=True)
    after = cpu(server.pids)
    if f"{REQUESTS} 2xx" not in run.stdout:
        sys.exit(f"h2load: {run.stdout}{run.stderr}")
    return (after - before) / REQUESTS


def medians(sides):
    """Of each side's rounds; a first one does not count."""
    taken = {name: [] for name in sides}
    for side in sides.values():
        side()
    for _ in range(ROUNDS):
        for name, side in sides.items():
            taken[name].append(side())
    return {name: statistics.median(values) for name, values in taken.items()}


def table(title, values, against=None):
    print(title)
    for name, value in values.items():
        ratio = f"  {value / values[against]:.2f}" if against in values else ""
        print(f"  {name:36} {value:8.1f} us{ratio}")


def hit(origin, larder):
    sides = {"Larder": lambda: asked(larder, larder.secure, f"https://one.test:{origin.secure}/keep/one")}
    peers = [Cache(origin)] + ([HAProxy(origin)] if shutil.which("haproxy") else [])
    for peer in peers:
        sides[type(peer).__name__.replace("Cache", "nginx")] = lambda peer=peer: asked(peer, peer.port, f"https://one.test:{peer.port}/keep/one")
    table("a hit of 1 KiB inside TLS, 100 streams", medians(sides), "Larder")
    for peer in peers:
        end(peer.process)


def miss(origin, larder):
    sides = {"Larder": lambda: asked(larder, larder.secure, f"https://one.test:{origin.secure}/pass/one")}
    if shutil.which("nghttpx"):
        peer = NGHTTPX(origin)
        sides["nghttpx"] = lambda: asked(peer, peer.port, f"https://one.test:{peer.port}/pass/one")
    table("a miss of 1 KiB, HTTP/2 and TLS on both sides, 100 streams", medians(sides), "Larder")


def idle(_, larder):
    """Resident memory for each idle connection with HTTP/2 inside TLS, once its SETTINGS are exchanged."""
    context = ssl.create_default_context(cafile=authority.certificate)
    context.check_hostname = False
    context.set_alpn_protocols(["h2"])
    settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    acknowledged = bytes([0, 0, 0, 4, 1, 0, 0, 0, 0])
    kept = []

    def connect(count):
        for _ in range(count):
            client = context.wrap_socket(socket.create_connection(("127.0.0.1", larder.secure)))
            client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings + acknowledged)
            received = b""
            while acknowledged not in received:
                received += client.recv(4096)
            kept.append(client)

    connect(IDLE)
    before = memory(larder.process)
    connect(IDLE)
    print(f"an idle client connection with HTTP/2 inside TLS: {(memory(larder.process) - before) / IDLE:.1f} KiB")


def main():
    origin, larder = Origin(), Listening()
    for name in sys.argv[1:] or ["hit", "miss", "idle"]:
        {"hit": hit, "miss": miss, "idle": idle}[name](origin, larder)


main()
