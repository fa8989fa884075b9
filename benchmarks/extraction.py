"""Measure how well and how fast our extractor and others find the main text of HTML pages.

Two benchmarks of pages with text that people extracted: the article extraction benchmark (181 pages, F1 of
runs of four words) and the development set of the Web Content Extraction Benchmark (WCXB, 1,474 pages of
seven types with text, F1 of words), each scored by its own definition. For WCXB's snippets, `found` is the
share of main-text snippets in the extracted text, and `left out` is the share of other snippets that are not
in it.

Our packaged classifier was trained on these pages, so its scores would say little. Ours are therefore the
scores of classifiers that have not seen a page's site: the sites are divided into five folds, and each fold
is read by a classifier that was trained on the other four. The classifiers are kept in the cache folder;
training takes a quarter of an hour. `--packaged` adds the packaged classifier, labeled as such.

Times are CPU time of one process. Every engine reads a page before the next page, so that other work on the
machine affects all of them; ratios are to trafilatura in its standard mode, with the lowest and the highest
of several rounds. Ours also reads title, author and date in that time, the others only the text.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.extractors import OURS, REFERENCE, ExtractionEngine, ours, peers
from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.settings import load_settings
from citewell.retriever.extract.main_text.classifier import Classifier
from citewell.retriever.extract.training.cross_validation import fold_classifiers
from citewell.retriever.extract.training.pages import fold, read_pages
from citewell.retriever.extract.training.rows import PageRow, data_files, rows_of
from citewell.retriever.extract.training.scores import (
    ExtractionScore,
    ShingleOverlap,
    mean_score,
    run_overlap,
    run_score,
    snippet_rate,
    word_score,
)
from citewell.retriever.extract.training.train import TrainingSettings

ARTICLES = "article_extraction_benchmark"
WCXB = "wcxb_dev"
ALL = "all"
FOLDS = 5
RESAMPLES = 1000


class PageResult(NamedTuple):
    """The result of one engine for one page. The two rates are None if WCXB names no snippets."""

    page_type: str
    words: ExtractionScore
    runs: ShingleOverlap
    found: float | None
    left_out: float | None
    failed: bool


Results = dict[str, dict[str, list[PageResult]]]
"""Results by data set and engine, in the order of the pages."""


def score_page(row: PageRow, engine: ExtractionEngine) -> PageResult:
    """Read a page and score its text; the text of an engine that raises is empty."""
    failed = False
    try:
        text = engine.read(row.html.encode(errors="replace"), row.url or "")
    except Exception:  # noqa: BLE001 - what a peer's library raises is a result like others
        text, failed = "", True
    gold = row.gold_text or ""
    return PageResult(
        row.page_type,
        word_score(text, gold),
        run_overlap(text, gold),
        snippet_rate(text, row.gold_with) if row.gold_with else None,
        1 - snippet_rate(text, row.gold_without) if row.gold_without else None,
        failed,
    )


def score_all(
    rows: Iterator[tuple[str, PageRow]], engines_of: Callable[[PageRow], list[ExtractionEngine]]
) -> Results:
    """Score every page by every engine."""
    results: Results = {}
    for number, (data_set, row) in enumerate(rows, start=1):
        for engine in engines_of(row):
            results.setdefault(data_set, {}).setdefault(engine.name, []).append(score_page(row, engine))
        if number % 200 == 0:
            print(f"{number} pages scored", flush=True)
    return results


def cpu_ms(
    rows: Sequence[tuple[str, PageRow]], engines: Sequence[ExtractionEngine], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Return CPU milliseconds per page, by data set and engine, of each round after one warm-up round.

    The data set `ALL` combines all pages.
    """
    counts = {name: sum(data_set == name for data_set, _ in rows) for name, _ in rows} | {ALL: len(rows)}
    measured: dict[str, dict[str, list[float]]] = {
        name: {engine.name: [] for engine in engines} for name in counts
    }
    for warm in range(rounds + 1):
        spent = {name: {engine.name: 0.0 for engine in engines} for name in counts}
        for data_set, row in rows:
            body = row.html.encode(errors="replace")
            for engine in engines:
                start = time.process_time()
                with contextlib.suppress(Exception):  # counted as a failure where it is scored
                    engine.read(body, row.url or "")
                seconds = time.process_time() - start
                spent[data_set][engine.name] += seconds
                spent[ALL][engine.name] += seconds
        for name, engines_spent in spent.items() if warm else ():
            for engine_name, total in engines_spent.items():
                measured[name][engine_name].append(1000 * total / counts[name])
    return measured


def half_width(values: Sequence[Any], metric: Callable[[Sequence[Any]], float]) -> float:
    """Return half of the 95% confidence interval of a metric over pages, by resampling the pages."""
    draw = random.Random(0)
    metrics = [metric(draw.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    return 1.96 * statistics.stdev(metrics)


def articles_f1(pages: Sequence[PageResult]) -> float:
    """Return F1 as the article extraction benchmark defines it."""
    return run_score(page.runs for page in pages).f1


def words_f1(pages: Sequence[PageResult]) -> float:
    """Return F1 as WCXB defines it."""
    return sum(page.words.f1 for page in pages) / len(pages)


def article_rows(results: dict[str, list[PageResult]]) -> list[dict[str, Any]]:
    """Return the scores of each engine on articles."""
    return [
        {
            "engine": name,
            "pages": len(pages),
            "f1_ci": half_width(pages, articles_f1),
            **run_score(page.runs for page in pages)._asdict(),
            "failed": sum(page.failed for page in pages),
        }
        for name, pages in results.items()
    ]


def wcxb_rows(results: dict[str, list[PageResult]]) -> list[dict[str, Any]]:
    """Return the scores of each engine on WCXB, and by type of page."""
    return [
        {
            "engine": name,
            "pages": len(pages),
            "f1_ci": half_width(pages, words_f1),
            **mean_score([page.words for page in pages])._asdict(),
            "found": statistics.mean(page.found for page in pages if page.found is not None),
            "left_out": statistics.mean(page.left_out for page in pages if page.left_out is not None),
            "failed": sum(page.failed for page in pages),
            "types": {kind: _by_type(pages, kind) for kind in sorted({page.page_type for page in pages})},
        }
        for name, pages in results.items()
    ]


def _by_type(pages: Sequence[PageResult], kind: str) -> dict[str, Any]:
    scores = [page.words for page in pages if page.page_type == kind]
    return {"pages": len(scores), **mean_score(scores)._asdict()}


def gains(results: dict[str, list[PageResult]], metric: Callable[[Sequence[Any]], float]) -> dict[str, Any]:
    """Return our gain over each other engine, with the 95% interval over the same pages."""
    gained = {}
    for name, pages in results.items():
        if name != OURS:
            pairs = list(zip(results[OURS], pages, strict=True))

            def gain(drawn: Sequence[tuple[PageResult, PageResult]]) -> float:
                mine, theirs = zip(*drawn, strict=True)
                return metric(mine) - metric(theirs)

            gained[name] = {"f1": gain(pairs), "ci": half_width(pairs, gain)}
    return gained


def speed_rows(measured: dict[str, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Return the time of each engine, and its speed relative to trafilatura's, by data set."""
    rows = []
    for data_set, engines in measured.items():
        for name, rounds in engines.items():
            ratios = [base / own for base, own in zip(engines[REFERENCE], rounds, strict=True)]
            rows.append(
                {
                    "data_set": data_set,
                    "engine": name,
                    "ms": statistics.median(rounds),
                    "ratio": statistics.median(ratios),
                    "ratio_low": min(ratios),
                    "ratio_high": max(ratios),
                }
            )
    return rows


def trained(files: Sequence[Path]) -> list[Classifier]:
    """Return one classifier per fold, which has not seen the sites of the fold."""
    return fold_classifiers(
        files,
        lambda: list(read_pages(files)),
        TrainingSettings(),
        FOLDS,
        load_settings().cache_dir / "extractor",
        lambda step: print(step, flush=True),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--packaged", action="store_true", help="also score the packaged classifier, in sample"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="try this command: train nothing, score the packaged classifier",
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="score every n-th page only [1]")
    parser.add_argument("--timed", type=int, default=8, metavar="N", help="time every n-th page [8]")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of timing [5]")
    output_option(parser)
    arguments = parser.parse_args()
    files = data_files(external_data())
    others = peers()
    classifiers = [] if arguments.quick else trained(files)

    def engines_of(row: PageRow) -> list[ExtractionEngine]:
        unseen = classifiers[fold(row.site, FOLDS)] if classifiers else None
        packaged = (
            [ExtractionEngine(f"{OURS}, pages it was trained on", ours())] if arguments.packaged else []
        )
        return [ExtractionEngine(OURS, ours(unseen)), *packaged, *others]

    results = score_all(_every(rows_of(files), arguments.every), engines_of)
    timed = list(_every(rows_of(files), arguments.timed))
    speed = speed_rows(cpu_ms(timed, [ExtractionEngine(OURS, ours()), *others], arguments.rounds))
    articles, wcxb = article_rows(results[ARTICLES]), wcxb_rows(results[WCXB])
    print(report(articles, wcxb, speed))
    save(
        "extraction",
        {
            "every": arguments.every,
            "articles": articles,
            "articles_gain": gains(results[ARTICLES], articles_f1),
            "wcxb": wcxb,
            "wcxb_gain": gains(results[WCXB], words_f1),
            "timed_pages": len(timed),
            "rounds": arguments.rounds,
            "speed": speed,
        },
        arguments.output,
    )


def report(articles: list[dict[str, Any]], wcxb: list[dict[str, Any]], speed: list[dict[str, Any]]) -> str:
    """Return the tables as text."""
    kinds = list(wcxb[0]["types"])
    return "\n\n".join(
        [
            f"Articles ({articles[0]['pages']} pages), runs of four words",
            table(
                ["engine", "F1", "±", "precision", "recall", "failed"],
                [[row["engine"], *_of(row, "f1 f1_ci precision recall"), row["failed"]] for row in articles],
            ),
            f"WCXB ({wcxb[0]['pages']} pages), words",
            table(
                ["engine", "F1", "±", "precision", "recall", "found", "left out", "failed"],
                [
                    [row["engine"], *_of(row, "f1 f1_ci precision recall found left_out"), row["failed"]]
                    for row in wcxb
                ],
            ),
            "WCXB by type of page, F1 (recall)",
            table(
                ["engine", *(f"{kind} ({wcxb[0]['types'][kind]['pages']})" for kind in kinds)],
                [
                    [
                        row["engine"],
                        *("{} ({})".format(*_of(row["types"][kind], "f1 recall")) for kind in kinds),
                    ]
                    for row in wcxb
                ],
            ),
            "Processor time",
            table(
                ["pages", "engine", "ms a page", "× trafilatura's pages a second", "lowest to highest"],
                [
                    [
                        row["data_set"],
                        row["engine"],
                        f"{row['ms']:.1f}",
                        f"{row['ratio']:.2f}",
                        f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}",
                    ]
                    for row in speed
                ],
            ),
        ]
    )


def _of(row: dict[str, Any], names: str) -> list[str]:
    return [f"{row[name]:.3f}" for name in names.split()]


def _every(rows: Iterator[tuple[str, PageRow]], step: int) -> Iterator[tuple[str, PageRow]]:
    return (row for number, row in enumerate(rows) if number % step == 0)


if __name__ == "__main__":
    main()
