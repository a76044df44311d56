"""CPU of one request that is not stored, in microseconds: medians of several rounds, the sides taking turns."""

import http.client
import os
import statistics
import subprocess

from common import WORK, Larder, end, free_port, run, wait_for_port

ROUNDS, FIRST, KEPT = 7, 300, 3000
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
TICK = 1e6 / os.sysconf("SC_CLK_TCK")


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=WORK)


openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "root.key", "-out", "root.pem",
        "-days", "3", "-subj", "/CN=Root")
(WORK / "extensions").write_text("subjectAltName=DNS:one.test\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n")
openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=leaf")
openssl("x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-days", "2", "-extfile", "extensions", "-out", "leaf.pem")
bundle = WORK / "bundle.pem"
bundle.write_text((WORK / "root.pem").read_text() + (open(BUNDLE).read() if os.path.exists(BUNDLE) else ""))
(WORK / "one").write_bytes(b"x" * 1024)
plain, secure = free_port(), free_port()
(WORK / "nginx.conf").write_text(f"""
    daemon off; user root; worker_processes 1; pid {WORK}/nginx.pid; error_log {WORK}/nginx.err;
    events {{ }}
    http {{ access_log off; keepalive_requests 10000000;
      client_body_temp_path {WORK}/b; proxy_temp_path {WORK}/p; fastcgi_temp_path {WORK}/f; uwsgi_temp_path {WORK}/u; scgi_temp_path {WORK}/s;
      server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl; ssl_certificate {WORK}/leaf.pem; ssl_certificate_key {WORK}/leaf.key;
        ssl_session_tickets off; ssl_session_cache off;
        location /pass/ {{ alias {WORK}/; add_header Cache-Control no-store; }}
        location /close/ {{ alias {WORK}/; add_header Cache-Control no-store; keepalive_timeout 0; }} }} }}""")
WORK.chmod(0o755)
nginx = run(["nginx", "-c", str(WORK / "nginx.conf"), "-e", str(WORK / "nginx.err")])
wait_for_port(secure)
larder = Larder(":memory:", f"tls.default={{anchors: {{bundle: {bundle}}}}}", "resolve={one.test: 127.0.0.1}", "tunnel.ports=any")


def cpu():
    fields = open(f"/proc/{larder.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def through(url, count):
    """Of Larder, for each of so many requests on one client's connection."""
    client = http.client.HTTPConnection("127.0.0.1", larder.port)
    before = cpu()
    for _ in range(count):
        client.request("GET", url)
        response = client.getresponse()
        body = response.read()
        assert response.status == 200 and len(body) == 1024, response.status
    client.close()
    return (cpu() - before) / count


def bare(count):
    return float(subprocess.run([WORK / "tls-floor", "one.test", str(secure), str(count), str(bundle)], check=True, capture_output=True).stdout)


sides = {
    "a handshake of OpenSSL's with verification, and a request": lambda: bare(FIRST),
    "the same through Larder": lambda: through(f"https://one.test:{secure}/close/one", FIRST),
    "plain, a connection for each": lambda: through(f"http://one.test:{plain}/close/one", FIRST),
    "plain, kept": lambda: through(f"http://one.test:{plain}/pass/one", KEPT),
    "https, kept": lambda: through(f"https://one.test:{secure}/pass/one", KEPT),
}
taken = {side: [] for side in sides}
for side in sides.values():
    side()
for _ in range(ROUNDS):
    for name, side in sides.items():
        taken[name].append(side())
medians = {name: statistics.median(values) for name, values in taken.items()}
for name, value in medians.items():
    print(f"{value:9.1f} µs  {name}")
bare_one, first, plain_first, plain_kept, secure_kept = medians.values()
print(f"first connection: {first / bare_one:.2f} of OpenSSL's ({(first - plain_first) / bare_one:.2f} without what plain HTTP costs)")
print(f"kept connection: {secure_kept / plain_kept:.2f} of plain HTTP")
end(nginx)
