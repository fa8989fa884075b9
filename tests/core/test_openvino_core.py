"""The process keeps one OpenVINO runtime."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

from citewell.core.openvino_core import openvino_core

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
