"""Conversion of a dual encoder for the engines, and the choice of the fastest, in a process of its own."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from citewell.core.build_cache import begin, fill
from citewell.core.errors import ModelError
from citewell.core.weights import verify
from citewell.retriever.encoder.engines import choice
from citewell.retriever.encoder.engines.torch import has_gpu, load_model, load_tokenizer
from citewell.retriever.encoder.form import EncoderForm, TowerForm, write_form
from citewell.retriever.encoder.resolve import Tower, Towers, packaged_base, resolve


def convert(name: str, engine: str, threads: int, target: Path) -> None:
    """Write the encoder `name` into the folder `target`, for `engine`, or for the fastest if that is `auto`.

    `auto` is PyTorch where there is a GPU, and otherwise the engine that `choice.fastest` takes when each has
    been measured on `threads` threads. Towers that are equal are converted once.
    """
    begin("verifying")
    verify(packaged_base(name))
    begin("reading")
    towers = resolve(name)
    known = digests(towers)
    forms = [tower_form(tower, known[tower][:16]) for tower in towers]
    if engine == "auto" and has_gpu():
        write_form(EncoderForm("torch", digest(towers, known), {}, *forms), target)
        return
    # Two folders may hold the same weights.
    distinct = {key: (tower, load_model(tower)) for key, tower in {known[t][:16]: t for t in towers}.items()}
    begin("converting")
    wanted = choice.CONVERTED if engine == "auto" else (engine,)
    found, failures = [], []
    for one in wanted:
        try:
            for key, (tower, model) in distinct.items():
                (target / key).mkdir(exist_ok=True)
                choice.convert(one, tower, model, target / key / one)
            found.append(one)
        except ModelError as error:
            failures.append(error)
    if not found:
        raise failures[0]
    begin("saving")
    for key, (tower, _) in distinct.items():
        load_tokenizer(tower).save(str(target / key / "tokenizer.json"))
    rates = _rates(found, target, forms[1], threads) if len(found) > 1 else {}
    chosen = choice.fastest(rates) if rates else found[0]
    for key in distinct:
        for other in set(wanted) - {chosen}:
            shutil.rmtree(target / key / other, ignore_errors=True)
    write_form(EncoderForm(chosen, digest(towers, known), rates, *forms), target)


def _rates(engines: Sequence[str], target: Path, form: TowerForm, threads: int) -> dict[str, float]:
    folder = target / form.folder
    opened = {name: choice.open_engine(name, folder / name, form.pooling, threads) for name in engines}
    return choice.rates(opened, form.limit)


def digests(towers: Towers) -> dict[Tower, str]:
    """The digest of each distinct tower, for which its weights are read."""
    return {tower: tower.digest for tower in dict.fromkeys(towers)}


def digest(towers: Towers, found: Mapping[Tower, str]) -> str:
    """Stands for all that decides the vectors of a dual encoder, given what `digests` found."""
    return hashlib.sha256(" ".join(found[tower] for tower in towers).encode()).hexdigest()


def tower_form(tower: Tower, folder: str) -> TowerForm:
    """How `tower` is to be run, its converted weights being in `folder`."""
    return TowerForm(folder, tower.pooling, tower.normalise, tower.limit, tower.dimension, tower.prompt)


def main(arguments: list[str]) -> int:
    """Convert one encoder: its name, the engine, the number of threads and the folder to fill."""
    name, engine, threads, target = arguments
    return fill(name, Path(target), lambda folder: convert(name, engine, int(threads), folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
