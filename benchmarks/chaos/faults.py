"""What breaks, one thing after another."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import psutil

from benchmarks.chaos.process import ServiceProcess
from benchmarks.chaos.surroundings import Disk, Postgres, Redis
from benchmarks.chaos.web import ChaosWeb

DATABASE_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Faults of the service and of what it stands on; each is over when its function returns.

    A fault that has a length takes `seconds`, and the database is away for at most 20 seconds. The worker
    `spared` is neither killed nor held up: the service is up all along, and its memory can be compared.
    """

    service: ServiceProcess
    postgres: Postgres
    redis: Redis
    disk: Disk
    web: ChaosWeb
    chance: random.Random
    seconds: float
    spared: int = 0
    """The process id of a worker."""

    def all(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return the faults by their names."""
        faults: dict[str, Callable[[], Awaitable[None]]] = {
            "a worker is killed": self._kill_worker,
            "the search hangs": self._hang_search,
            "the readers of pages are killed": self._kill_readers,
            "pages are hostile": self._hostile_pages,
            "Redis is killed": self._stop_redis,
            "the database stops": self._stop_database,
            "a worker stands still": self._stop_worker,
        }
        if self.disk.is_small:
            faults["the disk is full"] = self._fill_disk
        return faults

    async def kill_service(self) -> None:
        """Kill the whole service, the spared worker as well, and start it again: the last fault of a run."""
        self.service.kill()
        await asyncio.to_thread(self.service.start)

    async def _kill_worker(self) -> None:
        for process in one_of(self.service.workers(), self.spared, self.chance):
            process.kill()

    async def _stop_worker(self) -> None:
        for process in one_of(self.service.workers(), self.spared, self.chance):
            process.suspend()
            try:
                await asyncio.sleep(min(self.seconds, 10))
            finally:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    async def _kill_readers(self) -> None:
        for process in self.service.readers():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    async def _hang_search(self) -> None:
        self.web.answers.clear()
        await asyncio.sleep(self.seconds)
        self.web.answers.set()

    async def _hostile_pages(self) -> None:
        self.web.is_hostile = True
        await asyncio.sleep(self.seconds)
        self.web.is_hostile = False

    async def _stop_redis(self) -> None:
        self.redis.stop()
        await asyncio.sleep(self.seconds)
        self.redis.start()

    async def _stop_database(self) -> None:
        await asyncio.to_thread(self.postgres.stop)
        await asyncio.sleep(min(self.seconds, DATABASE_SECONDS))
        await asyncio.to_thread(self.postgres.start)

    async def _fill_disk(self) -> None:
        await asyncio.to_thread(self.disk.fill)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            await asyncio.to_thread(self.disk.free)


def one_of(processes: list[psutil.Process], spared: int, chance: random.Random) -> list[psutil.Process]:
    """Return one of these processes, if there is one besides that with the id `spared`."""
    others = [process for process in processes if process.pid != spared]
    return chance.sample(others, min(1, len(others)))
