"""A causal language model on OpenVINO GenAI, on the CPU: text to tokens, tokens to tokens, and back.

Answers repeat their references, so tokens are guessed by looking the last ones up in the prompt, and several
are checked at once (https://github.com/apoorvumang/prompt-lookup-decoding). Of eight ways to run SmolLM2-135M
on two cores, measured by `benchmarks.generation_engines`, OpenVINO
(https://openvinotoolkit.github.io/openvino.genai/) wrote fastest.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.gguf import DESCRIPTION, TEMPLATE
from citewell.core.memory import check_memory, language_model_memory
from citewell.generator.causal import TOP_P, Sampling, Seen
from citewell.generator.prompt import Message

# Tokens that are guessed at once, and the longest sequence that is looked up.
_GUESSED, _LOOKED_UP = 5, 3
# The cache of keys and values holds a prompt and the candidates that are written together.
_CONTEXT, _CACHED_TOKENS, _BLOCK, _TOGETHER = 4096, 8192, 32, 16
# Characters that never exceed the 8,192 tokens at which the tokenizer drops the start of a text.
_PIECE = 2048


def open_openvino(folder: Path, name: str, *, threads: int) -> OpenVinoModel:
    """Load the model `name` from a folder that `citewell.core.conversion.converted` filled.

    Raises `ModelError` if the folder holds no causal language model, and `MemoryTooSmallError`.
    """
    weights = folder / "openvino_model.bin"
    if weights.is_file():
        check_memory(name, language_model_memory(weights.stat().st_size))
    try:
        return OpenVinoModel(folder, threads=threads)
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The model {name} cannot be used as a generator: {error}",
            "Use the GGUF file of an instruction-tuned model, or --generator extractive.",
        ) from error


class OpenVinoModel:
    """The model in a folder of OpenVINO files; one prompt at a time, others wait for their turn."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        """Load the model and its tokenizer.

        Raises `RuntimeError`, `OSError` or `ValueError` if the folder holds none.
        """
        import openvino_genai

        about = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        self.context: int = min(about["context"], _CONTEXT)
        self.control_tokens: Sequence[str] = about["control"]
        self._stop: list[int] = about["stop"]
        self._bos: str = about["bos"]
        self._template = chat_template((folder / TEMPLATE).read_text(encoding="utf-8"))
        scheduler = openvino_genai.SchedulerConfig()
        # Writing stood still with kept prompts, in 2 of some 200 answers of a 1.5B model.
        scheduler.enable_prefix_caching = False
        scheduler.num_kv_blocks = _CACHED_TOKENS // _BLOCK
        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        self._pipeline = openvino_genai.ContinuousBatchingPipeline(
            str(folder),
            self._tokenizer,
            scheduler,
            "CPU",
            prompt_lookup=True,
            # With fewer bits, greedy answers would not repeat.
            KV_CACHE_PRECISION="f32",
            INFERENCE_NUM_THREADS=threads,
            # Else bfloat16 where the processor has it: as fast, and tokens differ from float32's sooner.
            INFERENCE_PRECISION_HINT="f32",
        )
        self._genai = openvino_genai
        self._turn = threading.Lock()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, for counting and cutting; a long text may have some too many."""
        tokens: list[int] = []
        for start in range(0, len(text), _PIECE):
            tokens += self._encode(text[start : start + _PIECE]).data[0].tolist()
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without control tokens and without an incomplete last character."""
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def render(self, messages: Sequence[Message]) -> str:
        """Render messages by the model's chat template, up to the answer's first token."""
        text: str = self._template.render(
            messages=messages,
            add_generation_prompt=True,
            bos_token=self._bos,
            enable_thinking=False,  # Qwen 3 would spend the answer's tokens on thinking aloud
        )
        return text

    def write(
        self,
        prompt: str,
        n: int,
        *,
        most: int,
        sampling: Sampling,
        seen: Seen,
        cancelled: threading.Event,
        grammar: str = "",
    ) -> None:
        """Write `n` continuations of at most `most` tokens, each ending before one that ends turns.

        They are seen as they are written. Several are sampled together.
        Setting `cancelled` stops the model at its next token.
        """
        with self._turn:
            if cancelled.is_set():
                return
            encoded = self._encode(prompt)
            if n == 1:
                self._stream(encoded, self._configured(most, sampling, grammar), seen, cancelled)
                return
            several = [sampling._replace(seed=sampling.seed + one, single=True) for one in range(n)]
            configs = [self._configured(most, one, grammar) for one in several]
            for first in range(0, n, _TOGETHER):
                self._stream_several(encoded, configs[first : first + _TOGETHER], first, seen, cancelled)

    def _configured(self, most: int, sampling: Sampling, grammar: str = "") -> Any:
        config = self._genai.GenerationConfig(
            max_new_tokens=most,
            frequency_penalty=sampling.frequency_penalty,
            stop_token_ids=set(self._stop),
            num_assistant_tokens=_GUESSED,
            max_ngram_size=_LOOKED_UP,
        )
        if grammar:
            structure = self._genai.StructuredOutputConfig()
            structure.grammar = grammar
            config.structured_output_config = structure
        if sampling.single:
            config.do_sample, config.temperature, config.top_p = True, sampling.temperature, TOP_P
            config.rng_seed = sampling.seed
        return config

    def _stream(self, prompt: Any, config: Any, seen: Seen, cancelled: threading.Event) -> None:
        status = self._genai.StreamingStatus

        class Streamer(self._genai.StreamerBase):  # type: ignore[misc, name-defined]
            def write(self, token: int | list[int]) -> Any:
                seen(0, token if isinstance(token, list) else [token])
                return status.CANCEL if cancelled.is_set() else status.RUNNING

            def end(self) -> None:
                pass

        self._pipeline.generate([prompt], [config], Streamer())

    def _stream_several(
        self, prompt: Any, configs: Sequence[Any], first: int, seen: Seen, cancelled: threading.Event
    ) -> None:
        # generate() would stream only one. step() holds the GIL: other threads run between the tokens.
        handles = [self._pipeline.add_request(number, prompt, one) for number, one in enumerate(configs)]
        while self._pipeline.has_non_finished_requests():
            if cancelled.is_set():
                for handle in handles:
                    handle.cancel()
            self._pipeline.step()
            for candidate, handle in enumerate(handles):
                while not cancelled.is_set() and handle.can_read():
                    for output in handle.read().values():
                        seen(first + candidate, output.generated_ids)

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False).input_ids


def chat_template(source: str) -> Any:
    """Return the template of a model's chats, which may be anybody's, in a sandbox."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)
