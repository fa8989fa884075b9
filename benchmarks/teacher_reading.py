"""Read what a teacher wrote, without knowing what the filters say, and count what they keep of the good.

Two steps, of which a person or a model does the reading between them:

- `python -m benchmarks.teacher_reading sheet RUN --out FILE` draws answers by a hash, and writes each with
  its question and references; with `--kept`, those that the filters kept, as they are in the data set.
- `… report --verdicts FILE --version raw=RUN --version rouge-1=RUN …` reads what the reader found, lines of
  {"id", "answers", "supported", "marks"}: whether the answer answers the question (`yes`, `part`, `no`, or
  `refused`), whether the references say what it says (`all`, `some`, `none`), and whether its own marks name
  these references (the same). An answer is good that answers (`yes`) and is supported (`all`); a refusal is
  good if the references do not answer, which is `supported` `all`. It writes the share of good answers in
  each version of the data set, and among those that each filter dropped. Where a version changes the text
  itself, `--reread NAME=FILE` has what the reader found in what it keeps. `--again FILE` has what a second
  reader found in some of the answers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.results_files import RESULTS, table
from citewell.bootstrap.folder import FinishedRun
from citewell.bootstrap.types import Drop, Fault, Outcome, Sample
from citewell.core.significance import interval
from citewell.core.text import squeeze
from citewell.server.studies.report.coefficients import krippendorff_alpha

RELEASE = Path(__file__).parent.parent / "recipes" / "citewell-qa"
_ALL = "all"


def main() -> None:
    """Run one of the two steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    first = steps.add_parser("sheet", help="write answers to read")
    first.add_argument("run", type=Path, metavar="RUN", help="folder of a bootstrap")
    first.add_argument("--limit", type=int, default=100, help="answers [100]")
    first.add_argument("--kept", action="store_true", help="the answers of the data set alone")
    first.add_argument("--out", type=Path, required=True, help="file to write")
    second = steps.add_parser("report", help="count the verdicts")
    second.add_argument("--verdicts", type=Path, default=RELEASE / "verdicts.jsonl", help="file to read")
    second.add_argument(
        "--version", dest="versions", action="append", required=True, metavar="NAME=RUN", help="a version"
    )
    second.add_argument(
        "--reread", action="append", default=[], metavar="NAME=FILE", help="verdicts of a version's own text"
    )
    second.add_argument("--again", type=Path, metavar="FILE", help="verdicts of a second reader")
    second.add_argument("--json", type=Path, default=RELEASE / "reading.json", help="file to write")
    second.add_argument("--out", type=Path, default=RESULTS / "teacher-reading.md", help="file to write")
    options = parser.parse_args()
    if options.step == "sheet":
        rows = drawn(_outcomes(options.run), options.limit)
        rows = [row for row in rows if isinstance(row, Sample)] if options.kept else rows
        options.out.write_text(sheet(rows, kept=options.kept), encoding="utf-8")
        return
    versions = dict(one.split("=", 1) for one in options.versions)
    reread = dict(one.split("=", 1) for one in options.reread)
    found = report(
        {name: _outcomes(Path(run)) for name, run in versions.items()},
        _verdicts(options.verdicts),
        {name: _verdicts(Path(file)) for name, file in reread.items()},
        _verdicts(options.again) if options.again else {},
    )
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = tables(found)
    options.out.write_text(
        f"# Answers of a teacher, read\n\n`python -m benchmarks.teacher_reading report`\n\n{text}\n", "utf-8"
    )
    print(text)


def drawn(outcomes: Sequence[Outcome], limit: int) -> list[Sample | Drop]:
    """Return at most `limit` outcomes with an answer, in an order that a hash of their keys decides."""
    answered = [each for each in outcomes if not isinstance(each, Fault) and each.raw_answer.strip()]
    return sorted(answered, key=lambda each: sha256(each.key.encode()).digest())[:limit]


def sheet(rows: Sequence[Sample | Drop], *, kept: bool = False) -> str:
    """Return the questions with references and raw answers, and not whether a filter dropped them.

    With `kept`, the answers are those of the data set.
    """
    parts = []
    for row in rows:
        parts.append(f"## {row.key}: {row.question}")
        parts += [f"[{each.number}] {each.title}: {squeeze(each.text)}" for each in row.references]
        answer = row.answer if kept and isinstance(row, Sample) else row.raw_answer
        parts.append(f"**Answer:** {answer.strip()}")
    return "\n\n".join(parts) + "\n"


def is_good(verdict: Mapping[str, str]) -> bool:
    """Return whether an answer answers, or rightly refuses, and says what its references say."""
    return verdict["answers"] in ("yes", "refused") and verdict["supported"] == _ALL


def report(
    versions: Mapping[str, Sequence[Outcome]],
    verdicts: Mapping[str, Mapping[str, str]],
    reread: Mapping[str, Mapping[str, Mapping[str, str]]] = MappingProxyType({}),
    again: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return how many answers that were read each version keeps and drops, and how many of them are good.

    `reread` has the verdicts on the text of versions that change it, for what they keep, and `again` those
    of a second reader.
    """
    good = {key: float(is_good(verdict)) for key, verdict in verdicts.items()}
    marked = sum(verdict["marks"] == _ALL for verdict in verdicts.values())
    result: dict[str, Any] = {
        "read": _counted(good, good), "marks right": marked, "versions": {}, "dropped": {}
    }  # fmt: skip
    if again:
        pairs = [(good[key], float(is_good(verdict))) for key, verdict in again.items()]
        result["again"] = {
            "read": len(pairs),
            "agreed": sum(one == other for one, other in pairs),
            "alpha": krippendorff_alpha(pairs),
        }
    for name, outcomes in versions.items():
        rows = [each for each in outcomes if not isinstance(each, Fault) and each.key in good]
        own = {key: float(is_good(verdict)) for key, verdict in reread.get(name, verdicts).items()}
        result["versions"][name] = _counted(own, [each.key for each in rows if isinstance(each, Sample)])
        reasons: dict[str, list[str]] = {}
        for each in rows:
            if isinstance(each, Drop):
                reasons.setdefault(each.reason, []).append(each.key)
        result["dropped"][name] = {reason: _counted(good, keys) for reason, keys in reasons.items()}
    return result


def tables(found: Mapping[str, Any]) -> str:
    """Return the counts as tables in Markdown."""
    whole = found["read"]
    kept = [["before filters", *_cells(whole)]]
    kept += [[name, *_cells(of)] for name, of in found["versions"].items()]
    dropped = [
        [name, reason, *_cells(of)]
        for name, reasons in found["dropped"].items()
        for reason, of in reasons.items()
    ]
    second = []
    if again := found.get("again"):
        alpha = f", Krippendorff's alpha {again['alpha']:.2f}" if again["alpha"] is not None else ""
        second = [
            f"A second reader read {again['read']} of them, and found the same for {again['agreed']}{alpha}."
        ]
    return "\n\n".join(
        [
            f"{whole['read']} answers were read; the teacher's own marks name the right references in all "
            f"sentences of {found['marks right']}.",
            *second,
            table(["version", "kept", "good", "share"], kept),
            table(["version", "dropped for", "dropped", "good", "share"], dropped),
        ]
    )


def _counted(good: Mapping[str, float], keys: Sequence[str] | Mapping[str, float]) -> dict[str, Any]:
    values = {key: good[key] for key in keys}
    counts: dict[str, Any] = {"read": len(values), "good": round(sum(values.values()))}
    if values:
        counts["interval"] = [round(bound, 3) for bound in interval(values)]
    return counts


def _cells(of: Mapping[str, Any]) -> list[str]:
    if not of["read"]:
        return ["0", "0", ""]
    low, high = of["interval"]
    return [str(of["read"]), str(of["good"]), f"{of['good'] / of['read']:.2f} ({low:.2f} to {high:.2f})"]


def _verdicts(file: Path) -> dict[str, dict[str, str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def _outcomes(folder: Path) -> list[Outcome]:
    return list(FinishedRun(folder).outcomes())


if __name__ == "__main__":
    main()
