"""A process that writes to the cache in a folder until it is killed; it says when it has begun.

Called with a folder, a first number, the size of an entry and the bound of the cache.
"""

from __future__ import annotations

import asyncio
import random
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))
sys.path.insert(0, str(Path(__file__).parent))

from entries import SOON, entry

from citewell.retriever.fetch.cache.disk import DiskStore


async def write(folder: Path, first: int, size: int, most_bytes: int) -> None:
    store = DiskStore(folder, most_bytes, size, warn=sys.stdout.write)
    for number in count(first):
        body = random.Random(number).randbytes(size)
        await store.save(str(number % 500), entry(body=body), SOON)
        if number == first + 20:
            sys.stdout.write("begun\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), *(int(number) for number in sys.argv[2:5])))
