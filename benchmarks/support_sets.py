"""The claims with texts that people, or rules, said to be supported or not: one set per kind of claim."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results_files import external_data
from citewell.core.jsonl import read_lines
from citewell.core.support_labels import SUPPORT
from citewell.core.training.sources import DataFolders, question_key
from citewell.retriever.cross_encoder.training.config import load_config
from citewell.retriever.training.sources import read_data

RECIPE = Path(__file__).parent.parent / "recipes" / "support" / "citewell-support.toml"
EXPERTQA = "expertqa"
_UNSEEN = {
    "factcheck-gpt-stance": "entailment/factcheck_gpt_stance.jsonl.gz",
    "fever-symmetric": "entailment/fever_symmetric.jsonl.gz",
    "scifact": "entailment/scifact.jsonl.gz",
    "summedits-open": "entailment/summedits_open.jsonl.gz",
    # Its labels have no license: they may measure weights, and not train them.
    "sufficient-facts": "entailment_nolicence/sufficient_facts.jsonl.gz",
}
_MARK = re.compile(r"\s*\[\d+\]")


class JudgedClaim(NamedTuple):
    """A claim, a text, and whether the text supports the claim."""

    claim: str
    text: str
    supported: bool


class SupportSet(NamedTuple):
    """Claims of one kind; `trained` if the reader was trained on others of this kind."""

    name: str
    rows: tuple[JudgedClaim, ...]
    trained: bool


def read_sets(most: int) -> list[SupportSet]:
    """Read at most `most` claims of each kind, drawn at random; partly supported ones are left out.

    Of the kinds that the reader's recipe trains on, only the claims that it leaves out are read. Of
    `q2_wow`, nothing is: its labels are exchanged ("… were formed in 1993" is not supported by "formed in
    Orlando, Florida in 1993").
    """
    return [*_left_out(most), *_unseen(most)]


def _left_out(most: int) -> Iterator[SupportSet]:
    config = load_config(RECIPE)
    folders = DataFolders(RECIPE.parent, external_data())
    left = {
        each.name: {question_key(row.question) for row in each.rows}
        for each in read_data(config, folders, lambda rows, others, negatives: tuple(rows)).dev
    }
    for source in config.data:
        rows = [
            row
            for file in folders.files(source)
            for row in _rows(file)
            if question_key(row.claim) in left[source.name]
        ]
        yield SupportSet(source.name, _drawn(rows, most), trained=True)


def _unseen(most: int) -> Iterator[SupportSet]:
    for name, file in _UNSEEN.items():
        yield SupportSet(name, _drawn(list(_rows(external_data() / file)), most), trained=False)
    yield SupportSet(EXPERTQA, _drawn(list(expertqa()), most), trained=False)


def expertqa() -> Iterator[JudgedClaim]:
    """Yield the claims of ExpertQA that experts call completely or incompletely supported by one passage."""
    for answer in _lines(external_data() / "longform" / "expertqa_train.jsonl.gz"):
        passages = {each["n"]: each["text"] for each in answer["references"] if each.get("text")}
        for claim in answer["claims"]:
            cited = [number for number in claim["evidence"] if number in passages]
            label = (claim["support_label"] or "").lower()
            if len(cited) == 1 and label in ("complete", "incomplete"):
                text = _MARK.sub("", claim["text"])
                yield JudgedClaim(text, passages[cited[0]], label == "complete")


def _rows(file: Path) -> Iterator[JudgedClaim]:
    for row in _lines(file):
        target = SUPPORT[row["label"]]
        if row["premise"] and target in (0, 1):
            yield JudgedClaim(row["claim"], row["premise"], target == 1)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in read_lines(file):
        yield line.row()


def _drawn(rows: list[JudgedClaim], most: int) -> tuple[JudgedClaim, ...]:
    return tuple(random.Random(0).sample(rows, min(most, len(rows))))
