"""Calls that share a model's steps: the same results as alone, and nobody disturbs another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from citewell.generator.causal import Sampling
from citewell.generator.decoder import CachedText, PagedDecoder, Read
from citewell.generator.openvino import OpenVinoModel, open_openvino
from citewell.generator.shared_steps import Logits, SharedSteps, Steps, StoppedError
from tests.generator.rounding import same

GREEDY = Sampling(0.8, 0, 0.0)
SECONDS = 100


class Asked(NamedTuple):
    """What a test writes: some go on for long, and some are drawn by chance."""

    question: str
    most: int
    sampling: Sampling = GREEDY
    n: int = 1


ASKED = [
    Asked("Why is the sky blue?", 60),
    Asked("Name three animals, and say where each of them lives.", 8),
    Asked("Write a story about a ship.", 40, Sampling(0.8, 5, single=True)),
    Asked("What is the capital of France?", 25),
    Asked("Count from one to ten.", 50, Sampling(0.8, 0, 1.0)),
    Asked("How does a bicycle stay upright?", 3),
    Asked("Why is the sky dark at night?", 30, Sampling(0.8, 3), n=2),
]


@pytest.fixture(scope="module")
def model(smollm2_folder: Path) -> OpenVinoModel:
    return open_openvino(smollm2_folder, "SmolLM2", threads=2, concurrency=8)


@pytest.fixture(scope="module")
def decoder(smollm2_folder: Path) -> PagedDecoder:
    return PagedDecoder(smollm2_folder, threads=2)


def written(
    model: OpenVinoModel,
    asked: Asked,
    on: Callable[[int], object] = lambda tokens: None,
    cancelled: threading.Event | None = None,
) -> dict[int, list[int]]:
    """Return the tokens by candidate; `on` is called with the number of those of the first so far."""
    found: dict[int, list[int]] = {}

    def seen(candidate: int, tokens: Sequence[int]) -> None:
        found.setdefault(candidate, []).extend(tokens)
        on(len(found.get(0, ())))

    model.write(
        model.render([{"role": "user", "content": asked.question}]),
        asked.n,
        most=asked.most,
        sampling=asked.sampling,
        seen=seen,
        cancelled=cancelled or threading.Event(),
    )
    return found


class Crowd:
    """Threads that write all of `ASKED`, of which each after the first begins while the first is written."""

    def __init__(self, model: OpenVinoModel, threads: ThreadPoolExecutor) -> None:
        self.others: list[Future[dict[int, list[int]]]] = []

        def on(tokens: int) -> None:
            if tokens >= 4 * len(self.others) and len(self.others) < len(ASKED) - 1:
                self.others.append(threads.submit(written, model, ASKED[len(self.others) + 1]))

        self.first = written(model, ASKED[0], on)

    def results(self) -> list[dict[int, list[int]]]:
        return [self.first, *(other.result(SECONDS) for other in self.others)]


def test_texts_that_begin_and_end_at_different_times_are_as_alone(model: OpenVinoModel) -> None:
    alone = [written(model, asked) for asked in ASKED]
    assert [len(each[0]) for each in alone][:2] == [60, 8]
    with ThreadPoolExecutor(8) as threads:
        assert Crowd(model, threads).results() == alone


def test_probabilities_are_the_same_while_others_write(model: OpenVinoModel) -> None:
    prompt = model.render([{"role": "user", "content": "Is water wet? Yes or no?"}])
    texts = ["Yes.", "No, it is not wet.", "Water"]
    alone = model.yes(prompt), model.likelihoods(prompt, texts)
    asked: list[Future[object]] = []

    def on(tokens: int) -> None:
        if tokens == 10:
            asked.append(threads.submit(model.yes, prompt))
            asked.append(threads.submit(model.likelihoods, prompt, texts))

    with ThreadPoolExecutor(2) as threads:
        written(model, ASKED[0], on)
        assert same([each.result(SECONDS) for each in asked], alone)


def test_a_text_that_is_cancelled_leaves_the_others_alone(model: OpenVinoModel) -> None:
    alone = written(model, ASKED[0])
    ended: list[Future[dict[int, list[int]]]] = []
    stop = threading.Event()

    def stop_soon(tokens: int) -> None:
        if tokens >= 5:
            stop.set()

    def on(tokens: int) -> None:
        if tokens == 10:
            ended.append(threads.submit(written, model, ASKED[4], stop_soon, stop))

    with ThreadPoolExecutor(1) as threads:
        assert written(model, ASKED[0], on) == alone
        (cut,) = ended[0].result(SECONDS).values()
    assert 5 <= len(cut) <= 10


def test_an_error_reaches_its_own_caller_only(model: OpenVinoModel) -> None:
    alone = written(model, ASKED[0])
    failed: list[Future[dict[int, list[int]]]] = []

    def fail(tokens: int) -> None:
        raise ValueError("The reader has gone.")

    def on(tokens: int) -> None:
        if tokens == 10:
            failed.append(threads.submit(written, model, ASKED[4], fail))

    with ThreadPoolExecutor(1) as threads:
        assert written(model, ASKED[0], on) == alone
        with pytest.raises(ValueError, match="has gone"):
            failed[0].result(SECONDS)


def tokens_of(number: int) -> list[int]:
    return [(7 * place + number) % 900 + 100 for place in range(30)]


class Observed:
    """Calls of shared steps, and the most texts that were ever decoded together."""

    def __init__(self, decoder: PagedDecoder, texts: int) -> None:
        self.steps = SharedSteps(decoder, texts=texts)
        self.decoder = decoder
        self.most = 0
        self.order: list[int] = []

    def call(self, number: int, *, length: int = 4, texts: int = 1) -> int:
        def go_on(row: CachedText, logits: Logits) -> Steps[int]:
            rows = [self.decoder.copy(row) for _ in range(texts)]
            for _ in range(length):
                self.most = max(self.most, self.steps.texts)
                yield [Read(each, [5]) for each in rows]
            for each in rows:
                self.decoder.free(each)
            self.order.append(number)
            return number

        return self.steps.run(tokens_of(number), go_on, cancelled=threading.Event(), texts=texts, most=length)


def test_no_more_texts_than_allowed_are_decoded_together(decoder: PagedDecoder) -> None:
    observed = Observed(decoder, 3)
    with ThreadPoolExecutor(9) as threads:
        calls = [threads.submit(observed.call, number) for number in range(9)]
        assert [call.result(SECONDS) for call in calls] == list(range(9))
    assert observed.most <= 3
    assert decoder.used == 0, "all memory is given back"


def test_a_call_with_more_texts_than_allowed_has_its_turn(decoder: PagedDecoder) -> None:
    observed = Observed(decoder, 3)
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(observed.call, 0, length=20), threads.submit(observed.call, 1, texts=5)]
        calls += [threads.submit(observed.call, number, length=20) for number in (2, 3)]
        assert [call.result(SECONDS) for call in calls] == [0, 1, 2, 3]
    assert observed.most == 5
    assert decoder.used == 0


class CountedDecoder(PagedDecoder):
    """A decoder that notes the numbers of tokens of each text that it reads, step by step."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, threads=2)
        self.read_tokens: list[list[int]] = []

    def read(self, reads: Sequence[Read]) -> list[Logits]:
        self.read_tokens.append([len(read.tokens) for read in reads])
        return super().read(reads)


def test_prompts_are_read_together_and_what_they_share_only_once(
    smollm2_folder: Path, decoder: PagedDecoder
) -> None:
    counted = CountedDecoder(smollm2_folder)
    steps = SharedSteps(counted, texts=8)
    begun, go = threading.Event(), threading.Event()
    page = [(11 * place) % 900 + 100 for place in range(64)]

    def hold(row: CachedText, logits: Logits) -> Steps[float]:
        begun.set()
        assert go.wait(SECONDS)
        yield from ()
        return float(logits[0, 0])

    def answer(row: CachedText, logits: Logits) -> Steps[float]:
        yield from ()
        return float(logits[0, 0])

    def ask(prompt: list[int]) -> float:
        return steps.run(prompt, answer, cancelled=threading.Event())

    prompts = [[*page, *tokens_of(number)] for number in range(4)] + [tokens_of(8), tokens_of(9)]
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(steps.run, tokens_of(7), hold, cancelled=threading.Event())
        assert begun.wait(SECONDS)
        counted.read_tokens.clear()
        others = [threads.submit(ask, prompt) for prompt in prompts]
        end = time.monotonic() + SECONDS
        while len(steps._waiting) < len(prompts):
            assert time.monotonic() < end
            time.sleep(0.001)
        go.set()
        together = [other.result(SECONDS) for other in others]
        first.result(SECONDS)
    # The first text on the page and the two others, then what the page's other texts do not share.
    assert [sorted(read) for read in counted.read_tokens] == [[30, 30, 94], [30, 30, 30]]
    assert counted.used == 0
    alone = SharedSteps(decoder, texts=8)
    assert same(together, [alone.run(each, answer, cancelled=threading.Event()) for each in prompts])


def test_work_with_the_decoder_alone_waits_for_texts_and_lets_the_next_go_on(decoder: PagedDecoder) -> None:
    steps = SharedSteps(decoder, texts=8)
    begun, go = threading.Event(), threading.Event()
    ended: list[str] = []

    def hold(row: CachedText, logits: Logits) -> Steps[None]:
        begun.set()
        assert go.wait(SECONDS)
        yield from ()
        ended.append("text")

    def work(given: PagedDecoder) -> PagedDecoder:
        ended.append("work")
        return given

    with ThreadPoolExecutor(2) as threads:
        text = threads.submit(steps.run, tokens_of(7), hold, cancelled=threading.Event())
        assert begun.wait(SECONDS)
        alone = threads.submit(steps.alone, work)
        time.sleep(0.05)
        go.set()
        text.result(SECONDS)
        assert alone.result(SECONDS) is decoder
    assert ended == ["text", "work"]
    with pytest.raises(ValueError, match="failed"):
        steps.alone(fail)
    steps.run(tokens_of(8), hold, cancelled=threading.Event())
    assert ended == ["text", "work", "text"]


def fail(decoder: PagedDecoder) -> None:
    raise ValueError("failed")


def test_what_waits_can_be_cancelled(decoder: PagedDecoder) -> None:
    steps = SharedSteps(decoder, texts=1)
    begun, go, cancelled = threading.Event(), threading.Event(), threading.Event()

    def slow(row: CachedText, logits: Logits) -> Steps[str]:
        own = decoder.copy(row)
        begun.set()
        assert go.wait(SECONDS)
        for _ in range(5):
            yield [Read(own, [5])]
        decoder.free(own)
        return "slow"

    def never(row: CachedText, logits: Logits) -> Steps[str]:
        raise AssertionError("It has begun.")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(steps.run, tokens_of(1), slow, cancelled=threading.Event())
        assert begun.wait(SECONDS)
        second = threads.submit(steps.run, tokens_of(2), never, cancelled=cancelled)
        cancelled.set()
        go.set()
        with pytest.raises(StoppedError):
            second.result(SECONDS)
        assert first.result(SECONDS) == "slow"
    assert decoder.used == 0


def test_a_step_that_fails_is_reported_and_the_next_call_works(decoder: PagedDecoder) -> None:
    observed = Observed(decoder, 3)
    before = observed.call(1)

    def impossible(row: CachedText, logits: Logits) -> Steps[None]:
        yield [Read(row, [2**70])]

    with pytest.raises(OverflowError):
        observed.steps.run(tokens_of(2), impossible, cancelled=threading.Event())
    assert (observed.call(1), decoder.used) == (before, 0)
