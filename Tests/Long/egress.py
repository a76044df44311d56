"""Spellings of denied targets, sent to real listeners: see egress.sh. LARDER is the binary, WORK a folder for all that is written.

Each spelling is sent twice. A lenient sender without Larder reads it as tolerant software does, and must reach the listener; so it is a
spelling of that target. Through Larder it must reach none. A capture counts packets to the denied addresses, and a name server the
questions for denied names.
"""

import collections
import ipaddress
import random
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import unicodedata
from urllib.parse import unquote

from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.larder import Interceptor, WORK
from Tools.origins import server_context
from Tools.processes import wait_until

DENIED, DENIED6, ALLOWED = "11.0.0.2", "2600::2", "11.0.0.3"
NAMES = {"denied.test": DENIED, "xn--bcher-kva.test": DENIED, "www.xn--bcher-kva.test": DENIED, "allowed.test": ALLOWED}
HIDDEN = "/hidden"
EACH = 80
SETTINGS = f"""
egress: {{default: deny}}
rules:
  - name: one folder of one host
    match: {{host: [allowed.test], path: /open/**}}
    allow: {{}}
"""


# MARK: Listeners, which count what reaches them

class Reached:
    """What reached a denied listener, a denied name, or a hidden path."""

    def __init__(self):
        self.count, self.lock, self.last = 0, threading.Lock(), ""

    def add(self, what):
        with self.lock:
            self.count += 1
            self.last = what


reached = Reached()


def readings(path):
    """All that tolerant servers make of a path."""
    found, fresh = set(), {path.partition("?")[0]}
    while fresh - found:
        found |= fresh
        fresh = {reading for path in found for reading in (
            unquote(path), path.replace("\\", "/"), re.sub(r";[^/]*", "", path), without_dots(path), re.sub("/+", "/", path))}
    return found


def without_dots(path):
    kept = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    return "/" + "/".join(kept)


def read_head(stream):
    lines = []
    while (line := stream.readline(65536)) not in (b"\r\n", b""):
        lines.append(line.decode("utf-8", "surrogateescape").rstrip("\r\n"))
    return lines


def plain_name(host):
    return host.rpartition(":")[0] if re.search(r":\d+$", host) else host


def serve(connection, is_denied, context):
    """Answers requests. On the allowed address it also is an open relay, for CONNECT and for absolute targets."""
    try:
        connection.settimeout(20)
        if is_denied:
            reached.add("a connection")
        if context:
            name = []
            context.sni_callback = lambda _, given, __: name.append(given)
            connection = context.wrap_socket(connection, server_side=True)
            if name and name[-1] and lenient_host(name[-1]) in ("denied.test", "xn--bcher-kva.test"):
                reached.add(f"SNI {name[-1]}")
        stream = connection.makefile("rb")
        while head := read_head(stream):
            method, target, _ = head[0].split(" ", 2)
            host = next((line.partition(":")[2].strip() for line in head[1:] if line.lower().startswith("host:")), "")
            if lenient_host(plain_name(host)) in ("denied.test", "xn--bcher-kva.test"):
                reached.add(f"Host {host}")
            if method == "CONNECT" or "://" in target:
                reached.add(f"a relay for {target}")
            elif HIDDEN in readings(target):
                reached.add(f"path {target}")
            location = next((line.partition(":")[2].strip() for line in head[1:] if line.lower().startswith("x-location:")), "")
            status = f"302 Found\r\nLocation: {location}" if location else "200 OK"
            connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok".encode("utf-8", "surrogateescape"))
    except (OSError, ValueError, UnicodeError):
        pass
    finally:
        connection.close()


def listen(address, port, files=None):
    listener = socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET, backlog=256)

    def accept():
        while True:
            connection = listener.accept()[0]
            context = server_context(*files) if files else None
            threading.Thread(target=serve, args=(connection, address != ALLOWED, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def answer_names(questions):
    """A name server on 127.0.0.1 that knows NAMES, and notes the names that it is asked for."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def answer():
        while True:
            query, client = server.recvfrom(4096)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
                at += 1 + query[at]
            name, kind = ".".join(labels).lower(), struct.unpack("!H", query[at + 1:at + 3])[0]
            questions.append(name)
            address = NAMES.get(name)
            found = address and kind == 1
            reply = query[:2] + struct.pack("!HHHHH", 0x8180 if address else 0x8183, 1, 1 if found else 0, 0, 0) + query[12:at + 5]
            if found:
                reply += struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address)
            server.sendto(reply, client)

    threading.Thread(target=answer, daemon=True).start()


def capture(packets):
    """Notes each packet of this namespace to or from a denied address."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    denied = {socket.inet_aton(DENIED), socket.inet_pton(socket.AF_INET6, DENIED6)}

    def note():
        while True:
            frame = tap.recv(65536)
            ends = (frame[26:30], frame[30:34]) if frame[12:14] == b"\x08\x00" else (frame[22:38], frame[38:54])
            if denied & set(ends):
                packets.append(ends)

    threading.Thread(target=note, daemon=True).start()


# MARK: Spellings

Spelling = collections.namedtuple("Spelling", "kind authority path host sni", defaults=("/", None, None))


def mixed(random, text):
    return "".join(random.choice((letter.lower(), letter.upper())) for letter in text)


def port(random, denied=(80, 8080)):
    number = random.choice(denied)
    return random.choice((f":{number}", f":0{number}", f":000{number}")) if random.random() < 0.5 else f":{number}"


def address_form(random):
    parts = [11, 0, 0, 2]
    number = int(ipaddress.ip_address(DENIED))
    return random.choice((
        lambda: str(number), lambda: hex(number), lambda: oct(number).replace("0o", "0"), lambda: "11.2", lambda: "11.0.2",
        lambda: ".".join(random.choice((str(part), hex(part), f"0{part:o}", f"00{part:o}", f"0x0{part:x}")) for part in parts),
        lambda: f"{random.choice(('11', '0xb', '013'))}.{random.choice(('2', '0x2', '02', '0x000002'))}",
        lambda: mixed(random, f"[::ffff:{DENIED}]"), lambda: mixed(random, "[::FFFF:b00:2]"), lambda: "[0:0:0:0:0:ffff:b00:2]",
        lambda: mixed(random, random.choice(("[2600::2]", "[2600:0:0::2]", "[2600:0000::0002]", "[2600:0:0:0:0:0:0:2]"))),
    ))()


def percent(random, text, share=0.4):
    return "".join(f"%{ord(letter):02{random.choice('xX')}}" if random.random() < share else letter for letter in text)


def hidden_path(random):
    dots = random.choice(("..", "%2e%2e", ".%2E", "%252e%252e", "..;x", "%2e.;a=b", "%2E%2e;"))
    slash = random.choice(("/", "%2f", "%2F", "%5c", "\\", "%252f", "//", "/./"))
    return random.choice((
        lambda: f"/open{random.choice(('/', '//', '/./'))}{dots}{slash}hidden", lambda: f"/open/a/{dots}/{dots}{slash}hidden",
        lambda: f"/{percent(random, 'hidden')}", lambda: f"//hidden", lambda: f"/./hidden", lambda: f"/open/x;y/{dots}/{dots}/hidden",
        lambda: f"/hidden;{random.randrange(99)}", lambda: f"/x/{dots}/hidden?{random.randrange(99)}",
        lambda: f"/open/{random.randrange(99)}/{dots}{slash}{dots}{slash}{percent(random, 'hidden', 0.2)}",
    ))()


KINDS = {
    "case": lambda r: Spelling("case", mixed(r, "denied.test") + port(r)),
    "dots": lambda r: Spelling("dots", mixed(r, "denied.test") + "." + port(r)),
    "percent": lambda r: Spelling("percent", percent(r, "denied.test", 0.3) + port(r)),
    "IDN": lambda r: Spelling("IDN", r.choice((
        lambda: mixed(r, "xn--bcher-kva.test"), lambda: r.choice(("bücher.test", "BÜCHER.test", "bu\u0308cher.test", "www.bücher.test")),
        lambda: "".join(chr(ord(letter) + 0xFEE0) if letter != "." and r.random() < 0.5 else letter for letter in "denied.test"),
        lambda: "denied\u3002test", lambda: "deni\u00aded.test"))() + port(r)),
    "userinfo": lambda r: Spelling("userinfo", r.choice((
        "allowed.test@", "allowed.test:80@", "a:b@", "allowed.test%2fopen@", "allowed.test%40x@", "@")) + mixed(r, "denied.test") + port(r)),
    "port": lambda r: Spelling("port", "denied.test" + r.choice(("", ":", port(r), port(r), f":{'0' * r.randrange(40)}80"))),
    "address": lambda r: Spelling("address", address_form(r) + port(r)),
    "Host and SNI": lambda r: Spelling("Host and SNI", "allowed.test" + r.choice((":80", "", ":080")), "/open/x", *r.choice((
        (mixed(r, "denied.test"), None), (None, mixed(r, "denied.test")), (mixed(r, "denied.test"), mixed(r, "denied.test")),
        ("denied.test.", None), (None, "xn--bcher-kva.test"), ("bücher.test", None)))),
    "path": lambda r: Spelling("path", mixed(r, "allowed.test") + r.choice(("", ":80", ".")), hidden_path(r)),
}


def lenient_host(host):
    """As tolerant software reads a name: decoded, mapped to lower case, without a final dot, IDNs as A-labels."""
    host = unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".").replace("\u00ad", "").lower().rstrip(".")
    return host if host.isascii() else host.encode("idna").decode()


def lenient_address(authority):
    """The address and the port of an authority as tolerant software reads it."""
    authority = authority.rpartition("@")[2]
    host, _, number = authority.rpartition(":") if re.search(r":\d*$", authority) and not authority.endswith("]") else (authority, "", "")
    if host.startswith("["):
        address = ipaddress.ip_address(host.strip("[]").lower())
        return str(getattr(address, "ipv4_mapped", None) or address), int(number or 80)
    host = lenient_host(host)
    if host in NAMES:
        return NAMES[host], int(number or 80)
    return socket.inet_ntoa(socket.inet_aton(host)), int(number or 80)


# MARK: Ways

def lenient_context(trusting=None):
    context = ssl.create_default_context(cafile=trusting)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


CONTEXT = lenient_context()


def head(method, target, host, more=""):
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode("utf-8", "surrogateescape")


def answer(connection):
    """The head of the answer, or what there is of it."""
    data = b""
    while b"\r\n\r\n" not in data and (piece := connection.recv(65536)):
        data += piece
    return data.decode("latin-1")


# How often an allowed request, or a tunnel, came before the denied one.
begun = collections.Counter()
WEBSOCKET = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"


def open_way(proxy, spelling):
    """A connection to the proxy, or to what a lenient reader takes the authority for."""
    return socket.create_connection(("127.0.0.1", proxy) if proxy else lenient_address(spelling.authority), 20)


def secure(connection, spelling):
    name = spelling.sni or (None if proxy_less(spelling.authority) else lenient_host(plain_name(spelling.authority.rpartition("@")[2])))
    return CONTEXT.wrap_socket(connection, server_hostname=name)


def proxy_less(authority):
    return not re.search("[a-zA-Z]", authority.replace("0x", "")) or authority.startswith("[")


def absolute(proxy, spelling, more="", scheme="http"):
    with open_way(proxy, spelling) as connection:
        target = f"{scheme}://{spelling.authority}{spelling.path}" if proxy else spelling.path
        connection.sendall(head("GET", target, spelling.host or spelling.authority, more))
        answer(connection)


def websocket(proxy, spelling):
    absolute(proxy, spelling, WEBSOCKET)


def redirect(proxy, spelling):
    """An allowed response points to the target, and the client follows."""
    url = f"http://{spelling.authority}{spelling.path}"
    with socket.create_connection(("127.0.0.1", proxy) if proxy else (ALLOWED, 80), 20) as connection:
        target = "http://allowed.test/open/r" if proxy else "/open/r"
        connection.sendall(head("GET", target, "allowed.test", f"X-Location: {url}\r\n"))
        begun["redirect"] += " 302" in answer(connection).split("\r\n")[0]
    absolute(proxy, spelling)


def connect(proxy, spelling):
    """TLS in a tunnel to the authority."""
    spelling = spelling._replace(authority=re.sub(r":0*80$", ":443", re.sub(r":0*8080$", ":8443", spelling.authority)))
    if not re.search(r":\d+$", spelling.authority):
        spelling = spelling._replace(authority=spelling.authority.rstrip(":") + ":443")
    with open_way(proxy, spelling) as connection:
        if proxy:
            connection.sendall(head("CONNECT", spelling.authority, spelling.authority))
            if " 200" not in answer(connection).split("\r\n")[0]:
                return
        with secure(connection, spelling) as channel:
            channel.sendall(head("GET", spelling.path, spelling.host or spelling.authority))
            answer(channel)


def relayed(proxy, spelling):
    """CONNECT or an absolute target, for a relay at the allowed host, inside a tunnel to it."""
    with socket.create_connection(("127.0.0.1", proxy) if proxy else (ALLOWED, 443), 20) as connection:
        if proxy:
            connection.sendall(head("CONNECT", "allowed.test:443", "allowed.test:443"))
            if " 200" not in answer(connection).split("\r\n")[0]:
                return
        with CONTEXT.wrap_socket(connection, server_hostname="allowed.test") as channel:
            begun["relayed"] += 1
            inner = spelling.authority if len(spelling.authority) % 2 else f"http://{spelling.authority}{spelling.path}"
            channel.sendall(head("GET" if "://" in inner else "CONNECT", inner, spelling.host or "allowed.test"))
            answer(channel)


WAYS = {"absolute": absolute, "CONNECT": connect, "relayed": relayed, "WebSocket": websocket, "redirect": redirect}


def send(way, proxy, spelling):
    try:
        WAYS[way](proxy, spelling)
    except OSError:
        pass


# MARK: The comparison

def spelling_for(way, spelling):
    """Only a way with TLS of its own has a server name beside the Host field."""
    return spelling if way == "CONNECT" or not spelling.sni else spelling._replace(host=spelling.host or spelling.sni)


def count(way, proxy, spelling):
    """How much reached a denied listener, name or path by this one."""
    before = reached.count
    send(way, proxy, spelling)
    return reached.count - before


def main():
    random.seed(27)
    for address in (DENIED, ALLOWED):
        subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
    subprocess.run(["ip", "-6", "address", "add", f"{DENIED6}/128", "dev", "lo", "nodad"], check=True)
    (WORK / "resolv.conf").write_text("nameserver 127.0.0.1\noptions attempts:1\n")
    subprocess.run(["mount", "--bind", WORK / "resolv.conf", "/etc/resolv.conf"], check=True)
    authority = Authority(WORK)
    files = authority.certify("allowed.test", "denied.test", "xn--bcher-kva.test")
    for address in (DENIED, DENIED6, ALLOWED):
        for port in (80, 8080):
            listen(address, port)
        for port in (443, 8443):
            listen(address, port, files)
    questions, packets = [], []
    answer_names(questions)
    (WORK / "larder.yaml").write_text(SETTINGS)
    larder = Interceptor(":memory:", authority, loops=2, config=WORK / "larder.yaml")

    spellings = [(way, spelling_for(way, KINDS[kind](random))) for kind in KINDS for way in WAYS for _ in range(EACH)]
    astray = [(way, spelling) for way, spelling in spellings if not count(way, None, spelling)]
    for way, spelling in astray[:20]:
        print(f"        reached nothing: {way} {spelling}")
    check(not astray, f"without Larder all {len(spellings)} spellings reach a listener, {len(astray)} do not")

    before = reached.count
    send("absolute", larder.port, Spelling("control", "allowed.test", "/open/x"))
    check("allowed.test" in questions and reached.count == before, "an allowed request goes through Larder, and its name is asked for")
    capture(packets)
    questions.clear()
    begun.clear()
    before, passed = reached.count, []
    for way, spelling in spellings:
        if count(way, larder.port, spelling):
            passed.append((way, spelling, reached.last))
    for row in passed[: None if "-v" in sys.argv else 20]:
        print(f"        passed: {row}")
    check(not passed and reached.count == before, f"through Larder {len(passed)} of {len(spellings)} spellings reach a listener")
    denied = [name for name in questions if name.rstrip(".") != "allowed.test"]
    check(not denied, f"{len(denied)} questions for other names than the allowed one {sorted(set(denied))[:5]}")
    check(not packets, f"{len(packets)} packets to or from denied addresses")
    each = len(KINDS) * EACH
    check(begun == {"redirect": each, "relayed": each}, f"before them came {begun['redirect']} redirects and {begun['relayed']} allowed tunnels")
    kinds = collections.Counter(spelling.kind for _, spelling in spellings)
    ways = collections.Counter(way for way, _ in spellings)
    check(min(*kinds.values(), *ways.values()) >= 100, f"spellings of each kind {dict(kinds)}, each way {dict(ways)}")
    send("absolute", None, Spelling("control", "denied.test:80"))
    check(wait_until(lambda: packets, "a packet is captured"), "the capture sees a packet that does go to a denied address")
    larder.stop()
    finish()


if __name__ == "__main__":
    main()
