"""Adoption (WebGLM §3.1.2, Table 1): are references that a teacher cites more relevant than all it saw?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean

from citewell.bootstrap.folder import RUN, FinishedRun
from citewell.bootstrap.types import Sample
from citewell.core.errors import InputError
from citewell.core.estimates import percent
from citewell.core.jsonl import Line, read_lines
from citewell.core.significance import PairedComparison, compare
from citewell.core.tables import markdown_table
from citewell.core.training.fields import texts
from citewell.core.types import Reference
from citewell.generator.citations.marks import read_marks
from citewell.generator.evaluation.rows import read_reference

SHOWN, CITED, UNCITED = "shown", "cited", "not cited"

Pair = tuple[str, int]
"""The id of a row, and the number of one of its references."""


@dataclass(frozen=True)
class AdoptingRow:
    """A question, the references that a teacher saw, and the numbers of those that its answer cites."""

    id: str
    question: str
    references: tuple[Reference, ...]
    cited: frozenset[int]


@dataclass(frozen=True)
class Adoption:
    """The relevance of references by one judge.

    `shares` has the share of relevant references of each question, among those shown, cited and not cited;
    `pooled` that of all of them together, with their number. `gain` compares cited with shown over the
    questions that cite any; None without such questions.
    """

    judge: str
    shares: Mapping[str, Mapping[str, float]]
    pooled: Mapping[str, tuple[int, int]]
    gain: PairedComparison | None


def read_adoptions(source: Path) -> list[AdoptingRow]:
    """Read the kept rows of a bootstrap's folder, or JSON lines of {question, answer, references}.

    A reference is a text, whose title may stand in `titles`, or an object of text and title. Raises
    `InputError` for anything else, for two rows with the same id, and if no row cites a reference.
    """
    if source.is_dir():
        if not (source / RUN).is_file():
            raise InputError(f"{source} is not the folder of a bootstrap.", "Name one, or a file of rows.")
        rows = [
            # What the teacher itself cites; recorded answers, which have no marks, as they were corrected.
            AdoptingRow(
                each.key, each.question, each.references, _cited(each.raw_answer) or _cited(each.answer)
            )
            for each in FinishedRun(source).outcomes()
            if isinstance(each, Sample)
        ]
    else:
        found: dict[str, AdoptingRow] = {}
        for line in read_lines(source):
            row = _row(line)
            if row.id in found:
                raise line.error(f"an earlier row has the id {row.id}.", "Give each row its own id.")
            found[row.id] = row
        rows = list(found.values())
    if not any(row.cited for row in rows):
        raise InputError(f"{source} has no answer that cites a reference.", "Give answers with marks [n].")
    return rows


def _row(line: Line) -> AdoptingRow:
    row = line.row()
    question, answer, given = (row.get(name) for name in ("question", "answer", "references"))
    if not (isinstance(question, str) and isinstance(answer, str) and isinstance(given, list)):
        raise line.error("no question, answer and references.", "Rows are those of a data set.")
    references = [read_reference(line, number, value) for number, value in enumerate(given, 1)]
    if titles := texts(line, row, "titles"):
        if len(titles) != len(given):
            raise line.error(f"{len(given)} references have {len(titles)} titles.")
        references = [replace(each, title=title) for each, title in zip(references, titles, strict=True)]
    own = row.get("id")
    name = str(line.number if own is None else own)
    return AdoptingRow(name, question, tuple(references), _cited(answer))


def measure(rows: Sequence[AdoptingRow], relevant: Mapping[Pair, bool], judge: str) -> Adoption:
    """Measure the rows of which all references are judged.

    Raises `InputError` if there is none.
    """
    complete = [row for row in rows if all((row.id, r.number) in relevant for r in row.references)]
    if not complete:
        raise InputError(f"No row has all its references judged by {judge}.", "Label more of them.")
    shares: dict[str, dict[str, float]] = {SHOWN: {}, CITED: {}, UNCITED: {}}
    counts = {name: [0, 0] for name in shares}
    for row in complete:
        for name in shares:
            found = [
                relevant[row.id, r.number]
                for r in row.references
                if name == SHOWN or (r.number in row.cited) == (name == CITED)
            ]
            counts[name][0] += sum(found)
            counts[name][1] += len(found)
            if found:
                shares[name][row.id] = mean(found)
    cited = shares[CITED]
    gain = compare(cited, {key: shares[SHOWN][key] for key in cited}) if cited else None
    return Adoption(judge, shares, {name: (good, of) for name, (good, of) in counts.items()}, gain)


def read_labels(file: Path) -> dict[Pair, bool]:
    """Read lines of {"id", "reference", "relevant"}; those without a judgment are skipped.

    Raises `InputError` for other lines.
    """
    found: dict[Pair, bool] = {}
    for line in read_lines(file):
        row = line.row()
        if row.get("relevant") is None:
            continue
        if not (isinstance(row.get("reference"), int) and isinstance(row["relevant"], bool)):
            raise line.error("not a label.", 'Labels are {"id": "…", "reference": 1, "relevant": true}.')
        found[str(row.get("id")), row["reference"]] = row["relevant"]
    return found


def to_label(rows: Sequence[AdoptingRow]) -> str:
    """Return lines for a person to label, without saying which references are cited."""
    return "".join(
        json.dumps(
            {
                "id": row.id,
                "question": row.question,
                "reference": r.number,
                "title": r.title,
                "text": r.text,
                "relevant": None,
            },
            ensure_ascii=False,
        )
        + "\n"
        for row in rows
        for r in row.references
    )


def markdown(found: Sequence[Adoption]) -> str:
    """Return the table of all judges, and the paired gain of each."""
    header = ["judge", "references", "relevant, of all", "relevant, mean of questions", "number", "questions"]
    lines = [
        [each.judge, name, f"{good / max(1, of):.3f}", percent(each.shares[name]), f"{of:,}"]
        + [f"{len(each.shares[name]):,}"]
        for each in found
        for name, (good, of) in each.pooled.items()
    ]
    gains = [
        f"{each.judge}: cited minus shown {100 * each.gain.difference:+.1f} points "
        f"({100 * each.gain.low:+.1f} to {100 * each.gain.high:+.1f}), p {each.gain.p:.4f}."
        for each in found
        if each.gain
    ]
    return "\n\n".join(["# Adoption of references", markdown_table(header, lines), *gains]) + "\n"


def summary(found: Sequence[Adoption]) -> str:
    """Return the same as JSON."""
    plain = {
        each.judge: {
            "gain": asdict(each.gain) if each.gain else None,
            "references": {
                name: {"relevant": good, "number": of, "questions": len(each.shares[name])}
                for name, (good, of) in each.pooled.items()
            },
        }
        for each in found
    }
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def details(found: Sequence[Adoption]) -> str:
    """Return the shares of each row by judge as JSON, for `citewell eval compare`."""
    values = {each.judge: each.shares for each in found}
    return json.dumps({"values": values}, indent=1, ensure_ascii=False) + "\n"


def _cited(answer: str) -> frozenset[int]:
    return frozenset(number for sentence in read_marks(answer) for number in sentence.marks)
