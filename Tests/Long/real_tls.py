"""Each way in which a server is not to be believed, at real servers: the right reason, and not an octet of a request sent."""

import signal
import ssl
import subprocess
import time

from authority import DAY, make, names_der, with_digest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import ExtendedKeyUsageOID
from Tools.certificates import openssl
from Tools.checks import check, finish
from Tools.clients import Response, open_tunnel
from Tools.larder import LARDER, WORK, Larder
from Tools.origins import Nginx
from Tools.processes import free_port, output, start, wait_for_port

NOW = int(time.time())
TIME = {"start": NOW - 30 * DAY, "end": NOW + 30 * DAY}


def pem(*made):
    return b"".join(openssl("x509", "-inform", "der", text=one.der) for one in made)


root = make("Root", ca=True, **TIME)
middle = make("Middle", root, ca=True, **TIME)
constrained = make("Constrained", root, ca=True, constraints=(["elsewhere.test"], []), **TIME)
rsa_root = make("RSA root", ca=True, kind="rsa2048", **TIME)
other_root = make("Other root", ca=True, **TIME)

GOOD = "good.test"
CLIENTS = [ExtendedKeyUsageOID.CLIENT_AUTH]


def leaf(issuer=middle, names=(GOOD,), **changes):
    return make("leaf", issuer, names=list(names) if names else None, **{**TIME, **changes})


NUL = names_der((0x82, b"good.test\0.evil.test"))
# What the server shows, the name by which it is asked for, and the reason; none is to be believed but the first.
CASES = {
    "good": ([leaf(), middle], GOOD, None),
    "expired": ([leaf(start=NOW - 60 * DAY, end=NOW - DAY), middle], GOOD, "expired"),
    "not-yet-valid": ([leaf(start=NOW + DAY), middle], GOOD, "not_yet_valid"),
    "self-signed": ([make("alone", names=[GOOD], **TIME)], GOOD, "untrusted_root"),
    "other-root": ([leaf(other_root), other_root], GOOD, "untrusted_root"),
    "other-host": ([leaf(names=["other.test"]), middle], GOOD, "host_mismatch"),
    "wildcard-depth": ([leaf(names=["*.test"]), middle], "a.good.test", "host_mismatch"),
    "partial-wildcard": ([leaf(names=["g*.test"]), middle], GOOD, "host_mismatch"),
    "name-only-as-subject": ([make(GOOD, middle, **TIME), middle], GOOD, "host_mismatch"),
    "nul-in-name": ([leaf(names=None, extra=[(NUL, False)]), middle], GOOD, "malformed"),
    "sha1": ([with_digest(leaf(rsa_root, keyed="rsa leaf", kind="rsa2048"), rsa_root.key, 5,
                          hashes.SHA1())], GOOD, "weak_signature"),
    "short-key": ([leaf(rsa_root, keyed="short", kind="rsa1024")], GOOD, "weak_key"),
    "name-constraint": ([leaf(constrained), constrained], GOOD, "name_constraint"),
    "no-intermediate": ([leaf()], GOOD, "incomplete_chain"),
    "client-usage": ([leaf(usages=CLIENTS), middle], GOOD,
                     "wrong_usage"),
}


def files(name, chain):
    certificate, private = WORK / f"{name}.pem", WORK / f"{name}.key"
    certificate.write_bytes(pem(*chain))
    private.write_bytes(chain[0].key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    private.chmod(0o600)
    return certificate, private


MADE = {name: files(name, chain) for name, (chain, _, _) in CASES.items()}
(WORK / "roots.pem").write_bytes(pem(root, rsa_root))
CLIENT = files("client", [make("client", root, usages=CLIENTS, **TIME)])


class NginxServers(Nginx):
    name = "nginx"

    def __init__(self):
        self.ports = {case: free_port() for case in [*CASES, "old", "asks", "tells"]}
        self.log = WORK / "nginx.log"
        tls = "ssl_certificate {0}; ssl_certificate_key {1};".format
        servers = [(self.ports[case], tls(*MADE[case])) for case in CASES]
        servers.append((self.ports["old"], tls(*MADE["good"]) + "ssl_protocols TLSv1.1;"))
        for asks, how in [("asks", "on"), ("tells", "optional")]:
            servers.append((self.ports[asks], tls(*MADE["good"])
                            + f"ssl_verify_client {how}; ssl_client_certificate {WORK}/roots.pem; ssl_verify_depth 3;"))
        text = "".join(f"server {{ listen 127.0.0.1:{port} ssl; {settings} return 200 'client=$ssl_client_s_dn\\n'; }}"
                       for port, settings in servers)
        super().__init__(WORK, self.ports.values(), f"""
            log_format port '$server_port $request'; access_log {self.log} port; ssl_ciphers ALL:@SECLEVEL=0; {text}""")

    def seen(self, case):
        """The requests that the server of a case has seen."""
        return sum(line.startswith(f"{self.ports[case]} ") for line in self.log.read_text().splitlines())


class Apache:
    name = "Apache"

    def __init__(self):
        self.ports = {case: free_port() for case in CASES}
        self.log = WORK / "apache.log"
        modules = "/usr/lib/apache2/modules"
        hosts = "".join(f"""
            Listen 127.0.0.1:{port}
            <VirtualHost 127.0.0.1:{port}>
              ServerName case
              SSLEngine on
              SSLCertificateFile {MADE[case][0]}
              SSLCertificateKeyFile {MADE[case][1]}
            </VirtualHost>""" for case, port in self.ports.items())
        (WORK / "apache.conf").write_text(f"""
            ServerRoot {WORK}
            ServerName localhost
            PidFile {WORK}/apache.pid
            ErrorLog {WORK}/apache.err
            DefaultRuntimeDir {WORK}
            LoadModule mpm_event_module {modules}/mod_mpm_event.so
            LoadModule authz_core_module {modules}/mod_authz_core.so
            LoadModule ssl_module {modules}/mod_ssl.so
            LogFormat "%p %r" port
            CustomLog {self.log} port
            SSLCipherSuite ALL:@SECLEVEL=0
            DocumentRoot {WORK}/root
            <Directory {WORK}/root>
              Require all granted
            </Directory>
            {hosts}""")
        self.process = start(["apache2", "-D", "FOREGROUND", "-f", WORK / "apache.conf"])
        for port in self.ports.values():
            wait_for_port(port)

    def seen(self, case):
        return sum(line.startswith(f"{self.ports[case]} ") for line in self.log.read_text().splitlines())


class OpenSSL:
    """One `openssl s_server` for each case, which prints what it is sent."""

    name = "s_server"

    def __init__(self):
        self.ports = {case: free_port() for case in CASES if case != "good"}
        self.outputs = {}
        for case, port in self.ports.items():
            certificate, private = MADE[case]
            self.outputs[case] = WORK / f"s_server-{case}"
            with open(self.outputs[case], "wb") as output:
                start(
                    ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate, "-cert_chain", certificate,
                     "-key", private, "-cipher", "ALL:@SECLEVEL=0", "-quiet"],
                    stdin=subprocess.PIPE, stdout=output, stderr=subprocess.DEVNULL)
            wait_for_port(port)

    def seen(self, case):
        return len(self.outputs[case].read_bytes())


class Intercepted(Response):
    """The same inside a tunnel: TLS with Larder, which has to show a certificate of its authority for the host."""

    def reach(self, larder, url, host):
        connection = open_tunnel(larder.port, host)
        trust = ssl.create_default_context(cafile=WORK / "ca" / "current" / "root.pem")
        return trust.wrap_socket(connection, server_hostname=host.rpartition(":")[0]), "/" + url.split("/", 3)[3]


def error(response):
    return response.fields.get("proxy-status", "")


(WORK / "root").mkdir()
(WORK / "root" / "index.html").write_text("hello\n")
servers = [NginxServers(), Apache(), OpenSSL()]
settings = WORK / "larder.yaml"


def write(pin=None):
    pins = f", pins: {{of: {pin}}}" if pin else ""
    settings.write_text(f"""
tls:
  default: {{anchors: {{bundle: {WORK}/roots.pem}}, connect: intercept}}
  authority: {{folder: {WORK}/ca}}
  hosts:
    pinned.good.test: {{anchors: {{bundle: {WORK}/roots.pem}}, validate_host: false, until: 2099-01-01{pins}}}
  client_certificates:
    good.test:{servers[0].ports["asks"]}: {{certificate: {CLIENT[0]}, key: {CLIENT[1]}}}
tunnel: {{ports: any}}
resolve: {{good.test: 127.0.0.1, a.good.test: 127.0.0.1, pinned.good.test: 127.0.0.1}}
""")


output([LARDER, "ca", "init", "--folder", WORK / "ca"])
write()
larder = Larder(":memory:", config=settings)

for server in servers:
    for case, port in server.ports.items():
        if case not in CASES:
            continue
        _, host, reason = CASES[case]
        for way in (Response, Intercepted):
            response = way(larder, f"https://{host}:{port}/index.html")
            what = f"{server.name}, {case}, {'intercepted' if way is Intercepted else 'asked for'}"
            if reason is None:
                check(response.status == 200, f"{what}: {response.status} {error(response)}")
            else:
                expected = f'error=tls_certificate_error; details="{reason}"'
                check(response.status == 502 and expected in error(response), f"{what}: {response.status} {error(response)}")
                check(server.seen(case) == 0, f"{what}: no octet of a request was seen")

nginx = servers[0]
response = Response(larder, f"https://good.test:{nginx.ports['old']}/")
check(response.status == 502 and "tls_" in error(response), f"TLS 1.1: {response.status} {error(response)}")

response = Response(larder, f"https://good.test:{nginx.ports['asks']}/")
check(response.status == 200 and b"".join(response.pieces()) == b"client=CN=client\n", f"with a certificate: {response.status}")
response = Response(larder, f"https://good.test:{nginx.ports['tells']}/")
check(response.status == 200 and b"".join(response.pieces()) == b"client=\n", "another port of the host is not shown it")
response = Response(larder, f"https://a.good.test:{nginx.ports['asks']}/")
check(response.status == 502 or response.status == 400, f"another host is not shown it: {response.status} {error(response)}")


def pinned():
    return Response(larder, f"https://pinned.good.test:{nginx.ports['good']}/")


def digest(made):
    spki = subprocess.run("openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64",
                          shell=True, input=pem(made), capture_output=True, check=True).stdout.decode().strip()
    return f"sha256/{spki}"


for made, status in [(CASES["good"][0][0], 200), (other_root, 502)]:
    write(digest(made))
    before = nginx.seen("good")
    larder.process.send_signal(signal.SIGHUP)
    deadline = time.time() + 10
    while pinned().status != status and time.time() < deadline:
        time.sleep(0.1)
    response = pinned()
    check(response.status == status, f"after a reload with {'its' if status == 200 else 'another'} pin: {response.status} {error(response)}")
check(larder.stop() == 0, "it ended well")
finish()
