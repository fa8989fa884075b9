"""Takes from one name in many tasks at once, once a line is read, and prints how often it was allowed.

python taker.py REDIS_URL TAKES PER_MINUTE DAILY
"""

from __future__ import annotations

import asyncio
import sys

from citewell.server.access.limiter import open_limiter


async def main(url: str, takes: int, per_minute: int, daily: int) -> None:
    warnings: list[str] = []
    async with open_limiter(url, warnings.append) as limiter:
        await limiter.take("somebody else", 1, 1)  # connects
        print("ready")  # noqa: T201
        await asyncio.to_thread(sys.stdin.readline)
        verdicts = await asyncio.gather(*(limiter.take("ada", per_minute, daily) for _ in range(takes)))
    assert not warnings, warnings
    print(sum(verdict.allowed for verdict in verdicts))  # noqa: T201


asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
