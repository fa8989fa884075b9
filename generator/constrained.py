"""Writing by a grammar, with OpenVINO GenAI (https://openvinotoolkit.github.io/openvino.genai/)."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from citewell.generator.causal import TOP_P, Sampling, Seen

# Tokens that are guessed at once, and the longest sequence that is looked up.
_GUESSED, _LOOKED_UP = 5, 3
# The cache of keys and values holds a prompt and the candidates that are written together.
_CACHED_TOKENS, _BLOCK, _TOGETHER = 8192, 32, 16


class ConstrainedWriter:
    """A model whose text follows a grammar."""

    def __init__(self, folder: Path, tokenizer: Any, *, threads: int, stop: Collection[int]) -> None:
        """Load the model of `folder`, whose turns end before a token of `stop`."""
        import openvino_genai

        scheduler = openvino_genai.SchedulerConfig()
        # Writing stood still with kept prompts, in 2 of some 200 answers of a 1.5B model.
        scheduler.enable_prefix_caching = False
        scheduler.num_kv_blocks = _CACHED_TOKENS // _BLOCK
        self._pipeline = openvino_genai.ContinuousBatchingPipeline(
            str(folder),
            tokenizer,
            scheduler,
            "CPU",
            prompt_lookup=True,
            KV_CACHE_PRECISION="f32",
            INFERENCE_NUM_THREADS=threads,
            INFERENCE_PRECISION_HINT="f32",
        )
        self._genai = openvino_genai
        self._stop = stop

    def write(
        self,
        prompt: Any,
        choices: Sequence[Sampling],
        grammar: str,
        *,
        most: int,
        seen: Seen,
        cancelled: threading.Event,
    ) -> None:
        """Continue the prompt's tokens once for each of `choices`, as `CausalModel.write` does."""
        configs = [self._configured(most, one, grammar) for one in choices]
        if len(configs) == 1:
            self._stream(prompt, configs[0], seen, cancelled)
            return
        for first in range(0, len(configs), _TOGETHER):
            self._stream_several(prompt, configs[first : first + _TOGETHER], first, seen, cancelled)

    def _configured(self, most: int, sampling: Sampling, grammar: str) -> Any:
        config = self._genai.GenerationConfig(
            max_new_tokens=most,
            frequency_penalty=sampling.frequency_penalty,
            stop_token_ids=set(self._stop),
            num_assistant_tokens=_GUESSED,
            max_ngram_size=_LOOKED_UP,
        )
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
