"""The Debian package in a fresh Debian: see package.sh. Runs in a mount namespace of its own."""

import configparser
import ctypes
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from Tools.checks import check, claim, finish
from Tools.larder import LARDER, WORK
from Tools.origins import PythonOrigin, QuietHandler
from Tools.processes import Failure, output, start

SOURCES = Path(__file__).resolve().parents[2]
ROOT = WORK / "root"
UNIT = "lib/systemd/system/larder.service"
# Nothing of this machine's settings.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
ADDRESSES = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]


def build(folder):
    output([SOURCES / "scripts/package.py", "deb", "--larder", LARDER, "--output", folder], timeout=600)
    return next(Path(folder).glob("*.deb"))


def in_root(*words, code=0):
    done = subprocess.run(["chroot", ROOT, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    if code is not None and done.returncode != code:
        raise Failure(f"{words}: {done.returncode}\n{done.stdout.decode(errors='replace')[-2000:]}")
    return done


def install(package):
    shutil.copy(package, ROOT / "tmp/larder.deb")
    in_root("apt-get", "install", "-y", "--no-install-recommends", "/tmp/larder.deb")


class Unit:
    """What systemd would do with the unit: its folders, its user, its environment, its commands."""

    def __init__(self):
        parser = configparser.RawConfigParser(strict=False)
        parser.optionxform = str
        parser.read(ROOT / UNIT)
        service = parser["Service"]
        self.user = service["User"]
        self.environment = dict(word.split("=", 1) for word in service["Environment"].split())
        self.begins, self.reloads = service["ExecStart"].split(), service["ExecReload"].split()
        for kind, place in (("Cache", "var/cache"), ("State", "var/lib"), ("Logs", "var/log"), ("Runtime", "run")):
            folder = f"{place}/{service[kind + 'Directory']}"
            mode = service[f"{kind}DirectoryMode"]
            in_root("install", "-d", "-o", self.user, "-g", service["Group"], "-m", mode, f"/{folder}")

    def command(self, words, **variables):
        given = [f"{name}={value}" for name, value in {**self.environment, "PATH": "/usr/bin:/bin", **variables}.items()]
        return ["chroot", ROOT, "setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", "env", "-i", *given, *words]


class Receiver:
    """The socket of the service manager for messages."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(ROOT / "run/notify"))
        (ROOT / "run/notify").chmod(0o777)
        self.socket.settimeout(60)

    def next(self):
        return self.socket.recv(4096).decode().splitlines()[0]


def leave_network():
    """Into a network namespace where the service's ports are free. apt needs the network before."""
    new_network = 0x40000000
    if ctypes.CDLL(None, use_errno=True).unshare(new_network) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    output(["ip", "link", "set", "lo", "up"])


def listeners():
    made = []
    for family, address in ADDRESSES:
        s = socket.socket(family)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.bind((address, 3180))
        s.listen(128)
        made.append(s)
    return made


def fetch(url, proxy):
    done = subprocess.run(["curl", "-sS", "-D", "-", "-x", proxy, url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    found = re.search(rb"(?im)^cache-status: (.*?)\r?$", done.stdout)
    return found.group(1).decode() if found else done.stdout.decode(errors="replace")


def serve(began):
    """Starts as systemd would, with its sockets, and goes through the life of the service."""
    class Handler(QuietHandler):
        def do_GET(self):
            self.reply(b"page\n", Cache_Control="max-age=60")

    origin = PythonOrigin(Handler)
    unit, receiver, sockets = Unit(), Receiver(), listeners()
    # The program gets them from 3 on, in this order, as from systemd. Here these numbers are taken.
    numbers = [fcntl.fcntl(s.fileno(), fcntl.F_DUPFD, 100) for s in sockets]
    moves = " ".join(f"{3 + index}<&{number} {number}<&-" for index, number in enumerate(numbers))
    words = unit.command(["bash", "-c", f'exec {moves}; LISTEN_PID=$$ exec "$0" "$@"', *unit.begins], LISTEN_FDS=len(numbers),
                         NOTIFY_SOCKET="/run/notify")
    log = (WORK / "service.log").open("wb")
    process = start(words, pass_fds=numbers, stdout=log, stderr=log)
    try:
        check(receiver.next() == "READY=1", "the service reports that it is ready")
    except TimeoutError:
        raise Failure(f"the service did not report that it is ready: {(WORK / 'service.log').read_text()}")
    url = origin.url("/")
    first, second = fetch(url, "http://127.0.0.1:3180"), fetch(url, "http://[::1]:3180")
    check("stored" in first and "; hit" in second, f"the first request is stored, the second is a hit: {first} | {second}")
    seconds = time.monotonic() - began
    claim(seconds < 60, f"from the installation to the first hit: {seconds:.1f} s (at most 60)")
    check(in_root("larder", "status").stdout.startswith(b"version "), "root sees the state of the service")
    output(unit.command(unit.reloads))
    check([receiver.next(), receiver.next()] == ["RELOADING=1", "READY=1"], "a reload is reported")
    settings = ROOT / "etc/larder/config.yaml"
    good = settings.read_text()
    settings.write_text(good + "rules: [{}]\n")
    refused = subprocess.run(unit.command(unit.reloads), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(refused.returncode != 0 and b"/etc/larder/config.yaml:" in refused.stdout, f"a reload with a mistake fails: {refused.stdout.decode().splitlines()[0]}")
    check("; hit" in fetch(url, "http://127.0.0.1:3180"), "and the service continues")
    settings.write_text(good)
    process.send_signal(signal.SIGTERM)
    check(receiver.next() == "STOPPING=1" and process.wait(60) == 0, "SIGTERM stops the service, which reports it")
    check((ROOT / "var/log/larder/access.log").stat().st_size > 0, "the access log has the requests")
    owner = in_root("stat", "-c", "%U %a", "/var/cache/larder/store.sqlite").stdout.decode().split()
    check(owner[0] == "larder" and owner[1].endswith("00"), f"the store belongs to the service's user alone: {owner}")
    origin.stop()
    (ROOT / "run/notify").unlink()
    # systemd removes the RuntimeDirectory of a unit that has stopped.
    shutil.rmtree(ROOT / "run/larder")


def main():
    package = build(WORK / "one")
    check(package.read_bytes() == build(WORK / "two").read_bytes(), "two builds of the package are the same, byte for byte")
    findings = subprocess.run(["lintian", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()
    check(not findings, f"lintian finds nothing {findings}")
    exposure = float(re.search(r"level for \S+: ([0-9.]+)", output(
        ["systemd-analyze", "security", "--offline=yes", SOURCES / "config/larder.service"]).decode()).group(1))
    check(exposure <= 2.0, f"systemd-analyze security: {exposure} (at most 2.0)")
    before = files()
    began = time.monotonic()
    install(package)
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={ROOT}", f"/{UNIT}", f"/{UNIT.replace('.service', '.socket')}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode().strip()
    check(not verified, f"systemd-analyze verify is silent {verified}")
    check(in_root("larder", "version").stdout.startswith(b"larder "), "the program runs")
    check(in_root("larder", "config", "check", code=None).returncode == 0, "the settings of the package are good")
    leave_network()
    serve(began)
    in_root("apt-get", "purge", "-y", "larder")
    left = sorted(path for path in files() - before if "larder" in path)
    check(not left, f"a purge leaves nothing {left}")
    check(in_root("getent", "passwd", "larder", code=None).returncode != 0, "and no user")
    finish()


def files():
    return {str(path.relative_to(ROOT)) for top in ("etc", "usr", "lib", "var", "run", "home", "root") for path in (ROOT / top).rglob("*")}


def prepare():
    """A root of Debian 12, from the mirror that this machine uses; the packages that Larder needs are fetched at the installation."""
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=systemd", "bookworm", ROOT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print(f"left out: debootstrap failed, {done.stdout.decode()[-300:]}")
        raise SystemExit(0)
    subprocess.run(["mount", "-t", "proc", "proc", ROOT / "proc"], check=True)
    in_root("apt-get", "update")


prepare()
main()
