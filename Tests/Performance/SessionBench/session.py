#!/usr/bin/env python3
"""What HTTPSession costs beside async-http-client, libcurl's easy interface and curl: session.py [get] [growth] [download] [upload]
[multipart]. The client has core 0, nginx core 1; rounds take turns, and the median of the ratios within a round is told."""
import os, resource, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
BENCH = os.environ.get("SESSION_BENCH") or os.path.join(HERE, "../../../.build-bench/release/SessionBench")
WORK = tempfile.mkdtemp(prefix="session-bench-")
PORT = 28765
URL = f"http://127.0.0.1:{PORT}"
GIB = 1 << 30
OURS = ("session", "thread")


def nginx():
    os.makedirs(f"{WORK}/files")
    with open(f"{WORK}/files/1k", "wb") as file:
        file.write(b"x" * 1024)
    with open(f"{WORK}/files/1g", "wb") as file:
        file.truncate(GIB)
    with open(f"{WORK}/2g", "wb") as file:
        file.truncate(2 * GIB)
    with open(f"{WORK}/nginx.conf", "w") as file:
        file.write(f"""
worker_processes 1; daemon off; pid {WORK}/pid; error_log {WORK}/error; user root;
events {{ worker_connections 512; }}
http {{ access_log off; keepalive_requests 100000000; sendfile on; client_max_body_size 0;
  client_body_temp_path {WORK}/temp;
  server {{ listen 127.0.0.1:{PORT}; root {WORK}/files; }} }}
""")
    return subprocess.Popen(["taskset", "-c", "1", "nginx", "-c", f"{WORK}/nginx.conf"])


SINK = f"""
import socket, threading
listener = socket.create_server(("127.0.0.1", {PORT + 1}))
buffer = bytearray(1 << 20)
def serve(connection):
    data = b""
    while b"\\r\\n\\r\\n" not in data:
        data += connection.recv(65536)
    head, rest = data.split(b"\\r\\n\\r\\n", 1)
    length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length:")), None)
    if b"100-continue" in head.lower():
        connection.sendall(b"HTTP/1.1 100 Continue\\r\\n\\r\\n")
    done = len(rest)
    while done < length:
        count = connection.recv_into(buffer)
        if count == 0: return
        done += count
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
    connection.close()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],)).start()
"""


def client(*command):
    """What it prints, and its CPU in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(["taskset", "-c", "0", *command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(f"{command}: {result.returncode} {result.stdout} {result.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result.stdout.split(), cpu


def rounds(**programs):
    """The figure of each, in turns; the medians, and the ratios of ours to the others."""
    figures = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, program in programs.items():
            figures[name].append(program())
    names = list(programs)
    text = ", ".join(f"{name} {statistics.median(figures[name]):.2f}" for name in names)
    for ours in [name for name in names if name in OURS]:
        for other in [name for name in names if name not in OURS]:
            ratio = statistics.median(a / b for a, b in zip(figures[ours], figures[other]))
            text += f"; {ours} {ratio:.2f} of {other}"
    return text


def get():
    curl = f"{WORK}/session-curl"
    subprocess.run(["cc", "-O2", "-o", curl, f"{HERE}/session-curl.c", "-lcurl"], check=True)
    count = os.environ.get("COUNT", "20000")
    for flight in ("1", "100"):
        # By tasks where Swift runs them, and by tasks on the session's thread.
        ours = {mode: lambda mode=mode: float(client(BENCH, "get", mode, f"{URL}/1k", count, flight)[0][0]) for mode in OURS}
        print(f"1 KiB, {flight} in flight, microseconds of CPU:", rounds(
            **ours,
            ahc=lambda: float(client(BENCH, "get", "peer", f"{URL}/1k", count, flight)[0][0]),
            **({"curl": lambda: float(client(curl, f"{URL}/1k", count)[0][0])})), flush=True)


def growth():
    print(" ".join(client(BENCH, "growth", f"{URL}/1k", "10000", "100")[0]), flush=True)


def transfers(what, ours, theirs):
    most = []
    def session():
        words, _ = client(*ours)
        most.append(int(words[-1]))
        return float(words[0])
    print(f"{what}, seconds of CPU:", rounds(session=session, curl=lambda: client(*theirs)[1]),
          f"; at most {max(most)} KiB resident", flush=True)


def download():
    target = f"{WORK}/out"
    transfers("1 GiB to disk", [BENCH, "download", f"{URL}/1g", target], ["curl", "-s", "-o", f"{target}-2", f"{URL}/1g"])


def upload():
    sink = subprocess.Popen(["taskset", "-c", "1", sys.executable, "-c", SINK])
    time.sleep(0.5)
    url = f"http://127.0.0.1:{PORT + 1}/"
    file = f"{WORK}/files/1g"
    try:
        transfers("1 GiB from disk", [BENCH, "upload", url, file], ["curl", "-s", "-T", file, url])
    finally:
        sink.kill()


def multipart():
    sink = subprocess.Popen(["taskset", "-c", "1", sys.executable, "-c", SINK])
    time.sleep(0.5)
    try:
        words, _ = client(BENCH, "multipart", f"http://127.0.0.1:{PORT + 1}/", f"{WORK}/2g")
        print(f"form with 2 GiB: {words[0]} s of CPU, at most {words[-1]} KiB resident", flush=True)
    finally:
        sink.kill()


def main():
    server = nginx()
    time.sleep(0.5)
    try:
        for name in sys.argv[1:] or ["get", "growth", "download", "upload", "multipart"]:
            {"get": get, "growth": growth, "download": download, "upload": upload, "multipart": multipart}[name]()
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(WORK)


main()
