"""An independent view of the generator's tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from citewell.core.weights import locate

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerBase:
    """The model's tokenizer as transformers reads it from the weights themselves."""
    from transformers import AutoTokenizer

    file = locate("SmolLM2-135M-Instruct").path
    assert file is not None
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    return tokenizer
