"""The page of the ablations: ours beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.ablations.paper import PAPER
from benchmarks.ablations.published import Comparisons, Figures
from benchmarks.ablations.rows import AblationRow, MissingRow
from benchmarks.results_files import table

_SURE = 0.05


def page(
    known: Sequence[AblationRow],
    figures: Mapping[str, Figures],
    unknown: Sequence[MissingRow],
    comparisons: Comparisons,
    measures: Sequence[str],
    votes: Mapping[str, tuple[str, ...]],
    reading: Mapping[str, Any],
    notes: Mapping[str, str],
    about: str,
) -> str:
    """Return the page as Markdown.

    `measures` are the columns; rows that are `known` and have no `figures` were not run, and `unknown` ones
    cannot be; `votes` and `reading` are the rows of Tables 9 and 5; `notes` has a text per table.
    """
    parts = [_BEGINNING.format(about=about)]
    for number, paper in PAPER.items():
        parts.append(f"## {paper.title}")
        of_table = [row for row in known if row.table == number and row.name in figures]
        if of_table:
            parts.append(table(["row", "paper's row", *measures], _lines(of_table, figures, measures)))
        if number == "9" and votes:
            parts.append(table(["scorer", *paper.measures], [[name, *of] for name, of in votes.items()]))
        if number == "5":
            parts.append(_reading(reading))
        if tests := _tests(of_table, comparisons):
            parts.append(tests)
        waiting = [row.name for row in known if row.table == number and row.name not in figures]
        if missing := _missing(number, waiting, unknown):
            parts.append(missing)
        shown = [[name, *(value or "–" for value in of)] for name, of in paper.rows.items()]
        parts.append(table(["in the paper", *paper.measures], shown))
        if note := notes.get(number):
            parts.append(note)
    return "\n\n".join(parts) + "\n"


_BEGINNING = """\
# Ablations

WebGLM measures what each step gives by people's ratings of a model of 10 billion parameters
([section 5.4](https://arxiv.org/abs/2306.07906)). Here are the same steps with small models:

```sh
python -m benchmarks.ablations --data-dir FOLDER --folder answers
```

{about}
The command resumes, `--rows` chooses rows, and it writes this page. Values are percentages: accuracy as in
[answers](evaluating-answers.md#measures), citations as in
[generation](evaluating-generation.md#citation-recall-precision-and-claim-recall). p is that of a paired
randomization test, corrected by Holm over all rows of the page."""


def _lines(
    rows: Sequence[AblationRow], figures: Mapping[str, Figures], measures: Sequence[str]
) -> list[list[str]]:
    return [
        [row.name, row.paper or "–", *(_percent(figures[row.name].get(name)) for name in measures)]
        for row in rows
    ]


def _percent(estimate: Mapping[str, float] | None) -> str:
    return f"{100 * estimate['value']:.1f}" if estimate else "–"


def _tests(rows: Sequence[AblationRow], comparisons: Comparisons) -> str:
    """Return a sentence for each row that differs from the one it is compared with."""
    lines = []
    for row in rows:
        found = [
            f"{measure} {100 * one.difference:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f}, "
            f"p {one.p_holm:.3f})"
            for measure, of in comparisons.items()
            if (one := of.get(row.name)) and one.p_holm < _SURE
        ]
        if found:
            lines.append(f"- {row.name} against {row.against}: {'; '.join(found)}.")
    tested = any(row.name in of for row in rows for of in comparisons.values())
    if tested and not lines:
        return "No row differs from the one it is compared with (p < .05)."
    return "\n".join(["Differences with p < .05:", "", *lines]) if lines else ""


def _missing(number: str, waiting: Sequence[str], unknown: Sequence[MissingRow]) -> str:
    """Return what was not run: rows of ours, and rows of the paper with the reason."""
    lines = []
    if waiting:
        lines.append(f"Not run yet, `--rows` runs them: {'; '.join(waiting)}.")
    reasons: dict[str, list[str]] = {}
    for row in unknown:
        if row.table == number:
            reasons.setdefault(row.why, []).append(row.paper)
    lines += [f"Not run, {', '.join(rows)}: {why}." for why, rows in reasons.items()]
    return "\n\n".join(lines)


def _reading(reading: Mapping[str, Any]) -> str:
    if not reading:
        return "Not read yet: the versions of Citewell-QA are being made (recipes/citewell-qa.toml)."
    rows = [
        [name, f"{of['read']:,}", f"{of['good']:,}", f"{of['good'] / of['read']:.2f}" if of["read"] else "–"]
        for name, of in reading["versions"].items()
    ]
    return table(["version of Citewell-QA", "rows read", "good", "share"], rows)
