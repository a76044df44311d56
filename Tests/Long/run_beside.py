"""Two `larder run` at once beside a `larder serve` on the same store: see run-beside.sh."""

import json
import os
import re
import shutil
import subprocess
import time

from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.larder import LARDER, WORK
from Tools.origins import SecureOrigin
from Tools.processes import start, wait_until

HOST = "origin.test"
CONTENT = os.urandom(200_000)
ENVIRONMENT = {key: value for key, value in os.environ.items()
               if not key.lower().endswith("_proxy") and not key.startswith(("LARDER_", "SSL_CERT", "XDG_"))}
ENVIRONMENT.update(HOME=f"{WORK}/home", XDG_RUNTIME_DIR=f"{WORK}/runtime", TMPDIR=f"{WORK}/tmp")

# What each command does: fetch what the other Larder stored, then a file of its own twice, and say what Cache-Status it had; then it waits
# until the other one is as far, so that both are at work at once.
COMMAND = """
set -e
ask() { curl -qsSf -o "$WORK/$1.$2" -D - "$URL/$2" | tr -d '\\r' | sed -n 's/^Cache-Status: //Ip'; }
: > "$WORK/$1.began"
n=0; until test -e "$WORK/$2.began"; do sleep 0.02; n=$((n + 1)); test $n -lt 1500; done
ask "$1" shared; ask "$1" "of-$1"; ask "$1" "of-$1"
env | sort > "$WORK/$1.env"
: > "$WORK/$1.ended"
n=0; until test -e "$WORK/$2.ended"; do sleep 0.02; n=$((n + 1)); test $n -lt 1500; done
exit 7
"""


def larder(*words):
    return [LARDER, *map(str, words)]


def served():
    ports = WORK / "ports"
    process = start(larder("serve", "-q", "--listen", "127.0.0.1:0", "--port-file", ports, "--set", "log.access.format=off"), env=ENVIRONMENT)
    return process, int(wait_until(lambda: ports.exists() and ports.read_text(), "larder serves", process))


def fetched(port, path):
    """The content and the Cache-Status by the Larder that serves."""
    said = subprocess.run(
        ["curl", "-qsSf", "-x", f"http://127.0.0.1:{port}", "--cacert", ROOT, "-D", WORK / "head", f"{URL}/{path}"], env=ENVIRONMENT,
        stdout=subprocess.PIPE, check=True).stdout
    return said, status_of((WORK / "head").read_text())


def status_of(head):
    return next((line.partition(": ")[2] for line in head.splitlines() if line.lower().startswith("cache-status:")), "")


def count_for_java():
    """What `keytool` counts within a run, beside what stands in the bundle of the others."""
    script = r"""
        store=$(sed -E 's/.*-Djavax.net.ssl.trustStore="?([^" ]*).*/\1/' <<< "$JAVA_TOOL_OPTIONS")
        password=$(sed -E 's/.*-Djavax.net.ssl.trustStorePassword="?([^" ]*).*/\1/' <<< "$JAVA_TOOL_OPTIONS")
        unset JAVA_TOOL_OPTIONS
        keytool -J-Duser.language=en -list -keystore "$store" -storepass "$password" > "$WORK/keytool"
        cp "$SSL_CERT_FILE" "$WORK/bundle.pem"; cp "$NODE_EXTRA_CA_CERTS" "$WORK/ours.pem"
        keytool -J-Duser.language=en -list -rfc -keystore "$store" -storepass "$password" > "$WORK/keytool.rfc" """
    subprocess.run(larder("run", "--store", ":memory:", "--", "bash", "-c", script), env={**ENVIRONMENT, "WORK": str(WORK)}, check=True)
    said = (WORK / "keytool").read_text()
    counted = int(re.search(r"contains (\d+) entr", said)[1])
    trusted = said.count("trustedCertEntry")
    # The same certificate may stand twice in a bundle, and once in a store.
    listed, named = digests(WORK / "bundle.pem"), digests(WORK / "keytool.rfc")
    check(counted == trusted == len(named) and counted > 100, f"keytool counts {counted} entries, {trusted} of them trusted")
    check(named == listed, f"they are those of the bundle ({len(listed)}): {len(listed - named)} missing, {len(named - listed)} more")
    ours = digests(WORK / "ours.pem")
    check(len(ours) == 2 and ours <= named, f"with the run's root and the origin's authority: {len(ours & named)} of {len(ours)}")


def digests(path):
    blocks = re.findall("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", path.read_text(), re.S)
    return {"".join(block.split()) for block in blocks}


authority = Authority(WORK)
origin = SecureOrigin(authority.certify(HOST), CONTENT)
URL = f"https://{HOST}:{origin.port}"
for folder in ("home/.config/larder", "runtime", "tmp"):
    (WORK / folder).mkdir(parents=True, mode=0o700)
(WORK / "home/.config/larder/config.yaml").write_text(f"""
resolve: {{{HOST}: 127.0.0.1}}
tunnel: {{ports: any}}
tls: {{hosts: {{{HOST}: {{anchors: {{bundle: {authority.certificate}}}, connect: intercept}}}}}}
""")
subprocess.run(larder("ca", "init"), env=ENVIRONMENT, check=True, capture_output=True)
ROOT = WORK / "root.pem"
ROOT.write_bytes(subprocess.run(larder("ca", "export"), env=ENVIRONMENT, check=True, stdout=subprocess.PIPE).stdout)
server, port = served()
content, status = fetched(port, "shared")
check(content == CONTENT and "stored" in status, f"serve: the origin's octets: {status}")
time.sleep(1.5)  # The store's file is written behind the answer.
content, status = fetched(port, "shared")
check("; hit" in status, f"serve: from the store: {status}")
before = origin.asked

(WORK / "command").write_text(COMMAND)
runs = {}
for name, other in [("a", "b"), ("b", "a")]:
    runs[name] = start(larder("run", "--summary", "--", "bash", WORK / "command", name, other), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     text=True, env={**ENVIRONMENT, "WORK": str(WORK), "URL": URL})
while runs and not all((WORK / f"{name}.began").exists() for name in runs) and all(one.poll() is None for one in runs.values()):
    time.sleep(0.02)
content, status = fetched(port, "beside")
check(content == CONTENT and "stored" in status, f"serve, beside both: {status}")
proxies, roots = set(), set()
for name, process in runs.items():
    said, summary = process.communicate(timeout=60)
    statuses = said.splitlines()
    check(process.returncode == 7, f"run {name}: the exit code is the command's: {process.returncode}")
    check(len(statuses) == 3 and "; hit" in statuses[0], f"run {name}: what serve has stored is read: {statuses[:1]}")
    # Until the store has it under its key, the next one reads what has just come: the origin is asked once all the same, see below.
    kept = "; hit" in statuses[2] or "; collapsed" in statuses[2]
    check("fwd=" in statuses[1] and kept, f"run {name}: its own file is fetched, then kept: {statuses[1:]}")
    check(all((WORK / f"{name}.{path}").read_bytes() == CONTENT for path in ("shared", f"of-{name}")), f"run {name}: the origin's octets")
    of_store = [line for line in summary.splitlines() if "the store is opened read-only" in line]
    check(of_store and str(server.pid) in of_store[0], f"run {name}: the summary tells who has the store: {of_store}")
    variables = dict(line.split("=", 1) for line in (WORK / f"{name}.env").read_text().splitlines() if "=" in line)
    proxies.add(variables["https_proxy"]), roots.add(variables["SSL_CERT_FILE"])
check(len(proxies | {f"http://127.0.0.1:{port}"}) == 3, f"three proxies: {sorted(proxies)}")
check(len(roots) == 2 and not any(os.path.exists(root) for root in roots), "each run had files of its own, which are gone")
check(origin.asked - before == 3, f"the origin was asked for three files, each once: {origin.asked - before}")
content, status = fetched(port, "shared")
check(content == CONTENT and "; hit" in status, f"serve goes on: {status}")
content, status = fetched(port, "of-a")
check("; hit" not in status, f"and knows nothing of what a run fetched: {status}")
status = json.loads(subprocess.run(larder("status", "-o", "json"), env=ENVIRONMENT, check=True, stdout=subprocess.PIPE).stdout)
check(status.get("pid") == server.pid, f"its admin socket is its own: process {status.get('pid')}")
server.terminate()
check(server.wait(40) == 0, "serve ended well")
said = subprocess.run(larder("cache", "verify"), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
check(said.returncode == 0, f"the store is whole: {said.stdout.strip()[-200:]}")
if shutil.which("keytool"):
    count_for_java()
else:
    print("left out: the trust store for Java (it needs keytool)")
check(not list((WORK / "tmp").iterdir()), "nothing is left behind")
finish()
