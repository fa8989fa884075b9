"""Citation recall and precision, as ALCE defines them (Gao et al. 2023, §4, https://arxiv.org/abs/2305.14627)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.judges.judge import ClaimAndPassages, SupportJudge


class CitedAnswer(NamedTuple):
    """An answer's sentences with their marks, and the passages by their numbers."""

    sentences: Sequence[MarkedSentence]
    passages: Mapping[int, str]


class CitationQuality(NamedTuple):
    """Citation recall and citation precision of one answer, 0 to 1 each."""

    recall: float
    precision: float


def citation_recall_and_precision(
    answers: Sequence[CitedAnswer], judge: SupportJudge
) -> list[CitationQuality]:
    """Return the citation recall and citation precision of each of `n` answers; n values.

    Recall is the share of sentences that are supported by all their cited passages together. A sentence that
    cites nothing, or a passage that does not exist, is not supported. Precision is the share of relevant
    citations: the citation's sentence is supported, and its passage supports the sentence alone, or the other
    cited passages do not support it without this one. An answer without sentences has recall 0, one without
    citations precision 0.

    This differs from ALCE's code (`compute_autoais`) in three ways: citations of passages that do not exist
    cost precision too; sentences with more than three citations are not cut to three; and a mark right after
    a full stop belongs to the sentence before it, where ALCE assigns it to the next one.
    """
    joint = [
        ClaimAndPassages(sentence.text, tuple(answer.passages[mark] for mark in sentence.marks))
        for answer, sentence in _sentences(answers)
        if _cites_passages(answer, sentence)
    ]
    supported = {pair for pair, yes in zip(joint, judge.supports(joint), strict=True) if yes}
    several = [pair for pair in dict.fromkeys(joint) if pair in supported and len(pair.passages) > 1]
    each = {
        (pair, n): ClaimAndPassages(pair.claim, (pair.passages[n],))
        for pair in several
        for n in range(len(pair.passages))
    }
    alone = _ask(judge, each)
    without = {
        (pair, n): ClaimAndPassages(pair.claim, pair.passages[:n] + pair.passages[n + 1 :])
        for (pair, n), enough in alone.items()
        if not enough
    }
    needless = _ask(judge, without)
    needed = {citation: enough or not needless[citation] for citation, enough in alone.items()}
    return [_score(answer, supported, needed) for answer in answers]


def _score(
    answer: CitedAnswer, supported: set[ClaimAndPassages], needed: Mapping[tuple[ClaimAndPassages, int], bool]
) -> CitationQuality:
    recalled = relevant = cited = 0
    for sentence in answer.sentences:
        cited += len(sentence.marks)
        if not _cites_passages(answer, sentence):
            continue
        pair = ClaimAndPassages(sentence.text, tuple(answer.passages[mark] for mark in sentence.marks))
        if pair in supported:
            recalled += 1
            relevant += sum(needed.get((pair, n), True) for n in range(len(pair.passages)))
    return CitationQuality(recalled / max(1, len(answer.sentences)), relevant / max(1, cited))


def _sentences(answers: Sequence[CitedAnswer]) -> list[tuple[CitedAnswer, MarkedSentence]]:
    return [(answer, sentence) for answer in answers for sentence in answer.sentences]


def _cites_passages(answer: CitedAnswer, sentence: MarkedSentence) -> bool:
    """Return whether a sentence has citations, all of passages that exist."""
    return bool(sentence.marks) and all(mark in answer.passages for mark in sentence.marks)


def _ask(
    judge: SupportJudge, pairs: Mapping[tuple[ClaimAndPassages, int], ClaimAndPassages]
) -> dict[tuple[ClaimAndPassages, int], bool]:
    return dict(zip(pairs, judge.supports(list(pairs.values())), strict=True))


def claim_recall(claims: Sequence[Sequence[str]], answers: Sequence[str], judge: SupportJudge) -> list[float]:
    """Return the share of each row's claims that its answer, without marks, supports; n numbers.

    ALCE's measure of correctness on ELI5 (§4.2). Rows without claims, or with an empty answer, get 0.
    """
    rows = [
        [ClaimAndPassages(claim, (answer,)) for claim in of_row if answer]
        for of_row, answer in zip(claims, answers, strict=True)
    ]
    asked = [pair for of_row in rows for pair in of_row]
    verdicts = dict(zip(asked, judge.supports(asked), strict=True))
    return [sum(verdicts[pair] for pair in of_row) / max(1, len(of_row)) for of_row in rows]
