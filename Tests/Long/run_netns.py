"""Programs without proxies in `larder run --netns`: see run-netns.sh. Runs in a network of its own, where LINK has the default route."""

import json
import os
import shutil
import subprocess
import textwrap
from pathlib import Path

from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.larder import LARDER, WORK
from Tools.origins import PythonOrigin, QuietHandler

LINK, PEER = "d0", "d1"
ALLOWED, DENIED, ADDRESS, OTHER = "allowed.test", "denied.test", "127.0.0.1", "203.0.113.7"

GO = """
    package main

    import ("fmt"; "io"; "net/http"; "os"; "time")

    func main() {
        client := &http.Client{Transport: &http.Transport{}, Timeout: 60 * time.Second}
        response, err := client.Get(os.Args[1])
        if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }
        if response.StatusCode != 200 { fmt.Fprintln(os.Stderr, response.Status); os.Exit(1) }
        io.Copy(os.Stdout, response.Body)
    }
    """
JAVA = """
    import java.net.URL;

    class Get {
        public static void main(String[] arguments) throws Exception {
            new URL(arguments[0]).openStream().transferTo(System.out);
        }
    }
    """
NODE = """
    const url = process.argv[2], get = require(url.split(":")[0]).get;
    get(url, {agent: false}, response => {
        if (response.statusCode != 200) { console.error(response.statusCode); process.exit(1); }
        response.pipe(process.stdout);
    }).on("error", error => { console.error(error.message); process.exit(1); });
    """
# One packet of each kind that could leave: each must be refused or be answered here, and none may be lost in silence.
WAYS_OUT = """
    import errno, socket, sys
    socket.setdefaulttimeout(60)
    for kind, family, address in (("TCP", socket.AF_INET, ("203.0.113.7", 22)), ("TCP", socket.AF_INET6, ("2001:db8::7", 22)),
                                  ("UDP", socket.AF_INET, ("203.0.113.7", 443)), ("UDP", socket.AF_INET6, ("2001:db8::7", 443))):
        with socket.socket(family, socket.SOCK_STREAM if kind == "TCP" else socket.SOCK_DGRAM) as s:
            try:
                s.connect(address)
                s.send(b"x")
                s.recv(1)
                print("answered", address)
            except OSError as error:
                print(errno.errorcode.get(error.errno, error))
    for name in ("denied.test", "allowed.test"):
        try:
            print(socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM)[0][4][0].rsplit(".", 2)[0])
        except OSError as error:
            print(type(error).__name__)
    """


class Handler(QuietHandler):
    asked = 0

    def do_GET(self):
        Handler.asked += 1
        self.reply(f"{self.headers['Host']}{self.path}\n".encode())


def call(*words):
    subprocess.run([str(word) for word in words], check=True)


def lay_link():
    call("ip", "link", "set", "lo", "up")
    call("ip", "link", "add", LINK, "type", "veth", "peer", "name", PEER)
    # The kernel itself sends nothing there.
    for link in (LINK, PEER):
        call("sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1")
    call("ip", "link", "set", LINK, "arp", "off")
    call("ip", "link", "set", PEER, "up")
    call("ip", "address", "add", "192.0.2.2/24", "dev", LINK)
    call("ip", "link", "set", LINK, "up")
    call("ip", "route", "add", "default", "via", "192.0.2.1")


def sent_count():
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith(f"{LINK}:"))
    return int(line.split(":")[1].split()[9])


def programs():
    """Each with the variables that its command removes; and what is not installed."""
    found, missing = {}, []
    found["curl"] = ["env", "-i", shutil.which("curl"), "-fsS", "--max-time", "60"]
    if shutil.which("go"):
        (WORK / "get.go").write_text(textwrap.dedent(GO))
        subprocess.run(["go", "build", "-o", WORK / "get", WORK / "get.go"], check=True,
                       env={**os.environ, "CGO_ENABLED": "0", "GOCACHE": str(WORK / "go"), "GO111MODULE": "off"})
        found["a static Go program"] = ["env", "-i", WORK / "get"]
    else:
        missing.append("go")
    if shutil.which("javac"):
        (WORK / "Get.java").write_text(textwrap.dedent(JAVA))
        call("javac", "-d", WORK, WORK / "Get.java")
        found["Java"] = ["env", "-i", shutil.which("java"), "-cp", WORK, "Get"]
    else:
        missing.append("javac")
    if shutil.which("node"):
        (WORK / "get.js").write_text(NODE)
        # Node has its own list of CAs: only the variable tells it of others.
        found["Node"] = ["sh", "-c", 'exec env -i NODE_EXTRA_CA_CERTS="$NODE_EXTRA_CA_CERTS" "$@"', "sh", shutil.which("node"), WORK / "get.js"]
    else:
        missing.append("node")
    return found, missing


def main():
    for name in ("home", "tmp"):
        (WORK / name).mkdir()
        (WORK / name).chmod(0o777)
    WORK.chmod(0o755)
    # An ordinary user reads neither a build's folder nor root's files.
    larder = shutil.copy(LARDER, WORK / "larder")
    lay_link()
    authority = Authority(WORK)
    files = authority.certify(ALLOWED, DENIED, ADDRESS, name="origin")
    origins = [PythonOrigin(Handler, port=80), PythonOrigin(Handler, files, port=443)]
    settings = WORK / "policy.yaml"
    settings.write_text(textwrap.dedent(f"""
        egress: {{default: deny, addresses: {{private: allow}}}}
        resolve: {{{ALLOWED}: 127.0.0.1, {DENIED}: 127.0.0.1}}
        tls: {{default: {{anchors: {{bundle: {authority.certificate}}}}}}}
        rules:
          - {{name: allowed, match: {{host: {ALLOWED}}}, allow: {{}}}}
        """))
    (WORK / "ways_out.py").write_text(textwrap.dedent(WAYS_OUT))
    settings.chmod(0o644)
    authority.certificate.chmod(0o644)
    found, missing = programs()

    def run(user, options, command):
        words = [larder, "run", "--netns", "--policy", settings, "--store", ":memory:", "--log", WORK / "home/log", *options, "--", *command]
        if user:
            words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words]
        (WORK / "home/log").write_text("")
        (WORK / "home/log").chmod(0o666)
        environment = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "TMPDIR": str(WORK / "tmp")}
        done = subprocess.run([str(word) for word in words], env=environment, cwd=WORK / "home", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)
        records = [json.loads(line) for line in (WORK / "home/log").read_text().splitlines()]
        return done.returncode, done.stdout.decode(), done.stderr.decode(), records

    for user in (None, 65534):
        who = "an ordinary user" if user else "root"
        code, _, talk, _ = run(user, [], ["true"])
        if code == 125:
            print(f"left out: {who}: {talk.strip()}")
            continue
        before = sent_count()
        for name, command in found.items():
            for scheme, way, options in (("http", "http", []), ("https", "intercepted", []), ("https", "in a tunnel", ["--no-intercept"])):
                code, said, talk, records = run(user, options, [*command, f"{scheme}://{ALLOWED}/a"])
                isSeen = any(record.get("transparent") for record in records)
                check(code == 0 and said == f"{ALLOWED}/a\n" and isSeen, f"{who}: {name}, {way}: the page"
                      + (f"; {code} {said} {talk} {records}" if code or not isSeen else ""))
            asked = Handler.asked
            for url in (f"http://{DENIED}/", f"https://{DENIED}/", f"http://{ADDRESS}/", f"https://{ADDRESS}/", f"http://{OTHER}/",
                        f"https://{OTHER}/", f"http://{ALLOWED}:22/"):
                code, said, talk, records = run(user, [], [*command, url])
                check(code != 0 and not said, f"{who}: {name}: {url} fails" + (f"; {said} {records}" if not code else ""))
            check(Handler.asked == asked, f"{who}: {name}: no origin was asked for what is denied")
        code, said, talk, _ = run(user, [], ["/usr/bin/python3", WORK / "ways_out.py"])
        check(said == "ECONNREFUSED\n" * 4 + "gaierror\n198.18\n", f"{who}: other ports are refused, and names: {said.split()} {talk}")
        if not user:
            # Root enters another network by its file, if it may.
            code, said, talk, _ = run(user, [], ["nsenter", "--net=/proc/1/ns/net", "true"])
            check(code != 0, f"{who}: no other network can be entered: {talk.strip()}")
        check(sent_count() == before, f"{who}: {sent_count() - before} packets left")
    before = sent_count()
    subprocess.run(["curl", "-s", "-o", "/dev/null", "--max-time", "1", f"http://{OTHER}/"])
    check(sent_count() > before, "the link counts what leaves without --netns")
    for origin in origins:
        origin.stop()
    if missing:
        print("left out, since it is not installed: " + ", ".join(missing))
    finish()


main()
