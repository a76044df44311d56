"""WebSocket by a real client and a real server (the package websockets), through Larder: ws:// in plain HTTP inside of CONNECT, and wss://
by interception. Each echoes messages from one octet to 10 MB, and is closed by the client in order.

    PYTHONPATH=Tests python3 Tests/Clients/websocket.py PATH-OF-LARDER
"""

import asyncio
import os
import ssl
import sys
import tempfile
from pathlib import Path

import websockets
from Tools.certificates import Authority
from Tools.larder import Larder
from Tools.origins import server_context
from Tools.processes import output

HOST = "a.test"

SIZES = (1, 125, 65_536, 10_000_000)


async def echo(connection):
    async for message in connection:
        await connection.send(message)


async def check(url, proxy, context):
    async with websockets.connect(url, proxy=proxy, ssl=context, max_size=None) as connection:
        for size in SIZES:
            message = os.urandom(size)
            await connection.send(message)
            assert await connection.recv() == message, f"{url}: {size} octets came back otherwise"
        # All at once, while the answers come.
        messages = [os.urandom(100_000) for _ in range(100)]
        sending = asyncio.create_task(send_all(connection, messages))
        for message in messages:
            assert await connection.recv() == message
        await sending
    assert connection.close_code == 1000
    print(f"ok  {url.split('/')[0]} {connection.response.headers['Via']}")


async def send_all(connection, messages):
    for message in messages:
        await connection.send(message)


async def main(binary, work):
    authority = Authority(work)
    folder = work / "authority"
    output([binary, "ca", "init", "--folder", folder])
    secure = server_context(*authority.certify(HOST))
    settings = work / "larder.yaml"
    settings.write_text(
        f"tunnel: {{ports: any}}\nresolve: {{{HOST}: 127.0.0.1}}\n"
        f"tls:\n  authority: {{folder: {folder}}}\n"
        f"  hosts: {{{HOST}: {{anchors: {{bundle: {authority.certificate}}}, connect: intercept}}}}\n")
    log = work / "access.log"
    larder = Larder(":memory:", f"log.access.path={log}", config=settings, binary=binary)
    context = ssl.create_default_context(cadata=output([binary, "ca", "export", "--folder", folder]).decode())
    async with websockets.serve(echo, "127.0.0.1", 0, max_size=None) as plain, websockets.serve(
            echo, "127.0.0.1", 0, ssl=secure, max_size=None) as sealed:
        await check(f"ws://{HOST}:{plain.sockets[0].getsockname()[1]}/", larder.url, None)
        await check(f"wss://{HOST}:{sealed.sockets[0].getsockname()[1]}/", larder.url, context)
    larder.stop()
    lines = [line for line in log.read_text().splitlines() if '"status":101' in line]
    assert len(lines) == 2, lines
    print("\n".join(lines))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        asyncio.run(main(sys.argv[1], Path(work)))
