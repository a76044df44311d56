"""Servers over TLS by an authority of the test's own, and Larder that believes it and intercepts."""

import http.server
import ipaddress
import os
import ssl
import subprocess
import threading

from common import WORK, Larder

NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*words, text=None):
    """What it says on standard output."""
    done = subprocess.run(["openssl", *map(str, words)], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"openssl {words[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


class Authority:
    """Certifies the origins, and has nothing to do with Larder's."""

    def __init__(self):
        self.certificate, self.key = WORK / "origins.pem", WORK / "origins.key"
        openssl("req", "-x509", *NEW_KEY, "-subj", "/CN=The origins' authority", "-days", "2", "-keyout", self.key, "-out",
                self.certificate)

    def certify(self, *hosts):
        """Paths of a certificate for these names and addresses, and of its key."""
        certificate, key = WORK / f"{hosts[0]}.pem", WORK / f"{hosts[0]}.key"
        names = ",".join(f"{'IP' if is_address(host) else 'DNS'}:{host}" for host in hosts)
        extensions = WORK / "extensions"
        extensions.write_text(f"subjectAltName=critical,{names}\nextendedKeyUsage=serverAuth\n")
        request = openssl("req", *NEW_KEY, "-subj", "/", "-keyout", key)
        made = openssl("x509", "-req", "-CA", self.certificate, "-CAkey", self.key, "-days", "2", "-extfile", extensions, text=request)
        certificate.write_bytes(made)
        return certificate, key


def is_address(host):
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


class SecureOrigin:
    """Answers every GET with the same octets, fresh for an hour, and counts them."""

    def __init__(self, files, content=b"hello\n", address="127.0.0.1", port=0):
        origin, self.asked = self, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                origin.asked += 1
                self.send_response(200)
                self.send_header("Cache-Control", "max-age=3600")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *values):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client):
                pass

        self.server = Server((address, port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Interceptor(Larder):
    """One that intercepts every host, and believes the test's authority alone; `root` is what its clients have to believe."""

    def __init__(self, store, authority, *settings, constrain=(), loops=1):
        folder = WORK / "larder-ca"
        if not folder.exists():
            constraints = [word for domain in constrain for word in ("--constrain", domain)]
            subprocess.run([os.environ["LARDER"], "ca", "init", "--folder", folder, *constraints], check=True, capture_output=True)
        self.root = folder / "current" / "root.pem"
        super().__init__(store, f"tls.authority.folder={folder}", "tunnel.ports=any",
                         f"tls.default={{anchors: {{bundle: {authority.certificate}}}, connect: intercept}}", *settings, loops=loops)
