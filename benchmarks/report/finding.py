"""How well references are found: their order, TREC, right articles, and accepted answers in them."""

from __future__ import annotations

from pathlib import PurePosixPath

from benchmarks.report.cells import ReportRow, ReportSection, count, share
from benchmarks.report.compared import standing
from benchmarks.report.reading import PublishedFigures, ResultFiles

_ENCODERS = {
    "tfidf": "TF-IDF",
    "bm25": "BM25",
    "minilm": "all-MiniLM-L6-v2",
    "citewell-minilm": "citewell-minilm, trained here",
    "e5-small": "e5-small, the default encoder",
}
_RUNS = {
    "bm25": "BM25, whose 100 best the three above rank",
    "tasb": "TAS-B",
    "splade_pp_ed": "SPLADE++ (EnsembleDistil)",
    "repllama": "RepLLaMA, 7B",
}
_QUESTIONS = {
    "own": "the project's own",
    "nq400": "NQ-400",
    "webq400": "WebQuestions-400",
    "nq_open": "NQ-open",
    "all": "all",
}


def ranking(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """The order of five references, as WebGLM's table 7."""
    means = results.read("reference_ranking").get("tasks", {}).get("references", {}).get("means", {})
    columns = ["pair accuracy", "Spearman", "NDCG", "N-NDCG"]
    rows = [
        ReportRow(_ENCODERS.get(name, name), {column: share(of[column]) for column in columns}, "here")
        for name, of in means.items()
    ]
    lines = []
    if "citewell-minilm" in means:
        ours = {row.system: row for row in rows}[_ENCODERS["citewell-minilm"]].cells
        compared = [
            (name, ours[name], published.value("ranking", "WebGLM's retriever", name)) for name in columns
        ]
        lines = standing("WebGLM", compared)
    return ReportSection(
        title="Order of references",
        question="Does the retriever order five references of a question by what they contribute to the "
        "answer (ROUGE-1 precision)?",
        columns=columns,
        rows=[*rows, *published.rows("ranking")],
        lines=lines,
        differs=published.differs("ranking"),
    )


def trec(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """The passages of TREC's deep learning tracks, with the runs of other systems."""
    found = {year: results.read(f"retrieval_trecdl{year[2:]}") for year in ("2019", "2020")}
    rows: dict[str, ReportRow] = {}
    for year, data in found.items():
        for name, of in data.get("systems", {}).items():
            run = PurePosixPath(name).name.split(".")[0] if "/" in name else ""
            label = _RUNS.get(run, run) if run else _ENCODERS.get(name, name)
            row = rows.setdefault(label, ReportRow(label, {}, "its published run" if run else "here"))
            rows[label] = row._replace(cells={**row.cells, year: share(of["nDCG@10"])})
    lines = []
    ours, theirs = rows.get(_ENCODERS["e5-small"]), rows.get(_RUNS["repllama"])
    if ours and theirs:
        compared = [(year, cell, float(theirs.cells[year].value or 0)) for year, cell in ours.cells.items()]
        lines = standing("RepLLaMA", compared)
    for year, data in found.items():
        comparison = data.get("comparisons", {}).get("nDCG@10", {}).get("e5-small")
        if comparison:
            lines.append(
                f"{year}: e5-small differs from all-MiniLM-L6-v2 by {comparison['difference']:+.3f} "
                f"({comparison['low']:+.3f} to {comparison['high']:+.3f}, p {comparison['p_holm']:.2g})."
            )
    return ReportSection(
        title="Ranking of passages, TREC",
        question="How good are the ten best of the passages that TREC's deep learning tracks judged "
        "(nDCG@10)?",
        columns=list(found),
        rows=list(rows.values()),
        lines=lines,
        differs="The encoders rank the 100 best passages of BM25; the other runs searched the whole "
        "collection. All are measured here, with the same judgments.",
    )


def articles(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Whether the right article of Wikipedia for Schools is among the references."""
    recall = results.read("ask_wikispeedia").get("recall", {})
    names = {
        "among five references": "right_article_among_references",
        "first": "right_article_first",
        "no evidence": "no_evidence",
    }
    rows = []
    for key, of in recall.items():
        cells = {"number": count(of["questions"])}
        cells |= {label: share(of[name]) for label, name in names.items() if name in of}
        rows.append(ReportRow(_QUESTIONS.get(key, key), cells, "here"))
    return ReportSection(
        title="The right article",
        question="Of the questions that 4,598 articles of Wikipedia for Schools can answer, for how many is "
        "the right article found?",
        first="questions",
        columns=["number", *names],
        rows=rows,
    )


def bearing(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Whether a reference holds an accepted answer."""
    columns = {
        "NQ-open, first": "nq_open @1",
        "among five": "nq_open @5",
        "among twenty": "nq_open @20",
        "definitions, first": "definitions @1",
        "definitions, among five": "definitions @5",
        "fragments under 12 words": "fragments",
    }
    labels = {"bm25": "BM25 over passages", "default": "default", "hybrid": "default, dense collection"}
    rows = []
    for file in ("answer_bearing", "answer_bearing_hybrid"):
        data = results.read(file)
        for system, of in data.get("systems", {}).items():
            measured = of["measures"]
            label = labels[system]
            name = f"{label} ({data['limit']} of each)" if data["limit"] else label
            cells = {column: share(measured[key]) for column, key in columns.items()}
            rows.append(ReportRow(name, cells, "here"))
    return ReportSection(
        title="References that contain the answer",
        question="Does a reference hold an accepted answer of NQ-open, or the first sentence of the article "
        "that defines something? Some questions have no answer in the articles.",
        columns=list(columns),
        rows=rows,
    )
