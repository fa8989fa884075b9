"""Measures of an answer's text that need no judge."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.text import words

COPIED = 8
"""Words of an n-gram of `copied`."""
_REPEATED = 4

# The beginnings of refusals.
_REFUSAL = re.compile(
    r"\W*(?:(?:unfortunately|(?:i'm |i am )?sorry)\W+(?:but\W+)?)?"
    r"(?:(?:there (?:is|was)|there's|i (?:have|found|find|see))? ?no "
    r"(?:evidence|answer|(?:relevant |such |specific )?information)\b"
    r"|(?:none of )?the (?:provided |given |available )?"
    r"(?:references?|passages?|documents?|sources?|texts?|context)(?: provided| given)? "
    r"(?:do(?:es)? not|don't|doesn't) (?:\w+ ){0,2}"
    r"(?:contain|say|mention|provide|give|answer|include|explain|state|tell|address|specify|discuss|support)\b"
    r"|(?:i|we) (?:do not|don't|cannot|can't|could not) (?:know|answer|find|say|tell)\b"
    r"|(?:this|the|your) question (?:cannot|can't|could not) be answered\b"
    r"|it is (?:not possible|impossible) to (?:answer|say|tell)\b)",
    re.IGNORECASE,
)


def refuses(answer: str) -> bool:
    """Return whether an answer is a refusal; an answer without words is one too."""
    return not words(answer) or _REFUSAL.match(answer) is not None


def copied(answer: str, passages: Sequence[str]) -> float | None:
    """Return the share of the answer's 8-grams that occur in a passage, 0 to 1; None if it is shorter.

    Near 1 the answer quotes, which ROUGE and every judge reward.
    """
    mine = _runs(answer, COPIED)
    if not mine:
        return None
    theirs = {run for passage in passages for run in _runs(passage, COPIED)}
    return sum(run in theirs for run in mine) / len(mine)


def repetition(answer: str) -> float | None:
    """Return the share of the answer's 4-grams that repeat an earlier one, 0 to 1; None if it is shorter.

    This is seq-rep-4 of Welleck et al. 2020 (https://arxiv.org/abs/1908.04319), over words.
    """
    runs = _runs(answer, _REPEATED)
    return 1 - len(set(runs)) / len(runs) if runs else None


def rouge_l_sum(sentences: Sequence[str], answer: str) -> float | None:
    """ROUGE-Lsum F1 with stemming against a human answer, 0 to 1; None without the package rouge-score.

    `sentences` are those of the answer, and lines of `answer` are sentences. ALCE reports it with a warning:
    on ELI5, the first passage verbatim scores well, with almost no claim recall.
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        return None
    score = RougeScorer(["rougeLsum"], use_stemmer=True).score(target=answer, prediction="\n".join(sentences))
    return float(score["rougeLsum"].fmeasure)


def _runs(text: str, size: int) -> list[tuple[str, ...]]:
    found = words(text)
    return [tuple(found[start : start + size]) for start in range(len(found) - size + 1)]
