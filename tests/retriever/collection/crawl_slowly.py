"""Crawl a site on this machine: `crawl_slowly.py PLACE URL DELAY`."""

from __future__ import annotations

import asyncio
import sys
from ipaddress import ip_network

from conftest import open_catalog

from citewell.retriever.collection.crawl import CrawlLimits, crawl
from citewell.retriever.collection.indexing import Indexer, Report, indexing
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import web_fetcher
from citewell.retriever.fetch.politeness import Hosts


async def run(indexer: Indexer, url: str, delay: float) -> Report:
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.0/8"),))
    async with web_fetcher(guard=guard, hosts=Hosts(spacing=delay)) as fetcher, Sandbox() as sandbox:
        return await crawl(
            url,
            indexer,
            fetch=fetcher.fetch,
            wait=fetcher.wait,
            extractor=sandbox,
            limits=CrawlLimits(depth=99),
        )


def main(place: str, url: str, delay: str) -> int:
    try:
        with indexing(open_catalog(place), "shelf") as indexer:
            asyncio.run(run(indexer, url, float(delay)))
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
