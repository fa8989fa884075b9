"""Citation recall and precision, as ALCE defines them (Gao et al. 2023, §4, https://arxiv.org/abs/2305.14627)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.judges.judge import ClaimAndPassages, SupportJudge


class Cited(NamedTuple):
    """An answer's sentences with their marks, and the passages by the numbers that marks may name."""

    sentences: Sequence[MarkedSentence]
    passages: Mapping[int, str]


class CitationScore(NamedTuple):
    """How well one answer is cited, 0 to 1 each."""

    recall: float
    precision: float


def citation_scores(answers: Sequence[Cited], judge: SupportJudge) -> list[CitationScore]:
    """The citation recall and precision of each of `n` answers; n scores.

    Recall is the share of sentences that are supported: the passages that a sentence cites, all together,
    support it. A sentence that cites nothing, or a passage that is not there, is not supported. Precision is
    the share of citations that count: the citation's sentence is supported, and its passage supports the
    sentence alone, or the other cited passages do not support it without. An answer without sentences has
    recall 0, one without citations precision 0.

    In three things this is not ALCE's code: citations that name no passage count among all citations, so that
    they cost precision too; no more than three citations a sentence are not cut to three; a mark right after
    a full stop belongs to the sentence before it, where ALCE gives it to the next one.
    """
    whole = [
        ClaimAndPassages(sentence.text, tuple(answer.passages[mark] for mark in sentence.marks))
        for answer, sentence in _sentences(answers)
        if _holds(answer, sentence)
    ]
    supported = {pair for pair, yes in zip(whole, judge.supports(whole), strict=True) if yes}
    several = [pair for pair in dict.fromkeys(whole) if pair in supported and len(pair.passages) > 1]
    each = {
        (pair, n): ClaimAndPassages(pair.claim, (pair.passages[n],))
        for pair in several
        for n in _places(pair)
    }
    alone = _ask(judge, each)
    left_out = {
        (pair, n): ClaimAndPassages(pair.claim, pair.passages[:n] + pair.passages[n + 1 :])
        for (pair, n), enough in alone.items()
        if not enough
    }
    needless = _ask(judge, left_out)
    needed = {place: enough or not needless[place] for place, enough in alone.items()}
    return [_score(answer, supported, needed) for answer in answers]


def _score(
    answer: Cited, supported: set[ClaimAndPassages], needed: Mapping[tuple[ClaimAndPassages, int], bool]
) -> CitationScore:
    held = counted = cited = 0
    for sentence in answer.sentences:
        cited += len(sentence.marks)
        if not _holds(answer, sentence):
            continue
        pair = ClaimAndPassages(sentence.text, tuple(answer.passages[mark] for mark in sentence.marks))
        if pair in supported:
            held += 1
            counted += sum(needed.get((pair, n), True) for n in _places(pair))
    return CitationScore(held / max(1, len(answer.sentences)), counted / max(1, cited))


def _sentences(answers: Sequence[Cited]) -> list[tuple[Cited, MarkedSentence]]:
    return [(answer, sentence) for answer in answers for sentence in answer.sentences]


def _holds(answer: Cited, sentence: MarkedSentence) -> bool:
    """Whether a sentence cites something, and nothing that is not there."""
    return bool(sentence.marks) and all(mark in answer.passages for mark in sentence.marks)


def _places(pair: ClaimAndPassages) -> range:
    return range(len(pair.passages))


def _ask(
    judge: SupportJudge, pairs: Mapping[tuple[ClaimAndPassages, int], ClaimAndPassages]
) -> dict[tuple[ClaimAndPassages, int], bool]:
    return dict(zip(pairs, judge.supports(list(pairs.values())), strict=True))


def claim_recall(claims: Sequence[Sequence[str]], answers: Sequence[str], judge: SupportJudge) -> list[float]:
    """The share of each row's claims that its answer, without marks, supports; n numbers.

    ALCE's measure of correctness on ELI5 (§4.2). Rows without claims, or with an empty answer, get 0.
    """
    rows = [
        [ClaimAndPassages(claim, (answer,)) for claim in of_row if answer]
        for of_row, answer in zip(claims, answers, strict=True)
    ]
    asked = [pair for of_row in rows for pair in of_row]
    verdicts = dict(zip(asked, judge.supports(asked), strict=True))
    return [sum(verdicts[pair] for pair in of_row) / max(1, len(of_row)) for of_row in rows]
