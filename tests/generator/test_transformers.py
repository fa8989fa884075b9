"""The transformers backend with a tiny real model, against transformers' own `generate`."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import torch

from citewell.core.errors import ModelError
from citewell.core.types import Reference
from citewell.generator.causal import PromptTooLongError, RefusalRule, Sampling
from citewell.generator.local import LocalGenerator
from citewell.generator.transformers import RowChoice, TransformersModel, open_transformers

from .tiny import CONTROL, NO_SYSTEM, write_tiny

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
REFERENCE = Reference(1, "https://example.org/", "Page", "Air scatters light.", 0.8)
GREEDY = Sampling(1.0, 0, frequency_penalty=0.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def model(folder: Path) -> TransformersModel:
    return open_transformers(str(folder), "tiny", threads=1)


def write(
    model: TransformersModel,
    prompt: str,
    n: int = 1,
    most: int = 20,
    sampling: Sampling = GREEDY,
    grammar: str = "",
) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(n)]
    model.write(
        prompt,
        n,
        most=most,
        sampling=sampling,
        seen=lambda candidate, tokens: found[candidate].extend(tokens),
        cancelled=threading.Event(),
        grammar=grammar,
    )
    return found


def expected(folder: Path, prompt: str, most: int) -> Any:
    """What `generate` writes greedily, up to the end of the turn."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    ids = torch.tensor([tokenizer.encode(prompt, add_special_tokens=False)])
    written = model.generate(ids, max_new_tokens=most, do_sample=False)[0, ids.shape[1] :].tolist()
    end = tokenizer.eos_token_id
    return written[: written.index(end)] if end in written else written


@pytest.mark.parametrize("prompt", ["Why is the sky blue?", "a", "long " * 80])
def test_greedy_tokens_are_those_of_generate(model: TransformersModel, folder: Path, prompt: str) -> None:
    assert write(model, prompt) == [expected(folder, prompt, 20)]


def test_a_prompt_of_several_pieces_is_read_as_one(folder: Path, tmp_path: Path) -> None:
    longer = write_tiny(tmp_path, positions=4096)
    prompt = "All of these words are read. " * 40  # more than two pieces of 512 bytes
    assert write(open_transformers(str(longer), "tiny", threads=1), prompt) == [expected(longer, prompt, 20)]


def test_a_prompt_longer_than_the_context_is_refused(model: TransformersModel) -> None:
    with pytest.raises(PromptTooLongError, match=f"at most {model.context:,} together"):
        write(model, "x" * (model.context + 1))


def test_candidates_differ_and_depend_on_the_seed_alone(model: TransformersModel) -> None:
    first = write(model, "Why?", n=4, sampling=Sampling(1.0, 3))
    assert len({tuple(tokens) for tokens in first}) == 4
    assert write(model, "Why?", n=4, sampling=Sampling(1.0, 3)) == first
    assert write(model, "Why?", n=4, sampling=Sampling(1.0, 4)) != first


def test_sampling_follows_the_models_probabilities(model: TransformersModel) -> None:
    # Almost without temperature, every sample is the greedy answer: sharing the cache changes nothing.
    greedy = write(model, "Why?", most=30)
    assert write(model, "Why?", n=3, most=30, sampling=Sampling(0.001, 0, 0.0)) == greedy * 3


def test_a_candidate_that_ends_leaves_the_others_alone(model: TransformersModel) -> None:
    found = write(model, "Why?", n=16, most=200, sampling=Sampling(1.5, 0))
    lengths = {len(tokens) for tokens in found}
    assert len(lengths) > 2, "candidates of this model end at different places"
    assert max(lengths) <= 200


def test_the_frequency_penalty_keeps_from_repeating(model: TransformersModel) -> None:
    plain = write(model, "aaaa", most=60)[0]
    penalized = write(model, "aaaa", most=60, sampling=Sampling(1.0, 0, 2.0))[0]
    assert len(set(penalized)) > len(set(plain))


def test_a_grammar_holds_every_candidate(model: TransformersModel) -> None:
    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    grammar = 'root ::= "Back" | "Search " [a-z]{3,9} | "Quote: naïve━blue"'
    for n, sampling in ((1, GREEDY), (6, Sampling(1.0, 0, 0.0)), (1, Sampling(1.0, 7, 0.0, single=True))):
        for text in map(model.decode, write(model, "Why?", n, 60, sampling, grammar)):
            assert re.fullmatch(r"Back|Search [a-z]{3,9}|Quote: naïve━blue", text)


def test_a_single_candidate_can_be_sampled(model: TransformersModel) -> None:
    drawn = [write(model, "Why?", sampling=Sampling(1.0, seed, 0.0, single=True)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_control_tokens_and_rendering(model: TransformersModel) -> None:
    assert set(CONTROL) <= set(model.control_tokens)
    assert model.render(MESSAGES) == "<|user|>Be brief.<|end|><|user|>Why?<|end|><|assistant|>"
    assert model.decode(model.encode("naïve 🫐")) == "naïve 🫐"
    assert model.decode(model.encode("naïve 🫐")[:-1]) == "naïve "


def test_a_template_that_knows_no_system_message(tmp_path: Path) -> None:
    model = open_transformers(str(write_tiny(tmp_path, template=NO_SYSTEM)), "tiny", threads=1)
    assert model.render(MESSAGES) == "<|user|>Be brief.\n\nWhy?<|end|><|assistant|>"


def test_a_refusal_is_chosen_by_its_probability(model: TransformersModel) -> None:
    def written(n: int, refusal: RefusalRule | None) -> list[str]:
        found: list[list[int]] = [[] for _ in range(n)]
        model.write(
            "Why?",
            n,
            most=5,
            sampling=GREEDY,
            seen=lambda candidate, ids: found[candidate].extend(ids),
            cancelled=threading.Event(),
            refusal=refusal,
        )
        return [model.decode(ids) for ids in found]

    (free,) = written(1, None)
    likelihood = math.exp(sum(model.likelihoods("Why?", [free])[0]))
    beginning = model.decode(model.encode(free)[:2])
    assert written(2, RefusalRule(free, (beginning,), likelihood * 0.99)) == [free, free]
    (other,) = written(1, RefusalRule(free, (beginning,), likelihood * 1.01))
    assert other
    assert not other.startswith(beginning)


def test_only_rows_that_begin_with_the_forbidden_tokens_are_kept_from_them() -> None:
    choose = RowChoice(torch.zeros(2, 9), GREEDY, [(5, 7), (5, 8)], sampled=False)
    assert choose(torch.eye(9)[[5, 3]]).tolist() == [5, 3]
    kept, free = choose(torch.eye(9)[[7, 8]]).tolist()
    assert (kept in (7, 8), free) == (False, 8)


async def test_closing_stops_the_model(folder: Path) -> None:
    model = open_transformers(str(folder), "tiny", threads=1)
    generator = LocalGenerator(model, "tiny", prompt_tokens=300, answer_tokens=128, sampling=GREEDY)
    async with aclosing(generator.generate("Why?", [REFERENCE], 2)) as stream:
        await anext(stream)
    async with asyncio.timeout(60):
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.01)


def test_work_that_was_cancelled_writes_nothing(model: TransformersModel) -> None:
    cancelled = threading.Event()
    cancelled.set()
    seen: list[Sequence[int]] = []
    model.write("Why?", 2, most=9, sampling=GREEDY, seen=lambda n, ids: seen.append(ids), cancelled=cancelled)
    assert not seen


def test_an_adapter_is_merged(folder: Path, tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, PeftModel, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(2)
    base: Any = AutoModelForCausalLM.from_pretrained(folder)
    tuned: Any = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "up_proj"]))
    for name, parameter in tuned.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    tuned.save_pretrained(str(tmp_path / "adapter"))
    merged = PeftModel.from_pretrained(
        AutoModelForCausalLM.from_pretrained(folder), str(tmp_path / "adapter")
    ).merge_and_unload()
    whole = tmp_path / "merged"
    write_tiny(whole)
    merged.save_pretrained(str(whole))
    found = open_transformers(str(folder), "tuned", threads=1, adapter=tmp_path / "adapter")
    assert write(found, "Why is it so?") == [expected(whole, "Why is it so?", 20)]
    assert write(found, "Why is it so?") != [expected(folder, "Why is it so?", 20)]


def test_an_encoder_writes_no_text(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=20, **sizes)).save_pretrained(str(tmp_path))
    with pytest.raises(ModelError, match="BertModel, which writes no text"):
        open_transformers(str(tmp_path), "an encoder", threads=1)


def test_a_model_that_was_not_tuned_to_follow_instructions(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no chat template") as caught:
        open_transformers(str(write_tiny(tmp_path, template=None)), "base", threads=1)
    assert "-Instruct" in caught.value.hint


def test_a_damaged_model(tmp_path: Path) -> None:
    weights = write_tiny(tmp_path) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError, match="cannot be used as a generator"):
        open_transformers(str(tmp_path), "damaged", threads=1)


def test_likelihoods_are_those_of_the_whole_text(model: TransformersModel, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    prompt, texts = model.render(MESSAGES), ["Air.", "It scatters.", "A"]
    found = model.likelihoods(prompt, texts)
    whole = AutoModelForCausalLM.from_pretrained(str(folder))
    for text, likelihoods in zip(texts, found, strict=True):
        asked, more = model.encode(prompt), model.encode(text)
        with torch.inference_mode():
            logits = whole(input_ids=torch.tensor([asked + more])).logits[0].log_softmax(-1)
        wanted = [float(logits[len(asked) - 1 + place, token]) for place, token in enumerate(more)]
        assert likelihoods == pytest.approx(wanted, abs=1e-4)
    with pytest.raises(PromptTooLongError):
        model.likelihoods(prompt, ["a" * 600])
