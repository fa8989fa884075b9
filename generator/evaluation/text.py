"""What can be counted about an answer's text, without a judge."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.text import words

COPIED = 8
"""Words of the runs that `copied` looks up."""
_REPEATED = 4

# What a writer says instead of an answer, at the beginning of one.
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
    """Whether an answer says, instead of one, that there is none; so does one without words."""
    return not words(answer) or _REFUSAL.match(answer) is not None


def copied(answer: str, passages: Sequence[str]) -> float | None:
    """The share of the answer's runs of 8 words that stand in a passage, 0 to 1; None where it is shorter.

    Near 1 the answer quotes. ROUGE and every judge like quotations, so this stands beside them.
    """
    mine = _runs(answer, COPIED)
    if not mine:
        return None
    theirs = {run for passage in passages for run in _runs(passage, COPIED)}
    return sum(run in theirs for run in mine) / len(mine)


def repetition(answer: str) -> float | None:
    """The share of the answer's runs of 4 words that it has had before, 0 to 1; None where it is shorter.

    This is seq-rep-4 of Welleck et al. 2020 (https://arxiv.org/abs/1908.04319), over words.
    """
    runs = _runs(answer, _REPEATED)
    return 1 - len(set(runs)) / len(runs) if runs else None


def rouge_l_sum(sentences: Sequence[str], answer: str) -> float | None:
    """ROUGE-Lsum F1 with stemming against a human answer, 0 to 1; None without the package rouge-score.

    `sentences` are those of the answer, and lines of `answer` are sentences. ALCE gives it for the record
    only: the first passage as it stands gets a good one on ELI5, and almost no claim recall.
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
