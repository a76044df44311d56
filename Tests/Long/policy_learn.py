"""Policies learned from clients: see policy-learn.sh. LARDER is the binary, WORK a folder for all that is written."""

import functools
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import ssl
import subprocess
import sys
import textwrap
import urllib.parse
import zipfile

import run_clients as clients
import services
from Tools.certificates import Authority
from Tools.larder import LARDER, WORK
from Tools.origins import PythonOrigin
from Tools.processes import Failure
from run_clients import CLEAN, archive, installed, run

ROOT = WORK / "hosts"
HOSTS = [f"{name}.test" for name in ("pypi", "files", "npm", "index", "crates", "go", "deb", "git", "api")]
PROJECT = "larder-probe"
RULES, FOREIGN = 12, 1000

# MARK: The servers

class Handler(clients.Handler):
    """The files of the host that the request names; git's own program on git.test. Notes each request."""

    seen = []
    keeps_git_fields = True

    def parse_request(self):
        is_whole = super().parse_request()
        if is_whole:
            self.host = self.headers["Host"].partition(":")[0]
            self.directory = str(ROOT / self.host)
            self.seen.append((self.command, self.host, self.path))
        return is_whole

    is_for_registry = is_for_large_files = False

    def end_headers(self):
        # The handler of the other test gives lifetimes: here every request is to be seen.
        self.send_header("Cache-Control", "no-store")
        clients.http.server.SimpleHTTPRequestHandler.end_headers(self)

    def do_GET(self):
        if self.host == "git.test":
            return self.smart(b"")
        clients.http.server.SimpleHTTPRequestHandler.do_GET(self)

    def do_POST(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.host == "git.test":
            return self.smart(content)
        services.reply(self, 201, b"{}", {"Content-Type": "application/json"})

    do_PUT = do_DELETE = do_PATCH = do_POST


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def publish(url):
    """Files of each host. `url` makes the base of its URLs from its name."""
    python_package(url), npm_package(url), crate(url), go_module(), api()
    if shutil.which("git"):
        clients.ROOT.mkdir()
        (clients.ROOT / "file.bin").write_bytes(b"a file of no use")
        clients.git_repository()
        (clients.ROOT / "team").mkdir()
        (clients.ROOT / "probe.git").rename(clients.ROOT / "team/probe.git")
    if shutil.which("dpkg-deb"):
        debian_package()


def python_package(url):
    wheel, info = "larder_probe-1.4.2-py3-none-any.whl", "larder_probe-1.4.2.dist-info"
    made = WORK / wheel
    with zipfile.ZipFile(made, "w") as z:
        z.writestr("larder_probe.py", "answer = 42\n")
        z.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: larder-probe\nVersion: 1.4.2\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", f"larder_probe.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    digest = hashlib.blake2b(made.read_bytes(), digest_size=32).hexdigest()
    place = f"packages/{digest[:2]}/{digest[2:4]}/{digest[4:]}/{wheel}"
    write(ROOT / "files.test" / place, made.read_bytes())
    write(ROOT / "pypi.test/simple" / PROJECT / "index.html", f'<!doctype html><a href="{url("files")}/{place}">{wheel}</a>')


def npm_package(url):
    data = archive({"package.json": f'{{"name": "{PROJECT}", "version": "4.17.21"}}', "index.js": "module.exports = 42\n"}, "package")
    write(ROOT / f"npm.test/tarballs/{PROJECT}/-/{PROJECT}-4.17.21.tgz", data)
    dist = {"tarball": f"{url('npm')}/tarballs/{PROJECT}/-/{PROJECT}-4.17.21.tgz", "shasum": hashlib.sha1(data).hexdigest()}
    write(ROOT / "npm.test" / PROJECT, json.dumps({"name": PROJECT, "dist-tags": {"latest": "4.17.21"}, "versions": {
        "4.17.21": {"name": PROJECT, "version": "4.17.21", "dist": dist}}}))


def crate(url):
    data = archive({"Cargo.toml": f'[package]\nname = "{PROJECT}"\nversion = "1.0.200"\nedition = "2021"\n', "src/lib.rs": ""},
                   f"{PROJECT}-1.0.200")
    write(ROOT / "index.test/config.json", json.dumps({"dl": url("crates") + "/crates/{crate}/{crate}-{version}.crate"}))
    write(ROOT / "index.test/la/rd" / PROJECT, json.dumps({
        "name": PROJECT, "vers": "1.0.200", "deps": [], "cksum": hashlib.sha256(data).hexdigest(), "features": {}, "yanked": False}) + "\n")
    write(ROOT / f"crates.test/crates/{PROJECT}/{PROJECT}-1.0.200.crate", data)


def go_module():
    folder = ROOT / "go.test/example.test/probe/@v"
    write(folder / "list", "v1.5.2\n")
    write(folder / "v1.5.2.info", '{"Version": "v1.5.2", "Time": "2026-01-01T00:00:00Z"}')
    write(folder / "v1.5.2.mod", "module example.test/probe\n")
    with zipfile.ZipFile(folder / "v1.5.2.zip", "w") as z:
        z.writestr("example.test/probe@v1.5.2/go.mod", "module example.test/probe\n")
        z.writestr("example.test/probe@v1.5.2/probe.go", "package probe\n")


def debian_package():
    package, pool = WORK / "package", ROOT / "deb.test/debian/pool/main/l" / PROJECT
    control = f"Package: {PROJECT}\nVersion: 2.10-3\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: probe\n"
    write(package / "DEBIAN/control", control)
    write(package / "usr/share/larder-probe/answer", "42\n")
    pool.mkdir(parents=True)
    file = pool / f"{PROJECT}_2.10-3_all.deb"
    run(["dpkg-deb", "--root-owner-group", "-b", package, file])
    data, machine = file.read_bytes(), run(["dpkg", "--print-architecture"]).decode().strip()
    place = f"Filename: pool/main/l/{PROJECT}/{file.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n\n"
    packages, index = (control + place).encode(), f"main/binary-{machine}/Packages"
    digest = hashlib.sha256(packages).hexdigest()
    dists = ROOT / "deb.test/debian/dists/stable"
    write(dists / index, packages)
    write(dists / f"main/binary-{machine}/by-hash/SHA256/{digest}", packages)
    write(dists / "Release", f"Suite: stable\nCodename: stable\nArchitectures: {machine}\nComponents: main\nAcquire-By-Hash: yes\n"
          f"Date: {clients.email.utils.formatdate(usegmt=True)}\nSHA256:\n {digest} {len(packages)} {index}\n")


def api():
    for number in range(1, 6):
        write(ROOT / f"api.test/v1/shop/orders/{number}/lines", "[]")
    write(ROOT / "api.test/v1/shop/status", '{"state": "good"}')


# MARK: The clients. Each is given the way by which a command goes through Larder, a fresh folder, and the hosts' URLs.

def pip(through, folder, url):
    through([clients.PYTHON, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", "--root-user-action=ignore",
             "--index-url", f"{url('pypi')}/simple/", "--target", folder / "t", PROJECT], folder)
    installed(folder, "larder_probe.py")


def npm(through, folder, url):
    (folder / "package.json").write_text("{}")
    through(["npm", "install", "--silent", "--no-audit", "--no-fund", f"--cache={folder}/cache", f"--registry={url('npm')}/", PROJECT], folder)
    installed(folder / "node_modules", "index.js")


def cargo(through, folder, url):
    write(folder / "src/lib.rs", "")
    write(folder / "Cargo.toml", f'[package]\nname = "p"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\n{PROJECT} = "1"\n')
    write(folder / ".cargo/config.toml",
          f'[source.crates-io]\nreplace-with = "probe"\n[source.probe]\nregistry = "sparse+{url("index")}/"\n')
    through(["env", f"CARGO_HOME={folder}/home", "cargo", "fetch", "-q"], folder)
    installed(folder / "home", f"{PROJECT}-1.0.200.crate")


def go_modules(through, folder, url):
    (folder / "go.mod").write_text("module p\n\ngo 1.19\n")
    env = [f"GOPROXY={url('go')}", "GOSUMDB=off", f"GOPATH={folder}/path", "GOFLAGS=-modcacherw", f"GOCACHE={WORK}/go-cache"]
    through(["env", *env, "go", "mod", "download", "example.test/probe@v1.5.2"], folder)
    installed(folder / "path", "probe.go")


def apt(through, folder, url):
    dpkg = "system/var/lib/dpkg"
    for name in ("etc/apt.conf.d", "etc/preferences.d", "lists/partial", "cache/archives/partial", "state", "log", f"{dpkg}/info", f"{dpkg}/updates"):
        (folder / name).mkdir(parents=True)
    (folder / dpkg / "status").touch()
    (folder / "sources.list").write_text(f"deb [trusted=yes] {url('deb')}/debian stable main\n")
    (folder / "apt.conf").write_text(textwrap.dedent(clients.APT).format(folder))
    command = f"apt-get -c {folder}/apt.conf -qq"
    through(["sh", "-ec", f"{command} update; {command} install -y {PROJECT}"], folder)
    installed(folder / "system/usr/share", "answer")


def git(through, folder, url):
    through(["git", "clone", "-q", f"{url('git')}/team/probe.git", folder / "clone"], folder)
    installed(folder, "file")


def curl(through, folder, url):
    """A script: it reads, and posts."""
    (folder / "script.sh").write_text(textwrap.dedent(f"""
        set -e
        curl -fsS {url('api')}/v1/shop/status?verbose=1
        for number in 1 2 3 4 5; do curl -fsS {url('api')}/v1/shop/orders/$number/lines; done
        curl -fsS -d '{{}}' {url('api')}/v1/shop/reports
        """))
    through(["sh", folder / "script.sh"], folder)


CLIENTS = [("pip", "python3", pip), ("git", "git", git), ("curl", "curl", curl), ("npm", "npm", npm), ("cargo", "cargo", cargo),
           ("go", "go", go_modules), ("apt", "apt-get", apt)]
SHORT = ["pip", "git", "curl"]


# MARK: Learning

def larder(*words, folder=None):
    """What it writes to standard output and standard error."""
    done = subprocess.run([LARDER, *map(str, words)], env=CLEAN, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180)
    if done.returncode != 0:
        raise Failure(f"larder {words[0]} ended with {done.returncode}: {done.stdout.decode(errors='replace')[-3000:]}")
    return done.stdout.decode(errors="replace")


def count_rules(policy):
    return len(re.findall(r"^  - name:", policy.read_text(), re.M))


def fresh(name):
    folder = WORK / "runs" / name
    folder.mkdir(parents=True)
    return folder


def teach(name, client, url, config, log):
    """The policy that the client teaches, under which it has run again."""
    policy = WORK / f"{name}.yaml"
    client(lambda command, folder: larder("policy", "learn", "-c", config, "-o", policy, "--", *command, folder=folder), fresh(f"{name}-1"), url)
    before = len(Handler.seen)
    client(lambda command, folder: larder("run", "-c", config, "--policy", policy, "--strict", "--log", log, "--", *command, folder=folder),
           fresh(f"{name}-2"), url)
    if len(Handler.seen) == before:
        raise Failure("no request of the second run reached a server")
    return policy


# MARK: Other requests

SENDER = """
    import http.client, json, os, ssl, sys, urllib.parse
    proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    def send(method, host, port, path):
        connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, timeout=60, context=context)
        connection.set_tunnel(host, port)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            connection.putheader("Content-Length", "0")
            connection.endheaders()
            return connection.getresponse().status
        except OSError as refused:
            return 403 if "403" in str(refused) else str(refused)
        finally:
            connection.close()
    for line in sys.stdin:
        print(json.dumps(send(*json.loads(line))), flush=True)
    """


def renamed(path, rng):
    """The path of another project."""
    other = "".join(rng.choice("abcdefghijklmnop") for _ in range(8))
    for name in (PROJECT, "larder_probe", "probe", "shop"):
        if name in path:
            return path.replace(name, rng.choice([other, f"{name}-{other}", f"{other}-{name}"]))
    return f"/{other}{path}"


def foreign_requests(seen, port, rng):
    """Half of them to hosts in `seen`, none of them in it."""
    allowed = {(method, host, path.partition("?")[0]) for method, host, path in seen}
    found = set()
    ways = [
        lambda method, path: (method, renamed(path, rng)),
        lambda method, path: (rng.choice(["PUT", "DELETE", "PATCH", "OPTIONS", "POST"]), path),
        lambda method, path: (method, path.rstrip("/") + rng.choice(["-more", "/more", ".sig", "/../x"]) + str(rng.randrange(10_000))),
        lambda method, path: (method, path.rpartition("/")[0] + f"/sibling{rng.randrange(10_000)}"),
        lambda method, path: (method, f"/other{rng.randrange(10_000)}{path}"),
    ]
    while len(found) < FOREIGN // 2:
        method, host, path = rng.choice(sorted(allowed))
        # A digest says nothing of its project, so the rule allows each file beside it.
        method, path = rng.choice(ways[:2] + ways[4:] if "/by-hash/" in path else ways)(method, path)
        if (method, host, path) not in allowed:
            found.add((method, host, port, path))
    while len(found) < FOREIGN:
        method, host, path = rng.choice(sorted(allowed))
        other = rng.choice([f"www.{host}", f"{rng.randrange(10_000)}.test", f"{host}.example", host.replace(".test", ".example")])
        found.add((method, other, port, path) if rng.random() < 0.8 else (method, host, port % 60_000 + 1, f"{path}?{rng.randrange(10_000)}"))
    return sorted(found)


def check_denials(requests, config, policy):
    sender = WORK / "sender.py"
    sender.write_text(textwrap.dedent(SENDER))
    before = len(Handler.seen)
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([LARDER, "run", "-c", str(config), "--policy", str(policy), "--", sys.executable, str(sender)], env=CLEAN, input=lines,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    statuses = [json.loads(line) for line in done.stdout.splitlines()]
    if len(statuses) != len(requests):
        raise Failure(f"{len(statuses)} of {len(requests)} requests were answered: {done.stderr[-1000:]}")
    if allowed := [request for request, status in zip(requests, statuses) if status != 403]:
        raise Failure(f"{len(allowed)} were not denied, such as {list(zip(requests, statuses))[requests.index(allowed[0])]} {allowed[:8]}")
    if reached := Handler.seen[before:]:
        raise Failure(f"{len(reached)} reached a server, such as {reached[:5]}")


def main():
    is_short = "-s" in sys.argv[1:]
    for name in ("config", "state", "data", "runtime", "tmp"):
        (WORK / name).mkdir()
    authority = Authority(WORK)
    origin = PythonOrigin(Handler, authority.certify(*HOSTS))
    url = lambda name: f"https://{name}.test:{origin.port}"  # noqa: E731
    publish(url)
    config = WORK / "larder.yaml"
    config.write_text(f"resolve: {{{', '.join(f'{host}: 127.0.0.1' for host in HOSTS)}}}\n"
                      f"tls: {{default: {{anchors: {{bundle: {authority.certificate}}}, connect: intercept}}}}\n")
    log, failed, rules, left_out = WORK / "all.log", [], 0, []
    larder("ca", "init")
    for name, program, client in CLIENTS:
        if is_short and name not in SHORT:
            continue
        if not shutil.which(program):
            left_out.append(name)
            continue
        try:
            policy = teach(name, client, url, config, log)
            rules += count_rules(policy)
            print(f"ok      {name}: {count_rules(policy)} rules, and no denial under them", flush=True)
        except (Failure, subprocess.TimeoutExpired, OSError) as fault:
            failed.append(name)
            print(f"FAILED  {name}: {fault}", flush=True)
    every = WORK / "every.yaml"
    # The log of the runs under the policies: all of their requests were allowed.
    larder("policy", "learn", "-c", config, "--from-log", log, "-o", every)
    for what, number in (("all policies", rules), ("the policy from the log of all", count_rules(every))):
        good = number <= RULES
        print(f"{'ok     ' if good else 'FAILED '} {what} have {number} rules", flush=True)
        if not good:
            failed.append(what)
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    try:
        requests = foreign_requests(Handler.seen, origin.port, random.Random(seed))
        check_denials(requests, config, every)
        print(f"ok      {len(requests)} other requests are denied (seed {seed})", flush=True)
    except Failure as fault:
        failed.append("other requests")
        print(f"FAILED  other requests (seed {seed}): {fault}", flush=True)
    if failed:
        print(every.read_text())
    if left_out:
        print(f"left out: {', '.join(left_out)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
