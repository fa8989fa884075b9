"""Converters of data sets: small originals behind HTTP become the files of which the catalog has the sums."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from benchmarks.data import rows as data_rows
from benchmarks.data.__main__ import main

Rows = list[dict[str, Any]]


class Case(NamedTuple):
    """Originals by their paths, and the rows of the files that a converter makes of them.

    `chosen` names the lists of ids that the converter reads, each with its file.
    """

    converter: str
    originals: dict[str, str]
    files: dict[str, Rows]
    chosen: Mapping[str, str] = MappingProxyType({})


def claim(source: str, text: str, claimed: str, label: str, **more: Any) -> dict[str, Any]:
    key = hashlib.sha1(f"{text}\x1f{claimed}".encode()).hexdigest()[:12]
    row = {"id": f"{source}-{key}", "premise": text, "claim": claimed, "label": label, "source": source}
    return row | more


def written(path: str, rows: Rows) -> bytes:
    compact = path.startswith(("longform/", "qa_pairs/"))
    separators = (",", ":") if compact else (", ", ": ")
    return "".join(json.dumps(row, ensure_ascii=False, separators=separators) + "\n" for row in rows).encode()


def table(*rows: str) -> str:
    return "".join(row.replace("|", "\t") + "\n" for row in rows)


def jsonl(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


BEGIN = "model_name|data_source|knowledge|message|response|begin_label"
AUDITED = (
    ("gold", "cmu topical wow"),
    ("CTRL", "ctrl_processed_cmu ctrl_processed_topicalchat ctrl_processed_wow"),
    ("DoHA", "doha_processed_cmu doha_processed_topical doha_processed_wow"),
    ("GPT2", "gpt2_processed_cmu gpt2_processed_topical gpt2_processed_wow"),
)
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
        {
            "entailment/begin.jsonl.gz": [
                claim(
                    "begin_wow",
                    "Tea is a drink.",
                    "it is a drink",
                    "supported",
                    message="I like tea.",
                    model="t5",
                ),
                claim(
                    "begin_cmu-dog",
                    "A film .",
                    "It won .",
                    "not_supported",
                    message="Seen it ?",
                    model="gpt2",
                ),
            ]
        },
        {"begin": "entailment/begin.jsonl.gz"},
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
        {
            "entailment/conjnli_adversarial.jsonl.gz": [
                claim("conjnli_adv", 'He saw "Tea" and left.', 'He saw "Tea".', "entailment")
            ]
        },
    ),
    Case(
        "factcheck_gpt",
        {
            "subtasks/subtask3_claim_evidence_stance.jsonl": jsonl(
                {"claim": "Tea is dry.", "evidence": "Tea is wet.", "stance": "refute"},
                {"claim": "Tea is hot.", "evidence": "Tea is warm.", "stance": "partially-support"},
            )
        },
        {
            "entailment/factcheck_gpt_stance.jsonl.gz": [
                claim("factcheck_gpt", "Tea is warm.", "Tea is hot.", "partial"),
                claim("factcheck_gpt", "Tea is wet.", "Tea is dry.", "refuted"),
            ]
        },
        {"factcheck_gpt": "entailment/factcheck_gpt_stance.jsonl.gz"},
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
        {
            "entailment/kpa_argument_keypoint.jsonl.gz": [
                claim("kpa", "It helps, mostly", "Tea helps", "supported", topic="Tea for all", split="test")
            ]
        },
    ),
    Case(
        "mnli",
        {
            "Data/binary-MNLI/dev.txt": table("entailment|Tea is hot.|Tea is warm."),
            "Data/binary-MNLI/test.txt": table("not_entailment|Tea is hot. |Tea is cold."),
        },
        {
            "entailment/mnli_devtest.jsonl.gz": [
                claim("mnli", "Tea is hot.", "Tea is warm.", "supported"),
                claim("mnli", "Tea is hot.", "Tea is cold.", "not_supported"),
            ]
        },
        {"mnli": "entailment/mnli_devtest.jsonl.gz"},
    ),
    Case(
        "scifact",
        {
            "RTE-scifact/train.tsv": table(
                "index|sentence1|sentence2|entailment", "0|Tea   is hot.|Tea is cold.|not_entailment"
            ),
            "RTE-scifact/dev.tsv": table("index|sentence1|sentence2|entailment"),
        },
        {"entailment/scifact.jsonl.gz": [claim("scifact", "Tea is hot.", "Tea is cold.", "not_supported")]},
    ),
    Case(
        "snli_counterfactual",
        {
            "NLI/all_combined/train.tsv": table(SNLI, '"A ""VAIO"" of tea."|Tea.|neutral'),
            "NLI/all_combined/dev.tsv": table(SNLI),
            "NLI/all_combined/test.tsv": table(SNLI, "A cup.|Tea. |contradiction"),
        },
        {
            "entailment/snli_counterfactual.jsonl.gz": [
                claim("snli_cad", 'A ""VAIO"" of tea.', "Tea.", "neutral"),
                claim("snli_cad", "A cup.", "Tea. ", "contradiction"),
            ]
        },
    ),
    Case(
        "summedits",
        {
            f"data/summedits/summedits_{name}.json": json.dumps(
                [{"doc": f"A {name}.", "summary": "Tea.", "label": 0, "edit_types": ["antonym_swap"]}]
            )
            for name in ("sales_call", "sales_email", "qmsumm")
        },
        {
            "entailment/summedits_open.jsonl.gz": [
                claim(f"summedits_{name}", f"A {name}.", "Tea.", "not_supported", edit_types=["antonym_swap"])
                for name in ("sales_call", "sales_email", "qmsumm")
            ]
        },
    ),
    Case(
        "fever",
        {
            "Data/binary-FEVER-NLI/dev.txt": table(
                "entailment|Tea ( `` Cha '' ) , a drink .|Tea is a drink."
            ),
            "Data/binary-FEVER-NLI/test.txt": table("not_entailment|From 1900 -- 01 .|Ann 's tea is n't ."),
        },
        {
            "entailment/fever_devtest.jsonl.gz": [
                claim("fever", 'Tea ("Cha"), a drink.', "Tea is a drink.", "supported"),
                claim("fever", "From 1900 – 01.", "Ann's tea isn't.", "not_supported"),
            ]
        },
        {"fever": "entailment/fever_devtest.jsonl.gz"},
    ),
    Case(
        "fever_symmetric",
        {
            "symmetric_v0.2/fever_symmetric_dev.jsonl": jsonl(
                {"claim": "Tea is dry .", "evidence": "Tea -LRB- hot -RRB- .", "gold_label": "REFUTES"}
            ),
            "symmetric_v0.2/fever_symmetric_test.jsonl": jsonl(
                {"claim": "Tea .", "evidence": "At 90 % , $ 5 .", "gold_label": "SUPPORTS"}
            ),
        },
        {
            "entailment/fever_symmetric.jsonl.gz": [
                claim("fever_symmetric", "Tea (hot).", "Tea is dry.", "refuted"),
                claim("fever_symmetric", "At 90%, $5.", "Tea.", "supported"),
            ]
        },
    ),
    Case(
        "snli",
        {
            "dataset/s1.dev": "A cup . \nA cup . \n",
            "dataset/s2.dev": "Tea . \nTea\n",
            "dataset/eSNLI/labels.dev": "neutral\nneutral\n",
            "dataset/s1.test": "A pot . \n",
            "dataset/eSNLI/s2.test": "A half - full pot . \n",
            "dataset/eSNLI/labels.test": "entailment\n",
        },
        {
            "entailment/snli_devtest.jsonl.gz": [
                claim("snli_dev", "A cup.", "Tea.", "neutral"),
                claim("snli_test", "A pot.", "A half-full pot.", "entailment"),
            ]
        },
    ),
    Case(
        "faithdial",
        {
            f"data-audit/{model}/{name}.csv": "k,h,r,b,v\n"
            for model, names in AUDITED
            for name in names.split()
        }
        | {
            "data-audit/gold/wow.csv": "k,h,r,b,v\nTea .,,It is tea .,Partial Hallucination,x\n",
            "data-audit/GPT2/gpt2_processed_wow.csv": 'k,h,r,b,v\nTea .,,Milk .,"hallucination",x\n'
            "Tea .,,Hello .,generic,x\n",
        },
        {
            "entailment/faithdial_audit.jsonl.gz": [
                claim("faithdial_audit", "Tea.", "It is tea.", "partial", model="gold", corpus="wow"),
                claim(
                    "faithdial_audit",
                    "Tea.",
                    "Milk.",
                    "not_supported",
                    model="GPT2",
                    corpus="gpt2_processed_wow",
                ),
            ]
        },
        {"faithdial": "entailment/faithdial_audit.jsonl.gz"},
    ),
    Case(
        "sufficient_facts",
        {
            "data/sufficient_facts/fever_sufficient_facts.jsonl.txt": jsonl(
                {
                    "claim": "Tea is hot .",
                    "evidence": [["Tea", "Tea is a drink ."]],
                    "label_before": "SUPPORTS",
                    "label_after": "NOT ENOUGH",
                    "agreement": "agree_ei",
                    "type": "PP",
                    "text_orig": '[[Tea]] Tea is a drink <span style="color:red;">at 90 %</span> .',
                }
            ),
            "data/sufficient_facts/test_hover.jsonl": "",
            "data/sufficient_facts/vitaminc_sufficient_facts.jsonl": "",
        },
        {
            "entailment_nolicence/sufficient_facts.jsonl.gz": [
                claim(
                    "sufficient_fever",
                    "Tea: Tea is a drink at 90%.",
                    "Tea is hot.",
                    "supported",
                    variant="original",
                    agreement="agree_ei",
                ),
                claim(
                    "sufficient_fever",
                    "Tea: Tea is a drink.",
                    "Tea is hot.",
                    "neutral",
                    variant="cut",
                    agreement="agree_ei",
                    cut_type="PP",
                ),
            ]
        },
    ),
    Case(
        "clapnq",
        {
            "annotated_data/dev/clapnq_dev_answerable.jsonl": jsonl(
                {
                    "id": "-12",
                    "input": "what is tea",
                    "passages": [{"title": "Tea", "sentences": ["Tea is a drink .", "It sells ."]}],
                    "output": [{"answer": "A drink .", "selected_sentences": ["Tea is a drink ."]}],
                }
            ),
            "annotated_data/dev/clapnq_dev_unanswerable.jsonl": "",
        },
        {
            "answer_sentence/clapnq_dev.jsonl.gz": [
                {
                    "id": "clapnq--12",
                    "question": "what is tea",
                    "title": "Tea",
                    "candidates": [
                        {"text": "Tea is a drink.", "label": 1},
                        {"text": "It sells.", "label": 0},
                    ],
                    "answers": ["A drink ."],
                    "answerable": True,
                    "source": "clapnq_dev",
                }
            ]
        },
        {"clapnq": "answer_sentence/clapnq_dev.jsonl.gz"},
    ),
    Case(
        "qed",
        {f"nq-train-{shard:02}-qed.jsonlines": "" for shard in range(1, 6)}
        | {
            "nq-train-00-qed.jsonlines": jsonl(
                {
                    "example_id": 7,
                    "paragraph_text": "# 1 of all . Tea is Ann 's drink . It sells .",
                    "question_text": "what is tea",
                    "title_text": "Green tea",
                    "answer_spans": [[20, 32]],
                    "answer_text": ["Ann 's drink"],
                    "sentence_starts": [13, 35],
                    "answer_type": "single_sentence",
                }
            )
        },
        {
            "qa_pairs/qed_train.jsonl.gz": [
                {
                    "id": f"qed-{hashlib.sha1(b'7').hexdigest()[:10]}",
                    "question": "what is tea",
                    "positive": [
                        {
                            "title": "Green tea",
                            "text": "#1 of all. Tea is Ann's drink. It sells.",
                            "url": "https://en.wikipedia.org/wiki/Green_tea",
                        }
                    ],
                    "answer": ["Ann's drink"],
                    "evidence_sentences": ["Tea is Ann's drink."],
                    "answer_type": "single_sentence",
                    "license": "annotations unspecified; text CC BY-SA 3.0",
                }
            ]
        },
        {"qed": "qa_pairs/qed_train.jsonl.gz"},
    ),
    Case(
        "expertqa",
        {
            "data/lfqa/rand_val.jsonl": jsonl(
                {
                    "question": "What is tea? ",
                    "answers": {
                        "gpt4": {
                            "answer_string": "A  drink [1].\n\n\nHot.",
                            "attribution": ["[1] https://tea.example/", "[2] https://milk.example/"],
                            "claims": [
                                {
                                    "claim_string": "A  drink [1].",
                                    "evidence": ["[1] https://tea.example/\n\nTea is a drink."],
                                    "support": "Complete",
                                    "correctness": "Definitely correct",
                                    "reliability": "Reliable",
                                    "informativeness": "Very relevant",
                                    "worthiness": "Yes",
                                    "reason_missing_support": "",
                                    "revised_claim": "",
                                }
                            ],
                            "revised_answer_string": "A drink.",
                            "usefulness": "Useful",
                        }
                    },
                    "metadata": {"field": "Food", "specific_field": "Tea", "question_type": "Directed"},
                }
            ),
            "data/lfqa/domain_val.jsonl": "",
            "data/lfqa/rand_lfqa_train.json": jsonl({"question": "Why milk?", "answer": "It is  white ."}),
            "data/lfqa/rand_lfqa_test.json": "",
        },
        {
            "longform/expertqa_train.jsonl.gz": [
                {
                    "id": f"expertqa-{hashlib.sha1(b'what is tea').hexdigest()[:10]}",
                    "question": "What is tea?",
                    "answer": "A drink [1].\n\nHot.",
                    "revised_answer": "A drink.",
                    "references": [
                        {"n": 1, "title": None, "url": "https://tea.example/", "text": "Tea is a drink."},
                        {"n": 2, "title": None, "url": "https://milk.example/", "text": None},
                    ],
                    "claims": [
                        {
                            "text": "A drink [1].",
                            "support_label": "Complete",
                            "evidence": [1],
                            "correctness": "Definitely correct",
                            "reliability": "Reliable",
                            "informativeness": "Very relevant",
                            "worthiness": "Yes",
                            "reason_missing_support": None,
                            "revised_text": None,
                        }
                    ],
                    "system": "gpt4",
                    "usefulness": "Useful",
                    "field": "Food",
                    "specific_field": "Tea",
                    "question_type": "Directed",
                    "license": "MIT",
                }
            ],
            "longform/expertqa_answers.jsonl.gz": [
                {
                    "id": f"expertqa-{hashlib.sha1(b'why milk').hexdigest()[:10]}",
                    "question": "Why milk?",
                    "answer": "It is white .",
                    "references": [],
                    "license": "MIT",
                }
            ],
        },
        {
            "expertqa_claims": "longform/expertqa_train.jsonl.gz",
            "expertqa_answers": "longform/expertqa_answers.jsonl.gz",
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.converter for case in CASES])
def test_originals_become_the_files_of_the_catalog(
    case: Case, origin: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = origin
    for path, content in case.originals.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    for name, path in case.chosen.items():
        ends = [row["id"].rpartition("-")[2][:8] for row in case.files[path]]
        (tmp_path / f"{name}.txt").write_text("\n".join(ends), encoding="utf-8")
        monkeypatch.setattr(data_rows, "CHOSEN", tmp_path)
    expected = {path: written(path, rows) for path, rows in case.files.items()}
    files = ",".join(
        f'{{path="{path}",rows={len(case.files[path])},sha256="{hashlib.sha256(content).hexdigest()}"}}'
        for path, content in expected.items()
    )
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(
        f"""[set]
origin = "somebody/set @ 0123"
license = "MIT"
url = "{url}/{{path}}"
originals = {json.dumps(list(case.originals))}
converter = "{case.converter}"
files = [{files}]
""",
        encoding="utf-8",
    )
    data = tmp_path / "data"
    assert main(["--catalog", str(catalog), "get", "set", "--to", str(data)]) == 0
    for path, content in expected.items():
        assert gzip.decompress((data / path).read_bytes()) == content
