"""PyTorch: float32, on a GPU if there is one. The reference for the other engines."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import Any

import numpy as np

from citewell.core.errors import ModelError
from citewell.core.lora import merge
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Ids, pad
from citewell.retriever.encoder.resolve import PoolingMode, Tower

_PACKAGES = ("torch", "transformers")


class TorchEngine:
    """The engine of a transformers model, in float32."""

    lanes = 1

    def __init__(self, model: Any, pooling: PoolingMode, *, threads: int) -> None:
        """Run `model`, as `load_model` gives it, on the GPU or on `threads` CPU threads.

        The number of threads applies to all work of PyTorch in the process.
        """
        import torch

        torch.set_num_threads(threads)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.batch_tokens = 16_384 if self._device.type == "cuda" else 2048
        self._model = model.to(self._device)
        self._pooling = pooling

    def pooled(self, ids: Ids) -> Vectors:
        """Return the pooled vectors of one batch."""
        import torch

        padded, ones = (torch.from_numpy(array).to(self._device) for array in pad(ids))
        with torch.inference_mode():
            states = self._model(input_ids=padded, attention_mask=ones).last_hidden_state
            if self._pooling == "cls":
                vectors = states[:, 0]
            else:
                mask = ones.unsqueeze(-1)
                vectors = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return np.asarray(vectors.cpu(), dtype=np.float32)


def has_gpu() -> bool:
    """Return whether PyTorch is installed and finds a GPU; import it only if there is one from NVIDIA."""
    if shutil.which("nvidia-smi") is None or any(find_spec(name) is None for name in _PACKAGES):
        return False
    import torch

    return torch.cuda.is_available()


def load_model(tower: Tower) -> Any:
    """Load the float32 model of `tower`, its adapter merged, ready to run.

    Raises `ModelError` if the weights cannot be read or the adapter does not fit them, and `InputError`
    without PyTorch.
    """
    need_packages("The engine torch", "train", *_PACKAGES)
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    # transformers reports weights that it does not use, such as a pooler's; the report is of no help here.
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = AutoModel.from_pretrained(
            tower.folder, dtype=torch.float32, trust_remote_code=TRUST_REMOTE_CODE
        ).eval()
    except Exception as error:  # safetensors and pickle raise exceptions of any type
        raise ModelError(
            f"The weights in {tower.folder} cannot be read: {error}",
            "Use a BERT-like model, and copy or download it again if it is one.",
        ) from error
    if tower.adapter is not None:
        merge(model, tower.adapter)
    return model
