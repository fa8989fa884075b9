"""Models that are larger than the memory: refused with the numbers, before anything is read."""

from __future__ import annotations

import os
import re
from pathlib import Path

import gguf
import numpy as np
import pytest

from citewell.core.conversion import converted
from citewell.core.errors import ModelError
from citewell.core.memory import MemoryTooSmallError, available_memory, check_memory

from .tiny_gguf import write_gguf


def write_huge(path: Path) -> Path:
    """A GGUF file whose header names 2 TB of weights, which a hole in the file stands for."""
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_tokenizer_model("gpt2")
    writer.add_chat_template("{{ messages }}")
    shape = (1_000_000, 1_000_000)
    size = shape[0] * shape[1] * 2
    writer.add_tensor_info("token_embd.weight", shape, np.dtype(np.float16), size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    os.truncate(path, path.stat().st_size + size + 4096)
    return path


def test_a_file_too_large_for_the_memory_is_refused_with_the_numbers(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        converted(str(write_huge(tmp_path / "huge.gguf")), tmp_path / "cache")
    numbers = re.search(
        r"huge\.gguf needs about 1\d{3}\.\d GB of memory; (\d+\.\d) GB are", caught.value.message
    )
    assert numbers is not None, caught.value.message
    assert 0 < float(numbers[1]) < 2000
    assert "smaller model" in caught.value.hint
    assert not list((tmp_path / "cache" / "models").glob("*.partial"))


def test_a_small_model_fits(tmp_path: Path) -> None:
    converted(str(write_gguf(tmp_path / "model.gguf")), tmp_path / "cache")


def test_in_a_container_its_limit_counts(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable:    8000000 kB\n")
    assert available_memory(tmp_path / "meminfo", tmp_path) == 8_192_000_000
    (tmp_path / "memory.max").write_text("2000000000\n")
    (tmp_path / "memory.current").write_text("1500000000\n")
    (tmp_path / "memory.stat").write_text("anon 1100000000\ninactive_file 300000000\n")
    assert available_memory(tmp_path / "meminfo", tmp_path) == 800_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory(tmp_path / "meminfo", tmp_path) == 8_192_000_000
    assert available_memory(tmp_path / "none", tmp_path / "none") is None


def test_what_is_too_large_is_named() -> None:
    with pytest.raises(MemoryTooSmallError, match=r"The model tiny needs about 1000000\.0 GB"):
        check_memory("tiny", 10**15)
    check_memory("tiny", 1000)
