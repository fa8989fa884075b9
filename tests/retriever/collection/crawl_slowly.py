"""Crawl a site on this machine: `crawl_slowly.py FOLDER URL DELAY`."""

from __future__ import annotations

import asyncio
import sys
from ipaddress import ip_network
from pathlib import Path

from retriever.collection.crawl import CrawlLimits, crawl
from retriever.collection.indexing import Indexer, Report
from retriever.fetch.download import USER_AGENT
from retriever.fetch.guard import AddressGuard
from retriever.fetch.http import HttpFetcher
from retriever.fetch.robots import Robots


async def run(indexer: Indexer, url: str, delay: float) -> Report:
    async with HttpFetcher(guard=AddressGuard(allow_networks=(ip_network("127.0.0.0/8"),))) as fetcher:
        robots = Robots(fetcher.get_raw, USER_AGENT)
        return await crawl(
            url, indexer, get=fetcher.get, robots=robots, limits=CrawlLimits(depth=99, delay=delay)
        )


def main(folder: str, url: str, delay: str) -> int:
    try:
        with Indexer(Path(folder)) as indexer:
            asyncio.run(run(indexer, url, float(delay)))
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
