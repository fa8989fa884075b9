"""Measure the load time, latency and memory of the reader of support, and the agreement of int8 with float32.

`python -m benchmarks.support_speed` converts the reader into an empty cache, loads it again, and reads eight
claims with texts of 90 words, as for an answer of four sentences with two references each. Memory is the
resident memory that the second load and the readings add. The agreement is that of the logits by OpenVINO,
whose weights and activations are int8, with those by PyTorch, which computes with the same weights in
float32.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.dense_scale import resident_megabytes
from benchmarks.false_edits import read_claims
from benchmarks.results_files import output_option, quantiles, save, table
from citewell.core.settings import load_settings
from citewell.retriever.cross_encoder.form import read_cross_encoder_form
from citewell.retriever.cross_encoder.load import PooledCrossEncoder, load_cross_encoder
from citewell.retriever.cross_encoder.pairs import PairTokenizer
from citewell.retriever.cross_encoder.resolve import resolve_trained, trained_folder
from citewell.retriever.cross_encoder.support import load_support_reader
from citewell.retriever.encoder.encoder import Vectors

_PAIRS = 8
_WORDS = 90
_ROUNDS = 60


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", required=True, help="folder of the reader")
    output_option(parser)
    arguments = parser.parse_args()
    threads = load_settings().threads
    rounds = texts(_ROUNDS + 1)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        started = time.perf_counter()
        load_support_reader(arguments.reader, cache, threads=threads)
        converted = time.perf_counter() - started
        before = resident_megabytes()
        started = time.perf_counter()
        reader = load_support_reader(arguments.reader, cache, threads=threads)
        loaded = time.perf_counter() - started
        seconds = []
        for pairs in rounds:
            started = time.perf_counter()
            reader.probabilities(pairs)
            seconds.append(time.perf_counter() - started)
        added = resident_megabytes() - before
        int8 = load_cross_encoder(arguments.reader, cache, threads=threads)
        assert isinstance(int8, PooledCrossEncoder)
        read = [pair for pairs in rounds for pair in pairs]
        agreement = compared(int8.pair_scores(read), float_scores(arguments.reader, read))
    milliseconds = {name: round(1000 * value) for name, value in quantiles(seconds[1:]).items()}
    result = {
        "threads": threads,
        "first load, s": round(converted, 2),
        "later loads, s": round(loaded, 2),
        "8 pairs, ms, median": milliseconds["p50"],
        "8 pairs, ms, 90th percentile": milliseconds["p90"],
        "memory, MB": round(added),
        **agreement,
    }
    print(table(["measure", "value"], [[name, value] for name, value in result.items()]))
    save("support_speed", result, arguments.output)


def texts(rounds: int) -> list[list[tuple[str, str]]]:
    """Return eight claims with texts of 90 words for each round, all different."""
    claims = [*read_claims(held=False), *read_claims(held=True)]
    paragraphs = list(dict.fromkeys(each.text for each in claims))
    found = []
    for number in range(rounds * _PAIRS):
        claim, start = claims[number % len(claims)].claim, number // len(claims) + number
        run = " ".join(paragraphs[place % len(paragraphs)] for place in range(start, start + 3))
        found.append((claim, " ".join(run.split()[:_WORDS])))
    return [found[start : start + _PAIRS] for start in range(0, len(found), _PAIRS)]


def float_scores(name: str, pairs: list[tuple[str, str]]) -> Vectors:
    """Return the logits of pairs by PyTorch in float32."""
    from citewell.retriever.cross_encoder.training.config import RerankerModelConfig
    from citewell.retriever.cross_encoder.training.model import all_scores, build_model

    folder = trained_folder(name)
    assert folder is not None
    form = read_cross_encoder_form(folder)
    config = RerankerModelConfig(base=form.base, start=str(folder), pooling=form.pooling, tuning=form.tuning)
    tokenizer = PairTokenizer(
        resolve_trained(folder).tower.tokenizer,
        max_tokens=form.max_tokens,
        question_tokens=form.question_tokens,
    )
    ids = tokenizer.pairs(pairs)
    return np.array(all_scores(build_model(config, 0), ids, form.pooling, bfloat16=False), dtype=np.float32)


def compared(int8: Vectors, float32: Vectors) -> dict[str, float]:
    """Return the correlation, the mean difference, and the share of equal verdicts of two rows of logits."""
    middle = np.median(float32)
    return {
        "correlation with float32": round(float(np.corrcoef(int8, float32)[0, 1]), 4),
        "mean difference of logits": round(float(np.abs(int8 - float32).mean()), 3),
        "same side of the median": round(float(((int8 > middle) == (float32 > middle)).mean()), 4),
    }


if __name__ == "__main__":
    main()
