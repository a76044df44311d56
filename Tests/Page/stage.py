"""An origin, a Larder with a page, and a browser that has opened the page."""

import http.server
import json
import subprocess
import threading
import urllib.error
import urllib.request

from Tools.larder import Larder


class Origin(http.server.ThreadingHTTPServer):
    """Answers every GET. The path says how: /kept is cacheable, /private is not. The query `field` comes back in a field."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One packet for a response: without a buffer, each waits for an acknowledgement.
    wbufsize = -1

    def do_GET(self):
        body = PAGE if self.path.startswith("/attack") else b"hello\n"
        self.send_response(200)
        self.send_header("Cache-Control", "no-store" if self.path.startswith(("/private", "/attack")) else "max-age=3600")
        self.send_header("Content-Type", "text/html" if body is PAGE else "text/plain")
        if self.headers.get("X-Echo"):
            self.send_header("X-Echoed", self.headers["X-Echo"])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# A page of another site. It is not the page's origin, although it has the same address: the port differs.
PAGE = b"<!doctype html><title>Another site</title><p>Another site"

#: Names that Larder resolves to this machine.
HOSTS = ["packages.example", "api.example", "ads.example", "cdn.example"]


class Stage:
    def __init__(self, larder, folder, browser):
        self.binary, self.folder, self.browser = larder, folder, browser
        self.origin = Origin()
        self.config = folder / "larder.yaml"
        self.socket = folder / "admin.sock"
        self.base_rules = ["- {name: no ads, match: {scheme: http, host: ads.example}, deny: {}}"] + [
            f"- {{name: {json.dumps(name)}, match: {{scheme: http, path: /named{index}}}, deny: {{}}}}"
            for index, name in enumerate(["<img src=x onerror=alert(1)>", "'><script>alert(1)</script>", "{{7*7}} javascript:alert(1)"])
        ] + [f"- {{name: our hosts, match: {{scheme: http, host: [packages.example, api.example, cdn.example, 127.0.0.1]}}, allow: {{}}}}",
             "- {name: a person decides, match: {scheme: http, host: ask.example}, ask: {timeout: 10m}}"]
        self.write_rules([])
        self.larder = Larder(":memory:", f"admin.socket={self.socket}", "log.access.query=true", f"log.access.path={folder}/access.log", binary=str(larder), config=str(self.config))
        self.contexts = {}

    def write_rules(self, more):
        rules = "".join(f"  {line}\n" for line in more + self.base_rules)
        names = ", ".join(f"{host}: [127.0.0.1]" for host in [*HOSTS, "unlisted.example", "ask.example"])
        self.config.write_text(
            f"loops: 2\nresolve: {{{names}}}\negress: {{default: deny, addresses: {{private: allow}}}}\nrules:\n{rules}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.larder.stop()
        self.origin.shutdown()

    def url(self, host, path):
        return f"http://{host}:{self.origin.port}{path}"

    def fetch(self, url, **fields):
        """A request through Larder: its status."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": self.larder.url}))
        request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in fields.items()})
        try:
            with opener.open(request, timeout=30) as response:
                response.read()
                return response.status
        except urllib.error.HTTPError as error:
            error.read()
            return error.code

    def link(self):
        return subprocess.run([self.binary, "ui", "--no-open", "--socket", self.socket], check=True, capture_output=True, text=True).stdout.strip()

    def open(self, **options):
        """A page of a new browser session, which notes everything that must not happen."""
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        page = context.new_page()
        seen = self.contexts[page] = []
        page.set_default_timeout(60_000)
        page.on("dialog", lambda dialog: (seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("console", lambda message: seen.append(f"console: {message.text}") if message.type in ("error", "warning") else None)
        page.add_init_script("addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective));")
        page.goto(self.link())
        page.get_by_role("heading", name="Larder", exact=True).wait_for()
        page.get_by_text(", mode live, ").wait_for()
        return page

    def faults(self, page):
        return self.contexts[page]

    @staticmethod
    def address(page):
        """http://127.0.0.1:PORT"""
        return page.evaluate("location.origin")
