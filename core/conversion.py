"""Model weights in the form that runs fastest, int8 on the CPU, built once and kept in the cache folder.

Encoders run on CTranslate2 (https://opennmt.net/CTranslate2/), generators, which are GGUF files, on
OpenVINO (see `core.gguf`); neither needs PyTorch. The conversion of an encoder does; each conversion runs
in a process of its own (`python -m core.conversion`), so that its memory and its imports end with it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import CitewellError, ModelError
from core.weights import Weights, locate, verify

STEPS = ("verifying", "reading", "converting", "saving")

_NO_ROOM = "Free some space (about 500 MB), or set CITEWELL_CACHE_DIR to another folder."
# Files beside an encoder's weights that its tokenizer, its limits and its pooling are read from.
_COMPANIONS = (
    "config.json",
    "tokenizer.json",
    "modules.json",
    "sentence_bert_config.json",
)


def converted(
    name: str,
    cache: Path,
    on_step: Callable[[str, str], None] = lambda name, step: None,
) -> Path:
    """The folder with the int8 form of the model `name`, built when it is not there yet.

    A GGUF file becomes OpenVINO's files for `generator.local`, all else CTranslate2's for an encoder.

    `on_step(name, step)` is told of each of `STEPS` while the model is built. Two processes that ask for
    the same model build it once: the second waits. A build that was interrupted starts anew.

    Raises `ModelError` when the weights are missing, damaged, or of an architecture that cannot be run.
    """
    from filelock import FileLock

    weights = locate(name)
    form = "openvino" if weights.is_gguf else "int8"
    target = cache / "models" / f"{Path(name).name}-{weights.fingerprint}-{form}"
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f"{target.name}.lock")):
            if not target.is_dir():
                partial = target.with_name(f"{target.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                try:
                    _run(weights, partial, on_step)
                except ModelError:
                    shutil.rmtree(partial, ignore_errors=True)
                    raise
                partial.rename(target)
    except OSError as error:
        raise ModelError(
            f"The converted weights of {name} cannot be kept in {target.parent}: {error.strerror}.",
            _NO_ROOM,
        ) from error
    return target


def _run(weights: Weights, target: Path, on_step: Callable[[str, str], None]) -> None:
    # -P: a folder `core` in the user's working directory must not stand in for ours.
    command = [sys.executable, "-P", "-m", "core.conversion", weights.name, str(target)]
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
    """Build the int8 form of `name` in `target`; runs in the conversion's own process."""
    _tell(step="verifying")
    weights = locate(name)
    verify(name)
    _tell(step="reading")
    if weights.is_gguf:
        assert weights.path is not None
        _convert_generator(weights.path, target)
    else:
        _convert_encoder(name, weights.path or _download(name), target)


def _convert_generator(gguf: Path, target: Path) -> None:
    from core.gguf import describe, open_gguf, requantise, save_openvino

    requantised = target / "requantised.gguf"
    reader = open_gguf(gguf)
    try:
        describe(reader, target)
        requantise(reader, requantised)
        _tell(step="converting")
        save_openvino(requantised)
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        raise ModelError(
            f"The model {gguf} cannot be converted: {error}",
            "Use another GGUF file of this model, or --generator extractive.",
        ) from error
    _tell(step="saving")
    requantised.unlink()


def _convert_encoder(name: str, source: Path, target: Path) -> None:
    _tell(step="converting")
    built = target / "built"
    try:
        _converter(source).convert(str(built), quantization="int8")
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault, not the model's
        raise ModelError(
            f"The model {name} cannot be converted: {error}",
            "Use an architecture that CTranslate2 supports, such as BERT.",
        ) from error
    _tell(step="saving")
    for file in built.iterdir():
        file.rename(target / file.name)
    for companion in _COMPANIONS:
        if (source / companion).is_file():
            # Both forms have a config.json; the source's says how long the context is.
            kept = f"source_{companion}" if companion == "config.json" else companion
            shutil.copyfile(source / companion, target / kept)
    built.rmdir()


def _converter(source: Path) -> Any:
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):  # type: ignore[misc]
        def load_model(self, *arguments: Any, **options: Any) -> Any:
            model = super().load_model(*arguments, **options)
            # Transformers 5 dropped this key, since BERT knows no other value; CTranslate2 4.8 reads it.
            if not hasattr(model.config, "position_embedding_type"):
                model.config.position_embedding_type = "absolute"
            return model

    return Converter(str(source))


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
    except OSError as error:
        _tell(error=f"The converted weights of {name} cannot be written: {error.strerror}.", hint=_NO_ROOM)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
