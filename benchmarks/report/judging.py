"""Studies that scripts judged: whether every form goes from answers to reports and exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.report.cells import ReportRow, ReportSection, count
from benchmarks.report.reading import PublishedFigures, ResultFiles

_AS_WEBGPT = "comparisons, webgpt"


def studies(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Scripted raters in a study of each form; their judgments say nothing of the answers."""
    found = results.read("scripted_study").get("studies", {})
    rows = []
    for form, study in found.items():
        report, exports = study["report"], dict(study["exports"])
        as_webgpt = exports.pop(_AS_WEBGPT)
        cells = {
            "pages": report["items"],
            "judged": report["judgments"],
            "systems": len(report["systems"]),
            "measures": len(report["scores"]) + len(report["wins_by_scale"]),
            "win rates": sum(len(row) for row in report["wins"].values()),
            "agreements": len(report["agreement"]),
            "rows exported": sum(exports.values()),
            "as WebGPT": as_webgpt,
        }
        rows.append(ReportRow(form, {name: count(value) for name, value in cells.items()}, "here"))
    return ReportSection(
        title="Studies, judged by scripts",
        question="Does every form lead from answers of several systems to reports and exports?",
        first="form",
        columns=list(rows[0].cells) if rows else [],
        rows=rows,
        lines=[_about(study["report"]) for study in list(found.values())[:1]],
    )


def _about(report: Mapping[str, Any]) -> str:
    systems, raters = ", ".join(report["systems"]), len(report["raters"])
    return (
        f"The answers of {systems} to questions of `questions/blind.jsonl` are real. The raters are {raters} "
        "scripts that press keys in Chromium by chance: their judgments, in `scripted_study.json`, say "
        "nothing of the answers."
    )
