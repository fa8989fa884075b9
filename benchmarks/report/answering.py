"""How good whole answers are: accuracy, truthfulness, what people say, and safety."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.report.cells import Cell, ReportRow, ReportSection, percent, share
from benchmarks.report.charts import Bar, bars
from benchmarks.report.compared import standing
from benchmarks.report.reading import PublishedFigures, ResultFiles

ALL, COVERED = "all questions", "questions that the collection can answer"
QUOTING, CLOSED = "extractive", "closed-book:citewell-smollm2"
WRITER = "qwen2.5-coder-1.5b"
BEST = f"4*{WRITER}"
_SETS = {"NQ": "answers_nq400", "WebQuestions": "answers_webq400", "NQ-open": "answers_nqopen"}
_PUBLISHED = ("NQ", "WebQuestions")
_NAMES = {
    QUOTING: "quoting",
    CLOSED: "citewell-smollm2 without references",
    "citewell-smollm2": "citewell-smollm2",
    "qwen2.5-coder-1.5b": "the default writer, qwen2.5-coder-1.5b",
    BEST: "the default writer, best of 4",
    "closed-book:qwen2.5-coder-1.5b": "the default writer without references",
    "closed-book:qwen2.5-coder-1.5b, none": "the default writer without references",
    "closed-book:SmolLM2-135M-Instruct, none": "SmolLM2-135M-Instruct without references",
}


def accuracy(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """NQ and WebQuestions, as WebGLM's table 3, and NQ-open."""
    found = {name: results.read(file) for name, file in _SETS.items()}
    rows = [_accuracy_row(_NAMES[QUOTING], found, QUOTING, "accuracy")]
    rows += [_accuracy_row("an accepted answer in its references", found, QUOTING, "in references")]
    rows += [_accuracy_row(_NAMES[CLOSED], found, CLOSED, "accuracy")]
    rows = [row for row in rows if row.cells]
    compared = [
        (name, rows[0].cells[name], published.value("accuracy", "WebGLM, 10B", name))
        for name in _PUBLISHED
        if rows and name in rows[0].cells
    ]
    lines = standing("WebGLM", compared, " points")
    for name, data in found.items():
        comparison = _comparison(data, "accuracy", CLOSED)
        if comparison:
            lines.append(_significance(name, comparison))
    return ReportSection(
        title="Accuracy",
        question="How often does an accepted short answer stand in the answer, in percent? NQ-400 and "
        "WebQuestions-400 are WebGLM's samples, duplicates merged; NQ-open is every third of 1,803.",
        columns=[column for name in _SETS for column in (name, f"{name}, answerable")],
        rows=[*rows, *published.rows("accuracy", digits=1)],
        lines=lines,
        differs=published.differs("accuracy"),
    )


def accuracy_chart(section: ReportSection) -> str:
    """Return the bars of all systems on each set of questions."""
    groups = {
        name: [Bar(row.system, row.cells[name], row.published) for row in section.rows if name in row.cells]
        for name in _SETS
    }
    most = max(float(bar.cell.value or 0) for found in groups.values() for bar in found)
    return bars("Accuracy, percent of the questions", groups, most)


def writers(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """The language models on NQ-400, and on the questions of both sets that the collection can answer."""
    whole = results.read("answers_nq400_writer")
    covered = results.read("answers_webq400_covered")
    best = results.read("answers_webq400_best")
    sets = {
        "NQ-400": _systems(whole),
        "NQ-400, answerable": _systems(results.read("answers_nq400_covered"))
        | _systems(results.read("answers_nq400_best"), BEST),
        "WebQuestions-400, answerable": _systems(covered) | _systems(best, BEST),
        "NQ-open, answerable": _systems(results.read("answers_nqopen_covered")),
    }
    rows = []
    for name in dict.fromkeys(name for found in sets.values() for name in found):
        cells = {
            label: percent(found[name][ALL]["accuracy"]) for label, found in sets.items() if name in found
        }
        rows.append(ReportRow(_NAMES.get(name, name), cells, "here"))
    return ReportSection(
        title="Accuracy of the language models",
        question="How often are answers of language models right, in percent of NQ-400, and of the questions "
        "of all sets that the collection can answer?",
        columns=list(sets),
        rows=rows,
        lines=[
            *([_of_writer("NQ-400", whole)] if whole else []),
            *([_of_writer("the answerable questions of WebQuestions-400", covered)] if covered else []),
            *([_of_best(best)] if best else []),
        ],
    )


def _systems(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the figures of the systems `names`, or without a name of all."""
    systems: dict[str, Any] = data.get("systems", {})
    return {name: sets for name, sets in systems.items() if not names or name in names}


def _of_best(data: Mapping[str, Any]) -> str:
    """Compare the best of four answers with one, in whose favor a difference may be."""
    one = percent(data["systems"][WRITER][ALL]["accuracy"]).text
    compared = data["comparisons"][ALL]["accuracy"][BEST]
    better, worse, p = (compared[name] for name in ("better", "worse", "p"))
    return (
        f"On the same questions, the best of 4 by citation support is right and one answer wrong on "
        f"{better}, and the other way around on {worse} (p {p:.2g}). In that run, one answer is right on "
        f"{one} percent."
    )


def _of_writer(asked: str, data: Mapping[str, Any]) -> str:
    """Compare the default writer with quoting, in whose favor a difference may be."""
    measured = data["systems"]
    answered = [percent(measured[name][ALL]["answered"]).text for name in (WRITER, QUOTING)]
    compared = data["comparisons"][ALL]["accuracy"][WRITER]
    better, worse, p = (compared[name] for name in ("better", "worse", "p"))
    return (
        f"On {asked}, the default writer is right and quoting wrong on {better} questions, and the other way "
        f"around on {worse} (p {p:.2g}): it answers {answered[0]} percent of them, quoting {answered[1]}."
    )


def triviaqa(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """TriviaQA, which is not run here."""
    data = results.read("answers_triviaqa")
    rows = [
        ReportRow(_NAMES.get(name, name), {"total": percent(sets[ALL]["exact match"])}, "here")
        for name, sets in data.get("systems", {}).items()
    ]
    return ReportSection(
        title="TriviaQA",
        question="How often does a reader find the exact answer in the answer, in percent?",
        columns=["total", "no overlap"],
        rows=[*rows, *published.rows("triviaqa", digits=1)],
        differs=published.differs("triviaqa"),
    )


def truthfulness(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """TruthfulQA, as WebGPT's section 4.2."""
    written, first = (results.read(name).get("systems", {}) for name in ("truthfulqa_writer", "truthfulqa"))
    systems = written | {name: sets for name, sets in first.items() if name not in written}
    columns = {
        "truthful": "truthful (embedding)",
        "truthful and informative": "truthful and informative (embedding)",
        "truthful, by ROUGE": "truthful (rouge)",
        "empty": "empty",
        "MC1": "MC1",
        "MC2": "MC2",
    }
    rows = []
    for name, sets in systems.items():
        measured = sets[ALL]
        cells = {label: percent(measured[key]) for label, key in columns.items() if key in measured}
        rows.append(ReportRow(_NAMES.get(name, name), cells, "here"))
    lines = []
    if rows:
        measure = "truthful and informative"
        theirs = published.value("truthfulness", "WebGPT 175B, best of 64", measure)
        compared = [(measure, rows[0].cells[measure], theirs)]
        lines = standing("WebGPT", compared, " points")
        lines.append(
            f"Of the quoting answers {rows[0].cells['empty'].text} percent are empty, which counts as "
            "truthful: quoting is mostly truthful by silence."
        )
    return ReportSection(
        title="Truthfulness",
        question="How true are answers to questions of TruthfulQA, which many people answer wrongly, in "
        "percent?",
        columns=list(columns),
        rows=[*rows, *published.rows("truthfulness", digits=0)],
        lines=lines,
        differs=published.differs("truthfulness"),
    )


def people(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """What people say of answers, which nobody was asked here."""
    return ReportSection(
        title="What people prefer",
        question="How often do people prefer the answers, and how do they rate them?",
        columns=["preferred, percent", "correct, 0 to 3", "citations, 0 to 3", "truthful, 0 to 1"],
        rows=published.rows("people"),
        differs=published.differs("people"),
        missing=["Not run yet: `citewell study` asks people."],
    )


def safety(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Toxicity and social bias of answers, and the stance of questions."""
    data = results.read("safety")
    columns = ["toxicity", "social bias", "answered, affirming", "answered, neutral", "answered, skeptical"]
    rows = []
    for name, measured in data.get("systems", {}).items():
        cells = {column: share(measured[column]) for column in columns if measured.get(column) is not None}
        rows.append(ReportRow(_NAMES.get(name, name), cells, "here"))
    missing = [
        f"{column.capitalize()}: not run; name a classifier with `{flag}`."
        for column, flag in zip(columns, ("--toxicity", "--bias"), strict=False)
        if data and not any(column in row.cells for row in rows)
    ]
    return ReportSection(
        title="Safety and bias",
        question="How toxic and biased are answers to WebGPT's questions on myths (appendix H.1), and does "
        "it matter whether a question affirms the myth?",
        columns=columns,
        rows=[*rows, *published.rows("safety")],
        differs=published.differs("safety"),
        missing=missing,
    )


def _accuracy_row(label: str, found: Mapping[str, Any], system: str, measure: str) -> ReportRow:
    cells: dict[str, Cell] = {}
    for name, data in found.items():
        for keys, ending in ((ALL, ""), (COVERED, ", answerable")):
            values = data.get("systems", {}).get(system, {}).get(keys, {})
            if measure in values:
                cells[f"{name}{ending}"] = percent(values[measure])
    return ReportRow(label, cells, "here")


def _comparison(data: Mapping[str, Any], measure: str, system: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = data.get("comparisons", {}).get(ALL, {}).get(measure, {}).get(system, {})
    return found


def _significance(name: str, found: Mapping[str, Any]) -> str:
    kind = "is" if found["p_holm"] < 0.05 else "is not"
    return (
        f"On {name}, quoting {kind} significantly different from citewell-smollm2 without references "
        f"(p {found['p_holm']:.2g})."
    )
