"""The decoder with a real model: guesses that are taken back, known beginnings, several rows, memory."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from citewell.generator.causal import PromptTooLongError, Sampling
from citewell.generator.decoder import CachedText, PagedDecoder, Read
from citewell.generator.decoding import TokenChoice
from citewell.generator.lookup import PromptLookup
from citewell.generator.openvino import OpenVinoModel, open_openvino
from tests.generator.rounding import same

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


def read(decoder: PagedDecoder, row: CachedText, tokens: list[int]) -> np.ndarray:
    (logits,) = decoder.read([Read(row, tokens)])
    return logits


def test_a_wrong_guess_changes_nothing(decoder: PagedDecoder, tokens: list[int]) -> None:
    one, other = CachedText(), CachedText()
    read(decoder, one, tokens[:-1])
    read(decoder, other, tokens[:-1])
    read(decoder, other, [7, 8, 9])
    decoder.take_back(other, 3)
    assert np.array_equal(read(decoder, one, tokens[-1:]), read(decoder, other, tokens[-1:]))


def test_a_text_does_not_depend_on_what_is_read_with_it(decoder: PagedDecoder, tokens: list[int]) -> None:
    text = (tokens * 9)[:100]
    one, pieces, others = CachedText(), CachedText(), [CachedText() for _ in range(7)]
    alone = read(decoder, one, text)
    decoder.read([Read(pieces, text[:37], 0)])
    found = decoder.read([Read(pieces, text[37:]), *(Read(row, [7 + n]) for n, row in enumerate(others))])
    assert same(found[0], alone)
    last = read(decoder, one, tokens[:1])
    found = decoder.read([*(Read(row, tokens[:3], 2) for row in others), Read(pieces, tokens[:1])])
    assert same(found[-1], last)
    assert {each.shape[0] for each in found[:-1]} == {2}


def test_rows_go_their_own_ways(decoder: PagedDecoder, tokens: list[int]) -> None:
    alone = read(decoder, CachedText(), tokens)
    first = CachedText()
    read(decoder, first, tokens[:-3])
    second, third = decoder.copy(first), decoder.copy(first)
    decoder.read([Read(first, tokens[-3:]), Read(second, [tokens[-3], 7, 8]), Read(third, [9])])
    decoder.take_back(second, 2)
    decoder.take_back(first, 2)
    decoder.free(third)
    for logits in decoder.read([Read(second, tokens[-2:]), Read(first, tokens[-2:])]):
        assert same(logits, alone)


def test_many_rows_outgrow_the_first_blocks(decoder: PagedDecoder, tokens: list[int]) -> None:
    before = decoder.used
    row = CachedText()
    alone = read(decoder, row, tokens * 20)
    decoder.take_back(row, 2)
    rows = [decoder.copy(row) for _ in range(90)]
    for found in decoder.read([Read(each, tokens[-2:]) for each in rows]):
        assert same(found, alone)
    for each in [row, *rows]:
        decoder.free(each)
    assert decoder.used == before


def test_a_known_beginning_is_not_read_again(decoder: PagedDecoder, tokens: list[int]) -> None:
    text = (tokens * 9)[:70]
    row = CachedText()
    alone = read(decoder, row, text)
    assert decoder.begun(text).tokens == 0, "nobody said that it may be needed"
    decoder.remember(row, text)
    decoder.free(row)
    for expected, asked in [
        (68, text),
        (70, [*text, 7, 8, 9]),
        (64, [*text[:64], 7, 8, 9]),
        (40, [*text[:40], 7, 8, 9]),
        (0, text[1:]),
    ]:
        row = decoder.begun(asked)
        assert row.tokens == expected
        read(decoder, row, asked[row.tokens :])
        decoder.free(row)
    again = decoder.begun(text)
    assert np.array_equal(read(decoder, again, text[68:]), alone), "others wrote behind it"
    decoder.free(again)


def test_an_answer_is_the_same_with_its_beginning_in_the_cache(model: OpenVinoModel) -> None:
    def written(question: str) -> list[int]:
        found: list[int] = []
        model.write(
            model.render([{"role": "user", "content": question}]),
            1,
            most=20,
            sampling=GREEDY,
            seen=lambda _, some: found.extend(some),
            cancelled=threading.Event(),
        )
        return found

    first = written("Name three colors, and three animals.")
    written("What is the capital of France?")
    assert written("Name three colors, and three animals.") == first


def test_the_probability_of_yes_does_not_depend_on_what_was_read_before(
    smollm2_folder: Path, model: OpenVinoModel
) -> None:
    def prompt(text: str) -> str:
        return model.render([{"role": "user", "content": f"Water is wet. Fire is hot. {text} Yes or no?"}])

    questions = [prompt("Is water wet?"), prompt("Is fire cold?"), prompt("Is it?")]
    fresh = open_openvino(smollm2_folder, "SmolLM2", threads=2)
    backwards = [fresh.yes(question) for question in reversed(questions)]
    assert len({answer.yes for answer in backwards}) == 3
    assert [model.yes(question) for question in questions] == backwards[::-1]


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
    decoder.read([Read(CachedText(), [1, 2, 3])])
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
        choose = TokenChoice(GREEDY, [(5, 7), (5, 8)])
        return [choose(np.eye(9, dtype=np.float32)[token]) for token in preferred]

    assert chosen(5, 7)[1] not in (7, 8)
    assert chosen(5, 8)[1] not in (7, 8)
    assert chosen(3, 7) == [3, 7]
    assert chosen(5, 6, 7) == [5, 6, 7]
