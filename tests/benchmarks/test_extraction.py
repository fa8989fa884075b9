"""The benchmark of extraction, on a few pages."""

from __future__ import annotations

import pytest

from benchmarks.extraction import (
    ALL,
    ARTICLES,
    OURS,
    WCXB,
    article_rows,
    articles_f1,
    cpu_ms,
    gains,
    report,
    score_all,
    speed_rows,
    wcxb_rows,
)
from benchmarks.extractors import REFERENCE, ExtractionEngine, ours
from citewell.retriever.extract.training.rows import PageRow

TEXT = "Kites were known in China by the year 400 BC, when silk was used for sails and bamboo for frames. "


def page(number: int, page_type: str) -> PageRow:
    html = f"<html><body><nav>Home</nav><p>{TEXT * 3}</p><p>Page {number}. {TEXT}</p></body></html>"
    gold = f"{TEXT * 3}\nPage {number}. {TEXT}"
    return PageRow(
        f"{number}", html, gold, page_type=page_type, gold_with=("in china by",), gold_without=("Home",)
    )


def fails(body: bytes, url: str) -> str:
    raise RuntimeError("a peer's parser fails")


ROWS = [(ARTICLES, page(n, "article")) for n in range(4)] + [
    (WCXB, page(n, "forum" if n % 2 else "service")) for n in range(4)
]
ENGINES = [
    ExtractionEngine(OURS, ours()),
    ExtractionEngine(REFERENCE, lambda body, url: body.decode().replace("<", " <")),
    ExtractionEngine("broken", fails),
]


def test_engines_are_scored_by_each_benchmark_and_compared() -> None:
    results = score_all(iter(ROWS), lambda row: ENGINES)
    articles = {row["engine"]: row for row in article_rows(results[ARTICLES])}
    assert articles[OURS]["f1"] > 0.99
    assert 0.5 < articles[REFERENCE]["f1"] < 1.0
    assert articles["broken"]["f1"] == 0.0
    assert articles["broken"]["failed"] == 4
    wcxb = {row["engine"]: row for row in wcxb_rows(results[WCXB])}
    assert wcxb[OURS]["found"] == 1.0
    assert wcxb[REFERENCE]["left_out"] == 0.0
    assert wcxb[OURS]["types"]["forum"]["pages"] == 2
    gained = gains(results[ARTICLES], articles_f1)
    assert gained[REFERENCE]["f1"] == pytest.approx(articles[OURS]["f1"] - articles[REFERENCE]["f1"])
    assert OURS not in gained


def test_time_is_that_of_each_engine_and_its_ratio_to_trafilatura() -> None:
    speed = speed_rows(cpu_ms(ROWS, ENGINES[:2], rounds=2))
    assert [(row["data_set"], row["engine"]) for row in speed] == [
        (ARTICLES, OURS),
        (ARTICLES, REFERENCE),
        (WCXB, OURS),
        (WCXB, REFERENCE),
        (ALL, OURS),
        (ALL, REFERENCE),
    ]
    assert all(row["ms"] > 0 for row in speed if row["engine"] == OURS)
    assert all(row["ratio"] == 1.0 for row in speed if row["engine"] == REFERENCE and row["ms"])


def test_the_report_has_a_table_for_each_measure() -> None:
    results = score_all(iter(ROWS), lambda row: ENGINES)
    speed = speed_rows({WCXB: {OURS: [2.0, 2.5], REFERENCE: [8.0, 7.5]}})
    text = report(article_rows(results[ARTICLES]), wcxb_rows(results[WCXB]), speed)
    assert f"| Citewell | {article_rows(results[ARTICLES])[0]['f1']:.3f} |" in text
    assert "| engine | forum (2) | service (2) |" in text
    assert "| wcxb_dev | Citewell | 2.2 | 3.50 | 3.00 to 4.00 |" in text
