"""WebGPT's comparisons: two answers with their own quotes, and the strength of people's preference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citewell.scorer.data.source_line import SourceLine, group_of
from citewell.scorer.data.types import Comparison


def read_webgpt_row(row: Mapping[str, Any], place: SourceLine) -> Iterator[Comparison]:
    """Yield the comparison of a row `{question, answer_0, answer_1, quotes_0, quotes_1, score_0, score_1}`.

    Scores are from -1 to 1 and sum to 0. As in WebGPT (§3.2), a score of 0 is a preference of .5, and only
    the sign of other scores counts (https://huggingface.co/datasets/openai/webgpt_comparisons).
    """
    asked = row.get("question")
    question = place.text(asked.get("full_text") if isinstance(asked, dict) else asked, "the question")
    quotes = [_quotes(row.get(f"quotes_{side}"), place) for side in (0, 1)]
    answers = [place.answer(row.get(f"answer_{side}"), f"answer_{side}", quotes[side]) for side in (0, 1)]
    scores = [place.number(row.get(f"score_{side}"), f"score_{side}") for side in (0, 1)]
    if question is None or answers[0] is None or answers[1] is None or scores[0] is None or scores[1] is None:
        return
    if not -1 <= scores[0] <= 1 or abs(scores[0] + scores[1]) > 1e-6:
        place.problem(
            "no_number", f"the scores {scores[0]:g} and {scores[1]:g} are not between -1 and 1 and opposite."
        )
        return
    yield Comparison(
        question,
        answers[0],
        answers[1],
        0.5 if scores[0] == 0 else float(scores[0] > 0),
        references=quotes[0],
        second_references=quotes[1],
        group=group_of(question),
        source=place.source,
    )


def _quotes(value: object, place: SourceLine) -> tuple[str, ...]:
    extracts = value.get("extract") if isinstance(value, dict) else value
    return place.references({"quotes": extracts}, "quotes")


def webgpt_row(
    question: str,
    question_id: str,
    answers: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    preference: float,
) -> dict[str, Any]:
    """Return a comparison in the fields of WebGPT's release (appendix K), which `read_webgpt_row` reads.

    `answers` are two texts, each with its references as titles and texts; `preference` goes from -1, the
    first is much better, to 1. `tokens` holds texts: the question with the references, and the answer.
    """
    row: dict[str, Any] = {"question": {"dataset": "citewell", "id": question_id, "full_text": question}}
    for side, (text, references) in enumerate(answers):
        quotes = {"title": [title for title, _ in references], "extract": [each for _, each in references]}
        shown = [f"[{number}] {title}\n{each}" for number, (title, each) in enumerate(references, 1)]
        prefix = "\n\n".join([f"Question: {question}", *shown, "Answer:"])
        row |= {
            f"quotes_{side}": quotes,
            f"answer_{side}": text,
            f"tokens_{side}": {"prefix": prefix, "completion": text},
            f"score_{side}": preference if side else -preference,
        }
    return row
