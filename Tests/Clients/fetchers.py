"""Clients that fetch one URL. Each entry makes, once, what the client needs, and gives a function from a URL to bytes."""

import functools
import sys
import tempfile
from pathlib import Path

from bench import run

SCRIPTS = Path(__file__).with_name("fetch")


def curl(b):
    return lambda url: run(["curl", "-fsS", "--cacert", str(b.site.ca), url], b.env)


def wget(b):
    return to_file(b, lambda url, out: run(["wget", "-q", f"--ca-certificate={b.site.ca}", "-O", out, url], b.env))


def requests(b):
    return to_file(b, lambda url, out: run([sys.executable, str(SCRIPTS / "fetch_requests.py"), url, out, str(b.site.ca)], b.env))


def aiohttp(b):
    return to_file(b, lambda url, out: run([sys.executable, str(SCRIPTS / "fetch_aiohttp.py"), url, out, str(b.site.ca)], b.env))


def node(b):
    return to_file(b, lambda url, out: run(["node", str(SCRIPTS / "fetch.js"), url, out, str(b.site.ca), b.larder.url]))


def go(b):
    program = go_program()
    return to_file(b, lambda url, out: run([program, url, out], b.env))


def java(b):
    store, classes = b.folder() / "trust.p12", java_classes()
    run(["keytool", "-importcert", "-noprompt", "-alias", "origin", "-file", str(b.site.ca), "-keystore", str(store),
         "-storetype", "PKCS12", "-storepass", "changeit"])
    trust = [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit"]
    return to_file(b, lambda url, out: run(["java", *trust, "-cp", classes, "Fetch", url, out, str(b.larder.port)], b.env))


BUILT = tempfile.TemporaryDirectory(prefix="larder-clients-built-")


@functools.cache
def go_program():
    folder = Path(BUILT.name) / "go"
    program = str(folder / "fetch")
    run(["go", "build", "-o", program, str(SCRIPTS / "fetch.go")],
        {"GOCACHE": str(folder / "cache"), "GO111MODULE": "off", "GOPATH": str(folder), "HOME": str(folder)})
    return program


@functools.cache
def java_classes():
    folder = Path(BUILT.name) / "java"
    run(["javac", "-d", str(folder), str(SCRIPTS / "Fetch.java")])
    return str(folder)


def to_file(b, fetch):
    def fetched(url):
        out = b.output()
        fetch(url, str(out))
        return out.read_bytes()
    return fetched


# The programs (or Python modules) that each needs.
ALL = {
    "curl": (["curl"], curl),
    "wget": (["wget"], wget),
    "requests": (["python:requests"], requests),
    "aiohttp": (["python:aiohttp"], aiohttp),
    "node": (["node"], node),
    "go": (["go"], go),
    "java": (["java", "javac", "keytool"], java),
}
