"""The proof that nothing leaves: see replay-proof.sh."""

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time

from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.larder import LARDER, WORK
from Tools.processes import start

HERE, PEER = f"larder-{os.getpid()}", f"peer-{os.getpid()}"
NEAR, FAR = "10.99.0.2", "10.99.0.1"

# A name server that knows one address, and the origin in plain and over TLS.
WORLD = """
    import http.server, socket, ssl, sys, threading
    address, certificate, key = sys.argv[1:]
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = f"{self.command} {self.path}\\n".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        do_POST = do_GET
        def log_message(self, *values): pass
    plain, secure = (http.server.ThreadingHTTPServer((address, port), Handler) for port in (80, 443))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
    for server in (plain, secure):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((address, 53))
    print("ready", flush=True)
    while True:
        query, client = names.recvfrom(512)
        end = query.index(0, 12) + 5
        isIPv4 = query[end - 4:end - 2] == b"\\0\\1"
        answer = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\1\\0\\4" + socket.inet_aton(address) if isIPv4 else b""
        names.sendto(query[:2] + b"\\x81\\x80\\0\\1" + (b"\\0\\1" if isIPv4 else b"\\0\\0") + b"\\0\\0\\0\\0" + query[12:end] + answer, client)
    """
JOB = """
    curl -fsS http://origin.test/a https://origin.test/b
    curl -fsS -d 'x=1' http://origin.test/post
    python3 -c 'import urllib.request as u; print(u.urlopen("http://origin.test/python").read().decode(), end="")'
    """
# What is not recorded: names that nobody has looked up, a tunnel, another protocol.
MISSES = """
    curl -sS -o /dev/null http://elsewhere.test/ https://elsewhere.test/ || true
    curl -sS -o /dev/null -H 'Connection: Upgrade' -H 'Upgrade: other' http://origin.test/upgrade
    """
PLANTED = """
    import socket, sys
    left = False
    for attempt in (lambda: socket.getaddrinfo("origin.test", 80), lambda: socket.create_connection(("10.99.0.1", 80), 3),
                    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("10.99.0.1", 9)),
                    lambda: socket.create_connection(("fd99::1", 80), 3)):
        try:
            attempt()
            left = True
        except OSError:
            pass
    sys.exit(0 if left else 1)
    """


def call(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, **options).stdout.decode()


def inside(network, *words):
    return ["ip", "netns", "exec", network, *[str(word) for word in words]]


def lay_link():
    resolver = f"/etc/netns/{HERE}"
    os.makedirs(resolver)
    atexit.register(shutil.rmtree, resolver)
    with open(f"{resolver}/resolv.conf", "w") as file:
        file.write(f"nameserver {FAR}\noptions timeout:1 attempts:1\n")
    for network in (HERE, PEER):
        call("ip", "netns", "add", network)
        atexit.register(subprocess.run, ["ip", "netns", "delete", network])
        call(*inside(network, "ip", "link", "set", "lo", "up"))
    call(*inside(HERE, "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", PEER))
    for network, link, four, six in ((HERE, "v0", NEAR, "fd99::2"), (PEER, "v1", FAR, "fd99::1")):
        # The kernel itself has nothing to say on this link: no router is asked for, no group joined for an address of its own making.
        for setting in ("router_solicitations=0", "addr_gen_mode=1", "accept_dad=0"):
            call(*inside(network, "sysctl", "-qw", f"net.ipv6.conf.{link}.{setting}"))
        call(*inside(network, "ip", "address", "add", f"{four}/24", "dev", link))
        call(*inside(network, "ip", "address", "add", f"{six}/64", "dev", link, "nodad"))
        call(*inside(network, "ip", "link", "set", link, "up"))
    call(*inside(HERE, "ip", "route", "add", "default", "via", FAR))
    call(*inside(HERE, "ip", "-6", "route", "add", "default", "via", "fd99::1"))


class Capture:
    """What the peer gets, from entering to leaving; who is asked by ARP is not known from before."""

    def __enter__(self):
        # Nor does the peer ask again whether somebody is still there.
        for network in (HERE, PEER):
            for family in ("-4", "-6"):
                call(*inside(network, "ip", family, "neigh", "flush", "all"))
        self.file = WORK / "capture.pcap"
        self.file.unlink(missing_ok=True)
        self.process = start(inside(PEER, "tshark", "-q", "-i", "v1", "-w", self.file), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while b"Capturing on" not in (line := self.process.stderr.readline()):
            if not line:
                raise SystemExit("tshark does not capture")
        # It says so before it does.
        while not self.file.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        time.sleep(1)
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.packets = call("tshark", "-r", self.file, "-T", "fields", "-e", "_ws.col.Protocol", stderr=subprocess.DEVNULL).split()

    @property
    def text(self):
        kinds = ", ".join(f"{self.packets.count(kind)} {kind}" for kind in sorted(set(self.packets)))
        return f"{len(self.packets)} packets" + (f" ({kinds})" if kinds else "")


def larder(*words, user=None, trace=None):
    """Runs it in the network whose ways out are watched."""
    command = [str(LARDER), *words]
    if user:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    if trace:
        command = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", str(trace), *command]
    environment = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "TMPDIR": str(WORK / "tmp")}
    done = subprocess.run(inside(HERE, *command), env=environment, cwd=WORK / "home", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def addresses(trace):
    """Those beyond this machine to which something was sent."""
    found = set(re.findall(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', trace.read_text()))
    return sorted({four or six for four, six in found} - {"127.0.0.1", "::1"})


def main():
    global LARDER
    for name in ("home", "tmp"):
        (WORK / name).mkdir()
        (WORK / name).chmod(0o777)
    WORK.chmod(0o755)
    # An ordinary user reads neither a build's folder nor root's files.
    LARDER = shutil.copy(LARDER, WORK / "larder")
    authority = Authority(WORK)
    files = authority.certify("origin.test")
    lay_link()
    for name, text in (("world.py", WORLD), ("job.sh", "set -e\n" + textwrap.dedent(JOB)), ("misses.sh", MISSES), ("planted.py", PLANTED)):
        (WORK / name).write_text(textwrap.dedent(text))
    world = start(inside(PEER, sys.executable, WORK / "world.py", FAR, *files), stdout=subprocess.PIPE)
    world.stdout.readline()
    settings, job, planted = WORK / "larder.yaml", ["sh", str(WORK / "job.sh")], ["python3", str(WORK / "planted.py")]
    settings.write_text(f"tls: {{hosts: {{origin.test: {{anchors: {{bundle: {authority.certificate}}}}}}}}}\n")
    (WORK / "home/none.larder").touch()

    with Capture() as capture:
        code, said, talk = larder("record", "-c", settings, "--strict", "-o", "job.larder", "--", *job)
    check(code == 0 and len(capture.packets) > 0, f"recorded: {capture.text}" + (f"; {code} {talk}" if code else ""))
    (WORK / "home/job.larder").chmod(0o644)

    with Capture() as capture:
        code, replayed, talk = larder("replay", "-c", settings, "--strict", "job.larder", "--", *job)
    check(code == 0 and replayed == said, "replayed: the same is said, " + talk.split("\n")[0] + (f"; {code} {talk}" if code else ""))
    check(not capture.packets, f"replayed: {capture.text}")

    with Capture() as capture:
        code, _, talk = larder("replay", "-c", settings, "job.larder", "--", "sh", str(WORK / "misses.sh"))
    check(code == 0 and " 0 replayed" in talk and not capture.packets, f"what is missed: {capture.text}; {talk.splitlines()[:1]}")

    with Capture() as capture:
        code, live, _ = larder("run", "-c", settings, "--store", ":memory:", "--", *job)
    check(code == 0 and live == said and len(capture.packets) > 0, f"the same run live: {capture.text}")

    with Capture() as capture:
        code, _, _ = larder("replay", "-c", settings, "job.larder", "--", *planted)
    check(code == 0 and len(capture.packets) > 0, f"a program that ignores proxies leaves: {capture.text}")

    trace = WORK / "trace"
    code, _, _ = larder("replay", "-c", settings, "--strict", "job.larder", "--", *job, trace=trace)
    check(code == 0 and trace.stat().st_size > 0 and not addresses(trace), f"strace, replayed: sent to {addresses(trace) or 'nobody beyond lo'}")
    code, _, _ = larder("run", "-c", settings, "--store", ":memory:", "--", *job, trace=trace)
    check(code == 0 and addresses(trace) == [FAR], f"strace, live: sent to {addresses(trace)}")

    for user in (None, 65534):
        name = "an ordinary user" if user else "root"
        with Capture() as capture:
            code, replayed, talk = larder("replay", "--netns", "-c", settings, "--strict", "job.larder", "--", *job, user=user)
        if code == 125:
            print(f"left out: --netns as {name}: {talk.strip()}")
            continue
        check(code == 0 and replayed == said and not capture.packets, f"--netns as {name}: {capture.text}" + (f"; {talk}" if code else ""))
        with Capture() as capture:
            code, _, _ = larder("replay", "--netns", "-c", settings, "job.larder", "--", *planted, user=user)
        check(code == 1 and not capture.packets, f"--netns as {name}, a program that ignores proxies: it fails, {capture.text}")
    finish()


main()
