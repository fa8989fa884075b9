"""The floors of the retrieval gate: the nDCG@10 that BM25 and e5-small must keep on two tasks.

Cranfield is searched as a whole, and the first 30 candidates of BM25 are reranked for 20 queries of TREC DL
2020. Corpora are encoded each time, so that a change of the encoder's code takes effect.

`python -m benchmarks.retrieval_floors --pin` raises the floors to slightly below the current scores. Lowering
a floor requires `--lower`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.floors import gate, sha256s
from citewell.core.settings import load_settings
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.evaluation.evaluate import candidates, evaluate
from citewell.retriever.evaluation.measures import NDCG, means
from citewell.retriever.evaluation.systems.dense import DenseSystem
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25
from citewell.retriever.evaluation.systems.system import RankingSystem
from citewell.retriever.evaluation.task import read_task
from citewell.retriever.evaluation.trec import read_run

FLOORS = Path(__file__).parent.parent / "tests" / "retriever" / "evaluation" / "floors.json"
_CRANFIELD = "retrieval/cranfield"
_DL20 = "retrieval/trecdl20"
_JUDGED, _RUN = f"{_DL20}/official_qrels.tsv", f"{_DL20}/runs/bm25.txt.gz"
_FILES = (
    *(f"{_CRANFIELD}/{name}" for name in ("corpus.jsonl.gz", "queries.jsonl.gz", "qrels/test.tsv")),
    *(f"{_DL20}/{name}" for name in ("corpus.jsonl.gz", "queries.jsonl.gz")),
    _JUDGED,
    _RUN,
)
_ENCODER = "e5-small"
_TOKENS = 64  # enough to notice what breaks, and quick
_MARGIN = 0.005  # int8 rounds differently in each engine and on each processor
_QUERIES = 20
_DEPTH = 30


def checksums(data: Path) -> dict[str, str]:
    """Return the SHA-256 of each input file."""
    return sha256s(data, _FILES)


def measured(data: Path) -> dict[str, float]:
    """Return the nDCG@10 of both systems on both tasks."""
    with tempfile.TemporaryDirectory() as folder:
        return _measured(data, Path(folder))


def _measured(data: Path, folder: Path) -> dict[str, float]:
    settings = load_settings()
    encoder = load_encoder(_ENCODER, settings.cache_dir, max_tokens=_TOKENS, threads=settings.threads)
    systems: tuple[RankingSystem, ...] = (LexicalSystem("bm25", bm25), DenseSystem(_ENCODER, encoder, folder))
    cranfield = read_task(data / _CRANFIELD, "test")
    dl20 = read_task(data / _DL20, "test", qrels=data / _JUDGED, partial=True, limit=_QUERIES)
    first = candidates(dl20, read_run(data / _RUN, documents=dl20.corpus.rows), _DEPTH).run
    found = {}
    for system in systems:
        whole = evaluate(cranfield, system, 100)
        again = evaluate(dl20, system, _DEPTH, first=first)
        found[f"Cranfield, {system.name}"] = means(whole.values)[NDCG]
        found[f"TREC DL 2020 reranked, {system.name}"] = means(again.values)[NDCG]
    return found


if __name__ == "__main__":
    gate(__doc__, "nDCG@10", FLOORS, checksums, measured, _MARGIN)
