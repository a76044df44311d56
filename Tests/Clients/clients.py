#!/usr/bin/env python3
"""Real clients against real servers, through Larder: each fetches plain http twice (the second time from the store) and https
through CONNECT, and what it gets is compared with what lies on the origin's disk.

    clients.py --larder BINARY [--only NAME,NAME] [--require NAME,NAME]

A client that is not installed is skipped and said so; with --require its absence is a failure. Needs nginx and openssl.
Everything is on loopback: names such as origin.test are mapped by Larder's `resolve` setting, since many clients go past a
proxy for localhost.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import zipfile
from pathlib import Path

HOST = "origin.test"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(command, env=None, cwd=None, timeout=120):
    merged = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    merged.update(env or {})
    done = subprocess.run(command, env=merged, cwd=cwd, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failure(f"{command[0]} ended with {done.returncode}: {done.stdout.decode(errors='replace')[-1500:]}")
    return done.stdout


class Failure(Exception):
    pass


class Origin:
    """nginx, plain and TLS, over a folder; its access log says what was asked."""

    def __init__(self, work):
        self.root = work / "root"
        self.root.mkdir()
        self.log = work / "origin.log"
        self.http, self.https = free_port(), free_port()
        self.ca = work / "origin.pem"
        run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
             "-addext", f"subjectAltName=DNS:{HOST}", "-addext", "basicConstraints=critical,CA:TRUE",
             "-keyout", str(work / "origin.key"), "-out", str(self.ca)])
        (work / "nginx.conf").write_text(textwrap.dedent(f"""
            daemon off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/nginx.err;
            events {{ worker_connections 512; }}
            http {{
              types {{ text/html html; application/octet-stream bin; }} default_type application/octet-stream;
              access_log {self.log} combined; client_body_temp_path {work}/b; proxy_temp_path {work}/p;
              fastcgi_temp_path {work}/f; uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
              server {{ listen 127.0.0.1:{self.http}; listen 127.0.0.1:{self.https} ssl; server_name {HOST};
                ssl_certificate {self.ca}; ssl_certificate_key {work}/origin.key; root {self.root}; autoindex on;
                add_header Cache-Control "max-age=3600"; }}
            }}"""))
        (work / "root").chmod(0o755)
        work.chmod(0o755)
        self.process = subprocess.Popen(["nginx", "-c", str(work / "nginx.conf"), "-e", str(work / "nginx.err"), "-g", "user root;"])
        wait_for_port(self.http)

    def asked(self, path):
        return sum(f" {path} " in line for line in self.log.read_text().splitlines()) if self.log.exists() else 0

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(10)


class Larder:
    def __init__(self, binary, work, origin):
        self.port_file = work / "port"
        self.process = subprocess.Popen(
            [binary, "serve", "--quiet", "--listen", "127.0.0.1:0", "--store", str(work / "store" / "store.sqlite"), "--port-file",
             str(self.port_file), "--set", f"resolve={{{HOST}: 127.0.0.1}}", "--set", f"tunnel.ports=[{origin.https}, {origin.http}]",
             "--set", f"log.access.path={work}/access.log"])
        deadline = time.time() + 30
        while not self.port_file.exists():
            if time.time() > deadline or self.process.poll() is not None:
                raise Failure("larder did not start")
            time.sleep(0.05)
        self.port = int(self.port_file.read_text().split()[0])
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.terminate()
        self.process.wait(40)


def wait_for_port(port):
    deadline = time.time() + 15
    while time.time() < deadline:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise Failure(f"nothing listens on {port}")


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Bench:
    """What each client is given: the origin, the proxy, and a folder of its own."""

    def __init__(self, origin, larder, work):
        self.origin, self.larder, self.work = origin, larder, work
        self.count = 0

    def file(self, size):
        self.count += 1
        name = f"f{self.count}.bin"
        data = os.urandom(size)
        (self.origin.root / name).write_bytes(data)
        return "/" + name, data

    def http(self, path):
        return f"http://{HOST}:{self.origin.http}{path}"

    def https(self, path):
        return f"https://{HOST}:{self.origin.https}{path}"

    def folder(self):
        return Path(tempfile.mkdtemp(dir=self.work))

    def env(self):
        u = self.larder.url
        return {"http_proxy": u, "https_proxy": u, "HTTP_PROXY": u, "HTTPS_PROXY": u, "all_proxy": u, "no_proxy": "", "NO_PROXY": "",
                "SSL_CERT_FILE": str(self.origin.ca), "REQUESTS_CA_BUNDLE": str(self.origin.ca), "HOME": str(self.work)}

    def check_fetcher(self, fetch, size=300_000):
        """`fetch(url)` gives bytes: twice over http, the origin asked once; then over https through CONNECT."""
        path, data = self.file(size)
        for turn in ("first", "second"):
            got = fetch(self.http(path))
            if got != data:
                raise Failure(f"http, {turn} time: {len(got)} bytes with digest {digest(got)[:12]}, not {len(data)} with {digest(data)[:12]}")
        if self.origin.asked(path) != 1:
            raise Failure(f"the origin was asked {self.origin.asked(path)} times for {path}")
        path, data = self.file(size)
        if fetch(self.https(path)) != data:
            raise Failure("https through CONNECT: other bytes than the origin's")


CLIENTS = {}


def client(needs, name=None):
    def add(function):
        CLIENTS[name or function.__name__] = (needs, function)
        return function
    return add


@client(["curl"])
def curl(b):
    b.check_fetcher(lambda url: run(["curl", "-fsS", "--cacert", str(b.origin.ca), url], b.env()))


@client(["wget"])
def wget(b):
    def fetch(url):
        out = b.folder() / "out"
        run(["wget", "-q", f"--ca-certificate={b.origin.ca}", "-O", str(out), url], b.env())
        return out.read_bytes()
    b.check_fetcher(fetch)


@client(["aria2c"])
def aria2(b):
    """Parallel ranges of one file."""
    def fetch(url):
        folder = b.folder()
        run(["aria2c", "-q", "-x4", "-s4", "-k1M", "--file-allocation=none", f"--ca-certificate={b.origin.ca}",
             f"--all-proxy={b.larder.url}", "-d", str(folder), "-o", "out", url], b.env())
        return (folder / "out").read_bytes()
    for make in (b.http, b.https):
        path, data = b.file(8 << 20)
        for _ in range(2):
            if fetch(make(path)) != data:
                raise Failure("other bytes than the origin's")


@client(["git"])
def git(b):
    folder = b.folder()
    source = folder / "source"
    source.mkdir()
    ident = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    run(["git", "init", "-q", str(source)])
    for number in range(20):
        (source / f"file{number}").write_bytes(os.urandom(5000))
        run(["git", "-C", str(source), "add", "."])
        run(["git", "-C", str(source), "commit", "-q", "-m", f"change {number}"], ident)
    run(["git", "clone", "-q", "--bare", str(source), str(b.origin.root / "repo.git")])
    run(["git", "-C", str(b.origin.root / "repo.git"), "update-server-info"])
    want = run(["git", "-C", str(source), "rev-parse", "HEAD"])
    for number, url in enumerate([b.http("/repo.git"), b.http("/repo.git"), b.https("/repo.git")]):
        target = folder / f"clone{number}"
        run(["git", "clone", "-q", url, str(target)], {**b.env(), "GIT_SSL_CAINFO": str(b.origin.ca)})
        if run(["git", "-C", str(target), "rev-parse", "HEAD"]) != want:
            raise Failure("the clone has another head")
        run(["git", "-C", str(target), "fsck", "--strict"])


@client(["pip"])
def pip(b):
    simple = b.origin.root / "simple" / "larderprobe"
    simple.mkdir(parents=True)
    wheel = "larderprobe-1.0-py3-none-any.whl"
    info = "larderprobe-1.0.dist-info"
    with zipfile.ZipFile(simple / wheel, "w") as z:
        z.writestr("larderprobe.py", "answer = 42\n")
        z.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: larderprobe\nVersion: 1.0\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", f"larderprobe.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    (simple / "index.html").write_text(f'<!doctype html><a href="{wheel}">{wheel}</a>')
    for url in (b.http("/simple/"), b.http("/simple/"), b.https("/simple/")):
        target = b.folder()
        env = {**b.env(), "PIP_CONFIG_FILE": "/dev/null", "PIP_CERT": str(b.origin.ca), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        run([sys.executable, "-m", "pip", "install", "-q", "--no-cache-dir", "--root-user-action=ignore", "--trusted-host", HOST,
             "--index-url", url, "--target", str(target), "larderprobe"], env)
        if (target / "larderprobe.py").read_text() != "answer = 42\n":
            raise Failure("the module is not what was published")
    if b.origin.asked(f"/simple/larderprobe/{wheel}") != 2:
        raise Failure("the wheel should have been asked for once by http and once through the tunnel")


@client(["apt-get", "apt-ftparchive", "dpkg-deb"], "apt")
def apt(b):
    repository = b.origin.root / "debian"
    package = b.folder() / "larder-probe"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "usr/share/larder-probe").mkdir(parents=True)
    (package / "usr/share/larder-probe/answer").write_text("42\n")
    (package / "DEBIAN/control").write_text("Package: larder-probe\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: probe\n")
    repository.mkdir()
    run(["dpkg-deb", "-b", str(package), str(repository / "larder-probe_1.0_all.deb")])
    (repository / "Packages").write_bytes(run(["apt-ftparchive", "packages", "."], cwd=repository))
    release = run(["apt-ftparchive", "release", "."], cwd=repository)
    (repository / "Release").write_bytes(release)
    for url in (b.http("/debian"), b.http("/debian"), b.https("/debian")):
        root = b.folder()
        root.chmod(0o755)
        for name in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "lists/partial", "cache/archives/partial", "state", "admin/updates", "admin/info", "target"):
            (root / name).mkdir(parents=True)
        for name in ("admin/status", "admin/available"):
            (root / name).touch()
        (root / "sources.list").write_text(f"deb [trusted=yes] {url} ./\n")
        options = ["-q", "-o", f"Dir::Etc={root}/etc/apt", "-o", f"Dir::Etc::SourceList={root}/sources.list", "-o", "Dir::Etc::SourceParts=-",
                   "-o", f"Dir::State={root}/state", "-o", f"Dir::State::Lists={root}/lists", "-o", f"Dir::State::status={root}/admin/status",
                   "-o", f"Dir::Cache={root}/cache", "-o", f"Acquire::http::Proxy={b.larder.url}", "-o", f"Acquire::https::Proxy={b.larder.url}",
                   "-o", f"Acquire::https::CaInfo={b.origin.ca}", "-o", "APT::Sandbox::User=root", "-o", "APT::Architecture=amd64",
                   "-o", f"DPkg::Options::=--admindir={root}/admin", "-o", f"DPkg::Options::=--instdir={root}/target",
                   "-o", "DPkg::Options::=--force-not-root", "-o", "DPkg::Options::=--force-bad-path", "-o", f"DPkg::Options::=--log={root}/dpkg.log"]
        env = {**b.env(), "APT_CONFIG": "/dev/null", "DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", *options, "update"], env)
        run(["apt-get", *options, "install", "-y", "--no-install-recommends", "larder-probe"], env)
        if (root / "target/usr/share/larder-probe/answer").read_text() != "42\n":
            raise Failure("the installed file is not what was packed")
    if b.origin.asked("/debian/./larder-probe_1.0_all.deb") != 2 and b.origin.asked("/debian/larder-probe_1.0_all.deb") != 2:
        raise Failure("the package should have been asked for once by http and once through the tunnel")


def python_fetcher(b, code):
    def fetch(url):
        out = b.folder() / "out"
        run([sys.executable, "-c", textwrap.dedent(code), url, str(out), str(b.origin.ca)], b.env())
        return out.read_bytes()
    return fetch


@client(["python:requests"])
def requests(b):
    b.check_fetcher(python_fetcher(b, """
        import sys, requests
        r = requests.get(sys.argv[1], verify=sys.argv[3]); r.raise_for_status()
        open(sys.argv[2], "wb").write(r.content)"""))


@client(["python:aiohttp"])
def aiohttp(b):
    b.check_fetcher(python_fetcher(b, """
        import asyncio, ssl, sys, aiohttp
        async def main():
            context = ssl.create_default_context(cafile=sys.argv[3])
            async with aiohttp.ClientSession(trust_env=True) as session:
                async with session.get(sys.argv[1], ssl=context) as r:
                    assert r.status == 200
                    open(sys.argv[2], "wb").write(await r.read())
        asyncio.run(main())"""))


@client(["node"])
def node(b):
    """The http module in absolute form, and a tunnel by hand for https: Node 20 has no proxy of its own."""
    script = b.folder() / "fetch.js"
    script.write_text(textwrap.dedent("""
        const http = require('http'), tls = require('tls'), fs = require('fs');
        const [url, out, ca, proxyText] = process.argv.slice(2);
        const target = new URL(url), proxy = new URL(proxyText);
        function save(response) {
          if (response.statusCode !== 200) { console.error(response.statusCode); process.exit(1); }
          const parts = []; response.on('data', d => parts.push(d));
          response.on('end', () => { fs.writeFileSync(out, Buffer.concat(parts)); process.exit(0); });
        }
        if (target.protocol === 'http:') {
          http.get({ host: proxy.hostname, port: proxy.port, path: url, headers: { Host: target.host } }, save);
        } else {
          http.request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: target.host }).on('connect', (r, socket) => {
            if (r.statusCode !== 200) process.exit(1);
            const secure = tls.connect({ socket, servername: target.hostname, ca: fs.readFileSync(ca) }, () =>
              http.get({ createConnection: () => secure, path: target.pathname, headers: { Host: target.host } }, save));
          }).end();
        }"""))

    def fetch(url):
        out = b.folder() / "out"
        run(["node", str(script), url, str(out), str(b.origin.ca), b.larder.url])
        return out.read_bytes()
    b.check_fetcher(fetch)


@client(["go"])
def go(b):
    folder = b.folder()
    (folder / "main.go").write_text(textwrap.dedent("""
        package main
        import ("io"; "net/http"; "os")
        func main() {
            r, err := http.Get(os.Args[1])
            if err != nil { panic(err) }
            if r.StatusCode != 200 { panic(r.Status) }
            f, _ := os.Create(os.Args[2])
            if _, err := io.Copy(f, r.Body); err != nil { panic(err) }
            f.Close()
        }"""))
    run(["go", "build", "-o", "fetch", "main.go"], {**b.env(), "GOCACHE": str(folder / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off", "GOPATH": str(folder)}, cwd=folder)

    def fetch(url):
        out = b.folder() / "out"
        run([str(folder / "fetch"), url, str(out)], b.env())
        return out.read_bytes()
    b.check_fetcher(fetch)


@client(["java", "keytool"])
def java(b):
    folder = b.folder()
    (folder / "Fetch.java").write_text(textwrap.dedent("""
        import java.net.*; import java.net.http.*; import java.nio.file.*;
        public class Fetch {
            public static void main(String[] a) throws Exception {
                HttpClient c = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                    .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[2])))).build();
                HttpResponse<byte[]> r = c.send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofByteArray());
                if (r.statusCode() != 200) throw new Exception("status " + r.statusCode());
                Files.write(Path.of(a[1]), r.body());
            }
        }"""))
    store = folder / "trust.p12"
    run(["keytool", "-importcert", "-noprompt", "-alias", "origin", "-file", str(b.origin.ca), "-keystore", str(store), "-storetype", "PKCS12", "-storepass", "changeit"])

    def fetch(url):
        out = b.folder() / "out"
        run(["java", f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit", str(folder / "Fetch.java"),
             url, str(out), str(b.larder.port)], b.env())
        return out.read_bytes()
    b.check_fetcher(fetch)


def is_there(need):
    if need.startswith("python:"):
        return subprocess.run([sys.executable, "-c", f"import {need[7:]}"], stderr=subprocess.DEVNULL).returncode == 0
    return shutil.which(need) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--larder", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--require", default="")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(CLIENTS)
    required = set(filter(None, options.require.split(",")))
    work = Path(tempfile.mkdtemp(prefix="larder-clients-"))
    origin = Origin(work)
    larder = Larder(options.larder, work, origin)
    bench = Bench(origin, larder, work)
    passed, failed, skipped = 0, 0, 0
    try:
        for name in chosen:
            needs, function = CLIENTS[name]
            missing = [need for need in needs if not is_there(need)]
            if missing:
                print(f"{name:10} {'FAILED: ' if name in required else ''}not installed: {', '.join(missing)}", flush=True)
                failed, skipped = failed + (name in required), skipped + (name not in required)
                continue
            began = time.time()
            try:
                function(bench)
                print(f"{name:10} ok, {time.time() - began:.1f} s", flush=True)
                passed += 1
            except (Failure, subprocess.TimeoutExpired, OSError) as problem:
                print(f"{name:10} FAILED: {problem}", flush=True)
                failed += 1
    finally:
        larder.stop()
        origin.stop()
        shutil.rmtree(work, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
