"""Clients under rules with `operation`: see operations.sh. LARDER is the binary, WORK a folder for all that is written."""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import run_clients as clients
import services
from Tools.larder import LARDER, WORK
from Tools.processes import Failure, end, start, wait_until
from run_clients import CLEAN, HOST, ROOT, run

# MARK: Servers

class Handler(clients.Handler):
    """Takes whatever a client writes, and notes every request: only the policy stops a client here."""

    seen = []

    def parse_request(self):
        is_whole = super().parse_request()
        if is_whole:
            self.seen.append((self.command, self.path))
        return is_whole

    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        services.reply(self, 201, b'{"ok": true}', {"Content-Type": "application/json"})

    def do_POST(self):
        # git sends a large push in chunks.
        if self.headers.get("Transfer-Encoding") == "chunked":
            content = b""
            while length := int(self.rfile.readline(), 16):
                content += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/smart/"):
            return self.smart(content)
        services.reply(self, 200, b"{}", {"Content-Type": "application/json"})

    @property
    def is_for_registry(self):
        return False


class NpmHandler(Handler):
    """A registry of one package and one with a scope, at the root of its host."""

    data = clients.archive({"package.json": '{"name": "larder-probe", "version": "1.0.0"}', "index.js": "module.exports = 42\n"}, "package")

    def do_GET(self):
        path = self.path.partition("?")[0].replace("%2f", "/").replace("%2F", "/")
        name, _, tarball = path.removeprefix("/").partition("/-/")
        if name not in ("larder-probe", "@larder/probe"):
            return services.reply(self, 404, b"{}", {"Content-Type": "application/json"})
        if tarball:
            return services.reply(self, 200, self.data, {"Content-Type": "application/octet-stream"})
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(self.data).digest()).decode()
        dist = {"tarball": f"https://{self.headers['Host']}/{name}/-/{name.rpartition('/')[2]}-1.0.0.tgz", "integrity": integrity}
        services.reply(self, 200, json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {
            "1.0.0": {"name": name, "version": "1.0.0", "dist": dist}}}).encode(), {"Content-Type": "application/json"})


class TokenHandler(clients.Handler):
    """A registry that gives its image for a token alone."""

    registry = services.Registry("token")


class ContainerRegistry:
    """Debian's, with a folder and a port of its own."""

    def __init__(self):
        certificate, key = clients.certified()
        (WORK / "registry.yaml").write_text(textwrap.dedent(f"""
            version: 0.1
            storage: {{filesystem: {{rootdirectory: {WORK}/registry}}}}
            http: {{addr: "127.0.0.1:0", tls: {{certificate: {certificate}, key: {key}}}}}
            """))
        log = WORK / "registry.log"
        with log.open("w") as file:
            self.process = start(["docker-registry", "serve", WORK / "registry.yaml"], env=CLEAN, stdout=file, stderr=file)
        port = wait_until(lambda: re.search(r"listening on 127\.0\.0\.1:(\d+)", log.read_text()), "the registry listens", self.process)[1]
        self.authority = f"{HOST}:{port}"

    def stop(self):
        end(self.process)


# MARK: Policies

def policy(*matches):
    """The path of settings that allow what matches and nothing else: what docs/policy.md has, in under ten lines."""
    lines = ["egress: {default: deny, addresses: {private: allow}}", "tls: {default: {connect: intercept}}", "rules:"]
    for number, match in enumerate(matches):
        lines += [f"  - name: rule {number}", f"    match: {{scheme: https, host: {HOST}, {match}}}", "    allow: {}"]
    if len(lines) >= 10:
        raise Failure(f"{len(lines)} lines")
    path = Path(tempfile.mkstemp(dir=WORK, suffix=".yaml")[1])
    path.write_text("\n".join(lines) + "\n")
    return path


class Under:
    """Runs commands under a policy, and knows what was denied."""

    def __init__(self, *matches):
        self.policy, self.log = policy(*matches), Path(tempfile.mkstemp(dir=WORK, suffix=".log")[1])

    def __call__(self, command, folder):
        return run([LARDER, "run", "-c", WORK / "larder.yaml", "--policy", self.policy, "--log", self.log, "--", *command], cwd=folder)

    def denied(self):
        """The requests so far that no rule allowed, as method and URL."""
        records = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [(record["method"], record["url"]) for record in records if record.get("error") == "egress_denied"]

    def refuses(self, work, method, path, *, says="403", seen=Handler.seen):
        """`work` fails with 403 on this request, which the server has not seen."""
        seen_before, denied_before = len(seen), len(self.denied())
        try:
            work(self)
        except Failure as failure:
            if says not in str(failure):
                raise Failure(f"it failed without {says}: {failure}") from failure
        else:
            raise Failure(f"{method} {path} was not refused")
        denied = self.denied()[denied_before:]
        if not any(found == method and path in url for found, url in denied):
            raise Failure(f"{method} {path} is not among the denied requests {denied}")
        if reached := [request for request in seen[seen_before:] if request[0] == method and path in request[1]]:
            raise Failure(f"the server has seen {reached}")


def requesting(method, url):
    """curl, which fails if the response is no success."""
    return lambda through: through(["curl", "-fsS", "-X", method, url], WORK)


# MARK: Clients

def git(folder, url):
    url = f"{url}/smart"
    (folder / "clone").parent.mkdir(exist_ok=True)
    reads, clone = Under("path: /smart/probe.git/**, operation: git-fetch"), folder / "clone"
    reads(["git", "clone", "-q", f"{url}/probe.git", clone], folder)

    def commit(where, name):
        (where / name).write_text(name)
        run(["git", "-C", where, "add", "."])
        run(["git", "-C", where, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", name])

    push = lambda through: through(["git", "-C", clone, "push", "-q", "origin", "HEAD"], folder)
    commit(clone, "first")
    reads.refuses(push, "GET", "/smart/probe.git/info/refs?service=git-receive-pack")
    # git begins a push with the GET; a client of its own may not.
    reads.refuses(requesting("POST", f"{url}/probe.git/git-receive-pack"), "POST", "/smart/probe.git/git-receive-pack")
    reads.refuses(lambda through: through(["git", "clone", "-q", f"{url}/other.git", folder / "other"], folder), "GET", "/smart/other.git/info/refs")
    Under("path: /smart/probe.git/**, operation: git-push")(["git", "-C", clone, "push", "-q", "origin", "HEAD"], folder)
    # Another clone's fetch gets what was pushed.
    before = folder / "before"
    run(["git", "clone", "-q", "--no-local", WORK / "source", before])
    run(["git", "-C", before, "remote", "set-url", "origin", f"{url}/probe.git"])
    reads(["git", "-C", before, "fetch", "-q"], folder)
    if run(["git", "-C", before, "rev-parse", "FETCH_HEAD"]) != run(["git", "-C", clone, "rev-parse", "HEAD"]):
        raise Failure("the fetch got another commit")


def pip(folder, url):
    under = Under("operation: pip-install")
    clients.pip(under, folder, url)
    under.refuses(requesting("POST", f"{url}/legacy/"), "POST", "/legacy/")
    under.refuses(requesting("GET", f"{url}/file.bin"), "GET", "/file.bin")


def skopeo(folder, _):
    registry, image = ContainerRegistry(), services.Registry("open")
    source, remote = folder / "source", f"docker://{registry.authority}/org/image:1.0"
    source.mkdir()
    (source / "version").write_text("Directory Transport Version: 1.1\n")
    (source / "manifest.json").write_bytes(image.manifest)
    for digest, blob in image.blobs.items():
        (source / digest.removeprefix("sha256:")).write_bytes(blob)

    def copy(*ends):
        return lambda through: through(["skopeo", "--insecure-policy", "copy", "-q", "--preserve-digests", *ends], folder)

    reads = Under("path: [/v2/, /v2/org/image/**], operation: registry-pull")
    try:
        reads.refuses(copy(f"dir:{source}", remote), "POST", "/v2/org/image/blobs/uploads/", seen=())
        copy(f"dir:{source}", remote)(Under("path: [/v2/, /v2/org/image/**], operation: [registry-pull, registry-push]"))
        copy(remote, f"dir:{folder}/image")(reads)
        if (folder / "image/manifest.json").read_bytes() != image.manifest:
            raise Failure("another manifest")
        reads.refuses(copy(remote.replace("image", "other"), f"dir:{folder}/other"), "GET", "/v2/org/other/manifests/1.0", seen=())
        reads.refuses(requesting("DELETE", f"https://{registry.authority}/v2/org/image/manifests/1.0"), "DELETE", "/manifests/1.0", seen=())
    finally:
        registry.stop()
    token_endpoint(folder)


def token_endpoint(folder):
    """The URL that WWW-Authenticate names needs a rule of its own."""
    registry, image = clients.Origin(TokenHandler), "path: [/v2/, /v2/probe/**], operation: registry-pull"
    pull = lambda through: through(["skopeo", "--insecure-policy", "copy", "-q", f"docker://{HOST}:{registry.port}/probe:1.0",
                                    f"dir:{folder}/by-token"], folder)
    try:
        Under(image).refuses(pull, "GET", "/token")
        pull(Under(image, "method: GET, path: /token, query: {scope: 'repository:probe:pull'}"))
        clients.installed(folder / "by-token", "manifest.json")
    finally:
        registry.stop()


def npm(folder, _):
    registry, package = clients.Origin(NpmHandler), folder / "package"
    package.mkdir()
    (package / "package.json").write_text('{"name": "published", "version": "1.0.0"}')
    (package / ".npmrc").write_text(f"registry={registry.url}/\n//{HOST}:{registry.port}/:_authToken=unneeded\ncache={folder}/cache\nfund=false\n")
    reads = Under("operation: npm-install")
    publish = lambda through: through(["npm", "publish"], package)
    try:
        reads.refuses(publish, "PUT", "/published")
        publish(Under("operation: [npm-install, npm-publish]"))
        # With its audit, which no rule allows: npm installs without.
        installs = Under("operation: npm-install")
        installs(["npm", "install", "--silent", "larder-probe", "@larder/probe"], package)
        clients.installed(package / "node_modules/larder-probe", "index.js")
        clients.installed(package / "node_modules/@larder/probe", "index.js")
        denied = installs.denied()
        if not denied or any(method != "POST" or "/-/npm/v1/security/" not in url for method, url in denied):
            raise Failure(f"npm install: {denied} were denied")
    finally:
        registry.stop()


def cargo(folder, url):
    reads = Under("path: /cargo/**, operation: cargo")
    clients.cargo(reads, folder, url)
    config = f'[registries.probe]\nindex = "sparse+{url}/cargo/"\ncredential-provider = "cargo:token"\n'
    (folder / ".cargo/config.toml").write_text(config)
    (folder / "Cargo.toml").write_text('[package]\nname = "p"\nversion = "1.0.0"\nedition = "2021"\nlicense = "MIT"\ndescription = "p"\n')
    command = ["env", f"CARGO_HOME={folder}/home", "CARGO_REGISTRIES_PROBE_TOKEN=unneeded", "cargo", "publish", "-q", "--registry", "probe",
               "--no-verify", "--allow-dirty"]
    reads.refuses(lambda through: through(command, folder), "PUT", "/cargo/api/v1/crates/new")


def go_modules(folder, url):
    under = Under("path: /go/**, operation: go-modules")
    clients.go_modules(under, folder, url)
    under.refuses(requesting("GET", f"{url}/go/example.test/probe"), "GET", "/go/example.test/probe")


def maven(folder, url):
    under = Under("path: /maven/**, operation: maven")
    clients.maven(under, folder, url)
    artifact = "/maven/test/probe/parent/1.0/parent-1.0.pom"
    under.refuses(requesting("PUT", url + artifact), "PUT", artifact)


def apt(folder, url):
    under = Under("path: /debian/**, operation: apt")
    clients.apt(under, folder, url)
    under.refuses(requesting("GET", f"{url}/debian/"), "GET", "/debian/")


# The name, what it needs, and the client. The first two are the short form.
CASES = [
    ("git", ["git", "curl"], git),
    ("pip", ["python:pip", "curl"], pip),
    ("skopeo", ["skopeo", "docker-registry"], skopeo),
    ("npm", ["npm"], npm),
    ("cargo", ["cargo"], cargo),
    ("go mod", ["go", "curl"], go_modules),
    ("maven", ["mvn", "curl"], maven),
    ("apt", ["apt-get", "dpkg-deb", "curl"], apt),
]


def main():
    is_short, wanted = "-s" in sys.argv, [word for word in sys.argv[1:] if word != "-s"]
    (WORK / "tmp").mkdir()
    (WORK / "runtime").mkdir(mode=0o700)
    origin = clients.Origin(Handler)
    clients.publish(origin)
    (ROOT / "cargo/config.json").write_text(json.dumps({"dl": f"{origin.url}/cargo/crates", "api": f"{origin.url}/cargo"}))
    run(["git", "-C", ROOT / "probe.git", "config", "http.receivepack", "true"])
    run(["git", "clone", "-q", "--bare", WORK / "source", ROOT / "other.git"])
    (WORK / "larder.yaml").write_text(textwrap.dedent(f"""
        resolve: {{{HOST}: 127.0.0.1}}
        tunnel: {{ports: any}}
        log: {{access: {{query: true}}}}
        tls: {{hosts: {{{HOST}: {{anchors: {{bundle: origins.pem}}}}}}}}
        """))
    left_out, failed, began = [], [], time.time()
    for name, needs, client in CASES[:2] if is_short else CASES:
        if wanted and name not in wanted:
            continue
        if lacking := clients.missing(needs):
            left_out.append(f"{name} ({', '.join(lacking)})")
            continue
        since = time.time()
        try:
            client(Path(tempfile.mkdtemp(dir=WORK)), origin.url)
            print(f"ok      {name} ({time.time() - since:.1f} s)", flush=True)
        except (Failure, subprocess.TimeoutExpired, OSError) as fault:
            failed.append(name)
            print(f"FAILED  {name}: {fault}", flush=True)
    print(f"        {time.time() - began:.0f} s in all")
    if left_out:
        print(f"left out: {'; '.join(left_out)}")
    sys.exit(1 if failed else 0)


main()
