"""Sentences that say what a study asks: they have all words of a question on it, and do not answer it."""

from __future__ import annotations

import re

_READ = 600  # characters
# Not `test`, `see` and others with which instructions begin, as in "To test the alarm, press the button."
_ASKING = (
    "(?:analy[sz]|ascertain|assess|characteri[sz]|clarif|compar|describ|determin|elucidat|estimat|evaluat|examin|"
    "explor|investigat|quantif|stud|validat)(?:e|y|)"
)
_ASKED = f"{_ASKING}(?:d|ed|ied|s|es|ies|)"
_WORK = "(?:analysis|article|investigation|paper|project|research|review|study|survey|trial|work)"
_STUDY = f"(?:authors|we|{_WORK})"
_TRIED = "(?:aim(?:ed|s)?|attempted|conducted|designed|performed|set out|sought|undertaken|wanted)"
_AIM = re.compile(
    # "To assess whether …", "AIM: To compare …"
    rf"(?:\w+: )?(?:in order )?to {_ASKING}\b|"
    # "The aim of this study was to evaluate …", "Our main objectives are, first, to compare …"
    rf".*\b(?:aim|goal|objective|purpose)s?\b.{{0,60}}\b(?:is|are|was|were)\b.{{0,20}} to {_ASKING}\b|"
    # "The purpose of the present study is to document …", "To test the hypothesis that …"
    rf".*\b(?:aim|goal|objective|purpose)s? of (?:this|the|our) (?:\w+ )?{_WORK}\b|"
    r".*\bto test the hypothesis\b|.*\bhypothesis of (?:this|the|our) "
    rf"(?:\w+ )?{_WORK}\b|"
    # "We sought to determine …", "A retrospective analysis of patients was performed to ascertain …"
    rf".*\b{_STUDY}\b.* {_TRIED} to {_ASKING}\b|"
    # "We investigated whether …", "In this paper, the authors examine how …"
    rf".*\b{_STUDY}\b.{{0,40}} {_ASKED}\b.{{0,40}} (?:how|if|whether)\b|"
    # "This study compared men and women.", unless it says what was found
    rf"(?:this|the present|our) {_WORK}\b.{{0,30}} {_ASKED}\b(?!.* (?:and|but|which) \w+(?:ed|s|d|nd)\b)|"
    r".*\bwe hypothesi[sz]ed?\b",
    re.IGNORECASE | re.DOTALL,
)
# Questions on an aim, and on how something is done, which "To determine X, …" answers.
_ASKS_FOR_AIM = re.compile(
    r"\s*how\b(?! (?:many|much|long|often))|"
    r".*\b(?:aims?|goals?|objectives?|purpose|hypothes[ei]s|research|study|studied|examined?|investigated?)\b",
    re.IGNORECASE | re.DOTALL,
)


def states_aim(text: str) -> bool:
    """Return whether a sentence only says what a study asks."""
    return _AIM.match(text[:_READ]) is not None


def may_answer(question: str, sentence: str) -> bool:
    """Return whether a sentence says more than what a study asks, or the question asks for that."""
    return not states_aim(sentence) or _ASKS_FOR_AIM.match(question) is not None
