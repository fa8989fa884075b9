"""Loading of a dual encoder by name, after a single conversion for OpenVINO."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from citewell.core.build_cache import OnStep, built
from citewell.core.models.obtaining import ensure_weights
from citewell.retriever.encoder.calibration import measure_scale
from citewell.retriever.encoder.conversion import digests, encoder_digest, tower_form
from citewell.retriever.encoder.converted import open_converted
from citewell.retriever.encoder.engines.engine import Engine
from citewell.retriever.encoder.engines.torch import TorchEngine, has_gpu, load_model
from citewell.retriever.encoder.form import read_form
from citewell.retriever.encoder.resolve import Tower, cache_key, packaged_base, resolve
from citewell.retriever.encoder.tokenizer import read_tokenizer
from citewell.retriever.encoder.two_towers import Side, TwoTowers

EngineName = Literal["auto", "openvino", "torch"]


def load_encoder(
    name: str,
    cache_dir: Path,
    *,
    max_tokens: int = 256,
    threads: int,
    engine: EngineName = "auto",
    on_step: OnStep = lambda name, step: None,
) -> TwoTowers:
    """Load the encoder `name` (see `resolve`), to run on `threads` CPU threads.

    The engine `auto` is PyTorch if it is installed and finds an NVIDIA GPU, and OpenVINO otherwise. For
    OpenVINO the encoder is converted at its first use, and `on_step` is called with each step; later starts
    read the result from `cache_dir`. Texts are cut to `max_tokens` tokens or to the model's limit, whichever
    is less.

    Raises `ModelError` when the model is missing, damaged, or not usable as a dual encoder, and `InputError`
    for the engine `torch` where PyTorch is not installed.
    """
    ensure_weights(packaged_base(name), on_step)
    if engine == "torch" or (engine == "auto" and has_gpu()):
        return _in_torch(name, max_tokens, threads)
    folder = encoder_folder(name, cache_dir, engine=engine, on_step=on_step)
    form = read_form(folder)
    if form.engine == "torch":
        return _in_torch(name, max_tokens, threads)
    return open_converted(name, folder, form, max_tokens, threads)


def encoder_folder(
    name: str, cache_dir: Path, *, engine: EngineName, on_step: OnStep = lambda name, step: None
) -> Path:
    """Return the folder of the converted weights of `name`, after converting them if it does not exist."""
    # `int8-scaled` distinguishes them from the weights of other forms that older releases kept here.
    target = cache_dir / "models" / f"{Path(name).name}-{cache_key(name)}-{engine}-int8-scaled"
    return built(name, target, ["citewell.retriever.encoder.conversion", name, engine], on_step)


def _in_torch(name: str, max_tokens: int, threads: int) -> TwoTowers:
    towers = resolve(name)
    known = digests(towers)
    engines: dict[str, Engine] = {}

    def side(tower: Tower) -> Side:
        key = known[tower.model]
        if key not in engines:
            engines[key] = TorchEngine(load_model(tower), tower.pooling, threads=threads)
        tokenizer = read_tokenizer(tower.tokenizer)
        tokenizer.no_padding()
        tokenizer.enable_truncation(min(max_tokens, tower.limit))
        return Side(tower_form(tower, key), tokenizer, engines[key])

    digest = encoder_digest(towers, known)
    encoder = TwoTowers(name, digest, max_tokens, side(towers.question), side(towers.passage))
    encoder.scale = measure_scale(encoder)
    return encoder
