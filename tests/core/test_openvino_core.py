"""The process keeps one OpenVINO runtime."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino
import pytest
from openvino import opset13

from citewell.core.build_cache import SUMS, changed_files
from citewell.core.openvino_core import _compile, compiled_model, openvino_core

REPORTED = """
    import sys
    from citewell.core.openvino_core import openvino_core

    openvino_core()
    print(sys.modules["openvino_telemetry"])
"""
INTERRUPTED = """
    import gc, os, signal
    from citewell import load_encoder

    encoders = [load_encoder(), load_encoder()]
    while encoders:
        del encoders[0]
        gc.collect()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        [object() for _ in range(10**6)]
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_threads_share_one() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len({id(core) for core in pool.map(lambda _: openvino_core(), range(8))}) == 1


def test_a_signal_after_models_were_closed_does_not_crash_the_process() -> None:
    """The plugin of a runtime that ends leaves the main thread a freed stack for signal handlers."""
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED)], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "interrupted\n"), ended.stderr


def write_scaling(file: Path, factor: float) -> None:
    file.with_suffix(".bin").unlink(missing_ok=True)  # its old content may still be in use
    numbers = opset13.parameter([2], np.float32)
    scaled = opset13.multiply(numbers, opset13.constant(np.full(2, factor, np.float32)))
    openvino.serialize(openvino.Model([scaled], [numbers]), str(file))


def test_a_model_is_compiled_once_until_its_files_or_options_change(tmp_path: Path) -> None:
    file = tmp_path / "model.xml"
    write_scaling(file, 3)
    model = compiled_model(file, {"NUM_STREAMS": 1})
    assert compiled_model(file, {"NUM_STREAMS": 1}) is model
    assert compiled_model(file, {"NUM_STREAMS": 2}) is not model

    write_scaling(file, 5)
    changed = compiled_model(file, {"NUM_STREAMS": 1})
    assert model([np.float32([1, 2])])[0].tolist() == [3, 6]
    assert changed([np.float32([1, 2])])[0].tolist() == [5, 10]

    file.unlink()
    with pytest.raises(RuntimeError):
        compiled_model(file, {"NUM_STREAMS": 1})


def test_the_compiled_form_of_a_converted_model_is_kept_and_may_be_damaged(tmp_path: Path) -> None:
    folder = tmp_path / "tripler"
    folder.mkdir()
    file = folder / "model.xml"
    write_scaling(file, 3)
    assert changed_files(folder) == []  # which writes the sums of a folder that Citewell built

    def tripled() -> list[float]:
        _compile.cache_clear()  # as in a new process
        found: list[float] = compiled_model(file, {"NUM_STREAMS": 1})([np.float32([1, 2])])[0].tolist()
        return found

    for _ in range(2):
        assert tripled() == [3, 6]
        (kept,) = (tmp_path / "tripler.compiled").rglob("*.blob")
    assert changed_files(folder) == []
    whole = kept.read_bytes()
    for damaged in (b"", whole[:200], b"no model at all" * 50, whole[:-1] + bytes([whole[-1] ^ 1])):
        kept.write_bytes(damaged)
        assert tripled() == [3, 6]
        assert kept.read_bytes() != damaged  # compiled again, not read
        assert changed_files(kept.parent) == []
    (kept.parent / SUMS).unlink()
    assert tripled() == [3, 6]
    assert (kept.parent / SUMS).is_file()
    write_scaling(file, 5)
    assert tripled() == [5, 10]


def test_the_use_of_openvino_is_reported_to_nobody(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(REPORTED)],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"
    assert not (tmp_path / "intel").exists()
