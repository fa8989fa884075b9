"""A generator's weights in the form that runs fastest, built once and kept in the cache folder.

Generators are GGUF files, which run on OpenVINO on the CPU (see `citewell.core.gguf`), without PyTorch;
a LoRA adapter is merged before. Encoders are converted by `citewell.retriever.encoder.conversion`.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.build_cache import OnStep, begin, built, fill
from citewell.core.errors import ModelError
from citewell.core.weights import locate, verify

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from citewell.core.gguf_weights import Change

_FORM = "openvino-4"  # changes with what is written, so that an older folder is not used


def converted(
    name: str,
    cache: Path,
    on_step: OnStep = lambda name, step: None,
    *,
    adapter: Path | None = None,
) -> Path:
    """Return the folder with OpenVINO's files for the GGUF file `name`, built when it is not there yet.

    `adapter` is the folder of a LoRA adapter, in the PEFT format, that is merged into the weights.
    `on_step(name, step)` is called with each of `citewell.core.build_cache.STEPS` while the model is built.

    Raises `ModelError` when the weights are missing, damaged, or of an architecture that cannot be run, and
    when the adapter does not fit them.
    """
    shown, key = Path(name).name, locate(name).fingerprint
    if adapter is not None:
        shown, key = adapter.name, f"{key}-{_digest(adapter)}"
    target = cache / "models" / f"{shown}-{key}-{_FORM}"
    return built(
        shown, target, ["citewell.core.conversion", name, *([str(adapter)] if adapter else [])], on_step
    )


def _digest(adapter: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(adapter.glob("adapter_*")):
        digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _convert(name: str, adapter: Path | None, target: Path) -> None:
    from citewell.core.gguf import (
        describe,
        layer_names,
        open_gguf,
        save_openvino,
        weight_bytes,
        write_numbered,
    )
    from citewell.core.gguf_weights import fill_weights
    from citewell.core.memory import check_memory, language_model_memory

    begin("verifying")
    gguf = locate(name).path
    verify(name)
    begin("reading")
    assert gguf is not None
    numbered = target / "numbered.gguf"
    reader = open_gguf(gguf)
    check_memory(gguf.name, language_model_memory(weight_bytes(reader), converting=True))
    try:
        describe(reader, target)
        write_numbered(reader, numbered)
        begin("converting")
        save_openvino(numbered)
        numbered.unlink()
        begin("saving")
        layers = {name: layer for layer, name in layer_names(reader).items()}
        change = _merging(reader, adapter) if adapter else None
        fill_weights(target / "openvino_model.xml", reader, layers, change)
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        raise ModelError(
            f"The model {gguf} cannot be converted: {error}",
            "Use another GGUF file of this model, or --generator extractive.",
        ) from error


def _merging(reader: Any, adapter: Path) -> Change:
    """Return what an adapter adds to the weights of an open GGUF file, by their names."""
    from citewell.core.gguf import in_gguf_order, layer_names
    from citewell.core.lora import check_shape, misfit, read_adapter

    names = layer_names(reader)
    shapes = {tensor.name: tuple(int(n) for n in reversed(tensor.shape)) for tensor in reader.tensors}
    changes = {}
    for path, change in read_adapter(adapter).items():
        if path not in names:
            raise misfit(adapter, f"the model has no linear layer {path}.")
        check_shape(adapter, path, change, shapes[names[path]])
        changes[names[path]] = change

    def added(name: str) -> NDArray[np.float32] | None:
        return in_gguf_order(reader, name, changes[name].delta()) if name in changes else None

    return added


def main(arguments: list[str]) -> int:
    """Convert one model: its name, the folder of an adapter if there is one, and the folder to fill."""
    name, *adapter, target = arguments
    merged = Path(adapter[0]) if adapter else None
    return fill(name, Path(target), lambda folder: _convert(name, merged, folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
