"""What testssl.sh finds in intercepted TLS: nothing above LOW but that nobody says where leaves are revoked.

It goes straight to an address where a relay stands that says CONNECT for it: its own way through a proxy goes past it as soon as the
address is one that can be reached. The port is 443, since it names none in its Host field; what Larder answers comes from the store, as
the relay has the origin's address by then.
"""

import asyncio
import json
import random
import subprocess
import threading

from Tools.certificates import Authority
from Tools.checks import check, finish
from Tools.larder import WORK, Interceptor
from Tools.origins import SecureOrigin

HOST, PORT = "origin.test", 443
# What is to be found, and what testssl cannot find out: it ends each connection at once, often before the ticket of TLS 1.3 has come, and
# its own OpenSSL may be without GOST.
EXPECTED = {"cert_revocation"}
UNDECIDED = {"sessionresumption_ticket", "engine_problem"}
BELOW = {"OK", "INFO", "LOW", "DEBUG"}
# It has to have found these; an empty report is none.
FOUND = {
    "TLS1": "not offered", "TLS1_1": "not offered", "TLS1_2": "offered", "TLS1_3": "offered with final",
    "cert_keySize": "EC 256 bits", "cert_signatureAlgorithm": "ECDSA with SHA256", "cert_chain_of_trust": "passed.",
    "cert_keyUsage": "Digital Signature", "cert_extKeyUsage": "TLS Web Server Authentication", "secure_client_renego": "not vulnerable",
    "CRIME_TLS": "not vulnerable", "HTTP_status_code": "200 OK ('/')",
}


def relay(address, target, proxy):
    """What is sent to the address goes into a tunnel to the target."""
    async def pipe(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except OSError:
            pass

    async def serve(reader, writer):
        theirs, ours = await asyncio.open_connection("127.0.0.1", proxy)
        try:
            ours.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
            if (await theirs.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 "):
                await asyncio.gather(pipe(reader, ours), pipe(theirs, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            ours.close()

    async def listen():
        server = await asyncio.start_server(serve, address, PORT)
        started.set()
        await server.serve_forever()

    started = threading.Event()
    threading.Thread(target=lambda: asyncio.run(listen()), daemon=True).start()
    if not started.wait(10):
        raise SystemExit(f"nothing listens on {address}")


def begin(name, address, root):
    report, said = WORK / f"{address}.json", open(WORK / f"{address}.txt", "w")
    reached_at = [] if name == address else ["--ip", address]
    process = subprocess.Popen(
        ["testssl", "--quiet", "--color", "0", "--warnings", "batch", "--nodns", "none", *reached_at, "--add-ca", str(root), "--jsonfile",
         str(report), f"https://{name}/"], cwd=WORK, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
    return process, report


def judge(what, report):
    findings = {one["id"]: one for one in json.loads(report.read_text())}
    for name, expected in FOUND.items():
        found = findings.get(name, {}).get("finding")
        check(found == expected, f"{what}: {name}: {found}")
    above = {name: one for name, one in findings.items() if one["severity"] not in BELOW}
    for name in sorted(above.keys() - EXPECTED - UNDECIDED):
        check(False, f"{what}: {above[name]['severity']} {name}: {above[name]['finding']}")
    check(EXPECTED <= above.keys(), f"{what}: found above LOW: {', '.join(sorted(above))}")
    print(f"        {what}: {len(findings)} findings, LOW: {', '.join(sorted(n for n, o in findings.items() if o['severity'] == 'LOW'))}")


def main():
    name_address, address = (f"127.{random.randrange(64, 250)}.{random.randrange(256)}.{last}" for last in (1, 2))
    authority = Authority(WORK)
    try:
        origins = [SecureOrigin(authority.certify(HOST), b"hello\n", name_address, PORT),
                   SecureOrigin(authority.certify(address), b"hello\n", address, PORT)]
    except PermissionError:
        print("left out: it needs the port 443")
        return
    larder = Interceptor(WORK / "store.sqlite", authority, f"resolve={{{HOST}: {name_address}}}")
    for host in (HOST, address):
        subprocess.run(["curl", "-qsf", "-o", "/dev/null", "-x", f"http://127.0.0.1:{larder.port}", "--cacert", larder.root,
                        f"https://{host}/"], check=True)
    larder.stop()
    for origin in origins:
        origin.stop()
    larder.arguments += ["--offline"]
    larder.start()
    relay(name_address, f"{HOST}:{PORT}", larder.port)
    relay(address, f"{address}:{PORT}", larder.port)
    looks = [("a name", *begin(HOST, name_address, larder.root)), ("an address", *begin(address, address, larder.root))]
    for what, process, report in looks:
        try:
            process.wait(900)
        finally:
            process.kill()
        judge(what, report)
    check(larder.stop() == 0, "Larder ended well")


main()
finish()
