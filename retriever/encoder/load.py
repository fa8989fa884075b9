"""Loading a dual encoder by its name, converted for this machine once."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import Literal

from citewell.core.build_cache import OnStep, built
from citewell.core.errors import ModelError
from citewell.retriever.encoder.conversion import digest, digests, tower_form
from citewell.retriever.encoder.engines.choice import open_engine
from citewell.retriever.encoder.engines.engine import Engine
from citewell.retriever.encoder.engines.torch import TorchEngine, load_model, load_tokenizer
from citewell.retriever.encoder.form import EncoderForm, TowerForm, read_form
from citewell.retriever.encoder.resolve import PoolingMode, Tower, cache_key, resolve
from citewell.retriever.encoder.two_towers import Side, TwoTowers, open_tokenizer

EngineName = Literal["auto", "ct2", "onnx", "torch"]


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

    At its first use the encoder is converted, and with the engine `auto` each engine is measured and the
    fastest kept; `on_step` is told of the steps. Later starts read what is kept in `cache_dir`. Texts are cut
    to `max_tokens` tokens, or to the model's own limit where that is less.

    Raises `ModelError` when the model is missing, damaged, or none that can be used as a dual encoder.
    """
    form = None
    if engine != "torch":
        folder = encoder_folder(name, cache_dir, threads=threads, engine=engine, on_step=on_step)
        form = read_form(folder)
    if form is None or form.engine == "torch":
        return _in_torch(name, max_tokens, threads)
    return _converted(name, folder, form, max_tokens, threads)


def encoder_folder(
    name: str, cache_dir: Path, *, threads: int, engine: EngineName, on_step: OnStep = lambda name, step: None
) -> Path:
    """The folder of the converted weights of `name`, converted now if it is not there."""
    # Which engine is fastest depends on the processor: a cache that computers share has a choice for each.
    kind = f"auto-{_processor()}" if engine == "auto" else engine
    target = cache_dir / "models" / f"{Path(name).name}-{cache_key(name)}-{kind}"
    return built(name, target, ["citewell.retriever.encoder.conversion", name, engine, str(threads)], on_step)


def _converted(name: str, folder: Path, form: EncoderForm, max_tokens: int, threads: int) -> TwoTowers:
    engines: dict[str, Engine] = {}

    def side(tower: TowerForm) -> Side:
        if tower.folder not in engines:
            engines[tower.folder] = _open(form.engine, folder / tower.folder, tower.pooling, threads)
        tokenizer = open_tokenizer(folder / tower.folder / "tokenizer.json", min(max_tokens, tower.limit))
        return Side(tower, tokenizer, engines[tower.folder])

    return TwoTowers(name, form.digest, max_tokens, side(form.question), side(form.passage))


def _open(engine: str, folder: Path, pooling: PoolingMode, threads: int) -> Engine:
    try:
        return open_engine(engine, folder / engine, pooling, threads)
    except Exception as error:  # each library raises its own
        raise ModelError(
            f"The converted weights in {folder} cannot be used by the engine {engine}: {error}",
            f"Remove the folder {folder.parent}; the next start converts them again.",
        ) from error


def _in_torch(name: str, max_tokens: int, threads: int) -> TwoTowers:
    towers = resolve(name)
    known = digests(towers)
    engines: dict[str, Engine] = {}

    def side(tower: Tower) -> Side:
        key = known[tower]
        if key not in engines:
            engines[key] = TorchEngine(load_model(tower), tower.pooling, threads=threads)
        tokenizer = load_tokenizer(tower)
        tokenizer.no_padding()
        tokenizer.enable_truncation(min(max_tokens, tower.limit))
        return Side(tower_form(tower, key), tokenizer, engines[key])

    return TwoTowers(name, digest(towers, known), max_tokens, side(towers.question), side(towers.passage))


def _processor() -> str:
    """Stands for the kind of processor: its name and what it can do."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    known = sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))})
    return hashlib.sha256(f"{platform.machine()} {platform.processor()} {known}".encode()).hexdigest()[:8]
