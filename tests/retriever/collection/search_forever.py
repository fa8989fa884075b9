"""Search a collection again and again: `search_forever.py PLACE QUERY`."""

from __future__ import annotations

import sys

from conftest import open_catalog


def main(place: str, query: str) -> None:
    store = open_catalog(place).open("shelf")
    while True:
        sys.stdout.write(f"found {len(store.search(query, 10))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
