"""Recordings under what may befall them: see recordings.sh. HAR_PYTHON is one with haralyzer and playwright, MITMDUMP mitmproxy's program."""

import base64
import collections
import gzip
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import urllib.parse
import zipfile
import zlib

from har_schema import faults
from Tools.checks import check, finish
from Tools.larder import LARDER, WORK
from Tools.origins import FilesOrigin, PythonOrigin, QuietHandler
from Tools.processes import free_port, start, wait_for_port

SHORT = "-s" in sys.argv
SEED = random.Random(8)
MITMDUMP = os.environ.get("MITMDUMP", shutil.which("mitmdump"))
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "TMPDIR": str(WORK / "tmp")}
# `make asan` turns the search for leaks off.
if "ASAN_OPTIONS" in os.environ:
    ENVIRONMENT["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]


def larder(*words, code=0, environment=ENVIRONMENT, **options):
    done = subprocess.run([LARDER, *[str(word) for word in words]], env=environment, cwd=WORK / "home", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, **options)
    if code is not None and done.returncode != code:
        check(False, f"larder {words[0]} ended with {done.returncode}: {(done.stdout + done.stderr).decode(errors='replace')[-1500:]}")
    return done


# MARK: The origin

class Origin(PythonOrigin):
    def __init__(self):
        self.answers, self.asked = {}, collections.Counter()
        super().__init__(Handler)


class Handler(QuietHandler):
    def do_GET(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked[self.path] += 1
        path = self.path.partition("?")[0]
        answer = self.server.answers.get(path, lambda *_: ([], path.encode() + b"\n"))
        fields, body = answer(self.headers, content)
        self.send_response(next((status for status in fields if isinstance(status, int)), 200))
        fields = [field for field in fields if not isinstance(field, int)]
        for name, value in fields:
            self.send_header(name, value)
        if ("Transfer-Encoding", "chunked") in fields:
            self.end_headers()
            # Nothing that is looked for comes in one piece.
            for place in range(0, len(body), 5):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(body[place:place + 5]), body[place:place + 5]))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_GET


# MARK: Show 5: secrets

def drawn(count, letters="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"):
    return "".join(SEED.choice(letters) for _ in range(count))


def encoded(value):
    return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


KINDS = {
    "JWT": lambda: f"{encoded(json.dumps({'alg': 'HS256', 'typ': 'JWT'}))}.{encoded(json.dumps({'sub': drawn(12)}))}.{drawn(43)}",
    "AWS": lambda: "AKIA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), "GitHub": lambda: "ghp_" + drawn(36),
    "Slack": lambda: f"xoxb-{drawn(12, '0123456789')}-{drawn(24)}",
}


def key_of(name):
    return f"-----BEGIN {name}-----\n{drawn(64)}\n{drawn(64)}\n-----END {name}-----"


class Planted:
    """40 secrets: the requests that carry them, and answers that do."""

    def __init__(self, origin):
        self.secrets, self.requests, self.origin = {}, [], origin
        for scheme, value in (("Bearer", drawn(40)), ("Basic", base64.b64encode(f"me:{drawn(20)}".encode()).decode()), ("Digest", drawn(32))):
            self.ask(f"Authorization: {scheme}", value, fields={"Authorization": f"{scheme} {value}"})
        for name in ("Cookie", "X-Token"):
            for kind, make in KINDS.items():
                value = make()
                self.ask(f"{name}, {kind}", value, fields={name: f"a={value}" if name == "Cookie" else value})
        value = drawn(30)
        self.ask("Cookie, any value", value, fields={"Cookie": f"sid={value}; other=x"})
        for kind, make in KINDS.items():
            value = make()
            self.ask(f"query, {kind}", value, query={"x": value})
        value = drawn(30)
        self.ask("query, access_token", value, query={"access_token": value})
        for kind, make in KINDS.items():
            value = make()
            self.ask(f"JSON of a request, {kind}", value, content=json.dumps({"n": 1, "deep": [{"v": value}]}), type="application/json")
        for name in ("password", "client_secret", "refresh_token"):
            value = drawn(24)
            self.ask(f"form, {name}", value, content=urllib.parse.urlencode({name: value, "user": "me"}), type="application/x-www-form-urlencoded")
        value = base64.b64encode(f"me:{drawn(20)}".encode()).decode()
        self.ask("Proxy-Authorization", value, fields={"Proxy-Authorization": f"Basic {value}"})
        value = drawn(64, "0123456789abcdef")
        self.ask("query, X-Amz-Signature", value, query={"X-Amz-Signature": value})
        value = drawn(36)
        self.ask("path, GitHub", value, segment=f"/ghp_{value}")
        value = key_of("PRIVATE KEY")
        self.ask("JSON of a request, private key", value.split("\n")[1], content=json.dumps({"pem": value}), type="application/json")
        for kind, make in KINDS.items():
            value = make()
            self.told(f"Set-Cookie, {kind}", value, [("Set-Cookie", f"s={value}; Path=/")], b"ok")
        codings = {"chunked": lambda body: ([("Transfer-Encoding", "chunked")], body),
                   "gzip": lambda body: ([("Content-Encoding", "gzip")], gzip.compress(body)),
                   "gzip, chunked": lambda body: ([("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")], gzip.compress(body)),
                   "deflate": lambda body: ([("Content-Encoding", "deflate")], zlib.compress(body)), "plain": lambda body: ([], body)}
        for (name, code), make in zip(codings.items(), list(KINDS.values()) + [lambda: drawn(24)]):
            value = make()
            fields, body = code(json.dumps({"access_token": value, "v": value}).encode() if name != "plain" else
                                json.dumps({"client_secret": value}).encode())
            self.told(f"JSON of an answer, {name}", value, [("Content-Type", "application/json"), *fields], body)
        value = key_of("RSA PRIVATE KEY")
        self.told("text of an answer, private key", value.split("\n")[2], [("Content-Type", "text/plain")], value.encode())
        value = drawn(40)
        self.told("JSON of an answer, SecretAccessKey", value, [("Content-Type", "application/json")], json.dumps({"SecretAccessKey": value}).encode())
        value = KINDS["JWT"]()
        self.told("Location", value, [("Location", f"/x?id_token={value}")], b"")

    def ask(self, name, secret, fields={}, query={}, content=None, type=None, segment=""):
        path = f"/{len(self.requests)}{segment}" + ("?" + urllib.parse.urlencode(query) if query else "")
        fields = {**fields, **({"Content-Type": type} if type else {})}
        self.secrets[name] = secret
        self.requests.append((path, fields, content))

    def told(self, name, secret, fields, body):
        path = f"/{len(self.requests)}"
        self.origin.answers[path] = lambda *_: (fields, body)
        self.secrets[name] = secret
        self.requests.append((path, {}, None))

    def write_script(self, file):
        requests = [(self.origin.url(path), fields, content) for path, fields, content in self.requests]
        file.write_text(textwrap.dedent("""
            import json, os, sys, time, urllib.request as u
            opener = u.build_opener()
            for url, fields, content in json.load(open(sys.argv[1])):
                opener.open(u.Request(url, data=content.encode() if content else None, headers=fields)).read()
            print("asked", flush=True)
            # Whoever looks at the files while they are written does it now.
            while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]): time.sleep(0.05)
            """))
        (WORK / "requests.json").write_text(json.dumps(requests))


def forms(secret):
    """As it may stand somewhere: itself, in base64 at any of three places, in a URL."""
    yield secret.encode()
    yield urllib.parse.quote(secret).encode()
    for shift in range(3):
        yield base64.b64encode(b"x" * shift + secret.encode())[4:-4]


def searched(folder):
    """Every file behind, what it holds and, where that is compressed, what comes of it."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            yield file, file.read_bytes()


def secrets():
    origin = Origin()
    planted = Planted(origin)
    script, home, tmp, seen = WORK / "ask.py", WORK / "home", WORK / "tmp", WORK / "seen"
    planted.write_script(script)
    seen.mkdir()
    check(len(planted.secrets) == 40, f"{len(planted.secrets)} secrets are planted")
    recording = start([LARDER, "record", "-o", "all.larder", "--log", WORK / "seen/log", "--key", "project.key", "--", sys.executable, script,
                     WORK / "requests.json", WORK / "go"], env=ENVIRONMENT, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    recording.stdout.readline()
    time.sleep(1.2)
    shutil.copytree(home, seen / "home-while-recording")
    shutil.copytree(tmp, seen / "tmp-while-recording", ignore=lambda folder, names: [n for n in names if not os.path.isfile(f"{folder}/{n}") and
                                                                                      not os.path.isdir(f"{folder}/{n}")])
    (WORK / "go").touch()
    said, talk = recording.communicate(timeout=60)
    check(recording.returncode == 0 and b"40 recorded" in talk, f"recorded: {talk.decode().splitlines()[-1:]}")
    (seen / "said").write_bytes(said + talk)
    shutil.copy(home / "all.larder", seen)
    larder("snapshot", "export", "all.larder", "--text", seen / "text")
    (seen / "har").write_bytes(larder("har", "export", "all.larder").stdout)
    # Bodies stand in base64 there.
    har = json.loads((seen / "har").read_text())
    (seen / "har-bodies").write_bytes(b"\n".join(base64.b64decode(e["response"]["content"].get("text", "")) for e in har["log"]["entries"]))
    (seen / "replayed").write_bytes(b"".join(searched_output for searched_output in [
        larder("replay", "all.larder", "--log", seen / "replay-log", "--key", "project.key", "--", sys.executable, script, WORK / "requests.json").stderr]))
    leaked, files = set(), 0
    asked = (WORK / "requests.json").read_bytes()
    found = sum(any(form in asked for form in forms(secret)) for secret in planted.secrets.values())
    check(found >= 25, f"the search finds {found} of them in what the command asks for")
    for file, content in searched(seen):
        files += 1
        for name, secret in planted.secrets.items():
            # An access log tells paths, and no queries.
            if any(form in content for form in forms(secret)) and not (name.startswith("path") and file.name.endswith("log")):
                leaked.add(f"{name} in {file.relative_to(seen)}")
    check(not leaked, f"none of them stands in any of {files} files (while recording, behind it, text, HAR, logs){': ' if leaked else ''}{sorted(leaked)[:12]}")
    wal = [file.name for file, _ in searched(seen / "home-while-recording") if file.name.endswith("-wal")]
    check(bool(wal), f"among them the file that is written ahead: {wal}")
    check(b"40 replayed, 0 missed" in (seen / "replayed").read_bytes(), "with the key every one of the 40 is replayed for the same secrets")
    origin.shutdown()
    login()


LOGIN = """
    import json, sys, urllib.request as u
    opener = u.build_opener(u.ProxyHandler(), u.HTTPCookieProcessor())
    origin, password = sys.argv[1:]
    def ask(path, content=None, **fields):
        return json.loads(opener.open(u.Request(origin + path, data=content and json.dumps(content).encode(), headers=fields)).read())
    token = ask("/login", {"user": "me", "password": password}, **{"Content-Type": "application/json"})["access_token"]
    print(ask("/me", Authorization=f"Bearer {token}")["name"], ask("/cookie")["name"])
    """


def login():
    origin = Origin()
    token, cookie = KINDS["JWT"](), drawn(24)

    def known(is_known):
        return [("Content-Type", "application/json")], json.dumps({"name": "me" if is_known else "nobody"}).encode()
    origin.answers["/login"] = lambda fields, content: (
        [("Content-Type", "application/json"), ("Set-Cookie", f"sid={cookie}; Path=/")], json.dumps({"access_token": token}).encode())
    origin.answers["/me"] = lambda fields, content: known(fields["Authorization"] == f"Bearer {token}")
    origin.answers["/cookie"] = lambda fields, content: known(fields["Cookie"] == f"sid={cookie}")
    script = WORK / "login.py"
    script.write_text(textwrap.dedent(LOGIN))
    command = [sys.executable, script, origin.url()]
    recorded = larder("record", "-o", "login.larder", "--key", "project.key", "--strict", "--", *command, "a long password")
    origin.shutdown()
    origin.server_close()
    check(recorded.stdout == b"me me\n", "a login whose token and cookie are sent back is recorded")
    for name, options, password, code in (("with the key", ["--key", "project.key"], "a long password", 0),
                                          ("without the key", [], "a long password", 0), ("without the key, another password", [], "quite another", 0),
                                          ("with the key, another password", ["--key", "project.key"], "quite another", None)):
        done = larder("replay", "login.larder", "--strict", *options, "--", *command, password, code=code)
        if code == 0:
            check(done.stdout == b"me me\n", f"it replays {name}")
        else:
            check(done.returncode != 0 and b"missed: " in done.stderr, f"it misses {name}")


# MARK: Show 6: what nearly matches

def nearly():
    origin = Origin()
    origin.answers["/lang"] = lambda fields, content: ([("Vary", "Accept-Language")], (fields["Accept-Language"] or "none").encode())
    kept = {"query parameter page": (["{u}/list?page=1&n=5"], ["{u}/list?page=2&n=5"]),
            "JSON /b": (["--json", '{{"a": 1, "b": 2}}', "{u}/json"], ["--json", '{{"a": 1, "b": 3}}', "{u}/json"]),
            "field accept-language": (["-H", "Accept-Language: de", "{u}/lang"], ["-H", "Accept-Language: fr", "{u}/lang"]),
            "method": (["{u}/method"], ["-X", "PUT", "{u}/method"])}

    def curl(words):
        return ["curl", "-sS", *[word.format(u=origin.url()) for word in words]]
    if SHORT:
        kept = {place: kept[place] for place in ("JSON /b", "method")}
    for number, (place, (first, other)) in enumerate(kept.items()):
        file = f"near{number}.larder"
        recorded = larder("record", "-o", file, "--", *curl(first))
        missed = larder("replay", "--strict", file, "--", *curl(other), code=4)
        report = json.loads(missed.stdout)
        nearest = report["nearest"][0]
        named = [difference["place"] for difference in nearest["differences"]]
        check(report["status"] == 504 and [name.lower() for name in named] == [place.lower()], f"what differs is named: {named}")
        if nearest["canonicaliser"] is None:
            check(place == "method", f"{place}: nothing is proposed")
            continue
        (WORK / "home/match.json").write_text(json.dumps({"canonicalisers": [nearest["canonicaliser"]]}))
        larder("record", "--overwrite", "-o", file, "--match", "match.json", "--", *curl(first))
        again = larder("replay", "--strict", file, "--", *curl(other))
        check(again.stdout == recorded.stdout, f"{place}: what is proposed, pasted, makes it match")
    origin.shutdown()


# MARK: Show 6: clients that have something already

def wheel(name):
    """A package for pip, with nothing in it."""
    content, info = io.BytesIO(), f"{name}-1.0.0.dist-info"
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return content.getvalue()


def own_caches():
    """A client with a cache of its own is answered 304 while it is recorded, one that goes on with a download 206: the whole is recorded, and a fresh one gets it."""
    origin, body, package = Origin(), SEED.randbytes(300_000), wheel("larder_probe")
    file = "larder_probe-1.0.0-py3-none-any.whl"
    kept = [("ETag", '"v1"'), ("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")]
    origin.answers["/known"] = lambda *_: ([*kept, ("Content-Type", "application/octet-stream")], body)
    origin.answers[f"/{file}"] = lambda *_: ([*kept, ("Content-Type", "application/octet-stream")], package)
    origin.answers["/simple/larder-probe/"] = lambda *_: ([*kept, ("Content-Type", "text/html")], f'<a href="/{file}">{file}</a>'.encode())
    url, half = origin.url("/known"), f"curl -sS -o whole {origin.url('/known')}; head -c 100000 whole"
    pip = (f"rm -rf out; {sys.executable} -m pip download -q --no-deps --disable-pip-version-check --cache-dir cache -d out --trusted-host 127.0.0.1"
           f" --index-url {origin.url('/simple/')} larder-probe")
    # By which it has something, what it asks for then, what it is answered, and where it has what it got.
    clients = [("curl --etag-compare", ["curl"], f"curl -sS --etag-save tag -o got {url}", f"touch tag; curl -sS --etag-compare tag -o new {url}", 304, "new", body),
               ("curl -z", ["curl"], f"curl -sS -R -o got {url}", f"curl -sS -R -z got -o got {url}", 304, "got", body),
               ("wget -N", ["wget"], f"wget -q -N {url}", f"wget -q -N {url}", 304, "known", body),
               ("pip with its cache", ["pip"], pip, pip, 304, f"out/{file}", package),
               ("curl -C -", ["curl"], f"{half} > got", f"curl -sS -C - -o got {url}", 206, "got", body),
               ("wget -c", ["wget"], f"{half} > known", f"wget -q -c {url}", 206, "known", body)]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print("left out: pip is not installed")
        clients = [client for client in clients if client[1] != ["pip"]]
    for program in [needs[0] for _, needs, *_ in clients if needs != ["pip"] and not shutil.which(needs[0])]:
        print(f"left out: {program} is not installed")
        clients = [client for client in clients if client[1] != [program]]

    def run_in(folder, words, script):
        """Which statuses and digests the log tells of a run there."""
        log = WORK / "home/own.log"
        log.unlink(missing_ok=True)
        done = larder(*words[:1], "--log", log, *words[1:], "--", "sh", "-c", f"mkdir -p {folder}; cd {folder}; {script}")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return {line["status"] for line in lines}, sorted(line.get("body_digest", "-") for line in lines), done

    def prepare(number, has):
        subprocess.run(["sh", "-c", f"mkdir own{number}; cd own{number}; {has}"], env=ENVIRONMENT, cwd=WORK / "home", check=True)
    recorded = []
    for number, (name, _, has, asks, status, _, _) in enumerate(clients):
        prepare(number, has)
        told, digests, done = run_in(f"own{number}", ["record", "-o", f"own{number}.larder"], asks)
        check(told == {status}, f"{name}: what it has already is asked for and recorded, {sorted(told)}{fault_of(done)}")
        recorded.append(digests)
    # What they have once more, before the origin is gone.
    for number, (_, _, has, *_) in enumerate(clients):
        shutil.rmtree(WORK / f"home/own{number}")
        prepare(number, has)
    origin.shutdown()
    origin.server_close()
    for number, (name, _, _, asks, status, where, whole) in enumerate(clients):
        told, digests, done = run_in(f"fresh{number}", ["replay", "--strict", f"own{number}.larder"], asks)
        got = (WORK / f"home/fresh{number}" / where).read_bytes()
        check(told == {200} and got == whole and digests == recorded[number], f"{name}: who has nothing yet gets the whole of it{fault_of(done)}")
        told, digests, done = run_in(f"own{number}", ["replay", "--strict", f"own{number}.larder"], asks)
        check(told == {status} and digests == recorded[number], f"{name}: who has it already is answered {status} again{fault_of(done)}")
        if status == 206:
            check((WORK / f"home/own{number}" / where).read_bytes() == whole, f"{name}: and has the whole then")


# MARK: Show 8: HAR, read by others

def har():
    origin = Origin()
    origin.answers["/json"] = lambda *_: ([("Content-Type", "application/json")], b'{"n": 1}')
    origin.answers["/packed"] = lambda *_: ([("Content-Type", "text/plain"), ("Content-Encoding", "gzip")], gzip.compress(b"packed text"))
    origin.answers["/octets"] = lambda *_: ([("Content-Type", "application/octet-stream")], bytes(range(256)))
    bodies = {"/json": b'{"n": 1}', "/packed": b"packed text", "/octets": bytes(range(256)), "/post": b"/post\n"}
    urls = [origin.url(path) for path in ("/json", "/packed", "/octets")]
    larder("record", "-o", "har.larder", "--", "sh", "-c", f"curl -sS --compressed {' '.join(urls)} > /dev/null; curl -sS -d a=b {origin.url('/post')}")
    file = WORK / "home/export.har"
    file.write_bytes(larder("har", "export", "har.larder").stdout)
    larder("har", "import", "export.har", "-o", "again.larder", "--key", "har.key")
    origin.shutdown()
    origin.server_close()
    replayed = larder("replay", "--strict", "again.larder", "--", "curl", "-sS", "--compressed", *urls)
    check(replayed.stdout == b'{"n": 1}packed text' + bytes(range(256)), "what was exported is imported and replayed")
    found = faults(json.loads(file.read_text()))
    check(not found, f"it holds the schema of HAR 1.2{found[:4] or ''}")
    reader = os.environ.get("HAR_PYTHON", sys.executable)
    program = ("import json, sys, haralyzer\n"
               "parser = haralyzer.HarParser(json.load(open(sys.argv[1])))\n"
               "entries = [e for p in parser.pages for e in p.entries] or [haralyzer.HarEntry(e) for e in parser.har_data['entries']]\n"
               "print(sorted((e.request.method, e.url, e.status, e.response.bodySize >= 0) for e in entries))\n")
    done = subprocess.run([reader, "-c", program, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if b"No module named" in done.stderr:
        print("left out: haralyzer is not installed")
    else:
        check(done.returncode == 0 and all(origin.url(path).encode() in done.stdout for path in bodies), f"haralyzer reads it{done.stderr.decode()[-300:]}")
    if not MITMDUMP:
        print("left out: mitmproxy is not installed")
        return
    process, address = mitmproxy("--server-replay", file, "--set", "server_replay_extra=kill", "--set", "server_replay_reuse=true", "--set",
                                 "connection_strategy=lazy")
    for path in ("/json", "/packed", "/octets"):
        got = subprocess.run(["curl", "-sS", "--compressed", "-x", address, origin.url(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(got.stdout == bodies[path], f"mitmproxy replays {path} of it{got.stderr.decode()}")
    process.terminate()
    har_of_mitmproxy()


def mitmproxy(*options):
    """One that listens, and its address."""
    port = free_port()
    process = start([MITMDUMP, "-q", "--set", f"confdir={WORK}/mitm", "--listen-host", "127.0.0.1", "--listen-port", str(port), *map(str, options)],
                  env={**ENVIRONMENT, "PYTHONWARNINGS": "ignore"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_port(port)
    return process, f"http://127.0.0.1:{port}"


def asked_by_curl(origin):
    """What a page would ask for, by curl. mitmproxy writes octets as text unless three in ten of the first hundred are none, so that they are a picture's."""
    urls = " ".join(origin.url(path) for path in ("/json", "/packed", "/picture.png", "/old"))
    return ["sh", "-c", f"curl -sS --compressed -L {urls}; curl -sS -H 'Content-Type: application/json' -d '{{\"a\": 1}}' {origin.url('/post')};"
            f" curl -sS -H 'Cookie: sid=a' {origin.url('/cookie')}"]


def har_of_mitmproxy():
    origin, file = site(), WORK / "home/mitmproxy.har"
    process, address = mitmproxy("--set", f"hardump={file}")
    said = subprocess.run(asked_by_curl(origin), env={**ENVIRONMENT, "http_proxy": address}, stdout=subprocess.PIPE).stdout
    process.terminate()
    process.wait()
    origin.shutdown()
    origin.server_close()
    imported = larder("har", "import", file, "-o", "mitmproxy.larder", "--key", "har.key")
    count = len(json.loads(file.read_text())["log"]["entries"])
    check(imported.stdout == f"recorded {count}, left out 0\n".encode() and count == 7, f"a HAR that mitmproxy wrote is imported: {count} entries")
    replayed = larder("replay", "--strict", "--key", "har.key", "mitmproxy.larder", "--", *asked_by_curl(origin), code=None)
    check(replayed.returncode == 0 and replayed.stdout == said and b"seven" in said, f"and replays {len(said)} octets{fault_of(replayed)}")


def fault_of(done):
    return "" if done.returncode == 0 else f": {(done.stdout + done.stderr).decode(errors='replace')[-600:]}"


PAGE = b"""<!doctype html><title>Page</title><link rel=stylesheet href=/style.css><script src=/script.js></script><body><img src=/picture.png>
    <script>
      const text = path => fetch(path).then(r => r.text());
      (async () => {
        const said = [await text('/json'), await text('/packed'), await text('/old'), await text('/cookie')];
        for (const body of ['{"a": 1}', 'b=c&d=%20e'])
          said.push(await fetch('/post', {method: 'POST', body, headers: {'Content-Type': body[0] == '{' ? 'application/json' :
            'application/x-www-form-urlencoded'}}).then(r => r.text()));
        said.push((await (await fetch('/octets')).arrayBuffer()).byteLength, byScript(), document.images[0].naturalWidth,
                  getComputedStyle(document.body).color);
        document.body.textContent = said.join('|');
        document.title = 'done';
      })();
    </script>"""
PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def site():
    """A page with what a HAR has its own words for: compression, octets, cookies, a redirect, forms and JSON."""
    origin = Origin()

    def typed(type, body, *fields):
        return lambda *_: ([("Content-Type", type), *fields], body)
    origin.answers.update({
        "/": typed("text/html", PAGE, ("Set-Cookie", "sid=a; Path=/")), "/style.css": typed("text/css", b"body {color: rgb(1, 2, 3)}"),
        "/script.js": typed("text/javascript", b"function byScript() { return 'script' }"), "/picture.png": typed("image/png", PICTURE),
        "/json": typed("application/json", b'{"n": "seven"}'), "/new": typed("text/plain", b"behind the redirect"),
        "/packed": typed("text/plain", gzip.compress(b"packed text", mtime=0), ("Content-Encoding", "gzip")),
        "/octets": typed("application/octet-stream", bytes(range(256))),
        "/cookie": lambda fields, content: ([("Content-Type", "text/plain")], (fields["Cookie"] or "none").encode()),
        "/post": lambda fields, content: ([("Content-Type", "text/plain")], b"posted " + content),
        "/old": lambda *_: ([("Location", "/new"), 302], b"")})
    return origin


# Three ways of the same page: as it is through the proxy of the environment, while a HAR of it is written, and out of one.
BROWSE = """
    import os, shutil, sys
    from playwright.sync_api import sync_playwright
    how, url, har = sys.argv[1:]
    with sync_playwright() as play:
        proxy = {"server": os.environ["http_proxy"], "bypass": "<-loopback>"} if how == "proxy" else None
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-component-update"], proxy=proxy)
        context = browser.new_context(**({"record_har_path": har, "record_har_content": "embed"} if how == "write" else {}))
        if how == "read":
            context.route_from_har(har, not_found="abort")
        page = context.new_page()
        page.goto(url)
        page.wait_for_function("document.title == 'done'", timeout=20000)
        print(page.inner_text("body"))
        context.close()
        browser.close()
    """


def har_of_chromium():
    script, file = WORK / "browse.py", WORK / "home/chromium.har"
    script.write_text(textwrap.dedent(BROWSE))
    python = os.environ.get("HAR_PYTHON", sys.executable)
    if not shutil.which("chromium") or subprocess.run([python, "-c", "import playwright"], stderr=subprocess.DEVNULL).returncode != 0:
        print("left out: chromium or playwright is not installed")
        return

    def browse(how, origin, har="-"):
        return [python, str(script), how, origin.url("/"), str(har)]
    origin = site()
    said = subprocess.run(browse("write", origin, file), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # Chromium asks for more than the page, by its own clock.
    recorded = larder("record", "-o", "page.larder", "--", *browse("proxy", origin))
    origin.shutdown()
    origin.server_close()
    check(said.returncode == 0 and b"seven" in said.stdout and said.stdout == recorded.stdout, f"Chromium shows {said.stdout.decode()!r}{fault_of(said)}")
    imported = larder("har", "import", file, "-o", "chromium.larder", "--key", "har.key")
    check(imported.stdout.endswith(b"left out 0\n"), f"a HAR that Chromium wrote is imported: {imported.stdout.decode().strip()}")
    for name, snapshot, options in (("Chromium's HAR", "chromium.larder", ["--key", "har.key"]), ("what Larder recorded of it", "page.larder", [])):
        replayed = larder("replay", *options, snapshot, "--", *browse("proxy", origin), code=None)
        check(replayed.returncode == 0 and replayed.stdout == said.stdout, f"Chromium shows the same page out of {name}{fault_of(replayed)}")
    ours = WORK / "home/page.har"
    ours.write_bytes(larder("har", "export", "page.larder").stdout)
    check(not faults(json.loads(ours.read_text())), f"ours of a page holds the schema of HAR 1.2{faults(json.loads(ours.read_text()))[:4] or ''}")
    shown = subprocess.run(browse("read", origin, ours), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(shown.returncode == 0 and shown.stdout == said.stdout, f"playwright shows the same page out of our HAR{fault_of(shown)}")


# MARK: Show 3: the same roots

def roots_of(file):
    said = json.loads(larder("snapshot", "show", "-o", "json", file).stdout)
    return said["content"], said["full"]


def roots():
    if not shutil.which("nginx"):
        print("left out: nginx is not installed")
        return
    origin = FilesOrigin(WORK, r"""location = /twice { add_header X-Request-Id $request_id; add_header Set-Cookie "n=$request_id"; return 200 twice; }""")
    for name, size in (("small.txt", 100), ("large.bin", 700_000)):
        (origin.root / name).write_bytes(SEED.randbytes(size))
    urls = [origin.url(path) for path in ("/keep/small.txt", "/keep/large.bin", "/pass/small.txt", "/twice", "/twice", "/not/there")]

    def asking(urls):
        # The clock of what asks goes on, since it may wait by it.
        return ["env", "-u", "LD_PRELOAD", "sh", "-c", f"curl -sS {' '.join(urls)} > /dev/null; curl -sS -d a=b {urls[0]} > /dev/null"]
    command = asking(urls)

    def twice(name, command, began=()):
        for number in "12":
            done = subprocess.run([*began, LARDER, "record", "-o", f"{name}{number}.larder", "--key", "project.key", "--", *command], env=ENVIRONMENT,
                                  cwd=WORK / "home", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            check(done.returncode == 0 and b" recorded in " in done.stderr, f"{name}, run {number}: {done.stderr.decode().splitlines()[-1:]}")
        return [roots_of(f"{name}{number}.larder") for number in "12"]
    (content, full), (other_content, other_full) = twice("plain", command)
    check(content == other_content and full != other_full,
          f"two recordings of one run against nginx have one root of the content, {content[:16]}…, and two full ones")
    (origin.root / "small.txt").write_bytes(b"another")
    larder("record", "-o", "changed.larder", "--key", "project.key", "--", *command)
    check(roots_of("changed.larder")[0] != content, "another body has another root of the content")
    (origin.root / "small.txt").write_bytes(SEED.randbytes(100))
    larder("snapshot", "export", "plain1.larder", "--text", "plain1")
    larder("snapshot", "create", "--from-text", "plain1", "-o", "back.larder")
    check(roots_of("back.larder") == (content, full), "written as text and back it has the same two")
    origin.stop()
    if os.environ.get("LARDER_SANITIZE"):
        print("left out: faketime does not run beside ThreadSanitizer")  # both replace the clock's functions
        return
    if not shutil.which("faketime"):
        print("left out: faketime is not installed")
        return
    still = ["faketime", "-f", "2026-01-01 12:00:00"]
    start([*still, "nginx", "-c", WORK / "nginx.conf", "-e", WORK / "nginx.err"])
    wait_for_port(origin.port)
    try:
        one, other = twice("still", asking([url for url in urls if not url.endswith("/twice")]), still)
    finally:
        # faketime waits for it, and passes no signal on.
        os.kill(int((WORK / "nginx.pid").read_text()), signal.SIGTERM)
    check(one == other, f"where the clocks of nginx and Larder stand still, also one full root, {one[1][:16]}…")
    python = os.environ.get("APSW_PYTHON", sys.executable)
    reader = [python, "-B", os.path.join(os.path.dirname(__file__), "snapshot_roots.py"), "--apsw"]
    if subprocess.run([python, "-c", "import apsw"], stderr=subprocess.DEVNULL).returncode != 0:
        print("left out: apsw is not installed")
        return
    for file in ("plain1", "plain2", "back", "still1"):
        said = subprocess.run([*reader, WORK / f"home/{file}.larder"], stdout=subprocess.PIPE).stdout.decode().split()
        check(tuple(said[1::2]) == roots_of(f"{file}.larder"), f"a reader over apsw computes both roots of {file}.larder")


# MARK: Show 9: kills, a full disk, a folder that cannot be written to

ASKING = """
    import sys, time, urllib.request as u
    number = 0
    while True:
        u.urlopen(f"{sys.argv[1]}/n/{number}").read()
        print(number, time.time(), flush=True)
        number += 1
        time.sleep(0.002)
    """


def answered_so_far(log):
    return [line.split() for line in log.read_text().splitlines() if len(line.split()) == 2]


def kills(rounds):
    origin = Origin()
    (WORK / "asking.py").write_text(textwrap.dedent(ASKING))
    lost, unread, idle, count = [], 0, 0, 0
    for number in range(rounds):
        file, log = WORK / f"home/kill{number}.larder", WORK / "asked"
        with open(log, "wb") as output:
            process = start([LARDER, "record", "-o", file, "--", sys.executable, WORK / "asking.py", origin.url()], env=ENVIRONMENT, stdout=output,
                          stderr=subprocess.DEVNULL, start_new_session=True)
            # How soon there is something older than a second hangs on the machine.
            deadline = time.time() + 60
            while not any(float(moment) < time.time() - 1.1 for _, moment in answered_so_far(log)[:1]) and time.time() < deadline:
                time.sleep(0.05)
            time.sleep(1.5 * SEED.random())
            killed = time.time()
            os.killpg(process.pid, 9)
            process.wait()
        due = {int(n) for n, moment in answered_so_far(log) if float(moment) < killed - 1}
        count += len(due)
        idle += not due
        done = larder("snapshot", "create", "--from-partial", "-o", file, code=None)
        if done.returncode != 0:
            unread += 1
            continue
        found = {int(line.rsplit("/", 1)[1]) for line in larder("snapshot", "ls", file).stdout.decode().splitlines()}
        if due - found:
            lost.append((number, len(due - found)))
        if larder("snapshot", "verify", file, code=None).returncode != 0:
            unread += 1
        file.unlink()
    check(not lost and not unread and not idle, f"{rounds} kills: all of what was older than a second is there ({count} answers), {unread} unreadable, "
          f"lost {lost}, {idle} killed before anything was that old")
    origin.shutdown()


def mounted(size):
    """A disk of this size; `None` where none may be mounted."""
    disk = WORK / "disk"
    disk.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], stderr=subprocess.DEVNULL)
    return disk if done.returncode == 0 else None


def disks():
    disk = mounted("4m")
    if not disk:
        print("left out: no tmpfs can be mounted here")
        return
    origin = Origin()
    bodies = {f"/big{number}": SEED.randbytes(300_000) for number in range(30)}
    for path, body in bodies.items():
        origin.answers[path] = lambda *_, body=body: ([("Content-Type", "application/octet-stream")], body)
    try:
        done = larder("record", "-o", disk / "full.larder", "--", "curl", "-sS", *[origin.url(path) for path in bodies], code=125)
        talk = done.stderr.decode()
        check(done.stdout == b"".join(bodies.values()), "a full disk: the command gets all of what it asks for")
        check(f"the recording is incomplete: the disk is full: {disk}/full.larder.partial" in talk, f"a full disk: the summary says so, and where, exit code {done.returncode}: {talk.splitlines()[-2:]}")
        for file in disk.iterdir():
            file.unlink()
        urls = " ".join(origin.url(path) for path in bodies)
        done = larder("record", "-o", disk / "full.larder", "--", "sh", "-c", f"curl -sS {urls} > /dev/null; exit 3", code=3)
        check(done.returncode == 3, "a full disk: the command's own exit code goes first")
    finally:
        subprocess.run(["umount", "-l", disk])
    disk = mounted("4m")
    try:
        larder("record", "-o", disk / "kept.larder", "--", "curl", "-sS", "-o", "/dev/null", origin.url("/big1"))
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        origin.shutdown()
        origin.server_close()
        done = larder("replay", "--strict", disk / "kept.larder", "--", "curl", "-sS", origin.url("/big1"))
        check(done.stdout == bodies["/big1"] and os.listdir(disk) == ["kept.larder"], "a folder that cannot be written to: it replays")
        verified = larder("snapshot", "verify", disk / "kept.larder", code=None)
        check(verified.returncode == 0, "and is verified")
    finally:
        subprocess.run(["umount", "-l", disk])


def main():
    for name in ("home", "tmp"):
        (WORK / name).mkdir()
    secrets()
    nearly()
    if not SHORT:
        own_caches()
        har()
        har_of_chromium()
        roots()
        disks()
    kills(1 if SHORT else 50)
    finish()


main()
