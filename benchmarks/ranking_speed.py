"""Measure the ranking of 100 paragraphs for one question: Citewell's engines and sentence-transformers.

Run `python -m benchmarks.ranking_speed`; it needs CITEWELL_DATA and sentence-transformers. All systems have
the same weights and take turns in one process, which is limited to `--threads` cores; the question and the
paragraphs are tokenized, encoded and compared each time. CPU seconds are given beside wall-clock seconds,
since other work on the machine disturbs them less. Peak memory is measured in a separate process per system.
Quality is nDCG@10 of BM25's top 100 for TREC DL 2020, reranked.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.ranking_systems import (
    BASELINE,
    SYSTEMS,
    lengths,
    load,
    read_json,
    read_paragraphs,
    relevance,
    write_bert_base,
)
from benchmarks.results_files import external_data, machine, output_option, peak_megabytes, save, table

NAME = "ranking_speed"
MINILM, BERT_BASE = "all-MiniLM-L6-v2", "BERT-base shape"
QUESTION = "How did trade change the towns along the river?"
DEPTH = 100
INT8 = [BASELINE, "openvino int8"]  # float32 ranks as the baseline does


def speed(model: str, systems: list[str], work: Path, threads: int, rounds: int) -> dict[str, Any]:
    """Return the seconds of each round of each system, which take turns; the first round does not count."""
    paragraphs = read_json(work / "paragraphs.json")
    loaded = {system: load(system, model, work / "cache", threads) for system in systems}
    for system in loaded.values():
        relevance(system, QUESTION, paragraphs)
    wall, cpu = defaultdict(list), defaultdict(list)
    for _ in range(rounds):
        for name, system in loaded.items():
            started, used = time.perf_counter(), time.process_time()
            relevance(system, QUESTION, paragraphs)
            wall[name].append(time.perf_counter() - started)
            cpu[name].append(time.process_time() - used)
    return {name: {"wall": wall[name], "cpu": cpu[name]} for name in systems}


def memory(model: str, systems: list[str], work: Path, threads: int, rounds: int) -> dict[str, Any]:
    """Return the peak memory of this process, which ranks with one system alone."""
    system = load(systems[0], model, work / "cache", threads)
    for _ in range(rounds):
        relevance(system, QUESTION, read_json(work / "paragraphs.json"))
    return {"peak_mb": peak_megabytes()}


def quality(model: str, systems: list[str], work: Path, threads: int, rounds: int) -> dict[str, Any]:
    """Return nDCG@10 of TREC DL 2020's queries, with BM25's candidates reranked by each system."""
    from citewell.retriever.evaluation.measures import NDCG, means, measure
    from citewell.retriever.evaluation.trec import read_qrels, read_run

    folder = external_data() / "retrieval" / "trecdl20"
    qrels = read_qrels(folder / "official_qrels.tsv")
    first = read_run(folder / "runs" / "bm25.txt.gz")
    texts, queries = _texts(folder / "corpus.jsonl.gz"), _texts(folder / "queries.jsonl.gz")
    found = {}
    for name in systems:
        system = load(name, model, work / "cache", threads)
        run = {}
        for query in qrels.keys() & first.keys():
            ids = sorted(first[query], key=lambda i, scores=first[query]: -scores[i])[:DEPTH]  # type: ignore[misc]
            scores = relevance(system, queries[query], [texts[document] for document in ids])
            run[query] = dict(zip(ids, map(float, scores), strict=True))
        found[name] = means(measure(qrels, run))[NDCG]
    return found


def _texts(file: Path) -> dict[str, str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["_id"]: ". ".join(filter(None, (row.get("title"), row["text"]))) for row in rows}


STEPS = {"speed": speed, "memory": memory, "quality": quality}


def run(step: str, model: str, systems: list[str], args: argparse.Namespace) -> dict[str, Any]:
    """Run one step in a separate process, limited to as many cores as it has threads."""
    print(f"{step} {Path(model).name}: {', '.join(systems)}", file=sys.stderr, flush=True)
    cores = sorted(os.sched_getaffinity(0))[-args.threads :]
    command = [sys.executable, "-m", f"benchmarks.{NAME}", "--step", step, "--model", model]
    command += ["--systems", ",".join(systems), "--threads", str(args.threads), "--rounds", str(args.rounds)]
    command += ["--work", str(args.work)]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": str(args.threads), "TOKENIZERS_PARALLELISM": "true"},
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


def show(shape: str, found: dict[str, Any], baseline: dict[str, Any]) -> list[object]:
    """Return a row of the table."""
    wall, cpu = found["wall"], found["cpu"]
    times = statistics.median(baseline["wall"]) / statistics.median(wall)
    work = statistics.median(baseline["cpu"]) / statistics.median(cpu)
    return [
        shape,
        found["name"],
        f"{statistics.median(wall):.2f} [{min(wall):.2f}–{max(wall):.2f}]",
        f"{times:.2f}",
        f"{statistics.median(cpu):.2f} [{min(cpu):.2f}–{max(cpu):.2f}]",
        f"{work:.2f}",
        f"{found['peak_mb']:.0f}",
        f"{found['ndcg@10']:.4f}" if "ndcg@10" in found else "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="cores and threads; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--paragraphs", type=int, default=100)
    parser.add_argument("--no-quality", action="store_true", help="skip TREC DL 2020")
    output_option(parser)
    work = Path(tempfile.gettempdir()) / "citewell-ranking-speed"
    parser.add_argument("--work", type=Path, default=work, help="converted weights; default: %(default)s")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--systems", default=",".join([BASELINE, *SYSTEMS]), help=argparse.SUPPRESS)
    args = parser.parse_args()
    systems = args.systems.split(",")
    if args.step:
        print(json.dumps(STEPS[args.step](args.model, systems, args.work, args.threads, args.rounds)))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    paragraphs = read_paragraphs(args.paragraphs)
    (args.work / "paragraphs.json").write_text(json.dumps(paragraphs), encoding="utf-8")
    bert_base = args.work / "bert-base"
    if not (bert_base / "modules.json").is_file():
        write_bert_base(bert_base)
    load_average = os.getloadavg()[0]
    report: dict[str, Any] = {}
    rows = []
    for shape, model in {MINILM: MINILM, BERT_BASE: str(bert_base)}.items():
        for system in SYSTEMS:
            run("memory", model, [system], args)  # converts the weights, which is not to count below
        timed = run("speed", model, systems, args)
        ndcg = run("quality", model, INT8, args) if model == MINILM and not args.no_quality else {}
        report[shape] = {}
        for system in systems:
            found = timed[system] | run("memory", model, [system], args)
            found |= {"ndcg@10": ndcg[system]} if system in ndcg else {}
            report[shape][system] = found
            rows.append(show(shape, found | {"name": system}, timed[BASELINE]))
    tokens = lengths(paragraphs)
    print(
        f"{machine()}, {args.threads} threads, {args.paragraphs} paragraphs of {tokens['least']} to "
        f"{tokens['most']} tokens, {args.rounds} rounds, median [min–max], "
        f"load average before {load_average:.1f}\n"
    )
    header = ["model", "system", "seconds", "×", "CPU seconds", "× CPU", "peak MB", "DL20 nDCG@10"]
    print(table(header, rows))
    result = {"threads": args.threads, "rounds": args.rounds, "tokens": tokens}
    save(NAME, result | {"load_average_before": load_average, "systems": report}, args.output)


if __name__ == "__main__":
    main()
