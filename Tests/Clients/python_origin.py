"""http.server over a folder, plain and with TLS: python_origin.py ROOT CERTIFICATE KEY HTTP_PORT HTTPS_PORT LOG"""

import functools
import http.server
import sys
import threading

from Tools.origins import server_context

root, certificate, key, plain_port, tls_port, log_path = sys.argv[1:]
log = open(log_path, "a", buffering=1)


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *values):
        log.write(f"{format % values}\n")


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client):
        """A client that leaves is nothing to print: aria2 does, when it is given the whole in place of a range."""
        log.write(f"{client}: {sys.exc_info()[1]}\n")


def server(port):
    return Server(("127.0.0.1", int(port)), functools.partial(Handler, directory=root))


plain, secure = server(plain_port), server(tls_port)
secure.socket = server_context(certificate, key).wrap_socket(secure.socket, server_side=True)
threading.Thread(target=plain.serve_forever, daemon=True).start()
secure.serve_forever()
