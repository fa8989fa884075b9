"""Conversion of a trained cross-encoder for OpenVINO, in a separate process."""

from __future__ import annotations

import sys
from pathlib import Path

from citewell.core.build_cache import begin, fill
from citewell.core.weights import verify
from citewell.retriever.cross_encoder.resolve import resolve_trained
from citewell.retriever.encoder.engines import openvino


def convert(source: Path, target: Path) -> None:
    """Write the int8 weights of the cross-encoder in `source`, its adapter merged, into `target`."""
    begin("reading")
    found = resolve_trained(source)
    begin("verifying")
    verify(found.form.base)
    begin("converting")
    openvino.convert(found.tower, target)


def main(arguments: list[str]) -> int:
    """Convert one cross-encoder: its folder, and the folder to fill."""
    source, target = arguments
    return fill(Path(source).name, Path(target), lambda folder: convert(Path(source), folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
