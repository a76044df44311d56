"""Clients through `larder run --strict --summary`: see run-strict.sh. LARDER is the binary, WORK a folder for all that is written."""

import re
import shutil
import subprocess
import sys
import textwrap

import run_clients as clients
from Tools.larder import LARDER, WORK
from Tools.origins import PythonOrigin
from run_clients import CLEAN, HOST, ROOT

FETCH = "fetch(process.argv[1]).then(r => r.arrayBuffer()).then(b => process.stdout.write(Buffer.from(b)))"
GRPC_IN_CLEAR = """
    import grpc, sys
    with grpc.insecure_channel(sys.argv[1]) as channel:
        assert channel.unary_unary("/a.B/C")(b"abc", timeout=20) == b"cba"
    """
UNSEEN = (r"larder: 0 requests, 0 hits, 0 B saved of 0 B, 0 denied\n"
          r"larder: no request came through Larder: either the command sent no request, or it ignores the proxy variables; .*--netns.*\n")


def through_larder(authority, requests="1 request"):
    return (rf"larder: {requests}, 0 hits, 0 B saved of 29\d\.\d KiB, 0 denied\n"
            rf"larder:   {re.escape(authority)} {requests}, 0 hits\n")


def call(authority):
    """A call of gRPC that Larder has seen."""
    return rf"larder: 1 request, 0 hits, 0 B saved of \S+ B, 0 denied\nlarder:   {re.escape(authority)} 1 request, 0 hits\n"


def tunnel(authority, more=""):
    return (rf"larder: 0 requests, 0 hits, 0 B saved of \S+ (B|KiB), 0 denied, 1 tunnel{', 1 not intercepted' if more else ''}\n"
            rf"larder:   {re.escape(authority)} 1 tunnel\n{more}")


def ignores_proxies():
    """Node before 22.21, whose fetch does not read the variables."""
    version = shutil.which("node") and subprocess.run(["node", "--version"], stdout=subprocess.PIPE).stdout.decode()
    return version and tuple(int(word) for word in version.strip("v\n").split(".")[:2]) < (22, 21)


def main():
    talks = "-v" in sys.argv
    (WORK / "tmp").mkdir(parents=True)
    (WORK / "runtime").mkdir(mode=0o700)
    ROOT.mkdir()
    (ROOT / "file.bin").write_bytes(b"x" * 300_000)
    origin, plain = clients.Origin(), PythonOrigin(clients.Handler)
    in_clear = f"127.0.0.1:{plain.port}"
    secure, url = f"{HOST}:{origin.port}", f"http://{in_clear}/file.bin"
    settings = clients.settings("larder")
    with_tunnel = clients.settings("tunnel", hosts=", tunnel.test: {connect: tunnel}")
    without_http2 = clients.settings("without-http2", connect="http2: off")
    (WORK / "secure.py").write_text(textwrap.dedent(clients.GRPC_CLIENT))
    (WORK / "clear.py").write_text(textwrap.dedent(GRPC_IN_CLEAR))
    failed, left_out = [], []

    def row(name, needs, command, code, summary, settings=settings, fetches=True):
        """`summary` matches all that Larder says."""
        if lacking := clients.missing(needs):
            left_out.append(f"{name} ({', '.join(lacking)})")
            return
        words = [LARDER, "run", "-c", settings, "--store", ":memory:", "--strict", "--summary", "--", *command]
        done = subprocess.run([str(word) for word in words], env=CLEAN, cwd=WORK, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = done.stderr.decode(errors="replace").splitlines(keepends=True)
        said = "".join(line for line in lines if line.startswith("larder: "))
        if talks:
            print(f"$ larder run --strict --summary -- {name}\n{said}exit code {done.returncode}", flush=True)
        if done.returncode != code or not re.fullmatch(summary, said) or (fetches and len(done.stdout) != 300_000):
            failed.append(name)
            print(f"FAILED  {name}: exit code {done.returncode}, {len(done.stdout)} bytes, {''.join(lines)[-2000:]}", flush=True)
        else:
            print(f"ok      {name}: exit code {code}", flush=True)

    if ignores_proxies():
        row("node's fetch, which ignores the proxy", ["node"], ["node", "-e", FETCH, url], 4, UNSEEN)
    else:
        left_out.append("node's fetch, which ignores the proxy (a node before 22.21)")
    node = [clients.newest_node(), "-e", FETCH]
    row("node's fetch, http", ["node-with-proxies"], [*node, url], 0, through_larder(in_clear))
    row("node's fetch, https", ["node-with-proxies"], [*node, f"{origin.url}/file.bin"], 0, through_larder(secure))
    row("curl --http1.0, http", ["curl"], ["curl", "-sS", "--http1.0", url], 0, through_larder(in_clear))
    row("curl --http1.0, https", ["curl"], ["curl", "-sS", "--http1.0", f"{origin.url}/file.bin"], 0, through_larder(secure))
    row("wget, http", ["wget"], ["wget", "-q", "-O", "-", url], 0, through_larder(in_clear))
    row("wget, https", ["wget"], ["wget", "-q", "-O", "-", f"{origin.url}/file.bin"], 0, through_larder(secure))
    row("php's file_get_contents, which ignores the proxy", ["php:standard"], ["php", "-r", "echo file_get_contents($argv[1]);", url], 4, UNSEEN)
    row("curl, a server that Larder does not trust", ["curl"], ["curl", "-sS", f"https://127.0.0.1:{origin.port}/file.bin"], 0,
        rf"larder: 1 request, 0 hits, 0 B saved of \S+ \S+, 0 denied, 1 failed\nlarder:   127\.0\.0\.1:{origin.port} 1 request, 0 hits\n"
        rf"larder:   failed \(certificate_not_trusted\): GET https://127\.0\.0\.1:{origin.port}/file\.bin\n", fetches=False)
    if clients.missing(["python:grpc"]):
        left_out.append("grpcio (python:grpc)")
    else:
        with clients.serving(clients.GRPC_SERVER) as secure_port, clients.serving(clients.GRPC_SERVER, "in clear") as clear_port:
            secure, clear, tunneled = f"{HOST}:{secure_port}", f"{HOST}:{clear_port}", f"tunnel.test:{clear_port}"
            row("grpcio, TLS", [], [clients.PYTHON, WORK / "secure.py", secure], 0, call(secure), fetches=False)
            row("grpcio, in clear", [], [clients.PYTHON, WORK / "clear.py", clear], 0, call(clear), fetches=False)
            row("grpcio, TLS, with http2: off", [], [clients.PYTHON, WORK / "secure.py", secure], 4, tunnel(
                secure, rf"larder:   not intercepted \(no_http1_offered\), so no rules applied to its requests: {re.escape(secure)}\n"),
                settings=without_http2, fetches=False)
            # The command itself fails.
            row("grpcio, in clear, with http2: off", [], [clients.PYTHON, WORK / "clear.py", clear], 1,
                rf"larder: 1 request, 0 hits, 0 B saved of 0 B, 1 denied\nlarder:   {re.escape(clear)} 1 request, 0 hits\n"
                rf"larder:   denied \(not_tls\): CONNECT {re.escape(clear)}\n"
                rf"larder: {re.escape(clear)}: the client used neither TLS nor HTTP/1\.1 in its tunnel\. .*connect: tunnel.*\n",
                settings=without_http2, fetches=False)
            row("grpcio, in clear, to a host with connect: tunnel", [], [clients.PYTHON, WORK / "clear.py", tunneled], 0, tunnel(tunneled),
                settings=with_tunnel, fetches=False)
    if left_out:
        print(f"left out: {'; '.join(left_out)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
