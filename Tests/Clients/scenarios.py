"""Clients that do more than fetch one URL: what each made of what it fetched is compared with what was published."""

import os
import sys
import zipfile

from Tools.processes import Failure
from bench import check_asked, check_same, run

SCHEMES = ["http", "http", "https"]


def aria2(b, origin):
    """Four ranges of one file at once, where the server has ranges."""
    path, data = b.file(8 << 20)
    for scheme in SCHEMES:
        out = b.output()
        run(["aria2c", "-q", "-x4", "-s4", "-k1M", "--file-allocation=none", f"--ca-certificate={b.site.ca}",
             f"--all-proxy={b.larder.url}", "-d", str(out.parent), "-o", out.name, origin.url(scheme, path)], b.env)
        check_same(scheme, out.read_bytes(), data)


def git(b, origin):
    """Over plain files, and by git's own protocol where the server has it."""
    folder = b.folder()
    source, name = folder / "source", f"{origin.name}.git"
    ident = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    run(["git", "init", "-q", str(source)])
    for number in range(10):
        (source / f"file{number}").write_bytes(os.urandom(5000))
        run(["git", "-C", str(source), "add", "."])
        run(["git", "-C", str(source), "commit", "-q", "-m", f"change {number}"], ident)
    bare = b.site.root / name
    run(["git", "clone", "-q", "--bare", str(source), str(bare)])
    run(["git", "-C", str(bare), "update-server-info"])
    b.site.age(bare)
    want = run(["git", "-C", str(source), "rev-parse", "HEAD"])
    urls = [origin.url(scheme, f"/{name}") for scheme in SCHEMES]
    if origin.smart_git:
        urls += [origin.url(scheme, f"{origin.smart_git}/{name}") for scheme in SCHEMES[1:]]
    for number, url in enumerate(urls):
        target = folder / f"clone{number}"
        run(["git", "clone", "-q", url, str(target)], {**b.env, "GIT_SSL_CAINFO": str(b.site.ca)})
        if run(["git", "-C", str(target), "rev-parse", "HEAD"]) != want:
            raise Failure("the clone has another head")
        run(["git", "-C", str(target), "fsck", "--strict"])


def pip(b, origin):
    package = f"larderprobe{origin.name}"
    simple = b.site.root / origin.name / "simple" / package
    simple.mkdir(parents=True)
    wheel, info = f"{package}-1.0-py3-none-any.whl", f"{package}-1.0.dist-info"
    with zipfile.ZipFile(simple / wheel, "w") as z:
        z.writestr(f"{package}.py", "answer = 42\n")
        z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", f"{package}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    (simple / "index.html").write_text(f'<!doctype html><a href="{wheel}">{wheel}</a>')
    b.site.age(simple)
    env = {**b.env, "PIP_CONFIG_FILE": "/dev/null", "PIP_CERT": str(b.site.ca), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for scheme in SCHEMES:
        target = b.folder()
        run([sys.executable, "-m", "pip", "install", "-q", "--no-cache-dir", "--root-user-action=ignore", "--trusted-host", "origin.test",
             "--no-compile", "--index-url", origin.url(scheme, f"/{origin.name}/simple/"), "--target", str(target), package], env)
        if (target / f"{package}.py").read_text() != "answer = 42\n":
            raise Failure("the module is not what was published")
    # Once by http for two installs, and once through the tunnel.
    check_asked(origin, f"/{origin.name}/simple/{package}/{wheel}", 2)


def apt(b, origin):
    repository = b.site.root / origin.name / "debian"
    package = b.folder() / "larder-probe"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "usr/share/larder-probe").mkdir(parents=True)
    (package / "usr/share/larder-probe/answer").write_text("42\n")
    (package / "DEBIAN/control").write_text(
        "Package: larder-probe\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: probe\n")
    repository.mkdir(parents=True)
    run(["dpkg-deb", "-b", str(package), str(repository / "larder-probe_1.0_all.deb")])
    (repository / "Packages").write_bytes(run(["apt-ftparchive", "packages", "."], cwd=repository))
    release = run(["apt-ftparchive", "release", "."], cwd=repository)
    (repository / "Release").write_bytes(release)
    b.site.age(repository)
    for scheme in SCHEMES:
        root = b.folder()
        apt_install(b, root, origin.url(scheme, f"/{origin.name}/debian"))
        if (root / "target/usr/share/larder-probe/answer").read_text() != "42\n":
            raise Failure("the installed file is not what was packed")
    check_asked(origin, f"/{origin.name}/debian/./larder-probe_1.0_all.deb", 2)


def apt_install(b, root, url):
    """Updates and installs into a folder, with a state of its own."""
    root.chmod(0o755)
    for name in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "lists/partial", "cache/archives/partial", "state", "admin/updates",
                 "admin/info", "target"):
        (root / name).mkdir(parents=True)
    for name in ("admin/status", "admin/available"):
        (root / name).touch()
    (root / "sources.list").write_text(f"deb [trusted=yes] {url} ./\n")
    settings = [
        f"Dir::Etc={root}/etc/apt", f"Dir::Etc::SourceList={root}/sources.list", "Dir::Etc::SourceParts=-", f"Dir::State={root}/state",
        f"Dir::State::Lists={root}/lists", f"Dir::State::status={root}/admin/status", f"Dir::Cache={root}/cache",
        f"Acquire::http::Proxy={b.larder.url}", f"Acquire::https::Proxy={b.larder.url}", f"Acquire::https::CaInfo={b.site.ca}",
        "APT::Sandbox::User=root", "APT::Architecture=amd64", f"DPkg::Options::=--admindir={root}/admin",
        f"DPkg::Options::=--instdir={root}/target", "DPkg::Options::=--force-not-root", "DPkg::Options::=--force-bad-path",
        f"DPkg::Options::=--log={root}/dpkg.log"]
    options = ["-q"] + [part for setting in settings for part in ("-o", setting)]
    env = {**b.env, "APT_CONFIG": "/dev/null", "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", *options, "update"], env)
    run(["apt-get", *options, "install", "-y", "--no-install-recommends", "larder-probe"], env)


ALL = {
    "aria2": (["aria2c"], aria2),
    "git": (["git"], git),
    "pip": (["pip"], pip),
    "apt": (["apt-get", "apt-ftparchive", "dpkg-deb"], apt),
}
