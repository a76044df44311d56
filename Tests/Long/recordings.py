"""Recordings under what may befall them: see recordings.sh. HAR_PYTHON is one with haralyzer and jsonschema, MITMDUMP mitmproxy's program."""

import base64
import collections
import gzip
import http.server
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
import urllib.parse
import zlib

from common import LARDER, WORK, check, finish, free_port, run

SHORT = "-s" in sys.argv
SEED = random.Random(8)
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "TMPDIR": str(WORK / "tmp")}


def larder(*words, code=0, environment=ENVIRONMENT, **options):
    done = subprocess.run([LARDER, *[str(word) for word in words]], env=environment, cwd=WORK / "home", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, **options)
    if code is not None and done.returncode != code:
        check(False, f"larder {words[0]} ended with {done.returncode}: {(done.stdout + done.stderr).decode(errors='replace')[-1500:]}")
    return done


# MARK: The origin

class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, collections.Counter()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client):
        pass  # a client that was killed

    def url(self, path=""):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *values):
        pass

    def do_GET(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked[self.path] += 1
        path = self.path.partition("?")[0]
        answer = self.server.answers.get(path, lambda *_: ([], path.encode() + b"\n"))
        fields, body = answer(self.headers, content)
        self.send_response(200)
        for name, value in fields:
            self.send_header(name, value)
        if ("Transfer-Encoding", "chunked") in fields:
            self.end_headers()
            # Nothing that is looked for comes in one piece.
            for start in range(0, len(body), 5):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(body[start:start + 5]), body[start:start + 5]))
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
    """Every file beneath, what it holds and, where that is compressed, what comes of it."""
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
    recording = run([LARDER, "record", "-o", "all.larder", "--log", WORK / "seen/log", "--key", "project.key", "--", sys.executable, script,
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
    larder("har", "import", "export.har", "-o", "again.larder", "--project-key", "har.key")
    origin.shutdown()
    origin.server_close()
    replayed = larder("replay", "--strict", "again.larder", "--", "curl", "-sS", "--compressed", *urls)
    check(replayed.stdout == b'{"n": 1}packed text' + bytes(range(256)), "what was exported is imported and replayed")
    reader, proxy = os.environ.get("HAR_PYTHON", sys.executable), os.environ.get("MITMDUMP", shutil.which("mitmdump"))
    program = ("import json, sys, haralyzer\n"
               "parser = haralyzer.HarParser(json.load(open(sys.argv[1])))\n"
               "entries = [e for p in parser.pages for e in p.entries] or [haralyzer.HarEntry(e) for e in parser.har_data['entries']]\n"
               "print(sorted((e.request.method, e.url, e.status, e.response.bodySize >= 0) for e in entries))\n")
    done = subprocess.run([reader, "-c", program, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if b"No module named" in done.stderr:
        print("left out: haralyzer is not installed")
    else:
        check(done.returncode == 0 and all(origin.url(path).encode() in done.stdout for path in bodies), f"haralyzer reads it{done.stderr.decode()[-300:]}")
    if not proxy:
        print("left out: mitmproxy is not installed")
        return
    port = free_port()
    environment = {**ENVIRONMENT, "PYTHONWARNINGS": "ignore"}
    process = run([proxy, "-q", "--set", f"confdir={WORK}/mitm", "--listen-port", str(port), "--server-replay", str(file), "--set",
                   "server_replay_extra=kill", "--set", "server_replay_reuse=true", "--set", "connection_strategy=lazy"], env=environment,
                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.time() + 30
    while socket.socket().connect_ex(("127.0.0.1", port)) != 0 and time.time() < deadline and process.poll() is None:
        time.sleep(0.1)
    for path in ("/json", "/packed", "/octets"):
        got = subprocess.run(["curl", "-sS", "--compressed", "-x", f"http://127.0.0.1:{port}", origin.url(path)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        check(got.stdout == bodies[path], f"mitmproxy replays {path} of it{got.stderr.decode()}")
    process.terminate()


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


def kills(rounds):
    origin = Origin()
    (WORK / "asking.py").write_text(textwrap.dedent(ASKING))
    lost, unread, least = [], 0, None
    for number in range(rounds):
        file, log = WORK / f"home/kill{number}.larder", WORK / "asked"
        with open(log, "wb") as output:
            process = run([LARDER, "record", "-o", file, "--", sys.executable, WORK / "asking.py", origin.url()], env=ENVIRONMENT, stdout=output,
                          stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(1.6 + 1.5 * SEED.random())
            killed = time.time()
            os.killpg(process.pid, 9)
            process.wait()
        asked = [line.split() for line in log.read_text().splitlines() if len(line.split()) == 2]
        due = {int(n) for n, moment in asked if float(moment) < killed - 1}
        done = larder("snapshot", "create", "--from-partial", "-o", file, code=None)
        if done.returncode != 0:
            unread += 1
            continue
        found = {int(line.rsplit("/", 1)[1]) for line in larder("snapshot", "ls", file).stdout.decode().splitlines()}
        if due - found:
            lost.append((number, len(due - found)))
        least = min(least or len(due), len(due))
        if larder("snapshot", "verify", file, code=None).returncode != 0:
            unread += 1
        file.unlink()
    check(not lost and not unread and least, f"{rounds} kills: all of what was older than a second is there (at least {least} each), {unread} unreadable, "
          f"lost {lost}")
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
        check("the recording is incomplete: " in talk, f"a full disk: the summary says so, exit code {done.returncode}: {talk.splitlines()[-2:]}")
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
    har()
    disks()
    kills(1 if SHORT else 50)
    finish()


main()
