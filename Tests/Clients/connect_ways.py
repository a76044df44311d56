"""The three ways of CONNECT, by real clients: what each gets, and what the server sees of it.

Clients reach Larder through a recorder, and Larder the server through another one, so that it can be told octet by octet what a client
has said and what of it has reached the server. Every certificate here is one that all clients believe: it is Larder's pins that refuse.
"""

import base64
import hashlib
import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import fetchers
from Tools.certificates import Authority, openssl
from Tools.larder import Larder
from Tools.origins import server_context
from Tools.processes import Failure
from bench import Bench, check_same, run

DOMAIN = "ways.test"
# What each client says of a CONNECT that was answered so. Go tells the reason phrase alone.
CLIENTS = {
    "curl": {502: " error: 502", 403: " error: 403"},
    "node": {502: "CONNECT: 502", 403: "CONNECT: 403"},
    "go": {502: ": Bad Gateway", 403: ": Forbidden"},
    "java": {502: "Tunnel failed, got: 502", 403: "Tunnel failed, got: 403"},
}


class TwoKeys:
    """A CA that has certified two keys for the same names: it was tricked, or the server has a new key."""

    def __init__(self, work):
        authority = Authority(work)
        self.ca, self.root = authority.certificate, work
        self.now, self.other = (authority.certify(f"*.{DOMAIN}", name=name) for name in ("now", "other"))


class Server:
    """Serves one content over TLS, with the key that it is told to show."""

    def __init__(self, authority, content):
        self.content, self.context = content, server_context(*authority.now)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def show(self, files):
        self.context.load_cert_chain(*files)

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.socket.accept()[0],), daemon=True).start()

    def serve(self, connection):
        try:
            connection.settimeout(20)
            with self.context.wrap_socket(connection, server_side=True) as secure:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    piece = secure.recv(65536)
                    if not piece:
                        return
                    asked += piece
                secure.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                               % (len(self.content), self.content))
                secure.unwrap()
        except OSError:
            # A probe ends with its handshake, in the one way or the other.
            connection.close()


class Recorder:
    """Passes everything on to a port, and keeps what came from the side of the client."""

    def __init__(self, port):
        self.target, self.said = port, []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near = self.socket.accept()[0]
            far = socket.create_connection(("127.0.0.1", self.target))
            said = bytearray()
            self.said.append(said)
            threading.Thread(target=self.pass_on, args=(near, far, said), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(far, near, bytearray()), daemon=True).start()

    @staticmethod
    def pass_on(source, sink, said):
        try:
            while piece := source.recv(65536):
                said += piece
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                end.close()

    def take(self):
        """What was said on each connection since the last time."""
        said, self.said = self.said, []
        return [bytes(one) for one in said]


def pin(certificate):
    """As RFC 7469 has it."""
    key = openssl("pkey", "-pubin", "-outform", "der", text=openssl("x509", "-in", certificate, "-pubkey", "-noout"))
    return f"sha256/{base64.b64encode(hashlib.sha256(key).digest()).decode()}"


class Ways:
    """A Larder of its own between the recorders. Each `check_` raises a `Failure`."""

    def __init__(self, binary, work):
        work.mkdir()
        self.authority, self.content = TwoKeys(work), os.urandom(20_000)
        self.server = Server(self.authority, self.content)
        self.outside = Recorder(self.server.port)
        right, wrong = pin(self.authority.now[0]), pin(self.authority.other[0])
        (work / "larder.yaml").write_text(f"""
tunnel: {{ports: [{self.outside.port}]}}
resolve: {{{", ".join(f"{way}.{DOMAIN}: 127.0.0.1" for way in ("blind", "right", "wrong", "denied"))}}}
tls:
  hosts:
    blind.{DOMAIN}: {{connect: tunnel}}
    right.{DOMAIN}: {{anchors: {{bundle: origins.pem}}, pins: {{of: {right}}}}}
    wrong.{DOMAIN}: {{anchors: {{bundle: origins.pem}}, pins: {{of: {wrong}}}}}
    denied.{DOMAIN}: {{connect: deny}}
""")
        self.larder = Larder(work / "store.sqlite", config=work / "larder.yaml", loops=None, binary=binary)
        self.inside = Recorder(self.larder.port)
        self.work = work

    def stop(self):
        self.larder.stop()

    def check(self, client):
        fetch = fetchers.ALL[client][1](Bench(self.inside, self.authority, self.work))
        # What one that failed has left.
        self.inside.take(), self.outside.take()
        self.passes(fetch, "blind", probes=0)
        self.passes(fetch, "right", probes=1)
        told = CLIENTS[client]
        self.is_refused(fetch, "wrong", told[502], probes=1)
        self.is_refused(fetch, "denied", told[403], probes=0)
        self.server.show(self.authority.other)
        try:
            self.is_refused(fetch, "right", told[502], probes=1)
            # Nobody judges there, and the client believes both.
            self.passes(fetch, "blind", probes=0)
        finally:
            self.server.show(self.authority.now)

    def passes(self, fetch, way, probes):
        check_same(way, fetch(self.url(way)), self.content)
        sent, arrived = self.sent_behind_connect(), self.outside.take()
        if len(arrived) != probes + 1:
            raise Failure(f"{way}: the server saw {len(arrived)} connections, not {probes + 1}")
        # A client's last octets may still be on their way.
        if not sent or not sent.startswith(arrived[-1]) or len(arrived[-1]) < hello_length(sent):
            raise Failure(f"{way}: the server did not get what the client sent")
        if any(one[: hello_length(sent)] == sent[: hello_length(sent)] for one in arrived[:-1]):
            raise Failure(f"{way}: the probe was the client's own ClientHello")

    def is_refused(self, fetch, way, told, probes):
        try:
            fetch(self.url(way))
        except Failure as failure:
            if told not in str(failure):
                raise Failure(f"{way}: the client does not say {told!r}: {failure}") from None
        else:
            raise Failure(f"{way}: the client was served")
        sent, arrived = self.sent_behind_connect(), self.outside.take()
        if sent or len(arrived) != probes:
            raise Failure(f"{way}: the client sent {len(sent)} octets behind its CONNECT, and the server saw {len(arrived)} connections")

    def url(self, way):
        return f"https://{way}.{DOMAIN}:{self.outside.port}/"

    def sent_behind_connect(self):
        """What the client has said in its tunnel, if it got one."""
        (said,) = self.inside.take()
        head, _, rest = said.partition(b"\r\n\r\n")
        if not head.startswith(b"CONNECT "):
            raise Failure(f"no CONNECT: {head[:80]}")
        return rest


def hello_length(octets):
    """The first record's, in which the ClientHello is."""
    return 5 + int.from_bytes(octets[3:5], "big")


def check_one_pin(binary, work):
    """With a pin in the settings and nothing else there, curl gets nothing from a server with another key. The system's anchors are
    the test's own, where a process may have a mount of its own; else they are named beside the pin."""
    work.mkdir()
    authority, content = TwoKeys(work), b"secret"
    server = Server(authority, content)
    bundle = next((path for path in map(Path, SYSTEM_BUNDLES) if path.exists()), None)
    mounts = bundle and subprocess.run(["unshare", "-rm", "mount", "--bind", str(authority.ca), str(bundle)],
                                       stderr=subprocess.DEVNULL).returncode == 0 if shutil.which("unshare") else False
    if not mounts:
        print("connect    no mount of its own: the anchor stands beside the pin", flush=True)
    for certificate, expected in [(authority.now[0], 200), (authority.other[0], 502)]:
        anchors = "" if mounts else f"anchors: {{bundle: {authority.ca}}}, "
        settings = work / "one-pin.yaml"
        settings.write_text(f"tls: {{hosts: {{one.{DOMAIN}: {{{anchors}pins: {{of: {pin(certificate)}}}}}}}}}\n")
        log = work / f"{expected}.log"
        larder = Larder(
            ":memory:", f"resolve={{one.{DOMAIN}: 127.0.0.1}}", f"tunnel.ports=[{server.port}]", f"log.access.path={log}", config=settings,
            binary=binary, before=["unshare", "-rm", "sh", "-c", f'mount --bind {authority.ca} {bundle} && exec "$@"', "sh"] if mounts else [])
        try:
            command = ["curl", "-sS", "--cacert", str(authority.ca), "-x", larder.url, f"https://one.{DOMAIN}:{server.port}/"]
            if expected == 200:
                check_same("the pinned key", run(command), content)
                continue
            try:
                run(command)
            except Failure as failure:
                if "502" not in str(failure):
                    raise
            else:
                raise Failure("a server with another key was let through")
            larder.stop()
            if '"detail":"pin_mismatch"' not in log.read_text():
                raise Failure("refused, but not for its pin")
        finally:
            larder.stop()


SYSTEM_BUNDLES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"]
