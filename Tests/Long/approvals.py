"""1,000 held requests, two approvers who answer the same requests, and a restart."""

import collections
import concurrent.futures
import http.client
import http.server
import json
import os
import socket
import threading

from Tools.checks import check, finish
from Tools.larder import WORK, Larder
from Tools.processes import wait_until

COUNT = 1_000
STATE = {**os.environ, "XDG_STATE_HOME": str(WORK / "state")}
SOCKET, LOG = WORK / "admin.sock", WORK / "audit.ndjson"


class Origin(http.server.BaseHTTPRequestHandler):
    seen = collections.Counter()
    lock = threading.Lock()

    def do_GET(self):
        with self.lock:
            self.seen[self.path] += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = COUNT
    daemon_threads = True


class Admin(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(SOCKET))


def ask(method, path):
    """A request to the admin socket. While it serves as many clients as it can, it answers 503."""
    while True:
        admin = Admin("larder")
        admin.request(method, path)
        response = admin.getresponse()
        body = json.loads(response.read())
        admin.close()
        if response.status != 503:
            return response.status, body


def waiting():
    return ask("GET", "/v1/approvals")[1]["approvals"]


def fetch(larder, origin, path):
    connection = http.client.HTTPConnection("127.0.0.1", larder.port, timeout=600)
    connection.request("GET", f"http://127.0.0.1:{origin.server_port}{path}")
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return path, "ok" if body == b"ok" else json.loads(body)["detail"]


def lines(event):
    return [line for line in map(json.loads, LOG.read_text().splitlines()) if line["event"] == event]


def main():
    origin = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    settings = WORK / "larder.yaml"
    settings.write_text(
        "egress: {addresses: {private: allow}}\nrules:\n"
        "  - {name: long, match: {path: /long/**}, ask: {timeout: 1h}}\n"
        "  - {name: short, match: {path: /short/**}, ask: {timeout: 20s}}\n")
    larder = Larder(":memory:", f"log.audit={LOG}", f"admin.socket={SOCKET}", loops=4, config=settings, environment=STATE)
    long = [f"/long/{number}" for number in range(COUNT * 3 // 4)]
    short = [f"/short/{number}" for number in range(COUNT - len(long))]
    with concurrent.futures.ThreadPoolExecutor(COUNT) as clients, concurrent.futures.ThreadPoolExecutor(8) as approvers:
        asked = [clients.submit(fetch, larder, origin, path) for path in long + short]
        wait_until(lambda: len(lines("asked")) == COUNT, "all requests wait", larder.process)
        held = {question["url"].partition(str(origin.server_port))[2]: question["id"] for question in waiting()}
        # Two approvers give opposite answers to each request.
        answers = [(path, word, approvers.submit(ask, "POST", f"/v1/approvals?id={held[path]}&answer={word}"))
                   for path in long for word in ("allow", "deny")]
        given = collections.defaultdict(list)
        for path, word, answer in answers:
            if answer.result()[0] == 200:
                given[path].append(word)
        check(all(len(given[path]) == 1 for path in long), f"each of {len(long)} requests took one of two answers")
        outcomes = dict(client.result() for client in asked)
    expected = {path: "ok" if given[path] == ["allow"] else "denied" for path in long} | dict.fromkeys(short, "timeout")
    check(outcomes == expected, f"each client got the answer that was given: {collections.Counter(outcomes.values())}")
    allowed = {path for path, words in given.items() if words == ["allow"]}
    check(Origin.seen == collections.Counter(allowed), f"the origin got the {len(allowed)} allowed requests, each once")
    ended = lines("answered")
    check(len({line["id"] for line in ended}) == len(ended) == COUNT, f"the audit log has {len(ended)} ends, one for each request")

    with concurrent.futures.ThreadPoolExecutor(COUNT) as clients:
        asked = [clients.submit(fetch, larder, origin, f"/long/again/{number}") for number in range(COUNT)]
        wait_until(lambda: len(lines("asked")) == 2 * COUNT, "all requests wait again", larder.process)
        held = {question["id"] for question in waiting()}
        check(larder.stop() == 0, "Larder stops although 1,000 requests wait")
        outcomes = collections.Counter(client.result()[1] for client in asked)
    check(outcomes == {"stopping": COUNT}, f"every waiting client was denied: {outcomes}")
    stopped = {line["id"] for line in lines("answered") if line["ending"] == "stopped"}
    check(stopped == held, f"the audit log has a line for each of the {len(stopped)} denied requests")
    larder.start()
    status, _ = ask("POST", f"/v1/approvals?id={min(held)}&answer=allow")
    check(status == 404 and waiting() == [], "after the restart no request waits, and an answer finds none")
    larder.stop()
    finish()


main()
