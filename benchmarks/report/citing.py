"""Whether citations support the sentences, and whether the check of citations can tell."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.report.cells import Cell, ReportRow, ReportSection, share
from benchmarks.report.reading import PublishedFigures, ResultFiles, read_cell

_GENERATORS = {
    "SmolLM2-135M-Instruct": "SmolLM2-135M-Instruct, prompted",
    "unfiltered-65": "trained without filters",
    "rouge-l-65": "filtered by ROUGE-L",
    "rouge1-65": "filtered by ROUGE-1",
    "quotations": "trained on quotations",
    "own-words": "own words and refusals",
    "extractive": "quoting",
    "qwen2.5-coder-1.5b": "the default writer",
}
_FILES = {"generation.md": "", "generation-writer.md": ", fewer of ELI5"}
"""The evaluations, and what is said of their questions."""
_JUDGES = {
    "word rule": ("words", "word rule"),
    "reader": ("reader", "reader"),
    "writer, 24 pairs": ("language model, 24 claims of each kind", "language model"),
}
"""What checks are called here, and among the results of false edits."""
_PERCENTS = ["citation recall", "citation precision", "claim recall"]
_SHARES = ["copied 8-grams", "refused, answerable", "refused, unanswerable"]


def citations(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Citation recall and precision by generator (ALCE, section 4)."""
    rows = [row for file, asked in _FILES.items() for row in _generators(results, file, asked)]
    return ReportSection(
        title="Citations",
        question="Do the cited passages support the sentences, in percent (citation recall and precision of "
        "ALCE), and how much of people's answers is found (claim recall)? 324 questions of ExpertQA, "
        "PubMedQA and ELI5, or 265 with those 72 of ELI5's 131 that still have evidence, and 80 that their "
        "references do not answer, which should be refused.",
        first="generator",
        columns=[*_PERCENTS, *_SHARES],
        rows=[*rows, *published.rows("citations", digits=0)],
        lines=["Quoting supports its citations by copying: look at the copied 8-grams too."] if rows else [],
        differs=published.differs("citations"),
    )


def _generators(results: ResultFiles, file: str, asked: str) -> list[ReportRow]:
    found: dict[str, dict[str, str]] = {}
    for table in results.tables(file)[:2]:
        for row in table:
            if row.get("judge", "embedding") == "embedding":
                found.setdefault(row["generator"], {}).update(row)
    return [
        ReportRow(
            _GENERATORS.get(name, name) + asked,
            {column: read_cell(of[column], 1) for column in _PERCENTS}
            | {column: read_cell(of[column]) for column in _SHARES},
            "here",
        )
        for name, of in found.items()
    ]


def checking(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Balanced accuracy of the check of citations."""
    systems = results.read("citation_support").get("systems", {})
    edits = ("false_edits", "false_edits_judge")
    passed = {name: of for file in edits for name, of in results.read(file).get("passed", {}).items()}
    rows = []
    for name, (label, of_edits) in _JUDGES.items():
        if name not in systems:
            continue
        cells = {
            "kinds trained on": share(systems[name]["mean, kinds trained on"]["balanced accuracy"]),
            "other kinds": share(systems[name]["mean, other kinds"]["balanced accuracy"]),
        }
        if of_edits in passed:
            cells["false edits"] = _balanced(passed[of_edits])
        rows.append(ReportRow(label, cells, "here"))
    return ReportSection(
        title="The check of citations",
        question="Can the check tell supported claims from others (balanced accuracy)? Quotations are "
        "checked by words, and by default a language model also judges what it wrote; the reader is a "
        "trained model that gains too little on other kinds of claims to be shipped.",
        first="check",
        columns=["kinds trained on", "other kinds", "false edits"],
        rows=rows,
    )


def _balanced(passed: Mapping[str, float]) -> Cell:
    """Return the mean of the true claims that pass and the false ones that do not."""
    return share((passed["true"] + 1 - passed["all false"]) / 2)
