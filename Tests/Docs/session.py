"""Runs one page: its origin, its Larder, and its blocks in one bash. Prints the result as JSON.

Called by run.py, in namespaces of its own where the system allows them:  session.py PAGE FOLDER LARDER isolated|shared
"""

import ctypes
import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from Docs.origin import serve  # noqa: E402
from Docs.pages import PageError, matches, may_match, read_page  # noqa: E402
from Tools.certificates import Authority  # noqa: E402

#: Only a hang takes so long.
DEADLINE = 60
ORIGIN, PROXY = 8000, 3180

#: Runs one command after the other in one shell. Each writes to a file of its own, so that what a command in the background writes later
#: does not stand among the next command's output.
DRIVER = r"""
while IFS= read -r -d '' __output <&COMMANDS && IFS= read -r -d '' __command <&COMMANDS; do
    eval "$__command" > "$__output" 2>&1 < /dev/null COMMANDS<&- RESULTS>&-
    printf '%s\0' "$?" >&RESULTS
done
"""

#: What a page's shell finds besides the system's programs.
HELPERS = {
    "python3": 'exec "PYTHON" "$@"',
    # For `setup`: `echo CONTENT | serve-file /PATH 'FIELD: VALUE'...` adds a file to the origin, or replaces one.
    "serve-file": """file=FOLDER/origin/$(tr / % <<< "${1#/}"); shift
{ printf '%s\\n' 'Content-Type: text/plain' "$@" ''; cat; } > "$file" """,
    # For `setup`: waits until a program listens, and Larder until its commands find it.
    "wait-for-port": """until (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null; do sleep 0.05; done
[[ $1 != 3180 ]] || until larder status > /dev/null 2>&1; do sleep 0.05; done""",
}
#: Without a process namespace these would end programs that are not the page's.
GUARDS = {name: f'echo "{name} is not for pages: larder stop, or kill %1" >&2; exit 1' for name in ("pkill", "killall")}


class Hang(Exception):
    pass


class Shell:
    def __init__(self, folder, environment, home):
        self.folder, self.count = folder, 0
        commands, self.commands = os.pipe()
        self.results, results = os.pipe()

        driver = DRIVER.replace("COMMANDS", str(commands)).replace("RESULTS", str(results))
        # Its own messages (that a job was killed) are no command's output.
        subprocess.Popen(["bash", "--noprofile", "--norc", "-c", driver], cwd=home, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(commands, results), start_new_session=True)
        os.close(commands), os.close(results)

    def run(self, command, deadline):
        """The file with the command's output, and its exit code."""
        self.count += 1
        output = self.folder / f"output-{self.count}"
        os.write(self.commands, str(output).encode() + b"\0" + command.encode() + b"\0")
        code = b""
        while not code.endswith(b"\0"):
            if not select.select([self.results], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise Hang
            piece = os.read(self.results, 16)
            if not piece:
                return output, None
            code += piece
        return output, int(code[:-1])


class PageRun:
    def __init__(self, page, folder, larder, isolated):
        self.page, self.folder, self.isolated = page, folder, isolated
        self.result = {"page": page.path, "run": 0, "not_run": {}, "failures": [], "shown": []}
        self.home = folder / "home"
        programs = folder / "bin"
        for place in (self.home, folder / "run", folder / "tmp", folder / "output", folder / "origin", programs):
            place.mkdir(mode=0o700)
        for program in (Path(larder), Path(larder).with_name("newest")):  # and docs/samples/newest, where it was built
            if program.exists():
                (programs / program.name).symlink_to(program)
        for name, text in (HELPERS | ({} if isolated else GUARDS)).items():
            (programs / name).write_text("#!/bin/bash\n" + text.replace("PYTHON", os.path.realpath(sys.executable)).replace("FOLDER", str(folder))
                                         + "\n")
            (programs / name).chmod(0o755)
        # At a terminal curl shows no progress beside a body that it prints.
        (self.home / ".curlrc").write_text("silent\nshow-error\n")
        self.environment = {
            "HOME": str(self.home), "USER": "me", "LOGNAME": "me", "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "COLUMNS": "100",
            "PATH": f"{programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL": "/bin/bash",
            "TMPDIR": str(folder / "tmp"), "XDG_RUNTIME_DIR": str(folder / "run"), "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CACHE_HOME": str(self.home / ".cache"), "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"), "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(self):
        if self.page.hosts and not self.isolated:
            for block in self.page.blocks:
                self.skip(block.not_run or "no network namespaces here")
            return self.result
        self.start_origin()
        if self.page.larder is not None:
            self.start_larder()
        self.shell = Shell(self.folder / "output", self.environment, self.home)
        try:
            for block in self.page.blocks:
                self.run_block(block)
        except Hang:
            pass  # reported; the shell is of no more use
        return self.result

    def start_origin(self):
        serve(ORIGIN, self.folder / "origin")
        if self.page.hosts:
            authority = Authority(self.folder, days=90)
            serve(80, self.folder / "origin")
            serve(443, self.folder / "origin", authority.certify(*self.page.hosts, name="origin"))
            names = " ".join(self.page.hosts)
            self.cover("/etc/hosts", f"127.0.0.1 localhost {names}\n::1 localhost\n")
            for bundle in ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"):
                if os.path.exists(bundle):
                    self.cover(os.path.realpath(bundle), Path(bundle).read_text() + authority.certificate.read_text())

    def cover(self, path, text):
        """Has the page's processes read another text in a file of the system."""
        copy = self.folder / path.strip("/").replace("/", "-")
        copy.write_text(text)
        subprocess.run(["mount", "--bind", copy, path], check=True)

    def start_larder(self):
        log = open(self.folder / "larder.log", "wb")
        process = subprocess.Popen(["bash", "-c", f"exec larder serve {self.page.larder}"], cwd=self.home, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + DEADLINE
        status = ["true"] if "admin.socket" in self.page.larder else ["larder", "status"]
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", PROXY)) == 0 and not subprocess.run(status, env=self.environment, capture_output=True).returncode:
                    return
            if process.poll() is not None or time.monotonic() > deadline:
                raise PageError(f"{self.page.path}: its Larder does not start: " + (self.folder / "larder.log").read_text()[-1000:])
            time.sleep(0.02)

    def skip(self, reason):
        self.result["not_run"][reason] = self.result["not_run"].get(reason, 0) + 1

    def run_block(self, block):
        deadline = time.monotonic() + DEADLINE
        for setup in block.setup:
            output, code = self.attempt(setup, deadline)
            if code != 0:
                self.fail(setup, ["(a setup that succeeds)"], self.lines(output) + [f"(exit code {code})"])
        if block.not_run:
            return self.skip(block.not_run)
        if missing := [name for name in block.needs if not shutil.which(name, path=self.environment["PATH"])]:
            return self.skip(f"{', '.join(missing)} is not installed")
        self.result["run"] += 1
        for command in block.commands:
            output, code = self.attempt(command, deadline)
            if command.is_background:
                self.await_output(command, output, deadline)
            lines = self.lines(output)
            self.result["shown"].append([command.line, command.text, lines])
            if code is None:
                lines.append("(the shell has ended)")
            if not matches(command.expected, lines):
                self.fail(command, command.expected, lines)
                # Without the time that a command in the background had for its output.
                deadline = time.monotonic() + DEADLINE

    def await_output(self, command, output, deadline):
        """Waits until the output is what the page shows, or cannot become that any more."""
        while time.monotonic() < deadline:
            text = self.text(output)
            if matches(command.expected, self.lines_of(text)) or not may_match(command.expected, self.lines_of(text[:text.rfind("\n") + 1])):
                return
            time.sleep(0.02)

    def attempt(self, command, deadline):
        try:
            return self.shell.run(command.text, deadline)
        except Hang:
            self.fail(command, command.expected, self.lines(self.folder / "output" / f"output-{self.shell.count}")
                      + [f"(it had not ended when its block had run for {DEADLINE} s; the rest of the page was not run)"])
            raise

    def fail(self, command, expected, lines):
        self.result["failures"].append([command.line, command.text, expected, lines])

    def text(self, output):
        return output.read_text(errors="replace") if output.exists() else ""

    def lines(self, output):
        return self.lines_of(self.text(output))

    def lines_of(self, text):
        for place, name in ((self.home, "/home/me"), (self.folder / "run", "/run/user/1000"), (self.folder / "tmp", "/tmp")):
            text = text.replace(str(place), name)
        text = text.replace("\r", "")
        lines = [line.rstrip() for line in text.split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return [line for line in lines if not re.match(r"bash: line \d+: +\d+ (Killed|Terminated|Hangup)\b", line)]


def isolate(folder):
    """Inside the namespaces: brings loopback up, and makes all but the page's folder read-only, lest a page change the machine."""
    with socket.socket() as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP, IFF_RUNNING
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", "/"], stderr=subprocess.DEVNULL)


def end_descendants():
    """Ends whatever the page has left running. Orphans become this process's children, which it has asked for."""
    while True:
        children = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                children.append(int(status.parent.name))
        if not children:
            return
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def main():
    path, folder, larder, kind = sys.argv[1:]
    folder = Path(folder)
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    if kind == "isolated":
        isolate(folder)
    try:
        result = PageRun(read_page(path, Path(path).read_text()), folder, larder, kind == "isolated").run()
    except PageError as error:
        result = {"page": path, "run": 0, "not_run": {}, "failures": [], "shown": [], "error": str(error)}
    print(json.dumps(result))
    sys.stdout.flush()
    end_descendants()


main()
