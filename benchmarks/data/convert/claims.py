"""Claims with texts that support them or not, which measure the checks of citations."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.rows import SPACED, Row, chosen, lines, one_line, sha1, words

_SUPPORTED = {True: "supported", False: "not_supported"}
_STANCES = {
    "completely-support": "supported",
    "partially-support": "partial",
    "refute": "refuted",
    "irrelevant": "neutral",
}
_DIGITS = 8  # of an id's 12 in the lists of what was used


def begin(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert BEGIN: answers of dialogue systems; those that say nothing are left out."""
    rows = (
        _claim(
            f"begin_{folder}",
            row["knowledge"],
            row["response"],
            _SUPPORTED[row["begin_label"] == "Fully attributable"],
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
    yield "entailment/begin.jsonl.gz", lines(chosen("begin", rows, _DIGITS), SPACED)


def conjnli(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the adversarial claims of ConjNLI, whose conjunctions a rule changed."""
    rows = (
        _claim("conjnli_adv", row["Premise"].strip(), row["Hypothesis"].strip(), row["Label"])
        for row in _table(originals / "data/NLI/adversarial_train_15k.tsv")
    )
    yield "entailment/conjnli_adversarial.jsonl.gz", lines(_once(rows), SPACED)


def factcheck_gpt(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the stances of Factcheck-GPT: what parts of web pages say of a model's claims."""
    with (originals / "subtasks/subtask3_claim_evidence_stance.jsonl").open(encoding="utf-8") as content:
        found = [json.loads(line) for line in content]
    rows = (
        _claim("factcheck_gpt", each["evidence"], each["claim"], _STANCES[each["stance"]]) for each in found
    )
    yield "entailment/factcheck_gpt_stance.jsonl.gz", lines(chosen("factcheck_gpt", rows, _DIGITS), SPACED)


def key_points(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the shared task on key points: does an argument make a point?"""
    rows = (
        row
        for folder, split in (("kpm_data", "train"), ("kpm_data", "dev"), ("test_data", "test"))
        for row in _key_points(originals / folder, split)
    )
    yield "entailment/kpa_argument_keypoint.jsonl.gz", lines(_once(rows), SPACED)


def mnli(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert MultiNLI's development sets with the two labels that DocNLI gave them."""
    rows = (
        _claim("mnli", text.strip(), claim.strip(), _SUPPORTED[label == "entailment"])
        for split in ("dev", "test")
        for label, text, claim in _cells(originals / f"Data/binary-MNLI/{split}.txt")
    )
    yield "entailment/mnli_devtest.jsonl.gz", lines(chosen("mnli", rows, _DIGITS), SPACED)


def scifact(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert SciFact's claims with the sentences of abstracts that decide them."""
    rows = (
        _claim(
            "scifact",
            one_line(row["sentence1"]),
            row["sentence2"].strip(),
            _SUPPORTED[row["entailment"] == "entailment"],
        )
        for split in ("train", "dev")
        for row in _table(originals / f"RTE-scifact/{split}.tsv")
    )
    yield "entailment/scifact.jsonl.gz", lines(_once(rows), SPACED)


def snli_counterfactual(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert SNLI's pairs of which people changed one sentence so that the label changed."""
    rows = (
        _claim("snli_cad", row["sentence1"].strip('"'), row["sentence2"].strip('"'), row["gold_label"])
        for split in ("train", "dev", "test")
        for row in _table(originals / f"NLI/all_combined/{split}.tsv")
    )
    yield "entailment/snli_counterfactual.jsonl.gz", lines(_once(rows), SPACED)


def summedits(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the parts of SummEdits whose documents have a license: a model's edits of summaries."""
    rows = (
        _claim(
            f"summedits_{name}",
            each["doc"],
            each["summary"],
            _SUPPORTED[each["label"] == 1],
            edit_types=each["edit_types"],
        )
        for name in ("sales_call", "sales_email", "qmsumm")
        for each in json.loads(
            (originals / f"data/summedits/summedits_{name}.json").read_text(encoding="utf-8")
        )
    )
    yield "entailment/summedits_open.jsonl.gz", lines(_once(rows), SPACED)


def _claim(source: str, text: str, claim: str, label: str, **more: Any) -> Row:
    key = sha1(f"{text}\x1f{claim}", 12)
    return {
        "id": f"{source}-{key}",
        "premise": text,
        "claim": claim,
        "label": label,
        "source": source,
        **more,
    }


def _once(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield each row but those that repeat the words of an earlier one."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        key = words(row["premise"]), words(row["claim"])
        if key not in seen:
            seen.add(key)
            yield row


def _key_points(folder: Path, split: str) -> Iterator[Row]:
    arguments = {row["arg_id"]: row for row in _csv(folder / f"arguments_{split}.csv")}
    points = {row["key_point_id"]: row["key_point"] for row in _csv(folder / f"key_points_{split}.csv")}
    for row in _csv(folder / f"labels_{split}.csv"):
        argument = arguments[row["arg_id"]]
        yield _claim(
            "kpa",
            argument["argument"],
            points[row["key_point_id"]],
            _SUPPORTED[row["label"] == "1"],
            topic=argument["topic"],
            split=split,
        )


def _csv(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as content:
        yield from csv.DictReader(content)


def _table(file: Path) -> Iterator[dict[str, str]]:
    """Yield the rows below a header as they stand: quotation marks around cells are part of them."""
    header, *rows = _cells(file)
    for cells in rows:
        yield dict(zip(header, cells, strict=True))


def _cells(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8") as content:
        for line in content:
            yield line.rstrip("\n").split("\t")
