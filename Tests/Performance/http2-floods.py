#!/usr/bin/env python3
"""The CPU time of Larder, and the times of its other clients, while one client floods a plain listener in HTTP/2.

Each flood connects again as soon as Larder has ended its connection. The other clients request one stored response.
"""

import socket
import struct
import sys
import threading
import time

from Tools.larder import Larder, WORK
from Tools.measuring import Others, processor_seconds
from Tools.origins import PythonOrigin, QuietHandler

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
CONNECTIONS, RATE = 10, 50

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4


class Handler(QuietHandler):
    def do_GET(self):
        self.reply(b"x" * 1024, Content_Type="text/plain", Cache_Control="max-age=86400")


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    """A string literal of HPACK (RFC 7541 §5.2)."""
    if len(value) < 127:
        return bytes([len(value)]) + value
    rest, length = len(value) - 127, b"\x7f"
    while rest >= 128:
        length += bytes([rest % 128 + 128])
        rest //= 128
    return length + bytes([rest]) + value


def head(method, url):
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    fields = [(":method", method), (":scheme", scheme), (":authority", authority), (":path", "/" + path)]
    return b"".join(b"\0" + text(name.encode()) + text(value.encode()) for name, value in fields)


def streams(make):
    """The frames of a thousand streams."""
    return b"".join(make(number) for number in range(1, 2001, 2))


def floods(url):
    get, post = head("GET", url), head("POST", url)
    begun = frame(HEADERS, END_HEADERS, 1, post)
    bomb = get + b"\x40" + text(b"a") + text(b"b" * 4000) + b"\xbe" * 10_000
    long = get + b"\0" + text(b"a") + text(b"b" * 16_000)
    more = frame(CONTINUATION, 0, 1, b"\0" + text(b"c") + text(b"d" * 16_000))
    return {
        "SETTINGS": frame(SETTINGS) * 10_000,
        "PING": frame(PING, payload=b"12345678") * 10_000,
        "empty DATA": begun + frame(DATA, 0, 1) * 10_000,
        "requests that are reset": streams(
            lambda number: frame(HEADERS, END_HEADERS | END_STREAM, number, get) + frame(RST_STREAM, 0, number, b"\0\0\0\x08")),
        "requests that Larder resets": streams(
            lambda number: frame(HEADERS, END_HEADERS, number, post) + frame(WINDOW_UPDATE, 0, number, b"\x7f\xff\xff\xff")),
        "CONTINUATION": frame(HEADERS, END_STREAM, 1, long[:16_000]) + more * 100,
        "PRIORITY": frame(PRIORITY, 0, 1, b"\0\0\0\0\x10") * 10_000,
        "WINDOW_UPDATE": frame(WINDOW_UPDATE, payload=b"\0\0\0\x01") * 10_000,
        "GOAWAY": begun + frame(GOAWAY, payload=bytes(8)) * 10_000,
        "compressed heads": streams(lambda number: frame(HEADERS, END_HEADERS | END_STREAM, number, bomb))[: 14_200 * 100],
    }


class Flood:
    """Sends the bytes, and connects again whenever the connection ends."""

    def __init__(self, port, data):
        self.port, self.data, self.connections, self.bytes = port, data, 0, 0
        self.goes_on = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS) + frame(SETTINGS, ACK)
        while self.goes_on:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
                    self.connections += 1
                    connection.sendall(preface)
                    connection.sendall(self.data)
                    self.bytes += len(self.data)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):
                        pass
            except OSError:
                pass

    def stop(self):
        self.goes_on = False
        self.thread.join(30)


def main():
    origin = PythonOrigin(Handler)
    url = f"http://127.0.0.1:{origin.port}/one"
    larder = Larder(WORK / "store.sqlite")
    print(f"{'flood':<30} {'CPU':>6} {'connections/s':>14} {'median ms':>10} {'p99 ms':>8} {'max ms':>8}")
    for name, data in [("none", None), *floods(url).items()]:
        others = Others(str(WORK / "load"), larder.port, url, SECONDS, CONNECTIONS, RATE)
        flood = Flood(larder.port, data) if data else None
        used, began = processor_seconds(larder.process), time.monotonic()
        median, p99, longest = others.times()
        passed = time.monotonic() - began
        share = (processor_seconds(larder.process) - used) / passed
        if flood:
            flood.stop()
        rate = flood.connections / passed if flood else 0
        print(f"{name:<30} {share:>6.0%} {rate:>14.0f} {median:>10.2f} {p99:>8.2f} {longest:>8.2f}")
    larder.stop()


main()
