"""10,000 idle and 1,000 active connections, a client that sends a byte a second and one that never reads: memory stays flat, and
the others' p99 within twice the quiet one."""

import asyncio
import os
import resource
import statistics
import time

from common import Larder, Origin, check, finish

IDLE, ACTIVE = int(os.environ.get("IDLE", 10_000)), int(os.environ.get("ACTIVE", 1_000))
resource.setrlimit(resource.RLIMIT_NOFILE, (min(30_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
origin = Origin()
(origin.root / "small").write_bytes(b"x" * 1024)
(origin.root / "large").write_bytes(b"x" * (100 << 20))
larder = Larder(":memory:", "timeouts.client_idle=10m", "timeouts.client_head=10m")
request = f"GET {origin.url('/keep/small')} HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n\r\n".encode()


async def ask(reader, writer):
    began = time.perf_counter()
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return time.perf_counter() - began


async def measure(connections, seconds):
    """Each connection asks ten times a second; the 99th percentile of the answers' times."""
    times, end = [], time.time() + seconds

    async def one(pair):
        while time.time() < end:
            times.append(await ask(*pair))
            await asyncio.sleep(0.1)
    await asyncio.gather(*map(one, connections))
    return statistics.quantiles(times, n=100)[98] * 1000, len(times)


async def main():
    probe = [await asyncio.open_connection("127.0.0.1", larder.port) for _ in range(50)]
    await measure(probe, 1)
    quiet, count = await measure(probe, 4)
    print(f"        quiet p99 {quiet:.2f} ms over {count} requests")
    before = larder.resident
    idle = []
    for _ in range(IDLE):
        idle.append(await asyncio.open_connection("127.0.0.1", larder.port))
    await asyncio.sleep(1)
    per = (larder.resident - before) * 1024 / IDLE
    check(per <= 1.5, f"{IDLE} idle connections that have asked nothing: {per:.2f} KiB each")
    p99, _ = await measure(probe, 4)
    check(p99 < max(2 * quiet, quiet + 2), f"beside them p99 is {p99:.2f} ms")

    slow_reader, slow_writer = await asyncio.open_connection("127.0.0.1", larder.port)
    never_reader, never_writer = await asyncio.open_connection("127.0.0.1", larder.port, limit=1024)
    never_writer.write(f"GET {origin.url('/pass/large')} HTTP/1.1\r\nHost: a\r\n\r\n".encode())

    async def drip():
        for byte in request:
            slow_writer.write(bytes([byte]))
            await asyncio.sleep(1)
    dripping = asyncio.create_task(drip())
    start = larder.resident
    p99, _ = await measure(probe, 5)
    check(p99 < max(2 * quiet, quiet + 2), f"beside one byte a second and one that never reads p99 is {p99:.2f} ms")
    check(larder.resident - start < 8, f"memory grew by {larder.resident - start:.1f} MiB")
    dripping.cancel()

    active = [await asyncio.open_connection("127.0.0.1", larder.port) for _ in range(ACTIVE)]
    first = larder.resident
    await measure(active, 5)
    middle = larder.resident
    await measure(active, 10)
    check(larder.resident - middle < 4, f"{ACTIVE} active connections: grew by {middle - first:.1f} MiB at first, then by {larder.resident - middle:.1f}")
    for _, writer in [*probe, *idle, *active, (0, slow_writer), (0, never_writer)]:
        writer.transport.abort()


asyncio.run(main())
check(larder.stop() == 0, "ends on SIGTERM")
origin.stop()
finish()
