"""The TREC tracks: small runs behind HTTP become a collection with judgments, as the catalog has them."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from benchmarks.data.__main__ import main

SYSTEMS = (
    "BM25",
    "BM25_RM3",
    "OPEN_AI_ADA2",
    "REP_LLAMA",
    "SPLADE_P_P_ENSEMBLE_DISTIL",
    "D_BERT_KD_TASB",
)
DOUBLY = "It\u00e2\u0080\u0099s  a \u00e2\u0096\u00a0 note."
TEXTS = {"9": "Tides come twice.", "10": DOUBLY, "11": "The other year found it.", "12": "Nobody judged it."}


def run(query: str, asked: str, *documents: str) -> str:
    hits = [
        {"content": TEXTS[each], "qid": int(query), "docid": each, "rank": rank, "score": 15.780599594 - rank}
        for rank, each in enumerate(documents, 1)
    ]
    return json.dumps([{"query": asked, "hits": hits}])


def test_runs_become_a_collection_with_judgments(origin: tuple[Path, str], tmp_path: Path) -> None:
    folder, url = origin
    judged = "topics-and-qrels/qrels.dl19-passage.txt"
    originals = {judged: "7 Q0 10 2\n7 Q0 11 3\n7 Q0 99 1\n8 Q0 9 1\n"}
    for system in SYSTEMS:
        place = f"retrieve_results/{system}/retrieve_results_dl"
        originals[f"{place}19.json"] = run("7", "what are tides", "10", "9")
        originals[f"{place}20.json"] = run("5", "who", "11", "12")
    for path, content in originals.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    expected = {
        "corpus.jsonl.gz": '{"_id":"9","title":"","text":"Tides come twice."}\n'
        '{"_id":"10","title":"","text":"It\u2019s a \u00e2\u0096 note."}\n'  # a blank was part of a character
        '{"_id":"11","title":"","text":"The other year found it."}\n',
        "queries.jsonl.gz": '{"_id":"7","text":"what are tides"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\n7\t10\t2\n7\t11\t3\n",
        "official_qrels.tsv": "query-id\tcorpus-id\tscore\n7\t10\t2\n7\t11\t3\n7\t99\t1\n",
        "runs/repllama.txt.gz": "7 Q0 10 1 14.7806 repllama\n7 Q0 9 2 13.7806 repllama\n",
    }
    files = ",".join(
        f'{{path="retrieval/trecdl19/{name}",rows={text.count(chr(10)) - name.endswith("tsv")},'
        f'sha256="{hashlib.sha256(text.encode()).hexdigest()}"}}'
        for name, text in expected.items()
    )
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(
        f"""[set]
origin = "somebody/set @ 0123"
license = "research only"
url = "{url}/{{path}}"
originals = {json.dumps(list(originals))}
converter = "trecdl19"
files = [{files}]
""",
        encoding="utf-8",
    )
    assert main(["--catalog", str(catalog), "get", "set", "--to", str(tmp_path / "data")]) == 0
    for name, text in expected.items():
        content = (tmp_path / "data" / "retrieval" / "trecdl19" / name).read_bytes()
        assert (gzip.decompress(content) if name.endswith("gz") else content).decode() == text
