"""The memory of mapped files, as Linux counts it."""

from __future__ import annotations

import mmap
import re
import sys
from pathlib import Path

import pytest

from citewell.core.mapped_file import release_pages


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone shows and releases such pages.")
def test_pages_that_were_read_are_given_back_and_can_be_read_again(tmp_path: Path) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(b"weights " * 500_000)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert mapped[:].count(b"weights ") == 500_000
        assert resident(file) > 3_000
        release_pages(file)
        assert resident(file) == 0
        assert mapped[:].count(b"weights ") == 500_000


def resident(file: Path) -> int:
    """The kilobytes of a mapped file that this process holds."""
    found = re.search(
        rf" {re.escape(str(file))}\n.*?Rss: +(\d+) kB", Path("/proc/self/smaps").read_text(), re.S
    )
    assert found is not None
    return int(found[1])
