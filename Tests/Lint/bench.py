"""What the lint stands on: an origin that answers by a function, a Larder that is sent bytes, and a gateway for clients that know no proxy."""

import email.utils
import socket
import socketserver
import threading
import time

from Tools.clients import read_message
from Tools.larder import Larder
from Tools.processes import Failure


def date(seconds_from_now):
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)


class Origin:
    """Answers by `answer(method, path, fields)`: the octets to send, or `None` to close the connection. `requests` has come so far."""

    def __init__(self, answer):
        self.requests = requests = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while (message := read_message(self.rfile, is_request=True)) is not None:
                    requests.append(message)
                    method, target, _ = message[0].split(b" ")
                    fields = {name.lower().decode(): value.decode() for name, value in message[1]}
                    octets = answer(method.decode(), target.decode(), fields)
                    if octets is None:
                        return
                    self.wfile.write(octets)
                    self.wfile.flush()
                    if b"\r\nConnection: close\r\n" in octets:
                        return

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

            def handle_error(self, request, client):
                """A proxy that leaves in the middle is part of the play."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class AskedLarder(Larder):
    def ask(self, request):
        """The final response to a request: start line, fields and content."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            s.sendall(request)
            stream = s.makefile("rb")
            while True:
                message = read_message(stream, method=request.split(b" ")[0])
                if message is None:
                    raise Failure("no answer")
                if not message[0].split(b" ")[1].startswith(b"1"):
                    return message


class Gateway:
    """Seems to be the origin: what it is asked in origin form it asks larder in absolute form."""

    def __init__(self, larder, origin):
        self.larder, self.origin = larder, origin
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            upstream = socket.create_connection(("127.0.0.1", self.larder.port))
            threading.Thread(target=self.pass_requests, args=(client, upstream), daemon=True).start()
            threading.Thread(target=self.pass_responses, args=(client, upstream), daemon=True).start()

    def pass_requests(self, client, upstream):
        is_start_line = True
        for line in client.makefile("rb"):
            if is_start_line:
                line = line.replace(b" /", f" http://127.0.0.1:{self.origin.port}/".encode(), 1)
            is_start_line = line == b"\r\n"
            upstream.sendall(line)
        upstream.shutdown(socket.SHUT_WR)

    def pass_responses(self, client, upstream):
        while octets := upstream.recv(65536):
            client.sendall(octets)
        client.close()
