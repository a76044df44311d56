#!/usr/bin/env python3
"""Packages of the release program: `package.py deb` makes a Debian package, `package.py dist` an archive for other systems.

The files are the same for the same program and commit: times come from SOURCE_DATE_EPOCH, else from the commit,
else from CHANGELOG.md.
"""

import argparse
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import man_pages

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAINTAINER = os.environ.get("DEBFULLNAME", "Larder maintainers") + " <" + os.environ.get("DEBEMAIL", "maintainers@larder.example") + ">"


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def epoch():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    if (ROOT / ".git").exists() and shutil.which("git"):
        return int(output("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))
    return int((ROOT / "CHANGELOG.md").stat().st_mtime)


def compressed(data):
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


class Tree:
    """The files of a package, below a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def put(self, path, data, mode=0o644):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode())
        place.chmod(mode)

    def copy(self, source, path, mode=0o644):
        self.put(path, (ROOT / source).read_bytes(), mode)


def put_program(tree, larder, path):
    """The program without symbols of the debugger."""
    tree.put(path, b"", 0o755)
    subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", "-o", tree.folder / path, larder], check=True)
    (tree.folder / path).chmod(0o755)


def put_texts(tree, larder, version, manual, bash, zsh, fish):
    """Manual pages and completions."""
    date = time.strftime("%Y-%m-%d", time.gmtime(epoch()))
    for name, text in man_pages.pages(larder, date, version):
        tree.put(f"{manual}/man{name[-1]}/{name}.gz", compressed(text.encode()))
    for shell, place in (("bash", bash), ("zsh", zsh), ("fish", fish)):
        script = output(larder, "completions", shell)
        # A shell reads the file; nothing runs it.
        tree.put(place, script.split("\n", 1)[1] if script.startswith("#!") else script)


def libraries(tree):
    """What the program needs of the system, as dependencies of a Debian package."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "debian").mkdir()
        (pathlib.Path(folder) / "debian/control").write_text("Source: larder\n\nPackage: larder\nArchitecture: any\nDescription: x\n")
        done = subprocess.run(["dpkg-shlibdeps", "-O", tree.folder / "usr/bin/larder"], cwd=folder, check=True, capture_output=True, text=True)
    return re.search("^shlibs:Depends=(.*)$", done.stdout, re.MULTILINE).group(1)


def make_deb(larder, version, place):
    # dpkg sorts `0.2.0~dev` before the release 0.2.0, and `0.2.0-dev` after it.
    version = version.replace("-", "~")
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder)
        put_program(tree, larder, "usr/bin/larder")
        put_texts(tree, larder, version, "usr/share/man", "usr/share/bash-completion/completions/larder",
                  "usr/share/zsh/vendor-completions/_larder", "usr/share/fish/vendor_completions.d/larder.fish")
        tree.copy("config/larder.service", "lib/systemd/system/larder.service")
        tree.copy("config/larder.socket", "lib/systemd/system/larder.socket")
        tree.copy("config/debian/config.yaml", "etc/larder/config.yaml")
        tree.copy("config/debian/logrotate", "etc/logrotate.d/larder")
        tree.copy("config/debian/copyright", "usr/share/doc/larder/copyright")
        tree.copy("config/debian/lintian-overrides", "usr/share/lintian/overrides/larder")
        tree.copy("config/larder.example.yaml", "usr/share/doc/larder/examples/config.yaml")
        tree.copy("config/prometheus-alerts.yaml", "usr/share/doc/larder/examples/prometheus-alerts.yaml")
        tree.copy("config/grafana-dashboard.json", "usr/share/doc/larder/examples/grafana-dashboard.json")
        date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(epoch()))
        entry = f"larder ({version}) unstable; urgency=medium\n\n  * Version {version}.\n\n -- {MAINTAINER}  {date}\n"
        tree.put("usr/share/doc/larder/changelog.gz", compressed(entry.encode()))
        architecture = output("dpkg", "--print-architecture").strip()
        sizes = sum(file.stat().st_size for file in tree.folder.rglob("*") if file.is_file())
        tree.put("DEBIAN/control", f"""Package: larder
Version: {version}
Architecture: {architecture}
Maintainer: {MAINTAINER}
Installed-Size: {-(-sizes // 1024)}
Pre-Depends: init-system-helpers (>= 1.54~)
Depends: {libraries(tree)}, adduser, ca-certificates
Suggests: logrotate
Section: web
Priority: optional
Description: caching forward proxy that enforces policy
 Larder is a local HTTP proxy. Programs are pointed at it by HTTP_PROXY. It
 caches http and https as RFC 9111 says, enforces rules on hosts, methods and
 paths, verifies certificates and pins, and records and replays traffic.
""")
        listed = sorted(file for file in tree.folder.rglob("*") if file.is_file() and "DEBIAN" not in file.parts)
        tree.put("DEBIAN/md5sums", "".join(
            f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(tree.folder)}\n" for file in listed
            if not str(file.relative_to(tree.folder)).startswith("etc/")))
        tree.put("DEBIAN/conffiles", "".join(f"/{file.relative_to(tree.folder)}\n" for file in listed
                                             if str(file.relative_to(tree.folder)).startswith("etc/")))
        for script in ("postinst", "prerm", "postrm"):
            tree.copy(f"config/debian/{script}", f"DEBIAN/{script}", 0o755)
        for directory in [tree.folder, *(entry for entry in tree.folder.rglob("*") if entry.is_dir())]:
            directory.chmod(0o755)
        result = place / f"larder_{version}_{architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", folder, result], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())})
    return [result]


def make_dist(larder, version, place):
    machine = os.uname().machine
    name = f"larder-{version}-linux-{machine}"
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(pathlib.Path(folder) / name)
        put_program(tree, larder, "bin/larder")
        put_texts(tree, larder, version, "share/man", "share/bash-completion/completions/larder", "share/zsh/site-functions/_larder",
                  "share/fish/vendor_completions.d/larder.fish")
        for file in ("LICENSE", "README.md", "CHANGELOG.md"):
            tree.copy(file, file)
        for file in ("larder.example.yaml", "larder.service", "larder.socket", "prometheus-alerts.yaml", "grafana-dashboard.json"):
            tree.copy(f"config/{file}", f"config/{file}")
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for entry in sorted([tree.folder, *tree.folder.rglob("*")]):
                info = tar.gettarinfo(entry, str(entry.relative_to(folder)))
                info.uid = info.gid = 0
                info.uname = info.gname = "root"
                info.mtime = epoch()
                if info.isdir():
                    info.mode = 0o755
                with (entry.open("rb") if info.isfile() else io.BytesIO()) as content:
                    tar.addfile(info, content if info.isfile() else None)
        result = place / f"{name}.tar.gz"
        result.write_bytes(compressed(archive.getvalue()))
    return [result]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["deb", "dist"])
    parser.add_argument("--larder", required=True, metavar="FILE", help="the release program")
    parser.add_argument("--output", default=".build/packages", metavar="FOLDER")
    chosen = parser.parse_args()
    needed = ["strip"] + (["dpkg-deb", "dpkg-shlibdeps"] if chosen.kind == "deb" else [])
    for program in needed:
        if not shutil.which(program):
            sys.exit(f"package.py: {program} is missing; on Debian: apt-get install binutils dpkg-dev")
    larder = str(pathlib.Path(chosen.larder).resolve())
    version = output(larder, "version").split()[-1]
    place = pathlib.Path(chosen.output).resolve()
    place.mkdir(parents=True, exist_ok=True)
    made = (make_deb if chosen.kind == "deb" else make_dist)(larder, version, place)
    sums = place / "SHA256SUMS"
    known = dict(line.split("  ")[::-1] for line in sums.read_text().splitlines()) if sums.exists() else {}
    for file in made:
        known[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    sums.write_text("".join(f"{known[name]}  {name}\n" for name in sorted(known) if (place / name).exists()))


main()
