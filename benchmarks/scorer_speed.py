"""Measure the time of a scorer for the candidates of one question.

Run `python -m benchmarks.scorer_speed`, or with `--scorer DIR` for one that was trained; by default the shape
of the shipped one is timed, with a head that gives 0. The process is held to `--threads` cores; inputs are
laid out and tokenized each time. Seconds of CPU are given beside seconds of the clock, since other work on
the machine disturbs them less.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks.results_files import output_option, peak_megabytes, quantiles, save, table
from citewell.core.settings import load_settings

NAME = "scorer_speed"
QUESTION = "How did trade change the towns along the river, and why did some of them grow faster than others?"
WORDS = [
    "the",
    "river",
    "carried",
    "grain",
    "timber",
    "and",
    "wool",
    "to",
    "the",
    "coast",
    "while",
    "merchants",
    "built",
    "houses",
    "markets",
    "and",
    "bridges",
    "that",
    "changed",
    "how",
    "people",
    "in",
    "the",
    "towns",
    "lived",
    "worked",
    "and",
    "traded",
    "with",
    "each",
    "other",
    "over",
    "many",
    "years",
    "of",
    "slow",
    "growth",
]


def answers(count: int, tokens: int) -> list[str]:
    """Return texts of about this many tokens: these words are one token each."""
    return [" ".join(WORDS[(place + n) % len(WORDS)] for n in range(tokens)) for place in range(count)]


def untrained(folder: Path, base: str) -> Path:
    """Write a scorer of the base whose head always returns 0."""
    from safetensors.torch import save_file

    from citewell.scorer.form import Form, InputLayout, write_form
    from citewell.scorer.model import HEAD, WEIGHTS, load_base, new_head

    cache = load_settings().cache_dir
    made = load_base(base, cache)
    pooling = "last" if made.is_causal else "mean"
    form = Form(base=base, tuning="full", pooling=pooling, layout=InputLayout(), mean=0, std=1, elo=1)
    write_form(form, folder)
    save_file(dict(new_head(made.hidden).state_dict()), folder / HEAD)
    save_file({}, folder / WEIGHTS)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scorer", help="name or folder of a scorer")
    parser.add_argument("--base", default="all-MiniLM-L6-v2", help="base of the untrained scorer")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=150, help="tokens of each answer")
    parser.add_argument("--rounds", type=int, default=20)
    output_option(parser)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    from citewell.scorer.load import load_scorer

    with tempfile.TemporaryDirectory() as folder:
        name = options.scorer or str(untrained(Path(folder), options.base))
        started = time.perf_counter()
        scorer = load_scorer(name, load_settings().cache_dir, options.threads)
        loaded = time.perf_counter() - started
    found = {}
    for count in (1, 4, 16):
        texts = answers(count, options.tokens)
        scorer.rate(QUESTION, texts)
        wall, cpu = [], []
        for _ in range(options.rounds):
            began, used = time.perf_counter(), time.process_time()
            scorer.rate(QUESTION, texts)
            wall.append(time.perf_counter() - began)
            cpu.append((time.process_time() - used) / options.threads)
        found[str(count)] = {"seconds": quantiles(wall), "cpu_seconds_a_core": quantiles(cpu)}
    rows = [
        [count, each["seconds"]["p50"], each["seconds"]["p90"], each["cpu_seconds_a_core"]["p50"]]
        for count, each in found.items()
    ]
    print(table(["candidates", "p50, s", "p90, s", "CPU p50, s per core"], rows))
    result = {
        "scorer": options.scorer or f"untrained {options.base}",
        "threads": options.threads,
        "tokens": options.tokens,
        "load_seconds": round(loaded, 2),
        "candidates": found,
        "peak_mb": peak_megabytes(),
    }
    print(f"loaded in {loaded:.1f} s; peak memory {result['peak_mb']:,} MB")
    save(NAME, result, options.output)


if __name__ == "__main__":
    main()
