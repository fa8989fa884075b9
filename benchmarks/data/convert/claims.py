"""Claims with texts that support them or not, which measure the checks of citations."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.convert.claim_rows import DIGITS, SUPPORTED, cells, claim_row, once
from benchmarks.data.rows import SPACED, Row, chosen, lines, one_line

_STANCES = {
    "completely-support": "supported",
    "partially-support": "partial",
    "refute": "refuted",
    "irrelevant": "neutral",
}


def begin(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert BEGIN: answers of dialogue systems; those that say nothing are left out."""
    rows = (
        claim_row(
            f"begin_{folder}",
            row["knowledge"],
            row["response"],
            SUPPORTED[row["begin_label"] == "Fully attributable"],
            message=row["message"],
            model=row["model_name"],
        )
        for folder, file in (
            ("wow", "begin_dev_wow.tsv"),
            ("wow", "begin_test_wow.tsv"),
            ("cmu-dog", "begin_dev_cmu.tsv"),
            ("topicalchat", "begin_dev_tc.tsv"),
        )
        for row in _table(originals / folder / file)
        if row["begin_label"].endswith("attributable")
    )
    yield "entailment/begin.jsonl.gz", lines(chosen("begin", rows, DIGITS), SPACED)


def conjnli(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the adversarial claims of ConjNLI, whose conjunctions a rule changed."""
    rows = (
        claim_row("conjnli_adv", row["Premise"].strip(), row["Hypothesis"].strip(), row["Label"])
        for row in _table(originals / "data/NLI/adversarial_train_15k.tsv")
    )
    yield "entailment/conjnli_adversarial.jsonl.gz", lines(once(rows), SPACED)


def factcheck_gpt(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the stances of Factcheck-GPT: what parts of web pages say of a model's claims."""
    with (originals / "subtasks/subtask3_claim_evidence_stance.jsonl").open(encoding="utf-8") as content:
        found = [json.loads(line) for line in content]
    rows = (
        claim_row("factcheck_gpt", each["evidence"], each["claim"], _STANCES[each["stance"]])
        for each in found
    )
    yield "entailment/factcheck_gpt_stance.jsonl.gz", lines(chosen("factcheck_gpt", rows, DIGITS), SPACED)


def key_points(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the shared task on key points: does an argument make a point?"""
    rows = (
        row
        for folder, split in (("kpm_data", "train"), ("kpm_data", "dev"), ("test_data", "test"))
        for row in _key_points(originals / folder, split)
    )
    yield "entailment/kpa_argument_keypoint.jsonl.gz", lines(once(rows), SPACED)


def mnli(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert MultiNLI's development sets with the two labels that DocNLI gave them."""
    rows = (
        claim_row("mnli", text.strip(), claim.strip(), SUPPORTED[label == "entailment"])
        for split in ("dev", "test")
        for label, text, claim in cells(originals / f"Data/binary-MNLI/{split}.txt")
    )
    yield "entailment/mnli_devtest.jsonl.gz", lines(chosen("mnli", rows, DIGITS), SPACED)


def scifact(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert SciFact's claims with the sentences of abstracts that decide them."""
    rows = (
        claim_row(
            "scifact",
            one_line(row["sentence1"]),
            row["sentence2"].strip(),
            SUPPORTED[row["entailment"] == "entailment"],
        )
        for split in ("train", "dev")
        for row in _table(originals / f"RTE-scifact/{split}.tsv")
    )
    yield "entailment/scifact.jsonl.gz", lines(once(rows), SPACED)


def snli_counterfactual(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert SNLI's pairs of which people changed one sentence so that the label changed."""
    rows = (
        claim_row("snli_cad", row["sentence1"].strip('"'), row["sentence2"].strip('"'), row["gold_label"])
        for split in ("train", "dev", "test")
        for row in _table(originals / f"NLI/all_combined/{split}.tsv")
    )
    yield "entailment/snli_counterfactual.jsonl.gz", lines(once(rows), SPACED)


def summedits(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the parts of SummEdits whose documents have a license: a model's edits of summaries."""
    rows = (
        claim_row(
            f"summedits_{name}",
            each["doc"],
            each["summary"],
            SUPPORTED[each["label"] == 1],
            edit_types=each["edit_types"],
        )
        for name in ("sales_call", "sales_email", "qmsumm")
        for each in json.loads(
            (originals / f"data/summedits/summedits_{name}.json").read_text(encoding="utf-8")
        )
    )
    yield "entailment/summedits_open.jsonl.gz", lines(once(rows), SPACED)


def _key_points(folder: Path, split: str) -> Iterator[Row]:
    arguments = {row["arg_id"]: row for row in _csv(folder / f"arguments_{split}.csv")}
    points = {row["key_point_id"]: row["key_point"] for row in _csv(folder / f"key_points_{split}.csv")}
    for row in _csv(folder / f"labels_{split}.csv"):
        argument = arguments[row["arg_id"]]
        yield claim_row(
            "kpa",
            argument["argument"],
            points[row["key_point_id"]],
            SUPPORTED[row["label"] == "1"],
            topic=argument["topic"],
            split=split,
        )


def _csv(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as content:
        yield from csv.DictReader(content)


def _table(file: Path) -> Iterator[dict[str, str]]:
    """Yield the rows below a header as they stand: quotation marks around cells are part of them."""
    header, *rows = cells(file)
    for row in rows:
        yield dict(zip(header, row, strict=True))
