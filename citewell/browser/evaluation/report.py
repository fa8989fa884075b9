"""The report of an evaluation: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import mean
from typing import Any

from citewell.browser.evaluation.evaluate import Result
from citewell.core.significance import TEST, compare_all, differences_table, interval
from citewell.core.tables import markdown_table

Outcomes = Mapping[str, Mapping[str, Result]]
"""Results by question, by system."""

_SUCCESS = (
    "Found: a quote of the chosen episode has an accepted answer, with the bootstrapped 95% interval. "
    "Actions, generated tokens and seconds are of all episodes of a question."
)

_MEASURES = ("found", "quotes", "actions", "tokens", "seconds")

_JUDGED = "Chosen by: a scorer, or how relevant the best quote is, for the best of several episodes."


def summary(outcomes: Outcomes) -> dict[str, dict[str, Any]]:
    """Return the means over questions by system."""
    found: dict[str, dict[str, Any]] = {}
    for name, results in outcomes.items():
        rows = list(results.values())
        low, high = interval(_found(results))
        actions = sum(row.actions for row in rows)
        found[name] = {
            "questions": len(rows),
            "found": round(mean(row.found for row in rows), 4),
            "interval": [round(low, 4), round(high, 4)],
            "quotes": round(mean(row.quotes for row in rows), 2),
            "actions": round(actions / len(rows), 2),
            "valid": round(sum(row.valid for row in rows) / actions, 4) if actions else None,
            "tokens": round(mean(row.tokens for row in rows), 1),
            "seconds": round(mean(row.seconds for row in rows), 2),
            "judge": ", ".join(sorted({row.judge for row in rows if row.judge})),
            "failures": sum(bool(row.error) for row in rows),
        }
    return found


def markdown(outcomes: Outcomes, baseline: str) -> str:
    """The table of all systems, and how they differ from the baseline."""
    measures = ["questions", "found", "95% interval", "quotes", "actions", "valid", "tokens", "seconds"]
    averages = summary(outcomes)
    judged = any(row["judge"] for row in averages.values())
    rows = [
        [
            name,
            f"{row['questions']:,}",
            f"{row['found']:.3f}",
            f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}",
            f"{row['quotes']:.1f}",
            f"{row['actions']:.1f}",
            "" if row["valid"] is None else f"{row['valid']:.1%}",
            f"{row['tokens']:.0f}",
            f"{row['seconds']:.2f}",
            *([row["judge"]] if judged else []),
        ]
        for name, row in averages.items()
    ]
    parts = [markdown_table(["system", *measures, *(["chosen by"] if judged else [])], rows), _SUCCESS]
    if judged:
        parts.append(_JUDGED)
    for name, results in outcomes.items():
        if errors := [result.error for result in results.values() if result.error]:
            share = f"{len(errors):,} of {len(results):,} questions"
            parts.append(f"{name} failed on {share}, which count as not found: {errors[0]}")
    others = {name: _found(results) for name, results in outcomes.items() if name != baseline}
    if others:
        differences = compare_all(others, _found(outcomes[baseline]))
        parts += [
            f"Compared with {baseline}:",
            differences_table({"found": differences}),
            TEST,
        ]
    return "\n\n".join(parts) + "\n"


def as_json(outcomes: Outcomes) -> str:
    """The means, as JSON."""
    return json.dumps(summary(outcomes), indent=1, ensure_ascii=False) + "\n"


def details(outcomes: Outcomes) -> str:
    """Return the values of each question and the failures as JSON, for `citewell eval compare`."""
    values = {
        name: {
            measure: {question: float(getattr(result, measure)) for question, result in results.items()}
            for measure in _MEASURES
        }
        for name, results in outcomes.items()
    }
    failures = {
        name: {question: result.error for question, result in results.items() if result.error}
        for name, results in outcomes.items()
    }
    return json.dumps({"values": values, "failures": failures}, indent=1, ensure_ascii=False) + "\n"


def _found(results: Mapping[str, Result]) -> dict[str, float]:
    return {question: float(result.found) for question, result in results.items()}
