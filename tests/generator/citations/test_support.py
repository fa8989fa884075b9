"""Support is rouge-score's ROUGE-1 precision, made to work in every script; facts are exact."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rouge_score.rouge_scorer import RougeScorer

from citewell.generator.citations.support import ReferenceText, holds_facts, rouge_1_precision

# No stop word in any, so that rouge-score's own tokenizer sees the same words.
SENTENCES = [
    ("Blue light scatters most.", "Air scatters blue light strongly, red light hardly."),
    ("yeast yeast yeast gas", "Yeast makes gas; yeast eats sugar."),
    ("Cats purr.", "Dogs bark loudly."),
    ("Sold 1928 Chillicothe Missouri", "Sliced bread sold 1928, Chillicothe, Missouri."),
    ("One", "one"),
]


@pytest.mark.parametrize(("sentence", "reference"), SENTENCES)
def test_it_is_rouge_1_precision(sentence: str, reference: str) -> None:
    expected = RougeScorer(["rouge1"]).score(target=reference, prediction=sentence)["rouge1"].precision
    assert rouge_1_precision(sentence, reference) == pytest.approx(expected)


def test_rouge_score_and_what_it_loads_are_not_needed() -> None:
    """Importing them takes longer than all other imports of an answer without a model."""
    program = (
        "import sys; from citewell.core.types import Reference; "
        "from citewell.generator.citations.correction import check_citations; "
        "check_citations('The sky is blue.', [Reference(1, 'u', 'Sky', 'Blue sky.', 1.0)], 0.5); "
        "print(*{module.split('.')[0] for module in sys.modules})"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "citewell" in loaded
    assert not loaded & {"rouge_score", "nltk", "scipy", "sklearn", "pandas", "torch"}


def test_function_words_do_not_count() -> None:
    assert rouge_1_precision("The cat is on the mat.", "The dog is on the hill.") == 0.0
    assert rouge_1_precision("The cat is on the mat.", "A cat and a mat") == 1.0


@pytest.mark.parametrize("text", ["天空是蓝色的，因为散射。", "ท้องฟ้าเป็นสีฟ้า", "हिन्दी भाषा।", "Été à Århus"])
def test_identical_text_is_supported_in_every_script(text: str) -> None:
    assert rouge_1_precision(text, text) == 1.0
    assert holds_facts(text, text)


def test_half_of_a_chinese_sentence() -> None:
    assert rouge_1_precision("蓝天白云", "蓝天") == 0.5


@pytest.mark.parametrize(
    ("sentence", "reference", "held"),
    [
        ("It opened in 1889.", "The tower was opened in 1889.", True),
        ("It opened in 1899.", "The tower was opened in 1889.", False),
        ("It has 1,665 steps.", "There are 1665 steps.", True),
        ("It is 3.5 m wide.", "It is 3.6 m wide.", False),
        ("The tower is by Eiffel.", "Gustave Eiffel built the tower.", True),
        ("The tower is by Edison.", "Gustave Eiffel built the tower.", False),
        ("Towers are tall.", "a tower is tall", True),  # the first word is no name
        ("Once The Tower is built.", "the tower was built", True),
        ("Set CITEWELL_CACHE_DIR to move it.", "Set CITEWELL_CACHE_DIR to move it.", True),
        ("我们用 Python语言编写。", "我们用 Python语言编写。", True),
    ],
)
def test_facts(sentence: str, reference: str, held: bool) -> None:
    assert holds_facts(sentence, reference) is held


@pytest.mark.parametrize(
    ("sentence", "text", "held"),
    [
        ("The lake lies near Östersund.", "The lake lies near Uppsala, a town.", False),
        ("The lake lies near Östersund.", "The lake lies near Östersund, a town.", True),
        ("Its president is Путин.", "Its president is Ельцин.", False),
        ("Its capital is in Austria.", "Its capital is in Australia.", False),
        ("Oil comes from Niger.", "Nigeria exports oil.", False),
        ("It is an Australian town.", "It is a town of Australia.", True),
        ("It is a Peruvian town.", "It is a town of Peru.", True),
        ("It belongs to the Jets.", "It belongs to Jet.", True),
    ],
)
def test_names_may_differ_in_their_endings(sentence: str, text: str, *, held: bool) -> None:
    assert ReferenceText(text).holds_names(sentence, "") is held
