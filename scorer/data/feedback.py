"""Ratings of the service's answers by its users: thumbs, and choices between two answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from citewell.core.text import squeeze
from citewell.scorer.data.source_line import SourceLine, group_of
from citewell.scorer.data.types import Comparison, Voted, VotedAnswer

_PREFERENCES = {0: 1.0, 1: 0.0, "tie": 0.5}


class Thumb(NamedTuple):
    """One thumb, up (1) or down (-1), for an answer with its references."""

    question: str
    answer: VotedAnswer
    group: str
    source: str


def read_thumb(row: Mapping[str, Any], place: SourceLine) -> Iterator[Thumb]:
    """Yield the thumb of a row `{question, answer, references, thumbs: 1 | -1}`.

    Without a thumb, such as in a comment, `thumbs` is null.
    """
    question, references = place.question(row), place.references(row)
    answer = place.answer(row.get("answer"), "the answer", references)
    if row["thumbs"] is None:
        place.notes.count("rows without a thumb")
        return
    thumbs = place.number(row["thumbs"], "thumbs")
    if thumbs not in (None, 1.0, -1.0):
        place.problem("no_number", f"thumbs is {thumbs:g}, and neither 1 nor -1.")
    elif question is not None and answer is not None and thumbs is not None:
        yield Thumb(question, VotedAnswer(answer, thumbs, references), group_of(question), place.source)


def read_choice(row: Mapping[str, Any], place: SourceLine) -> Iterator[Comparison]:
    """Yield the comparison of a row `{question, answers: [a, b], references, preferred: 0 | 1 | "tie"}`.

    An answer is a text, or an object with `text` and its own `references`.
    """
    question, answers, preferred = place.question(row), row.get("answers"), row["preferred"]
    known = isinstance(preferred, int | str) and not isinstance(preferred, bool)
    if not known or preferred not in _PREFERENCES:
        place.problem("no_choice", f"preferred is {str(preferred)[:40]}, and neither 0, 1 nor tie.")
        return
    if not isinstance(answers, list) or len(answers) != 2:
        place.problem("no_answers", "answers is not a list of two.")
        return
    objects = [each if isinstance(each, dict) else {"text": each} for each in answers]
    shared = place.references(row)
    own = [place.references(each) or shared for each in objects]
    first, second = (place.answer(each.get("text"), f"answer {n}", own[n]) for n, each in enumerate(objects))
    if question is None or first is None or second is None:
        return
    yield Comparison(
        question,
        first,
        second,
        _PREFERENCES[preferred],
        references=own[0],
        second_references=own[1],
        group=group_of(question),
        source=place.source,
        rater=place.stated(row, "rater"),
    )


def tally(thumbs: Iterable[Thumb]) -> tuple[Voted, ...]:
    """Return the questions with thumbs; the votes of an answer are the sum of its thumbs."""
    questions: dict[str, Thumb] = {}
    sums: dict[str, dict[str, VotedAnswer]] = {}
    for thumb in thumbs:
        questions.setdefault(thumb.group, thumb)
        answers = sums.setdefault(thumb.group, {})
        key = squeeze(thumb.answer.text)
        before = answers.get(key)
        answers[key] = before._replace(votes=before.votes + thumb.answer.votes) if before else thumb.answer
    return tuple(
        Voted(first.question, tuple(sums[group].values()), group=group, source=first.source)
        for group, first in questions.items()
    )


def compare_thumbs(voted: Voted) -> tuple[Comparison, ...]:
    """Compare each answer with more thumbs up than down to each with more down than up."""
    liked = (answer for answer in voted.answers if answer.votes > 0)
    disliked = [answer for answer in voted.answers if answer.votes < 0]
    return tuple(
        Comparison(
            voted.question,
            first.text,
            second.text,
            1.0,
            references=first.references,
            second_references=second.references,
            group=voted.group,
            source=voted.source,
        )
        for first, second in product(liked, disliked)
    )
