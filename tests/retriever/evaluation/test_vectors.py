"""Encoded corpora are kept, taken up after an interruption, and never mixed up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import CitewellError
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.evaluation.vectors import encode_corpus
from tests.retriever.evaluation.made_up import WordEncoder

TEXTS = tuple(f"passage {number}" for number in range(600))
CORPUS = Corpus(TEXTS, ("",) * len(TEXTS), TEXTS)


class Interrupted(WordEncoder):
    """Fails at its second batch."""

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        if self.encoded:
            raise KeyboardInterrupt
        return super().encode_passages(passages)


def silent(done: int, total: int) -> None:
    pass


def test_a_corpus_is_encoded_once(tmp_path: Path) -> None:
    encoder = WordEncoder()
    seen: list[tuple[int, int]] = []
    first = encode_corpus(CORPUS, encoder, tmp_path, lambda done, total: seen.append((done, total)))
    assert encoder.encoded == list(TEXTS)
    assert seen[-1] == (600, 600)
    again = WordEncoder()
    second = encode_corpus(CORPUS, again, tmp_path, silent)
    assert not again.encoded
    assert np.array_equal(first.vectors, WordEncoder().encode_passages(TEXTS))
    assert np.array_equal(first.vectors, second.vectors)
    assert second.seconds == pytest.approx(first.seconds, abs=0.001), "how long it took when it was done"


def test_other_weights_and_other_texts_are_encoded_anew(tmp_path: Path) -> None:
    encode_corpus(CORPUS, WordEncoder(), tmp_path, silent)
    trained = WordEncoder()
    trained.fingerprint = "words-2"
    encode_corpus(CORPUS, trained, tmp_path, silent)
    assert len(trained.encoded) == 600
    changed = Corpus(TEXTS, ("A title", *[""] * 599), TEXTS)
    encoder = WordEncoder()
    encode_corpus(changed, encoder, tmp_path, silent)
    assert len(encoder.encoded) == 600


@pytest.mark.parametrize("torn", [0, 100])
def test_an_interrupted_run_is_taken_up(tmp_path: Path, torn: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        encode_corpus(CORPUS, Interrupted(), tmp_path, silent)
    (file,) = tmp_path.glob("*.f32")
    with file.open("ab") as vectors:
        vectors.write(b"\xff" * torn)  # a row that was cut short
    encoder = WordEncoder()
    found = encode_corpus(CORPUS, encoder, tmp_path, silent)
    assert encoder.encoded == list(TEXTS[256:])
    assert np.array_equal(found.vectors, WordEncoder().encode_passages(TEXTS))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CitewellError, match=r"cannot be kept in .*CITEWELL_CACHE_DIR"):
        encode_corpus(CORPUS, WordEncoder(), tmp_path / "file" / "cache", silent)
