"""Clients recorded with the origins on and replayed with them gone: see replay-clients.sh."""

import base64
import collections
import fnmatch
import hashlib
import http.server
import json
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import run_clients as clients
from Tools.larder import LARDER, WORK
from Tools.origins import PythonOrigin
from Tools.processes import Failure
from run_clients import CLEAN, HOST, PYTHON, ROOT

PLAIN = WORK / "plain-root"

# What a program stamps with the time, a process or its own statistics.
STAMPED = ["*.pyc", "*/.git/index", "*/.git/logs/*", "*/_remote.repositories", "*/resolver-status.properties", "*.lastUpdated", "*.log",
           "*/_logs/*", "*/_cacache/index-v5/*", "*/.global-cache", "*/.package-cache*", "*/pkgcache.bin", "*/srcpkgcache.bin", "*/chromium/*",
           "*/target/*.jar", "*/home/.pki/*", "*/_update-notifier-last-checked", "*/CACHEDIR.TAG", "*/eipp.log.xz", "*/cache/lock"]


class API:
    """What answers a script: a login, forms, GraphQL, and a job that is done when it has been asked for three times."""

    polled = collections.Counter()

    @classmethod
    def answer(cls, method, path, fields, content):
        if path == "/api/login":
            return {"token": "ghp_" + "a1B2" * 9}
        if path == "/api/me":
            return {"known": fields.get("Authorization") == "Bearer ghp_" + "a1B2" * 9}
        if path == "/api/job":
            cls.polled[path] += 1
            return {"state": "done" if cls.polled[path] % 3 == 0 else "pending"}
        if path == "/graphql":
            query = json.loads(content)
            return {"data": {query["operationName"]: query.get("variables")}}
        return {"method": method, "length": len(content), "digest": hashlib.sha256(content).hexdigest()}


class Handler(clients.Handler):
    root = ROOT

    def __init__(self, *values):
        http.server.SimpleHTTPRequestHandler.__init__(self, *values, directory=str(self.root))

    def do_GET(self):
        self.tell(b"") if self.path.startswith("/api") else super().do_GET()

    def do_POST(self):
        if self.path.startswith(("/api", "/graphql")):
            self.tell(self.rfile.read(int(self.headers["Content-Length"])))
        else:
            super().do_POST()

    def tell(self, content):
        body = json.dumps(API.answer(self.command, self.path, self.headers, content)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class PlainHandler(Handler):
    root = PLAIN


class PlainOrigin:
    def __init__(self, secure):
        self.server = PythonOrigin(PlainHandler)
        self.url = f"http://{HOST}:{self.server.port}"
        shutil.copytree(ROOT, PLAIN, symlinks=True)
        for name in ("npm/larder-probe", "cargo/config.json"):
            (PLAIN / name).write_text((PLAIN / name).read_text().replace(secure.url, self.url))

    def stop(self):
        self.server.stop()


# MARK: Clients that run-clients.sh does not have

def npm_ci(through, folder, url):
    data = (ROOT / "larder-probe-1.0.0.tgz").read_bytes()
    own = {"name": "p", "version": "1.0.0", "dependencies": {"larder-probe": "1.0.0"}}
    package = {"version": "1.0.0", "resolved": f"{url}/larder-probe-1.0.0.tgz",
               "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}
    (folder / "package.json").write_text(json.dumps(own))
    (folder / "package-lock.json").write_text(json.dumps({
        "name": "p", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": {"": own, "node_modules/larder-probe": package}}))
    through(["npm", "ci", "--silent", "--no-audit", "--no-fund", f"--cache={folder}/cache", f"--registry={url}/npm/"], folder)
    clients.installed(folder / "node_modules", "index.js")


SCRIPT = """
    import json, sys, urllib.parse, urllib.request as u
    origin = sys.argv[1]
    def ask(path, content=None, **fields):
        request = u.Request(origin + path, data=content, headers=fields)
        return json.loads(u.urlopen(request).read())
    def post(path, value, **fields):
        return ask(path, json.dumps(value).encode(), **{"Content-Type": "application/json"}, **fields)
    token = post("/api/login", {"user": "me", "password": "hunter2"})["token"]
    print(ask("/api/me", Authorization=f"Bearer {token}"))
    for length in (1, 1000, 1_000_000):
        print(ask("/api/upload", b"x" * length, **{"Content-Type": "application/octet-stream"}))
    print(ask("/api/form", urllib.parse.urlencode({"a": "1", "b": "two words"}).encode()))
    for name in ("First", "Second"):
        print(post("/graphql", {"operationName": name, "query": f"query {name} {{ me }}", "variables": {"n": 1}}))
    states = []
    while "done" not in states:
        states.append(ask("/api/job")["state"])
    print(states)
    """


def script(through, folder, url):
    (folder / "script.py").write_text(textwrap.dedent(SCRIPT))
    (folder / "said.txt").write_bytes(through([PYTHON, folder / "script.py", url], folder))
    if "'pending', 'pending', 'done'" not in (folder / "said.txt").read_text():
        raise Failure((folder / "said.txt").read_text())


PAGE = {
    "index.html": "<!doctype html><title>Page</title><link rel=icon href=data:,><link rel=stylesheet href=style.css><script src=script.js></script>"
                  "<img src=picture.svg onload='seen.push(this.naturalWidth)'><p id=said>nothing</p>"
                  "<script>fetch('data.json').then(r => r.json()).then(d => said.textContent = said_by_script(d.n))</script>",
    "style.css": "p {color: green}", "script.js": "var seen = []; function said_by_script(n) { return 'script ' + n }", "data.json": '{"n": 7}',
    "picture.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><circle cx="30" cy="30" r="28"/></svg>',
}
CHROMIUM = """
    mkdir -p home/.pki/nssdb chromium; export HOME=$PWD/home
    certutil -N -d sql:$HOME/.pki/nssdb --empty-password
    certutil -A -d sql:$HOME/.pki/nssdb -n larder -t C,, -i "$NODE_EXTRA_CA_CERTS"
    exec chromium --headless --no-sandbox --disable-gpu --user-data-dir=$PWD/chromium --proxy-server="$http_proxy" --no-first-run \\
        --disable-background-networking --disable-component-update --disable-sync --disable-default-apps --virtual-time-budget=5000 \\
        --dump-dom "$1" 2> chromium/log
    """


def chromium(through, folder, url):
    (folder / "chromium.sh").write_text(textwrap.dedent(CHROMIUM))
    said = through(["sh", folder / "chromium.sh", f"{url}/page/index.html"], folder)
    (folder / "dom.html").write_bytes(said)
    if b"script 7" not in said:
        raise Failure(f"the page says {said[-400:]}")


# What Debian builds Maven's packages from: the plugins in the versions that Maven takes without being told.
DEBIAN_MAVEN = Path("/usr/share/maven-repo")
JAVA = "package probe; public class Answer { public static int answer() { return 42; } }\n"


def maven_package(through, folder, url):
    (folder / "src/main/java/probe").mkdir(parents=True)
    (folder / "src/main/java/probe/Answer.java").write_text(JAVA)
    said = "<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>"
    said += "<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>"
    (folder / "pom.xml").write_text(clients.pom(
        f"<groupId>test.probe</groupId><artifactId>p</artifactId><version>1.0</version><properties>{said}</properties>"))
    # In place of the global settings, which refuse plain http.
    mirror = f"<mirror><id>probe</id><mirrorOf>*</mirrorOf><url>{url}/debian-maven</url></mirror>"
    (folder / "settings.xml").write_text(f"<settings><mirrors>{mirror}</mirrors></settings>")
    through(["mvn", "-q", "-B", "-gs", folder / "settings.xml", f"-Dmaven.repo.local={folder}/m2", "package"], folder)
    clients.installed(folder / "target", "p-1.0.jar")


def client(name):
    return next((needs, client) for known, needs, client in clients.CLIENTS if known == name)


def table(is_short):
    short = [(name, *client(name)) for name in ("curl", "git, plain files", "git, its own protocol")] + [("script", [], script)]
    if is_short:
        return short
    more = [(name, *client(name)) for name in ("pip", "apt", "cargo", "go mod", "maven")]
    return short + [("npm ci", ["npm"], npm_ci)] + more + [
        ("maven package", ["mvn", "javac"], maven_package), ("chromium", ["chromium", "certutil"], chromium)]


# MARK: Recording and replaying

def larder(verb, *words, log):
    log.unlink(missing_ok=True)

    def through(command, folder):
        done = subprocess.run([str(word) for word in (LARDER, verb, "-c", WORK / "larder.yaml", "--log", log, *words, "--", *command)],
                              env={**CLEAN, "PIP_TRUSTED_HOST": HOST}, cwd=folder, timeout=180, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).decode(errors="replace")
            raise Failure(f"{verb} ended with {done.returncode}: {said[-2500:]}")
        return done.stdout
    return through


def answered(log):
    """Which answers of the origin a run was given, as its log has them, with the digest of each whole content."""
    found = collections.Counter()
    for line in log.read_text().splitlines():
        record = json.loads(line)
        if HOST in record.get("url", "") and record.get("connect") != "intercept":
            found[record["method"], record["url"], record["status"], record.get("body_digest", "-")] += 1
    return found


def made(folder):
    """Digests of what the client has left, but for what it stamps."""
    found = {}
    for file in folder.rglob("*"):
        name = str(file.relative_to(folder))
        if file.is_file() and not file.is_symlink() and not any(fnmatch.fnmatch("/" + name, pattern) for pattern in STAMPED):
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def fresh():
    folder = WORK / "client"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def main():
    is_short, wanted = "-s" in sys.argv, [word for word in sys.argv[1:] if word != "-s"]
    (WORK / "tmp").mkdir()
    (WORK / "runtime").mkdir(mode=0o700)
    secure = clients.Origin(Handler)
    clients.publish(secure)
    (ROOT / "debian-maven").symlink_to(DEBIAN_MAVEN)
    (ROOT / "page").mkdir()
    for name, text in PAGE.items():
        (ROOT / "page" / name).write_text(text)
    plain = PlainOrigin(secure)
    (WORK / "larder.yaml").write_text(textwrap.dedent(f"""
        resolve: {{{HOST}: 127.0.0.1}}
        tunnel: {{ports: any}}
        log: {{access: {{query: true}}}}
        tls: {{hosts: {{{HOST}: {{anchors: {{bundle: origins.pem}}}}}}}}
        """))
    left_out, failed, recorded = [], [], []
    began = time.time()

    def attempt(name, what, work):
        start = time.time()
        try:
            work()
            print(f"ok      {name}, {what} ({time.time() - start:.1f} s)", flush=True)
            return True
        except (Failure, subprocess.TimeoutExpired, OSError) as fault:
            failed.append(name)
            print(f"FAILED  {name}, {what}: {fault}", flush=True)
            return False

    for name, needs, run in table(is_short):
        if wanted and name not in wanted:
            continue
        if name == "maven package" and not (DEBIAN_MAVEN / "org/apache/maven/plugins/maven-jar-plugin").exists():
            left_out.append(f"{name} (Debian's plugins)")
            continue
        if lacking := clients.missing(needs):
            left_out.append(f"{name} ({', '.join(lacking)})")
            continue
        for way, origin in (("plain", plain), ("intercepted", secure)):
            if name == "maven" and way == "plain":
                left_out.append("maven, plain (it refuses http by its own settings)")
                continue
            file = WORK / f"{name.replace(' ', '-')}-{way}.larder"
            log = file.with_suffix(".recorded.log")
            if attempt(name, f"{way}, recorded", lambda: run(larder("record", "--append", "-o", file, log=log), fresh(), origin.url)):
                recorded.append((name, way, run, origin.url, file, answered(log), made(WORK / "client")))
    secure.stop()
    plain.stop()
    for name, way, run, url, file, answers, results in recorded:
        log = file.with_suffix(".replayed.log")
        # Chromium asks for more than the page.
        strict = [] if name == "chromium" else ["--strict"]

        def replay():
            run(larder("replay", *strict, file, log=log), fresh(), url)
            again, left = answered(log), made(WORK / "client")
            if again != answers:
                raise Failure(f"other answers: {sorted((again - answers).items())} for {sorted((answers - again).items())}")
            if left != results:
                raise Failure(f"other results: {sorted(n for n in left.keys() | results.keys() if left.get(n) != results.get(n))}")
        digests = len({digest for _, _, _, digest in answers} - {"-"})
        attempt(name, f"{way}, replayed with the origin gone: {sum(answers.values())} answers, {digests} digests, {len(results)} files the same", replay)
    print(f"        {time.time() - began:.0f} s in all")
    if left_out:
        print(f"left out: {'; '.join(left_out)}")
    sys.exit(1 if failed else 0)


main()
