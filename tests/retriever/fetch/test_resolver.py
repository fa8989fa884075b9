"""Names are looked up as the system does, and a look-up that hangs holds up nobody else."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import citewell
from citewell.retriever.fetch.resolver import SystemResolver

# getaddrinfo that hangs, as with a name server that does not answer: the program ends all the same.
HANGING = """
import asyncio, socket, threading
socket.getaddrinfo = lambda *_: threading.Event().wait()
from citewell.retriever.fetch.resolver import SystemResolver

async def main():
    resolver = SystemResolver()
    looking_up = [asyncio.create_task(resolver.resolve("slow.example", 80)) for _ in range(100)]
    print(await asyncio.to_thread(lambda: "ranked"))
    for task in looking_up:
        task.cancel()
    await asyncio.gather(*looking_up, return_exceptions=True)
    print("over")

asyncio.run(main())
"""


async def test_a_name_of_this_machine_is_found() -> None:
    found = await SystemResolver().resolve("localhost", 80, socket.AF_INET)
    assert ("127.0.0.1", 80, socket.AF_INET) in {(one["host"], one["port"], one["family"]) for one in found}
    (address,) = await SystemResolver().resolve("192.0.2.7", 443)
    assert (address["hostname"], address["host"], address["port"]) == ("192.0.2.7", "192.0.2.7", 443)


async def test_what_is_no_name_and_what_is_not_found() -> None:
    resolver = SystemResolver()
    with pytest.raises(OSError, match=r".+"):
        await resolver.resolve("no-such-host.invalid", 80)
    with pytest.raises(UnicodeError):
        await resolver.resolve("a" * 64 + ".example", 80)
    await resolver.close()


async def test_more_look_ups_than_run_at_a_time_all_end() -> None:
    resolver = SystemResolver()
    found = await asyncio.gather(*(resolver.resolve(f"127.0.0.{n % 250}", 80) for n in range(300)))
    assert [one[0]["host"] for one in found] == [f"127.0.0.{n % 250}" for n in range(300)]


def test_look_ups_that_hang_hold_up_neither_other_threads_nor_the_end() -> None:
    root = Path(citewell.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", HANGING], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ranked\nover\n", "")
