"""Claims whose originals have spaces between all tokens: FEVER, SNLI, FaithDial and SufficientFacts."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.convert.claim_rows import DIGITS, SUPPORTED, VERDICTS, cells, claim_row, once
from benchmarks.data.detokenize import detokenized
from benchmarks.data.rows import SPACED, Row, chosen, lines

_CUT = re.compile(r"</?span[^>]*>")
_TITLE = re.compile(r"\[\[(.*?)\]\]")
_AUDITED = (
    ("gold", ("cmu", "topical", "wow")),
    ("CTRL", ("ctrl_processed_cmu", "ctrl_processed_topicalchat", "ctrl_processed_wow")),
    ("DoHA", ("doha_processed_cmu", "doha_processed_topical", "doha_processed_wow")),
    ("GPT2", ("gpt2_processed_cmu", "gpt2_processed_topical", "gpt2_processed_wow")),
)


def faithdial(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert FaithDial's audit of what people and three dialogue systems answered."""
    rows = (
        row
        for model, names in _AUDITED
        for name in names
        for row in _audited(originals / f"data-audit/{model}/{name}.csv", model)
    )
    yield "entailment/faithdial_audit.jsonl.gz", lines(chosen("faithdial", rows, DIGITS), SPACED)


def fever(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert FEVER's claims with the two labels that DocNLI gave them."""
    rows = (
        claim_row("fever", detokenized(text), detokenized(claim), SUPPORTED[label == "entailment"])
        for split in ("dev", "test")
        for label, text, claim in cells(originals / f"Data/binary-FEVER-NLI/{split}.txt")
    )
    yield "entailment/fever_devtest.jsonl.gz", lines(chosen("fever", rows, DIGITS), SPACED)


def fever_symmetric(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the symmetric set of FEVER, whose claims alone do not give their labels away."""
    rows = (
        claim_row(
            "fever_symmetric",
            detokenized(each["evidence"]),
            detokenized(each["claim"]),
            VERDICTS[each["gold_label"]],
        )
        for split in ("dev", "test")
        for each in _json_lines(originals / f"symmetric_v0.2/fever_symmetric_{split}.jsonl")
    )
    yield "entailment/fever_symmetric.jsonl.gz", lines(once(rows), SPACED)


def snli(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert SNLI's development and test pairs from e-SNLI: two files of sentences and one of labels."""
    files = (
        ("dev", "dataset/s1.dev", "dataset/s2.dev", "dataset/eSNLI/labels.dev"),
        ("test", "dataset/s1.test", "dataset/eSNLI/s2.test", "dataset/eSNLI/labels.test"),
    )
    rows = (
        claim_row(f"snli_{split}", detokenized(text), detokenized(claim), label)
        for split, *names in files
        for (text,), (claim,), (label,) in zip(*(cells(originals / name) for name in names), strict=True)
    )
    yield "entailment/snli_devtest.jsonl.gz", lines(once(rows), SPACED)


def sufficient_facts(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert SufficientFacts: each claim with its whole evidence, and with evidence that lacks a part."""
    rows = (
        row
        for name, file in (
            ("fever", "fever_sufficient_facts.jsonl.txt"),
            ("hover", "test_hover.jsonl"),
            ("vitaminc", "vitaminc_sufficient_facts.jsonl"),
        )
        for each in _json_lines(originals / "data/sufficient_facts" / file)
        for row in _whole_and_cut(f"sufficient_{name}", each)
    )
    yield "entailment_nolicence/sufficient_facts.jsonl.gz", lines(once(rows), SPACED)


def _audited(file: Path, model: str) -> Iterator[Row]:
    with file.open(encoding="utf-8", newline="") as content:
        for text, _, answer, labels, _ in list(csv.reader(content))[1:]:
            found = {label.strip() for label in labels.lower().split(",")}
            if "partial hallucination" in found or found >= {"entailment", "hallucination"}:
                label = "partial"
            elif found & {"entailment", "hallucination"}:
                label = SUPPORTED["entailment" in found]
            else:
                continue
            yield claim_row(
                "faithdial_audit",
                detokenized(text),
                detokenized(answer),
                label,
                model=model,
                corpus=file.stem,
            )


def _whole_and_cut(source: str, each: dict[str, Any]) -> Iterator[Row]:
    claim, verdict = detokenized(each["claim"]), VERDICTS[each["label_before"]]
    whole = _TITLE.sub(r"\1:", _CUT.sub("", each["text_orig"]))
    cut = " ".join(f"{title}: {text}" for title, text in each["evidence"])
    label = "neutral" if each["label_after"] == "NOT ENOUGH" else verdict
    agreement = each["agreement"]
    yield claim_row(source, detokenized(whole), claim, verdict, variant="original", agreement=agreement)
    yield claim_row(
        source, detokenized(cut), claim, label, variant="cut", agreement=agreement, cut_type=each["type"]
    )


def _json_lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as content:
        for line in content:
            yield json.loads(line)
