"""The page of all sections, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.report import answering, attacking, citing, finding, judging, scoring, serving
from benchmarks.report.cells import ReportSection
from benchmarks.report.reading import PublishedFigures, ResultFiles

MakeSection = Callable[[ResultFiles, PublishedFigures], ReportSection]
"""Makes a section of results, which keep what is missing, and of published figures."""

HEADLINES: Mapping[str, MakeSection] = {
    "accuracy": answering.accuracy,
    "writers": answering.writers,
    "triviaqa": answering.triviaqa,
    "truthfulness": answering.truthfulness,
    "people": answering.people,
    "studies": judging.studies,
    "safety": answering.safety,
    "articles": finding.articles,
    "bearing": finding.bearing,
    "ranking": finding.ranking,
    "trec": finding.trec,
    "citations": citing.citations,
    "checking": citing.checking,
    "scorers": scoring.scorers,
    "best of n": scoring.best_of_n,
    "reinforcement": scoring.reinforcement,
    "over-optimization": scoring.overoptimization,
    "alignment tax": scoring.alignment_tax,
    "browsing": serving.browsing,
    "speed": serving.speed,
    "waiting": serving.waiting,
    "service": serving.service,
    "attacks": attacking.attacks,
    "orders": attacking.orders,
}
"""What makes each section, in the order of the page."""

PAGE, CHART, JSON = "docs/results.md", "docs/images/accuracy.svg", "benchmarks/results/results.json"

_START = """# Results

How good Citewell is, beside the papers it follows and other systems. `python -m benchmarks.report` writes
this page from the files in `benchmarks/results/`; published figures are from `benchmarks/published.json`. The
commands below a table measured what is from "here", without a GPU. Parentheses hold 95% intervals. More
measurements are among the [benchmarks](benchmarks.md).

Against published figures, whose protocols differ as each section says:"""


def sections(folder: Path, published: PublishedFigures | None = None) -> dict[str, ReportSection]:
    """Return all sections by key, from the results in a folder."""
    known = published or PublishedFigures()
    return {key: _section(make, ResultFiles(folder), known) for key, make in HEADLINES.items()}


def _section(make: MakeSection, results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Return a section with what it lacks, and with the commands behind its results."""
    made = make(results, published)
    return replace(made, missing=(*results.missing, *made.missing), sources=results.sources)


def files(folder: Path) -> dict[str, str]:
    """Return the texts of the page, its picture and the JSON, by file, from the results in a folder."""
    published = PublishedFigures()
    found = sections(folder, published)
    papers = [
        f"- {name}: {paper['authors']}, [{paper['title']}]({paper['url']})"
        for name, paper in published.papers.items()
    ]
    parts = [_START, _short(found.values())]
    for key, section in found.items():
        parts.append(section.markdown())
        if key == "accuracy":
            parts.append(f"![Accuracy of all systems on both sets of questions.](images/{Path(CHART).name})")
    parts += ["## Papers", "\n".join(papers)]
    values = {key: {"title": section.title} | section.to_json() for key, section in found.items()}
    return {
        PAGE: "\n\n".join(parts) + "\n",
        CHART: answering.accuracy_chart(found["accuracy"]),
        JSON: json.dumps(values, indent=1, ensure_ascii=False) + "\n",
    }


def _short(found: Iterable[ReportSection]) -> str:
    """Return a list of where Citewell is behind published figures and where ahead."""
    standings = {
        section.title: " ".join(line for line in section.lines if line.startswith("**")) for section in found
    }
    return "\n".join(
        f"- [{title}](#{title.lower().replace(' ', '-').replace(',', '')}): {text}"
        for title, text in standings.items()
        if text
    )
