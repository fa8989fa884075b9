"""Converters: each reads the originals of a data set in a folder and yields its files with their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.data.convert.answers import alce_demos, expertqa, hh_helpful
from benchmarks.data.convert.claims import (
    begin,
    conjnli,
    factcheck_gpt,
    key_points,
    mnli,
    scifact,
    snli_counterfactual,
    summedits,
)
from benchmarks.data.convert.collections import cisi, cranfield
from benchmarks.data.convert.pages import article_extraction, web_content_extraction
from benchmarks.data.convert.questions import alce_eli5, nq_open, truthfulqa, webglm_questions
from benchmarks.data.convert.readings import feedbackqa, pubmedqa, qed, squad
from benchmarks.data.convert.sentences import clapnq
from benchmarks.data.convert.spaced_claims import (
    faithdial,
    fever,
    fever_symmetric,
    snli,
    sufficient_facts,
)
from benchmarks.data.convert.trec import trecdl19, trecdl20

Converter = Callable[[Path], Iterator[tuple[str, Iterator[str]]]]

CONVERTERS: Mapping[str, Converter] = {
    convert.__name__: convert
    for convert in (
        alce_demos,
        alce_eli5,
        article_extraction,
        begin,
        cisi,
        clapnq,
        conjnli,
        cranfield,
        expertqa,
        factcheck_gpt,
        faithdial,
        feedbackqa,
        fever,
        fever_symmetric,
        hh_helpful,
        key_points,
        mnli,
        nq_open,
        pubmedqa,
        qed,
        scifact,
        snli,
        snli_counterfactual,
        squad,
        sufficient_facts,
        summedits,
        trecdl19,
        trecdl20,
        truthfulqa,
        web_content_extraction,
        webglm_questions,
    )
}
