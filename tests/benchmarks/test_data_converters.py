"""Converters of data sets: small originals behind HTTP become the files of which the catalog has the sums."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks.data import rows as data_rows
from benchmarks.data.__main__ import main

Rows = list[dict[str, Any]]


class Case(NamedTuple):
    """Originals by their paths, and the rows of the file that a converter makes of them.

    `chosen` names the list of ids that the converter reads, if it reads one.
    """

    converter: str
    originals: dict[str, str]
    path: str
    rows: Rows
    chosen: str = ""
    digits: int = 8


def claim(source: str, text: str, claimed: str, label: str, **more: Any) -> dict[str, Any]:
    key = hashlib.sha1(f"{text}\x1f{claimed}".encode()).hexdigest()[:12]
    row = {"id": f"{source}-{key}", "premise": text, "claim": claimed, "label": label, "source": source}
    return row | more


def table(*rows: str) -> str:
    return "".join(row.replace("|", "\t") + "\n" for row in rows)


def jsonl(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


BEGIN = "model_name|data_source|knowledge|message|response|begin_label"
SNLI = "sentence1|sentence2|gold_label"
CASES = [
    Case(
        "begin",
        {
            "wow/begin_dev_wow.tsv": table(
                BEGIN,
                "t5|wow|Tea is a drink.|I like tea.|it is a drink|Fully attributable",
                "t5|wow|Tea is a drink.|I like tea.|hello|Generic",
            ),
            "wow/begin_test_wow.tsv": table(BEGIN),
            "cmu-dog/begin_dev_cmu.tsv": table(
                BEGIN, "gpt2|cmu|A film .|Seen it ?|It won .|Not fully attributable"
            ),
            "topicalchat/begin_dev_tc.tsv": table(BEGIN),
        },
        "entailment/begin.jsonl.gz",
        [
            claim(
                "begin_wow",
                "Tea is a drink.",
                "it is a drink",
                "supported",
                message="I like tea.",
                model="t5",
            ),
            claim(
                "begin_cmu-dog", "A film .", "It won .", "not_supported", message="Seen it ?", model="gpt2"
            ),
        ],
        "begin",
    ),
    Case(
        "conjnli",
        {
            "data/NLI/adversarial_train_15k.tsv": table(
                "Premise|Hypothesis|Label",
                'He saw "Tea" and left.|He saw "Tea".|entailment',
                'He saw "Tea" and left!|He saw Tea|neutral',
            )
        },
        "entailment/conjnli_adversarial.jsonl.gz",
        [claim("conjnli_adv", 'He saw "Tea" and left.', 'He saw "Tea".', "entailment")],
    ),
    Case(
        "factcheck_gpt",
        {
            "subtasks/subtask3_claim_evidence_stance.jsonl": jsonl(
                {"claim": "Tea is dry.", "evidence": "Tea is wet.", "stance": "refute"},
                {"claim": "Tea is hot.", "evidence": "Tea is warm.", "stance": "partially-support"},
            )
        },
        "entailment/factcheck_gpt_stance.jsonl.gz",
        [
            claim("factcheck_gpt", "Tea is warm.", "Tea is hot.", "partial"),
            claim("factcheck_gpt", "Tea is wet.", "Tea is dry.", "refuted"),
        ],
        "factcheck_gpt",
    ),
    Case(
        "key_points",
        {
            f"{folder}/{name}_{split}.csv": content if split == "test" else content.splitlines()[0] + "\n"
            for folder, split in (("kpm_data", "train"), ("kpm_data", "dev"), ("test_data", "test"))
            for name, content in (
                ("arguments", 'arg_id,argument,topic,stance\na0,"It helps, mostly",Tea for all,1\n'),
                ("key_points", "key_point_id,key_point,topic,stance\nk0,Tea helps,Tea for all,1\n"),
                ("labels", "arg_id,key_point_id,label\na0,k0,1\n"),
            )
        },
        "entailment/kpa_argument_keypoint.jsonl.gz",
        [claim("kpa", "It helps, mostly", "Tea helps", "supported", topic="Tea for all", split="test")],
    ),
    Case(
        "mnli",
        {
            "Data/binary-MNLI/dev.txt": table("entailment|Tea is hot.|Tea is warm."),
            "Data/binary-MNLI/test.txt": table("not_entailment|Tea is hot. |Tea is cold."),
        },
        "entailment/mnli_devtest.jsonl.gz",
        [
            claim("mnli", "Tea is hot.", "Tea is warm.", "supported"),
            claim("mnli", "Tea is hot.", "Tea is cold.", "not_supported"),
        ],
        "mnli",
    ),
    Case(
        "scifact",
        {
            "RTE-scifact/train.tsv": table(
                "index|sentence1|sentence2|entailment", "0|Tea   is hot.|Tea is cold.|not_entailment"
            ),
            "RTE-scifact/dev.tsv": table("index|sentence1|sentence2|entailment"),
        },
        "entailment/scifact.jsonl.gz",
        [claim("scifact", "Tea is hot.", "Tea is cold.", "not_supported")],
    ),
    Case(
        "snli_counterfactual",
        {
            "NLI/all_combined/train.tsv": table(SNLI, '"A ""VAIO"" of tea."|Tea.|neutral'),
            "NLI/all_combined/dev.tsv": table(SNLI),
            "NLI/all_combined/test.tsv": table(SNLI, "A cup.|Tea. |contradiction"),
        },
        "entailment/snli_counterfactual.jsonl.gz",
        [
            claim("snli_cad", 'A ""VAIO"" of tea.', "Tea.", "neutral"),
            claim("snli_cad", "A cup.", "Tea. ", "contradiction"),
        ],
    ),
    Case(
        "summedits",
        {
            f"data/summedits/summedits_{name}.json": json.dumps(
                [{"doc": f"A {name}.", "summary": "Tea.", "label": 0, "edit_types": ["antonym_swap"]}]
            )
            for name in ("sales_call", "sales_email", "qmsumm")
        },
        "entailment/summedits_open.jsonl.gz",
        [
            claim(f"summedits_{name}", f"A {name}.", "Tea.", "not_supported", edit_types=["antonym_swap"])
            for name in ("sales_call", "sales_email", "qmsumm")
        ],
    ),
]


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    folder = tmp_path / "origin"
    folder.mkdir()
    handler = partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize("case", CASES, ids=[case.converter for case in CASES])
def test_originals_become_the_files_of_the_catalog(
    case: Case, origin: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = origin
    for path, content in case.originals.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    if case.chosen:
        ends = [row["id"].rpartition("-")[2][: case.digits] for row in case.rows]
        (tmp_path / f"{case.chosen}.txt").write_text("\n".join(ends), encoding="utf-8")
        monkeypatch.setattr(data_rows, "CHOSEN", tmp_path)
    expected = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in case.rows).encode()
    file = {"path": case.path, "rows": len(case.rows), "sha256": hashlib.sha256(expected).hexdigest()}
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(
        f"""[set]
origin = "somebody/set @ 0123"
license = "MIT"
url = "{url}/{{path}}"
originals = {json.dumps(list(case.originals))}
converter = "{case.converter}"
files = [{{ {", ".join(f"{key} = {json.dumps(value)}" for key, value in file.items())} }}]
""",
        encoding="utf-8",
    )
    data = tmp_path / "data"
    assert main(["--catalog", str(catalog), "get", "set", "--to", str(data)]) == 0
    assert gzip.decompress((data / case.path).read_bytes()) == expected
