"""The part of a long text that a claim is compared with."""

from __future__ import annotations

from citewell.core.text import content_words, split_sentences, words

WINDOW_WORDS = 90


def best_window(text: str, claim: str, most: int = WINDOW_WORDS) -> str:
    """Return the run of whole sentences, at most `most` words, that has most content words of `claim`.

    The first of equal runs is taken. A text of at most `most` words is returned whole, and so is a longer
    sentence where it is best.
    """
    return Windows(text, most).best(claim)


class Windows:
    """The runs of a text's sentences, for any number of claims (see `best_window`)."""

    def __init__(self, text: str, most: int = WINDOW_WORDS) -> None:
        """Divide `text` into runs of at most `most` words, or one sentence."""
        sentences = split_sentences(text) if len(text.split()) > most else [text]
        sizes = [len(sentence.split()) for sentence in sentences]
        self._runs: list[tuple[frozenset[str], str]] = []
        before = 0
        for start in range(len(sentences)):
            end, size = start + 1, sizes[start]
            while end < len(sentences) and size + sizes[end] <= most:
                size += sizes[end]
                end += 1
            if end > before:  # otherwise the run before has all of its sentences
                run = " ".join(sentences[start:end])
                self._runs.append((frozenset(words(run)), run))
            before = end

    def best(self, claim: str) -> str:
        """Return the run that has most content words of `claim`; the text may be empty."""
        wanted = set(content_words(claim))
        return max(self._runs, key=lambda run: len(wanted & run[0]), default=(frozenset(), ""))[1]
