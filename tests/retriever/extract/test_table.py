"""Comma-separated values: each passage keeps the header, and what separates the cells is found out."""

from __future__ import annotations

import gzip

import pytest

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.page import extract


def test_every_passage_of_a_long_table_begins_with_the_header() -> None:
    rows = "".join(f"{name},{name * 3} metres,made of paper and silk\n" for name in range(200))
    page = extract(f"Kite,Length,Material\n{rows}".encode(), "file:///kites.csv")
    assert len(page.passages) > 5
    assert all(passage.text.startswith("Kite | Length | Material\n") for passage in page.passages)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_cells_are_separated_by_any_usual_mark(mark: str) -> None:
    body = f'Kite{mark}Price\n"Box{mark} large"{mark}"12\n€"\nDelta{mark}8 €\n'.encode()
    [passage] = extract(body, "prices.csv").passages
    assert passage.text == f"Kite | Price\nBox{mark} large | 12 €\nDelta | 8 €".replace("Box\t ", "Box ")


def test_rows_of_a_table_with_a_long_header_name_their_cells() -> None:
    names = [f"The answer to question number {number} of the survey" for number in range(12)]
    rows = [[f"value {row} {number}" for number in range(12)] for row in range(3)]
    body = "\n".join(",".join(row) for row in [names, *rows]).encode()
    text = "\n".join(passage.text for passage in extract(body, "survey.csv").passages)
    assert "The answer to question number 3 of the survey: value 2 3" in text


def test_a_million_rows_are_read_up_to_a_limit_that_is_named() -> None:
    body = gzip.compress(b"kite,wind\n" + b"delta,3 to 8\n" * 1_000_000, 1)
    page = extract(body, "file:///kites.csv.gz")
    assert page.notice == "only the first 20,000 of its rows were read"
    assert page.title == "kites.csv"


def test_a_broken_table_is_reported() -> None:
    with pytest.raises(ExtractionError, match="holds no readable text"):
        extract(b",,,\n,,,\n", "empty.csv")
