"""Model weights converted for CTranslate2, built once and kept in the cache folder.

CTranslate2 (https://opennmt.net/CTranslate2/) runs encoders and generators in int8 on the CPU,
without PyTorch in the process. The conversion does need PyTorch; it runs in a process of its own
(`python -m core.conversion`), so that its memory and its imports end with it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.errors import CitewellError, ModelError
from core.weights import Weights, locate, verify

STEPS = ("verifying", "reading", "converting", "saving")

# Files beside the weights that the tokenizer, the prompt and the pooling are read from.
_COMPANIONS = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "modules.json",
    "sentence_bert_config.json",
)


def converted(
    name: str,
    cache: Path,
    on_step: Callable[[str, str], None] = lambda name, step: None,
) -> Path:
    """The folder with the int8 CTranslate2 form of the model `name`, built when it is not there yet.

    `on_step(name, step)` is told of each of `STEPS` while the model is built. Two processes that ask for
    the same model build it once: the second waits. A build that was interrupted starts anew.

    Raises `ModelError` when the weights are missing, damaged, or of an architecture that
    CTranslate2 does not know.
    """
    from filelock import FileLock

    weights = locate(name)
    target = cache / "models" / f"{Path(name).name}-{weights.fingerprint}-int8"
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock")):
            if not target.is_dir():
                partial = target.with_suffix(".partial")
                shutil.rmtree(partial, ignore_errors=True)
                _run(weights, partial, on_step)
                partial.rename(target)
    except OSError as error:
        raise ModelError(
            f"The converted weights of {name} cannot be kept in {target.parent}: {error.strerror}.",
            "Free some space (about 150 MB), or set CITEWELL_CACHE_DIR to another folder.",
        ) from error
    return target


def _run(weights: Weights, target: Path, on_step: Callable[[str, str], None]) -> None:
    command = [sys.executable, "-m", "core.conversion", weights.name, str(target)]
    error = None
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,  # noqa: S603
    ):
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if step := message.get("step"):
                on_step(weights.name, step)
            else:
                error = ModelError(message["error"], message["hint"])
        process.wait()
        log.seek(0)
        lines = log.read().split("\n")
    if error is not None:
        raise error
    if process.returncode != 0:
        last = next((line for line in reversed(lines) if line.strip()), "no message")
        raise ModelError(
            f"Converting the weights of {weights.name} failed: {last}",
            "Run `citewell doctor` to see what is installed and what is missing.",
        )


def _convert(name: str, target: Path) -> None:
    """Build the CTranslate2 form of `name` in `target`; runs in the conversion's own process."""
    _tell(step="verifying")
    weights = locate(name)
    verify(name)
    _tell(step="reading")
    source = weights.path or _download(name)
    if source.suffix == ".gguf":
        source = _dequantise(source, target)
    _tell(step="converting")
    from ctranslate2.converters import TransformersConverter

    built = target / "built"
    try:
        TransformersConverter(str(source)).convert(str(built), quantization="int8")
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"The model {name} cannot be converted: {error}",
            "Use an architecture that CTranslate2 supports (BERT, Llama, Qwen, Mistral, …).",
        ) from error
    _tell(step="saving")
    for file in built.iterdir():
        file.rename(target / file.name)
    for companion in _COMPANIONS:
        if (source / companion).is_file():
            # Both forms have a config.json; the source's says how long the context is.
            kept = f"source_{companion}" if companion == "config.json" else companion
            shutil.copyfile(source / companion, target / kept)
    for leftover in (built, target / "dequantised"):
        shutil.rmtree(leftover, ignore_errors=True)


def _dequantise(gguf: Path, target: Path) -> Path:
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder = target / "dequantised"
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    return folder


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    patterns = ["*.json", "*.safetensors", "*.bin", "*.jinja", "*.txt", "*.model"]
    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    except LocalEntryNotFoundError as error:
        raise ModelError(
            f"The model {name} is not on this machine and the hub cannot be reached.",
            "Connect to the network, set HF_ENDPOINT to a mirror, or give a local folder.",
        ) from error
    except HfHubHTTPError as error:
        raise ModelError(
            f"The hub does not give the model {name}: {error.args[0].splitlines()[0]}",
            "Check the name; for a gated model set HF_TOKEN.",
        ) from error


def _tell(**message: str) -> None:
    sys.__stdout__.write(json.dumps(message) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def main(arguments: list[str]) -> int:
    """Convert one model; steps and errors go to standard output, one JSON object a line."""
    name, target = arguments
    Path(target).mkdir(parents=True)
    try:
        _convert(name, Path(target))
    except CitewellError as error:
        _tell(error=error.message, hint=error.hint)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
