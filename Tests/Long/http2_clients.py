"""Clients that speak HTTP/2: see http2-clients.sh. LARDER is the binary, WORK a folder for all that is written.

Arguments choose clients by the beginning of their names.
"""

import importlib.util
import json
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import http2_programs as programs
from http2_origins import HTTP1Origin, HTTP2Origin, NginxOrigin, content
from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.clients import open_tunnel
from Tools.larder import LARDER, WORK, Interceptor
from Tools.processes import end, output, start, wait_until, without_proxies

HOST, HERE, TOGETHER = "origin.test", Path(__file__).parent, 40
CLEAN = {**without_proxies("LARDER_"), "HOME": f"{WORK}/home", "XDG_CACHE_HOME": f"{WORK}/cache", "TMPDIR": f"{WORK}/tmp"}
SETTINGS = f"""
    listen: ["127.0.0.1:0", {{address: "127.0.0.1:0", tls: authority}}]
    resolve: {{{HOST}: 127.0.0.1}}
    tunnel: {{ports: any}}
    tls: {{hosts: {{{HOST}: {{anchors: {{bundle: origins.pem}}, connect: intercept}}}}}}
    rules:
      - name: no
        match: {{path: ["/denied/**", "/a.B/Denied"]}}
        deny: {{}}
    """


class Proxy(Interceptor):
    """With a plain listener, and one with TLS."""

    access_log = WORK / "access.log"

    def __init__(self, authority):
        self.config = WORK / "larder.yaml"
        self.config.write_text(textwrap.dedent(SETTINGS))
        super().__init__(":memory:", authority, f"log.access.path={self.access_log}", config=self.config)

    def start(self):
        """With the listeners of the settings, whose ports the file has."""
        file = WORK / "ports"
        self.process = start([*self.arguments, "--port-file", file])
        self.port, self.secure_port = wait_until(lambda: file.exists() and file.read_text().split(), "larder starts", self.process)

    @property
    def secure_url(self):
        return f"https://127.0.0.1:{self.secure_port}"

    def records(self, url, count=1):
        """The access log's lines for a URL, once there are so many: Larder writes them a little later."""
        def found():
            lines = self.access_log.read_text().split("\n")[:-1]
            records = [record for record in map(json.loads, lines) if record["url"].endswith(url)]
            return len(records) >= count and records
        return wait_until(found, f"{url} is in the log")


def relay_into_tunnel(proxy, authority):
    """The port of a relay for clients that cannot send CONNECT: each of its connections is a tunnel."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)

    def pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            """Either side may leave first."""

    def accept():
        while True:
            client, _ = listener.accept()
            tunnel = open_tunnel(proxy.port, authority)
            for pair in ((client, tunnel), (tunnel, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


# MARK: Clients: each returns status and version by the number of the step, and writes the content to files with these numbers

def by_lines(said):
    found = (line.split() for line in said.decode().splitlines())
    return {int(number): (int(status), version) for number, status, version in found}


def program(*command):
    """A program of http2_programs.py."""
    def ask(proxy_url, root, folder, way, steps):
        return by_lines(output([*command, proxy_url, root, folder, way, *(word for step in steps for word in step)], env=CLEAN, cwd=WORK))
    return ask


def curl(*options, proxy=lambda proxy_url, authority: ["-x", proxy_url]):
    def ask(proxy_url, root, folder, way, steps):
        words = ["curl", "-sS", *(["-Z"] if way == "together" else [])]
        for number, (method, url, file) in enumerate(steps):
            words += ["--next"] if number else []
            words += [*options, *proxy(proxy_url, url.split("/")[2]), "--cacert", root, "--max-time", "60",
                      "-w", f"{number} %{{response_code}} HTTP/%{{http_version}}\n",
                      "-o", f"{folder}/{number}", *(["--data-binary", f"@{file}"] if file != "-" else []), url]
        return by_lines(output(words, env=CLEAN, cwd=WORK))
    return ask


def one_by_one(ask):
    """Each step by a program of its own."""
    def ask_each(proxy_url, root, folder, way, steps):
        found = {}
        for number, step in enumerate(steps):
            found[number] = ask(proxy_url, root, folder, way, [step])[0]
            (folder / "0").rename(folder / f"step-{number}")
        for number in found:
            (folder / f"step-{number}").rename(folder / str(number))
        return found
    return ask_each


def instead_of_host(proxy_url, authority):
    """Larder's listener in the place of the origin."""
    return ["--connect-to", f"{authority}:{proxy_url.rpartition('/')[2]}"]


def nghttp(through_tunnel):
    """It knows no proxies: it speaks to Larder's listener, or into a tunnel."""
    def ask(proxy_url, root, folder, way, steps):
        found = {}
        authority = steps[0][1].split("/")[2]
        to = f"https://127.0.0.1:{relay_into_tunnel(ask.proxy, authority)}" if through_tunnel else proxy_url
        for number, (_, url, file) in enumerate(steps):
            path = "/" + url.split("/", 3)[3]
            said = output(["nghttp", "-s", "-y", *(["-d", file] if file != "-" else []), "-H", f":authority: {authority}", f"{to}{path}"],
                          env=CLEAN, cwd=WORK)
            body, _, statistics = said.partition(b"***** Statistics *****")
            Path(folder, str(number)).write_bytes(body)
            code = re.search(rf" (\d{{3}}) +\S+ {re.escape(path)}\n", statistics.decode())
            found[number] = (int(code[1]) if code else 0, "HTTP/2")
        return found
    return ask


# MARK: What each client does

class Bench:
    def __init__(self):
        for name in ("home", "tmp", "cache"):
            (WORK / name).mkdir()
        self.authority = Authority(WORK)
        self.files = self.authority.certify(HOST, "127.0.0.1", name=HOST)
        self.proxy = Proxy(self.authority)
        (WORK / "upload").write_bytes(content("/pass/700000/upload"))

    def try_client(self, name, ask, origin, scheme="https", secure_listener=False, upstream=None, together=True):
        """Stored and not, denied, an upload, and many at once."""
        base, mark = f"{scheme}://{HOST}:{origin.port}", re.sub(r"\W+", "-", name)
        label = f"{name}, origin with HTTP/{origin.upstream_version}"
        proxy_url = self.proxy.secure_url if secure_listener else self.proxy.url
        keep, denied, echo = f"/keep/300000/{mark}", f"/denied/{mark}", f"/echo/{mark}"
        steps = [("GET", base + keep, "-"), ("GET", base + keep, "-"), ("GET", base + denied, "-"), ("POST", base + echo, WORK / "upload")]
        wanted = [content(keep), content(keep), None, content("/pass/700000/upload")]
        ask.proxy = self.proxy
        problems = []
        try:
            self.check_answers(ask, proxy_url, "each", steps, wanted, [200, 200, 403, 200], problems)
            if origin.asked[keep] != 1:
                problems.append(f"the origin was asked {origin.asked[keep]} times for what is stored")
            if origin.asked[denied]:
                problems.append("the origin was asked for what is denied")
            stored = [record["cache"] for record in self.proxy.records(base + keep, 2)]
            # A request that arrives before the end of the first has been noted shares its response.
            if stored not in (["miss", "hit"], ["miss", "collapsed"]):
                problems.append(f"the log says {stored} of what is stored")
            if (version := self.proxy.records(base + echo)[0].get("upstream_version", "1.1")) != (upstream or origin.upstream_version):
                problems.append(f"the origin was asked by HTTP/{version}")
            if together:
                paths = [f"/pass/{number * 3001 % 90000}/{mark}-{number}" for number in range(TOGETHER)]
                self.check_answers(ask, proxy_url, "together", [("GET", base + path, "-") for path in paths], list(map(content, paths)),
                                   [200] * TOGETHER, problems)
        except Exception as error:
            problems.append(f"{type(error).__name__}: {str(error)[-600:]}")
        check(not problems, label + "".join(f"; {problem}" for problem in problems))

    def check_answers(self, ask, proxy_url, way, steps, wanted, statuses, problems):
        folder = WORK / "answers"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        found = ask(proxy_url, self.proxy.root, folder, way, steps)
        for number, (status, body) in enumerate(zip(statuses, wanted)):
            path = steps[number][1].split("/", 3)[3]
            if found.get(number) not in ((status, "HTTP/2"), (status, "HTTP/2.0")):
                problems.append(f"{path}: {found.get(number)} instead of {status} by HTTP/2")
            elif body is not None and (got := (folder / str(number)).read_bytes() if body else b"") != body:
                problems.append(f"{path}: {len(got)} bytes, {'other ones' if len(got) == len(body) else f'not {len(body)}'}")

    # MARK: h2load

    def try_h2load(self, origin, scheme):
        """500 requests on five connections, twenty at once on each."""
        authority, mark = f"{HOST}:{origin.port}", f"h2load-{scheme}-{origin.upstream_version}"
        port = relay_into_tunnel(self.proxy, authority) if scheme == "https" else self.proxy.port
        keep, denied, problems = f"/keep/5000/{mark}", f"/denied/{mark}", []
        for path, wanted in ((keep, "500 2xx, 0 3xx, 0 4xx, 0 5xx"), (denied, "0 2xx, 0 3xx, 500 4xx, 0 5xx")):
            command = ["h2load", "-n", "500", "-c", "5", "-m", "20", f"--connect-to=127.0.0.1:{port}", f"{scheme}://{authority}{path}"]
            said = output(command, env=CLEAN).decode()
            if f"status codes: {wanted}" not in said:
                problems.append(f"{path}: {said[-700:]}")
            if path == keep and "(2500000) data" not in said:
                problems.append(f"other than 2500000 bytes: {said[-400:]}")
        if (origin.asked[keep], origin.asked[denied]) != (1, 0):
            problems.append(f"the origin was asked {origin.asked[keep]} and {origin.asked[denied]} times")
        check(not problems, f"h2load, {scheme}, origin with HTTP/{origin.upstream_version}" + "".join(f"; {problem}" for problem in problems))

    # MARK: Many at once

    def try_many(self, what, ask, base, steps, wanted):
        problems = []
        try:
            self.check_answers(ask, self.proxy.url, "together", [(method, f"{base}{path}", file) for method, path, file in steps], wanted,
                               [200] * len(steps), problems)
        except Exception as error:
            problems.append(str(error)[-600:])
        check(not problems, what + "".join(f"; {problem}" for problem in problems[:5]) + (f"; {len(problems)} in all" if problems else ""))

    def try_uploads(self, ask, origin):
        """More at once than Larder opens connections to an origin."""
        steps = [("POST", f"/echo/one-of-many-{number}", WORK / "upload") for number in range(90)]
        self.try_many(f"90 uploads at once, origin with HTTP/{origin.upstream_version}", ask, f"https://{HOST}:{origin.port}", steps,
                      [content("/pass/700000/upload")] * 90)

    def try_nginx(self, name, ask, directives):
        origin = NginxOrigin(WORK / re.sub(r"\W+", "-", name), self.files, directives)
        paths = [f"/pass/{origin.sizes[number % len(origin.sizes)]}" for number in range(80)]
        self.try_many(f"nginx with {name}", ask, f"https://{HOST}:{origin.port}", [("GET", path, "-") for path in paths], list(map(content, paths)))
        origin.stop()

    # MARK: gRPC

    def start_grpc(self, name, secure):
        """The server, its port and the log of its calls."""
        port_file, log = WORK / f"{name}.port", WORK / f"{name}.log"
        server = start([sys.executable, "-B", HERE / "grpc_server.py", port_file, *(self.files if secure else [])], env=CLEAN, stdout=log.open("wb"),
                       stderr=(WORK / f"{name}.errors").open("wb"))
        return server, wait_until(lambda: port_file.exists() and port_file.read_text().strip(), "the gRPC server starts", server), log

    def try_grpc_go(self, client, secure):
        server, port, _ = self.start_grpc(f"grpc-go-{secure}", secure)
        done = subprocess.run([client, f"{HOST}:{port}", *([self.proxy.root] if secure else [])], env={**CLEAN, "https_proxy": self.proxy.url},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        check(done.stdout == b"20000000\n", f"grpc-go, {'intercepted' if secure else 'in clear in CONNECT'}: {done.stdout[-300:].decode().strip()}")
        versions = {record.get("upstream_version") for record in self.proxy.records(f"{HOST}:{port}/a.B/Reverse")}
        check(versions == {"2.0"}, "grpc-go: Larder sees the calls")
        end(server)

    def try_recorded_grpc(self, secure):
        """`larder record`, and `larder replay` without the server."""
        way, name = "intercepted" if secure else "in clear in CONNECT", f"grpc-recorded-{secure}"
        server, port, _ = self.start_grpc(name, secure)
        command = ["--", sys.executable, "-c", programs.GRPC_RECORDED, f"{HOST}:{port}", secure]
        config, recording = ["-c", self.proxy.config, "--strict"], WORK / f"{name}.larder"
        recorded = output([LARDER, "record", *config, "-o", recording, *command], env=CLEAN)
        end(server)
        check(output([LARDER, "replay", *config, recording, *command], env=CLEAN) == recorded, f"grpcio, {way}: calls are recorded and replayed")

    def try_grpc(self, secure):
        """Each line of grpc_client.py; and what the server says of the calls."""
        way = "intercepted" if secure else "in clear in CONNECT"
        server, port, log = self.start_grpc(f"grpc-{secure}", secure)
        command = [sys.executable, "-B", HERE / "grpc_client.py", f"{HOST}:{port}", *([self.proxy.root] if secure else [])]
        done = subprocess.run([str(word) for word in command], env={**CLEAN, "grpc_proxy": self.proxy.url}, stdout=subprocess.PIPE, timeout=600)
        for line in done.stdout.decode().splitlines():
            result, _, what = line.partition(" ")
            check(result == "ok", f"grpcio, {way}: {what}")
        check(done.returncode == 0, f"grpcio, {way}: the client comes to its end")
        # The server has ended itself at the last call.
        wait_until(lambda: server.poll() is not None, "the gRPC server ends itself")
        said = log.read_text().splitlines()
        for name in ("deadline-later", "cancel", "cancel-sending"):
            check(f"cancelled {name}" in said, f"grpcio, {way}: the server sees the end of {name}")
        check("called /a.B/Denied" not in said, f"grpcio, {way}: the server sees nothing of a denied call")
        versions = {record.get("upstream_version") for record in self.proxy.records(f"{HOST}:{port}/a.B/Reverse")}
        check(versions == {"2.0"}, f"grpcio, {way}: Larder sees the calls")

    # MARK: Chromium

    def try_chromium(self, origin, scheme, secure_listener):
        home = Path(CLEAN["HOME"])
        if not (home / ".pki").exists():
            (home / ".pki/nssdb").mkdir(parents=True)
            output(["certutil", "-N", "-d", f"sql:{home}/.pki/nssdb", "--empty-password"], env=CLEAN)
            output(["certutil", "-A", "-d", f"sql:{home}/.pki/nssdb", "-t", "C,,", "-n", "larder", "-i", self.proxy.root], env=CLEAN)
        mark = f"chromium-{scheme}-{origin.upstream_version}-{secure_listener}"
        problems = []
        for attempt in (1, 2):
            proxy_url = self.proxy.secure_url if secure_listener else self.proxy.url
            page = output(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={WORK}/{mark}-{attempt}", "--dump-dom",
                           "--virtual-time-budget=60000", f"--proxy-server={proxy_url}", f"{scheme}://{HOST}:{origin.port}/page/{mark}"],
                          env=CLEAN, cwd=WORK, timeout=180).decode()
            for wanted in ("20 of 20 came by h2", "denied with 403"):
                if wanted not in page:
                    problems.append(f"{wanted!r} is not in the page: {page[-300:]}")
        asked = {path: count for path, count in origin.asked.items() if mark in path}
        if len(asked) != 21 or set(asked.values()) != {1}:
            problems.append(f"the origin was asked {asked}")
        if any(path.startswith("/denied/") for path in origin.asked):
            problems.append("the origin was asked for what is denied")
        where = "listener with TLS" if secure_listener else "plain listener"
        check(not problems, f"chromium, {scheme}, {where}, origin with HTTP/{origin.upstream_version}" + "".join(f"; {one}" for one in problems))


def compiled(name, source, *command):
    """The folder of a program that the command has compiled."""
    folder = WORK / name.split(".")[0].lower()
    folder.mkdir()
    (folder / name).write_text(source)
    if command:
        output(command, cwd=folder, env={**CLEAN, "GOCACHE": f"{WORK}/cache", "GO111MODULE": "off", "GOPATH": "/usr/share/gocode",
                                             "GOFLAGS": ""}, timeout=600)
    return folder


def is_there(need):
    if need.startswith("/"):
        return Path(need).exists()
    return bool(importlib.util.find_spec(need[7:]) if need.startswith("python:") else shutil.which(need))


def main():
    chosen, left_out = sys.argv[1:], []

    def wants(name, *needs):
        if chosen and not any(name.startswith(word) for word in chosen):
            return False
        if lacking := [need for need in needs if not is_there(need)]:
            left_out.append(f"{name} ({', '.join(lacking)})")
        return not lacking

    bench = Bench()
    origins = [HTTP2Origin(bench.files), HTTP1Origin(bench.files)]
    in_clear, plain = HTTP2Origin(), HTTP1Origin()
    python = sys.executable

    if wants("grpcio", "python:grpc"):
        for secure in (True, False):
            bench.try_grpc(secure)
            bench.try_recorded_grpc(secure)
    if wants("grpc-go", "python:grpc", "go", "/usr/share/gocode/src/google.golang.org/grpc"):
        client = compiled("grpc-client.go", programs.GRPC_GO, "go", "build", "-o", "call", "grpc-client.go") / "call"
        for secure in (True, False):
            bench.try_grpc_go(client, secure)
    if wants("curl", "curl"):
        for origin in origins:
            bench.try_client("curl", curl("--http2"), origin)
        # curl 7.88 fails when it uses such a connection again, without Larder too.
        bench.try_client("curl, h2c in CONNECT", one_by_one(curl("--http2-prior-knowledge", "-p")), in_clear, "http", together=False)
        bench.try_client("curl, prior knowledge", one_by_one(curl("--http2-prior-knowledge", proxy=instead_of_host)), plain, "http", together=False)
    if wants("pycurl", "python:pycurl"):
        asks = program(python, compiled("pycurl-client.py", programs.PYCURL) / "pycurl-client.py")
        for origin in origins:
            bench.try_client("pycurl", asks, origin)
            bench.try_client("pycurl, CONNECT in HTTP/2", asks, origin, secure_listener=True)
        bench.try_client("pycurl, listener with TLS, http", asks, plain, "http", secure_listener=True)
    if wants("httpx", "python:httpx", "python:h2"):
        asks = program(python, compiled("httpx-client.py", programs.HTTPX) / "httpx-client.py")
        for origin in origins:
            bench.try_client("httpx", asks, origin)
    if wants("node", "node"):
        asks = program("node", compiled("node-client.js", programs.NODE) / "node-client.js")
        for origin in origins:
            bench.try_client("node's http2", asks, origin)
    if wants("go", "go"):
        asks = program(compiled("go-client.go", programs.GO, "go", "build", "-o", "ask", "go-client.go") / "ask")
        for origin in origins:
            bench.try_client("go's net/http", asks, origin)
            bench.try_uploads(asks, origin)
        if wants("go and nginx", "nginx"):
            bench.try_nginx("one stream at once", asks, "http2_max_concurrent_streams 1;")
            bench.try_nginx("few requests a connection", asks, "keepalive_requests 5;")
    if wants("java", "java", "javac"):
        folder = compiled("Ask.java", programs.JAVA, "javac", "Ask.java")
        for origin in origins:
            bench.try_client("java's HttpClient", program("java", "-cp", folder, "Ask"), origin)
    if wants("nghttp", "nghttp"):
        for origin in origins:
            bench.try_client("nghttp", nghttp(True), origin, together=False)
        bench.try_client("nghttp, prior knowledge", nghttp(False), plain, "http", together=False)
    if wants("h2load", "h2load"):
        for origin in origins:
            bench.try_h2load(origin, "https")
        bench.try_h2load(plain, "http")
    if wants("chromium", "chromium", "certutil"):
        for origin in origins:
            bench.try_chromium(origin, "https", False)
            bench.try_chromium(origin, "https", True)
        bench.try_chromium(plain, "http", True)
    if left_out:
        print(f"left out: {'; '.join(left_out)}")
    check(bench.proxy.stop() == 0, "Larder ends with 0")
    finish()


if __name__ == "__main__":
    main()
