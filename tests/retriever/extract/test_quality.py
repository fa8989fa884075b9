"""The quality gate: floors for extraction on real pages, to be raised and never lowered in silence.

The folder of data is that which the environment variable CITEWELL_DATA names; docs/benchmarks.md says what is
in it. `python -m benchmarks.extraction_floors --pin` pins the floors again.
"""

from __future__ import annotations

import gzip
import json
import os
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.extraction_floors import FLOORS, checksums, measured, recorded
from benchmarks.floors import pinned
from citewell.retriever.extract.main_text.classifier import MODEL
from citewell.retriever.extract.page import extract
from citewell.retriever.extract.training.card import MODEL_FILES, RECORD
from citewell.retriever.extract.training.cross_validation import checksum

DATA = os.environ.get("CITEWELL_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="CITEWELL_DATA does not name a folder with data")
STORED = json.loads(FLOORS.read_text(encoding="utf-8"))


def below(scores: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The scores under their floors, with these."""
    floors = STORED["floors"]
    return {name: (score, floors[name]) for name, score in scores.items() if score < floors[name]}


@needs_data
def test_pages_are_read_as_well_as_before() -> None:
    if checksums(Path(DATA)) != STORED["data"]:
        pytest.fail("The floors were pinned on other data than that of CITEWELL_DATA.")
    assert not below(measured(Path(DATA)))


def test_the_packaged_classifier_was_as_good_on_unseen_sites() -> None:
    assert not below(recorded())


def test_the_record_of_training_is_that_of_the_packaged_classifier() -> None:
    record = json.loads((MODEL / RECORD).read_text(encoding="utf-8"))
    assert record["model"] == {name: checksum(MODEL / name) for name in MODEL_FILES}
    assert {file["name"]: file["sha256"] for file in record["data"]} == STORED["data"]


def test_floors_do_not_sink_unless_it_is_meant() -> None:
    assert pinned({"a": 0.9509, "b": 0.5}, {"a": 0.94}, lower=False, margin=0.002) == {"a": 0.948, "b": 0.498}
    with pytest.raises(SystemExit, match=r"a 0\.96 → 0\.948"):
        pinned({"a": 0.9509}, {"a": 0.96}, lower=False, margin=0.002)
    with pytest.raises(SystemExit, match="gone"):
        pinned({"a": 0.9509}, {"b": 0.9}, lower=False, margin=0.002)
    assert pinned({"a": 0.9509}, {"a": 0.96}, lower=True, margin=0.002) == {"a": 0.948}


@needs_data
def test_encyclopedia_articles() -> None:
    """Pages that nothing was trained on."""
    with gzip.open(Path(DATA) / "web/wikispeedia/articles-00.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, islice(lines, 150)):
            page = extract(row["html"].encode(), row["path"], "text/html")
            text = " ".join(" ".join(passage.text.split()) for passage in page.passages)
            assert page.title == row["title"]
            assert "GNU Free Documentation License. See also our Disclaimer" not in text
            lengths = [len(passage.text.split()) for passage in page.passages]
            assert max(lengths) <= 200 + 10  # the words of a caption at the end
            assert min(lengths) >= 12
            assert len({passage.id for passage in page.passages}) == len(page.passages)
