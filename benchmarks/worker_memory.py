"""Measure the memory of the service by its number of worker processes, each of which loads the models.

For each generator, `citewell serve --workers N` is started over the handbook and asked questions until every
worker has answered some; then the memory of all its processes is read, with shared pages counted once (PSS).
Runs on Linux.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.results_files import output_option, save, table
from benchmarks.service_process import Served, served

_QUESTIONS = ("How does Citewell check a citation?", "What is a collection?", "How is a key revoked?")
_ROUNDS = 2  # times that as many clients as there are workers, and two more for each, ask
_SECONDS = 300.0  # for one answer


def run(generators: Sequence[str], workers: Sequence[int]) -> dict[str, Any]:
    """Return the megabytes of the service with each generator, for each number of workers."""
    found: dict[str, Any] = {}
    for generator in generators:
        for number in workers:
            with tempfile.TemporaryDirectory() as folder:
                settings = {
                    "data_dir": folder,
                    "search.providers": "collection",
                    "search.collection": "handbook",
                    "generator.name": generator,
                    "server.workers": number,
                    "server.queue": 100,
                }
                with served(settings, ()) as service:
                    _warm(service, number)
                    found.setdefault(generator, {})[str(number)] = round(service.megabytes())
    return found


def _warm(service: Served, workers: int) -> None:
    """Ask on new connections, which any worker may take, more at once than one worker answers."""
    with ThreadPoolExecutor(3 * workers) as pool:
        asked = [pool.submit(_ask, service.url, place) for place in range(3 * workers * _ROUNDS)]
        for each in asked:
            each.result()


def _ask(url: str, place: int) -> None:
    body = {"question": _QUESTIONS[place % len(_QUESTIONS)], "fresh": True}
    request = urllib.request.Request(
        f"{url}/v1/answers", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as reply:
        reply.read()


def main() -> None:
    """Measure, print a table and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", nargs="+", default=["extractive", "citewell-smollm2"])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    output_option(parser)
    options = parser.parse_args()
    found = run(options.generator, options.workers)
    header = ["generator", *(f"--workers {number}, MB" for number in options.workers)]
    print(table(header, [[name, *sizes.values()] for name, sizes in found.items()]))
    save("worker_memory", found, options.output)


if __name__ == "__main__":
    main()
