"""The questions of the benchmark of PPO."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")

from benchmarks.answers_ppo import REFERENCES, WORDS, short_references


def test_the_best_references_are_cut_to_what_matters() -> None:
    about = "Amber is a resin of trees. " + "Nothing here is about it at all. " * 20
    texts = ["Birches are white. " * 12, about, "Old amber is red, and amber is rare. " * 12]
    given = [{"title": str(number), "url": "", "text": text} for number, text in enumerate(texts)]
    found = short_references("What is amber?", given)
    assert [each["title"] for each in found] == ["1", "2"]
    assert len(found) == REFERENCES
    assert "Amber is a resin of trees." in found[0]["text"]
    assert sum(len(each["text"].split()) for each in found) <= WORDS + 2 * 2
