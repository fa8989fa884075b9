"""The probabilities of a language model's first token, for questions that one word answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from citewell.core.build_cache import OnStep
from citewell.core.conversion import converted
from citewell.core.errors import ModelError
from citewell.core.gguf import DESCRIPTION, TEMPLATE
from citewell.core.models.obtaining import ensure_weights
from citewell.generator.decoder import PagedDecoder
from citewell.generator.decoding import share
from citewell.generator.openvino import chat_template
from citewell.generator.prompt import Message
from citewell.generator.resolve import packaged_base, resolve


class FirstTokenModel:
    """A GGUF model in OpenVINO that computes the logits of the first token after a prompt."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        """Load the model in a folder that `citewell.core.conversion.converted` filled."""
        import openvino_genai

        self._bos: str = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["bos"]
        self._template = chat_template((folder / TEMPLATE).read_text(encoding="utf-8"))
        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        self._decoder = PagedDecoder(folder, threads=threads)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist()
        return tokens

    def shares(self, messages: Sequence[Message], words: Sequence[Sequence[str]]) -> tuple[list[float], int]:
        """Return the probability of each group of words, and the number of the prompt's tokens.

        The probability of a group is that of its words' first tokens, as a share of all groups' sum.
        """
        prompt = self._template.render(
            messages=messages, add_generation_prompt=True, bos_token=self._bos, enable_thinking=False
        )
        ids = self.encode(prompt)
        self._decoder.begin()
        (logits,) = self._decoder.read([ids])
        groups = [{self.encode(word)[0] for word in group} for group in words]
        return share(logits[0], groups), len(ids)


def open_first_token(
    name: str, cache_dir: Path, *, threads: int, on_step: OnStep = lambda name, step: None
) -> FirstTokenModel:
    """Load the language model `name`, a packaged model or a GGUF file, after a single conversion.

    Raises `ModelError` for a model that OpenVINO does not run.
    """
    ensure_weights(packaged_base(name), on_step)
    source = resolve(name)
    if not source.is_gguf:
        raise ModelError(
            f"The model {name} gives no probabilities of its first token.",
            "Use a GGUF file, a packaged model, or openai:MODEL.",
        )
    folder = converted(source.base, cache_dir, on_step, adapter=source.adapter)
    try:
        return FirstTokenModel(folder, threads=threads)
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The model {name} cannot be used: {error}", "Use the GGUF file of an instruction-tuned model."
        ) from error
