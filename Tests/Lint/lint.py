#!/usr/bin/env python3
"""Has everything that Larder generates looked at: by httplint and http-sfv each answer of a table and each request sent on for it, by redbot
a miss and a hit, by http-sfv every member of Cache-Status and Proxy-Status that a test of Larder's has written.

    lint.py --larder BINARY [--members FILE] [-v]
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import judge
import scenarios
from Tools.processes import free_port
from bench import AskedLarder, Gateway, Origin, date

HERE = Path(__file__).resolve().parent


class Lint:
    def __init__(self, verbose):
        self.verbose, self.faults, self.count = verbose, [], 0

    def note(self, what, faults):
        self.count += 1
        self.faults += [f"{what}: {fault}" for fault in faults]

    def look_at(self, what, larder, start_line, fields, content="", excused=""):
        """Sends a request, and judges the answer."""
        lines = [resolved(line) for line in fields]
        response = larder.ask("\r\n".join([start_line, *lines, "", content]).encode())
        pairs = [tuple(part.strip().encode() for part in line.split(":", 1)) for line in lines]
        self.note(what, judge.lint((start_line.encode(), pairs), response, excused) + judge.parse_status_fields(response[1]))
        if self.verbose:
            shown = [value.decode() for name, value in response[1] if name.lower() in (b"cache-status", b"proxy-status")]
            print(f"{what}: {response[0].decode()}: {', '.join(shown)}")
        return response


def resolved(line):
    return re.sub(r"\{(-?\d+)\}", lambda match: date(int(match.group(1))), line)


def answer(method, path, fields):
    """What the origin says: the scenario of the path's number, or something odd."""
    if path in scenarios.ODD_ANSWERS:
        if path == "/late":
            time.sleep(2)
        return scenarios.ODD_ANSWERS[path]
    table, number = (path.split("/")[1:] + [""])[:2]
    if not number.isdigit():
        return f"HTTP/1.1 200 OK\r\nDate: {date(0)}\r\nContent-Length: 0\r\n\r\n".encode()
    scenario = (scenarios.BY_RULE if table == "rule" else scenarios.BY_PROTOCOL)[int(number)]
    lines = [f"Date: {date(0)}", *map(resolved, scenario.fields)]
    if has_not_changed(scenario, fields):
        kept = [line for line in lines if not line.startswith("Content-Type")]
        return "\r\n".join(["HTTP/1.1 304 Not Modified", *kept, "", ""]).encode()
    status, body = scenario.status, scenario.body
    part = re.fullmatch(r"bytes=(\d+)-(\d+)", fields.get("range", ""))
    if part and status == "200 OK":
        start, end = int(part.group(1)), int(part.group(2))
        status, lines = "206 Partial Content", [*lines, f"Content-Range: bytes {start}-{end}/{len(body)}"]
        body = body[start:end + 1]
    if status.startswith("204"):
        body = b""
    else:
        lines.append("Connection: close" if scenario.until_close else f"Content-Length: {len(body)}")
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode() + (b"" if method == "HEAD" else body)


def has_not_changed(scenario, fields):
    if scenarios.TAG in scenario.fields:
        return fields.get("if-none-match") == '"v1"'
    return scenarios.MODIFIED in scenario.fields and "if-modified-since" in fields


def play(lint, larder, origin, table, name):
    """Every request of a table's scenarios."""
    for number, scenario in enumerate(table):
        for request in scenario.requests:
            words = [word for word in request if ":" not in word]
            version = next((word for word in words if word.startswith("HTTP/")), "HTTP/1.1")
            method = next((word for word in words if not word.startswith("HTTP/")), "GET")
            fields = [f"Host: 127.0.0.1:{origin.port}", "User-Agent: lint", *(line for line in request if ":" in line)]
            if method == "POST" and "Content-Length: 1" not in fields:
                fields.append("Content-Length: 0")
            start_line = f"{method} http://127.0.0.1:{origin.port}/{name}/{number} {version}"
            content = "x" if "Content-Length: 1" in fields else ""
            lint.look_at(f"{scenario.name} {request}", larder, start_line, fields, content, scenario.excused)


def provoke(lint, larder, origin, closed):
    """Every error, in each of the formats that it can be told in."""
    # The name by which Larder finds a loop stands in each Proxy-Status.
    fields = dict(larder.ask(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")[1])
    pseudonym = fields[b"Proxy-Status"].split(b";")[0].decode()
    for what, start_line, *fields in scenarios.errors(origin.port, closed, pseudonym):
        for accept in ["application/json", "text/html", "text/plain"]:
            lint.look_at(f"{what}, {accept}", larder, start_line, ["Host: a", "User-Agent: lint", f"Accept: {accept}", *fields])


def ask_redbot(lint, larder, origin):
    """redbot asks for a URI that has everything, twice: from the origin and from the store."""
    gateway = Gateway(larder, origin)
    for what in ["redbot, first", "redbot, again"]:
        number = next(number for number, entry in enumerate(scenarios.BY_PROTOCOL) if entry.name == "for redbot")
        url = f"http://127.0.0.1:{gateway.port}/protocol/{number}"
        said = subprocess.run([sys.executable, HERE / "droid.py", url], capture_output=True, text=True, timeout=60, check=True).stdout
        notes = [line.split("\t") for line in said.splitlines()]
        names = {note[1] for note in notes}
        faults = [": ".join(note[1:]) for note in notes if note[0] in ("bad", "warning")]
        faults += [f"{name} is missing" for name in ["INM_304", "IMS_304", "RANGE_CORRECT"] if name not in names]
        lint.note(what, faults)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--larder", required=True)
    arguments.add_argument("--members", type=Path)
    arguments.add_argument("-v", "--verbose", action="store_true")
    chosen = arguments.parse_args()
    lint, origin, closed = Lint(chosen.verbose), Origin(answer), free_port()
    with tempfile.TemporaryDirectory() as work:
        settings = Path(work) / "larder.yaml"
        settings.write_text(scenarios.settings(origin.port, closed))
        larder = AskedLarder(Path(work) / "store.sqlite", f"log.access.path={work}/access.log", config=settings, loops=None, binary=chosen.larder)
        try:
            play(lint, larder, origin, scenarios.BY_PROTOCOL, "protocol")
            play(lint, larder, origin, scenarios.BY_RULE, "rule")
            provoke(lint, larder, origin, closed)
            ask_redbot(lint, larder, origin)
        finally:
            larder.stop()
    for message in origin.requests:
        lint.note(f"sent on: {message[0].decode()}", judge.lint_request(message))
    for line in chosen.members.read_text().splitlines() if chosen.members else []:
        lint.note("a member", judge.parse(line.encode()))
    for fault in lint.faults:
        print(f"FAILED  {fault}")
    print(f"{lint.count} messages and members, {len(lint.faults)} faults")
    sys.exit(1 if lint.faults else 0)


if __name__ == "__main__":
    main()
