"""A packaged or GGUF language model as float32 weights for transformers, for training and for comparisons."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from citewell.core.build_cache import OnStep, begin, built, fill
from citewell.core.errors import ModelError
from citewell.core.gguf_header import check_header
from citewell.core.models.reasons import reason_of
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.weights import locate, verify


def dequantized(name: str, cache: Path, on_step: OnStep = lambda name, step: None) -> Path:
    """Return the Hugging Face folder of the GGUF file `name`, with its tokenizer.

    The folder is built if it does not exist yet. Raises `ModelError` when the weights are missing, damaged,
    or of a kind that transformers cannot read.
    """
    need_packages("A language model in full precision", "train", "torch", "transformers")
    target = cache / "models" / f"{Path(name).name}-{locate(name).fingerprint}-float32"
    return built(name, target, ["citewell.core.dequantization", name], on_step)


def _convert(name: str, target: Path) -> None:
    import torch
    import transformers

    begin("verifying")
    file = locate(name).path
    verify(name)
    if file is None or file.suffix != ".gguf":
        raise ModelError(f"The model {name} is not a GGUF file.", "Use it as it is.")
    begin("reading")
    options: dict[str, Any] = {"gguf_file": file.name}
    try:
        check_header(file)
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
            file.parent, **options, trust_remote_code=TRUST_REMOTE_CODE
        )
        begin("converting")
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent,
            **options,
            quantization_config=transformers.GgufConfig(dequantize=True),
            dtype=torch.float32,
            trust_remote_code=TRUST_REMOTE_CODE,
        )
    except Exception as error:  # safetensors, pickle and the hub raise errors of any type
        raise ModelError(
            f"transformers cannot read {file}: {reason_of(error)}", "Use another GGUF file."
        ) from error
    begin("saving")
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def main(arguments: list[str]) -> int:
    """Write one model: its name and the folder to fill."""
    name, target = arguments
    return fill(name, Path(target), lambda folder: _convert(name, folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
