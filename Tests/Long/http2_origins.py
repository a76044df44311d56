"""Origins for http2_clients.py: the same content by HTTP/2 (hyper's h2) and by HTTP/1.1 alone. Each counts what it is asked for.

    /keep/SIZE/NAME   fresh for an hour
    /pass/SIZE/NAME   not to be stored
    /echo/NAME        the content of the request
    /page/NAME        HTML, whose script fetches /page/NAME/1 to /page/NAME/20 and writes how many came
"""

import collections
import functools
import hashlib
import socket
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from Tools.origins import Nginx, PythonOrigin, QuietHandler, server_context
from Tools.processes import free_port

PAGE = """<!doctype html><title>Larder</title><p id=said>Nothing came.</p><script>
const all = Array.from({length: 20}, (_, number) => fetch(`${location.pathname}/${number + 1}`).then(part => part.text()))
Promise.all(all).then(parts => {
    const right = parts.filter((part, number) => part.length == 10000 && part.endsWith(` ${number + 1}`)).length
    const [entry] = performance.getEntriesByType("navigation")
    said.textContent = `${right} of ${parts.length} came by ${entry.nextHopProtocol}`
})
fetch("/denied/by-page").then(part => denied.textContent = `denied with ${part.status}`)
</script><p id=denied></p>"""


@functools.lru_cache(64)
def content(path):
    """What is served under a path with a size in it: bytes that follow from the path."""
    size = int(path.split("/")[2])
    block = b"".join(hashlib.sha256(f"{path} {number}".encode()).digest() for number in range(256))
    return (block * (size // len(block) + 1))[:size]


def answer(path, body):
    """Status, fields and content."""
    if path.startswith("/keep/"):
        return 200, [("cache-control", "max-age=3600")], content(path)
    if path.startswith("/pass/"):
        return 200, [("cache-control", "no-store")], content(path)
    if path.startswith("/echo/"):
        return 200, [("cache-control", "no-store")], body
    if path.startswith("/page/"):
        _, _, _, *part = path.split("/")
        text = PAGE.encode() if not part else f"{part[0]:>10000}".encode().replace(b"     ", b"part ", 1)
        return 200, [("cache-control", "max-age=3600"), ("content-type", "text/html" if not part else "text/plain")], text
    return 404, [], b""


class HTTP2Origin:
    """Speaks HTTP/2 alone: over TLS with the paths of a certificate and a key, in clear without."""

    upstream_version = "2.0"

    def __init__(self, files=None):
        self.asked, self.connections = collections.Counter(), 0
        self.context = server_context(*files) if files else None
        if files:
            self.context.set_alpn_protocols(["h2"])
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
                if connection.selected_alpn_protocol() != "h2":
                    return
            self.connections += 1
            HTTP2Conversation(self, connection).run()
        except (OSError, h2.exceptions.ProtocolError):
            """Clients that leave in the middle are part of the tests."""
        finally:
            connection.close()


class HTTP2Conversation:
    def __init__(self, origin, connection):
        self.origin, self.connection = origin, connection
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        # By stream: the path and the content of its request; what is still to be sent.
        self.requests, self.left = {}, {}

    def run(self):
        self.h2.initiate_connection()
        self.connection.sendall(self.h2.data_to_send())
        while data := self.connection.recv(65536):
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    fields = dict(event.headers)
                    self.requests[event.stream_id] = (fields[":path"], bytearray())
                    self.origin.asked[fields[":path"]] += 1
                elif isinstance(event, h2.events.DataReceived):
                    self.requests[event.stream_id][1].extend(event.data)
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.reply(event.stream_id)
                elif isinstance(event, h2.events.StreamReset):
                    self.requests.pop(event.stream_id, None)
                    self.left.pop(event.stream_id, None)
                elif isinstance(event, h2.events.ConnectionTerminated):
                    return
            self.send()

    def reply(self, stream):
        path, body = self.requests.pop(stream)
        status, fields, content = answer(path, bytes(body))
        self.h2.send_headers(stream, [(":status", str(status)), ("content-length", str(len(content))), *fields], end_stream=not content)
        if content:
            self.left[stream] = memoryview(content)

    def send(self):
        """As much as the client's windows allow."""
        for stream, data in list(self.left.items()):
            while len(data) and (room := min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(data))) > 0:
                self.h2.send_data(stream, bytes(data[:room]), end_stream=room == len(data))
                data = data[room:]
            if len(data):
                self.left[stream] = data
            else:
                del self.left[stream]
        self.connection.sendall(self.h2.data_to_send())


class HTTP1Origin(PythonOrigin):
    upstream_version = "1.1"

    def __init__(self, files=None):
        self.asked = asked = collections.Counter()

        class Handler(QuietHandler):
            def do_GET(self):
                asked[self.path] += 1
                status, fields, content = answer(self.path, self.content())
                self.reply(content, status, **dict(fields))

            do_POST = do_GET

            def content(self):
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                pieces = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                while self.rfile.readline() not in (b"\r\n", b""):
                    pass
                return b"".join(pieces)

        super().__init__(Handler, files)


class NginxOrigin(Nginx):
    """nginx with further directives, and files under /pass/ by their size."""

    sizes = (1, 1000, 30_000, 300_000)

    def __init__(self, folder, files, directives):
        certificate, key = files
        folder.mkdir()
        (folder / "pass").mkdir()
        for size in self.sizes:
            (folder / f"pass/{size}").write_bytes(content(f"/pass/{size}"))
        self.port = free_port()
        super().__init__(folder, [self.port], f"""
            access_log off; {directives}
            server {{ listen 127.0.0.1:{self.port} ssl http2; ssl_certificate {certificate}; ssl_certificate_key {key};
              location /pass/ {{ alias {folder}/pass/; add_header Cache-Control no-store; }} }}""")
