"""How fast answers are, and what browsing finds."""

from __future__ import annotations

from benchmarks.report.cells import Cell, ReportRow, ReportSection, count, percent, share
from benchmarks.report.compared import faster
from benchmarks.report.reading import PublishedFigures, ResultFiles

_POLICIES = {
    "random": "random valid commands",
    "scripted": "scripted",
    "SmolLM2-135M-Instruct": "SmolLM2-135M-Instruct, prompted",
    "4*citewell-browser": "the best of 4 episodes of citewell-browser",
    "pipeline": "the pipeline's five references, no browsing",
}
_RULES = {
    "one_by_one": "one page after the other (20 questions)",
    "webglm": "WebGLM: all pages, 5 s each",
    "ours": "Citewell",
}


def browsing(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """What policies find in the text browser."""
    data = results.read("browsing")
    first, second = data.get("dev", {}), data.get("test", {})
    rows = []
    for name, of in second.items():
        cells = {
            f"found, {half}": share([each[name]["found"], *each[name]["interval"]])
            for half, each in (("first half", first), ("second half", second))
            if name in each
        }
        cells |= {"valid": percent(of["valid"]), "tokens": count(of["tokens"])}
        cells["seconds"] = Cell(of["seconds"], digits=1)
        rows.append(ReportRow(_POLICIES.get(name, name), cells, "here"))
    return ReportSection(
        title="Browsing",
        question="Does a quote hold an accepted answer after at most 12 actions? 200 questions of Natural "
        "Questions and WebQuestions in Wikipedia for Schools, in two halves; valid actions in percent.",
        first="who browses",
        columns=["found, first half", "found, second half", "valid", "tokens", "seconds"],
        rows=[*rows, *published.rows("browsing", digits=1)],
        lines=[
            "The trained policy browses better than the prompted model, and worse than a script and the "
            "pipeline."
        ]
        if _worse(second)
        else [],
        differs=published.differs("browsing"),
    )


def _worse(found: dict[str, dict[str, float]]) -> bool:
    order = ["SmolLM2-135M-Instruct", "citewell-browser", "scripted", "pipeline"]
    values = [found[name]["found"] for name in order if name in found]
    return len(values) == len(order) and values == sorted(values)


def speed(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Seconds and memory of a question to a collection."""
    data = results.read("ask_wikispeedia")
    rows = []
    if data:
        references, answers = data["references_seconds"], data["answer_seconds_extractive"]
        rows = [
            _speed_row("references, running process", references["p50"], references["p90"]),
            _speed_row("quoted answer, running process", answers["p50"], answers["p90"]),
        ]
        for label, key in (
            ("references, new process", "cold_references"),
            ("answer of the default writer, new process", "cold_answer"),
            ("best of four of SmolLM2-135M-Instruct, new process", "cold_written_best_of_4"),
        ):
            row = _speed_row(label, data[f"{key}_seconds"]["min"])
            memory = count(data[f"peak_mb_{key}"]["max"])
            rows.append(row._replace(cells={**row.cells, "peak memory, MB": memory}))
    return ReportSection(
        title="Speed",
        question="How long does a question take?",
        first="what",
        columns=["seconds", "90th percentile", "peak memory, MB"],
        rows=[*rows, *published.rows("speed", digits=2)],
        differs=published.differs("speed"),
    )


def waiting(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """How long pages of the web are waited for."""
    found = results.read("coarse_latency").get("request_share_0.5", {})
    columns = {"mean": "mean", "median": "p50", "90th percentile": "p90", "99th": "p99"}
    rows = []
    for name, label in _RULES.items():
        if name in found:
            cells = {column: Cell(found[name][key], digits=2) for column, key in columns.items()}
            cells["references kept"] = share(found[name].get("kept"))
            rows.append(ReportRow(label, cells, "here"))
    lines = []
    if "ours" in found and "webglm" in found:
        lines.append(
            f"On average, Citewell is {faster(found['ours']['mean'], found['webglm']['mean'], 'WebGLM')}"
        )
    return ReportSection(
        title="Waiting for pages",
        question="How many seconds does a question wait for ten pages of the web? A reference of WebGLM's "
        "rule counts as kept if Citewell found it, or a better one by a second request.",
        first="rule",
        columns=[*columns, "references kept"],
        rows=[*rows, *published.rows("waiting", digits=2)],
        lines=lines,
        differs=published.differs("waiting"),
    )


def service(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """The service under load, beside one question at a time."""
    rows = []
    for name, of in results.read("service").get("designs", {}).items():
        cells = {
            "answers per second, 8 clients": Cell(of["sustained"]["answers_per_second"]["median"], digits=2),
            "seconds, 95th percentile": Cell(of["sustained"]["latency_ms"]["p95"]["median"] / 1000, digits=1),
            "added by the service, ms": Cell(of["added"]["added_ms"]["p50"]["median"], digits=1),
            "errors of 256 streams": count(of["streams"]["errors"]["median"]),
            "refused under overload, ms": Cell(of["overload"]["refused_ms"]["p50"]["median"], digits=1),
        }
        rows.append(ReportRow("Citewell" if name == "citewell" else name, cells, "here"))
    return ReportSection(
        title="The service",
        question="How much does the service bear, with quoted answers over 4,598 articles and no cache? One "
        "question at a time is how WebGLM's demonstration works; WebGLM publishes no figures.",
        columns=list(rows[0].cells) if rows else [],
        rows=rows,
    )


def _speed_row(label: str, seconds: float, late: float | None = None) -> ReportRow:
    return ReportRow(
        label, {"seconds": Cell(seconds, digits=2), "90th percentile": Cell(late, digits=2)}, "here"
    )
