"""Origins: nginx with a configuration of the test's own, and HTTP servers of Python, plain and with TLS."""

import http.server
import ssl
import threading

from Tools.processes import end, free_port, start, wait_for_port


class Nginx:
    """nginx with these lines in its `http` block, and its files in a folder."""

    def __init__(self, folder, ports, http, user="root", connections=16_384):
        folder.chmod(0o755)
        temporary = " ".join(f"{kind}_temp_path {folder}/temp-{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(f"""
            daemon off; user {user}; worker_processes 1; worker_rlimit_nofile 30000; pid {folder}/nginx.pid; error_log {folder}/nginx.err;
            events {{ worker_connections {connections}; }}
            http {{ {temporary} {http} }}""")
        self.process = start(["nginx", "-c", folder / "nginx.conf", "-e", folder / "nginx.err"])
        for port in ports:
            wait_for_port(port, self.process)

    def stop(self):
        end(self.process)


class FilesOrigin(Nginx):
    """nginx over a folder, each file fresh for an hour under /keep/ and not to be stored under /pass/."""

    def __init__(self, folder, locations=""):
        self.root, self.port, self.log = folder / "root", free_port(), folder / "origin.log"
        self.root.mkdir()
        super().__init__(folder, [self.port], f"""
            access_log {self.log} combined; sendfile on; keepalive_requests 1000000;
            server {{ listen 127.0.0.1:{self.port} backlog=4096;
              location /keep/ {{ alias {self.root}/; add_header Cache-Control max-age=3600; }}
              location /pass/ {{ alias {self.root}/; add_header Cache-Control no-store; }}
              {locations.replace("ROOT", str(self.root))} }}""")

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def asked(self, path):
        return count_in_log(self.log, path)


def count_in_log(log, path):
    """How often the path was requested, by a log in the common or the combined format."""
    return sum(f" {path} " in line for line in log.read_text().splitlines()) if log.exists() else 0


def server_context(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


class QuietHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *values):
        pass

    def reply(self, body, status=200, **fields):
        """A whole response. `_` in the name of a field stands for `-`."""
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class PythonOrigin(http.server.ThreadingHTTPServer):
    """Serves in threads from the start; with the paths of a certificate and a key it speaks TLS."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler, files=None, address="127.0.0.1", port=0):
        super().__init__((address, port), handler)
        if files:
            self.socket = server_context(*files).wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client):
        """Clients that leave in the middle are part of the tests."""

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self):
        self.shutdown()
        self.server_close()


class SecureOrigin(PythonOrigin):
    """Answers every GET with the same bytes over TLS, fresh for an hour, and counts the requests."""

    def __init__(self, files, content=b"hello\n", address="127.0.0.1", port=0):
        self.asked = 0

        class Handler(QuietHandler):
            def do_GET(self):
                self.server.asked += 1
                self.reply(content, Cache_Control="max-age=3600")

        super().__init__(Handler, files, address, port)
