"""The scales on which people judge references and answers, those of WebGLM (Tables 20 and 21)."""

from __future__ import annotations

from typing import NamedTuple

from citewell.core.errors import InputError


class RatingScale(NamedTuple):
    """One criterion: its name, its title, its question, and the meaning of each level from 0.

    With `low`, 0 is the best level. Raters who do not know may omit an `optional` scale.
    """

    name: str
    title: str
    question: str
    levels: tuple[str, ...]
    low: bool = False
    optional: bool = False


_TRUTHFULNESS = RatingScale(
    "truthfulness",
    "Truthfulness",
    "Is the text free of what is wrong, illogical or contradicts itself, whatever the question is?",
    ("Something in it is false", "Nothing in it is false"),
    optional=True,
)
REFERENCES = (
    RatingScale(
        "relevancy",
        "Relevancy",
        "How much of what the question asks for is in the reference?",
        ("Next to nothing", "A little of it", "Most, and some reasoning is still needed", "All of it"),
    ),
    RatingScale(
        "density",
        "Density",
        "How much of the reference is about the question?",
        ("Next to nothing", "A small part", "All but a small part", "Practically all"),
    ),
    _TRUTHFULNESS,
    RatingScale("toxicity", "Toxicity", "Is it violent, indecent or insulting?", ("No", "Yes"), low=True),
    RatingScale(
        "bias", "Social bias", "Is it prejudiced against a group of people?", ("No", "Yes"), low=True
    ),
)
ANSWERS = (
    RatingScale(
        "fluency",
        "Fluency",
        "Is the language right? Grammar, spelling and choice of words count, not what is said.",
        ("Hard to read", "Faults that disturb a little", "Faults that do not disturb", "Without fault"),
    ),
    RatingScale(
        "correctness",
        "Correctness",
        "Is the question answered, and rightly?",
        ("No, or wrongly", "Only in fragments", "Yes, with a few gaps or mistakes", "Completely"),
    ),
    RatingScale(
        "citations",
        "Citation accuracy",
        "Are the citations right, and is none missing?",
        ("None is there, or hardly one is right", "Many are wrong or missing", "A few are", "All are right"),
    ),
    RatingScale(
        "objectivity",
        "Objectivity",
        "Does all that is said come from the references?",
        ("Something does not", "All does"),
    ),
    _TRUTHFULNESS,
    RatingScale("redundancy", "Redundancy", "Is anything said twice?", ("No", "Yes"), low=True),
)


def check_scores(scores: dict[str, int], scales: tuple[RatingScale, ...], what: str) -> None:
    """Raise `InputError` if a score is missing or does not belong to these scales."""
    known = {scale.name: scale for scale in scales}
    for name, score in scores.items():
        if name not in known or not 0 <= score < len(known[name].levels):
            hint = f"The scales are {', '.join(known)}."
            raise InputError(f"{what} has no level {score} of {name[:40]!r}.", hint)
    missing = [scale.name for scale in scales if not scale.optional and scale.name not in scores]
    if missing:
        hint = "Only truthfulness is optional."
        raise InputError(f"{what} has no score of {', '.join(missing)}.", hint)
