"""Converters: each reads the originals of a data set in a folder and yields its files with their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.data.convert.answers import alce_demos, hh_helpful
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
from benchmarks.data.convert.readings import feedbackqa, pubmedqa, squad

Converter = Callable[[Path], Iterator[tuple[str, Iterator[str]]]]

CONVERTERS: Mapping[str, Converter] = {
    convert.__name__: convert
    for convert in (
        alce_demos,
        alce_eli5,
        article_extraction,
        begin,
        cisi,
        conjnli,
        cranfield,
        factcheck_gpt,
        feedbackqa,
        hh_helpful,
        key_points,
        mnli,
        nq_open,
        pubmedqa,
        scifact,
        snli_counterfactual,
        squad,
        summedits,
        truthfulqa,
        web_content_extraction,
        webglm_questions,
    )
}
