"""The support of a sentence by a reference: ROUGE-1 of content words, plus names and numbers."""

from __future__ import annotations

import re
from functools import cached_property

from citewell.core.rouge import Text, score
from citewell.core.text import STOP_WORDS, content_words, words

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# The number of a ruler, a war or the like with the word before it, as in "Elizabeth II".
_ROMAN = re.compile(r"\b[A-Z]\w+ [IVX]+\b")
_NAME = re.compile(r"(?<=[\w,;:)\"'’”] )[A-Z]\w+")

_NUMBER_WORDS = """\
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_WORDS_OF = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "thousand": "1000",
}


class ReferenceText:
    """A reference's text, tokenized once for comparison with any number of sentences."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._content = Text(text, content_words)

    def precision(self, sentence: str) -> float:
        """`rouge_1_precision` of a sentence and this text."""
        return score(Text(sentence, content_words), self._content).precision

    def holds_facts(self, sentence: str) -> bool:
        """`holds_facts` for a sentence and this text."""
        names = {word for name in _NAME.findall(sentence) for word in words(name)}
        return _numbers(sentence) <= self._numbers and names <= self._words

    def holds_numbers(self, sentence: str) -> bool:
        """Return whether the text has each number that the sentence has in digits, in digits or in words.

        Roman numerals after names count too: a text about Elizabeth I says nothing of Elizabeth II.
        """
        spelled = {_WORDS_OF[word] for word in self._words if word in _WORDS_OF}
        romans = set(_ROMAN.findall(sentence))
        return _numbers(sentence) <= self._numbers | spelled and romans <= set(_ROMAN.findall(self._text))

    @cached_property
    def _numbers(self) -> set[str]:
        return _numbers(self._text)

    @cached_property
    def _words(self) -> set[str]:
        return set(words(self._text)) | STOP_WORDS


def rouge_1_precision(sentence: str, reference: str) -> float:
    """Return the share of the sentence's content words that occur in the reference, 0 to 1.

    This is ROUGE-1 precision without stop words (option `-s` of the original ROUGE, Lin 2004,
    https://aclanthology.org/W04-1013). Precision as in WebGLM §3.1.2, since a reference is a paragraph and a
    sentence need not cover it; without stop words, since half of any English sentence occurs in any other.
    """
    return ReferenceText(reference).precision(sentence)


def holds_facts(sentence: str, reference: str) -> bool:
    """Return whether the reference contains every number and every capitalized name of the sentence.

    A wrong year or person changes one word of ROUGE-1, but makes the sentence false. The first word does not
    count as a name, since every sentence begins with a capital.
    """
    return ReferenceText(reference).holds_facts(sentence)


def digits(word: str) -> str | None:
    """Return a number in digits, if a word is one, in words or in digits."""
    return word if word.isdecimal() else _WORDS_OF.get(word)


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}
