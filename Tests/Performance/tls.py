"""CPU of a request that goes upstream over TLS, in microseconds: `tls.py first policies probe`, or some of these. Medians of several
rounds, the sides taking turns."""

import base64
import hashlib
import os
import socket
import ssl
import statistics
import subprocess
import sys
import threading
from pathlib import Path

from Tools.certificates import Authority, openssl
from Tools.clients import open_tunnel
from Tools.larder import WORK, Larder
from Tools.origins import Nginx, server_context
from Tools.processes import free_port

ROUNDS, FIRST, KEPT, HITS, TUNNELS = 7, 300, 3000, 20_000, 200
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# All of it on one processor. From one to another, each request would wake a processor up that sleeps, which costs several hits.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


authority = Authority(WORK)
CERTIFICATE, PRIVATE = authority.certify("one.test", "two.test", "three.test")
KEY = openssl("pkey", "-in", PRIVATE, "-pubout", "-outform", "DER")
PIN = "sha256/" + base64.b64encode(hashlib.sha256(KEY).digest()).decode()
bundle = WORK / "bundle.pem"
bundle.write_text(authority.certificate.read_text() + (open(BUNDLE).read() if os.path.exists(BUNDLE) else ""))
TRUST = f"tls.default={{anchors: {{bundle: {bundle}}}}}"
NAMES = "resolve={one.test: 127.0.0.1, two.test: 127.0.0.1, three.test: 127.0.0.1}"


class Origin(Nginx):
    """nginx with a file of 1 KiB, in plain text, over TLS 1.2 and over TLS 1.3; under /close/ each answer ends its connection."""

    def __init__(self):
        self.plain, self.old, self.new = free_port(), free_port(), free_port()
        (WORK / "one").write_bytes(b"x" * 1024)
        certificate = f"ssl_certificate {CERTIFICATE}; ssl_certificate_key {PRIVATE}; ssl_session_tickets off; ssl_session_cache off;"
        places = f"""location /keep/ {{ alias {WORK}/; add_header Cache-Control max-age=3600; }}
            location /pass/ {{ alias {WORK}/; add_header Cache-Control no-store; }}
            location /close/ {{ alias {WORK}/; add_header Cache-Control no-store; keepalive_timeout 0; }}"""
        super().__init__(WORK, [self.plain, self.old, self.new], f"""
            access_log off; keepalive_requests 10000000;
            server {{ listen 127.0.0.1:{self.plain}; {places} }}
            server {{ listen 127.0.0.1:{self.old} ssl; ssl_protocols TLSv1.2; {certificate} {places} }}
            server {{ listen 127.0.0.1:{self.new} ssl; ssl_protocols TLSv1.3; {certificate} {places} }}""", connections=512)


def cpu(larder):
    """Of all threads that there are, in microseconds."""
    tasks = Path(f"/proc/{larder.process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1000


def asked(larder, url, count):
    """CPU for each of so many requests on one client's connection."""
    before = cpu(larder)
    subprocess.run([WORK / "asker", str(larder.port), url, str(count)], check=True)
    return (cpu(larder) - before) / count


def program(name, port):
    """CPU that a program in C tells of itself."""
    arguments = [WORK / name, "one.test", str(port), str(FIRST), str(bundle)]
    return float(subprocess.run(arguments, check=True, capture_output=True).stdout)


def medians(sides):
    """Of each side's rounds; a first one does not count."""
    taken = {name: [] for name in sides}
    for side in sides.values():
        side()
    for _ in range(ROUNDS):
        for name, side in sides.items():
            taken[name].append(side())
    found = {name: statistics.median(values) for name, values in taken.items()}
    for name, value in found.items():
        spread = f"{min(taken[name]):.1f} to {max(taken[name]):.1f}"
        print(f"{value:9.1f} µs  {name} ({spread})")
    return found


def first(origin):
    """A first connection beside a bare client of OpenSSL's and one of libcurl's; a kept one beside plain HTTP."""
    larder = Larder(":memory:", TRUST, NAMES)
    sides = {}
    for version, port in ("TLS 1.2", origin.old), ("TLS 1.3", origin.new):
        sides[f"{version}, OpenSSL alone"] = lambda port=port: program("tls-floor", port)
        sides[f"{version}, libcurl alone"] = lambda port=port: program("tls-curl", port)
        sides[f"{version}, Larder"] = lambda port=port: asked(larder, f"https://one.test:{port}/close/one", FIRST)
    sides["plain, a connection for each"] = lambda: asked(larder, f"http://one.test:{origin.plain}/close/one", FIRST)
    sides["plain, kept"] = lambda: asked(larder, f"http://one.test:{origin.plain}/pass/one", KEPT)
    sides["https, kept"] = lambda: asked(larder, f"https://one.test:{origin.new}/pass/one", KEPT)
    found = medians(sides)
    for version in "TLS 1.2", "TLS 1.3":
        floor, curl, own = (found[f"{version}, {who}"] for who in ("OpenSSL alone", "libcurl alone", "Larder"))
        without = own - found["plain, a connection for each"]
        print(f"first connection, {version}: {own / floor:.2f} of OpenSSL's, libcurl's alone {curl / floor:.2f}; "
              f"{without / floor:.2f} without what plain HTTP costs")
    print(f"kept connection: {found['https, kept'] / found['plain, kept']:.2f} of plain HTTP")
    larder.stop()


def policies(origin):
    """A thousand hosts with policies of their own, each with pins, beside one."""
    digests = [base64.b64encode(hashlib.sha256(str(number).encode()).digest()).decode() for number in range(1000)]
    def line(host, pin):
        return f"{host}: {{anchors: {{bundle: {bundle}}}, pins: {{of: {pin}}}}}\n"

    own = line("one.test", PIN)
    others = [line(f"host{number}.test", f"sha256/{digest}") for number, digest in enumerate(digests[1:])]
    larders = {}
    for name, lines in ("one policy", [own]), ("a thousand", [own, *others]):
        folder = WORK / name.replace(" ", "-")
        folder.mkdir()
        (folder / "hosts.yaml").write_text("".join(lines))
        larders[name] = Larder(":memory:", TRUST, NAMES, f"tls.pins_from={folder}")
    work = {
        "hit": (f"http://two.test:{origin.plain}/keep/one", HITS), "hit, https": (f"https://one.test:{origin.new}/keep/one", HITS),
        "miss": (f"http://two.test:{origin.plain}/pass/one", KEPT), "miss, https, kept": (f"https://one.test:{origin.new}/pass/one", KEPT),
        "miss, https, first": (f"https://one.test:{origin.new}/close/one", FIRST),
    }
    found = medians({
        f"{what}, {name}": lambda larder=larder, url=url, count=count: asked(larder, url, count)
        for what, (url, count) in work.items() for name, larder in larders.items()})
    for what in work:
        print(f"{what}: {found[f'{what}, a thousand'] / found[f'{what}, one policy']:.3f} of what it costs with one policy")
    for larder in larders.values():
        larder.stop()


class Counter:
    """A TLS server that counts handshakes, and says nothing."""

    def __init__(self):
        self.handshakes, self.threads = 0, []
        self.context = server_context(CERTIFICATE, PRIVATE)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            self.threads.append(threading.Thread(target=self.answer, args=[connection], daemon=True))
            self.threads[-1].start()

    def answer(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True) as session:
                self.handshakes += 1
                while session.recv(4096):
                    pass
        except OSError:
            pass

    def counted(self):
        """The handshakes since it was asked last, once every connection has ended."""
        for thread in self.threads:
            thread.join()
        found, self.handshakes, self.threads = self.handshakes, 0, []
        return found


def probe(origin):
    """CONNECT to a host that is probed, beside a tunnel to one that nobody looks at; with a handshake of the client's in each."""
    hosts = f"tls.hosts={{one.test: {{anchors: {{bundle: {bundle}}}, connect: probe}}, two.test: {{connect: tunnel}}}}"
    larder = Larder(":memory:", TRUST, NAMES, "tunnel.ports=any", hosts)
    forgetful = Larder(":memory:", TRUST, NAMES, "tunnel.ports=any", hosts, "tls.connect.verdict_ttl=0s")
    free = Larder(":memory:", TRUST, NAMES, "tunnel.ports=any")
    server = Counter()
    context = ssl.create_default_context(cafile=authority.certificate)
    counted = {}

    def tunnels(name, larder, host):
        before = cpu(larder)
        for _ in range(TUNNELS):
            client = open_tunnel(larder.port, f"{host}:{server.port}")
            with context.wrap_socket(client, server_hostname=host) as session:
                session.do_handshake()
        taken = (cpu(larder) - before) / TUNNELS
        counted[name] = server.counted() / TUNNELS
        return taken

    found = medians({
        name: lambda name=name, larder=larder, host=host: tunnels(name, larder, host) for name, larder, host in [
            ("tunnel, no host is probed", free, "one.test"), ("tunnel, another host is probed", larder, "two.test"),
            ("probe, its verdict kept", larder, "one.test"), ("probe for each", forgetful, "one.test")]})
    for name in found:
        print(f"handshakes at the server for each CONNECT, the client's included: {counted[name]:.2f}  {name}")
    kept = found["probe, its verdict kept"]
    print(f"a kept verdict: {kept / found['tunnel, another host is probed']:.2f} of a tunnel beside it, "
          f"{kept / found['tunnel, no host is probed']:.2f} of one where no host is probed")
    print(f"a probe adds {found['probe for each'] - kept:.0f} µs, OpenSSL's handshake and request alone are "
          f"{statistics.median(program('tls-floor', origin.new) for _ in range(3)):.0f} µs")
    for larder in larder, forgetful, free:
        larder.stop()


parts = {"first": first, "policies": policies, "probe": probe}
nginx = Origin()
for part in sys.argv[1:] or parts:
    print(f"== {part}", flush=True)
    parts[part](nginx)
