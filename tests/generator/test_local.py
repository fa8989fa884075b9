"""The local generator with its real model: streaming, bounds, sampling, cancelling."""

from __future__ import annotations

import asyncio
import gc
import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from citewell.core.errors import ModelError
from citewell.core.events import Token
from citewell.core.text import words
from citewell.core.types import Reference
from citewell.generator.causal import CausalModel, RefusalRule, Sampling, Seen
from citewell.generator.completer import LocalCompleter
from citewell.generator.local import LocalGenerator
from citewell.generator.openvino import OpenVinoModel, open_openvino
from citewell.generator.prompt import WEBGLM, PromptForm
from citewell.generator.refusal import REFUSAL, REFUSAL_BEGINNINGS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

QUESTION = "Why is the sky blue?"
REFERENCES = [
    Reference(
        1,
        "https://example.org/",
        "Rayleigh scattering",
        "The sky is blue because air scatters short wavelengths of sunlight more than long ones.",
        0.8,
    )
]
ANSWER_TOKENS = 24

Make = Callable[..., LocalGenerator]


class Watched:
    """The model, which says when it begins, and waits after each token until `pause` is over.

    `pause` is given the event that cancels the work.
    """

    def __init__(self, model: CausalModel, pause: Callable[[threading.Event], object]) -> None:
        self.concurrency, self.context = model.concurrency, model.context
        self.control_tokens = model.control_tokens
        self.encode, self.decode, self.render = model.encode, model.decode, model.render
        self.begun = threading.Event()
        self.written = 0
        self.busy = False
        self.asked: list[str] = []
        self.ahead: list[str] = []
        self._model = model
        self._pause = pause

    def read_ahead(self, beginning: str, *, cancelled: threading.Event) -> None:
        self.ahead.append(beginning)

    def write(
        self,
        prompt: str,
        n: int,
        *,
        most: int,
        sampling: Sampling,
        seen: Seen,
        cancelled: threading.Event,
        refusal: RefusalRule | None = None,
        grammar: str = "",
    ) -> None:
        def watched(candidate: int, tokens: Sequence[int]) -> None:
            self.written += len(tokens)
            seen(candidate, tokens)
            self._pause(cancelled)

        self.busy = True
        self.asked.append(prompt)
        self.begun.set()
        try:
            self._model.write(
                prompt,
                n,
                most=most,
                sampling=sampling,
                seen=watched,
                cancelled=cancelled,
                refusal=refusal,
                grammar=grammar,
            )
        finally:
            self.busy = False


def generator(model: CausalModel, answer_tokens: int = ANSWER_TOKENS, seed: int = 0) -> LocalGenerator:
    sampling = Sampling(0.8, seed)
    return LocalGenerator(model, "SmolLM2", prompt_tokens=300, answer_tokens=answer_tokens, sampling=sampling)


@pytest.fixture(scope="module")
def model(smollm2_folder: Path) -> OpenVinoModel:
    return open_openvino(smollm2_folder, "SmolLM2", threads=2)


@pytest.fixture
def make(model: OpenVinoModel) -> Make:
    return partial(generator, model)


async def tokens(of: LocalGenerator, n: int = 1) -> list[Token]:
    return [token async for token in of.generate(QUESTION, REFERENCES, n)]


def texts(pieces: list[Token]) -> dict[int, str]:
    found: dict[int, str] = {}
    for piece in pieces:
        found[piece.candidate] = found.get(piece.candidate, "") + piece.text
    return found


async def test_pieces_join_to_an_answer_of_bounded_length(
    make: Make, tokenizer: PreTrainedTokenizerBase
) -> None:
    pieces = await tokens(make())
    assert len(pieces) > 5
    assert {piece.candidate for piece in pieces} == {0}
    (text,) = texts(pieces).values()
    assert {"sky", "light"} & set(words(text))
    assert "<|" not in text
    assert len(tokenizer.tokenize(text)) <= ANSWER_TOKENS


async def test_characters_of_several_tokens_come_whole(make: Make) -> None:
    reference = Reference(1, "https://example.org/", "Page", "😀😀😀😀", 0.8)
    stream = make().generate("Which emoji does the reference show?", [reference], 1)
    text = "".join([token.text async for token in stream])
    assert not text.isascii(), "the model is expected to write some emoji"
    assert "\ufffd" not in text


async def test_pieces_arrive_while_the_model_writes(model: OpenVinoModel) -> None:
    arrived = threading.Event()
    waited: list[bool] = []

    def pause(cancelled: threading.Event) -> None:
        if watched.written > ANSWER_TOKENS / 2 and not waited:
            waited.append(arrived.wait(60))

    watched = Watched(model, pause)
    async for _ in generator(watched).generate(QUESTION, REFERENCES, 1):
        arrived.set()
    assert waited == [True], "half of the answer is written, and no piece of it has arrived"


async def test_one_candidate_is_the_same_every_time(make: Make) -> None:
    one = make()
    first = texts(await tokens(one))
    assert texts(await tokens(one)) == first
    assert texts(await tokens(make(seed=9))) == first


async def test_three_candidates_differ_and_depend_on_the_seed_alone(make: Make) -> None:
    found = texts(await tokens(make(), 3))
    assert sorted(found) == [0, 1, 2]
    assert len(set(found.values())) == 3
    assert texts(await tokens(make(), 3)) == found
    assert texts(await tokens(make(seed=9), 3)) != found


async def test_closing_stops_the_model(model: OpenVinoModel) -> None:
    def pause(cancelled: threading.Event) -> None:
        if watched.written == 8:
            assert cancelled.wait(60)

    watched = Watched(model, pause)
    async with aclosing(generator(watched, answer_tokens=250).generate(QUESTION, REFERENCES, 1)) as stream:
        await anext(stream)
        assert len(asyncio.all_tasks()) > 1
    assert len(asyncio.all_tasks()) == 1, "the model is at rest when the stream is closed"
    assert watched.written <= 9


async def test_closing_a_stream_whose_model_fails_leaves_nothing_behind(model: OpenVinoModel) -> None:
    def fail(cancelled: threading.Event) -> None:
        if watched.written == 8:
            cancelled.wait(60)
            raise RuntimeError("The model is out of memory.")

    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    watched = Watched(model, fail)
    async with aclosing(generator(watched, answer_tokens=250).generate(QUESTION, REFERENCES, 1)) as stream:
        await anext(stream)
    gc.collect()
    assert (len(asyncio.all_tasks()), told) == (1, [])


async def test_a_cancelled_completion_leaves_the_model_at_rest(model: OpenVinoModel) -> None:
    watched = Watched(model, lambda cancelled: cancelled.wait(60))
    writing = asyncio.create_task(
        LocalCompleter(watched, "SmolLM2").complete(
            [{"role": "user", "content": "Count to a hundred."}], most=100, sampling=Sampling(0.8, 0)
        )
    )
    assert await asyncio.to_thread(watched.begun.wait, 60)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (len(asyncio.all_tasks()), watched.busy) == (1, False)


@pytest.mark.alone
async def test_cancelling_the_caller_stops_the_model(model: OpenVinoModel) -> None:
    watched = Watched(model, lambda cancelled: None)
    # Seconds of computation, which do not count what else the machine does.
    started = time.process_time()
    await tokens(generator(watched, answer_tokens=250), 3)
    whole = time.process_time() - started
    watched.begun.clear()
    asking = asyncio.create_task(tokens(generator(watched, answer_tokens=250), 3))
    assert await asyncio.to_thread(watched.begun.wait, 60)
    started = time.process_time()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert time.process_time() - started < whole / 2


async def test_questions_at_the_same_time_are_written_together_as_alone(make: Make) -> None:
    one = make()
    alone = [texts(await tokens(one, n)) for n in (1, 1, 3)]
    order: list[int] = []

    async def seen(number: int, n: int) -> dict[int, str]:
        pieces = []
        async for token in one.generate(QUESTION, REFERENCES, n):
            pieces.append(token)
            order.append(number)
        return texts(pieces)

    assert await asyncio.gather(seen(0, 1), seen(1, 1), seen(2, 3)) == alone
    ends = [len(order) - order[::-1].index(number) for number in range(3)]
    assert max(order.index(number) for number in range(3)) < min(ends), "all begin before any ends"


GRAMMAR = 'root ::= "Clicked on link " [1-9] | "Quote: naïve 😀━\\"blue\\""'
ALLOWED = re.compile(r'Clicked on link [1-9]|Quote: naïve 😀━"blue"')


@pytest.mark.parametrize(
    ("n", "sampling"),
    [(1, Sampling(0.8, 0, 0.0)), (1, Sampling(0.8, 5, 0.0, single=True)), (3, Sampling(0.8, 0, 0.0))],
    ids=["greedy", "one sampled", "three"],
)
def test_a_grammar_holds_every_candidate(model: OpenVinoModel, n: int, sampling: Sampling) -> None:
    found: dict[int, list[int]] = {}
    model.write(
        model.render([{"role": "user", "content": "Say anything at all."}]),
        n,
        most=ANSWER_TOKENS,
        sampling=sampling,
        seen=lambda candidate, tokens: found.setdefault(candidate, []).extend(tokens),
        cancelled=threading.Event(),
        grammar=GRAMMAR,
    )
    assert sorted(found) == list(range(n))
    assert all(ALLOWED.fullmatch(model.decode(tokens)) for tokens in found.values())


async def test_a_warm_generator_writes_the_same(make: Make) -> None:
    cold = texts(await tokens(make()))
    one = make()
    await one.warm()
    assert texts(await tokens(one)) == cold


async def test_all_prompts_begin_with_what_a_warm_generator_has_read(model: OpenVinoModel) -> None:
    watched = Watched(model, lambda cancelled: None)
    one = LocalGenerator(watched, "SmolLM2", prompt_tokens=1500, answer_tokens=4, sampling=Sampling(0.8, 0))
    await one.warm()
    await tokens(one)
    (beginning,), (prompt,) = watched.ahead, watched.asked
    assert prompt.startswith(beginning)
    assert REFERENCES[0].text not in beginning
    assert "The references do not say" in beginning
    assert beginning.endswith(tuple(model.control_tokens))


@pytest.mark.parametrize("n", [1, 3])
async def test_a_refusal_is_chosen_by_its_probability(model: OpenVinoModel, n: int) -> None:
    def refusing(least: float, form: PromptForm | None = None) -> LocalGenerator:
        sampling = Sampling(0.8, 0)
        return LocalGenerator(
            model, "SmolLM2", prompt_tokens=300, answer_tokens=8, sampling=sampling, form=form, refusal=least
        )

    sure = refusing(1e-30)
    assert texts(await tokens(sure, n)) == dict.fromkeys(range(n), REFUSAL)
    found = texts(await tokens(refusing(1.0), n))
    assert len(found) == n
    assert not any(text.startswith("The references") for text in found.values())
    assert texts(await tokens(refusing(1.0), n)) == found
    assert REFUSAL not in texts(await tokens(refusing(1e-30, WEBGLM), n)).values()


async def test_it_refuses_sooner_where_no_sentence_seems_to_answer(model: OpenVinoModel) -> None:
    asked = LocalGenerator(model, "SmolLM2", prompt_tokens=300, answer_tokens=8, sampling=Sampling(0.8, 0))
    (logs,) = await asked.likelihoods(asked.messages(QUESTION, REFERENCES), [REFUSAL])
    generator = LocalGenerator(
        model,
        "SmolLM2",
        prompt_tokens=300,
        answer_tokens=8,
        sampling=Sampling(0.8, 0),
        refusal=2 * math.exp(sum(logs)),
    )

    async def written(likely: float | None) -> str:
        return "".join([t.text async for t in generator.generate(QUESTION, REFERENCES, 1, likely=likely)])

    assert await written(0.7) == REFUSAL
    assert await written(0.3) == REFUSAL
    assert await written(None) == await written(0.9) != REFUSAL


async def test_a_model_that_would_refuse_answers_below_the_limit(model: OpenVinoModel) -> None:
    def complete(refusal: RefusalRule | None) -> str:
        written: list[int] = []
        model.write(
            model.render([{"role": "user", "content": f"Repeat this sentence and nothing else: {REFUSAL}"}]),
            1,
            most=12,
            sampling=Sampling(0.8, 0),
            seen=lambda candidate, tokens: written.extend(tokens),
            cancelled=threading.Event(),
            refusal=refusal,
        )
        return model.decode(written)

    assert complete(None).startswith("The references")
    assert complete(RefusalRule(REFUSAL, REFUSAL_BEGINNINGS, 0.01)) == REFUSAL
    kept = complete(RefusalRule(REFUSAL, REFUSAL_BEGINNINGS, 1.0))
    assert kept
    assert " ".join(kept.split()[:2]) not in REFUSAL_BEGINNINGS


async def test_a_completion_is_greedy_or_drawn_by_its_seed(model: OpenVinoModel) -> None:
    completer = LocalCompleter(model, "SmolLM2")
    messages = [{"role": "user", "content": "Name an animal."}]

    async def text(sampling: Sampling) -> str:
        return (await completer.complete(messages, most=12, sampling=sampling)).text

    greedy, drawn = Sampling(0.8, 0, 0.0), Sampling(0.8, 1, 0.0, single=True)
    assert await text(greedy) == await text(greedy._replace(seed=4))
    assert len({await text(drawn._replace(seed=seed)) for seed in (1, 2, 3)}) > 1
    assert await text(drawn) == await text(drawn)


async def test_a_completion_says_whether_it_was_cut(model: OpenVinoModel) -> None:
    completer = LocalCompleter(model, "SmolLM2")
    messages = [{"role": "user", "content": "Name an animal."}]
    whole = await completer.complete(
        messages, most=20, sampling=Sampling(0.8, 0, 0.0), grammar='root ::= "cat" | "dog"'
    )
    assert (whole.text in {"cat", "dog"}, whole.cut) == (True, False)
    cut = await completer.complete(messages, most=2, sampling=Sampling(0.8, 0, 0.0))
    assert (cut.tokens, cut.cut) == (2, True)


def test_an_encoder_is_no_generator(minilm_folder: Path) -> None:
    with pytest.raises(ModelError, match="cannot be used as a generator") as caught:
        open_openvino(minilm_folder, "a model", threads=1)
    assert "--generator extractive" in caught.value.hint


def test_an_empty_folder_is_no_generator(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be used as a generator"):
        open_openvino(tmp_path, "a model", threads=1)


def test_likelihoods_depend_on_the_prompt_and_not_on_other_texts(model: OpenVinoModel) -> None:
    prompt = model.render([{"role": "user", "content": "What is the capital of France?"}])
    texts = ["The capital of France is Paris.", "The capital of France is Berlin.", "The"]
    paris, berlin, first = model.likelihoods(prompt, texts)
    assert len(paris) == len(model.encode(texts[0]))
    assert max(*paris, *berlin) <= 0
    assert sum(paris) > sum(berlin)
    assert paris[: len(first)] == pytest.approx(first, abs=1e-4)
    assert paris[:4] == pytest.approx(berlin[:4], abs=1e-4)
    (again,) = model.likelihoods(prompt, texts[1:2])
    assert again == pytest.approx(berlin, abs=1e-3)
    (elsewhere,) = model.likelihoods(model.render([{"role": "user", "content": "Why?"}]), texts[:1])
    assert sum(elsewhere) < sum(paris)
