"""The decoder with a real model: guesses that are taken back, kept beginnings, several rows, memory."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from citewell.generator.causal import PromptTooLongError, Sampling
from citewell.generator.decoder import PagedDecoder
from citewell.generator.decoding import TokenChoice, read_prompt
from citewell.generator.lookup import PromptLookup
from citewell.generator.openvino import OpenVinoModel, open_openvino

GREEDY = Sampling(0.8, 0, 0.0)


@pytest.fixture(scope="module")
def model(smollm2_folder: Path) -> OpenVinoModel:
    return open_openvino(smollm2_folder, "SmolLM2", threads=2)


@pytest.fixture(scope="module")
def decoder(smollm2_folder: Path) -> PagedDecoder:
    return PagedDecoder(smollm2_folder, threads=2)


@pytest.fixture(scope="module")
def tokens(model: OpenVinoModel) -> list[int]:
    return model.encode("The capital of France is Paris, and the capital of Spain is")


def close(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether logits prefer the same token and differ by no more than rounding does."""
    return bool(one.argmax() == other.argmax() and np.abs(one - other).max() < 1.0)


def test_a_wrong_guess_changes_nothing(decoder: PagedDecoder, tokens: list[int]) -> None:
    decoder.begin()
    decoder.read([tokens[:-1]])
    (expected,) = decoder.read([tokens[-1:]])
    decoder.begin()
    decoder.read([tokens[:-1]])
    decoder.read([[7, 8, 9]])
    decoder.take_back([3])
    assert close(decoder.read([tokens[-1:]])[0], expected)


def test_rows_go_their_own_ways(decoder: PagedDecoder, tokens: list[int]) -> None:
    decoder.begin()
    (alone,) = decoder.read([tokens])
    decoder.begin()
    decoder.read([tokens[:-3]])
    decoder.split(3)
    decoder.read([tokens[-3:], [tokens[-3], 7, 8], [9]])
    decoder.take_back([1, 2, 0])
    decoder.select([1, 0])
    second, first = decoder.read([tokens[-2:], tokens[-1:]], every=True)
    assert (second.shape[0], first.shape[0]) == (2, 1)
    assert close(first, alone)
    assert close(second[-1:], alone)


def test_many_rows_outgrow_the_first_blocks(decoder: PagedDecoder, tokens: list[int]) -> None:
    decoder.begin()
    (alone,) = decoder.read([tokens * 20])
    decoder.begin()
    decoder.read([(tokens * 20)[:-1]])
    decoder.split(9)
    for row in decoder.read([tokens[-1:]] * 9):
        assert close(row, alone)


def test_a_kept_beginning_is_not_read_again(decoder: PagedDecoder, tokens: list[int]) -> None:
    text = (tokens * 5)[:70]
    assert decoder.keep(text) == 64
    (expected,) = decoder.read([text[64:]])
    for _ in range(2):
        assert decoder.begin() == 0
        decoder.read([tokens])
        assert decoder.begin(text) == 64
        assert np.array_equal(decoder.read([text[64:]])[0], expected)
    assert decoder.begin(text[1:]) == 0
    assert decoder.keep(tokens) == 0
    assert decoder.begin(text) == 0


def test_a_prompt_without_a_beginning_leaves_the_kept_one(decoder: PagedDecoder, tokens: list[int]) -> None:
    text = (tokens * 5)[:70]
    assert decoder.keep(text) == 64
    assert read_prompt(decoder, tokens, (), threading.Event()) is not None
    assert decoder.begin(text) == 64


def test_an_answer_is_the_same_with_its_beginning_in_the_cache(model: OpenVinoModel) -> None:
    beginning = model.render([{"role": "user", "content": "Name a color of the sky."}]).partition("Name")[0]

    def written(question: str) -> list[int]:
        found: list[int] = []
        model.write(
            model.render([{"role": "user", "content": question}]),
            1,
            most=20,
            sampling=GREEDY,
            seen=lambda _, some: found.extend(some),
            cancelled=threading.Event(),
            beginning=beginning,
        )
        return found

    first = written("Name three colors, and three animals.")
    written("What is the capital of France?")
    assert written("Name three colors, and three animals.") == first


def test_the_probability_of_yes_does_not_depend_on_what_was_read_before(model: OpenVinoModel) -> None:
    def prompt(text: str) -> str:
        return model.render([{"role": "user", "content": f"Water is wet. Fire is hot. {text} Yes or no?"}])

    questions = [prompt("Is water wet?"), prompt("Is fire cold?"), prompt("Is it?")]
    alone = []
    for question in questions:
        model.write(  # forgets the question before
            question,
            1,
            most=1,
            sampling=GREEDY,
            seen=lambda candidate, tokens: None,
            cancelled=threading.Event(),
        )
        alone.append(model.yes(question))
    assert len({answer.yes for answer in alone}) == 3
    for question, answer in zip(questions[::-1], alone[::-1], strict=True):
        assert model.yes(question) == (pytest.approx(answer.yes, abs=0.01), answer.tokens)


def test_a_prompt_that_overflows_the_context_is_refused(model: OpenVinoModel) -> None:
    def write(words: int) -> None:
        model.write(
            "word " * words,
            1,
            most=8,
            sampling=GREEDY,
            seen=lambda _, some: None,
            cancelled=threading.Event(),
        )

    with pytest.raises(PromptTooLongError, match=f"at most {model.context:,} together") as caught:
        write(model.context)
    assert "generator.prompt_tokens" in caught.value.hint
    with pytest.raises(PromptTooLongError):
        write(20 * model.context)
    write(10)


def test_the_weights_are_not_held_twice(smollm2_folder: Path) -> None:
    decoder = PagedDecoder(smollm2_folder, threads=1)
    decoder.read([[1, 2, 3]])
    weights = (smollm2_folder / "openvino_model.bin").resolve()
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    resident = sum(
        int(next(line for line in lines if line.startswith("Rss:")).split()[1]) * 1024
        for line in lines
        if line.endswith(str(weights))
    )
    # Another decoder of the same file, which has answered, may have read some of it again.
    assert resident < weights.stat().st_size / 2


def test_guesses_follow_the_last_occurrence_of_the_longest_sequence() -> None:
    lookup = PromptLookup([1, 2, 3, 4, 5, 9, 3, 7, 1, 2, 3])
    assert list(lookup.guess(5)) == [4, 5, 9, 3, 7]
    lookup.add([5])
    assert list(lookup.guess(5)) == [9, 3, 7], "fewer where only one token is the same"
    lookup.add([8])
    assert list(lookup.guess(3)) == []
    other = lookup.copy()
    other.add([3])
    assert list(other.guess(2)) == [5, 8]
    assert list(lookup.guess(2)) == []


def test_only_what_begins_with_the_forbidden_tokens_is_kept_from_them() -> None:
    def chosen(*preferred: int) -> list[int]:
        choose = TokenChoice(GREEDY, (5, 7))
        return [choose(np.eye(9, dtype=np.float32)[token]) for token in preferred]

    assert chosen(5, 7)[1] != 7
    assert chosen(3, 7) == [3, 7]
    assert chosen(5, 6, 7) == [5, 6, 7]
