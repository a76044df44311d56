import asyncio
import ssl
import sys

import aiohttp


async def main():
    context = ssl.create_default_context(cafile=sys.argv[3])
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get(sys.argv[1], ssl=context) as r:
            assert r.status == 200
            open(sys.argv[2], "wb").write(await r.read())


asyncio.run(main())
