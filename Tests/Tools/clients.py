"""Raw HTTP clients: one response a connection, one connection for many requests, tunnels; and a reader of messages."""

import hashlib
import re
import socket
import time


def open_tunnel(port, authority, timeout=60):
    """A connection to a host through the proxy on a port."""
    connection = socket.create_connection(("127.0.0.1", port), timeout)
    connection.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
    answer = connection.recv(4096)
    if not answer.startswith(b"HTTP/1.1 200"):
        raise ConnectionError(answer)
    return connection


class Response:
    """One request on a connection of its own. The body is read on demand."""

    def __init__(self, larder, url, fields=""):
        host = url.split("/")[2]
        self.socket, target = self.reach(larder, url, host)
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.socket.recv(65536)
            if not piece:
                raise ConnectionError("closed in the head")
            data += piece
        head, _, self.rest = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields[name.lower()] = value.strip()
        self.length = int(self.fields.get("content-length", -1))

    def reach(self, larder, url, host):
        """A connection, and the request target for it."""
        return socket.create_connection(("127.0.0.1", larder.port), 60), url

    def pieces(self, rate=None):
        """Pieces of the body, at `rate` bytes a second if one is given. Ends early if the peer does."""
        left, began, taken = self.length, time.time(), 0
        while left > 0:
            piece = self.rest or self.socket.recv(1 << 18)
            self.rest = b""
            if not piece:
                return
            left -= len(piece)
            taken += len(piece)
            yield piece
            if rate:
                ahead = taken / rate - (time.time() - began)
                if ahead > 0:
                    time.sleep(ahead)

    def digest(self, rate=None):
        total, sha = 0, hashlib.sha256()
        for piece in self.pieces(rate):
            total += len(piece)
            sha.update(piece)
        return total, sha.hexdigest()

    def close(self):
        self.socket.close()


class Client:
    """One connection that requests one URL again and again."""

    def __init__(self, port, url, *fields):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host = url.split("/")[2]
        lines = [f"GET {url} HTTP/1.1", f"Host: {host}", "User-Agent: measure", "Accept: */*", *fields]
        self.request = "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
        self.rest = b""

    def get(self):
        self.send()
        return self.receive()

    def send(self):
        self.socket.sendall(self.request)

    def receive(self):
        data = self.rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        head = data[:end].decode("latin-1")
        length = 0 if " 304 " in head else int(re.search(r"(?im)^content-length: *(\d+)", head).group(1))
        while len(data) < end + 4 + length:
            data += self.more()
        self.rest = data[end + 4 + length:]
        return head

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise SystemExit("the proxy closed the connection")
        return data

    def ask(self, count):
        for _ in range(count):
            self.get()


def read_message(stream, method=b"GET", is_request=False):
    """Start line, fields as pairs, and content of one message; `None` if the stream has ended."""
    line = stream.readline()
    if not line:
        return None
    fields = []
    while (field := stream.readline()) not in (b"\r\n", b""):
        name, _, value = field.rstrip(b"\r\n").partition(b":")
        fields.append((name, value.strip(b" \t")))
    known = {name.lower(): value for name, value in fields}
    status = b"" if is_request else line.split(b" ")[1]
    content = b""
    if method == b"HEAD" or status in (b"204", b"304") or (method == b"CONNECT" and status.startswith(b"2")):
        pass
    elif b"transfer-encoding" in known:
        while (size := int(stream.readline().split(b";")[0] or b"0", 16)) > 0:
            content += stream.read(size)
            stream.readline()
        while stream.readline() not in (b"\r\n", b""):
            pass
    elif b"content-length" in known:
        content = stream.read(int(known[b"content-length"]))
    elif not is_request:
        content = stream.read()
    return line.rstrip(b"\r\n"), fields, content
