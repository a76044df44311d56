#!/usr/bin/env python3
"""Real clients against real servers, through Larder: each fetches plain http twice (the second time from the store) and https
through CONNECT, and what it gets is compared with what lies on the origin's disk. Then some of them go CONNECT's three ways.

    clients.py --larder BINARY [--only NAME,NAME] [--require NAME,NAME]

NAME is a client, an origin, or connect for those ways. One that is not installed is skipped and said so; with --require its absence is a failure.
Needs openssl. Everything is on loopback: names such as origin.test are mapped by Larder's `resolve` setting, since many clients
go past a proxy for localhost.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import connect_ways
import fetchers
import origins
import scenarios
from Tools.larder import Larder
from Tools.processes import Failure
from bench import HOST, Bench, check_asked, check_same


def fetch_from(bench, fetch, origin, size=300_000):
    path, data = bench.file(size)
    check_same("http, first time", fetch(origin.url("http", path)), data)
    check_same("http, second time", fetch(origin.url("http", path)), data)
    check_asked(origin, path, 1)
    check_same("https through CONNECT", fetch(origin.url("https", path)), data)
    check_asked(origin, path, 2)


def is_there(need):
    if need.startswith("python:"):
        return subprocess.run([sys.executable, "-c", f"import {need[7:]}"], stderr=subprocess.DEVNULL).returncode == 0
    return shutil.which(need) is not None


class Matrix:
    def __init__(self, bench, servers):
        self.bench, self.servers, self.failed = bench, servers, 0

    def run(self, name):
        """One client with every server; each line says which it was and how long it took."""
        try:
            if name in fetchers.ALL:
                fetch = fetchers.ALL[name][1](self.bench)
                check = lambda server: fetch_from(self.bench, fetch, server)
            else:
                check = lambda server: scenarios.ALL[name][1](self.bench, server)
        except (Failure, subprocess.TimeoutExpired, OSError) as problem:
            return self.fail(f"{name:10} FAILED: {problem}")
        for server in self.servers:
            began = time.time()
            try:
                check(server)
                print(f"{name:10} {server.name:8} ok, {time.time() - began:.1f} s", flush=True)
            except (Failure, subprocess.TimeoutExpired, OSError) as problem:
                self.fail(f"{name:10} {server.name:8} FAILED: {problem}")

    def go_ways(self, binary, work):
        """CONNECT's three ways, with each client that can be had; then a pin that stands in the settings alone."""
        def attempt(name, check):
            began = time.time()
            try:
                check()
                print(f"connect    {name:8} ok, {time.time() - began:.1f} s", flush=True)
            except (Failure, subprocess.TimeoutExpired, OSError) as problem:
                self.fail(f"connect    {name:8} FAILED: {problem}")

        clients = [name for name in connect_ways.CLIENTS if all(map(is_there, fetchers.ALL[name][0]))]
        ways = connect_ways.Ways(binary, work / "ways")
        try:
            for name in clients:
                attempt(name, lambda: ways.check(name))
        finally:
            ways.stop()
        attempt("one pin", lambda: connect_ways.check_one_pin(binary, work / "one-pin"))

    def fail(self, line):
        print(line, flush=True)
        self.failed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--larder", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--require", default="")
    options = parser.parse_args()
    only, required = (set(filter(None, text.split(","))) for text in (options.only, options.require))
    began, servers, absent = time.time(), [], []

    def choose(name, needs, peers):
        """Whether it was asked for and is there. Naming clients alone leaves all origins in, and the other way about."""
        if only & peers and name not in only:
            return False
        missing = [need for need in needs if not is_there(need)]
        if missing:
            print(f"{name:10} {'FAILED' if name in required else 'skipped'}, not installed: {', '.join(missing)}", flush=True)
            absent.append(name)
        return not missing

    every = {**fetchers.ALL, **scenarios.ALL}
    names = {*every, "connect"}
    clients = [name for name, (needs, _) in every.items() if choose(name, needs, names)]
    goes_ways = choose("connect", ["openssl", "curl"], names)
    kinds = {kind.name: kind for kind in origins.ALL}
    chosen = [kind for name, kind in kinds.items() if choose(name, [kind.needs] if kind.needs else [], set(kinds))]

    work = Path(tempfile.mkdtemp(prefix="larder-clients-"))
    larder = None
    try:
        site = origins.Site(work)
        for kind in chosen:
            servers.append(kind(site))
        ports = [port for server in servers for port in (server.http, server.https)]
        larder = Larder(work / "store" / "store.sqlite", f"resolve={{{HOST}: 127.0.0.1}}", f"tunnel.ports={ports}", loops=None, binary=options.larder)
        matrix = Matrix(Bench(larder, site, work), servers)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(matrix.run, clients))
        if goes_ways:
            matrix.go_ways(options.larder, work)
    finally:
        for process in [*([larder] if larder else []), *servers]:
            process.stop()
        shutil.rmtree(work, ignore_errors=True)
    failed = matrix.failed + len(required & set(absent))
    print(f"{len(clients)} clients, {len(servers)} origins, {failed} failed, {len(absent)} not installed, {time.time() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
