"""The origin of a page: a fixed set of files, each with its validators and its lifetime. README.md lists them."""

import gzip
import hashlib
import http.server
import json
import re
import socket
import threading
from email.utils import formatdate, parsedate_to_datetime

from Tools.origins import server_context

MODIFIED = 1_767_225_600  # 1 January 2026, 00:00 UTC
TEXT, JSON, BYTES = "text/plain; charset=utf-8", "application/json", "application/octet-stream"


def words(count):
    """The same bytes on every machine."""
    return b"".join(hashlib.sha256(number.to_bytes(4, "big")).digest() for number in range(count // 32))


PAGE = b"""<!doctype html>
<html lang="en">
<title>Example Domain</title>
<h1>Example Domain</h1>
<p>This domain is for use in documentation examples.</p>
</html>
"""

#: Path: content type, Cache-Control, content.
FILES = {
    "/": ("text/html; charset=utf-8", "max-age=86000", PAGE),
    "/hello.txt": (TEXT, "max-age=600", b"Hello from the origin.\n"),
    "/index.txt": (TEXT, "max-age=600", b"hello.txt\nnotes.txt\nimage.bin\n"),
    "/notes.txt": (TEXT, "no-cache", b"Ask the origin before each use of this file.\n"),
    "/stale.txt": (TEXT, "max-age=0", b"This file is stale as soon as it arrives.\n"),
    "/private.txt": (TEXT, "private, max-age=600", b"For one user only.\n"),
    "/secret.txt": (TEXT, "no-store", b"No cache may store this file.\n"),
    "/plain.txt": (TEXT, None, b"The origin says nothing about the lifetime of this file.\n"),
    "/data.json": (JSON, "max-age=60", b'{"name": "larder", "stars": 5, "tags": ["proxy", "cache"]}\n'),
    "/style.css": ("text/css", "max-age=31536000, immutable", b"body { font-family: sans-serif; }\n"),
    "/big.bin": (BYTES, "max-age=3600", words(1 << 20)),
    "/image.bin": (BYTES, "max-age=3600", words(64 << 10)),
    "/packages/lib-1.0.tar.gz": ("application/gzip", "max-age=31536000, immutable", gzip.compress(words(48 << 10), mtime=0)),
    "/packages/lib-1.1.tar.gz": ("application/gzip", "max-age=31536000, immutable", gzip.compress(words(96 << 10), mtime=0)),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Origin/1", ""

    def log_message(self, *values):
        pass

    def do_GET(self):
        path = self.path.partition("?")[0]
        if (file := self.server.folder / path.strip("/").replace("/", "%")).is_file():
            head, _, content = file.read_bytes().partition(b"\n\n")
            self.file(content, dict(line.split(": ", 1) for line in head.decode().splitlines() if line))
        elif path in FILES:
            kind, lifetime, content = FILES[path]
            self.file(content, {"Content-Type": kind} | ({"Cache-Control": lifetime} if lifetime else {}))
        elif path == "/count":
            self.server.count += 1
            self.reply(200, f"request {self.server.count}\n".encode(), {"Cache-Control": "no-store"})
        elif path == "/language":
            french = self.headers.get("Accept-Language", "").startswith("fr")
            self.reply(200, b"Bonjour.\n" if french else b"Hello.\n", {"Cache-Control": "max-age=600", "Vary": "Accept-Language"})
        elif path == "/cookie":
            self.reply(200, b"A cookie is set.\n", {"Cache-Control": "max-age=600", "Set-Cookie": "session=8f14e45fceea167a; Path=/"})
        elif path == "/echo":
            self.echo()
        elif path == "/moved":
            self.reply(302, b"", {"Location": "/hello.txt"})
        elif path == "/login":
            if self.headers.get("Authorization"):
                self.reply(200, b"Welcome.\n", {"Cache-Control": "private"})
            else:
                self.reply(401, b"Who are you?\n", {"WWW-Authenticate": 'Basic realm="origin"'})
        elif path == "/error":
            self.reply(503, b"The origin is out of order.\n")
        elif path == "/events":
            self.events()
        else:
            self.reply(404, b"Not found.\n")

    do_HEAD = do_GET

    def do_POST(self):
        self.echo()

    do_PUT = do_PATCH = do_DELETE = do_POST

    def file(self, content, fields):
        tag = '"' + hashlib.sha256(content).hexdigest()[:12] + '"'
        fields = {"ETag": tag, "Last-Modified": formatdate(MODIFIED, usegmt=True), "Accept-Ranges": "bytes"} | fields
        if self.is_unchanged(tag):
            return self.reply(304, b"", {name: value for name, value in fields.items() if name != "Content-Type"}, length=False)
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if asked and any(asked.groups()) and self.headers.get("If-Range", tag) == tag:
            size = len(content)
            if asked[1]:
                first, last = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
            else:
                first, last = max(size - int(asked[2]), 0), size - 1
            if first > last:
                return self.reply(416, b"", {"Content-Range": f"bytes */{size}"})
            return self.reply(206, content[first:last + 1], fields | {"Content-Range": f"bytes {first}-{last}/{size}"})
        self.reply(200, content, fields)

    def is_unchanged(self, tag):
        if (tags := self.headers.get("If-None-Match")) is not None:
            return tags.strip() == "*" or tag in [one.strip().removeprefix("W/") for one in tags.split(",")]
        since = self.headers.get("If-Modified-Since")
        return bool(since) and parsedate_to_datetime(since).timestamp() >= MODIFIED

    def echo(self):
        """The request as the origin received it."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
        said = {"method": self.command, "target": self.path, "fields": dict(self.headers.items()), "content": body}
        self.reply(200, json.dumps(said, indent=2).encode() + b"\n", {"Content-Type": JSON, "Cache-Control": "no-store"})

    def events(self):
        events = b"".join(b"id: %d\ndata: event %d\n\n" % (number, number) for number in range(1, 4))
        self.reply(200, events, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})

    def reply(self, status, content, fields=None, length=True):
        fields = dict(fields or {})
        if content:
            fields.setdefault("Content-Type", TEXT)
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


class Origin(http.server.ThreadingHTTPServer):
    """Listens on one port of 127.0.0.1, and of ::1 where there is one; with a certificate's files it speaks TLS."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, port, folder, files=None, family=socket.AF_INET):
        self.address_family, self.folder, self.count = family, folder, 0
        super().__init__(("127.0.0.1" if family == socket.AF_INET else "::1", port), Handler)
        if files:
            self.socket = server_context(*files).wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def server_bind(self):
        # Without HTTPServer's look-up of its own name.
        http.server.socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def handle_error(self, request, client):
        """Clients that leave in the middle are part of the pages."""


def serve(port, folder, files=None):
    """`folder` holds the files that `serve-file` makes: fields, an empty line, the content."""
    Origin(port, folder, files)
    try:
        Origin(port, folder, files, socket.AF_INET6)
    except OSError:
        pass  # a machine without IPv6
