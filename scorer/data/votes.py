"""Conversion of votes to pairs: which of two answers the readers of a forum prefer (WebGLM, §3.3)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from citewell.core.text import first_words, squeeze, words
from citewell.scorer.data.config import VoteConfig
from citewell.scorer.data.notes import FileNotes
from citewell.scorer.data.types import Comparison, Voted, VotedAnswer


def valid(voted: Voted, config: VoteConfig) -> Voted:
    """Return the question with the answers that have more than `above` votes."""
    return replace(voted, answers=tuple(answer for answer in voted.answers if answer.votes > config.above))


def even(voted: Voted, config: VoteConfig) -> Voted:
    """Return the question with answers of similar length: cut to the median, the short ones dropped.

    Readers vote for long answers; little of that bias remains after the cut. Lengths are in words, or in
    characters in scripts that are written without spaces.
    """
    if not config.truncate or not voted.answers:
        return voted
    lengths = [len(words(answer.text)) for answer in voted.answers]
    middle = median(lengths)
    return replace(
        voted,
        answers=tuple(
            answer._replace(text=first_words(answer.text, int(middle))) if length > middle else answer
            for answer, length in zip(voted.answers, lengths, strict=True)
            if length >= config.shortest * middle
        ),
    )


def prepare(voted: Voted, config: VoteConfig) -> Voted | None:
    """Return the question with valid, evened answers; None if too few are valid, or fewer than two remain."""
    kept = valid(voted, config)
    if len(kept.answers) < config.answers:
        return None
    evened = even(kept, config)
    return evened if len(evened.answers) > 1 else None


def pairs(prepared: Voted, config: VoteConfig) -> tuple[Comparison, ...]:
    """Return pairs of answers that are far enough apart, better one first; skip equal votes or texts."""
    ranked = sorted(prepared.answers, key=lambda answer: -answer.votes)
    found = [
        Comparison(
            prepared.question,
            better.text,
            worse.text,
            1.0,
            references=better.references,
            second_references=worse.references,
            group=prepared.group,
            source=prepared.source,
        )
        for place, better in enumerate(ranked)
        for worse in ranked[place + config.ranks + 1 :]
        if _differ(better, worse, config)
    ]
    return tuple(_drawn(found, config.most_pairs, prepared.group))


def compare(voted: Voted, config: VoteConfig, notes: FileNotes) -> tuple[Comparison, ...]:
    """Return the pairs of a question, and record the counts after each step."""
    kept = valid(voted, config)
    enough = len(kept.answers) >= config.answers
    evened = even(kept, config) if enough else replace(kept, answers=())
    found = pairs(evened, config)
    notes.count("questions with votes")
    notes.count("answers with votes", len(voted.answers))
    notes.count("valid answers", len(kept.answers))
    notes.count("questions with enough valid answers", enough)
    notes.count("answers of these", len(kept.answers) if enough else 0)
    if config.truncate:
        before = {answer.text for answer in kept.answers}
        notes.count("answers long enough", len(evened.answers))
        notes.count("answers cut at the median length", sum(a.text not in before for a in evened.answers))
    notes.count("questions with pairs", bool(found))
    notes.count("pairs far enough apart", len(found))
    return found


def _differ(better: VotedAnswer, worse: VotedAnswer, config: VoteConfig) -> bool:
    # Votes below one count as one, so that the ratio has a meaning.
    enough = better.votes >= config.ratio * max(worse.votes, 1.0) or config.ratio == 1
    return enough and better.votes > worse.votes and squeeze(better.text) != squeeze(worse.text)


def _drawn(found: Sequence[Comparison], most: int | None, group: str) -> Sequence[Comparison]:
    if most is None or len(found) <= most:
        return found
    chosen = random.Random(group).sample(range(len(found)), most)  # noqa: S311
    return [found[place] for place in sorted(chosen)]
