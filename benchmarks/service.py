"""The service under load, with quoted answers over a collection: what it adds, bears and refuses.

Five measurements, each of a service in a process of its own (`--cores`), asked from other cores:

- added: one client; a reply's seconds less those that the pipeline took for it, and the same questions in a
  process that has the pipeline and no service.
- sustained: eight clients ask one question after another.
- streams: `--streams` clients follow their questions' events at once.
- overload: as many clients as the service has places (running and waiting) are the load that it can bear;
  then ten times the questions that it answered a second arrive, however many it refuses.
- soak: four clients ask for `--soak` seconds, and the memory is read every second.

Each is made of two services by turns: as Citewell is, and with `server.concurrency=1` and all else equal. The
latter stands in for the design of WebGLM's demonstration, which answers one question at a time. It is not
WebGLM itself, whose models and search are others.

Without `--data-dir`, Wikipedia for Schools is indexed from `CITEWELL_DATA` first. Runs on Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.ask_wikispeedia import COLLECTION, OWN_QUESTIONS, build_index
from benchmarks.results_files import output_option, save, table
from benchmarks.service_load import Client, LoadReply, client, closed_loop, endless, open_loop, plain
from benchmarks.service_process import Served, pinned, served
from citewell.core.events import final_answer
from citewell.core.settings import load_settings
from citewell.pipeline.build import open_pipeline
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog

DESIGNS = {"citewell": 2, "one question at a time": 1}
"""The number of questions that are answered at once."""
STAND_IN = (
    "One question at a time is Citewell with server.concurrency=1, which stands in for the design of "
    "WebGLM's demonstration, and is not WebGLM itself."
)


@dataclass(frozen=True)
class ServicePlan:
    """The size of the measurements."""

    questions: Sequence[str]
    cores: Sequence[int] = ()
    repeats: int = 3
    seconds: float = 20.0
    clients: int = 8
    streams: int = 256
    queue: int = 8
    overload: float = 10.0
    soak: float = 600.0
    designs: Mapping[str, int] = field(default_factory=lambda: DESIGNS)


def run(plan: ServicePlan, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Measure everything, over the collection that the settings name."""
    load = os.getloadavg()[0]
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in plan.designs}
    bare: list[float] = []
    for _ in range(plan.repeats):
        bare += bare_seconds(plan, settings)
        for name, concurrency in plan.designs.items():
            rounds[name].append(asyncio.run(_round(plan, settings, concurrency)))
            print(f"{name}: {json.dumps(rounds[name][-1])}", flush=True)
    soaks = {
        name: asyncio.run(_soak(plan, settings, concurrency)) for name, concurrency in plan.designs.items()
    }
    return {
        "cores": list(plan.cores),
        "load_before": round(load, 2),
        "note": STAND_IN,
        "repeats": plan.repeats,
        "bare_pipeline_ms": milliseconds(bare),
        "designs": {
            name: {"concurrency": concurrency, **_spread(rounds[name]), "soak": soaks[name]}
            for name, concurrency in plan.designs.items()
        },
    }


def bare_seconds(plan: ServicePlan, settings: Mapping[str, Any]) -> list[float]:
    """Return the seconds of each question in a process that has the pipeline alone, on the same cores."""
    with pinned(plan.cores), multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_ask_all, (list(plan.questions), dict(settings)))


def _ask_all(questions: list[str], settings: dict[str, Any]) -> list[float]:
    async def seconds() -> list[float]:
        found = []
        async with open_pipeline(load_settings(settings)) as pipeline:
            await final_answer(pipeline.ask(questions[0]))  # warm
            for question in questions:
                began = time.perf_counter()
                await final_answer(pipeline.ask(question))
                found.append(time.perf_counter() - began)
        return found

    return asyncio.run(seconds())


async def _round(plan: ServicePlan, settings: Mapping[str, Any], concurrency: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    own = {**settings, "server.concurrency": concurrency, "server.queue_seconds": 600}
    roomy = own | {"server.queue": plan.streams + plan.clients}
    with tempfile.TemporaryDirectory() as folder:
        with served(roomy | _database(folder, "roomy"), plan.cores) as service:
            async with client(service.url) as asking:
                await _warm(asking, plan)
                result["added"] = await _added(asking, plan)
                result["sustained"] = await _sustained(asking, plan)
                result["streams"] = await _streams(asking, plan)
        bounded = own | {"server.queue": plan.queue}
        with served(bounded | _database(folder, "bounded"), plan.cores) as service:
            async with client(service.url) as asking:
                await _warm(asking, plan)
                result["overload"] = await _overload(asking, plan, concurrency + plan.queue)
    return result


async def _added(asking: Client, plan: ServicePlan) -> dict[str, Any]:
    replies = [await asking.ask(body) for body in plain(plan.questions)]
    _all_of(replies, 201)
    return {
        "whole_ms": milliseconds([reply.seconds for reply in replies]),
        "added_ms": milliseconds([reply.seconds - reply.pipeline for reply in replies]),
    }


async def _sustained(asking: Client, plan: ServicePlan) -> dict[str, Any]:
    began = time.perf_counter()
    replies = await closed_loop(asking, endless(plan.questions), plan.clients, plan.seconds)
    seconds = time.perf_counter() - began
    _all_of(replies, 201)
    return {
        "clients": plan.clients,
        "answers_per_second": round(len(replies) / seconds, 2),
        "latency_ms": milliseconds([reply.seconds for reply in replies]),
    }


async def _streams(asking: Client, plan: ServicePlan) -> dict[str, Any]:
    bodies = endless(plan.questions)
    began = time.perf_counter()
    replies = await asyncio.gather(*(asking.stream(next(bodies)) for _ in range(plan.streams)))
    return {
        "streams": plan.streams,
        "errors": sum(reply.status != 200 for reply in replies),
        "seconds": round(time.perf_counter() - began, 2),
        "first_event_ms": milliseconds([reply.first for reply in replies]),
        "latency_ms": milliseconds([reply.seconds for reply in replies]),
    }


async def _overload(asking: Client, plan: ServicePlan, places: int) -> dict[str, Any]:
    bodies = endless(plan.questions)
    began = time.perf_counter()
    borne = await closed_loop(asking, bodies, places, plan.seconds)
    rate = len(borne) / (time.perf_counter() - began)
    _all_of(borne, 201)
    replies = await open_loop(asking, bodies, plan.overload * rate, plan.seconds)
    accepted = [reply.seconds for reply in replies if reply.status == 201]
    refused = [reply.seconds for reply in replies if reply.status == 429]
    normal, loaded = milliseconds([reply.seconds for reply in borne]), milliseconds(accepted)
    return {
        "places": places,
        "borne_per_second": round(rate, 2),
        "arriving_per_second": round(plan.overload * rate, 2),
        "statuses": {
            str(status): count for status, count in sorted(Counter(r.status for r in replies).items())
        },
        "borne_ms": normal,
        "accepted_ms": loaded,
        "accepted_ratio_p50": round(loaded["p50"] / normal["p50"], 3),
        "accepted_ratio_p95": round(loaded["p95"] / normal["p95"], 3),
        "refused_ms": milliseconds(refused) if refused else None,
    }


async def _soak(plan: ServicePlan, settings: Mapping[str, Any], concurrency: int) -> dict[str, Any]:
    own = {**settings, "server.concurrency": concurrency}
    samples: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        served(own | _database(folder, "soak"), plan.cores) as service,
    ):
        async with client(service.url) as asking:
            await _warm(asking, plan)
            watching = asyncio.create_task(_watch(service, samples))
            replies = await closed_loop(asking, endless(plan.questions), 4, plan.soak)
            watching.cancel()
    _all_of(replies, 201)
    part = max(1, len(samples) // 10)
    return {
        "seconds": plan.soak,
        "answers": len(replies),
        "megabytes_first_tenth": round(statistics.median(samples[:part]), 1),
        "megabytes_second_tenth": round(statistics.median(samples[part : 2 * part] or samples), 1),
        "megabytes_last_tenth": round(statistics.median(samples[-part:]), 1),
        "megabytes_peak": round(max(samples), 1),
    }


async def _watch(service: Served, samples: list[float]) -> None:
    while True:
        samples.append(await asyncio.to_thread(service.megabytes))
        await asyncio.sleep(1)


async def _warm(asking: Client, plan: ServicePlan) -> None:
    for body in plain(plan.questions[:5]):
        await asking.ask(body)


def _database(folder: str, name: str) -> dict[str, str]:
    return {"server.database_url": f"sqlite:///{folder}/{name}.sqlite3"}


def _all_of(replies: Sequence[LoadReply], status: int) -> None:
    """Raise `RuntimeError` unless all replies have this status: there would be nothing to report."""
    found = Counter(reply.status for reply in replies)
    if set(found) != {status}:
        raise RuntimeError(f"The replies should all have been {status}, and were {dict(found)}.")


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median, the 95th percentile and the maximum, in milliseconds; nan if there are none."""
    ordered = sorted(seconds) or [float("nan")]
    places = {"p50": len(ordered) // 2, "p95": int(len(ordered) * 0.95), "max": -1}
    return {name: round(1000 * ordered[place], 2) for name, place in places.items()}


def _spread(rounds: Sequence[Any]) -> Any:
    """Return the same numbers over all repeats: the median, the minimum and the maximum of each."""
    first = rounds[0]
    if isinstance(first, dict):
        keys = dict.fromkeys(key for each in rounds for key in each)
        return {key: _spread([each[key] for each in rounds if key in each]) for key in keys}
    if not all(isinstance(each, int | float) for each in rounds):
        return first
    return {"median": statistics.median(rounds), "min": min(rounds), "max": max(rounds)}


def show(result: Mapping[str, Any]) -> None:
    """Print the medians as a table."""
    names = {
        "answers a second": ("sustained", "answers_per_second"),
        "latency with 8 clients, p95, ms": ("sustained", "latency_ms", "p95"),
        "added by the service, p50, ms": ("added", "added_ms", "p50"),
        "added by the service, p95, ms": ("added", "added_ms", "p95"),
        "streams at once": ("streams", "streams"),
        "of these with an error": ("streams", "errors"),
        "their first event, p95, ms": ("streams", "first_event_ms", "p95"),
        "accepted under overload, p95 / p95 of what is borne": ("overload", "accepted_ratio_p95"),
        "refused under overload, p95, ms": ("overload", "refused_ms", "p95"),
    }
    rows = [
        [name, *(_at(design, path)["median"] for design in result["designs"].values())]
        for name, path in names.items()
    ]
    rows += [
        [f"memory of the soak, {part} tenth, MB"]
        + [design["soak"][f"megabytes_{part}_tenth"] for design in result["designs"].values()]
        for part in ("first", "second", "last")
    ]
    print(table(["", *result["designs"]], rows))
    print(f"\nThe bare pipeline, ms: {result['bare_pipeline_ms']}\n{result['note']}")


def _at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        if values is None:  # nothing was refused
            return {"median": ""}
        values = values[key]
    return values


def _cores(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cores", type=_cores, default=[0, 1], help="cores of the service [0,1]")
    parser.add_argument("--client-cores", type=_cores, default=[2, 3], help="cores of the clients [2,3]")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20, help="seconds of each measurement under load")
    parser.add_argument("--soak", type=float, default=600, help="seconds of the soak")
    parser.add_argument("--limit", type=int, help="questions [all]")
    parser.add_argument("--streams", type=int, default=256, help="simultaneous streams [256]")
    parser.add_argument("--data-dir", type=Path, help="folder of the collection, created if missing")
    output_option(parser)
    options = parser.parse_args()
    questions = [json.loads(line)["question"] for line in OWN_QUESTIONS.read_text("utf-8").splitlines()]
    plan = ServicePlan(
        questions[: options.limit],
        options.cores,
        repeats=options.repeats,
        seconds=options.seconds,
        streams=options.streams,
        soak=options.soak,
    )
    with tempfile.TemporaryDirectory() as temporary, pinned(options.client_cores):
        settings = {
            "data_dir": str(options.data_dir or temporary),
            "search.collection": COLLECTION,
            "generator.name": "extractive",
            "threads": len(options.cores) or os.cpu_count(),
        }
        loaded = load_settings(settings)
        if COLLECTION not in EmbeddedCatalog(loaded.data_dir).names():
            build_index(loaded)
        gc.freeze()  # the clients' own pauses are not the service's
        result = run(plan, settings)
    show(result)
    save("service", result, options.output)


if __name__ == "__main__":
    main()
